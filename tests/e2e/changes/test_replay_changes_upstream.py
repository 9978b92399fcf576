# SPDX-License-Identifier: BSD-3-Clause
"""Objects that change in the midst of an upstream capture: what comes out, and under which names
the rest is counted, is what a model says that is told of each change at its time."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest

from e2e.changes.changed import MS, Change, ChangedReplay, Json, change, only, replay_changed
from e2e.traffic import START_NS
from e2e.upstream import ROOM, vary_upstream
from vcmts.witness.config import load_tree, parse_config
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import Record, records_of
from witness.agreement import disagreements
from witness.subscriber import numbered_frame
from witness.upstream import Result, expect_upstream
from witness.upstream_sender import UpstreamSender
from witness.upstream_traffic import impair_by_loss, impair_by_order, sending

pytestmark = pytest.mark.replay

TEXT = vary_upstream(f"verify_crc: true, {ROOM}")
FILE: Json = load_tree(TEXT)
GAP_NS = 100_003


def text_of(**keys: Any) -> str:
    return json.dumps(FILE | keys)


def modem(number: int, **keys: Any) -> Json:
    found: Json = FILE["modems"][number - 1]
    return found | keys


def names(number: int) -> Json:
    return {"mac": modem(number)["mac"]}


def model_configs(replayed: ChangedReplay) -> list[tuple[int, Config]]:
    start = replayed.sent[0].time_ns
    return [
        (start + epoch.begin, replace(only(epoch), control_port=True)) for epoch in replayed.epochs
    ]


def expected(replayed: ChangedReplay) -> Result:
    (_, first), *changes = model_configs(replayed)
    return expect_upstream(replayed.sent, first, changes=changes)


def check(replayed: ChangedReplay) -> Result:
    wanted = expected(replayed)
    frames = [record.data for record in replayed.out]
    management = [record.data for record in replayed.management]
    assert disagreements(wanted, replayed.stats["upstream"], frames, management) == []
    return wanted


def replay_up(
    folder: Path,
    text: str,
    sent: Sequence[Record],
    changes: Sequence[Change],
    status: int = 0,
    more: Sequence[str | Path] = (),
) -> ChangedReplay:
    return replay_changed(folder, text, sent, changes, up=True, status=status, more=more)


def at(share: float, sent: Sequence[Record]) -> int:
    """A time within the capture, not that of a packet."""
    return int((sent[-1].time_ns - START_NS) * share) // GAP_NS * GAP_NS + 51_111


def good(seed: int, most: int = 120) -> list[Record]:
    sender = sending(seed, parse_config(TEXT), most=most)
    return records_of(sender.packets, START_NS, GAP_NS)


CHANGES: dict[str, Callable[[Sequence[Record]], list[Change]]] = {
    "a modem goes": lambda sent: [change(at(0.5, sent), "modem.remove", modem=names(1))],
    "a modem goes and comes back": lambda sent: [
        change(at(0.3, sent), "modem.remove", modem=names(1)),
        change(at(0.6, sent), "modem.add", modem=modem(1)),
    ],
    "fragments of a modem": lambda sent: [
        change(at(0.4, sent), "modem.remove", modem=names(3)),
        change(at(0.7, sent), "modem.add", modem=modem(3)),
    ],
    "addresses": lambda sent: [
        change(at(0.3, sent), "modem.set", modem=names(1) | {"addresses": ["10.0.0.1"]}),
        change(at(0.6, sent), "modem.set", modem=names(2) | {"addresses": ["10.0.0.2"]}),
    ],
    "a key that is not there any more": lambda sent: [
        change(at(0.3, sent), "key.use", said=1),
        change(at(0.5, sent), "key.remove", said=1),
        change(at(0.7, sent), "key.install", said=1, key="77" * 16, iv="88" * 16),
    ],
    "a channel": lambda sent: [
        change(at(0.3, sent), "modem.remove", modem=names(2)),
        change(at(0.3, sent) + 1, "modem.remove", modem=names(3)),
        change(at(0.4, sent), "modem.set", modem=names(1) | {"upstream_service_flows": [
            {"id": 101, "sid_clusters": [{"id": 0, "sids": [{"channel": 2, "sid": 1}]}]}]}),
        change(at(0.5, sent), "upstream_channel.remove", upstream_channel={"id": 1}),
        change(at(0.7, sent), "upstream_channel.add",
               upstream_channel=FILE["upstream_channels"][0]),
    ],
    "a session": lambda sent: [
        change(at(0.5, sent), "upstream_channel.set",
               upstream_channel={"id": 2, "session": 0x20099}),
        change(at(0.7, sent), "upstream_channel.set",
               upstream_channel={"id": 2, "session": 0x20002}),
    ],
    "a SID that changes hands": lambda sent: [
        change(at(0.5, sent), "modem.set", modem=names(2) | {"upstream_service_flows": [
            {"id": 202, "sid_clusters": [{"id": 1, "sids": [{"channel": 1, "sid": 11}]}]}]}),
        change(at(0.5, sent) + 1, "modem.set", modem=names(3) | {"upstream_service_flows": [
            {"id": 301, "segment_header": False,
             "sid_clusters": [{"id": 0, "sids": [{"channel": 1, "sid": 10}]}]}]}),
    ],
    "a file": lambda sent: [change(at(0.5, sent), "config.reload")],
}  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", CHANGES)
def test_good_traffic(name: str, seed: int, tmp_path: Path) -> None:
    sent = good(seed)
    check(replay_up(tmp_path, TEXT, sent, CHANGES[name](sent)))


@pytest.mark.parametrize("name", CHANGES)
def test_damaged_traffic(name: str, tmp_path: Path) -> None:
    """Much waits for what is missing when the change comes."""
    random = Random(name)
    sender = sending(7, parse_config(TEXT), most=150)
    packets = impair_by_loss(random, impair_by_order(random, sender.packets))
    sent = records_of(packets, START_NS, GAP_NS)
    wanted = check(replay_up(tmp_path, TEXT, sent, CHANGES[name](sent)))
    assert len(wanted.drops) > 3


@pytest.mark.parametrize("rolls", [1, 5])
def test_keys_roll(rolls: int, tmp_path: Path) -> None:
    """The modem changes over while both keys are there: each frame comes out, in order."""
    plain = json.loads(json.dumps(FILE["modems"][0]))
    for name in ("next_key", "next_iv"):
        del plain["security"][name]
    text = text_of(modems=[plain, *FILE["modems"][1:]])
    sender = UpstreamSender(parse_config(text), Random(rolls))
    changes: list[Change] = []

    def send(config: Json) -> int:
        """Frames under this configuration. Returns when they are all sent."""
        sender.change(parse_config(text_of(modems=[config, *FILE["modems"][1:]])))
        for stream in [(101, 0), (101, 2), (102, 0), (202, 1)] * 5:
            address = sender.by_stream[stream][0].addresses[0]
            number = sum(map(len, sender.expected.values()))
            sender.send(stream, numbered_frame(address, number, 500))
        sender.flush()
        return (len(sender.packets) - 1) * GAP_NS + 51_111

    sequence, present = 15, plain
    for roll in range(rolls):
        key = {"key": f"{roll + 1:02x}" * 16, "iv": f"{roll + 101:02x}" * 16}
        both = present["security"] | {"next_key": key["key"], "next_iv": key["iv"]}
        sequence = (sequence + 1) % 16
        changes.append(change(send(present), "key.install", said=1, **key))
        changes.append(change(send(present | {"security": both}), "key.use", said=1))
        changes.append(change(send(present | {"security": both}), "key.remove", said=1))
        present = present | {
            "security": present["security"] | key | {"key_sequence": str(sequence)}
        }
    send(present)
    sent = records_of(sender.packets, START_NS, GAP_NS)
    replayed = replay_up(tmp_path, text, sent, changes)
    wanted = check(replayed)
    assert wanted.drops == {}
    came = [record.data for record in replayed.out]
    assert sorted(came) == sorted(chain.from_iterable(sender.expected.values()))
    assert len({only(epoch).modems[0].security for epoch in replayed.epochs}) == 3 * rolls + 1


# Random


class Maker:
    """Draws changes, of which some are refused."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def flows(self, number: int) -> list[Json]:
        flows = modem(number)["upstream_service_flows"]
        some: list[Json] = self.random.sample(flows, self.random.randint(1, len(flows)))
        return some

    def of_modem(self) -> tuple[str, Json]:
        number = self.random.randint(1, 3)
        security = modem(number)["security"]
        if security.get("cipher") != "none":
            security = security | {"key_sequence": self.random.choice([2, 3, 14, 15])}
        some = self.random.sample(modem(number)["addresses"], 1)
        draws: list[tuple[str, Json]] = [
            ("remove", names(number)),
            ("add", modem(number)),
            ("add", modem(number, security=security)),
            ("replace", modem(number, upstream_service_flows=self.flows(number))),
            ("set", names(number) | {"upstream_service_flows": self.flows(number)}),
            ("set", names(number) | {"addresses": some}),
            ("set", names(number) | {"addresses": modem(number)["addresses"]}),
        ]
        what, made = self.random.choice(draws)
        return f"modem.{what}", {"modem": made}

    def of_key(self) -> tuple[str, Json]:
        said = self.random.choice([1, 3])
        what = self.random.choice(["install", "use", "remove"])
        key = {"key": "20" * 16, "iv": "30" * 16} if what == "install" else {}
        return f"key.{what}", {"said": said} | key

    def of_channel(self) -> tuple[str, Json]:
        number = self.random.randint(0, 1)
        channel = FILE["upstream_channels"][number]
        session = self.random.choice([int(channel["session"], 0), 0x20077 + number])
        draws: list[tuple[str, Json]] = [
            ("remove", {"id": channel["id"]}),
            ("add", channel),
            ("set", {"id": channel["id"], "session": session}),
        ]
        what, made = self.random.choice(draws)
        return f"upstream_channel.{what}", {"upstream_channel": made}

    def changes(self, count: int, gap: int) -> list[Change]:
        makers = [self.of_modem, self.of_modem, self.of_key, self.of_channel]
        made = (self.random.choice(makers)() for _ in range(count))
        return [
            change((n + 1) * gap // GAP_NS * GAP_NS + 51_111, method, **params)
            for n, (method, params) in enumerate(made)
        ]


@pytest.mark.parametrize("seed", range(6))
def test_random_changes(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    sender = sending(seed, parse_config(TEXT), most=40, udp=False)
    for more in range(20):
        for n in range(15):
            stream = random.choice(sender.streams())
            address = sender.by_stream[stream][0].addresses[0]
            sender.send(stream, numbered_frame(address, 1000 * more + n, random.choice([60, 900])))
        sender.flush()
    packets = impair_by_order(random, sender.packets) if seed % 2 else sender.packets
    sent = records_of(packets, START_NS, GAP_NS)
    changes = Maker(seed).changes(100, len(sent) * GAP_NS // 101)
    replayed = replay_up(tmp_path, TEXT, sent, changes, status=2)
    wanted = check(replayed)
    made = [a for a in replayed.answers if a["method"] != "config.get" and "result" in a]
    assert len(made) > 20 and len({a["method"] for a in made}) > 5
    assert len(wanted.frames) > 20 and len(wanted.drops) > 1
    assert changes[-1].at > MS
