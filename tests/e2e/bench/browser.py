# SPDX-License-Identifier: BSD-3-Clause
"""Controls a headless Chromium by the DevTools protocol over two pipes, without TCP port."""

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
# Options against network access that a browser starts by itself.
OPTIONS = (
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
TIMEOUT_S = TIMEOUT


class Browser:
    """Calls methods of the DevTools protocol. `events`: the events received since open()."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self.read_fd, self.write_fd = read_fd, write_fd
        self.buffer = b""
        self.number = 0
        self.session = ""
        self.events: list[Json] = []

    def next_message(self, end: float) -> Json:
        while b"\0" not in self.buffer:
            remaining = end - time.monotonic()
            if remaining <= 0 or not select.select([self.read_fd], [], [], remaining)[0]:
                raise TimeoutError("no message of the browser")
            data = os.read(self.read_fd, 1 << 16)
            if not data:
                raise ConnectionError("the browser has ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        message: Json = json.loads(text)
        return message

    def call(self, method: str, **parameters: Any) -> Json:
        self.number += 1
        request: Json = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.write_fd, data) :]
        end = time.monotonic() + TIMEOUT_S
        while True:
            response = self.next_message(end)
            if response.get("id") == self.number:
                assert "error" not in response, response
                result: Json = response["result"]
                return result
            self.events.append(response)

    def wait_for(self, method: str) -> None:
        end = time.monotonic() + TIMEOUT_S
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.next_message(end))

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page, or of the promise that it returns."""
        response = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in response, response
        return response["result"].get("value")

    def emulate(self, width: int, scheme: str) -> None:
        """`width`: of the window in CSS pixels; `scheme`: `light` or `dark`."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme_feature = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=scheme_feature)

    def open(self, page: Path) -> None:
        """Loads a file, and clears `events` before."""
        self.open_address(page.as_uri())

    def open_address(self, url: str) -> None:
        """Loads a page, and clears `events` before."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")

    def events_of(self, method: str) -> list[Json]:
        return [e["params"] for e in self.events if e.get("method") == method]


def above_10(pipe: tuple[int, int]) -> tuple[int, int]:
    """Duplicates the pipe to file descriptors from 10 on, as the shell needs 3 and 4."""
    read_fd, write_fd = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in pipe)
    for end in pipe:
        os.close(end)
    return read_fd, write_fd


@contextlib.contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Runs a browser with a new profile in `folder`. Yields it with one empty page."""
    child_reads, parent_writes = above_10(os.pipe())
    parent_reads, child_writes = above_10(os.pipe())
    assert CHROMIUM is not None
    # The protocol uses file descriptors 3 and 4 of the browser.
    script = f'exec "$@" 3<&{child_reads} 4>&{child_writes}'
    command = ["bash", "-c", script, "bash", CHROMIUM, *OPTIONS, f"--user-data-dir={folder}"]
    with (folder.parent / "browser.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "about:blank"], pass_fds=(child_reads, child_writes), stdout=log, stderr=log
        )
    os.close(child_reads)
    os.close(child_writes)
    try:
        page = Browser(parent_reads, parent_writes)
        target = page.call("Target.createTarget", url="about:blank")["targetId"]
        attached = page.call("Target.attachToTarget", targetId=target, flatten=True)
        page.session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            page.call(f"{domain}.enable")
        yield page
        page.session = ""
        page.call("Browser.close")
    finally:
        os.close(parent_writes)
        os.close(parent_reads)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
