# SPDX-License-Identifier: BSD-3-Clause
"""Groups whose modems have different ciphers: both directions, both generations of keys, fragments,
frames of less than a block, and ciphers that change, as the witness decrypts them."""

import json
from hashlib import sha512
from pathlib import Path
from random import Random
from typing import Any

import pytest

from e2e.changes.changed import MS, Change, change, replay_changed
from e2e.changes.fates import Proof
from e2e.changes.test_replay_changes import TEXT, burst
from e2e.frames import ethernet
from e2e.running import SMALL, replay
from e2e.traffic import START_NS, generate, spread
from e2e.upstream import at_once, replay_upstream
from vcmts.witness.config import SIZES, load_tree, parse_config
from vcmts.witness.ip import SHORTEST
from vcmts.witness.pcapfile import Record, records_of
from witness.sample import UPSTREAM
from witness.upstream_sender import UpstreamSender
from witness.upstream_traffic import sending

pytestmark = pytest.mark.replay

Json = dict[str, Any]
LOOPBACK = 0x9000  # an Ethernet type that no rule knows
CIPHERS = ("aes-256", "des", "aes-128", "none")
TURNS = range(len(CIPHERS))


def security(said: str, cipher: str, sequence: int = 7, *, use_next: bool = False) -> Json:
    """An association with both generations of keys, made from its SAID and cipher."""
    made: Json = {"said": said, "cipher": cipher, "key_sequence": str(sequence)}
    if cipher == "none":
        return made
    key, iv = SIZES[cipher]
    secret = sha512(f"{said} {cipher}".encode()).digest() * 2
    for at, (name, size) in enumerate(
        (("key", key), ("iv", iv), ("next_key", key), ("next_iv", iv))
    ):
        made[name] = secret[7 * at : 7 * at + size].hex()
    return made | {"use_next_key": str(use_next).lower()}


def mixed(text: str, turn: int, **more: Json) -> str:
    """The configuration with a cipher after the other, the first as the turn says; downstream every
    other one has the next key."""
    whole: Json = load_tree(text)
    for number, modem in enumerate(whole["modems"], turn):
        modem["security"] = security(
            modem["security"]["said"],
            CIPHERS[number % len(CIPHERS)],
            15 - number,
            use_next=number // 2 % 2 == 1,
        )
    return json.dumps(whole | more)


def patch(cipher: str) -> Json:
    key, iv = SIZES[cipher]
    beginning = bytes(range(0x40, 0x60))
    both = {"key": beginning[:key].hex(), "iv": beginning[:iv].hex()}
    return {"cipher": cipher} | (both if cipher != "none" else {})


def mixed_sent(text: str, seed: int) -> list[Record]:
    return spread(generate(parse_config(text), seed, 600, broken=0.05), seed)


@pytest.mark.parametrize("turn", TURNS[::2])
def test_downstream(turn: int, tmp_path: Path) -> None:
    text = mixed(SMALL.read_text(), turn)
    expected = replay(tmp_path, text, mixed_sent(text, turn)).check()
    assert expected.counters["encrypted"] > 100 and expected.counters["clear"] > 20


def test_downstream_without_crc(tmp_path: Path) -> None:
    """Four bytes of zero stand where it would be, encrypted as the rest."""
    text = mixed(SMALL.read_text(), 1, crypto={"generate_crc": "false"})
    assert not parse_config(text).generate_crc
    replay(tmp_path, text, mixed_sent(text, 9)).check()


def test_downstream_of_every_length(tmp_path: Path) -> None:
    """From a PDU without a byte of payload on: with and without whole blocks, and every rest."""
    for turn in range(3):
        text = mixed(SMALL.read_text(), turn)
        mac = parse_config(text).modems[0].mac
        sent = [ethernet(LOOPBACK, bytes(range(size)), mac) for size in range(100)]
        records = records_of(sent, START_NS, 20_000)
        folder = tmp_path / CIPHERS[turn]
        expected = replay(folder, text, records).check()
        assert sum(len(frames) for frames in expected.flows.values()) == len(sent)


def good(text: str, seed: int, folder: Path) -> list[str]:
    sender = sending(seed, parse_config(text), most=80)
    replayed = replay_upstream(folder, text, records_of(sender.packets, START_NS, 1009))
    problems = replayed.problems()
    if replayed.drops:
        problems.append(f"dropped {replayed.drops} of good traffic")
    sent = [frame for frames in sender.expected.values() for frame in frames]
    if sorted(replayed.frames) != sorted(sent):
        problems.append("other frames than were sent")
    return problems


@pytest.mark.parametrize("turn", TURNS[::2])
def test_upstream(turn: int, tmp_path: Path) -> None:
    text = mixed(UPSTREAM, turn)
    seeds = (0, 3)  # of 54 and 70 frames
    assert at_once(lambda seed: good(text, seed, tmp_path / str(seed)), seeds) == [[], []]


@pytest.mark.parametrize("turn", TURNS)
def test_upstream_of_every_length(turn: int, tmp_path: Path) -> None:
    """Whole and in fragments, with both keys. What comes out is also what was sent, padded."""
    text = mixed(UPSTREAM, turn)
    sender = UpstreamSender(parse_config(text), Random(turn))
    for size in range(4, 104):
        for place, stream in enumerate(sender.streams()):
            sender.send(stream, ethernet(LOOPBACK, bytes([place, size]) * (size // 2)))
        if size % 7 == 0:
            sender.flush()
    sender.flush()
    replayed = replay_upstream(tmp_path, text, records_of(sender.packets, START_NS, 1009))
    assert replayed.problems() == []
    assert replayed.drops == {}
    for sent in sender.expected.values():
        frames = [frame.ljust(SHORTEST, b"\0") for frame in sent]
        mine = set(frames)
        assert [frame for frame in replayed.frames if frame in mine] == frames
    assert sender.fragments > 50


def rolls(said: int, cipher: str, number: int) -> list[Change]:
    """A key that follows, in the cipher that the association has."""
    at, (key, iv) = MS + 777 + number * 500_000, SIZES[cipher]
    return [
        change(
            at, "key.install", said=said, key=f"{number:02x}" * key, iv=f"{number + 8:02x}" * iv
        ),
        change(at + 150_001, "key.use", said=said),
        change(at + 300_001, "key.remove", said=said),
    ]


@pytest.mark.parametrize("cipher", ["aes-256", "des"])
def test_keys_roll(cipher: str, tmp_path: Path) -> None:
    """Downstream, under a load that fills its channels; the witness has each key at its time."""
    whole: Json = load_tree(TEXT)
    first = security("1", cipher)
    whole["modems"][0]["security"] = {
        name: value for name, value in first.items() if "next" not in name
    }
    sent = burst("10.0.0.1", 1000) + [
        record for n in range(50) for record in burst("10.0.0.1", 1, (n + 1) * 100_000)
    ]
    changes = [step for number in range(3) for step in rolls(1, cipher, number)]
    replayed = replay_changed(tmp_path, json.dumps(whole), sent, changes)
    assert Proof(replayed).check() == 0
    assert not any("error" in answer for answer in replayed.answers)


def test_a_modem_changes_its_cipher(tmp_path: Path) -> None:
    """Four times while its frames wait, each time with another key of the same beginning; one of
    other digits than the cipher has is refused, and changes nothing."""
    sent = burst("10.0.0.1", 1000) + [
        record for n in range(50) for record in burst("10.0.0.1", 1, (n + 1) * 100_000)
    ]
    mac = {"mac": "02:01:00:00:00:01"}
    changes = [
        change(MS + number * 900_000, "modem.set", modem=mac | {"security": patch(cipher)})
        for number, cipher in enumerate(("aes-256", "des", "none", "aes-128"))
    ]
    wrong = mac | {"security": {"cipher": "des", "key": "00" * 16}}
    changes.append(change(5 * MS, "modem.set", modem=wrong))
    replayed = replay_changed(tmp_path, TEXT, sent, changes, status=2)
    assert Proof(replayed).check() == 0
    assert ["error" in answer for answer in replayed.answers[1::2]] == [False] * 4 + [True]
