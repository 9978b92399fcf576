# SPDX-License-Identifier: BSD-3-Clause
"""Tests measured watts: RAPL counters in a folder like the kernel's, and output of commands."""

import os
import time
from pathlib import Path

import pytest

from vcmts.paths import MistakeError
from vcmts.power import measured
from vcmts.power.measured import Joules, Sampler, parse_watts, run_command, split_command
from vcmts.power.rapl import FIRST_READING, Rapl, Reading

RANGE = 262143328850  # uJ, as on servers


class Tree:
    """A folder like /sys/class/powercap."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write_zone(self, zone: str, name: str, energy: int | str, wrap: int | str = RANGE) -> None:
        folder = self.root / zone
        folder.mkdir(exist_ok=True)
        for key, value in (("name", name), ("energy_uj", energy), ("max_energy_range_uj", wrap)):
            (folder / key).write_text(f"{value}\n")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Two packages, and zones that are not counted: cores, platform (psys), another driver's."""
    tree = Tree(tmp_path)
    tree.write_zone("intel-rapl:0", "package-0", 1_000_000)
    tree.write_zone("intel-rapl:1", "package-1-die-0", 500_000)
    tree.write_zone("intel-rapl:0:0", "core", 7)
    tree.write_zone("intel-rapl:2", "psys", 7)
    tree.write_zone("intel-rapl-mmio:0", "package-0", 7)
    return tree


def test_watts_of_packages_are_added(tree: Tree) -> None:
    rapl = Rapl(tree.root)
    assert rapl.sample(10.0) == Reading(None, FIRST_READING)
    for zone in ("intel-rapl:0:0", "intel-rapl:2", "intel-rapl-mmio:0"):
        (tree.root / zone / "energy_uj").write_text("999999999\n")
    tree.write_zone("intel-rapl:0", "package-0", 1_000_000 + 240_000_000)
    tree.write_zone("intel-rapl:1", "package-1-die-0", 500_000 + 60_000_000)
    assert rapl.sample(12.0) == Reading(150.0)
    tree.write_zone("intel-rapl:0", "package-0", 241_000_000 + 100_000_000)
    assert rapl.sample(13.0) == Reading(100.0)


def test_wrapped_counter(tree: Tree) -> None:
    tree.write_zone("intel-rapl:0", "package-0", RANGE - 30_000_000)
    rapl = Rapl(tree.root)
    rapl.sample(0.0)
    tree.write_zone("intel-rapl:0", "package-0", 70_000_000)
    assert rapl.sample(1.0).watts == pytest.approx(100.0)


def test_counter_that_may_have_wrapped_twice(tree: Tree) -> None:
    """At 2,000 W, the limit of a package, the counter wraps after 131 s."""
    rapl = Rapl(tree.root)
    rapl.sample(0.0)
    assert rapl.sample(131.0).watts == 0
    result = rapl.sample(131.0 + 132.0)
    assert result.watts is None and "twice" in result.reason
    # Sampling has restarted.
    assert rapl.sample(264.0).reason == FIRST_READING


def test_implausible_watts_are_refused(tree: Tree) -> None:
    rapl = Rapl(tree.root)
    rapl.sample(0.0)
    tree.write_zone("intel-rapl:0", "package-0", 9_000_000_000)
    result = rapl.sample(1.0)
    assert result.watts is None and "allowed: 2000" in result.reason


@pytest.mark.parametrize(
    ("key", "text", "reason"),
    [
        ("energy_uj", "", "not a number"),
        ("energy_uj", "-5", "not a number"),
        ("energy_uj", "0x10", "not a number"),
        ("energy_uj", "1 2", "not a number"),
        ("energy_uj", "٣", "not a number"),
        ("energy_uj", "9" * 60, "not a number"),
        ("energy_uj", str(RANGE + 1), "allowed: 0 to"),
        ("max_energy_range_uj", "0", "allowed: 0 to"),
        ("max_energy_range_uj", "much", "not a number"),
    ],
)
def test_invalid_files_have_a_reason(tree: Tree, key: str, text: str, reason: str) -> None:
    rapl = Rapl(tree.root)
    rapl.sample(0.0)
    path = tree.root / "intel-rapl:1" / key
    good = path.read_text()
    path.write_text(text)
    result = rapl.sample(1.0)
    assert result.watts is None and reason in result.reason and str(tree.root) in result.reason
    # After a failed reading, the mean is since the last good one: 60 J in 3 s.
    path.write_text(good)
    tree.write_zone("intel-rapl:0", "package-0", 61_000_000)
    assert rapl.sample(3.0).watts == pytest.approx(20.0)


def test_removed_files_have_a_reason(tree: Tree) -> None:
    rapl = Rapl(tree.root)
    rapl.sample(0.0)
    (tree.root / "intel-rapl:1" / "energy_uj").unlink()
    assert "No such file" in rapl.sample(1.0).reason
    for file in (tree.root / "intel-rapl:1").iterdir():
        file.unlink()
    (tree.root / "intel-rapl:1").rmdir()
    assert "added or removed" in rapl.sample(2.0).reason
    assert rapl.sample(3.0).reason == FIRST_READING and rapl.sample(4.0).watts == 0


def test_changed_range_has_a_reason(tree: Tree) -> None:
    rapl = Rapl(tree.root)
    rapl.sample(0.0)
    tree.write_zone("intel-rapl:0", "package-0", 1_000_000, RANGE - 1)
    assert "range" in rapl.sample(1.0).reason


def test_readings_without_time_between(tree: Tree) -> None:
    rapl = Rapl(tree.root)
    rapl.sample(1.0)
    assert "too soon" in rapl.sample(1.0).reason
    assert "too soon" in rapl.sample(0.5).reason
    assert rapl.sample(2.0).watts == 0


def test_machines_without_rapl(tmp_path: Path) -> None:
    assert "missing" in Rapl(tmp_path / "none").sample(0.0).reason
    assert "energy counter" in Rapl(tmp_path).sample(0.0).reason
    (tmp_path / "file").write_text("")
    assert "Not a directory" in Rapl(tmp_path / "file").sample(0.0).reason


def test_missing_permission_has_a_reason(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Since Linux 5.10 only root may read the counters. The error is simulated."""
    refused = tree.root / "intel-rapl:0" / "energy_uj"
    plain = Path.open

    def opened(path: Path, mode: str) -> object:
        if path == refused:
            raise PermissionError(13, "Permission denied", str(path))
        return plain(path, mode)

    monkeypatch.setattr(Path, "open", opened)
    assert "no permission (root alone" in Rapl(tree.root).sample(0.0).reason


# --- a command -----------------------------------------------------------------------------------

IPMITOOL = """
    Instantaneous power reading:                   220 Watts
    Minimum during sampling period:                  5 Watts
    Maximum during sampling period:                464 Watts
    Average power reading over sample period:      193 Watts
    IPMI timestamp:                           Mon Nov 23 02:00:00 2026
    Sampling period:                          00000001 Seconds.
    Power reading state is:                   activated

"""
FREEIPMI = """Current Power                        : 164 Watts
Minimum Power over sampling duration : 11 watts
Maximum Power over sampling duration : 326 watts
Power Measurement                    : Active
"""


@pytest.mark.parametrize(
    ("output", "watts"),
    [
        (IPMITOOL, 220),
        (FREEIPMI, 164),
        ("412", 412),
        (" 412.5 \n", 412.5),
        ("412 W\n", 412),
        ("PSU power: 412Watts, fan 7200 rpm", 412),
        ("Pwr Consumption  | 77h | ok  |  7.1 | 168 Watts", 168),
    ],
)
def test_watts_are_parsed(output: str, watts: float) -> None:
    assert parse_watts(output) == Reading(watts)


@pytest.mark.parametrize(
    "output",
    [
        "",
        "no power here",
        "12 Watts and 13 Watts",
        IPMITOOL + IPMITOOL,
        "    Instantaneous power reading:   not available",
        "-5",
        "-5 W",
        "1e3",
        "0",
        "0 W",
        "nan",
        "412 mW",
        "412 Wh",
        "1234567",
        "v1.412 W",
        "412\nWatts",
        "٤١٢",
    ],
)
def test_other_output_is_refused(output: str) -> None:
    result = parse_watts(output)
    assert result.watts is None and result.reason


def test_command_is_run() -> None:
    assert run_command(["echo", "220 Watts"]) == Reading(220)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["/no/such/program"], "/no/such/program: No such file"),
        (["/dev/null"], "Permission denied"),
        (["false"], "exit status 1"),
        (["sh", "-c", "echo 220; exit 3"], "exit status 3"),
        (["echo", "hello"], "echo: found 0 values in watts"),
        (["yes"], "wrote too much"),
        (["printf", "\\377\\000"], "found 0"),
        (["a\0b"], "null"),
    ],
)
def test_failed_command_has_a_reason(arguments: list[str], reason: str) -> None:
    result = run_command(arguments)
    assert result.watts is None and reason in result.reason


@pytest.mark.parametrize("redirected", ["", ">&-"])
def test_hanging_command_is_killed_with_its_children(tmp_path: Path, redirected: str) -> None:
    """`redirected`: shell redirection; `>&-` closes stdout of the command and its child."""
    note = tmp_path / "child"
    script = f"sleep 1000 {redirected} & echo $! > {note}; exec {redirected}; wait"
    # On a slow machine, the shell may need a longer timeout to write the PID of its child.
    for seconds in (0.5, 5, 60):
        result = run_command(["sh", "-c", script], seconds)
        assert result.reason == "sh: took too long"
        if note.exists() and note.read_text().strip():
            break
    child = int(note.read_text())
    deadline = time.monotonic() + 60
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(child)


def test_command_that_may_not_be_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """killpg() fails for a command of another user, such as sudo. Watts and reasons are the
    same."""

    def refuse(*_: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "killpg", refuse)
    monkeypatch.setattr(measured, "REAP_S", 0.01)
    assert run_command(["echo", "220 W"]) == Reading(220)
    assert run_command(["sleep", "5"], 0.05).reason == "sleep: took too long"


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def test_command_is_split_into_words() -> None:
    assert split_command("ipmitool 'dcmi power' reading") == ["ipmitool", "dcmi power", "reading"]
    for command in ("", "  ", "'open"):
        with pytest.raises(MistakeError, match="--watts-command"):
            split_command(command)


def test_sampler_reads_rapl_and_command(tree: Tree) -> None:
    sampler = Sampler("echo 300", tree.root)
    assert sampler.sample(0.0).platform == Reading(300)
    result = sampler.sample(1.0)
    assert result.cpu == Reading(0.0) and result.platform == Reading(300)
    assert Sampler(None, tree.root).sample(0.0).platform.reason == "no --watts-command"


# --- energy over a time --------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_joules_are_added(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages take 40 W, the server 300 and then 200 W. Watts of a reading count for the time
    since the last good one."""
    readings = iter([Reading(300), Reading(300), Reading(None, "busy"), Reading(200)])
    monkeypatch.setattr(measured, "run_command", lambda arguments: next(readings))
    clock = Clock()
    joules = Joules(Sampler("x", tree.root), clock)
    assert joules() == {"cpu": 0.0, "platform": 0.0}
    clock.now = 2.0
    tree.write_zone("intel-rapl:0", "package-0", 81_000_000)
    assert joules() == pytest.approx({"cpu": 80.0, "platform": 600.0})
    clock.now = 3.0
    (tree.root / "intel-rapl:1" / "energy_uj").write_text("?")
    assert joules() == {}
    assert "not a number" in joules.reasons["cpu"] and joules.reasons["platform"] == "busy"
    clock.now = 5.0
    tree.write_zone("intel-rapl:1", "package-1-die-0", 500_000)
    tree.write_zone("intel-rapl:0", "package-0", 201_000_000)
    assert joules() == pytest.approx({"cpu": 200.0, "platform": 1200.0})


def test_joules_across_a_gap_are_unknown(tree: Tree) -> None:
    """After two readings that cannot be compared, such as of a changed range, "cpu" is missing for
    good."""
    clock = Clock()
    joules = Joules(Sampler(None, tree.root), clock)
    assert joules() == {"cpu": 0.0}
    tree.write_zone("intel-rapl:0", "package-0", 1_000_000, RANGE - 1)
    for now in (1.0, 2.0, 3.0):
        clock.now = now
        assert joules() == {}
    assert "gap" in joules.reasons["cpu"]


def test_files_are_closed(tree: Tree) -> None:
    before = len(os.listdir("/proc/self/fd"))
    sampler = Sampler("false", tree.root)
    for now in range(20):
        sampler.sample(float(now))
    assert len(os.listdir("/proc/self/fd")) == before
