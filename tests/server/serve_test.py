# SPDX-License-Identifier: Apache-2.0
"""`quire serve` from the outside: what it says, whom it lets in, how it ends.

Usage: serve_test.py PROGRAM SERVER FOLDER      (the quire program, the example's own, a model)
"""
import http.client
import json
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

from running_server import Server

FOLDER, SERVER, PROGRAM = sys.argv.pop(), sys.argv.pop(), sys.argv.pop()
QUESTION = {"messages": [{"role": "user", "content": "Hello?"}]}


class Serve(unittest.TestCase):
    def test_it_listens_and_ends_when_told(self):
        with Server(PROGRAM, FOLDER) as server:
            with urllib.request.urlopen(server.url + "/v1/models") as reply:
                self.assertEqual([model["id"] for model in json.load(reply)["data"]], [FOLDER])
            answer = server.post("/v1/chat/completions", QUESTION | {"model": FOLDER, "max_tokens": 3})
            self.assertEqual(answer["model"], FOLDER)

    def test_the_example_by_itself(self):
        with Server(None, None, command=[SERVER, FOLDER, "0"]) as server:
            self.assertEqual(server.post("/v1/chat/completions", QUESTION | {"max_tokens": 3})["usage"]["completion_tokens"], 3)

    def test_it_ends_in_order_while_clients_are_there(self):
        with Server(PROGRAM, FOLDER) as server:
            idle = http.client.HTTPConnection("127.0.0.1", server.port)
            idle.request("GET", "/health")
            self.assertEqual(idle.getresponse().read()[:1], b"{")
            busy = http.client.HTTPConnection("127.0.0.1", server.port)
            body = QUESTION | {"max_tokens": 900, "ignore_eos": True, "stream": True}
            busy.request("POST", "/v1/chat/completions", json.dumps(body))
            reply = busy.getresponse()
            self.assertIn(b"assistant", reply.readline())
        self.assertTrue(reply.read().endswith(b"data: [DONE]\n\n"))
        busy.close()
        idle.close()

    def test_keys(self):
        with tempfile.NamedTemporaryFile("w") as keys:
            keys.write("secret tenant\n")
            keys.flush()
            with Server(PROGRAM, FOLDER, "--api-keys", keys.name) as server:
                with self.assertRaises(urllib.error.HTTPError) as raised:
                    urllib.request.urlopen(server.url + "/v1/models")
                self.assertEqual(raised.exception.code, 401)
                request = urllib.request.Request(server.url + "/v1/models", headers={"Authorization": "Bearer secret"})
                self.assertEqual(urllib.request.urlopen(request).status, 200)

    def expect_error(self, *options):
        outcome = subprocess.run([PROGRAM, "serve", *options], capture_output=True, text=True, timeout=60)
        self.assertEqual((outcome.returncode, outcome.stdout), (1, ""))
        self.assertRegex(outcome.stderr, r"\Aerror: \w+: .+\n\Z")

    def test_what_cannot_be_served_is_one_line(self):
        self.expect_error(FOLDER, "--api-keys", "/nowhere")
        self.expect_error("/nowhere")
        self.expect_error(FOLDER, "--host", "999.1.1.1")
        with Server(PROGRAM, FOLDER) as server:
            self.expect_error(FOLDER, "--port", str(server.port))


if __name__ == "__main__":
    unittest.main()
