#!/usr/bin/env python3
"""hobnail NAME YYYY-MM-DD: screens a customer of the core banking system."""
import os
import re
import signal
import sys
import unicodedata
from datetime import date

import requests

EXIT = {"clear": 0, "review": 1, "error": 2}


def core_name(name):
    """Returns the name in the character set of the core banking system."""
    decomposed = unicodedata.normalize("NFKD", name)
    return " ".join(decomposed.encode("ascii", "ignore").decode("ascii").split())


def core_date(text):
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        raise ValueError("date")
    day = date.fromisoformat(text)
    if day > date.today():
        raise ValueError("date")
    return day


def post(path, **options):
    response = requests.post(
        os.environ["IDV_BASE_URL"].rstrip("/") + path, timeout=(3, 8), allow_redirects=False, **options
    )
    if response.status_code != 200:
        raise RuntimeError("status")
    return response.json()


def screen(name, born):
    grant = post(
        "/oauth/service",
        data={"grant_type": "client_credentials"},
        auth=(os.environ["IDV_CUSTOMER_ID"].encode(), os.environ["IDV_API_KEY"].encode()),
    )
    credential = post(
        "/api/aml",
        headers={"Authorization": f"Bearer {grant['access_token']}"},
        json={"entity_type": "person", "name": name, "dob": f"{born:%d-%m-%Y}"},
    )
    attributes = credential["credentials"]["attributes"]
    if credential["credential_type"] != "aml" or not attributes["aml_profile"]:
        raise RuntimeError("credential")
    if attributes["birth_year"] != str(born.year) or attributes["name"].lower() != name.lower():
        raise RuntimeError("person")
    return {"No": "clear", "Potential match": "review"}[attributes["match_found"]]


def on_alarm(*_):
    raise TimeoutError


def main():
    signal.signal(signal.SIGALRM, on_alarm)
    signal.alarm(11)
    try:
        if not sys.argv[1].strip():
            raise ValueError("name")
        outcome = screen(core_name(sys.argv[1]), core_date(sys.argv[2]))
    except Exception as error:
        print(f"hobnail: {type(error).__name__}", file=sys.stderr)
        outcome = "error"
    print(f"AML={outcome.upper()}")
    return EXIT[outcome]


sys.exit(main())
