# SPDX-License-Identifier: BSD-3-Clause
"""vcmtsd on the cores that the file names: every layout runs, and what cannot is refused by `run`,
`check` and `./vcmts layout` alike, before anything is started."""

import os
from pathlib import Path

import pytest

from e2e.running import Ended, run, vcmts, vcmtsd
from python.layout_machines import server
from vcmts.paths import program

CPUS = sorted(os.sched_getaffinity(0))
ONE, OTHER = CPUS[0], CPUS[-1]
PORTS = ("--network", "net_null0,no-rx=1", "--rphy", "net_null1,no-rx=1")
TWO = pytest.mark.skipif(len(CPUS) < 2, reason="needs two cores")


def written(folder: Path, threads: str, groups: int, own: dict[int, str] | None = None) -> Path:
    path = folder / "server.yaml"
    path.write_text(server(threads, [True] * groups, own=own), encoding="utf-8")
    return path


def started(config: Path, *before: str) -> Ended:
    asked = ("run", "--config", config, *PORTS, "--duration", "50ms")
    return run([*before, program("vcmtsd"), *asked])


def layout(config: Path, *before: str) -> Ended:
    return vcmts("layout", "--config", config, before=before)


LAYOUTS = {
    "1us1t_1ds1t": (1, f'cores: "{ONE},{OTHER}"', {}),
    "1us1t_1ds2t": (1, f'cores: "{ONE},{OTHER}", upstream_core: {OTHER}', {}),
    "2us1t_1ds2t": (
        2,
        f'cores: "{ONE},{OTHER}", upstream_core: {ONE}',
        {2: f"threads: {{upper_mac_core: {OTHER}, lower_mac_core: {ONE}}}, "},
    ),
    "combined": (2, f'cores: "{ONE},{OTHER}"', {}),
    "combined2": (2, f"cores: {OTHER}", {}),
}


@TWO
@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_runs(name: str, tmp_path: Path) -> None:
    groups, cores, own = LAYOUTS[name]
    threads = f"threads: {{layout: {name}, {cores}, main_core: {ONE}}}"
    config = written(tmp_path, threads, groups, own)
    assert vcmts("validate", config).status == 0
    explained = vcmts("layout", "--config", config)
    assert explained.status == 0 and f"layout {name}" in explained.stdout
    done = started(config)
    assert done.status == 0, done.stderr
    assert "vcmtsd: serving service group" in done.stderr


REFUSED = {
    "not there": (
        "threads: {layout: 1us1t_1ds2t, cores: 1015-1020}",
        (),
        "service group 1: threads.cores: found cores 1015-1020, allowed: ",
    ),
    "main core": (
        f"threads: {{main_core: 1023, upper_mac_core: {ONE}, upstream_core: {ONE}}}",
        (),
        "threads.main_core: found core 1023, allowed: ",
    ),
    "smaller cpuset": (
        f"threads: {{main_core: {ONE}, upper_mac_core: {ONE}, upstream_core: {OTHER}}}",
        ("taskset", "-c", str(ONE)),
        f"service group 1: threads.upstream_core: found core {OTHER}, allowed: {ONE}, the cores "
        "that this process may use by its cpuset or affinity",
    ),
}


@TWO
@pytest.mark.parametrize("what", REFUSED)
def test_refused_alike(what: str, tmp_path: Path) -> None:
    """One line and nothing else, the same of all; with the affinity that the file needs it runs."""
    threads, before, line = REFUSED[what]
    config = written(tmp_path, threads, 2)
    done = started(config, *before)
    assert (done.status, done.stdout, len(done.messages)) == (2, "", 1)
    assert done.messages[0].startswith(f"vcmtsd: {line}")
    checked = run([*before, program("vcmtsd"), "check", "--config", config, "--cores", "here"])
    said = [done.messages[0].removeprefix("vcmtsd: ")]
    assert (checked.status, checked.stdout, checked.messages) == (2, "", said)
    explained = layout(config, *before)
    assert explained.status == 2 and f"cannot run: {said[0]}\n" in explained.stdout
    if before:
        assert started(config).status == 0 and layout(config).status == 0


@TWO
def test_the_proposal_runs(tmp_path: Path) -> None:
    """As it is printed, with the cores that there are."""
    config = written(tmp_path, "", 3)
    explained = vcmts("layout", "--config", config)
    assert explained.status in (0, 2), explained.stderr
    [threads] = [line for line in explained.stdout.splitlines() if line.startswith("threads: ")]
    own = {
        number: f"{words.strip()}, "
        for number, words in enumerate(
            (line for line in explained.stdout.splitlines() if line.startswith("    threads: ")), 1
        )
    }
    config = written(tmp_path, threads, 3, own)
    done = started(config)
    assert done.status == 0, done.stderr
    assert layout(config).status == 0


def test_the_traffic_program_refuses_too(tmp_path: Path) -> None:
    config = written(tmp_path, "", 1)
    asked = ("--config", config, "--core", "1023", "--network", "net_null0", "--rphy", "net_null1")
    done = run([program("vcmts-traffic"), *asked])
    assert done.status != 0 and len(done.messages) == 1
    assert done.messages[0].startswith("vcmts-traffic: found core 1023, allowed: ")


def test_check_takes_another_machine(tmp_path: Path) -> None:
    config = written(tmp_path, "threads: {layout: combined, cores: 2-3}", 2)
    assert vcmtsd("check", "--config", config, "--cores", "0-7/0-7/0-3").status == 0
    for cores in ("0-7/0-2/0-7", "0-2/0-7/0-7"):
        assert vcmtsd("check", "--config", config, "--cores", cores).status == 2
    done = vcmtsd("check", "--config", config, "--cores", "0-7/0-7/0-2")
    assert done.status == 2 and done.messages[0].startswith(
        "service group 2: threads.cores: found core 3"
    )
