# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium, driven by its own protocol over two pipes: no driver, no port."""

import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from patience import TIMEOUT

Json = dict[str, Any]

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for path in map(shutil.which, NAMES) if path), None)
# What a browser does by itself on a network has no place in a test.
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
SECONDS = TIMEOUT


class Browser:
    """Calls of the DevTools protocol, and the events that came meanwhile."""

    def __init__(self, reads: int, writes: int) -> None:
        self.reads, self.writes = reads, writes
        self.buffer = b""
        self.number = 0
        self.session = ""
        self.events: list[Json] = []

    def message(self, end: float) -> Json:
        while b"\0" not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.reads], [], [], left)[0]:
                raise TimeoutError("the browser says nothing")
            part = os.read(self.reads, 1 << 16)
            if not part:
                raise ConnectionError("the browser has ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        found: Json = json.loads(text)
        return found

    def call(self, method: str, **parameters: Any) -> Json:
        self.number += 1
        asked: Json = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            asked["sessionId"] = self.session
        data = json.dumps(asked).encode() + b"\0"
        while data:
            data = data[os.write(self.writes, data) :]
        end = time.monotonic() + SECONDS
        while True:
            answer = self.message(end)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                result: Json = answer["result"]
                return result
            self.events.append(answer)

    def wait_for(self, method: str) -> None:
        end = time.monotonic() + SECONDS
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.message(end))

    def value(self, expression: str) -> Any:
        """Of a JavaScript expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def open(self, page: Path) -> None:
        """Loads a file; from here on `events` are this page's."""
        self.events.clear()
        self.call("Page.navigate", url=page.as_uri())
        self.wait_for("Page.loadEventFired")

    def all(self, method: str) -> list[Json]:
        return [e["params"] for e in self.events if e.get("method") == method]


def high(pipe: tuple[int, int]) -> tuple[int, int]:
    """The same pipe under numbers that 3 and 4 cannot write over."""
    reads, writes = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in pipe)
    for end in pipe:
        os.close(end)
    return reads, writes


@contextlib.contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """One page of a browser that has never run before."""
    to_child, from_us = high(os.pipe())
    from_child, to_us = high(os.pipe())
    assert CHROMIUM is not None
    # The protocol's pipes are the file descriptors 3 and 4, whatever these are here.
    script = f'exec "$@" 3<&{to_child} 4>&{to_us}'
    command = ["bash", "-c", script, "bash", CHROMIUM, *QUIET, f"--user-data-dir={folder}"]
    with (folder.parent / "browser.log").open("wb") as log:
        child = subprocess.Popen(
            [*command, "about:blank"], pass_fds=(to_child, to_us), stdout=log, stderr=log
        )
    os.close(to_child)
    os.close(to_us)
    try:
        one = Browser(from_child, from_us)
        target = one.call("Target.createTarget", url="about:blank")["targetId"]
        attached = one.call("Target.attachToTarget", targetId=target, flatten=True)
        one.session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            one.call(f"{domain}.enable")
        yield one
        one.session = ""
        one.call("Browser.close")
    finally:
        os.close(from_us)
        os.close(from_child)
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
