# SPDX-License-Identifier: BSD-3-Clause
"""Replays random packets with random changes. Each packet must be handled as a model predicts that
has the configuration in service when the packet is received."""

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from e2e.changes.downstream_proof import DownstreamProof
from e2e.changes.replay import Change, Json, change, replay_changes
from e2e.running import SMALL
from e2e.traffic import generate, with_times
from vcmts.witness.config import load_tree, parse_config
from vcmts.witness.pcapfile import Record

pytestmark = pytest.mark.replay

# High rates: a removed flow transmits its queue before many other changes follow.
TEXT = SMALL.read_text().replace("42.24 Mbps", "300 Mbps").replace("37.5 Mbps", "300 Mbps")
FILE: Json = load_tree(TEXT)
CHANGES = 200
PACKETS = 1500
GAP_NS = 100_000  # between two changes
BONDED = [1, 2, 5]
MATCHES: list[Json] = [
    {"family": "ipv4", "protocol": "udp"},
    {"family": "ipv4", "protocol": "tcp", "source_ports": "0-2000"},
    {"family": "ipv4", "tos": "0x80/0x80"},
    {"family": "ipv4", "source": "198.51.100.0/25"},
    {"family": "ipv6", "protocol": "udp"},
    {"family": "ipv6", "source": "2001:db8:1::/48"},
    {"family": "ipv6", "tos": "0x40/0xc0", "protocol": "tcp"},
    {"family": "llc", "ethertype": "0x0806"},
    {"family": "llc", "ethertype": "0x88cc"},
]


def additional_modems() -> list[Json]:
    """Copies of the file's modems with other MAC and IP addresses, and IDs."""
    modems = []
    for number, modem in enumerate(json.loads(json.dumps(FILE["modems"])), start=1):
        if number in (3, 4):
            continue
        modem["mac"] = f"02:01:00:00:01:{number:02x}"
        modem["addresses"] = [f"10.0.1.{number}", f"2001:db8:1:{number}::1"]
        modem["security"]["said"] = str(0x100 + number)
        for flow in modem["service_flows"]:
            flow["id"] = str(1000 + int(flow["id"]))
            if "dsid" in flow:
                flow["dsid"] = str(1000 * number + int(flow["id"]))
        for classifier in modem.get("classifiers", []):
            classifier["service_flow"] = str(1000 + int(classifier["service_flow"]))
        modems.append(modem)
    return modems


MODEMS: list[Json] = FILE["modems"] + additional_modems()
TRAFFIC_CONFIG = parse_config(json.dumps(FILE | {"modems": MODEMS}))


class ChangeGenerator:
    """Draws random changes. Some of them are refused."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.new_ids = count(100)
        self.channels = [11, 12, 13, 21, 22]

    def some(self, items: list[Any], min_count: int = 1) -> list[Any]:
        return self.random.sample(items, self.random.randint(min_count, len(items)))

    def rules(self) -> list[Json]:
        action = self.random.choice
        return [m | {"action": action(["permit", "deny"])} for m in self.some(MATCHES)[:4]]

    def classifiers(self, modem: Json) -> list[Json]:
        flows = [f["id"] for f in modem["service_flows"] if f.get("state") != "provisioned"]
        return [m | {"service_flow": self.random.choice(flows)} for m in self.some(MATCHES, 0)[:5]]

    def variant(self, modem: Json) -> Json:
        security = modem["security"]
        if security["cipher"] != "none":
            security = security | {
                "key": self.random.randbytes(16).hex(),
                "key_sequence": self.random.randrange(16),
            }
        flows = modem["service_flows"][: self.random.randint(1, 4)]
        changed: Json = modem | {"security": security, "service_flows": flows}
        return changed | {"classifiers": self.classifiers(changed)}

    def patch(self, modem: Json) -> Json:
        flow = self.random.choice(modem["service_flows"])["id"]
        patches: list[Callable[[], Json]] = [
            lambda: {"filter_groups": self.some([1, 2, 3], 0)},
            lambda: {"cpe_limit": self.random.randint(1, 6)},
            lambda: {"bonding_group": self.random.choice(BONDED)},
            lambda: {"max_aggregate_rate": self.random.choice(["90 Mbps", "1 Gbps", "none"])},
            lambda: {"addresses": self.some(modem["addresses"])},
            lambda: {"addresses": [*modem["addresses"], f"10.0.9.{self.random.randint(1, 3)}"]},
            lambda: {"classifiers": self.classifiers(modem)},
            lambda: {"service_flows": {flow: {"priority": self.random.randrange(8)}}},
            lambda: {"service_flows": {flow: {"max_sustained_rate": "60 Mbps"}}},
            lambda: {"service_flows": {flow: {"weight": self.random.randint(1, 9)}}},
        ]
        return {"mac": modem["mac"]} | self.random.choice(patches)()

    def draw_modem(self) -> tuple[str, Json]:
        """A random change of a modem: its method and parameters."""
        modem = self.random.choice(MODEMS)
        mac = {"mac": modem["mac"]}
        action = self.random.choice(["add", "add", "remove", "replace", "set", "set", "set", "set"])
        values = {"remove": lambda: mac, "set": lambda: self.patch(modem)}
        return f"modem.{action}", {"modem": values.get(action, lambda: self.variant(modem))()}

    def draw_key(self) -> tuple[str, Json]:
        """A random change of a key: its method and parameters."""
        said = int(self.random.choice(MODEMS)["security"]["said"], 0)
        action = self.random.choice(["install", "install", "use", "use", "remove"])
        key = {name: self.random.randbytes(16).hex() for name in ("key", "iv")}
        return f"key.{action}", {"said": said} | (key if action == "install" else {})

    def draw_rules(self) -> tuple[str, Json]:
        """A random change of a filter group: its method and parameters."""
        group = self.random.choice([1, 2, 3, 4])
        action = self.random.choice(["set", "set", "replace", "add", "remove"])
        rules = {} if action == "remove" else {"rules": self.rules()}
        return f"filter_group.{action}", {"filter_group": {"id": group} | rules}

    def draw_channel(self) -> tuple[str, Json]:
        """A random change of a channel: its method and parameters."""
        kind = self.random.randrange(5)
        if kind == 0:
            number = next(self.new_ids)
            self.channels.append(number)
            session = 5000 + number
            new_channel = {"id": number, "type": "ofdm", "rate": "900 Mbps", "session": session}
            return "channel.add", {"channel": new_channel}
        channel = self.random.choice(self.channels)
        if kind == 1:
            rate = f"{self.random.randint(200, 900)} Mbps"
            return "channel.set", {"channel": {"id": channel, "rate": rate}}
        if kind == 2:
            return "channel.remove", {"id": channel}
        group = {"id": self.random.choice(BONDED), "channels": sorted(self.some(self.channels))}
        return "bonding_group.set", {"bonding_group": group}

    def draw_rate(self) -> tuple[str, Json]:
        """A random rate limit of the group: method and parameters."""
        rate = self.random.choice(["none", "2 Gbps", "10 Gbps"])
        return "group.set", {"values": {"rate_limit": rate}}

    def changes(self) -> Iterator[Change]:
        kinds = [self.draw_modem, self.draw_key, self.draw_rules, self.draw_channel, self.draw_rate]
        for number in range(CHANGES):
            method, params = self.random.choices(kinds, [8, 3, 3, 3, 1])[0]()
            yield change((number + 1) * GAP_NS + 7, method, **params)


def traffic(seed: int) -> list[Record]:
    gap = CHANGES * GAP_NS // PACKETS
    return with_times(generate(TRAFFIC_CONFIG, seed, PACKETS, broken=0.03), seed, gap)


@pytest.mark.parametrize("seed", range(3))
def test_packets_match_model_under_random_changes(seed: int, tmp_path: Path) -> None:
    changes = list(ChangeGenerator(seed).changes())
    replayed = replay_changes(tmp_path, TEXT, traffic(seed), changes, status=2)
    proof = DownstreamProof(replayed)
    proof.check()
    applied = [a for a in replayed.answers if a["method"] != "config.get" and "result" in a]
    refused = [a["error"]["message"] for a in replayed.answers if "error" in a]
    assert len(applied) > CHANGES // 3 and len(applied) + len(refused) == CHANGES
    assert len({a["method"] for a in applied}) > 10
    assert len({replayed.find_epoch(record) for record in replayed.sent}) > CHANGES // 3
    assert len(replayed.decoded.frames) > PACKETS // 4
    assert "internal" not in str(refused) and "memory" not in str(refused)
