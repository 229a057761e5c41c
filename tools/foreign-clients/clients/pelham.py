#!/usr/bin/env python3
"""Pelham AML gate.

The token request is repeated after a transient failure, because it costs
nothing. The check is billed, so it is repeated only if no connection was made.

Usage: pelham.py NAME YYYY-MM-DD
"""
import json
import os
import queue
import re
import sys
import threading
import time
import unicodedata
from datetime import date

import requests
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

DEADLINE = 12.0
PAUSES = (0.3, 0.9)


class GateError(Exception):
    """`code` is safe to print: it holds no value of a person or a secret."""

    def __init__(self, code, billed="no"):
        super().__init__(code)
        self.code = code
        self.billed = billed


def never_connected(error):
    reason = getattr(error.args[0], "reason", None) if error.args else None
    return isinstance(reason, (NewConnectionError, ConnectTimeoutError))


class Gate:
    def __init__(self, base, customer, key):
        self.base = base.rstrip("/")
        self.customer, self.key = customer, key
        self.session = requests.Session()
        self.ends = time.monotonic() + DEADLINE

    def left(self):
        seconds = self.ends - time.monotonic()
        if seconds <= 0.05:
            raise GateError("deadline")
        return seconds

    def post(self, path, **kwargs):
        left = self.left()
        return self.session.post(
            self.base + path, timeout=(min(3, left), left), allow_redirects=False, **kwargs
        )

    def pause(self, attempt):
        if attempt >= len(PAUSES) or PAUSES[attempt] >= self.left():
            return False
        time.sleep(PAUSES[attempt])
        return True

    def token(self):
        attempt = 0
        while True:
            try:
                response = self.post(
                    "/oauth/service",
                    data={"grant_type": "client_credentials"},
                    auth=(self.customer.encode(), self.key.encode()),
                )
                status = response.status_code
                if status == 200:
                    break
                code = f"token_http_{status}"
                transient = status in (502, 503, 504)
            except requests.RequestException:
                code, transient = "token_network", True
            if not transient or not self.pause(attempt):
                raise GateError(code)
            attempt += 1
        try:
            value = response.json()["access_token"]
        except (ValueError, KeyError, TypeError):
            raise GateError("token_body") from None
        if not isinstance(value, str) or not value.isascii() or not value.isprintable() or not value:
            raise GateError("token_body")
        return value

    def check(self, name, born):
        headers = {"Authorization": f"Bearer {self.token()}", "Accept": "application/json"}
        body = {"entity_type": "person", "name": name, "dob": f"{born.day:02d}-{born.month:02d}-{born.year:04d}"}
        attempt = 0
        while True:
            try:
                response = self.post("/api/aml", json=body, headers=headers)
                break
            except requests.ConnectionError as error:
                if not never_connected(error):
                    raise GateError("check_network", "unknown") from None
                if not self.pause(attempt):
                    raise GateError("check_network") from None
                attempt += 1
            except requests.RequestException:
                raise GateError("check_network", "unknown") from None
        if response.status_code != 200:
            raise GateError(f"check_http_{response.status_code}", "unknown")
        return self.read(response, name, born)

    @staticmethod
    def read(response, name, born):
        def fold(text):
            return " ".join(unicodedata.normalize("NFKC", text).casefold().split())

        try:
            document = response.json()
            found = document["credentials"]["attributes"]
            kind, match = document["credential_type"], found["match_found"]
            same = fold(found["name"]) == fold(name) and found["birth_year"] == f"{born.year:04d}"
            profile = found["aml_profile"]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise GateError("check_body", "yes") from None
        if kind != "aml" or not isinstance(profile, str) or not profile:
            raise GateError("check_body", "yes")
        if not same:
            raise GateError("check_identity", "yes")
        if match == "No":
            return "clear"
        if match == "Potential match":
            return "refer"
        raise GateError("check_match_value", "yes")


def run(arguments, results):
    try:
        name, text = arguments
        name = name.strip()
        if not name or not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
            raise GateError("input")
        born = date(*map(int, text.split("-")))
        if born > date.today():
            raise GateError("input")
        env = os.environ
        gate = Gate(env["IDV_BASE_URL"], env["IDV_CUSTOMER_ID"], env["IDV_API_KEY"])
        results.put({"decision": gate.check(name, born)})
    except GateError as error:
        results.put({"decision": "error", "code": error.code, "billed": error.billed})
    except KeyError:
        results.put({"decision": "error", "code": "configuration", "billed": "no"})
    except ValueError:
        results.put({"decision": "error", "code": "input", "billed": "no"})
    except Exception:
        results.put({"decision": "error", "code": "internal", "billed": "unknown"})


def main():
    results = queue.Queue()
    threading.Thread(target=run, args=(sys.argv[1:], results), daemon=True).start()
    try:
        # A slow trickle of bytes defeats the timeout of one read, not this one.
        result = results.get(timeout=DEADLINE)
    except queue.Empty:
        result = {"decision": "error", "code": "deadline", "billed": "unknown"}
    print(json.dumps(result), flush=True)
    os._exit({"clear": 0, "refer": 2}.get(result["decision"], 1))


if __name__ == "__main__":
    main()
