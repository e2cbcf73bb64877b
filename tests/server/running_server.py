# SPDX-License-Identifier: Apache-2.0
"""A `quire serve` of its own for a test, on a free port."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import urllib.request


def model_folder(name):
    home = pathlib.Path(os.environ.get("QUIRE_HOME") or pathlib.Path.home() / ".cache" / "quire")
    folder = home / "models" / name
    if not folder.exists():
        sys.exit(f"{folder} is missing: run quire pull {name}")
    return folder


class Server:
    """Listens from the beginning to the end of a `with`, and must then end with status 0.

    `command`: in place of `quire serve`.
    """

    def __init__(self, program, model, *options, command=None):
        self.command = command or [program, "serve", model, "--port", "0", *options]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        found = re.fullmatch(r"listening on (http://\S+:(\d+))\n", line)
        assert found, line + self.process.stderr.read()
        self.url, self.port = found[1], int(found[2])
        return self

    def __exit__(self, kind, error, trace):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=30)
        with self.process.stderr as stderr:
            rest = stderr.read()
        assert kind or (status == 0 and rest == ""), (status, rest)

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)

    def metric(self, sample):
        with urllib.request.urlopen(self.url + "/metrics") as reply:
            for line in reply.read().decode().splitlines():
                if line.startswith(sample + " "):
                    return float(line.rsplit(" ", 1)[1])
        return 0.0

    def resident_bytes(self):
        pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
