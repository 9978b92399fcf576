# SPDX-License-Identifier: BSD-3-Clause
"""The shell with a vcmtsd in service: a command, a script on standard input, a terminal."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyte
import pytest

from e2e.control.server import CPUS, config_folder, start_server
from e2e.ports import Run
from e2e.running import Completed, vcmts
from patience import TIMEOUT
from vcmts.control.client import Client
from vcmts.paths import CHECKOUT
from vcmts.shell.session import Session

MAC = "02:01:00:00:00:02"
# Code that runs the tool as if prompt_toolkit was not installed.
WITHOUT_TOOLKIT = "import sys; sys.modules['prompt_toolkit'] = None; from vcmts import cli; "
WITHOUT_TOOLKIT += "sys.exit(cli.main())"


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Run, Path]]:
    with config_folder() as folder, start_server(folder) as (run, path):
        yield run, path


@pytest.fixture
def path(server: tuple[Run, Path]) -> Path:
    return server[1]


def shell(path: Path, *words: str) -> Completed:
    return vcmts("shell", "--socket", path, *words)


def script(path: Path, text: str, *options: str) -> Completed:
    """Runs the lines of `text` as standard input."""
    done = subprocess.run(
        [sys.executable, "-m", "vcmts", "shell", "--socket", path, *options],
        env=os.environ | {"PYTHONPATH": str(CHECKOUT / "tools")},
        input=text,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return Completed(done.returncode, done.stdout, done.stderr)


def cpe_limit(path: Path, mac: str = MAC) -> int:
    with Client(path, TIMEOUT) as client:
        limit: int = client.call("modem.get", mac=mac)["cpe_limit"]
    return limit


def test_commands_show_and_change(path: Path) -> None:
    shown = shell(path, "show", "flow", "2")
    assert (shown.status, shown.stderr) == (0, "")
    assert f"modem               {MAC}" in shown.stdout.splitlines()
    assert "02:01:00:00:00:04" in shell(path, "show modems").stdout
    changed = shell(path, "set", "modem", MAC, "cpe_limit=7", "service_flows.2.priority=3")
    assert (changed.status, changed.stderr) == (0, "") and "changed" in changed.stdout
    assert cpe_limit(path) == 7
    assert "priority            3" in shell(path, "sh", "fl", "id", "2").stdout


def test_all_commands_without_arguments_show_something(path: Path) -> None:
    """In one script. Each answer is JSON."""
    with Client(path, TIMEOUT) as client:
        methods = client.call("rpc.discover")["methods"]
    readers = [
        method["name"]
        for method in methods
        if method["summary"].startswith("returns ")
        and not any(param["required"] for param in method["params"])
    ]
    assert len(readers) > 9
    assert json.loads(shell(path, readers[0], "--json").stdout)["groups"]
    done = script(path, "\n".join(readers))
    assert (done.status, done.stderr) == (0, "")
    assert 'vcmts_worker_rounds_total{worker="0",' in done.stdout


def test_json_goes_to_a_file(path: Path, tmp_path: Path) -> None:
    """One line per answer."""
    written = tmp_path / "answers.json"
    done = script(path, "show server\nhelp show flow\nshow flow 1\n", "--json", str(written))
    assert done.status == 0 and done.stdout.startswith("show flow ID")
    server, flow = map(json.loads, written.read_text().splitlines())
    assert server["groups"] and flow["id"] == 1


def test_pages_are_joined(path: Path) -> None:
    """metrics.get of a few samples at a time; the shell asks for all of them."""
    with Client(path, TIMEOUT) as client:
        expected = len(client.call("metrics.get", flows=True)["samples"])
    shown = shell(path, "show", "metrics", "flows=true").stdout.splitlines()
    assert len(shown) == expected


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("show", "flow", "77"), 1, "flow"),
        (("set", "modem", MAC, "cpe_limit=many"), 1, "cpe_limit"),
        (("show", "flow", "x"), 2, "id"),
        (("show", "flow"), 2, "show flow ID: add id"),
        (("shov",), 2, 'did you mean "show"?'),
    ],
)
def test_errors_have_a_status(
    path: Path, words: tuple[str, ...], status: int, message: str
) -> None:
    done = shell(path, *words)
    assert (done.status, done.stdout) == (status, "")
    assert done.stderr.startswith("vcmts: ") and message in done.stderr
    assert done.stderr.count("\n") == 1


def test_script_ends_at_the_first_error(path: Path) -> None:
    text = f"""# a comment

set modem {MAC} cpe_limit=8 filter_groups=[
]
set modem {MAC} cpe_limit=many
set modem {MAC} cpe_limit=9
"""
    done = script(path, text)
    assert done.status == 1 and "changed" in done.stdout
    error, stopped = done.stderr.splitlines()
    assert error.startswith("vcmts: line 5: ") and "cpe_limit" in error
    assert stopped == "vcmts: line 5 failed: no line after it was run"
    assert cpe_limit(path) == 8
    done = script(path, f"set modem {MAC} cpe_limit=10\nquit\nset modem {MAC} cpe_limit=11\n")
    assert done.status == 0 and cpe_limit(path) == 10
    done = script(path, "\nset modem [\n\n")
    assert done.status == 2 and "line 2: a bracket or quote is not closed" in done.stderr


def test_lines_of_the_documentation_work() -> None:
    """Those of docs/shell.md, with the configuration that it uses."""
    text = (CHECKOUT / "docs" / "shell.md").read_text()
    lines = re.findall(r"^vcmts> (.*)$", text, re.MULTILINE)
    assert len(lines) > 10 and lines.pop() == "quit"
    cores = f"main_core: {CPUS[0]}, upper_mac_core: {CPUS[-1]}, upstream_core: {CPUS[-1]}"
    with config_folder() as folder:
        (folder / "sg.yaml").write_text(f"threads: {{{cores}}}\n{vcmts('init').stdout}")
        with start_server(folder) as (run, path):
            done = script(path, "\n".join(lines))
            assert (done.status, done.stderr) == (0, "")
            assert run.stop().status == 0


def test_help_needs_no_server(tmp_path: Path) -> None:
    done = shell(tmp_path / "none", "help", "show", "flow")
    assert (done.status, done.stderr) == (0, "") and "show flow ID" in done.stdout
    done = shell(tmp_path / "none", "show", "flow")
    assert done.status == 2 and str(tmp_path / "none") in done.stderr


def test_session_goes_on_with_another_server(path: Path, tmp_path: Path) -> None:
    """The socket of a vcmtsd that runs instead of the first has another name."""
    session = Session(lambda: path, tmp_path / "gone", [])
    assert session.ask("group.list", {})["groups"]
    assert session.path == path


class Terminal:
    """A process at an emulated terminal of 80 x 24."""

    def __init__(self, pid: int, fd: int) -> None:
        self.pid, self.fd = pid, fd
        self.screen = pyte.Screen(80, 24)
        self.stream = pyte.ByteStream(self.screen)

    def type(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    @property
    def line(self) -> str:
        """The line of the cursor, up to the cursor."""
        return str(self.screen.display[self.screen.cursor.y][: self.screen.cursor.x])

    def wait_for(self, shows: Callable[[], bool]) -> None:
        """Reads output until the screen shows something."""
        while not shows():
            try:
                self.stream.feed(os.read(self.fd, 65536))
            except OSError as error:  # the process has ended
                raise AssertionError("\n".join(self.screen.display)) from error

    def wait_for_line(self, text: str) -> None:
        """Waits until the line up to the cursor is this one."""
        self.wait_for(lambda: self.line == text)

    def wait_for_text(self, text: str) -> None:
        self.wait_for(lambda: any(text in line for line in self.screen.display))

    def enter(self, line: str, answer: str) -> None:
        """Types a line on an empty screen, and waits for an answer and the next prompt."""
        self.screen.erase_in_display(2)
        self.type(f"{line}\r")
        self.wait_for_text(answer)
        self.wait_for(lambda: self.line.startswith("vcmts") and self.line.endswith("> "))

    def status(self) -> int:
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@contextmanager
def terminal(path: Path, state: Path, *start: str) -> Iterator[Terminal]:
    pid, fd = pty.fork()
    if pid == 0:
        more = {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "XDG_STATE_HOME": str(state)}
        environment = os.environ | more | {"PYTHONPATH": str(CHECKOUT / "tools")}
        signal.alarm(int(TIMEOUT))
        words = [sys.executable, *start, "shell", "--socket", str(path)]
        os.execve(sys.executable, words, environment)
    termios.tcsetwinsize(fd, (24, 80))
    try:
        yield Terminal(pid, fd)
    finally:
        os.close(fd)


def test_terminal_completes_words(path: Path, tmp_path: Path) -> None:
    with terminal(path, tmp_path, "-m", "vcmts") as user:
        user.wait_for_line("vcmts> ")
        user.type("sho\t")
        user.wait_for_line("vcmts> show ")
        user.type("fl\t")
        user.wait_for_line("vcmts> show flow ")
        user.enter("2", f"modem               {MAC}")
        user.enter(f"set modem {MAC} cpe_limit=many", "cpe_limit: found")
        user.enter("group 1", "vcmts group 1> ")
        user.type("show modem flows \t")
        for number in range(1, 5):
            user.wait_for_text(f" 02:01:00:00:00:0{number} ")
        user.type("\x15")  # Ctrl-U removes the line
        user.wait_for_line("vcmts group 1> ")
        user.enter("show modem flows 02:01:00:00:00:04", "service_flows:")
        assert any("max_sustained_rate  100000000" in line for line in user.screen.display)
        user.type("subscribe events\r")
        user.wait_for_text('{"sequence": ')
        user.enter("\x03", "stopped waiting")
        user.type("\x04")
        assert user.status() == 0
    assert "+group 1\n" in (tmp_path / "vcmts" / "shell-history").read_text()


def test_terminal_without_prompt_toolkit(path: Path, tmp_path: Path) -> None:
    with terminal(path, tmp_path, "-c", WITHOUT_TOOLKIT) as user:
        user.wait_for_text("Python package prompt_toolkit is missing; ")
        user.wait_for_line("vcmts> ")
        user.enter("show flow 2", f"modem               {MAC}")
        user.type("quit\r")
        assert user.status() == 0


def test_terminal_goes_on_with_the_next_server(tmp_path: Path) -> None:
    """vcmtsd ends and starts again while the prompt waits."""
    with config_folder() as folder, ExitStack() as stack:
        with start_server(folder) as (run, path):
            user = stack.enter_context(terminal(path, tmp_path, "-m", "vcmts"))
            user.wait_for_line("vcmts> ")
            assert run.stop().status == 0
        user.enter("show flow 2", "No such file")
        with start_server(folder) as (run, path):
            user.enter("show flow 2", f"modem               {MAC}")
            user.type("\x04")
            assert user.status() == 0
            assert run.stop().status == 0
