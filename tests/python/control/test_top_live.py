# SPDX-License-Identifier: BSD-3-Clause
"""vcmts top in a terminal, against a service that says what it is told to."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from patience import TIMEOUT, until
from python.conftest import ExpectError
from python.control.top_samples import Service, mac
from vcmts import cli
from vcmts.control.client import Client
from vcmts.paths import CHECKOUT
from vcmts.top.keys import decoded
from vcmts.top.source import Source, Told, Wish

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def service() -> Iterator[tuple[str, Service]]:
    with tempfile.TemporaryDirectory(prefix="top-") as folder:
        path = f"{folder}/4711-control.sock"
        with Service(path) as served:
            thread = threading.Thread(target=served.serve_forever, args=(0.01,))
            thread.start()
            yield path, served
            served.goes_on.set()
            served.shutdown()
            thread.join()


class Terminal:
    """The tool on a terminal of its own, which was set as `before`; what it wrote is heard by a
    thread."""

    def __init__(self, fd: int, process: "subprocess.Popen[bytes]", before: list[Any]) -> None:
        self.fd, self.process, self.before, self.heard = fd, process, before, ""
        self._thread = threading.Thread(target=self._hear, daemon=True)
        self._thread.start()

    def _hear(self) -> None:
        while True:
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                return  # nobody has the other end any more
            self.heard += piece.decode(errors="replace")

    def text(self) -> str:
        return CONTROL.sub("", self.heard)

    def size(self, width: int, height: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("4H", height, width, 0, 0))

    def press(self, keys: str) -> None:
        self.heard = ""
        os.write(self.fd, keys.encode())

    def sees(self, text: str) -> None:
        until(lambda: text in self.text() or self.process.poll() is not None, text)
        assert text in self.text(), self.text()

    def end(self) -> int:
        status = self.process.wait(TIMEOUT)
        self._thread.join(TIMEOUT)
        return status


@contextmanager
def terminal(
    path: str, *words: str, size: tuple[int, int] = (80, 24), **environment: str
) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("4H", size[1], size[0], 0, 0))
    before = termios.tcgetattr(theirs)
    process = subprocess.Popen(
        [sys.executable, "-m", "vcmts", "top", "--socket", path, "--interval", "0.1", *words],
        env=os.environ
        | {"PYTHONPATH": str(CHECKOUT / "tools"), "TERM": "xterm", "PYTHONUTF8": "1"}
        | environment,
        preexec_fn=lambda: os.login_tty(theirs),
        pass_fds=[theirs],
    )
    os.close(theirs)
    made = Terminal(ours, process, before)
    try:
        yield made
    finally:
        process.kill()
        process.wait()
        made.end()
        os.close(ours)


def test_down_to_a_modem_and_back(service: tuple[str, Service]) -> None:
    path, served = service
    with terminal(path) as seen:
        seen.sees("10.4 Gbps")
        assert "\x1b[?1049h" in seen.heard and "vcmtsd 4711" in seen.text()
        seen.press("\x1b[B\r")
        seen.sees("service group 2  3 modems")
        seen.sees("cycles per packet")
        seen.press("\r")
        seen.sees(mac(2, 3))
        seen.press("\x1b[Fxé\r")
        seen.sees(f"modem {mac(2, 3)}")
        seen.sees("8.80M")
        seen.press("\x1b")
        seen.sees("modems of service group 2")
        seen.press("\x1b[D\x1b[D")
        seen.sees("lost at ports")
        served.groups = (2, 7)
        seen.press("")
        seen.sees("group 7")
        seen.press("q")
        assert seen.end() == 0
        assert seen.heard.endswith("\x1b[?25h") and "\x1b[?1049l" in seen.heard


def test_another_size(service: tuple[str, Service]) -> None:
    """It is drawn anew at once, and not when the next answer comes."""
    with terminal(service[0], "--interval", "3600", size=(200, 50)) as seen:
        seen.sees("upper MAC")
        for width, height in ((10, 3), (1, 1), (40, 10), (80, 24)):
            seen.heard = ""
            seen.size(width, height)
            seen.sees("vcmtsd 4711"[:width])
        seen.sees("q quit")
        seen.press("q")
        assert seen.end() == 0


def test_without_colours(service: tuple[str, Service]) -> None:
    with terminal(service[0], NO_COLOR="1") as seen:
        seen.sees("upper MAC")
        os.write(seen.fd, b"q")
        assert seen.end() == 0
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", seen.heard)
    with terminal(service[0], TERM="dumb") as seen:
        seen.sees("##")
        os.write(seen.fd, b"q")
        assert seen.end() == 0
        assert "\x1b" not in seen.heard and "#" in seen.heard


def test_what_is_wrong_is_said_and_it_goes_on(service: tuple[str, Service]) -> None:
    path, served = service
    refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "memory is short"}}
    with terminal(path) as seen:
        seen.sees("10.4 Gbps")
        served.says = json.dumps([refused]).encode()
        seen.sees("refused: memory is short")
        for odd in (b"}", b"[]", b"5", b'[{"result": {"uptime": "x"}}]'):
            served.says = odd
            seen.heard = ""
            seen.sees("answered")
        served.says, served.closes = None, True
        seen.sees("vcmtsd closed the connection")
        served.closes = False
        seen.heard = ""
        seen.sees("vcmtsd 4711  up")
        served.goes_on.clear()
        seen.sees("no answer for")
        seen.press("\x1b[B\r")
        seen.sees("service group 2")  # keys are taken meanwhile
        served.goes_on.set()
        seen.heard = ""
        seen.sees("vcmtsd 4711  up")
        seen.press("q")
        assert seen.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_leave_the_terminal_as_it_was(
    number: signal.Signals, service: tuple[str, Service]
) -> None:
    with terminal(service[0]) as seen:
        seen.sees("10.4 Gbps")
        # What is drawn first says nothing of when the terminal is set.
        until(lambda: termios.tcgetattr(seen.fd) != seen.before, "the terminal is set")
        seen.process.send_signal(number)
        assert seen.end() == (130 if number == signal.SIGINT else 0)
        assert "\x1b[?1049l" in seen.heard
        assert termios.tcgetattr(seen.fd) == seen.before


def test_once_and_json(service: tuple[str, Service], capsys: pytest.CaptureFixture[str]) -> None:
    path, served = service

    def said(*words: str, status: int = 0) -> str:
        assert cli.main(["top", "--socket", path, "--interval", "0.1", *words]) == status
        found = capsys.readouterr()
        assert found.err.count("\n") == (1 if status else 0) and bool(found.out) != bool(status)
        return found.err if status else found.out

    whole = said("--once")
    assert "Gbps" in whole and "group 10" in whole and "lost at ports" in whole
    assert not any(text in whole for text in ("\x1b", "q quit", ">"))
    group = said("--once", "--group", "10")
    assert "service group 10  3 modems" in group and "encrypt_collect" in group
    found = json.loads(said("--json"))
    assert [one["id"] for one in found["groups"]] == ["1", "2", "10"]
    assert found["groups"][0]["directions"]["upstream"]["stages"][3]["name"] == "reassemble"
    assert json.loads(said("--json", "--group", "2"))["name"] == "group 2"
    assert "found 3, allowed: 1, 2, 10" in said("--once", "--group", "3", status=2)
    served.says = b"5"
    assert "no JSON-RPC" in said("--once", status=1)
    served.closes = True
    said("--json", status=1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--socket", "/nowhere.sock"), "no terminal"),
        (("--socket", "/nowhere.sock", "--once"), "/nowhere.sock: No such file"),
        (("--pid", "999999999", "--json"), "found 999999999, which has no control socket"),
        (("--socket", "/nowhere.sock", "--interval", "0", "--once"), "allowed: 0.1 to 3600"),
        (("--socket", "/nowhere.sock", "--interval", "nan", "--once"), "allowed: 0.1 to 3600"),
    ],
)
def test_mistakes(words: tuple[str, ...], said: str, expect_error: ExpectError) -> None:
    expect_error(said, "top", *words)


def test_keys_in_pieces() -> None:
    assert decoded(b"\x1b[A\x1bOBq\x7f\t") == (["up", "down", "q", "backspace", "tab"], b"")
    assert decoded(b"j\x1b[") == (["j"], b"\x1b[")
    assert decoded(b"\x1b") == ([], b"\x1b")
    assert decoded(b"\x1b\x1b[B") == (["escape", "down"], b"")
    assert decoded(b"\x1b[99;5~\xc3\xa9\x00s") == (["s"], b"")


def test_a_refused_modem_leaves_the_rest(service: tuple[str, Service]) -> None:
    """What is wrong with the second question does not spoil the first one's answer."""
    path, served = service
    error = {"code": -32000, "message": "modem: there is none"}
    whole = json.loads(served.answer([{"id": 1, "params": {}}]) or b"")
    served.says = json.dumps([*whole, {"jsonrpc": "2.0", "id": 2, "error": error}]).encode()
    woken = threading.Event()
    source = Source(lambda: Client(Path(path)), 0.1, woken.set)
    source.want(Wish("2", modem=mac(2, 1)))
    source.start()
    assert woken.wait(TIMEOUT)
    event = source.events.get()
    assert isinstance(event, Told) and event.trouble == "modem: there is none"
    assert event.modems is None and event.server.values
