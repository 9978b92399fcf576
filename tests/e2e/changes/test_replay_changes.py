# SPDX-License-Identifier: BSD-3-Clause
"""Objects that change in the midst of a downstream capture: each packet meets what is in service
when it comes, and what has nothing to do with the change notices nothing."""

import json
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from e2e.changes.changed import MS, Json, change, replay_changed
from e2e.changes.fates import Proof
from e2e.frames import udp_frame
from e2e.running import SMALL
from e2e.traffic import START_NS, generate, spread
from vcmts.witness.config import load_config, load_tree
from vcmts.witness.pcapfile import Record, records_of

pytestmark = pytest.mark.replay

TEXT = SMALL.read_text()
CONFIG = load_config(SMALL)
FILE: Json = load_tree(TEXT)
T = 4 * MS + 3
LATER = 7 * MS + 5
FLUSH_NS = 50_000
STEP_NS = 10_000
ANY: list[Json] = [{"family": "ipv4", "action": "permit"}]


def modem(number: int) -> Json:
    found: Json = FILE["modems"][number - 1]
    return found


def traffic(seed: int, count: int = 700, broken: float = 0.05) -> list[Record]:
    return spread(generate(CONFIG, seed, count, broken), seed)


def mac(number: int) -> bytes:
    return CONFIG.modems[number - 1].mac


IDLE = {
    "a modem": [change(T, "modem.remove", modem={"mac": "02:01:00:00:00:06"})],
    "a modem and back": [
        change(T, "modem.remove", modem={"mac": "02:01:00:00:00:06"}),
        change(LATER, "modem.add", modem=modem(6)),
    ],
    "its key": [
        change(T, "key.install", said=6, key="11" * 16, iv="22" * 16),
        change(LATER, "key.use", said=6),
        change(LATER + 1, "key.remove", said=6),
    ],
    "its rates": [
        change(
            T,
            "modem.set",
            modem={"mac": "02:01:00:00:00:06", "max_aggregate_rate": "1 Mbps", "cpe_limit": 1},
        )
    ],
    "its rules": [change(T, "filter_group.set", filter_group={"id": 3, "rules": ANY})],
    "refused": [
        change(T, "modem.add", modem=modem(1)),
        change(T + 1, "channel.remove", channel={"id": 11}),
        change(LATER, "key.use", said=5),
        change(LATER + 1, "group.remove"),
    ],
}


def is_for_the_last_modem(frame: bytes) -> bool:
    """With a priority tag or without."""
    if frame[12:14] == b"\x81\x00":
        frame = frame[:12] + frame[16:]
    ipv4 = IPv4Address("10.0.0.21").packed
    return (
        ipv4 in (frame[30:34], frame[38:42])
        or frame[38:54] == CONFIG.modems[5].addresses[1].packed
        or frame[:6] == mac(6)
    )


@pytest.mark.parametrize("name", IDLE)
def test_not_a_byte_differs_for_others(name: str, tmp_path: Path) -> None:
    """Where nothing is sent to who changes, the whole capture is the same, times included."""
    sent = [record for record in traffic(3, broken=0) if not is_for_the_last_modem(record.data)]
    without = replay_changed(tmp_path / "0", TEXT, sent)
    status = 2 if name == "refused" else 0
    changed = replay_changed(tmp_path / "1", TEXT, sent, IDLE[name], status=status)
    assert (without.folder / "out.pcap").read_bytes() == (changed.folder / "out.pcap").read_bytes()
    assert without.counts("downstream", "counters") == changed.counts("downstream", "counters")
    assert without.counts("downstream", "drops") == changed.counts("downstream", "drops")
    assert len(without.out) > 100
    refused = [a for a in changed.answers if "error" in a]
    assert len(refused) == (len(IDLE[name]) if name == "refused" else 0)
    assert len(changed.ended.messages) == len(refused), changed.ended.messages


def burst(address: str, count: int, at: int = 0) -> list[Record]:
    frames = [udp_frame(IPv4Address(address), 1000, n) for n in range(count)]
    return records_of(frames, START_NS + at, 0)


@pytest.mark.parametrize(("count", "gone"), [(100, False), (4000, True)])
def test_a_queue_goes(count: int, gone: bool, tmp_path: Path) -> None:
    """What half a second of its rate does not carry is counted, and nothing else is lost."""
    sent = burst("10.0.0.9", count) + burst("10.0.0.9", 7, T + MS) + burst("10.0.0.9", 1, 999 * MS)
    sent += burst("10.0.0.13", 1, 999 * MS)
    changes = [change(T, "modem.remove", modem={"mac": modem(3)["mac"]})]
    replayed = replay_changed(tmp_path, TEXT, sent, changes)
    lost = Proof(replayed).check()
    drops = replayed.counts("downstream", "drops")
    assert (lost > 0) is gone
    assert drops.pop("service_flow_removed", 0) == lost
    assert drops == {"unknown_destination": 8}
    assert replayed.stats["downstream"]["transmitted"] == count - lost + 1
    # 37.5 Mbps for half a second
    assert not gone or 1900 < count - lost < 2400
    answer = replayed.answers[1]
    assert answer["result"]["done"] == "1 modem removed"
    waited = answer["done_ns"] - answer["begun_ns"]
    assert 500 * MS <= waited < 502 * MS if gone else 15 * MS < waited < 30 * MS


def test_a_file_does_what_calls_do(tmp_path: Path) -> None:
    """--then with one that differs in several objects, and with the first one again."""
    other = json.loads(json.dumps(FILE))
    del other["modems"][5]
    other["filter_groups"][1]["rules"] = ANY
    other["modems"][0]["service_flows"][0]["priority"] = "4"
    path = tmp_path / "other.yaml"
    path.write_text(json.dumps(other))
    get = change(T + MS, "config.get", keys=True)
    more = ("--then", f"{T} ns={path}", "--then", f"{LATER} ns={tmp_path / 'sg.yaml'}")
    replayed = replay_changed(
        tmp_path, TEXT, traffic(9), [get, change(LATER + 2, "config.reload")], more=more
    )
    proof = Proof(replayed)
    assert proof.check() == 0
    assert [len(config.modems) for config in (proof.configs[0], *proof.configs[-1:])] == [6, 6]
    assert min(len(config.modems) for config in proof.configs) == 5
    said = [line for line in replayed.ended.messages if "read again" in line]
    assert len(said) == 3 and said[2].endswith("read again: nothing changed")
