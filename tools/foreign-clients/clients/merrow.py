"""merrow: AML step of the account opening job.

    python3 merrow.py "Full Name" 1984-11-23

Writes one line of JSON. Exit code 0 = pass, 10 = refer, 20 = failure.
"""
import json
import os
import re
import sys
from datetime import date, datetime

import requests

POTENTIAL_MATCH = "Potential match"


class ScreeningError(Exception):
    pass


def normalise(name):
    return " ".join(name.split()).casefold()


class Screening:
    def __init__(self, base_url, customer_id, api_key):
        self.base_url = base_url.rstrip("/")
        self.auth = (customer_id.encode("utf-8"), api_key.encode("utf-8"))
        self.http = requests.Session()

    def _json(self, response):
        if response.status_code != 200:
            raise ScreeningError(f"http_{response.status_code}")
        try:
            return response.json()
        except ValueError:
            raise ScreeningError("bad_json")

    def token(self):
        response = self.http.post(
            self.base_url + "/oauth/service",
            data={"grant_type": "client_credentials"},
            auth=self.auth,
            allow_redirects=False,
        )
        return self._json(response)["access_token"]

    def check(self, name, born):
        response = self.http.post(
            self.base_url + "/api/aml",
            json={"entity_type": "person", "name": name, "dob": born.strftime("%d-%m-%Y")},
            headers={"Authorization": "Bearer " + self.token()},
            allow_redirects=False,
        )
        credential = self._json(response)
        if credential["credential_type"] != "aml":
            raise ScreeningError("wrong_credential")
        found = credential["credentials"]["attributes"]
        if normalise(found["name"]) != normalise(name) or found["birth_year"] != str(born.year):
            raise ScreeningError("wrong_person")
        if not found["aml_profile"]:
            raise ScreeningError("no_profile")
        return found.get("match_found") != POTENTIAL_MATCH


def main():
    try:
        name, dob = sys.argv[1].strip(), sys.argv[2]
        if not name or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", dob):
            raise ScreeningError("bad_input")
        born = datetime.strptime(dob, "%Y-%m-%d").date()
        if born > date.today():
            raise ScreeningError("bad_input")
        env = os.environ
        screening = Screening(env["IDV_BASE_URL"], env["IDV_CUSTOMER_ID"], env["IDV_API_KEY"])
        passed = screening.check(name, born)
    except ScreeningError as error:
        print(json.dumps({"aml": "failed", "reason": str(error)}))
        return 20
    except Exception as error:
        print(json.dumps({"aml": "failed", "reason": type(error).__name__}))
        return 20
    print(json.dumps({"aml": "pass" if passed else "refer"}))
    return 0 if passed else 10


if __name__ == "__main__":
    sys.exit(main())
