# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts top` on a terminal (a pty), against a simulated service."""

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
from vcmts.top.keys import decode_keys
from vcmts.top.source import Reply, Request, Source

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def service() -> Iterator[tuple[str, Service]]:
    with tempfile.TemporaryDirectory(prefix="top-") as folder:
        path = f"{folder}/4711-control.sock"
        with Service(path) as served:
            thread = threading.Thread(target=served.serve_forever, args=(0.01,))
            thread.start()
            yield path, served
            served.may_answer.set()
            served.shutdown()
            thread.join()


class Terminal:
    """Runs the tool on a terminal, whose settings were `before`. A thread collects its output."""

    def __init__(self, fd: int, process: "subprocess.Popen[bytes]", before: list[Any]) -> None:
        self.fd, self.process, self.before, self.output = fd, process, before, ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while True:
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                return  # EIO: the other end is closed
            self.output += piece.decode(errors="replace")

    def text(self) -> str:
        return CONTROL.sub("", self.output)

    def resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("4H", height, width, 0, 0))

    def press(self, keys: str) -> None:
        self.output = ""
        os.write(self.fd, keys.encode())

    def wait_for(self, text: str) -> None:
        until(lambda: text in self.text() or self.process.poll() is not None, text)
        assert text in self.text(), self.text()

    def wait(self) -> int:
        status = self.process.wait(TIMEOUT)
        self._thread.join(TIMEOUT)
        return status


@contextmanager
def terminal(
    path: str, *arguments: str, size: tuple[int, int] = (80, 24), **environment: str
) -> Iterator[Terminal]:
    """Runs `vcmts top`. `size`: columns and lines of the terminal."""
    controller, tty = pty.openpty()
    fcntl.ioctl(controller, termios.TIOCSWINSZ, struct.pack("4H", size[1], size[0], 0, 0))
    before = termios.tcgetattr(tty)
    process = subprocess.Popen(
        [sys.executable, "-m", "vcmts", "top", "--socket", path, "--interval", "0.1", *arguments],
        env=os.environ
        | {"PYTHONPATH": str(CHECKOUT / "tools"), "TERM": "xterm", "PYTHONUTF8": "1"}
        | environment,
        preexec_fn=lambda: os.login_tty(tty),
        pass_fds=[tty],
    )
    os.close(tty)
    term = Terminal(controller, process, before)
    try:
        yield term
    finally:
        process.kill()
        process.wait()
        term.wait()
        os.close(controller)


def test_keys_open_group_modems_and_modem(service: tuple[str, Service]) -> None:
    path, served = service
    with terminal(path) as term:
        term.wait_for("10.4 Gbps")
        assert "\x1b[?1049h" in term.output and "vcmtsd 4711" in term.text()
        term.press("\x1b[B\r")
        term.wait_for("service group 2  group 2  3 modems")
        term.wait_for("cycles per packet")
        term.press("\r")
        term.wait_for(mac(2, 3))
        term.press("\x1b[Fxé\r")
        term.wait_for(f"modem {mac(2, 3)}")
        term.wait_for("8.80M")
        term.press("\x1b")
        term.wait_for("modems of service group 2")
        term.press("\x1b[D\x1b[D")
        term.wait_for("lost at ports")
        served.groups = (2, 7)
        term.press("")
        term.wait_for("group 7")
        term.press("q")
        assert term.wait() == 0
        assert term.output.endswith("\x1b[?25h") and "\x1b[?1049l" in term.output


def test_new_size_is_drawn_immediately(service: tuple[str, Service]) -> None:
    """The next answer comes after an hour."""
    with terminal(service[0], "--interval", "3600", size=(200, 50)) as term:
        term.wait_for("upper MAC")
        for width, height in ((10, 3), (1, 1), (40, 10), (80, 24)):
            term.output = ""
            term.resize(width, height)
            term.wait_for("vcmtsd 4711"[:width])
        term.wait_for("q quit")
        term.press("q")
        assert term.wait() == 0


def test_no_colours_on_request(service: tuple[str, Service]) -> None:
    with terminal(service[0], NO_COLOR="1") as term:
        term.wait_for("upper MAC")
        os.write(term.fd, b"q")
        assert term.wait() == 0
        assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", term.output)
    with terminal(service[0], TERM="dumb") as term:
        term.wait_for("##")
        os.write(term.fd, b"q")
        assert term.wait() == 0
        assert "\x1b" not in term.output and "#" in term.output


@pytest.mark.parametrize(("locale", "bars"), [("C", "#####."), ("C.UTF-8", "━━━━━─")])
def test_bars_follow_the_locale(locale: str, bars: str, service: tuple[str, Service]) -> None:
    with terminal(service[0], LC_ALL=locale) as term:
        term.wait_for("upper MAC")
        term.wait_for(bars)
        assert term.text().isascii() is (locale == "C")


def test_errors_are_shown_and_retried(service: tuple[str, Service]) -> None:
    path, served = service
    refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "memory is short"}}
    with terminal(path) as term:
        term.wait_for("10.4 Gbps")
        served.fixed_answer = json.dumps([refused]).encode()
        term.wait_for("refused: memory is short")
        for odd in (b"}", b"[]", b"5", b'[{"result": {"uptime": "x"}}]'):
            served.fixed_answer = odd
            term.output = ""
            term.wait_for("the response")
        served.fixed_answer, served.closes = None, True
        term.wait_for("vcmtsd closed the connection")
        served.closes = False
        term.output = ""
        term.wait_for("vcmtsd 4711  up")
        served.may_answer.clear()
        term.wait_for("no answer for")
        term.press("\x1b[B\r")
        term.wait_for("service group 2")  # keys work meanwhile
        served.may_answer.set()
        term.output = ""
        term.wait_for("vcmtsd 4711  up")
        term.press("q")
        assert term.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_restore_the_terminal(number: signal.Signals, service: tuple[str, Service]) -> None:
    with terminal(service[0]) as term:
        term.wait_for("10.4 Gbps")
        # The first output may come before the terminal is set.
        until(lambda: termios.tcgetattr(term.fd) != term.before, "the terminal is set")
        term.process.send_signal(number)
        assert term.wait() == (130 if number == signal.SIGINT else 0)
        assert "\x1b[?1049l" in term.output
        assert termios.tcgetattr(term.fd) == term.before


def test_once_and_json_print_one_answer(
    service: tuple[str, Service], capsys: pytest.CaptureFixture[str]
) -> None:
    path, served = service

    def run_top(*arguments: str, status: int = 0) -> str:
        assert cli.main(["top", "--socket", path, "--interval", "0.1", *arguments]) == status
        captured = capsys.readouterr()
        assert captured.err.count("\n") == bool(status) != bool(captured.out)
        return captured.err if status else captured.out

    whole = run_top("--once")
    assert "Gbps" in whole and "group 10" in whole and "lost at ports" in whole
    assert not any(text in whole for text in ("\x1b", "q quit", "> ")) and whole.isascii()
    group = run_top("--once", "--group", "10")
    assert "service group 10  group 10  3 modems" in group and "encrypt_collect" in group
    server = json.loads(run_top("--json"))
    assert [one["id"] for one in server["groups"]] == ["1", "2", "10"]
    assert server["groups"][0]["directions"]["upstream"]["stages"][3]["name"] == "reassemble"
    assert json.loads(run_top("--json", "--group", "2"))["name"] == "group 2"
    assert "found 3, allowed: 1, 2, 10" in run_top("--once", "--group", "3", status=2)
    served.fixed_answer = b"5"
    assert "not JSON-RPC" in run_top("--once", status=1)
    served.closes = True
    run_top("--json", status=1)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--socket", "/nowhere.sock"), "not a terminal"),
        (("--socket", "/nowhere.sock", "--once"), "/nowhere.sock: No such file"),
        (("--pid", "999999999", "--json"), "--pid: no process 999999999 runs"),
        (("--socket", "/nowhere.sock", "--interval", "0", "--once"), "allowed: 0.1 to 3600"),
        (("--socket", "/nowhere.sock", "--interval", "nan", "--once"), "allowed: 0.1 to 3600"),
    ],
)
def test_wrong_options_are_refused(
    arguments: tuple[str, ...], error: str, expect_error: ExpectError
) -> None:
    expect_error(error, "top", *arguments)


def test_keys_are_decoded_in_pieces() -> None:
    assert decode_keys(b"\x1b[A\x1bOBq\x7f\t") == (["up", "down", "q", "backspace", "tab"], b"")
    assert decode_keys(b"j\x1b[") == (["j"], b"\x1b[")
    assert decode_keys(b"\x1b") == ([], b"\x1b")
    assert decode_keys(b"\x1b\x1b[B") == (["escape", "down"], b"")
    assert decode_keys(b"\x1b[99;5~\xc3\xa9\x00s") == (["s"], b"")


def test_error_for_modem_keeps_other_answers(service: tuple[str, Service]) -> None:
    """An error for the second request keeps the answer to the first."""
    path, served = service
    error = {"code": -32000, "message": "modem: there is none"}
    whole = json.loads(served.answer([{"id": 1, "params": {}}]) or b"")
    served.fixed_answer = json.dumps([*whole, {"jsonrpc": "2.0", "id": 2, "error": error}]).encode()
    woken = threading.Event()
    source = Source(lambda: Client(Path(path)), 0.1, woken.set)
    source.set_request(Request("2", modem=mac(2, 1)))
    source.start()
    assert woken.wait(TIMEOUT)
    event = source.events.get()
    assert isinstance(event, Reply) and event.trouble == "modem: there is none"
    assert event.modems is None and event.server.values
