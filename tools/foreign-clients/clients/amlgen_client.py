# coding: utf-8
"""
    Identity Verification Service

    AML screening of individuals. Client in the layout of a generated one,
    followed by the command that uses it.

    Usage: amlgen_client.py NAME YYYY-MM-DD
"""
from __future__ import annotations

import base64
import json
import os
import re
import signal
import sys
from datetime import date
from enum import Enum
from typing import Any, Dict, Optional

import urllib3


class OpenApiException(Exception):
    """The base exception class."""


class ApiException(OpenApiException):
    def __init__(self, status: Optional[int] = None, reason: Optional[str] = None) -> None:
        self.status = status
        self.reason = reason
        super().__init__(f"({status}) Reason: {reason}")


class ApiValueError(OpenApiException, ValueError):
    pass


class MatchFound(str, Enum):
    """Allowed values of match_found."""

    POTENTIAL_MATCH = "Potential match"
    NO = "No"


def _string(obj: Dict[str, Any], field: str) -> str:
    value = obj.get(field) if isinstance(obj, dict) else None
    if not isinstance(value, str) or value == "":
        raise ApiValueError(f"`{field}` must be a non-empty string")
    return value


class AmlAttributes:
    def __init__(self, name: str, birth_year: str, searched_on: str, match_found: MatchFound, aml_profile: str) -> None:
        self.name = name
        self.birth_year = birth_year
        self.searched_on = searched_on
        self.match_found = match_found
        self.aml_profile = aml_profile

    @classmethod
    def from_dict(cls, obj: Dict[str, Any]) -> "AmlAttributes":
        birth_year = _string(obj, "birth_year")
        if not re.match(r"^[0-9]{4}$", birth_year):
            raise ApiValueError("`birth_year` must be a four-digit year")
        try:
            match_found = MatchFound(_string(obj, "match_found"))
        except ValueError:
            raise ApiValueError("`match_found` must be one of the allowed values") from None
        return cls(_string(obj, "name"), birth_year, _string(obj, "searched_on"), match_found, _string(obj, "aml_profile"))


class AmlCredential:
    def __init__(self, credential_type: str, cred_version: str, attributes: AmlAttributes) -> None:
        self.credential_type = credential_type
        self.cred_version = cred_version
        self.attributes = attributes

    @classmethod
    def from_dict(cls, obj: Dict[str, Any]) -> "AmlCredential":
        kind = _string(obj, "credential_type")
        if kind != "aml":
            raise ApiValueError("`credential_type` must be aml")
        for field in ("credential_name", "issued_by", "issuer_id"):
            _string(obj, field)
        holder = obj.get("credentials")
        if not isinstance(holder, dict):
            raise ApiValueError("`credentials` must be an object")
        return cls(kind, _string(obj, "cred_version"), AmlAttributes.from_dict(holder.get("attributes")))


class Configuration:
    def __init__(self, host: str, username: str, password: str) -> None:
        self.host = host.rstrip("/")
        self.username = username
        self.password = password
        self.access_token: Optional[str] = None

    def get_basic_auth_token(self) -> str:
        pair = f"{self.username}:{self.password}".encode("utf-8")
        return "Basic " + base64.b64encode(pair).decode("ascii")


class RESTClientObject:
    def __init__(self) -> None:
        self.pool_manager = urllib3.PoolManager(num_pools=2, retries=False)

    def post(self, url: str, headers: Dict[str, str], body: bytes, _request_timeout: float) -> Any:
        try:
            response = self.pool_manager.request(
                "POST", url, body=body, headers=headers, redirect=False, retries=False,
                timeout=urllib3.Timeout(connect=3, total=_request_timeout),
            )
        except urllib3.exceptions.HTTPError as e:
            raise ApiException(status=0, reason=type(e).__name__) from None
        if not 200 <= response.status <= 201:
            raise ApiException(status=response.status, reason="unexpected status")
        try:
            return json.loads(response.data.decode("utf-8"))
        except ValueError:
            raise ApiException(status=response.status, reason="body is not JSON") from None


class ApiClient:
    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.rest_client = RESTClientObject()
        self.default_headers = {"Accept": "application/json", "User-Agent": "OpenAPI-Generator/1.0.0/python"}

    def call_api(self, resource_path: str, content_type: str, authorization: str, body: bytes, _request_timeout: float) -> Any:
        headers = {**self.default_headers, "Content-Type": content_type, "Authorization": authorization}
        return self.rest_client.post(self.configuration.host + resource_path, headers, body, _request_timeout)


class OauthApi:
    def __init__(self, api_client: ApiClient) -> None:
        self.api_client = api_client

    def get_access_token(self, _request_timeout: float = 5) -> str:
        obj = self.api_client.call_api(
            "/oauth/service", "application/x-www-form-urlencoded",
            self.api_client.configuration.get_basic_auth_token(), b"grant_type=client_credentials", _request_timeout,
        )
        return _string(obj, "access_token")


class AmlApi:
    def __init__(self, api_client: ApiClient) -> None:
        self.api_client = api_client

    def check_person(self, name: str, dob: date, _request_timeout: float = 10) -> AmlCredential:
        payload = {"entity_type": "person", "name": name, "dob": "%02d-%02d-%04d" % (dob.day, dob.month, dob.year)}
        obj = self.api_client.call_api(
            "/api/aml", "application/json", f"Bearer {self.api_client.configuration.access_token}",
            json.dumps(payload, ensure_ascii=False).encode("utf-8"), _request_timeout,
        )
        return AmlCredential.from_dict(obj)


# ----- command -----

DEADLINE = 14


class DeadlineExceeded(BaseException):
    pass


def _deadline(_signum, _frame):
    raise DeadlineExceeded


def run(name: str, text: str) -> str:
    name = name.strip()
    if not name or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ApiValueError("input")
    born = date.fromisoformat(text)
    if not date(1850, 1, 1) < born <= date.today():
        raise ApiValueError("input")
    configuration = Configuration(os.environ["IDV_BASE_URL"], os.environ["IDV_CUSTOMER_ID"], os.environ["IDV_API_KEY"])
    client = ApiClient(configuration)
    configuration.access_token = OauthApi(client).get_access_token()
    found = AmlApi(client).check_person(name, born).attributes
    if found.birth_year != "%04d" % born.year or found.name.split() != name.split():
        raise ApiValueError("the credential is about another person")
    return "clear" if found.match_found is MatchFound.NO else "review"


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, _deadline)
    signal.alarm(DEADLINE)
    code = 2
    try:
        result = run(*sys.argv[1:3])
        code = {"clear": 0, "review": 1}[result]
        line = {"result": result}
    except ApiException as e:
        line = {"result": "failed", "status": e.status, "reason": e.reason}
    except ApiValueError as e:
        line = {"result": "failed", "reason": str(e)}
    except DeadlineExceeded:
        line = {"result": "failed", "reason": "deadline"}
    except Exception as e:
        line = {"result": "failed", "reason": type(e).__name__}
    print(json.dumps(line))
    sys.exit(code)
