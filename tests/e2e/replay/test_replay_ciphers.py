# SPDX-License-Identifier: BSD-3-Clause
"""Groups whose modems have different ciphers, in both directions: current and next keys, fragments,
frames shorter than a cipher block, key rolls, and changes of the cipher. The witness decrypts."""

import json
from hashlib import sha512
from pathlib import Path
from random import Random
from typing import Any

import pytest

from e2e.changes.downstream_proof import DownstreamProof
from e2e.changes.replay import MS, Change, change, replay_changes
from e2e.changes.test_replay_changes import TEXT, burst
from e2e.frames import ethernet
from e2e.running import SMALL, replay
from e2e.traffic import START_NS, generate, with_times
from e2e.upstream import replay_upstream, run_parallel
from vcmts.witness.config import SIZES, load_tree, parse_config
from vcmts.witness.ip import SHORTEST
from vcmts.witness.pcapfile import Record, records_of
from witness.sample import UPSTREAM
from witness.upstream_sender import UpstreamSender
from witness.upstream_traffic import sending

pytestmark = pytest.mark.replay

Json = dict[str, Any]
LOOPBACK = 0x9000  # an Ethertype that no rule matches
CIPHERS = ("aes-256", "des", "aes-128", "none")
FIRST_CIPHERS = range(len(CIPHERS))


def security(said: str, cipher: str, sequence: int = 7, *, use_next: bool = False) -> Json:
    """Security settings with current and next key, derived from SAID and cipher."""
    settings: Json = {"said": said, "cipher": cipher, "key_sequence": str(sequence)}
    if cipher == "none":
        return settings
    key, iv = SIZES[cipher]
    secret = sha512(f"{said} {cipher}".encode()).digest() * 2
    for index, (name, size) in enumerate(
        (("key", key), ("iv", iv), ("next_key", key), ("next_iv", iv))
    ):
        settings[name] = secret[7 * index : 7 * index + size].hex()
    return settings | {"use_next_key": str(use_next).lower()}


def with_ciphers(text: str, first: int, **options: Json) -> str:
    """The configuration with the ciphers of CIPHERS in turn, from index `first` on. Every other
    pair of modems uses the next key downstream."""
    config: Json = load_tree(text)
    for number, modem in enumerate(config["modems"], first):
        modem["security"] = security(
            modem["security"]["said"],
            CIPHERS[number % len(CIPHERS)],
            15 - number,
            use_next=number // 2 % 2 == 1,
        )
    return json.dumps(config | options)


def cipher_change(cipher: str) -> Json:
    key, iv = SIZES[cipher]
    digits = bytes(range(0x40, 0x60))
    key_and_iv = {"key": digits[:key].hex(), "iv": digits[:iv].hex()}
    return {"cipher": cipher} | (key_and_iv if cipher != "none" else {})


def traffic(text: str, seed: int) -> list[Record]:
    return with_times(generate(parse_config(text), seed, 600, broken=0.05), seed)


@pytest.mark.parametrize("first", FIRST_CIPHERS[::2])
def test_downstream_frames_are_encrypted(first: int, tmp_path: Path) -> None:
    text = with_ciphers(SMALL.read_text(), first)
    expected = replay(tmp_path, text, traffic(text, first)).check()
    assert expected.counters["encrypted"] > 100 and expected.counters["clear"] > 20


def test_downstream_without_crc_sends_zeros(tmp_path: Path) -> None:
    """Four encrypted zero bytes replace the CRC."""
    text = with_ciphers(SMALL.read_text(), 1, crypto={"generate_crc": "false"})
    assert not parse_config(text).generate_crc
    replay(tmp_path, text, traffic(text, 9)).check()


def test_downstream_encrypts_every_length(tmp_path: Path) -> None:
    """Payloads of 0 to 99 bytes: every length of the last cipher block."""
    for first in range(3):
        text = with_ciphers(SMALL.read_text(), first)
        mac = parse_config(text).modems[0].mac
        sent = [ethernet(LOOPBACK, bytes(range(size)), mac) for size in range(100)]
        records = records_of(sent, START_NS, 20_000)
        folder = tmp_path / CIPHERS[first]
        expected = replay(folder, text, records).check()
        assert sum(len(frames) for frames in expected.flows.values()) == len(sent)


def problems(text: str, seed: int, folder: Path) -> list[str]:
    sender = sending(seed, parse_config(text), most=80)
    replayed = replay_upstream(folder, text, records_of(sender.packets, START_NS, 1009))
    problems = replayed.problems()
    if replayed.drops:
        problems.append(f"dropped {replayed.drops} of good traffic")
    sent = [frame for frames in sender.expected.values() for frame in frames]
    if sorted(replayed.frames) != sorted(sent):
        problems.append("output differs from the frames sent")
    return problems


@pytest.mark.parametrize("first", FIRST_CIPHERS[::2])
def test_upstream_frames_are_decrypted(first: int, tmp_path: Path) -> None:
    text = with_ciphers(UPSTREAM, first)
    seeds = (0, 3)  # 54 and 70 frames
    assert run_parallel(lambda seed: problems(text, seed, tmp_path / str(seed)), seeds) == [[], []]


@pytest.mark.parametrize("first", FIRST_CIPHERS)
def test_upstream_decrypts_every_length(first: int, tmp_path: Path) -> None:
    """Whole frames and fragments, with both keys. The output is what was sent, padded."""
    text = with_ciphers(UPSTREAM, first)
    sender = UpstreamSender(parse_config(text), Random(first))
    for size in range(4, 104):
        for index, stream in enumerate(sender.streams()):
            sender.send(stream, ethernet(LOOPBACK, bytes([index, size]) * (size // 2)))
        if size % 7 == 0:
            sender.flush()
    sender.flush()
    replayed = replay_upstream(tmp_path, text, records_of(sender.packets, START_NS, 1009))
    assert replayed.problems() == []
    assert replayed.drops == {}
    for sent in sender.expected.values():
        frames = [frame.ljust(SHORTEST, b"\0") for frame in sent]
        expected = set(frames)
        assert [frame for frame in replayed.frames if frame in expected] == frames
    assert sender.fragments > 50


def roll_changes(said: int, cipher: str, number: int) -> list[Change]:
    """The changes of one key roll with a new key for this cipher."""
    at, (key, iv) = MS + 777 + number * 500_000, SIZES[cipher]
    return [
        change(
            at, "key.install", said=said, key=f"{number:02x}" * key, iv=f"{number + 8:02x}" * iv
        ),
        change(at + 150_001, "key.use", said=said),
        change(at + 300_001, "key.remove", said=said),
    ]


@pytest.mark.parametrize("cipher", ["aes-256", "des"])
def test_rolled_keys_match_witness(cipher: str, tmp_path: Path) -> None:
    """The load fills the channels. The witness decrypts each frame with the key of its time."""
    config: Json = load_tree(TEXT)
    roll_security = security("1", cipher)
    config["modems"][0]["security"] = {
        name: value for name, value in roll_security.items() if "next" not in name
    }
    sent = burst("10.0.0.1", 1000) + [
        record for n in range(50) for record in burst("10.0.0.1", 1, (n + 1) * 100_000)
    ]
    changes = [step for number in range(3) for step in roll_changes(1, cipher, number)]
    replayed = replay_changes(tmp_path, json.dumps(config), sent, changes)
    assert DownstreamProof(replayed).check() == 0
    assert not any("error" in answer for answer in replayed.answers)


def test_cipher_can_be_changed(tmp_path: Path) -> None:
    """Four changes while frames are queued, each with another key. A key of the wrong length for
    the cipher is refused and has no effect."""
    sent = burst("10.0.0.1", 1000) + [
        record for n in range(50) for record in burst("10.0.0.1", 1, (n + 1) * 100_000)
    ]
    mac = {"mac": "02:01:00:00:00:01"}
    changes = [
        change(MS + number * 900_000, "modem.set", modem=mac | {"security": cipher_change(cipher)})
        for number, cipher in enumerate(("aes-256", "des", "none", "aes-128"))
    ]
    invalid = mac | {"security": {"cipher": "des", "key": "00" * 16}}
    changes.append(change(5 * MS, "modem.set", modem=invalid))
    replayed = replay_changes(tmp_path, TEXT, sent, changes, status=2)
    assert DownstreamProof(replayed).check() == 0
    assert ["error" in answer for answer in replayed.answers[1::2]] == [False] * 4 + [True]
