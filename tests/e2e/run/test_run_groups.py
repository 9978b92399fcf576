# SPDX-License-Identifier: BSD-3-Clause
"""Several service groups in one vcmtsd, each on ports of its own: telemetry, and conflicts."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from e2e.ports import serve
from e2e.running import SMALL, replace_values, vcmts, vcmtsd
from vcmts.paths import RefusalError
from vcmts.telemetry.plane import plane as connect_plane
from vcmts.witness.pcapfile import write_pcap

CPUS = sorted(os.sched_getaffinity(0))
IDS = (4, 7, 9)
CORE, MAIN_CORE = CPUS[-1], CPUS[0]
THREADS = (
    f"{{downstream: 1ds1t, main_core: {MAIN_CORE}, upper_mac_core: {CORE}, "
    f"lower_mac_core: {CORE + 1}, upstream_core: {CORE}}}"
)


def write_config(folder: Path) -> Path:
    """Writes a server of three equal groups on one core, each with a file of its own."""
    items = []
    for number in IDS:
        group_file = folder / f"sg{number}.yaml"
        group_file.write_text(replace_values(SMALL.read_text(), threads=THREADS))
        ports = f"network: {{device: net_ring{number}0}}, rphy: {{device: net_ring{number}1}}"
        items.append(
            f"  - {{file: {group_file.name}, service_group: {number}, name: group-{number}, "
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


def test_telemetry_selects_group(tmp_path: Path) -> None:
    with serving(tmp_path) as run, connect_plane(run.process.pid) as client:
        groups = client.ask("group.list")["groups"]
        assert [group["name"] for group in groups] == [f"group-{number}" for number in IDS]
        with pytest.raises(RefusalError, match=r"add --group 4 \(or 7, 9\)"):
            client.scheduler("channels")
        client.group = 5
        with pytest.raises(RefusalError, match="no service group 5"):
            client.counts()
        client.group = 7
        assert client.counts()["downstream"]["counters"]["received"] == 0
        assert client.scheduler("channels")
        assert client.workers()[0]["name"].endswith("of groups 4, 7, 9")
        pid = str(run.process.pid)
        listed = vcmts("telemetry", "groups", "--pid", pid)
        assert listed.status == 0 and "group-9" in listed.stdout
        shown = vcmts("telemetry", "delay", "--group", "9", "--json", "--pid", pid)
        assert shown.status == 0 and json.loads(shown.stdout) == []


def conflict(*arguments: str | Path) -> str:
    """Runs vcmtsd with equal groups: it reports a conflict with positions in both files."""
    done = vcmtsd(*arguments)
    assert done.status == 2
    form = r"\S+:\d+: .*: duplicate .*, first in service group 4 at .*, such groups need another "
    assert re.match(form, done.messages[0]), done.messages[0]
    return "\n".join(done.messages)


def test_equal_groups_on_one_device_conflict(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    rphy = ("--rphy", "net_null1{group}")
    message = conflict("run", "--config", config, "--network", "net_null0", *rphy)
    assert ".addresses[0]: duplicate address " in message and "session: dup" not in message


def test_replay_of_equal_groups_conflicts(tmp_path: Path) -> None:
    """In a replay, groups share the ports, so equal sessions conflict."""
    config = write_config(tmp_path)
    write_pcap(tmp_path / "in.pcap", [])
    files = ("--network-in", tmp_path / "in.pcap", "--rphy-out", tmp_path / "out.pcap")
    assert "session: duplicate session " in conflict("replay", "--config", config, *files)
    assert not (tmp_path / "out.pcap").exists()
