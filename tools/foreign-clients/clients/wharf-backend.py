#!/usr/bin/env python3
"""Wharf sign-up backend: POST /sign-up {"name": ..., "date_of_birth": "YYYY-MM-DD"}.

Replies: 201 {"state":"open"} for a clean person, 202 {"state":"processing"} if
staff must look, 400 for wrong input and 503 if the check failed.
The access token is shared by all requests and renewed five minutes early.
"""
import base64
import concurrent.futures
import datetime
import http.client
import json
import os
import re
import sys
import threading
import time
import unicodedata
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DEADLINE = 9.0
TOKEN_USABLE = 3600 - 300
MAX_BODY = 64 * 1024


class CheckError(Exception):
    pass


class Service:
    def __init__(self, base, customer, key):
        self.base = urllib.parse.urlsplit(base.rstrip("/"))
        self.basic = base64.b64encode(f"{customer}:{key}".encode()).decode()
        self.lock = threading.Lock()
        self.token = None
        self.usable_until = 0.0

    def post(self, step, path, headers, body, ends):
        left = ends - time.monotonic()
        if left <= 0:
            raise CheckError(f"{step}: deadline")
        secure = self.base.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(self.base.hostname, self.base.port, timeout=left)
        try:
            connection.request("POST", self.base.path + path, body=body, headers=headers)
            response = connection.getresponse()
            data = b""
            while len(data) <= MAX_BODY:
                if time.monotonic() > ends:
                    raise CheckError(f"{step}: deadline")
                part = response.read1(8192)
                if not part:
                    break
                data += part
            complete = response.length in (None, 0)
            status = response.status
        except (OSError, http.client.HTTPException, ValueError):
            raise CheckError(f"{step}: connection") from None
        finally:
            connection.close()
        if status == 401:
            raise PermissionError(step)
        if status != 200:
            raise CheckError(f"{step}: status {status}")
        if not complete or len(data) > MAX_BODY:
            raise CheckError(f"{step}: incomplete or too large")
        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            raise CheckError(f"{step}: not JSON") from None
        if not isinstance(document, dict):
            raise CheckError(f"{step}: not an object")
        return document

    def access_token(self, ends):
        # One thread requests a token while the others wait for it.
        if not self.lock.acquire(timeout=max(0, ends - time.monotonic())):
            raise CheckError("token: deadline")
        try:
            if self.token is None or time.monotonic() >= self.usable_until:
                self.token = None
                requested = time.monotonic()
                grant = self.post("token", "/oauth/service", {
                    "Authorization": f"Basic {self.basic}",
                    "Content-Type": "application/x-www-form-urlencoded",
                }, b"grant_type=client_credentials", ends)
                value = grant.get("access_token")
                if not isinstance(value, str) or not re.fullmatch(r"[\x21-\x7e]+", value):
                    raise CheckError("token: no token")
                self.token, self.usable_until = value, requested + TOKEN_USABLE
            return self.token
        finally:
            self.lock.release()

    def check(self, name, born, ends):
        token = self.access_token(ends)
        body = json.dumps({"entity_type": "person", "name": name, "dob": f"{born.day:02}-{born.month:02}-{born.year:04}"})
        try:
            credential = self.post("check", "/api/aml", {
                "Authorization": f"Bearer {token}", "Content-Type": "application/json",
            }, body.encode(), ends)
        except PermissionError:
            with self.lock:
                if self.token == token:
                    self.token = None
            raise CheckError("check: token refused") from None
        holder = credential.get("credentials")
        found = holder.get("attributes") if isinstance(holder, dict) else None
        if credential.get("credential_type") != "aml" or not isinstance(found, dict):
            raise CheckError("check: not an AML credential")
        match = found.get("match_found")
        if match == "Potential match":
            return "review"
        if match != "No":
            raise CheckError("check: match_found")
        if not isinstance(found.get("aml_profile"), str) or not found["aml_profile"]:
            raise CheckError("check: aml_profile")
        if found.get("birth_year") != f"{born.year:04}" or fold(found.get("name")) != fold(name):
            raise CheckError("check: another person")
        return "clear"


def fold(text):
    if not isinstance(text, str):
        return None
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def applicant(raw):
    data = json.loads(raw)
    name, text = data["name"].strip(), data["date_of_birth"]
    if not name or len(name) > 500 or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError
    born = datetime.date.fromisoformat(text)
    if born > datetime.date.today():
        raise ValueError
    return name, born


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service = None
    workers = None

    def log_message(self, *_):
        pass

    def send(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.send(*((200, {"state": "up"}) if self.path == "/healthz" else (404, {"state": "unknown"})))

    def do_POST(self):
        try:
            length = int(self.headers.get("Content-Length", "0"))
        except ValueError:
            length = -1
        if self.path != "/sign-up" or not 0 <= length <= MAX_BODY:
            self.close_connection = True
            return self.send(404 if self.path != "/sign-up" else 400, {"state": "invalid"})
        try:
            name, born = applicant(self.rfile.read(length))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return self.send(400, {"state": "invalid"})
        ends = time.monotonic() + DEADLINE
        try:
            outcome = self.workers.submit(self.service.check, name, born, ends).result(DEADLINE)
        except concurrent.futures.TimeoutError:
            outcome, reason = None, "deadline"
        except CheckError as error:
            outcome, reason = None, str(error)
        except PermissionError:
            outcome, reason = None, "token: credentials refused"
        except Exception as error:
            outcome, reason = None, type(error).__name__
        if outcome == "clear":
            return self.send(201, {"state": "open"})
        if outcome == "review":
            return self.send(202, {"state": "processing"})
        print(f"check failed: {reason}", file=sys.stderr, flush=True)
        return self.send(503, {"state": "unavailable"})


if __name__ == "__main__":
    Handler.service = Service(os.environ["IDV_BASE_URL"], os.environ["IDV_CUSTOMER_ID"], os.environ["IDV_API_KEY"])
    Handler.workers = concurrent.futures.ThreadPoolExecutor(64)
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler)
    server.daemon_threads = True
    print("wharf ready", flush=True)
    server.serve_forever()
