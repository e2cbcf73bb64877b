# SPDX-License-Identifier: Apache-2.0
"""Many clients at once: no errors, the answers that one client gets, and memory that stays.

Every tenth request is broken off in mid-stream. Ends with a line of what was done, and status 1 if anything was wrong.

Usage: load.py PROGRAM [--model MODEL] [--clients N] [--seconds S] [--growth PERCENT]
"""
import argparse
import http.client
import json
import pathlib
import sys
import threading
import time

from running_server import Server, model_folder

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--model", default="smollm2")
parser.add_argument("--clients", type=int, default=64)
parser.add_argument("--seconds", type=float, default=60)
parser.add_argument("--growth", type=float, default=2.0, help="percent of resident memory from the second third to the last, at most")
options = parser.parse_args()

SYSTEM = "You are a helpful assistant. Answer in one short sentence. " * 6
QUESTIONS = ["What is the capital of France?", "What colour is the sky?", "Name a large animal.", "What is two plus two?",
             "Who wrote Hamlet?", "What do bees make?", "Where does the sun rise?", "What is ice made of?"]


def body_of(index, stream):
    return {"model": options.model, "max_tokens": 12, "temperature": 0, "stream": stream,
            "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTIONS[index]}]}


def anthropic_body(index):
    body = body_of(index, False)
    body["system"] = [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}]
    body["messages"] = body["messages"][1:]
    return body


def read_stream(reply, most_events=None):
    text, events = "", 0
    for line in reply:
        if not line.startswith(b"data: {"):
            continue
        data = json.loads(line[6:])
        if "error" in data:
            raise RuntimeError(data)
        text += "".join(choice["delta"].get("content", "") for choice in data["choices"])
        events += 1
        if events == most_events:
            return None
    return text


class Client(threading.Thread):
    def __init__(self, number, server, alone, end):
        super().__init__()
        self.number, self.server, self.alone, self.end = number, server, alone, end
        self.done = self.broken_off = 0
        self.problems = []

    def ask(self, count):
        index = (self.number + count) % len(QUESTIONS)
        anthropic, leaves = count % 3 == 2, count % 10 == 9
        stream = leaves or (not anthropic and count % 2 == 0)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        path, body = ("/v1/messages", anthropic_body(index)) if anthropic and not stream else ("/v1/chat/completions", body_of(index, stream))
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        reply = connection.getresponse()
        if reply.status != 200:
            raise RuntimeError(f"{reply.status}: {reply.read()}")
        if stream:
            text = read_stream(reply, 2 if leaves else None)
        else:
            answer = json.load(reply)
            text = answer["content"][0]["text"] if path == "/v1/messages" else answer["choices"][0]["message"]["content"]
        connection.close()
        if leaves:
            self.broken_off += 1
        elif text != self.alone[index]:
            raise RuntimeError(f"{body}: expected {self.alone[index]!r}, found {text!r}")

    def run(self):
        count = self.number
        while time.monotonic() < self.end and not self.problems:
            try:
                self.ask(count)
                self.done += 1
            except Exception as error:
                self.problems.append(repr(error))
            count += 1


def main():
    if not pathlib.Path(options.model).exists():
        model_folder(options.model)
    with Server(options.program, options.model) as server:
        alone = [server.post("/v1/chat/completions", body_of(i, False))["choices"][0]["message"]["content"] for i in range(len(QUESTIONS))]
        start = time.monotonic()
        clients = [Client(i, server, alone, start + options.seconds) for i in range(options.clients)]
        for client in clients:
            client.start()
        resident = [[], [], []]  # bytes, once a second, by thirds of the time
        while (spent := time.monotonic() - start) < options.seconds:
            resident[int(3 * spent / options.seconds)].append(server.resident_bytes())
            time.sleep(1)
        before, after = (sum(third) / len(third) for third in resident[1:])
        growth = 100 * (after / before - 1)
        for client in clients:
            client.join()
        took = time.monotonic() - start
        for _ in range(100):
            active = server.metric("quire_requests_active")
            if active == 0:
                break
            time.sleep(0.1)
        problems = [problem for client in clients for problem in client.problems]
        done, broken_off = sum(client.done for client in clients), sum(client.broken_off for client in clients)
        tokens = server.metric("quire_completion_tokens_total")
    print(f"{options.clients} clients, {took:.0f} s: {done} requests ({broken_off} broken off), {tokens / took:.0f} tokens/s, "
          f"{len(problems)} errors; resident {before / 2**20:.0f} MiB in the second third, {growth:+.2f} % in the last; "
          f"{active:.0f} still active")
    for problem in problems[:5]:
        print(problem)
    return 0 if not problems and growth <= options.growth and active == 0 else 1


sys.exit(main())
