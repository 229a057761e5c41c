#!/usr/bin/env python3
"""Runs every client against the stub: a clean person, a listed person, no server.

Usage: check.py [ID ...]. Writes one line per client.
"""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
DOB = "1984-11-23"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def call(url, body=None, timeout=40):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            return f"{response.status} {response.read().decode()}"
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode()}"


def wait_for(url, seconds=40):
    ends = time.time() + seconds
    while time.time() < ends:
        try:
            return call(url, timeout=2)
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"{url} did not start")


def outcome(client, text):
    for result in ("clear", "review"):
        if re.search(client[result], text, re.M):
            return result
    return "error"


def environment(base, key="stub-key", **more):
    return {**os.environ, "IDV_BASE_URL": base, "IDV_CUSTOMER_ID": "stub-customer", "IDV_API_KEY": key, **more}


class Backend:
    def __init__(self, client, base, **more):
        self.client, self.port = client, free_port()
        self.process = subprocess.Popen(client["start"], cwd=HERE, env=environment(base, PORT=str(self.port), **more),
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        wait_for(client["ready_url"].format(port=self.port))

    def sign_up(self, name, dob=DOB):
        return call(self.client["url"].format(port=self.port), {"name": name, "date_of_birth": dob})

    def stop(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        return self.process.communicate()[0]


def run(client, base, name, dob=DOB, limit=40, **more):
    """Returns the outcome, the text that decided it, the exit code, stderr and the seconds."""
    began = time.time()
    command = [a.replace("{name}", name).replace("{date_of_birth}", dob) for a in client["start"]]
    process = subprocess.Popen(command, cwd=HERE, env=environment(base, **more), start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return "hang", out, None, err, time.time() - began
    return outcome(client, out), out.strip(), process.returncode, err.strip(), time.time() - began


def main(ids):
    clients = json.loads((HERE / "clients.json").read_text())["clients"]
    port = free_port()
    stub = subprocess.Popen([sys.executable, str(HERE / "stub.py"), str(port)])
    base, nobody = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{free_port()}"
    try:
        wait_for(base + "/stub")
        for client in clients:
            if ids and client["id"] not in ids:
                continue
            cases = [(base, "Mára Ødegård Quill"), (base, "Viktor Listed"), (nobody, "Mára Ødegård Quill")]
            if client["kind"] == "command":
                results = [run(client, address, name) for address, name in cases]
                seen = [f"{r[0]}/{r[2]}" for r in results]
                seen.append(f"{results[0][4]:.1f}s | {results[0][1]} | {results[1][1]} | {results[2][1]} | {results[2][3][:90]}")
            else:
                up, down = Backend(client, base), Backend(client, nobody)
                replies = [up.sign_up(cases[0][1]), up.sign_up(cases[1][1]), down.sign_up(cases[2][1])]
                seen = [outcome(client, r) for r in replies]
                seen.append(" | ".join(r[:70] for r in replies) + " | " + (up.stop() + down.stop()).replace("\n", "; ")[:120])
            print(f"{client['id']:9}", *seen, flush=True)
    finally:
        stub.terminate()


if __name__ == "__main__":
    main(sys.argv[1:])
