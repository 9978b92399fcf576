# SPDX-License-Identifier: BSD-3-Clause
"""Several service groups in one vcmtsd, each on ports of its own."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from e2e.ports import serve
from e2e.running import SMALL, vary, vcmts, vcmtsd
from vcmts.paths import MistakeError
from vcmts.telemetry.plane import plane as connected
from vcmts.witness.pcapfile import write_pcap

CPUS = sorted(os.sched_getaffinity(0))
IDS = (4, 7, 9)
ONE, OTHER = CPUS[-1], CPUS[0]
THREADS = (
    f"{{downstream: 1ds1t, main_core: {OTHER}, upper_mac_core: {ONE}, "
    f"lower_mac_core: {ONE + 1}, upstream_core: {ONE}}}"
)


def write_config(folder: Path) -> Path:
    """A server of three small groups on one core, each in a file of its own; ports by arguments."""
    items = []
    for number in IDS:
        own = folder / f"sg{number}.yaml"
        own.write_text(vary(SMALL.read_text(), threads=THREADS))
        ports = f"network: {{device: net_ring{number}0}}, rphy: {{device: net_ring{number}1}}"
        items.append(
            f"  - {{file: {own.name}, service_group: {number}, name: group-{number}, "
            f"ports: {{{ports}}}}}\n"
        )
    path = folder / "server.yaml"
    path.write_text("name: several\nservice_groups:\n" + "".join(items))
    return path


def null_ports() -> tuple[str, ...]:
    return ("--network", "net_null{group}0,no-rx=1", "--rphy", "net_null{group}1,no-rx=1")


def serving(tmp_path: Path) -> Any:
    config = write_config(tmp_path)
    return serve("--config", config, *null_ports())


def test_telemetry_of_a_group(tmp_path: Path) -> None:
    with serving(tmp_path) as run, connected(run.process.pid) as asked:
        groups = asked.ask("group.list")["groups"]
        assert [group["name"] for group in groups] == [f"group-{number}" for number in IDS]
        with pytest.raises(MistakeError, match="allowed: 4, 7, 9"):
            asked.scheduler("channels")
        asked.group = 5
        with pytest.raises(MistakeError, match="allowed: 4, 7, 9"):
            asked.counts()
        asked.group = 7
        assert asked.counts()["downstream"]["counters"]["received"] == 0
        assert asked.scheduler("channels")
        assert asked.workers()[0]["name"].endswith("of groups 4, 7, 9")
        pid = str(run.process.pid)
        told = vcmts("telemetry", "service-groups", "--pid", pid)
        assert told.status == 0 and "group-9" in told.stdout
        shown = vcmts("telemetry", "delay", "--group", "9", "--json", "--pid", pid)
        assert shown.status == 0 and json.loads(shown.stdout) == []


def refusal(*words: str | Path) -> str:
    """Of groups that are alike: what tells them apart is missing, with both places."""
    done = vcmtsd(*words)
    assert done.status == 2
    form = r"\S+:\d+: .*: found .* again in service group \d+, allowed: .* in service group 4 at "
    assert re.match(form, done.messages[0]), done.messages[0]
    return "\n".join(done.messages)


def test_two_groups_on_one_device(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    own = ("--rphy", "net_null1{group}")
    told = refusal("run", "--config", config, "--network", "net_null0", *own)
    assert ".addresses[0]: found " in told and "session: found" not in told


def test_replay_of_groups_that_are_alike(tmp_path: Path) -> None:
    """Ports of their own told them apart; in a replay there is one of each kind."""
    config = write_config(tmp_path)
    write_pcap(tmp_path / "in.pcap", [])
    ways = ("--network-in", tmp_path / "in.pcap", "--rphy-out", tmp_path / "out.pcap")
    assert "session: found " in refusal("replay", "--config", config, *ways)
    assert not (tmp_path / "out.pcap").exists()
