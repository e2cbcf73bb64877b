#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""browser_test.py PROGRAM PICTURE.png: the page of `quire serve` in a headless Chromium.

Asks two questions there, reads what the page then says about them, and takes a picture of it.
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

from running_server import Server, model_folder

QUESTIONS = ["What is the capital of France?", "And of Italy?"]
SECONDS = 120  # for everything, on a busy machine


class Browser:
    """A Chromium that is told what to do over two pipes: messages of JSON, each with a 0 after it."""

    def __init__(self, profile):
        program = shutil.which("chromium")
        if program is None:
            sys.exit("there is no chromium; cmake/setup.sh --full installs it")
        to_read, self.out = os.pipe()
        self.inward, to_write = os.pipe()
        # It reads from descriptor 3 and writes to 4.
        script = f'exec 3<&{to_read} 4>&{to_write}; exec "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "browser", program, "--headless=new", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900",
             f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.complaints = []

    def read(self):
        while b"\0" not in self.buffer:
            more = os.read(self.inward, 1 << 16)
            assert more, "the browser ended"
            self.buffer += more
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def tell(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            reply = self.read()
            if reply.get("id") == self.number:
                assert "error" not in reply, reply
                return reply["result"]
            self.note(reply)

    def note(self, event):
        parameters = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"])
        elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.complaints.append(parameters["entry"])

    def open(self, url):
        target = self.tell("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.tell("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.tell(f"{domain}.enable")
        self.tell("Page.navigate", url=url)

    def value(self, expression):
        return self.tell("Runtime.evaluate", expression=expression,
                         returnByValue=True)["result"].get("value")

    def wait_for(self, expression):
        end = time.monotonic() + SECONDS
        while not self.value(expression):
            assert time.monotonic() < end, f"{expression}\n{self.value('document.body.innerText')}"
            time.sleep(0.1)

    def picture(self):
        return base64.b64decode(self.tell("Page.captureScreenshot", format="png")["data"])

    def close(self):
        self.process.kill()
        self.process.wait()


def texts(browser, selector):
    return browser.value(
        f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.innerText)")


def check_page(browser, url):
    asked = urllib.parse.urlencode([("ask", question) for question in QUESTIONS])
    browser.open(f"{url}/#{asked}")
    browser.wait_for(f"document.querySelectorAll('.account').length === {len(QUESTIONS)}")
    assert texts(browser, ".user .text") == QUESTIONS
    answers = texts(browser, ".assistant .text")
    assert "Paris" in answers[0], answers
    assert texts(browser, ".error") == []
    first, second = texts(browser, ".account")
    assert "nothing of it was known" in first and "from memory" not in first, first
    assert "from memory" in second, second
    # The panel beside it, which asks the server every other second.
    browser.wait_for("document.querySelector('#rate').innerText.includes('were not computed')")
    assert len(texts(browser, "#sources polygon")) == 7
    assert "nothing of it was known" in browser.value("$('misses').innerText")
    assert browser.value("$('model').innerText") == "smollm2"
    # By hand: typed, sent, and a new chat.
    browser.value("$('tokens').value = 3; $('question').value = 'Once more'; $('send').click()")
    browser.wait_for("document.querySelectorAll('.account').length === 3")
    picture = browser.picture()
    browser.value("$('reset').click()")
    assert texts(browser, ".turn") == []
    assert browser.complaints == [], browser.complaints
    return picture


def main():
    program, file = sys.argv[1], pathlib.Path(sys.argv[2])
    model_folder("smollm2")
    with Server(program, "smollm2") as server, \
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            picture = check_page(browser, server.url)
        finally:
            browser.close()
    assert picture.startswith(b"\x89PNG") and len(picture) > 20_000, len(picture)
    file.write_bytes(picture)
    print(f"{file}: {len(picture):,} bytes")


if __name__ == "__main__":
    main()
