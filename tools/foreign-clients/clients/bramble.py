#!/usr/bin/env python3
"""bramble.py NAME YYYY-MM-DD"""
import base64
import datetime
import json
import os
import re
import signal
import sys
import urllib.request

ATTEMPTS = 5


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


opener = urllib.request.build_opener(NoRedirect())


def expire(*_):
    print("bramble: timeout", flush=True)
    os._exit(3)


def post_json(url, data, authorization, content_type):
    """Posts and returns the JSON body. Short network problems are common here, so it tries again."""
    headers = {"Authorization": authorization, "Content-Type": content_type}
    for _ in range(ATTEMPTS):
        try:
            with opener.open(urllib.request.Request(url, data, headers), timeout=3) as response:
                return json.loads(response.read())
        except Exception:
            continue
    raise RuntimeError("all attempts failed")


def main(name, text):
    name = name.strip()
    if not name or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        raise ValueError
    born = datetime.date.fromisoformat(text)
    if born > datetime.date.today():
        raise ValueError
    base = os.environ["IDV_BASE_URL"].rstrip("/")
    pair = f"{os.environ['IDV_CUSTOMER_ID']}:{os.environ['IDV_API_KEY']}".encode()
    grant = post_json(
        f"{base}/oauth/service", b"grant_type=client_credentials",
        "Basic " + base64.b64encode(pair).decode(), "application/x-www-form-urlencoded",
    )
    payload = {"entity_type": "person", "name": name, "dob": born.strftime("%d-%m-%Y")}
    credential = post_json(
        f"{base}/api/aml", json.dumps(payload).encode(), "Bearer " + grant["access_token"], "application/json",
    )
    found = credential["credentials"]["attributes"]
    assert credential["credential_type"] == "aml" and found["aml_profile"]
    assert found["birth_year"] == text[:4] and found["name"].casefold().split() == name.casefold().split()
    return {"No": "clear", "Potential match": "review"}[found["match_found"]]


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, expire)
    signal.alarm(15)
    try:
        verdict = main(sys.argv[1], sys.argv[2])
    except Exception:
        print("bramble: failed")
        sys.exit(2)
    print("bramble:", verdict)
    sys.exit(0 if verdict == "clear" else 1)
