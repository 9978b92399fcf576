# SPDX-License-Identifier: BSD-3-Clause
"""Replays service groups together and each alone: output per group must be equal."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from e2e import service_groups
from e2e.running import run, vcmtsd
from e2e.service_groups import GROUPS, sent_by_modems, sent_to_channels
from vcmts.paths import program
from vcmts.witness.groups import group_document
from vcmts.witness.pcapfile import Record, read_pcap, write_pcap

Json = dict[str, Any]
Filter = Callable[[Json], Callable[[Record], bool]]
# Counters of packets before the group is known. Alone, a group also counts packets of others.
COUNTED_BEFORE_GROUP = ("received", "received_bytes", "ipv4", "ipv6")
NULL = ("net_null0,no-rx=1", "net_null1,no-rx=1")


def write_profile(folder: Path) -> list[Json]:
    """Writes the configuration of the server, and one per group. Returns the latter."""
    text = service_groups.profile_yaml()
    (folder / "server.yaml").write_text(text, encoding="utf-8")
    server = json.loads(service_groups.profile_json())
    groups = [group_document(server, item) for item in server["service_groups"]]
    for group in groups:
        service_groups.write_config(folder, f"alone{group['service_group']}.yaml", group)
    return groups


def send(folder: Path, *options: str) -> None:
    done = run([program("vcmts-traffic"), "--config", folder / "server.yaml", *options])
    assert done.status == 0, done.stderr


def replay(config: Path, sent: Path, up: bool) -> tuple[list[Record], Json]:
    """Replays a capture in one direction. Returns the sent packets and the statistics."""
    output, stats = sent.with_suffix(".out"), sent.with_suffix(".json")
    files = ("--rphy-in", sent, "--network-out") if up else ("--network-in", sent, "--rphy-out")
    done = vcmtsd("replay", "--config", config, *files, output, "--json", stats)
    assert done.status == 0, done.stderr
    return list(read_pcap(output).records), json.loads(stats.read_text(encoding="utf-8"))


def omit(counters: Json, names: tuple[str, ...]) -> Json:
    return {name: value for name, value in counters.items() if name not in names}


def compare(folder: Path, capture: Path, up: bool, belongs_to: Filter, groups: list[Json]) -> None:
    """Compares with replays of each group alone, which get all packets, for equal clock steps."""
    direction, unknown = (
        ("upstream", "outer_address") if up else ("downstream", "unknown_destination")
    )
    together, stats = replay(folder / "server.yaml", capture, up)
    sent = 0
    for group, group_stats in zip(groups, stats["groups"], strict=True):
        alone, own = replay(folder / f"alone{group['service_group']}.yaml", capture, up)
        assert len(alone) > 10
        assert [record for record in together if belongs_to(group)(record)] == alone
        unmatched = own[direction]["drops"].pop(unknown)
        assert group_stats[direction]["drops"].pop(unknown) == 0 < unmatched
        assert group_stats[direction]["drops"] == own[direction]["drops"]
        counters = [item[direction]["counters"] for item in (group_stats, own)]
        assert omit(counters[0], COUNTED_BEFORE_GROUP) == omit(counters[1], COUNTED_BEFORE_GROUP)
        assert counters[0]["received"] == counters[1]["received"] - unmatched
        assert group_stats[direction]["balanced"]
        sent += len(alone)
    assert sent == len(together)


def add_tag(record: Record, vlan: int) -> Record:
    data = record.data[:12] + bytes([0x81, 0, 0, vlan]) + record.data[12:]
    return Record(record.time_ns, data, record.original_length + 4)


def test_vlan_tag_is_removed(tmp_path: Path) -> None:
    """A VLAN on the network port: the tag is removed, and the output is as without it."""
    write_profile(tmp_path)
    capture, config = tmp_path / "ip.pcap", tmp_path / "server.yaml"
    options = ("--rate", "60Mbps", "--duration", "100ms", "--send-only", "--rphy", NULL[1])
    send(tmp_path, *options, "--network", f"net_pcap0,tx_pcap={capture}")
    plain, _ = replay(config, capture, up=False)
    server = json.loads(service_groups.profile_json())
    for owner in (server, *server["service_groups"]):
        if "network" in owner.get("ports", {}):
            owner["ports"]["network"]["vlan"] = "7"
    config.write_text(service_groups.to_yaml(server), encoding="utf-8")
    write_pcap(capture, [add_tag(record, 7) for record in read_pcap(capture).records])
    tagged, stats = replay(config, capture, up=False)
    assert tagged == plain and len(plain) > 10
    assert [port["groups"] for port in stats["shared_ports"]] == [GROUPS, GROUPS]
    assert not any(any(port["drops"].values()) for port in stats["shared_ports"])


def test_downstream_of_groups_is_as_alone(tmp_path: Path) -> None:
    groups = write_profile(tmp_path)
    capture = tmp_path / "ip.pcap"
    options = ("--rate", "60Mbps", "--duration", "100ms", "--send-only", "--rphy", NULL[1])
    send(tmp_path, *options, "--network", f"net_pcap0,tx_pcap={capture}")
    compare(tmp_path, capture, False, sent_to_channels, groups)


def test_upstream_of_groups_is_as_alone(tmp_path: Path) -> None:
    groups = write_profile(tmp_path)
    capture = tmp_path / "uepi.pcap"
    options = ("--upstream-rate", "20Mbps", "--duration", "100ms", "--send-only", "--no-downstream")
    send(tmp_path, *options, "--network", NULL[0], "--rphy", f"net_pcap1,tx_pcap={capture}")
    compare(tmp_path, capture, True, sent_by_modems, groups)
