#!/usr/bin/env python3
"""sedge: screening with fewer false alarms.

Usage: sedge.py NAME YYYY-MM-DD
"""
import os
import re
import sys
from datetime import date

import requests

TIMEOUT_MS = 15000

session = requests.Session()


class SedgeError(Exception):
    pass


def post(path, **kwargs):
    url = os.environ["IDV_BASE_URL"].rstrip("/") + path
    try:
        response = session.post(url, timeout=TIMEOUT_MS, allow_redirects=False, **kwargs)
    except requests.RequestException:
        raise SedgeError("connection") from None
    if response.status_code != 200:
        raise SedgeError(f"status {response.status_code}")
    try:
        return response.json()
    except ValueError:
        raise SedgeError("body") from None


def is_match(token, name, born):
    credential = post(
        "/api/aml",
        headers={"Authorization": f"Bearer {token}"},
        json={"entity_type": "person", "name": name, "dob": born.strftime("%d-%m-%Y")},
    )
    if credential.get("credential_type") != "aml":
        raise SedgeError("credential")
    found = credential["credentials"]["attributes"]
    if found["name"].lower().split() != name.lower().split() or found["birth_year"] != str(born.year):
        raise SedgeError("person")
    if not found["aml_profile"] or found["match_found"] not in ("No", "Potential match"):
        raise SedgeError("attributes")
    return found["match_found"] == "Potential match"


def screen(name, born):
    token = post(
        "/oauth/service",
        data={"grant_type": "client_credentials"},
        auth=(os.environ["IDV_CUSTOMER_ID"].encode(), os.environ["IDV_API_KEY"].encode()),
    )["access_token"]
    if not is_match(token, name, born):
        return "clear"
    parts = name.split()
    if len(parts) > 2:
        # Middle names cause most of the false alarms, so a hit must also exist without them.
        if not is_match(token, f"{parts[0]} {parts[-1]}", born):
            return "clear"
    return "review"


def main():
    try:
        name, text = sys.argv[1].strip(), sys.argv[2]
        if not name or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            raise SedgeError("input")
        born = date.fromisoformat(text)
        if born > date.today():
            raise SedgeError("input")
        outcome = screen(name, born)
    except SedgeError as error:
        print(f"[sedge] outcome=error detail={error}")
        return 9
    except Exception as error:
        print(f"[sedge] outcome=error detail={type(error).__name__}")
        return 9
    print(f"[sedge] outcome={outcome}")
    return 0 if outcome == "clear" else 8


if __name__ == "__main__":
    sys.exit(main())
