#!/usr/bin/env python3
"""A small server that follows the service's document.

Usage: stub.py PORT. Credentials: customer `stub-customer`, key `stub-key`.
A name that contains the word `Listed` is a potential match.
POST /stub sets faults (a JSON object, merged into a fresh state); GET /stub
returns the requests received since the last POST.

Faults: aml_status, aml_text (raw body), aml_set (fields to replace in
attributes; null removes a field), aml_top (the same for the top level),
aml_code (the status of a complete credential), aml_drip (seconds between the
bytes of the body), forget_tokens (issued tokens become invalid), aml_delay (seconds before the headers), aml_stall (seconds between the headers
and the body), aml_headers, token_status, token_set, token_headers,
token_delay, once (true: aml_status applies to the first check only).
"""
import base64
import datetime
import json
import re
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CUSTOMER, KEY = "stub-customer", "stub-key"
lock = threading.Lock()
tokens = {}
state = {"faults": {}, "log": []}


def merge(target, changes):
    for field, value in (changes or {}).items():
        if value is None:
            target.pop(field, None)
        else:
            target[field] = value


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body, headers=None, stall=0, drip=0):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        try:
            self.send_response(status)
            if not any(k.lower() == "content-type" for k in (headers or {})):
                self.send_header("Content-Type", "application/json")
            for key, value in (headers or {}).items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.flush()
            time.sleep(stall)
            for part in [data[i:i + 1] for i in range(len(data))] if drip else [data]:
                self.wfile.write(part)
                time.sleep(drip)
        except OSError:
            self.close_connection = True

    def do_GET(self):
        with lock:
            if self.path == "/stub":
                entries = list(state["log"])
            else:
                state["log"].append({"method": "GET", "path": self.path, "headers": dict(self.headers)})
                entries = None
        if entries is None:
            self.reply(404, {"error": "not found"})
        else:
            self.reply(200, entries)

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/stub":
            with lock:
                state["faults"], state["log"] = json.loads(raw or b"{}"), []
                if state["faults"].get("forget_tokens"):
                    tokens.clear()
                return self.reply(200, {})
        with lock:
            faults = state["faults"]
            state["log"].append({
                "at": round(time.time(), 2), "method": "POST", "path": self.path,
                "headers": dict(self.headers), "body": raw.decode("utf-8", "replace"),
            })
            checks = sum(e["path"].startswith("/api/aml") for e in state["log"])
        if self.path == "/oauth/service":
            return self.token(raw, faults)
        if self.path == "/api/aml":
            return self.aml(raw, faults, checks)
        return self.reply(404, {"error": "not found"})

    def token(self, raw, faults):
        time.sleep(faults.get("token_delay", 0))
        if "token_status" in faults:
            return self.reply(faults["token_status"], {"error": "token"}, faults.get("token_headers"))
        expected = "Basic " + base64.b64encode(f"{CUSTOMER}:{KEY}".encode()).decode()
        if self.headers.get("Authorization") != expected:
            return self.reply(401, {"error": "invalid_client"})
        kind = (self.headers.get("Content-Type") or "").split(";")[0].strip()
        form = urllib.parse.parse_qs(raw.decode())
        if kind != "application/x-www-form-urlencoded" or form.get("grant_type") != ["client_credentials"]:
            return self.reply(400, {"error": "invalid_request"})
        with lock:
            token = f"token-{len(tokens)}-{time.time_ns()}"
            tokens[token] = time.time()
        body = {"access_token": token, "token_type": "Bearer", "expires_in": 3600}
        merge(body, faults.get("token_set"))
        return self.reply(200, body)

    def aml(self, raw, faults, checks):
        time.sleep(faults.get("aml_delay", 0))
        if "aml_status" in faults and (not faults.get("once") or checks == 1):
            return self.reply(faults["aml_status"], faults.get("aml_text", '{"error":"fault"}'), faults.get("aml_headers"))
        scheme, _, token = (self.headers.get("Authorization") or "").partition(" ")
        with lock:
            issued = tokens.get(token)
        if scheme != "Bearer" or issued is None or time.time() - issued > 3600:
            return self.reply(401, {"error": "unauthorized"})
        try:
            person = json.loads(raw.decode("utf-8"))
            assert person["entity_type"] == "person" and person["name"].strip()
            assert re.fullmatch(r"\d{2}-\d{2}-\d{4}", person["dob"])
            born = datetime.datetime.strptime(person["dob"], "%d-%m-%Y")
        except (ValueError, KeyError, TypeError, AttributeError, AssertionError):
            return self.reply(400, {"error": "invalid request"})
        listed = "listed" in person["name"].lower().split()
        attributes = {
            "name": person["name"], "birth_year": f"{born.year:04d}",
            "searched_on": time.strftime("%Y-%m-%d %H:%M:%S"),
            "match_found": "Potential match" if listed else "No",
            "aml_profile": "https://profiles.example/aml/5f0c",
        }
        merge(attributes, faults.get("aml_set"))
        body = {
            "credential_type": "aml", "credential_name": "AML", "issued_by": "Stub Issuer",
            "issuer_id": "0b6f3c1e-5c0f-4f0e-9a51-0f6f4c3d2b1a", "cred_version": "1.0",
            "credentials": {"attributes": attributes},
        }
        merge(body, faults.get("aml_top"))
        return self.reply(faults.get("aml_code", 200), faults.get("aml_text", body), faults.get("aml_headers"),
                          faults.get("aml_stall", 0), faults.get("aml_drip", 0))


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass  # Clients that stop waiting reset the connection.


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    server.daemon_threads = True
    server.serve_forever()
