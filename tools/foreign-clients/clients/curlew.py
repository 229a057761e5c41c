#!/usr/bin/env python3
"""Curlew: AML check over plain http.client.

Usage: curlew.py NAME YYYY-MM-DD
Prints "curlew: clear" (0), "curlew: refer" (1) or "curlew: none <reason>" (2).

The token request waits and repeats once on 429 or 503 if the time allows it.
The check is sent once, whatever happens.
"""
import base64
import datetime
import http.client
import json
import os
import signal
import sys
import time
import urllib.parse

SECONDS = 5.0
LIMIT = 100_000


class NoDecision(Exception):
    pass


class Http:
    def __init__(self, base, ends):
        self.parts = urllib.parse.urlsplit(base)
        if self.parts.scheme not in ("http", "https") or not self.parts.hostname:
            raise NoDecision("configuration")
        self.ends = ends

    def left(self):
        left = self.ends - time.monotonic()
        if left <= 0:
            raise NoDecision("deadline")
        return left

    def post(self, path, body, headers):
        make = http.client.HTTPSConnection if self.parts.scheme == "https" else http.client.HTTPConnection
        connection = make(self.parts.hostname, self.parts.port, timeout=self.left())
        try:
            connection.request("POST", self.parts.path.rstrip("/") + path, body, headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read(LIMIT)
        except (OSError, http.client.HTTPException):
            raise NoDecision("connection") from None
        finally:
            connection.close()


def parse(data):
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise NoDecision("syntax") from None
    if not isinstance(value, dict):
        raise NoDecision("syntax")
    return value


def token(http_, customer, key):
    headers = {
        "Authorization": "Basic " + base64.b64encode(f"{customer}:{key}".encode()).decode("ascii"),
        "Content-Type": "application/x-www-form-urlencoded",
    }
    for last in (False, True):
        status, answer, data = http_.post("/oauth/service", b"grant_type=client_credentials", headers)
        if status in (429, 503) and not last:
            wait = answer.get("Retry-After", "1")
            if wait.isdigit() and int(wait) < http_.left() - 1:
                time.sleep(int(wait))
                continue
        break
    if status != 200:
        raise NoDecision(f"token-{status}")
    value = parse(data).get("access_token")
    if not isinstance(value, str) or not value or not value.isascii() or any(c <= " " for c in value):
        raise NoDecision("token-missing")
    return value


def words(text):
    return text.casefold().split() if isinstance(text, str) else None


def check(name, born):
    try:
        base, customer, key = (os.environ[n] for n in ("IDV_BASE_URL", "IDV_CUSTOMER_ID", "IDV_API_KEY"))
    except KeyError:
        raise NoDecision("configuration") from None
    http_ = Http(base, time.monotonic() + SECONDS)
    bearer = token(http_, customer, key)
    body = {"entity_type": "person", "name": name, "dob": "{:02}-{:02}-{:04}".format(born.day, born.month, born.year)}
    status, _, data = http_.post("/api/aml", json.dumps(body).encode("ascii"), {
        "Authorization": "Bearer " + bearer,
        "Content-Type": "application/json; charset=utf-8",
    })
    if not 200 <= status < 300:
        raise NoDecision(f"check-{status}")
    credential = parse(data)
    try:
        found = credential["credentials"]["attributes"]
        match, year, who, profile = (found[f] for f in ("match_found", "birth_year", "name", "aml_profile"))
    except (KeyError, TypeError):
        raise NoDecision("fields") from None
    if credential.get("credential_type") != "aml" or not profile:
        raise NoDecision("fields")
    if year != f"{born.year:04}" or words(who) != words(name):
        raise NoDecision("person")
    try:
        return {"No": 0, "Potential match": 1}[match]
    except (KeyError, TypeError):
        raise NoDecision("value") from None


def late(*_):
    raise NoDecision("deadline")


def main(argv):
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS + 0.5)
    try:
        if len(argv) != 3 or not argv[1].strip() or len(argv[2]) != 10:
            raise NoDecision("input")
        born = datetime.datetime.strptime(argv[2], "%Y-%m-%d").date()
        if born > datetime.date.today():
            raise NoDecision("input")
        code = check(argv[1].strip(), born)
    except NoDecision as reason:
        print("curlew: none", reason)
        return 2
    except Exception as error:
        print("curlew: none", type(error).__name__)
        return 2
    print("curlew:", ("clear", "refer")[code])
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv))
