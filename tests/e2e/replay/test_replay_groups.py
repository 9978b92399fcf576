# SPDX-License-Identifier: BSD-3-Clause
"""Several service groups in one replay give byte for byte what each gives alone."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from e2e import grouped
from e2e.grouped import GROUPS, comes_from_modems, goes_to_channels
from e2e.running import run, vcmtsd
from vcmts.paths import program
from vcmts.witness.groups import alone
from vcmts.witness.pcapfile import Record, read_pcap, write_pcap

Json = dict[str, Any]
Mine = Callable[[Json], Callable[[Record], bool]]
# What is counted of a packet before it is known that it is not for this group.
SEEN_OF_ALL = ("received", "received_bytes", "ipv4", "ipv6")
NULL = ("net_null0,no-rx=1", "net_null1,no-rx=1")


def profile(folder: Path) -> list[Json]:
    """Writes the server's file, and of each group one that stands alone. Returns the latter."""
    text = grouped.profile()
    (folder / "server.yaml").write_text(text, encoding="utf-8")
    whole = json.loads(grouped.large_server())
    groups = [alone(whole, item) for item in whole["service_groups"]]
    for group in groups:
        grouped.write(folder, f"alone{group['service_group']}.yaml", group)
    return groups


def traffic(folder: Path, *words: str) -> None:
    sent = run([program("vcmts-traffic"), "--config", folder / "server.yaml", *words])
    assert sent.status == 0, sent.stderr


def replay(config: Path, came: Path, up: bool) -> tuple[list[Record], Json]:
    left, stats = came.with_suffix(".out"), came.with_suffix(".json")
    words = ("--rphy-in", came, "--network-out") if up else ("--network-in", came, "--rphy-out")
    done = vcmtsd("replay", "--config", config, *words, left, "--stats", stats)
    assert done.status == 0, done.stderr
    return list(read_pcap(left).records), json.loads(stats.read_text(encoding="utf-8"))


def without(counters: Json, names: tuple[str, ...]) -> Json:
    return {name: value for name, value in counters.items() if name not in names}


def compare(folder: Path, came: Path, up: bool, mine: Mine, groups: list[Json]) -> None:
    """Each group alone gets the packets of all, so that its time goes in the same steps."""
    direction, unknown = (
        ("upstream", "outer_address") if up else ("downstream", "unknown_destination")
    )
    together, stats = replay(folder / "server.yaml", came, up)
    sent = 0
    for group, of_it in zip(groups, stats["groups"], strict=True):
        by_itself, own = replay(folder / f"alone{group['service_group']}.yaml", came, up)
        assert len(by_itself) > 10
        assert [record for record in together if mine(group)(record)] == by_itself
        others = own[direction]["drops"].pop(unknown)
        assert of_it[direction]["drops"].pop(unknown) == 0 < others
        assert of_it[direction]["drops"] == own[direction]["drops"]
        counted = [told[direction]["counters"] for told in (of_it, own)]
        assert without(counted[0], SEEN_OF_ALL) == without(counted[1], SEEN_OF_ALL)
        assert counted[0]["received"] == counted[1]["received"] - others
        assert of_it[direction]["balanced"]
        sent += len(by_itself)
    assert sent == len(together)


def with_tag(record: Record, vlan: int) -> Record:
    data = record.data[:12] + bytes([0x81, 0, 0, vlan]) + record.data[12:]
    return Record(record.time_ns, data, record.original_length + 4)


def test_a_vlan_of_all(tmp_path: Path) -> None:
    """The groups have a VLAN towards the network: it is taken off, and all else is as without."""
    profile(tmp_path)
    came, config = tmp_path / "ip.pcap", tmp_path / "server.yaml"
    words = ("--rate", "60Mbps", "--duration", "100ms", "--send-only", "--rphy", NULL[1])
    traffic(tmp_path, *words, "--network", f"net_pcap0,tx_pcap={came}")
    plain, _ = replay(config, came, up=False)
    whole = json.loads(grouped.large_server())
    for place in (whole, *whole["service_groups"]):
        if "network" in place.get("ports", {}):
            place["ports"]["network"]["vlan"] = "7"
    config.write_text(grouped.dump(whole), encoding="utf-8")
    write_pcap(came, [with_tag(record, 7) for record in read_pcap(came).records])
    told, stats = replay(config, came, up=False)
    assert told == plain and len(plain) > 10
    assert [port["groups"] for port in stats["shared_ports"]] == [GROUPS, GROUPS]
    assert not any(any(port["drops"].values()) for port in stats["shared_ports"])


def test_downstream(tmp_path: Path) -> None:
    groups = profile(tmp_path)
    came = tmp_path / "ip.pcap"
    words = ("--rate", "60Mbps", "--duration", "100ms", "--send-only", "--rphy", NULL[1])
    traffic(tmp_path, *words, "--network", f"net_pcap0,tx_pcap={came}")
    compare(tmp_path, came, False, goes_to_channels, groups)


def test_upstream(tmp_path: Path) -> None:
    groups = profile(tmp_path)
    came = tmp_path / "uepi.pcap"
    words = ("--upstream-rate", "20Mbps", "--duration", "100ms", "--send-only", "--no-downstream")
    traffic(tmp_path, *words, "--network", NULL[0], "--rphy", f"net_pcap1,tx_pcap={came}")
    compare(tmp_path, came, True, comes_from_modems, groups)
