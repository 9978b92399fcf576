# SPDX-License-Identifier: BSD-3-Clause
"""Objects that change in the midst of a downstream capture: each packet meets what is in service
when it comes, and what has nothing to do with the change notices nothing."""

import json
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from e2e.changes.changed import MS, ChangedReplay, Json, change, replay_changed
from e2e.changes.fates import Proof
from e2e.frames import udp_frame
from e2e.running import SMALL
from e2e.traffic import START_NS, generate, spread
from vcmts.witness.config import load_config, load_tree
from vcmts.witness.pcapfile import Record, records_of
from witness.epochs import sequence_of

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


def text_without(number: int) -> str:
    modems = [item for item in FILE["modems"] if item is not modem(number)]
    return json.dumps(FILE | {"modems": modems})


def traffic(seed: int, count: int = 700, broken: float = 0.05) -> list[Record]:
    return spread(generate(CONFIG, seed, count, broken), seed)


def mac(number: int) -> bytes:
    return CONFIG.modems[number - 1].mac


def plain_frames(replayed: ChangedReplay, but: bytes) -> dict[bytes, list[Any]]:
    """Of each other modem, frame by frame: when it came, on which channel, what it was."""
    found: dict[bytes, list[Any]] = {}
    for placed in replayed.decoded.frames:
        record = placed.record
        assert record.modem is not None
        if record.modem.mac != but:
            of_modem = found.setdefault(record.modem.mac, [])
            of_modem.append((record.time_ns, record.session, record.header, record.ethernet))
    return found


def by_flow(frames: list[Any]) -> dict[Any, list[bytes]]:
    """By DSID: what came, in the order of its numbers. By priority and protocol where there is
    none."""
    found: dict[Any, list[Any]] = {}
    for _, _, header, ethernet in frames:
        service = header.elements[1]
        at = 23 if ethernet[12:14] == b"\x08\x00" else 20
        protocol = ethernet[at : at + 1].hex()  # none of what is too short
        key = service.dsid
        if key is None:
            key = f"priority {service.priority}, protocol {protocol}"
        found.setdefault(key, []).append((service.sequence or 0, ethernet))
    return {
        key: [e for _, e in (sorted(came, key=lambda c: c[0]) if isinstance(key, int) else came)]
        for key, came in found.items()
    }


# Modems


def test_a_modem_comes(tmp_path: Path) -> None:
    sent = traffic(1)
    replayed = replay_changed(
        tmp_path, text_without(6), sent, [change(T, "modem.add", modem=modem(6))]
    )
    assert Proof(replayed).check() == 0
    mine = replayed.decoded.of_modem(mac(6))
    assert len(mine) > 30
    assert sorted(sequence_of(frame) for frame in mine) == list(range(len(mine)))
    assert {frame.epoch for frame in mine} == {1}
    assert replayed.counts("downstream", "drops")["unknown_destination"] > 10


def alone(text: str) -> str:
    """Channels that are never short of room, so that no modem waits for another one."""
    return text.replace("42.24 Mbps", "1.2 Gbps").replace("37.5 Mbps", "1.2 Gbps")


def test_others_notice_nothing(tmp_path: Path) -> None:
    """Nor does it matter to which modem a packet was that nobody gets."""
    sent = traffic(2)
    without = replay_changed(tmp_path / "0", alone(text_without(6)), sent)
    changes = [change(T, "modem.add", modem=modem(6))]
    changed = replay_changed(tmp_path / "1", alone(text_without(6)), sent, changes)
    before, after = plain_frames(without, mac(6)), plain_frames(changed, mac(6))
    assert set(before) == set(after) and len(before) == 5
    for who, frames in before.items():
        assert by_flow(frames) == by_flow(after[who])
    until = START_NS + T - STEP_NS
    records = [[r for r in x.out if r.time_ns < until] for x in (without, changed)]
    assert records[0] == records[1] and len(records[0]) > 20


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


def test_a_queue_keeps_its_steps(tmp_path: Path) -> None:
    """Somebody else's change does not move the times at which what waits goes out."""
    sent = burst("10.0.0.9", 300)
    gone = change(T, "modem.remove", modem={"mac": modem(6)["mac"]})
    plain = replay_changed(tmp_path / "0", TEXT, sent)
    changed = replay_changed(tmp_path / "1", TEXT, sent, [gone])
    assert plain.out == changed.out and plain.out[-1].time_ns > START_NS + LATER


@pytest.mark.parametrize("seed", range(3))
def test_a_modem_goes(seed: int, tmp_path: Path) -> None:
    gone = change(T, "modem.remove", modem={"mac": modem(6)["mac"]})
    replayed = replay_changed(tmp_path, TEXT, traffic(seed), [gone])
    assert Proof(replayed).check() == 0
    assert len(replayed.decoded.of_modem(mac(6))) > 5
    assert all(frame.epoch == 0 for frame in replayed.decoded.of_modem(mac(6)))


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


def test_a_modem_goes_and_comes_back(tmp_path: Path) -> None:
    """Its numbers begin again, and its key is the new one."""
    new = modem(6) | {"security": modem(6)["security"] | {"key": "ab" * 16, "key_sequence": 3}}
    changes = [
        change(T, "modem.remove", modem={"mac": modem(6)["mac"]}),
        change(LATER, "modem.add", modem=new),
    ]
    replayed = replay_changed(tmp_path, TEXT, traffic(5, 900), changes)
    proof = Proof(replayed)
    assert proof.check() == 0
    assert {stream for stream in proof.streams if stream[0] == 0x60} == {(0x60, 0), (0x60, 1)}
    assert {f.epoch for f in proof.streams[0x60, 0]} == {0}
    assert {f.epoch for f in proof.streams[0x60, 1]} == {2}


def test_an_address_moves(tmp_path: Path) -> None:
    """From one modem to another one, between two packets."""
    changes = [
        change(T, "modem.set", modem={"mac": modem(6)["mac"], "addresses": ["2001:db8:0:6::1"]}),
        change(
            T + 2,
            "modem.set",
            modem={"mac": modem(4)["mac"], "addresses": ["10.0.0.13", "10.0.0.21"]},
        ),
    ]
    sent = traffic(6) + burst("10.0.0.21", 20, 20 * MS)
    replayed = replay_changed(tmp_path, TEXT, sent, changes)
    assert Proof(replayed).check() == 0
    assert len([f for f in replayed.decoded.of_modem(mac(4)) if f.epoch == 2]) > 20


# Rules, classifiers, priorities, rates, limits


def flow_set(number: int, flow: int, **keys: Any) -> Json:
    return {"modem": {"mac": modem(number)["mac"], "service_flows": {str(flow): keys}}}


RULES = {
    "deny all": ("filter_group.set", {"filter_group": {"id": 2, "rules": [
        {"family": "ipv4", "action": "deny"}, {"family": "ipv6", "action": "deny"}]}}),
    "no rule of use": ("filter_group.set", {"filter_group": {"id": 2, "rules": ANY}}),
    "turned round": ("filter_group.replace", {"filter_group": {
        "id": 1, "rules": list(reversed(FILE["filter_groups"][0]["rules"]))}}),
    "other groups": ("modem.set", {"modem": {"mac": modem(1)["mac"], "filter_groups": [3, 2, 1]}}),
    "no groups": ("modem.set", {"modem": {"mac": modem(1)["mac"], "filter_groups": []}}),
    "classifiers": ("modem.set", {"modem": {"mac": modem(1)["mac"], "classifiers": [
        {"family": "ipv4", "protocol": "udp", "service_flow": 104},
        {"family": "ipv6", "service_flow": 103}]}}),
    "no classifiers": ("modem.set", {"modem": {"mac": modem(1)["mac"], "classifiers": []}}),
    "priority": ("modem.set", flow_set(1, 101, priority=5)),
    "priority without DSID": ("modem.set", flow_set(3, 301, priority=2)),
    "rate": ("modem.set", flow_set(1, 101, max_sustained_rate="20 Mbps", priority=2)),
    "CPE limit": ("modem.set", {"modem": {"mac": modem(2)["mac"], "cpe_limit": 5}}),
    "bonding group": ("modem.set", {"modem": {"mac": modem(1)["mac"], "bonding_group": 5}}),
    "group limit": ("group.set", {"values": {"rate_limit": "100 Mbps"}}),
    "channel rate": ("channel.set", {"channel": {"id": 22, "rate": "20 Mbps"}}),
    "channel of a group": ("bonding_group.set", {"bonding_group": {"id": 1, "channels": [11]}}),
    "more channels": ("bonding_group.set", {"bonding_group": {"id": 1, "channels": [11, 12, 13]}}),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_rules_and_limits(name: str, tmp_path: Path) -> None:
    method, params = RULES[name]
    replayed = replay_changed(tmp_path, TEXT, traffic(8, 900), [change(T, method, **params)])
    proof = Proof(replayed)
    assert proof.configs[0] != proof.configs[1] or "rate" in name or "limit" in name
    assert proof.check() == 0
    assert {0, 1} == {replayed.epoch_of(record) for record in replayed.sent}


def test_a_rate_holds_from_its_time_on(tmp_path: Path) -> None:
    """No buckets of the old rate remain: of a queue that stands, half a second's worth of bytes."""
    sent = burst("10.0.0.21", 3000)
    rate = change(
        MS, "modem.set", **flow_set(6, 601, max_sustained_rate="8 Mbps", max_traffic_burst="3 kB")
    )
    replayed = replay_changed(tmp_path, TEXT, sent, [rate])
    assert Proof(replayed).check() == 0
    first, last = START_NS + 101 * MS, START_NS + 601 * MS
    carried = [f for f in replayed.decoded.frames if first <= f.record.time_ns < last]
    assert 495 <= len(carried) <= 505  # 1,000 bytes each, CRC and all: 1 Mbyte a second


# Channels


def test_a_channel_comes_and_goes(tmp_path: Path) -> None:
    """It is used as long as it is in the group."""
    changes = [
        change(
            T, "channel.add", channel={"id": 31, "type": "ofdm", "rate": "1 Gbps", "session": 77}
        ),
        change(T + 3, "bonding_group.set", bonding_group={"id": 1, "channels": [11, 12, 31]}),
        change(LATER, "bonding_group.set", bonding_group={"id": 1, "channels": [11, 12]}),
        change(LATER + 3, "channel.remove", channel={"id": 31}),
        change(LATER + MS, "channel.set", channel={"id": 12, "session": 4242}),
    ]
    sent = [r for n in range(30) for r in burst("10.0.0.1", 50, n * 400_000 + 1)]
    replayed = replay_changed(tmp_path, TEXT, sent, changes)
    assert Proof(replayed).check() == 0
    times = {
        session: [
            f.record.time_ns - START_NS
            for f in replayed.decoded.frames
            if f.record.session == session
        ]
        for session in (77, 0xFFFFFFFE, 4242)
    }
    wait = FLUSH_NS + STEP_NS + MS  # and what was given ahead to the channel
    assert min(times[77]) >= T and max(times[77]) <= LATER + wait and len(times[77]) > 20
    assert max(times[0xFFFFFFFE]) <= LATER + MS + wait
    assert min(times[4242]) >= LATER + MS - STEP_NS and len(times[4242]) > 20


def test_a_channel_of_nobody(tmp_path: Path) -> None:
    """Others have the same frames with the same numbers. Not the same times: all groups look at
    their channels, and what was about to go may do so a step earlier."""
    sent = traffic(3)
    changes = [
        change(
            T, "channel.add", channel={"id": 31, "type": "ofdm", "rate": "1 Gbps", "session": 77}
        ),
        change(LATER, "bonding_group.add", bonding_group={"id": 9, "channels": [31]}),
    ]
    without = replay_changed(tmp_path / "0", TEXT, sent)
    changed = replay_changed(tmp_path / "1", TEXT, sent, changes)
    assert Proof(changed).check() == 0
    before, after = plain_frames(without, b""), plain_frames(changed, b"")
    assert len(before) == 6
    assert {who: by_flow(frames) for who, frames in before.items()} == {
        who: by_flow(frames) for who, frames in after.items()
    }


# Files


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


def test_same_files_same_bytes(tmp_path: Path) -> None:
    changes = [change(T, *RULES[name][:1], **RULES[name][1]) for name in RULES]
    one, two = (replay_changed(tmp_path / n, TEXT, traffic(4), changes) for n in ("one", "two"))
    for name in ("out.pcap", "stats.json", "answers.json"):
        assert (one.folder / name).read_bytes() == (two.folder / name).read_bytes()
    assert one.ended == two.ended
