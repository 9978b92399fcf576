# SPDX-License-Identifier: BSD-3-Clause
"""vcmtsd on the cores of its configuration: every layout, and the layout that `./vcmts layout`
proposes, must start. vcmts-traffic must reject a missing core."""

import os
from pathlib import Path

import pytest

from e2e.running import Completed, run, vcmts
from python.layout_machines import server_yaml
from vcmts.paths import program

CPUS = sorted(os.sched_getaffinity(0))
FIRST, LAST = CPUS[0], CPUS[-1]
PORTS = ("--network", "net_null0,no-rx=1", "--rphy", "net_null1,no-rx=1")
TWO_CORES = pytest.mark.skipif(len(CPUS) < 2, reason="needs two cores")


def write(folder: Path, threads: str, groups: int, own: dict[int, str] | None = None) -> Path:
    path = folder / "server.yaml"
    path.write_text(server_yaml(threads, [True] * groups, own=own), encoding="utf-8")
    return path


def run_vcmtsd(config: Path, *before: str) -> Completed:
    arguments = ("run", "--config", config, *PORTS, "--duration", "50ms")
    return run([*before, program("vcmtsd"), *arguments])


def layout(config: Path, *before: str) -> Completed:
    return vcmts("layout", "--config", config, before=before)


# Number of groups, cores, and `threads` of single groups.
LAYOUTS = {
    "1us1t_1ds1t": (1, f'cores: "{FIRST},{LAST}"', {}),
    "1us1t_1ds2t": (1, f'cores: "{FIRST},{LAST}", upstream_core: {LAST}', {}),
    "2us1t_1ds2t": (
        2,
        f'cores: "{FIRST},{LAST}", upstream_core: {FIRST}',
        {2: f"threads: {{upper_mac_core: {LAST}, lower_mac_core: {FIRST}}}, "},
    ),
    "combined": (2, f'cores: "{FIRST},{LAST}"', {}),
    "combined2": (2, f"cores: {LAST}", {}),
}


@TWO_CORES
@pytest.mark.parametrize("name", LAYOUTS)
def test_each_layout_starts(name: str, tmp_path: Path) -> None:
    groups, cores, own = LAYOUTS[name]
    threads = f"threads: {{layout: {name}, {cores}, main_core: {FIRST}}}"
    config = write(tmp_path, threads, groups, own)
    assert vcmts("validate", config).status == 0
    explained = vcmts("layout", "--config", config)
    assert explained.status == 0 and f"layout {name}" in explained.stdout
    done = run_vcmtsd(config)
    assert done.status == 0, done.stderr
    assert "vcmtsd: serving service group" in done.stderr


@TWO_CORES
def test_proposed_layout_starts(tmp_path: Path) -> None:
    config = write(tmp_path, "", 3)
    explained = vcmts("layout", "--config", config)
    assert explained.status in (0, 2), explained.stderr
    [threads] = [line for line in explained.stdout.splitlines() if line.startswith("threads: ")]
    own = {
        number: f"{text.strip()}, "
        for number, text in enumerate(
            (line for line in explained.stdout.splitlines() if line.startswith("    threads: ")), 1
        )
    }
    config = write(tmp_path, threads, 3, own)
    done = run_vcmtsd(config)
    assert done.status == 0, done.stderr
    assert layout(config).status == 0


def test_traffic_program_rejects_missing_core(tmp_path: Path) -> None:
    config = write(tmp_path, "", 1)
    args = ("--config", config, "--core", "1023", "--network", "net_null0", "--rphy", "net_null1")
    done = run([program("vcmts-traffic"), *args])
    assert done.status != 0 and len(done.messages) == 1
    assert done.messages[0].startswith("vcmts-traffic: found core 1023, allowed: ")
