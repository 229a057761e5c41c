# coding: utf-8
"""
    AML API client

    Generated from the provider's description, then trimmed by hand.
    Usage: rowan.py NAME YYYY-MM-DD
"""
import base64
import datetime
import json
import os
import re
import signal
import sys
from typing import Any, Dict, Optional
from urllib.parse import urlencode

import urllib3


class ApiException(Exception):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class AmlAttributes:
    """
    NOTE: This class follows the example of the provider's description.
    """

    openapi_types = {
        "name": "str",
        "birth_year": "str",
        "searched_on": "str",
        "match_found": "str",
        "aml_profile": "str",
    }
    allowed_match_found = ("Potential match", "No")

    def __init__(self, name="", birth_year="", searched_on="", match_found="No", aml_profile=""):
        self.name = name
        self.birth_year = birth_year
        self.searched_on = searched_on
        self.match_found = match_found
        self.aml_profile = aml_profile
        if match_found not in self.allowed_match_found:
            raise ValueError("Invalid value for `match_found`")

    @classmethod
    def from_dict(cls, obj: Dict[str, Any]) -> "AmlAttributes":
        values = {key: obj[key] for key in cls.openapi_types if obj.get(key)}
        return cls(**values)


class AmlCredential:
    def __init__(self, credential_type: str, attributes: AmlAttributes) -> None:
        self.credential_type = credential_type
        self.attributes = attributes

    @classmethod
    def from_dict(cls, obj: Dict[str, Any]) -> "AmlCredential":
        return cls(obj["credential_type"], AmlAttributes.from_dict(obj["credentials"]["attributes"]))


class ApiClient:
    def __init__(self, host: str, client_id: str, client_secret: str) -> None:
        self.host = host.rstrip("/")
        self.client_id = client_id
        self.client_secret = client_secret
        self.pool = urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(connect=3.0, read=9.0))

    def _post(self, path: str, headers: Dict[str, str], body: bytes) -> Any:
        response = self.pool.request("POST", self.host + path, headers=headers, body=body, redirect=False)
        if response.status != 200:
            raise ApiException(response.status, "HTTP status")
        return json.loads(response.data)

    def authorize(self) -> str:
        basic = base64.b64encode(f"{self.client_id}:{self.client_secret}".encode()).decode()
        form = {
            "grant_type": "client_credentials",
            "client_id": self.client_id,
            "client_secret": self.client_secret,
        }
        grant = self._post(
            "/oauth/service",
            {"Authorization": f"Basic {basic}", "Content-Type": "application/x-www-form-urlencoded"},
            urlencode(form).encode(),
        )
        return grant["access_token"]

    def aml_check(self, name: str, dob: str, access_token: Optional[str] = None) -> AmlCredential:
        body = json.dumps({"entity_type": "person", "name": name, "dob": dob}).encode()
        headers = {"Authorization": f"Bearer {access_token}", "Content-Type": "application/json"}
        return AmlCredential.from_dict(self._post("/api/aml", headers, body))


def alarm(*_):
    raise ApiException(0, "deadline")


def main() -> int:
    signal.signal(signal.SIGALRM, alarm)
    signal.alarm(12)
    try:
        name, iso = sys.argv[1].strip(), sys.argv[2]
        if not name or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", iso):
            raise ValueError("input")
        born = datetime.date.fromisoformat(iso)
        if born > datetime.date.today():
            raise ValueError("input")
        client = ApiClient(os.environ["IDV_BASE_URL"], os.environ["IDV_CUSTOMER_ID"], os.environ["IDV_API_KEY"])
        credential = client.aml_check(name, born.strftime("%d-%m-%Y"), client.authorize())
        attributes = credential.attributes
        if credential.credential_type != "aml" or not attributes.aml_profile:
            raise ValueError("credential")
        if attributes.birth_year != iso[:4] or attributes.name.lower().split() != name.lower().split():
            raise ValueError("person")
    except Exception as error:
        print(json.dumps({"match": None, "error": type(error).__name__}))
        return 255
    match = attributes.match_found == "Potential match"
    print(json.dumps({"match": match}))
    return int(match)


if __name__ == "__main__":
    sys.exit(main())
