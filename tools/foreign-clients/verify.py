#!/usr/bin/env python3
"""Runs every client against faults of the stub and writes what is not an error.

Usage: verify.py [ID ...]. For each client and case the line shows the outcome,
the number of checks (a) and token requests (t), the seconds, and LEAK if the
output holds a name, a date of birth, the key or a token. A plain refusal with
one check or none is not written.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import check

HERE = check.HERE
CLASSES = os.environ.get("CLASSES")  # Directory of compiled Java clients, to save time.
CASES = {
    "match lower-case no": {"aml_set": {"match_found": "no"}},
    "match No match": {"aml_set": {"match_found": "No match"}},
    "match unknown": {"aml_set": {"match_found": "Pending"}},
    "match removed": {"aml_set": {"match_found": None}},
    "match empty": {"aml_set": {"match_found": ""}},
    "match false": {"aml_set": {"match_found": False}},
    "profile removed": {"aml_set": {"aml_profile": None}},
    "profile empty": {"aml_set": {"aml_profile": ""}},
    "other name": {"aml_set": {"name": "Bob Grey"}},
    "other year": {"aml_set": {"birth_year": "1951"}},
    "other type": {"aml_top": {"credential_type": "company"}},
    "credential with 500": {"aml_code": 500},
    "credential with 400": {"aml_code": 400},
    "credential with 302": {"aml_code": 302},
    "404": {"aml_status": 404, "aml_text": '{"error":"Not found"}'},
    "400": {"aml_status": 400},
    "500": {"aml_status": 500},
    "503 Retry-After": {"aml_status": 503, "aml_headers": {"Retry-After": "1"}},
    "429 Retry-After": {"aml_status": 429, "aml_headers": {"Retry-After": "1"}},
    "429 Retry-After 60": {"aml_status": 429, "aml_headers": {"Retry-After": "60"}},
    "302": {"aml_status": 302, "aml_headers": {"Location": "/elsewhere"}},
    "307": {"aml_status": 307, "aml_headers": {"Location": "/elsewhere"}},
    "204": {"aml_status": 204, "aml_text": ""},
    "200 empty": {"aml_text": ""},
    "200 HTML": {"aml_text": "<html>No service</html>", "aml_headers": {"Content-Type": "text/html"}},
    "200 null": {"aml_text": "null"},
    "200 list": {"aml_text": "[]"},
    "401": {"aml_status": 401},
    "slow 2 s": {"aml_delay": 2},
    "slow 30 s": {"aml_delay": 30},
    "stalled body": {"aml_stall": 30},
    "trickled body": {"aml_drip": 0.5},
    "token 401": {"token_status": 401},
    "token 503": {"token_status": 503},
    "token 302": {"token_status": 302, "token_headers": {"Location": "/elsewhere"}},
    "token slow": {"token_delay": 30},
    "token removed": {"token_set": {"access_token": None}},
    "token bare": {"token_set": {"token_type": None, "expires_in": None}},
    "token bearer": {"token_set": {"token_type": "bearer"}},
}
PEOPLE = {
    "quotes": ('Ann "Q" O\'Brien \\ Vex', "1984-03-05"),
    "script": ("Łucja 王秀英 Žižka", "1984-11-23"),
    "one name": ("Suharto", "1984-11-23"),
    "December": ("Dena Vex", "2018-12-31"),
    "New Year": ("Nila Vex", "1985-01-01"),
    "old": ("Olda Vex", "1909-10-12"),
    "long": ("Maximiliana " * 12 + "Vex", "1984-11-23"),
    "impossible date": ("Ivo Vex", "2001-02-30"),
    "future date": ("Fay Vex", "2090-12-12"),
    "no name": ("  ", "1984-11-23"),
    "listed, middle names": ("Ola Listed Vex", "1984-11-23"),
}


def verify(client):
    lines = []
    port = check.free_port()
    stub = subprocess.Popen([sys.executable, str(HERE / "stub.py"), str(port)])
    base = f"http://127.0.0.1:{port}"
    backend = None
    if CLASSES and client["start"][-1].endswith(".java") or CLASSES and ".java" in client["file"]:
        rest = [a for a in client["start"] if a.startswith("{")]
        client = {**client, "start": ["env", "LC_ALL=C.UTF-8", "java", "-XX:TieredStopAtLevel=1", "-cp", CLASSES,
                                      pathlib.Path(client["file"]).stem, *rest]}
    try:
        check.wait_for(base + "/stub")
        cases = [(n, f, f"Mara Quill {chr(65 + i // 26)}{chr(97 + i % 26)}", check.DOB) for i, (n, f) in enumerate(CASES.items())]
        cases += [(n, {}, *p) for n, p in PEOPLE.items()]
        for label, faults, name, dob in cases:
            with tempfile.TemporaryDirectory() as directory:
                if client["kind"] == "command":
                    check.call(base + "/stub", faults)
                    result, out, code, err, seconds = check.run(client, base, name, dob, limit=24, TMPDIR=directory)
                    text = out + err
                else:
                    if backend is None or label.startswith("token"):
                        if backend:
                            backend.stop()
                        backend = check.Backend(client, base)
                    check.call(base + "/stub", faults)
                    began = time.time()
                    try:
                        text = backend.sign_up(name, dob)
                        result = check.outcome(client, text)
                    except OSError:
                        text, result = "", "hang"
                    code, seconds = None, time.time() - began
                    out = text
            log = json.loads(check.call(base + "/stub").partition(" ")[2])
            sent = [e for e in log if e["path"] == "/api/aml"]
            tokens = sum(e["path"] == "/oauth/service" for e in log)
            other = [e["method"] + e["path"] for e in log if e["path"] not in ("/api/aml", "/oauth/service")]
            leak = re.search(r"Quill|Vex|1984-11-23|23-11-1984|stub-key|c3R1Yi|token-\d-", text)
            extra = ""
            if label in PEOPLE and sent:
                try:
                    extra = str({k: v for k, v in json.loads(sent[0]["body"]).items() if k != "entity_type"})
                    if extra == str({"name": name, "dob": "-".join(reversed(dob.split("-")))}):
                        extra = "as given"
                except ValueError:
                    extra = "not JSON"
            plain = result == "error" and len(sent) <= 1 and tokens <= 1 and not other and not leak and seconds < 17
            if not plain:
                lines.append(f"{client['id']:9} {label:21} {result} a{len(sent)} t{tokens} {seconds:.1f}s exit={code} "
                             f"{' '.join(other)} {'LEAK' if leak else ''} {extra} {out[:60] if result == 'error' else ''}")
        if backend:
            output = backend.stop()
            if re.search(r"Quill|Vex|1984-11-23|23-11-1984|stub-key|c3R1Yi|token-\d-", output):
                lines.append(f"{client['id']:9} LEAK in the log")
    finally:
        stub.terminate()
    return "\n".join(lines)


if __name__ == "__main__":
    clients = json.loads((HERE / "clients.json").read_text())["clients"]
    wanted = [c for c in clients if not sys.argv[1:] or c["id"] in sys.argv[1:]]
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("PARALLEL", "4"))) as pool:
        for future in concurrent.futures.as_completed([pool.submit(verify, c) for c in wanted]):
            try:
                print(future.result(), flush=True)
            except Exception as error:
                print("verify failed:", repr(error), flush=True)
