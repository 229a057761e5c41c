"""An identity verification service, written from its document alone.

    python3 service.py [--fault ID] [--list]

It listens on a free port of 127.0.0.1 and prints the address, its customer and its key. `POST /clock` with a number of
milliseconds moves its clock. With `--fault`, one line of its behaviour is wrong; `--list` prints all faults.
"""
import argparse
import base64
import binascii
import hashlib
import json
import re
import secrets
import sys
import threading
import time
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

CUSTOMER = ("onboarded-7731", "pä:ss phrase+%2B/=")
LISTED = {("Mirela Testpep", "09-02-1951"), ("Tomás Ferreira Testsanction", "23-11-1968")}
HOUR = 3600

FAULTS = {
    "any-key": "each key of a known customer is accepted",
    "key-case": "the key is compared without its case",
    "key-after-colon": "only the key up to its first colon is compared",
    "grant-contains": "a grant_type that contains client_credentials is accepted",
    "grant-json": "a JSON body with grant_type receives a token",
    "no-expiry": "a token never ends",
    "sliding": "each use extends the hour of a token",
    "one-token": "a new token ends the earlier ones",
    "token-prefix": "only the first 16 characters of a token are compared",
    "any-scheme": "the token is accepted after any scheme",
    "query-token": "the token is accepted in the query",
    "entity-ignored": "entity_type is not read",
    "dob-formats": "dob is accepted in three formats",
    "dob-short": "dob is accepted without zeros",
    "name-optional": "a check without a name is answered",
    "year-number": "birth_year is a number",
    "name-title": "the name of a listed person is cut to its first and last word",
    "searched-iso": "searched_on has a T between date and time",
    "listed-word": "match_found of a listed person is Match",
    "listed-profile": "aml_profile of a listed person is null",
    "cache-by-name": "a check of a name that was checked before returns the earlier credential",
    "shared-person": "requests at the same time share the person",
}


class Refused(Exception):
    def __init__(self, status, reason):
        super().__init__(reason)
        self.status = status


class Service:
    def __init__(self, fault):
        self.fault = fault
        self.moved = 0.0
        self.tokens = {}
        self.credentials = {}
        self.person = None
        self.lock = threading.Lock()

    def now(self):
        return time.time() + self.moved

    def customer_of(self, header):
        scheme, _, encoded = (header or "").partition(" ")
        if scheme != "Basic":
            raise Refused(401, "credentials are missing")
        try:
            text = base64.b64decode(encoded, validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            raise Refused(401, "credentials cannot be read") from None
        customer, colon, key = text.partition(":")
        known, right = CUSTOMER
        if self.fault == "any-key":
            key = right
        if self.fault == "key-case":
            key, right = key.lower(), right.lower()
        if self.fault == "key-after-colon":
            key, right = key.split(":")[0], right.split(":")[0]
        if not colon or customer != known or key != right:
            raise Refused(401, "credentials are wrong")

    def token(self, headers, body):
        self.customer_of(headers.get("authorization"))
        media = (headers.get("content-type") or "").split(";")[0].strip().lower()
        if media == "application/json" and self.fault == "grant-json":
            try:
                grants = [json.loads(body).get("grant_type")]
            except (ValueError, AttributeError):
                grants = []
        elif media == "application/x-www-form-urlencoded":
            grants = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True).get("grant_type", [])
        else:
            raise Refused(400, "a form is expected")
        right = "client_credentials"
        if not (grants == [right] or self.fault == "grant-contains" and any(right in grant for grant in grants)):
            raise Refused(400, "grant_type is not allowed")
        value = secrets.token_urlsafe(24)
        with self.lock:
            if self.fault == "one-token":
                self.tokens.clear()
            self.tokens[value] = self.now()
        return {"access_token": value, "token_type": "Bearer", "expires_in": HOUR}

    def authorise(self, headers, query):
        scheme, _, value = (headers.get("authorization") or "").partition(" ")
        if self.fault == "query-token" and "access_token" in query:
            scheme, value = "Bearer", query["access_token"][0]
        if scheme != "Bearer" and self.fault != "any-scheme":
            raise Refused(401, "a token is expected")
        with self.lock:
            if self.fault == "token-prefix":
                value = next((token for token in self.tokens if token[:16] == value[:16]), "")
            since = self.tokens.get(value)
            if since is None or self.now() - since >= HOUR and self.fault != "no-expiry":
                raise Refused(401, "the token is unknown or has ended")
            if self.fault == "sliding":
                self.tokens[value] = self.now()

    def date_of(self, text):
        if not isinstance(text, str):
            raise Refused(422, "dob should be a text")
        formats = {"dob-formats": ["%d-%m-%Y", "%Y-%m-%d", "%d/%m/%Y"]}.get(self.fault, ["%d-%m-%Y"])
        if self.fault not in ("dob-formats", "dob-short") and not re.fullmatch(r"[0-9]{2}-[0-9]{2}-[0-9]{4}", text):
            raise Refused(422, "dob should be dd-mm-yyyy")
        for form in formats:
            try:
                return datetime.strptime(text, form)
            except ValueError:
                pass
        raise Refused(422, "dob should be a date")

    def check(self, headers, query, body):
        self.authorise(headers, query)
        if headers.get_content_type() != "application/json":
            raise Refused(400, "JSON is expected")
        try:
            fields = json.loads(body)
        except ValueError:
            raise Refused(400, "the body is not JSON") from None
        if not isinstance(fields, dict):
            raise Refused(400, "an object is expected")
        if fields.get("entity_type") != "person" and self.fault != "entity-ignored":
            raise Refused(422, "entity_type should be person")
        name = fields.get("name", "" if self.fault == "name-optional" else None)
        if not isinstance(name, str) or not name.strip() and self.fault != "name-optional":
            raise Refused(422, "name should be a text")
        date = self.date_of(fields.get("dob"))
        dob = fields["dob"]
        if self.fault == "cache-by-name" and name in self.credentials:
            return self.credentials[name]
        self.person = (name, dob, date)
        # The search of the lists.
        time.sleep(0.002)
        if self.fault == "shared-person":
            name, dob, date = self.person
        credential = self.credential(name, dob, date)
        self.credentials[name] = credential
        return credential

    def credential(self, name, dob, date):
        listed = (name, dob) in LISTED or name.split()[-1:] == ["Testpep"]
        searched = datetime.fromtimestamp(self.now(), timezone.utc) + timedelta(hours=2)
        profile = hashlib.sha256(f"{name}|{dob}".encode()).hexdigest()[:16]
        shown = " ".join((name.split()[0], name.split()[-1])) if listed and self.fault == "name-title" else name
        return {
            "credential_type": "aml",
            "credential_name": "AML",
            "issued_by": "Ufficio Verifiche",
            "issuer_id": "5d2f7c1e-8a94-4b7a-9c39-0e6d1a2b3c4d",
            "cred_version": "1.2",
            "credentials": {
                "attributes": {
                    "name": shown,
                    "birth_year": date.year if self.fault == "year-number" else f"{date.year:04}",
                    "searched_on": searched.strftime("%Y-%m-%dT%H:%M:%S" if self.fault == "searched-iso" else "%Y-%m-%d %H:%M:%S"),
                    "match_found": ("Match" if self.fault == "listed-word" else "Potential match") if listed else "No",
                    "aml_profile": None if listed and self.fault == "listed-profile"
                    else f"https://profiles.example.it/aml/{profile}",
                }
            },
        }


def handler_of(service):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Otherwise a response waits for the acknowledgement of its head.
        wbufsize = -1

        def log_message(self, *_):
            pass

        def respond(self, status, body):
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def answer(self):
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            url = urlsplit(self.path)
            try:
                if url.path == "/clock":
                    service.moved += float(body) / 1000
                    return self.respond(200, {})
                if url.path not in ("/oauth/service", "/api/aml"):
                    raise Refused(404, "there is nothing here")
                if self.command != "POST":
                    raise Refused(405, "only POST is allowed")
                if url.path == "/oauth/service":
                    return self.respond(201, service.token(self.headers, body))
                return self.respond(200, service.check(self.headers, parse_qs(url.query), body))
            except Refused as refused:
                self.respond(refused.status, {"message": str(refused)})
            except Exception:
                self.respond(500, {"message": "the service failed"})

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_HEAD = answer

    return Handler


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=sorted(FAULTS))
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        print(json.dumps(FAULTS))
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(Service(arguments.fault)))
    server.daemon_threads = True
    print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}", "id": CUSTOMER[0], "key": CUSTOMER[1]}), flush=True)
    # The parent closes this pipe when it ends.
    threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
