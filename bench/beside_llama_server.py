#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`quire serve` beside llama-server on the same GGUF file, by the same requests, in one run.

Eight clients at once, each with a prompt of 32 tokens of its own and 64 new tokens: tokens a second
in all. Then one client: the answer of one token after 1,024 tokens that nobody has sent before, and
after the same with 16 others behind them, which both servers remember. The two take turns, the best
of all rounds counts.

    bench/beside_llama_server.py [--model FILE.gguf] [--rounds 5]
"""
import concurrent.futures
import contextlib
import http.client
import json
import pathlib
import random
import socket
import subprocess
import time

import llama_cpp

CLIENTS = 8
PROMPT, NEW = 32, 64
PREFIX, TAIL = 1024, 16


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


class Server:
    def __init__(self, model, command):
        self.model = model
        self.port = free_port()
        self.process = subprocess.Popen([str(part) for part in (*command, "--port", self.port)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait()

    def wait(self):
        for _ in range(600):
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", self.port)
                connection.request("GET", "/health")
                if connection.getresponse().status == 200:
                    return
            assert self.process.poll() is None, f"{self.process.args[0]} ended"
            time.sleep(0.1)
        raise TimeoutError(self.process.args[0])

    def complete(self, ids, new):
        """Milliseconds that an answer of `new` tokens takes."""
        body = {"model": self.model, "prompt": ids, "max_tokens": new, "temperature": 0,
                "ignore_eos": True}
        start = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("POST", "/v1/completions", json.dumps(body),
                           {"Content-Type": "application/json"})
        reply = connection.getresponse()
        answer = json.loads(reply.read())
        assert reply.status == 200, answer
        assert answer["usage"]["completion_tokens"] == new, answer["usage"]
        return 1000 * (time.monotonic() - start)


def draw(count):
    return [random.randrange(1000, 40000) for _ in range(count)]


def together(server):
    prompts = [draw(PROMPT) for _ in range(CLIENTS)]
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(lambda ids: server.complete(ids, NEW), prompts))
    return CLIENTS * NEW / (time.monotonic() - start)


def first_tokens(server):
    prefix = draw(PREFIX)
    cold = server.complete(prefix + draw(TAIL), 1)
    warm = min(server.complete(prefix + draw(TAIL), 1) for _ in range(4))
    return cold, warm


def main():
    parser = llama_cpp.parser(__doc__)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    random.seed(0)
    program, = llama_cpp.build(options.peer, "llama-server")
    commands = {
        "quire": [options.build / "bin/quire", "serve", options.model, "--threads", options.threads],
        "llama-server": [program, "-m", options.model, "-t", options.threads, "-np", CLIENTS, "-c",
                         CLIENTS * 2048, "--no-webui"]}
    with contextlib.ExitStack() as stack:
        servers = {}
        for name, command in commands.items():
            servers[name] = Server(options.model, command)
            stack.callback(servers[name].process.terminate)
        measure(options, servers)


def measure(options, servers):
    rate = dict.fromkeys(servers, 0.0)
    cold = dict.fromkeys(servers, 1e9)
    warm = dict.fromkeys(servers, 1e9)
    for _ in range(options.rounds):
        for name, server in servers.items():
            rate[name] = max(rate[name], together(server))
            one_cold, one_warm = first_tokens(server)
            cold[name] = min(cold[name], one_cold)
            warm[name] = min(warm[name], one_warm)
    ours, theirs = servers
    print(f"{pathlib.Path(options.model).name}, {options.threads} threads, best of {options.rounds}")
    print(f"{CLIENTS} clients, tokens a second: quire {rate[ours]:.0f}, {theirs} {rate[theirs]:.0f}, "
          f"ratio {rate[ours] / rate[theirs]:.2f}")
    for what, times in (("cold", cold), ("warm", warm)):
        print(f"{PREFIX} + {TAIL} tokens, {what}, ms: quire {times[ours]:.1f}, {theirs} "
              f"{times[theirs]:.1f}, ratio {times[theirs] / times[ours]:.2f}")


if __name__ == "__main__":
    main()
