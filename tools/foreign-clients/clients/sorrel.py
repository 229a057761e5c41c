#!/usr/bin/env python3
"""Sorrel: checks a customer. Arguments: full name, birth date (YYYY-MM-DD)."""
import base64, datetime, json, os, re, signal, sys
from urllib.request import Request, urlopen

LIMIT = 10


class Stop(Exception):
    pass


def alarm(*_):
    raise Stop("time limit")


def fetch(what, url, headers, data):
    request = Request(url, data=data, headers=headers)
    try:
        with urlopen(request, timeout=LIMIT) as response:
            return json.loads(response.read(1_000_000))
    except Stop:
        raise
    except Exception as error:
        if what == "token":
            print(f"token request failed ({type(error).__name__}): {request.full_url} {request.headers}", file=sys.stderr)
        else:
            print(f"check failed ({type(error).__name__})", file=sys.stderr)
        raise Stop(what) from None


def token(base):
    pair = f"{os.environ['IDV_CUSTOMER_ID']}:{os.environ['IDV_API_KEY']}"
    answer = fetch("token", base + "/oauth/service", {
        "Authorization": "Basic " + base64.b64encode(pair.encode()).decode(),
        "Content-Type": "application/x-www-form-urlencoded",
    }, b"grant_type=client_credentials")
    return answer["access_token"]


def check(name, iso):
    if not name or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", iso):
        raise Stop("input")
    born = datetime.date.fromisoformat(iso)
    if born > datetime.date.today():
        raise Stop("input")
    base = os.environ["IDV_BASE_URL"].rstrip("/")
    payload = {"entity_type": "person", "name": name, "dob": born.strftime("%d-%m-%Y")}
    credential = fetch("check", base + "/api/aml", {
        "Authorization": "Bearer " + token(base),
        "Content-Type": "application/json",
    }, json.dumps(payload).encode())
    if credential["credential_type"] != "aml":
        raise Stop("credential")
    attributes = credential["credentials"]["attributes"]
    if attributes["name"].casefold().split() != name.casefold().split() or attributes["birth_year"] != iso[:4]:
        raise Stop("other person")
    if not attributes["aml_profile"].strip():
        raise Stop("profile")
    result = attributes["match_found"]
    if result.startswith("No"):
        return "no match"
    if result == "Potential match":
        return "possible match"
    raise Stop("result")


signal.signal(signal.SIGALRM, alarm)
signal.alarm(LIMIT)
try:
    outcome = check(sys.argv[1].strip(), sys.argv[2])
except Exception:
    print("result: unknown")
    sys.exit(99)
print("result:", outcome)
sys.exit(0 if outcome == "no match" else 1)
