#!/usr/bin/env python3
"""Linnet onboarding API. POST /sign-up with {"name", "date_of_birth"}."""
import json
import os
import re
import sys
import threading
import time
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests

BASE = os.environ["IDV_BASE_URL"].rstrip("/")
AUTH = (os.environ["IDV_CUSTOMER_ID"].encode(), os.environ["IDV_API_KEY"].encode())
TOKEN_SECONDS = 50 * 60
CALL_SECONDS = 6
token = {"value": None, "until": 0.0}


class Problem(Exception):
    pass


def post(path, **options):
    """Posts with a limit for the whole call, not only for one read."""
    box = {}

    def work():
        try:
            box["response"] = requests.post(BASE + path, timeout=CALL_SECONDS, allow_redirects=False, **options)
        except requests.RequestException:
            pass

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(CALL_SECONDS)
    response = box.get("response")
    if response is None:
        raise Problem("no response")
    return response


def access_token():
    if token["value"] and time.monotonic() < token["until"]:
        return token["value"]
    requested = time.monotonic()
    response = post("/oauth/service", data={"grant_type": "client_credentials"}, auth=AUTH)
    if response.status_code != 200:
        raise Problem("token")
    token["value"] = response.json()["access_token"]
    token["until"] = requested + TOKEN_SECONDS
    return token["value"]


def check(name, born):
    value = access_token()
    response = post(
        "/api/aml",
        headers={"Authorization": f"Bearer {value}"},
        json={"entity_type": "person", "name": name, "dob": born.strftime("%d-%m-%Y")},
    )
    if response.status_code == 401 and token["value"] == value:
        token["value"] = None
    if response.status_code != 200:
        raise Problem(f"check {response.status_code}")
    credential = response.json()
    attributes = credential["credentials"]["attributes"]
    if credential["credential_type"] != "aml" or not attributes["aml_profile"]:
        raise Problem("credential")
    if attributes["name"].casefold().split() != name.casefold().split() or attributes["birth_year"] != f"{born:%Y}":
        raise Problem("person")
    if attributes["match_found"] not in ("No", "Potential match"):
        raise Problem("match_found")
    return attributes


def read_applicant(raw):
    form = json.loads(raw)
    name = form["name"].strip()
    if len(name.split()) < 2:
        raise ValueError("first name and last name are required")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", form["date_of_birth"]):
        raise ValueError("date_of_birth must look like 1984-11-23")
    born = date.fromisoformat(form["date_of_birth"])
    if born > date.today():
        raise ValueError("date_of_birth is in the future")
    return name, born


class Api(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer(200 if self.path == "/healthz" else 404, {})

    def do_POST(self):
        if self.path != "/sign-up":
            return self.answer(404, {})
        try:
            name, born = read_applicant(self.rfile.read(min(int(self.headers["Content-Length"]), 65536)))
        except (ValueError, KeyError, TypeError, AttributeError):
            return self.answer(400, {"status": "invalid_form"})
        try:
            attributes = check(name, born)
        except Exception as error:
            print(f"linnet: {type(error).__name__}", file=sys.stderr, flush=True)
            return self.answer(503, {"status": "unavailable"})
        status = "active" if attributes["match_found"] == "No" else "pending"
        return self.answer(200, {"status": status, "aml": attributes})


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Api)
server.daemon_threads = True
print("linnet started", flush=True)
server.serve_forever()
