# SPDX-License-Identifier: BSD-3-Clause
"""Tests which cores a run takes, how it finds other programs on them, and what it says of them."""

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from patience import until
from vcmts.paths import CHECKOUT
from vcmts.system import cores

CORES = sorted(os.sched_getaffinity(0))
PR_SET_NAME = 15
CLAIM = """
import sys
from vcmts.system import cores
with cores.Claims() as claims:
    print(sorted(claims.claim([{core}])), flush=True)
    sys.stdin.readline()
    print(claims.sharing(), flush=True)
"""
SPIN = "import os; os.sched_setaffinity(0, [{core}]); print(flush=True)\nwhile True: pass"


@pytest.mark.parametrize(
    ("allowed", "taken", "chosen"),
    [
        ({0, 1, 2, 3}, set(), [0, 1, 2, 3]),
        ({0, 1, 2, 3}, {0, 1}, [2, 3]),
        ({0, 1, 2, 3}, {0, 1, 3}, [0, 2]),  # polls core 2
        ({0, 1, 2}, {1, 2}, [1, 0]),  # polls core 0
        ({0, 1}, {0, 1}, [0, 1]),
        ({4}, set(), [4]),
        ({4}, {4, 5}, [4]),
    ],
)
def test_free_cores_are_taken_first(allowed: set[int], taken: set[int], chosen: list[int]) -> None:
    assert cores.free_first(allowed, taken) == chosen


@contextmanager
def running(code: str) -> Iterator["subprocess.Popen[str]"]:
    """Runs Python code, which has printed its first line."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(CHECKOUT / "tools")},
        stdin=pipe,
        stdout=pipe,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def lines_of(process: "subprocess.Popen[str]") -> Iterator[str]:
    assert process.stdout is not None
    yield from process.stdout


def test_runs_know_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run knows of the second one also after that has ended."""
    monkeypatch.setattr(cores, "polled", dict)
    core = 1_000_000 + os.getpid()  # of this test only
    with running(CLAIM.format(core=core)) as first:
        lines = lines_of(first)
        assert next(lines) == "[]\n"
        text = {core: {first.pid: f"`vcmts run` (process {first.pid})"}}
        assert cores.users().get(core) == text[core]
        with cores.Claims() as second:
            assert second.claim([core, core + 1]) == text
            assert cores.users().get(core) == text[core], "not this process itself"
            assert second.sharing() == text
        assert first.stdin is not None
        first.stdin.write("\n")
        first.stdin.flush()
        assert f"{core}: {{{os.getpid()}: '`vcmts run`" in next(lines)
    until(lambda: core not in cores.users(), "the end of the claim")


def test_programs_of_a_run_are_named_by_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    core = 1_000_000 + os.getpid()
    child = "import subprocess; child = subprocess.Popen('cat', stdin=subprocess.PIPE)"
    with running(f"{child}\nprint(child.pid, flush=True){CLAIM.format(core=core)}") as run:
        lines = lines_of(run)
        pid = int(next(lines))
        assert next(lines) == "[]\n"
        parents = [pid, run.pid, 1]  # not this test: the run could be in another terminal
        monkeypatch.setattr(cores, "parents", lambda one: parents if one == pid else [one])
        monkeypatch.setattr(cores, "polled", lambda: {core: {pid: "vcmtsd", 1: "init"}})
        assert cores.users()[core] == {run.pid: f"`vcmts run` (process {run.pid})", 1: "init"}


def test_only_one_run_chooses_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "polled", dict)
    order: list[str] = []

    def second_run() -> None:
        with cores.Claims():
            order.append("second chooses")

    def slow_choice() -> Iterator[int]:
        yield 1_000_000 + os.getpid()
        time.sleep(0.2)
        order.append("first has chosen")

    with cores.Claims() as first:
        thread = threading.Thread(target=second_run)
        thread.start()
        first.claim(slow_choice())
        thread.join(cores.CHOICE_SECONDS / 2)
        assert not thread.is_alive(), "the second run waits for the end of the first"
        monkeypatch.setattr(cores, "CHOICE_SECONDS", 0)  # a run that hangs blocks no other
        with cores.Claims(), cores.Claims():
            pass
    assert order == ["first has chosen", "second chooses"]


def test_polling_programs_are_found() -> None:
    """A program counts that runs on a single core, but not as another one if it is of this run."""
    with running(SPIN.format(core=CORES[-1])) as other:
        next(lines_of(other))
        until(lambda: other.pid in cores.polled().get(CORES[-1], {}), "the program")
        assert f" (process {other.pid})" in cores.polled()[CORES[-1]][other.pid]
        assert other.pid not in cores.users().get(CORES[-1], {})
    until(lambda: other.pid not in cores.polled().get(CORES[-1], {}), "its end")


def test_sleeping_worker_of_dpdk_is_found() -> None:
    """It polls as soon as packets arrive. Its share is that of the time in which it could run."""
    name = ctypes.create_string_buffer(b"rte-worker-1")
    code = SPIN.format(core=CORES[0]).replace("while True: pass", "import sys; sys.stdin.read()")
    code = f"import ctypes; ctypes.CDLL(None).prctl({PR_SET_NAME}, {name.value!r})\n{code}"
    with running(code) as other:
        next(lines_of(other))
        assert other.pid in cores.polled()[CORES[0]]
        share = cores.share_of(other.pid, CORES[0])
        assert share is not None and 0 < share <= 1
        if CORES[-1] != CORES[0]:
            assert cores.share_of(other.pid, CORES[-1]) is None
        with cores.Claims() as claims, claims.watched({CORES[0]: other.pid}):
            until(lambda: CORES[0] in claims.shares, "a measured share")
    assert cores.share_of(other.pid, CORES[0]) is None


def test_long_lists_are_shortened() -> None:
    holders = {pid: f"a (process {pid})" for pid in range(1, 6)}
    assert cores.listed(holders).endswith("a (process 3) and 2 more")
    assert cores.listed({7: "b"}) == "b"


def test_unreadable_system_has_no_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "PROC", tmp_path)
    assert cores.users() == {}
    assert cores.usable() == CORES
