# SPDX-License-Identifier: BSD-3-Clause
"""Several service groups in one vcmtsd, each on ports of its own."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from e2e.expected import check_flows, check_stats, expect
from e2e.ports import Run, serve
from e2e.running import SMALL, vary, vcmts, vcmtsd
from e2e.traffic import START_NS, generate
from vcmts.paths import MistakeError
from vcmts.telemetry.plane import plane as connected
from vcmts.witness.config import load_config
from vcmts.witness.downstream import decode_downstream
from vcmts.witness.pcapfile import read_pcap, records_of, write_pcap

CONFIG = load_config(SMALL)
CPUS = sorted(os.sched_getaffinity(0))
IDS = (4, 7, 9)
ONE, OTHER = CPUS[-1], CPUS[0]
# Of each group: upper MAC, lower MAC (1ds1t where they are one), upstream.
PLACEMENTS = {
    "one core for all": ((ONE, ONE), (ONE, ONE), (ONE, ONE)),
    "a core for two": ((ONE, ONE), (OTHER, OTHER), (OTHER, OTHER)),
    "lower MACs together": ((ONE, OTHER), (ONE, OTHER), (ONE, OTHER)),
    "crossed": ((ONE, OTHER), (OTHER, ONE), (ONE, ONE)),
}


def threads(upper: int, lower: int) -> str:
    layout = "1ds1t" if upper == lower else "1ds2t"
    return (
        f"{{downstream: {layout}, main_core: {OTHER}, upper_mac_core: {upper}, "
        f"lower_mac_core: {lower if upper != lower else upper + 1}, upstream_core: {upper}}}"
    )


def write_config(folder: Path, placement: tuple[tuple[int, int], ...]) -> Path:
    """A server of three small groups, each in a file of its own; ports by arguments."""
    items = []
    for number, (upper, lower) in zip(IDS, placement, strict=True):
        own = folder / f"sg{number}.yaml"
        own.write_text(vary(SMALL.read_text(), threads=threads(upper, lower)))
        ports = f"network: {{device: net_ring{number}0}}, rphy: {{device: net_ring{number}1}}"
        items.append(
            f"  - {{file: {own.name}, service_group: {number}, name: group-{number}, "
            f"ports: {{{ports}}}}}\n"
        )
    path = folder / "server.yaml"
    path.write_text("name: several\nservice_groups:\n" + "".join(items))
    return path


def pcap_ports(folder: Path) -> tuple[str, ...]:
    network = f"net_pcap{{group}}0,rx_pcap={folder}/in{{group}}.pcap"
    return (
        "--network",
        network,
        "--rphy",
        f"net_pcap{{group}}1,tx_pcap={folder}/out{{group}}.pcap",
    )


def null_ports() -> tuple[str, ...]:
    return ("--network", "net_null{group}0,no-rx=1", "--rphy", "net_null{group}1,no-rx=1")


@pytest.mark.parametrize("placement", PLACEMENTS.values(), ids=PLACEMENTS)
def test_each_group_gets_its_own(placement: tuple[tuple[int, int], ...], tmp_path: Path) -> None:
    """The proof of one group alone, for each: what comes out, drops and counters."""
    if len(CPUS) < 2 and any(upper != lower for upper, lower in placement):
        pytest.skip("needs two cores")
    config = write_config(tmp_path, placement)
    sent = [
        records_of(generate(CONFIG, 40 + place, 300 * (place + 1), broken=0.1), START_NS)
        for place in range(len(IDS))
    ]
    for place, records in enumerate(sent):
        write_pcap(tmp_path / f"in{place}.pcap", records)
    asked = ("--config", config, "--latency", "--json", tmp_path / "s.json")
    with serve(*asked, *pcap_ports(tmp_path)) as run:
        for number, records in zip(IDS, sent, strict=True):
            run.taken(len(records), number)
        done = run.stop()
    assert done.status == 0, done.stderr
    summary = json.loads((tmp_path / "s.json").read_text())
    assert [group["id"] for group in summary["groups"]] == list(IDS)
    for place, group in enumerate(summary["groups"]):
        own = load_config(tmp_path / f"sg{IDS[place]}.yaml")
        decoded = decode_downstream(read_pcap(tmp_path / f"out{place}.pcap").records, own)
        expected = expect(sent[place], CONFIG)
        check_flows(expected, decoded)
        check_stats(expected, group["downstream"], decoded)
    check_sums(summary, sum(len(records) for records in sent))


def latencies(direction: dict[str, Any]) -> int:
    """Packets of which there is one."""
    return sum(packets for _, packets in direction["pipeline_latency_us"]["histogram"])


def check_sums(summary: dict[str, Any], received: int) -> None:
    whole, parts = summary["downstream"], [group["downstream"] for group in summary["groups"]]
    assert whole["received"] == received
    for key in ("received", "transmitted", "held", "dropped"):
        assert whole[key] == sum(part[key] for part in parts)
    for key in ("drops", "counters"):
        assert whole[key] == {
            name: sum(part[key][name] for part in parts) for name in parts[0][key]
        }
    assert whole["balanced"] and all(part["balanced"] for part in parts)
    assert "scheduler" not in whole and "scheduler" in parts[0]
    assert whole["cycles_per_packet"]["total"] > 0
    measured = [latencies(part) for part in (whole, *parts)]
    assert measured[0] == sum(measured[1:]) == whole["transmitted"]
    assert whole["pipeline_latency_us"]["max"] == max(
        part["pipeline_latency_us"]["max"] for part in parts
    )


def serving(tmp_path: Path) -> Any:
    config = write_config(tmp_path, PLACEMENTS["one core for all"])
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


def reload(run: Run) -> str:
    """What is said of it, done or refused."""
    with connected(run.process.pid) as asked:
        try:
            return f"done: {asked.ask('config.reload')['done']}"
        except MistakeError as refused:
            return f"refused: {refused}"


def test_reload_of_one_group(tmp_path: Path) -> None:
    with serving(tmp_path) as run:
        assert reload(run).endswith("nothing changed")
        own = tmp_path / f"sg{IDS[1]}.yaml"
        text = own.read_text()
        own.write_text(text.replace("rate: 1.5 Gbps", "rate: 1.4 Gbps"))
        assert own.read_text() != text
        assert reload(run).startswith("done: ")
        own.write_text(vary(text, dscp="33"))
        refused = reload(run)
        assert refused.startswith("refused: ")
        assert f"service group {IDS[1]}: " in refused and "nothing was changed" in refused
        assert run.stop().status == 0


def refusal(*words: str | Path) -> str:
    """Of groups that are alike: what tells them apart is missing, with both places."""
    done = vcmtsd(*words)
    assert done.status == 2
    form = r"\S+:\d+: .*: found .* again in service group \d+, allowed: .* in service group 4 at "
    assert re.match(form, done.messages[0]), done.messages[0]
    return "\n".join(done.messages)


def test_two_groups_on_one_device(tmp_path: Path) -> None:
    config = write_config(tmp_path, PLACEMENTS["one core for all"])
    own = ("--rphy", "net_null1{group}")
    told = refusal("run", "--config", config, "--network", "net_null0", *own)
    assert ".addresses[0]: found " in told and "session: found" not in told


def test_replay_of_groups_that_are_alike(tmp_path: Path) -> None:
    """Ports of their own told them apart; in a replay there is one of each kind."""
    config = write_config(tmp_path, PLACEMENTS["one core for all"])
    write_pcap(tmp_path / "in.pcap", [])
    ways = ("--network-in", tmp_path / "in.pcap", "--rphy-out", tmp_path / "out.pcap")
    assert "session: found " in refusal("replay", "--config", config, *ways)
    assert not (tmp_path / "out.pcap").exists()
