# SPDX-License-Identifier: BSD-3-Clause
"""Changes of single objects during an upstream replay. Output and counters must match an
independent model that applies each change at the same time."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest

from e2e.changes.replay import MS, Change, ChangeReplay, Json, change, replay_changes, single_config
from e2e.traffic import START_NS
from e2e.upstream import BUFFERS, upstream_config
from vcmts.witness.config import load_tree, parse_config
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import Record, records_of
from witness.agreement import disagreements
from witness.subscriber import numbered_frame
from witness.upstream import Result, expect_upstream
from witness.upstream_sender import UpstreamSender
from witness.upstream_traffic import impair_by_loss, impair_by_order, sending

pytestmark = pytest.mark.replay

TEXT = upstream_config(f"verify_crc: true, {BUFFERS}")
FILE: Json = load_tree(TEXT)
GAP_NS = 100_003


def config_json(**keys: Any) -> str:
    return json.dumps(FILE | keys)


def modem(number: int, **keys: Any) -> Json:
    item: Json = FILE["modems"][number - 1]
    return item | keys


def modem_mac(number: int) -> Json:
    return {"mac": modem(number)["mac"]}


def model_configs(replayed: ChangeReplay) -> list[tuple[int, Config]]:
    """The configurations of the only group for the model, each with its begin in ns."""
    start = replayed.sent[0].time_ns
    return [
        (start + e.begin, replace(single_config(e), control_port=True)) for e in replayed.epochs
    ]


def expected(replayed: ChangeReplay) -> Result:
    (_, first), *changes = model_configs(replayed)
    return expect_upstream(replayed.sent, first, changes=changes)


def check(replayed: ChangeReplay) -> Result:
    wanted = expected(replayed)
    frames = [record.data for record in replayed.out]
    management = [record.data for record in replayed.management]
    assert disagreements(wanted, replayed.stats["upstream"], frames, management) == []
    return wanted


def replay_upstream_changes(
    folder: Path,
    text: str,
    sent: Sequence[Record],
    changes: Sequence[Change],
    status: int = 0,
    options: Sequence[str | Path] = (),
) -> ChangeReplay:
    return replay_changes(folder, text, sent, changes, up=True, status=status, options=options)


def at(share: float, sent: Sequence[Record]) -> int:
    """A time at this share of the capture, between two packets. In ns after the first packet."""
    return int((sent[-1].time_ns - START_NS) * share) // GAP_NS * GAP_NS + 51_111


def valid_traffic(seed: int, most: int = 120) -> list[Record]:
    sender = sending(seed, parse_config(TEXT), most=most)
    return records_of(sender.packets, START_NS, GAP_NS)


CHANGES: dict[str, Callable[[Sequence[Record]], list[Change]]] = {
    "modem removed": lambda sent: [change(at(0.5, sent), "modem.remove", **modem_mac(1))],
    "modem removed and added": lambda sent: [
        change(at(0.3, sent), "modem.remove", **modem_mac(1)),
        change(at(0.6, sent), "modem.add", modem=modem(1)),
    ],
    "modem with fragments removed and added": lambda sent: [
        change(at(0.4, sent), "modem.remove", **modem_mac(3)),
        change(at(0.7, sent), "modem.add", modem=modem(3)),
    ],
    "addresses moved": lambda sent: [
        change(at(0.3, sent), "modem.set", modem=modem_mac(1) | {"addresses": ["10.0.0.1"]}),
        change(at(0.6, sent), "modem.set", modem=modem_mac(2) | {"addresses": ["10.0.0.2"]}),
    ],
    "key removed": lambda sent: [
        change(at(0.3, sent), "key.use", said=1),
        change(at(0.5, sent), "key.remove", said=1),
        change(at(0.7, sent), "key.install", said=1, key="77" * 16, iv="88" * 16),
    ],
    "channel removed and added": lambda sent: [
        change(at(0.3, sent), "modem.remove", **modem_mac(2)),
        change(at(0.3, sent) + 1, "modem.remove", **modem_mac(3)),
        change(at(0.4, sent), "modem.set", modem=modem_mac(1) | {"upstream_service_flows": [
            {"id": 101, "sid_clusters": [{"id": 0, "sids": [{"channel": 2, "sid": 1}]}]}]}),
        change(at(0.5, sent), "upstream_channel.remove", id=1),
        change(at(0.7, sent), "upstream_channel.add",
               upstream_channel=FILE["upstream_channels"][0]),
    ],
    "session changed": lambda sent: [
        change(at(0.5, sent), "upstream_channel.set",
               upstream_channel={"id": 2, "session": 0x20099}),
        change(at(0.7, sent), "upstream_channel.set",
               upstream_channel={"id": 2, "session": 0x20002}),
    ],
    "SID moved": lambda sent: [
        change(at(0.5, sent), "modem.set", modem=modem_mac(2) | {"upstream_service_flows": [
            {"id": 202, "sid_clusters": [{"id": 1, "sids": [{"channel": 1, "sid": 11}]}]}]}),
        change(at(0.5, sent) + 1, "modem.set", modem=modem_mac(3) | {"upstream_service_flows": [
            {"id": 301, "segment_header": False,
             "sid_clusters": [{"id": 0, "sids": [{"channel": 1, "sid": 10}]}]}]}),
    ],
    "file reloaded": lambda sent: [change(at(0.5, sent), "config.reload")],
}  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", CHANGES)
def test_valid_traffic_matches_model(name: str, seed: int, tmp_path: Path) -> None:
    sent = valid_traffic(seed)
    check(replay_upstream_changes(tmp_path, TEXT, sent, CHANGES[name](sent)))


@pytest.mark.parametrize("seed", [2, 11])
@pytest.mark.parametrize("name", CHANGES)
def test_damaged_traffic_matches_model(name: str, seed: int, tmp_path: Path) -> None:
    """At the change, many packets are pending because others are missing."""
    random = Random(f"{name}{seed}")
    sender = sending(7, parse_config(TEXT), most=150)
    packets = impair_by_loss(random, impair_by_order(random, sender.packets))
    sent = records_of(packets, START_NS, GAP_NS)
    wanted = check(replay_upstream_changes(tmp_path, TEXT, sent, CHANGES[name](sent)))
    assert len(wanted.drops) > 3


@pytest.mark.parametrize("rolls", [1, 5])
def test_rolled_keys_decrypt_all_frames(rolls: int, tmp_path: Path) -> None:
    """The modem changes to the next key while both keys are installed. No frame is lost."""
    modem_config = json.loads(json.dumps(FILE["modems"][0]))
    for name in ("next_key", "next_iv"):
        del modem_config["security"][name]
    text = config_json(modems=[modem_config, *FILE["modems"][1:]])
    sender = UpstreamSender(parse_config(text), Random(rolls))
    changes: list[Change] = []

    def send(config: Json) -> int:
        """Sends frames with this configuration of the modem. Returns the time after them."""
        sender.change(parse_config(config_json(modems=[config, *FILE["modems"][1:]])))
        for stream in [(101, 0), (101, 2), (102, 0), (202, 1)] * 5:
            address = sender.by_stream[stream][0].addresses[0]
            number = sum(map(len, sender.expected.values()))
            sender.send(stream, numbered_frame(address, number, 500))
        sender.flush()
        return (len(sender.packets) - 1) * GAP_NS + 51_111

    sequence, current = 15, modem_config
    for roll in range(rolls):
        key = {"key": f"{roll + 1:02x}" * 16, "iv": f"{roll + 101:02x}" * 16}
        both = current["security"] | {"next_key": key["key"], "next_iv": key["iv"]}
        sequence = (sequence + 1) % 16
        changes.append(change(send(current), "key.install", said=1, **key))
        changes.append(change(send(current | {"security": both}), "key.use", said=1))
        changes.append(change(send(current | {"security": both}), "key.remove", said=1))
        current = current | {
            "security": current["security"] | key | {"key_sequence": str(sequence)}
        }
    send(current)
    sent = records_of(sender.packets, START_NS, GAP_NS)
    replay = replay_upstream_changes(tmp_path, text, sent, changes)
    wanted = check(replay)
    assert wanted.drops == {}
    received = [record.data for record in replay.out]
    assert sorted(received) == sorted(chain.from_iterable(sender.expected.values()))
    assert (
        len({single_config(epoch).modems[0].security for epoch in replay.epochs}) == 3 * rolls + 1
    )


class ChangeGenerator:
    """Draws random changes. Some of them are refused."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def flows(self, number: int) -> list[Json]:
        flows = modem(number)["upstream_service_flows"]
        some: list[Json] = self.random.sample(flows, self.random.randint(1, len(flows)))
        return some

    def draw_modem(self) -> tuple[str, Json]:
        """A random change of a modem: its method and parameters."""
        number = self.random.randint(1, 3)
        security = modem(number)["security"]
        if security.get("cipher") != "none":
            security = security | {"key_sequence": self.random.choice([2, 3, 14, 15])}
        addresses = self.random.sample(modem(number)["addresses"], 1)
        choices: list[tuple[str, Json]] = [
            ("remove", modem_mac(number)),
            ("add", modem(number)),
            ("add", modem(number, security=security)),
            ("replace", modem(number, upstream_service_flows=self.flows(number))),
            ("set", modem_mac(number) | {"upstream_service_flows": self.flows(number)}),
            ("set", modem_mac(number) | {"addresses": addresses}),
            ("set", modem_mac(number) | {"addresses": modem(number)["addresses"]}),
        ]
        action, value = self.random.choice(choices)
        return f"modem.{action}", value if action == "remove" else {"modem": value}

    def draw_key(self) -> tuple[str, Json]:
        """A random change of a key: its method and parameters."""
        said = self.random.choice([1, 3])
        action = self.random.choice(["install", "use", "remove"])
        key = {"key": "20" * 16, "iv": "30" * 16} if action == "install" else {}
        return f"key.{action}", {"said": said} | key

    def draw_channel(self) -> tuple[str, Json]:
        """A random change of an upstream channel: its method and parameters."""
        number = self.random.randint(0, 1)
        channel = FILE["upstream_channels"][number]
        session = self.random.choice([int(channel["session"], 0), 0x20077 + number])
        choices: list[tuple[str, Json]] = [
            ("remove", {"id": channel["id"]}),
            ("add", channel),
            ("set", {"id": channel["id"], "session": session}),
        ]
        action, value = self.random.choice(choices)
        found = value if action == "remove" else {"upstream_channel": value}
        return f"upstream_channel.{action}", found

    def changes(self, count: int, gap: int) -> list[Change]:
        kinds = [self.draw_modem, self.draw_modem, self.draw_key, self.draw_channel]
        drawn = (self.random.choice(kinds)() for _ in range(count))
        return [
            change((n + 1) * gap // GAP_NS * GAP_NS + 51_111, method, **params)
            for n, (method, params) in enumerate(drawn)
        ]


@pytest.mark.parametrize("seed", range(6))
def test_random_changes_match_model(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    sender = sending(seed, parse_config(TEXT), most=40, udp=False)
    for batch in range(20):
        for n in range(15):
            stream = random.choice(sender.streams())
            address = sender.by_stream[stream][0].addresses[0]
            sender.send(stream, numbered_frame(address, 1000 * batch + n, random.choice([60, 900])))
        sender.flush()
    packets = impair_by_order(random, sender.packets) if seed % 2 else sender.packets
    sent = records_of(packets, START_NS, GAP_NS)
    changes = ChangeGenerator(seed).changes(100, len(sent) * GAP_NS // 101)
    replay = replay_upstream_changes(tmp_path, TEXT, sent, changes, status=2)
    wanted = check(replay)
    applied = [a for a in replay.answers if a["method"] != "config.get" and "result" in a]
    assert len(applied) > 20 and len({a["method"] for a in applied}) > 5
    assert len(wanted.frames) > 20 and len(wanted.drops) > 1
    assert changes[-1].at > MS
