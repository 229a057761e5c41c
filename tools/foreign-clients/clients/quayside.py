#!/usr/bin/env python3
"""Screen one person against the AML lists.

Usage: quayside.py NAME YYYY-MM-DD
Prints CLEAR (exit 0), REVIEW (exit 3) or ERROR <reason> (exit 1).
"""
import base64
import datetime
import json
import os
import re
import signal
import sys
import unicodedata
import urllib.error
import urllib.request

DEADLINE_SECONDS = 10
MAX_BODY_BYTES = 256 * 1024


class CheckFailed(Exception):
    pass


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args, **kwargs):
        return None


OPENER = urllib.request.build_opener(NoRedirects)


def on_alarm(_signum, _frame):
    raise CheckFailed("deadline")


def unique_keys(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("duplicate key")
    return result


def post(step, url, body, headers):
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")
    try:
        with OPENER.open(request, timeout=DEADLINE_SECONDS) as response:
            if response.status != 200:
                raise CheckFailed(f"{step}-status-{response.status}")
            data = response.read(MAX_BODY_BYTES + 1)
    except urllib.error.HTTPError as error:
        raise CheckFailed(f"{step}-status-{error.code}") from None
    except CheckFailed:
        raise
    except Exception:
        # The exception text may quote a header, so it is not passed on.
        raise CheckFailed(f"{step}-connection") from None
    if len(data) > MAX_BODY_BYTES:
        raise CheckFailed(f"{step}-too-large")
    try:
        document = json.loads(data.decode("utf-8"), object_pairs_hook=unique_keys)
    except (ValueError, RecursionError):
        raise CheckFailed(f"{step}-not-json") from None
    if not isinstance(document, dict):
        raise CheckFailed(f"{step}-not-an-object")
    return document


def get_token(base, customer, key):
    basic = base64.b64encode(f"{customer}:{key}".encode()).decode()
    reply = post("token", f"{base}/oauth/service", b"grant_type=client_credentials", {
        "Authorization": f"Basic {basic}",
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "application/json",
    })
    token = reply.get("access_token")
    if not isinstance(token, str) or not re.fullmatch(r"[\x21-\x7e]+", token):
        raise CheckFailed("token-missing")
    if str(reply.get("token_type", "bearer")).lower() != "bearer":
        raise CheckFailed("token-type")
    return token


def same_name(left, right):
    def fold(text):
        return " ".join(unicodedata.normalize("NFC", text).casefold().split())
    return fold(left) == fold(right)


def decide(credential, name, born):
    if credential.get("credential_type") != "aml":
        raise CheckFailed("credential-type")
    if not re.fullmatch(r"\d+\.\d+", str(credential.get("cred_version"))):
        raise CheckFailed("credential-version")
    holder = credential.get("credentials")
    attributes = holder.get("attributes") if isinstance(holder, dict) else None
    if not isinstance(attributes, dict):
        raise CheckFailed("attributes-missing")
    for field in ("name", "birth_year", "searched_on", "match_found", "aml_profile"):
        if not isinstance(attributes.get(field), str) or not attributes[field]:
            raise CheckFailed(f"attribute-{field}")
    if attributes["birth_year"] != f"{born.year:04d}" or not same_name(attributes["name"], name):
        raise CheckFailed("other-person")
    if attributes["match_found"] == "No":
        return "CLEAR"
    if attributes["match_found"] == "Potential match":
        return "REVIEW"
    raise CheckFailed("match-value")


def parse_date(text):
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise CheckFailed("date-format")
    try:
        born = datetime.date.fromisoformat(text)
    except ValueError:
        raise CheckFailed("date-invalid") from None
    if born > datetime.date.today():
        raise CheckFailed("date-in-future")
    return born


def main(arguments):
    if len(arguments) != 2:
        raise CheckFailed("usage")
    name = arguments[0].strip()
    if not name or any(unicodedata.category(c) == "Cc" for c in name):
        raise CheckFailed("name-invalid")
    born = parse_date(arguments[1])
    try:
        base = os.environ["IDV_BASE_URL"].rstrip("/")
        customer, key = os.environ["IDV_CUSTOMER_ID"], os.environ["IDV_API_KEY"]
    except KeyError:
        raise CheckFailed("configuration") from None
    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, DEADLINE_SECONDS)
    token = get_token(base, customer, key)
    body = json.dumps({"entity_type": "person", "name": name, "dob": born.strftime("%d-%m-") + f"{born.year:04d}"})
    credential = post("check", f"{base}/api/aml", body.encode(), {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json",
    })
    return decide(credential, name, born)


if __name__ == "__main__":
    try:
        outcome = main(sys.argv[1:])
    except CheckFailed as failure:
        print(f"ERROR {failure}")
        sys.exit(1)
    print(outcome)
    sys.exit(0 if outcome == "CLEAR" else 3)
