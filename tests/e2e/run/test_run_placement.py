# SPDX-License-Identifier: BSD-3-Clause
"""vcmtsd on the cores that the file names: every layout runs, and what cannot is refused by `run`,
`check` and `./vcmts layout` alike, before anything is started."""

import os
from pathlib import Path

import pytest

from e2e.running import Ended, run, vcmts
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
