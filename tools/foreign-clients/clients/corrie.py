#!/usr/bin/env python3
"""corrie - AML screening with a resilient HTTP session.

Usage: corrie.py NAME YYYY-MM-DD   -> "corrie clear" | "corrie review" | "corrie error"
"""
import os
import re
import signal
import sys
from datetime import date

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

TIMEOUT = 4
DEADLINE = 15


class CorrieError(Exception):
    pass


def resilient_session():
    retry = Retry(
        total=3,
        backoff_factor=0.3,
        status_forcelist=[500, 502, 503, 504],
        allowed_methods=["GET", "POST"],
    )
    session = requests.Session()
    session.mount("http://", HTTPAdapter(max_retries=retry))
    session.mount("https://", HTTPAdapter(max_retries=retry))
    return session


def expired(_signal, _frame):
    raise CorrieError("deadline")


def json_of(response):
    if response.status_code != 200:
        raise CorrieError(f"http {response.status_code}")
    return response.json()


def screen(name, born):
    base = os.environ["IDV_BASE_URL"].rstrip("/")
    with resilient_session() as session:
        grant = json_of(session.post(
            f"{base}/oauth/service",
            data={"grant_type": "client_credentials"},
            auth=(os.environ["IDV_CUSTOMER_ID"].encode(), os.environ["IDV_API_KEY"].encode()),
            timeout=TIMEOUT,
            allow_redirects=False,
        ))
        credential = json_of(session.post(
            f"{base}/api/aml",
            json={"entity_type": "person", "name": name, "dob": born.strftime("%d-%m-%Y")},
            headers={"Authorization": f"Bearer {grant['access_token']}"},
            timeout=TIMEOUT,
            allow_redirects=False,
        ))
    attributes = credential["credentials"]["attributes"]
    if credential["credential_type"] != "aml" or not attributes["aml_profile"]:
        raise CorrieError("credential")
    if attributes["birth_year"] != str(born.year) or attributes["name"].split() != name.split():
        raise CorrieError("person")
    outcomes = {"No": "clear", "Potential match": "review"}
    return outcomes[attributes["match_found"]]


def main():
    signal.signal(signal.SIGALRM, expired)
    signal.alarm(DEADLINE)
    try:
        name, text = sys.argv[1].strip(), sys.argv[2]
        if not name or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            raise CorrieError("input")
        born = date.fromisoformat(text)
        if born > date.today():
            raise CorrieError("input")
        outcome = screen(name, born)
    except Exception as error:
        print(f"corrie error ({type(error).__name__})")
        return 64
    print(f"corrie {outcome}")
    return 0 if outcome == "clear" else 65


sys.exit(main())
