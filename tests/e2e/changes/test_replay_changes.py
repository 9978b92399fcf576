# SPDX-License-Identifier: BSD-3-Clause
"""Changes of single objects during a downstream replay. Each packet gets the configuration in
service when it is received, and packets of other modems are not affected."""

import json
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from e2e.changes.downstream_proof import DownstreamProof
from e2e.changes.replay import MS, Json, change, replay_changes
from e2e.frames import udp_frame
from e2e.running import SMALL
from e2e.traffic import START_NS, generate, with_times
from vcmts.witness.config import load_config, load_tree
from vcmts.witness.pcapfile import Record, records_of

pytestmark = pytest.mark.replay

TEXT = SMALL.read_text()
CONFIG = load_config(SMALL)
FILE: Json = load_tree(TEXT)
T_NS = 4 * MS + 3  # time of the first change
LATER_NS = 7 * MS + 5  # time of the second change
FLUSH_NS = 50_000
STEP_NS = 10_000
ANY: list[Json] = [{"family": "ipv4", "action": "permit"}]


def modem(number: int) -> Json:
    item: Json = FILE["modems"][number - 1]
    return item


def traffic(seed: int, count: int = 700, broken: float = 0.05) -> list[Record]:
    return with_times(generate(CONFIG, seed, count, broken), seed)


def mac(number: int) -> bytes:
    return CONFIG.modems[number - 1].mac


# Changes of a modem without packets, by their name.
IDLE_MODEM_CHANGES = {
    "modem removed": [change(T_NS, "modem.remove", mac="02:01:00:00:00:06")],
    "modem removed and added": [
        change(T_NS, "modem.remove", mac="02:01:00:00:00:06"),
        change(LATER_NS, "modem.add", modem=modem(6)),
    ],
    "key rolled": [
        change(T_NS, "key.install", said=6, key="11" * 16, iv="22" * 16),
        change(LATER_NS, "key.use", said=6),
        change(LATER_NS + 1, "key.remove", said=6),
    ],
    "limits changed": [
        change(
            T_NS,
            "modem.set",
            modem={"mac": "02:01:00:00:00:06", "max_aggregate_rate": "1 Mbps", "cpe_limit": 1},
        )
    ],
    "rules changed": [change(T_NS, "filter_group.set", filter_group={"id": 3, "rules": ANY})],
    "refused": [
        change(T_NS, "modem.add", modem=modem(1)),
        change(T_NS + 1, "channel.remove", id=11),
        change(LATER_NS, "key.use", said=5),
        change(LATER_NS + 1, "group.remove"),
    ],
}


def is_for_last_modem(frame: bytes) -> bool:
    """Whether the frame, with or without a priority tag, has an address of modem 6."""
    if frame[12:14] == b"\x81\x00":
        frame = frame[:12] + frame[16:]
    ipv4 = IPv4Address("10.0.0.21").packed
    return (
        ipv4 in (frame[30:34], frame[38:42])
        or frame[38:54] == CONFIG.modems[5].addresses[1].packed
        or frame[:6] == mac(6)
    )


@pytest.mark.parametrize("name", IDLE_MODEM_CHANGES)
def test_change_of_idle_modem_leaves_output_unchanged(name: str, tmp_path: Path) -> None:
    """Changes of a modem without packets do not change the output capture or its timestamps."""
    sent = [record for record in traffic(3, broken=0) if not is_for_last_modem(record.data)]
    without = replay_changes(tmp_path / "0", TEXT, sent)
    status = 2 if name == "refused" else 0
    changed = replay_changes(tmp_path / "1", TEXT, sent, IDLE_MODEM_CHANGES[name], status=status)
    assert (without.folder / "out.pcap").read_bytes() == (changed.folder / "out.pcap").read_bytes()
    assert without.counts("downstream", "counters") == changed.counts("downstream", "counters")
    assert without.counts("downstream", "drops") == changed.counts("downstream", "drops")
    assert len(without.out) > 100
    refused = [a for a in changed.answers if "error" in a]
    assert len(refused) == (len(IDLE_MODEM_CHANGES[name]) if name == "refused" else 0)
    assert len(changed.completed.messages) == len(refused), changed.completed.messages


def burst(address: str, count: int, at: int = 0) -> list[Record]:
    """Packets of one instant, `at` ns after START_NS."""
    frames = [udp_frame(IPv4Address(address), 1000, n) for n in range(count)]
    return records_of(frames, START_NS + at, 0)


@pytest.mark.parametrize(("count", "drops_packets"), [(100, False), (4000, True)])
def test_removed_flow_drains_its_queue(count: int, drops_packets: bool, tmp_path: Path) -> None:
    """A removed flow transmits its queue for up to 500 ms. The remaining packets are dropped with
    reason service_flow_removed; no other packet is lost."""
    sent = (
        burst("10.0.0.9", count) + burst("10.0.0.9", 7, T_NS + MS) + burst("10.0.0.9", 1, 999 * MS)
    )
    sent += burst("10.0.0.13", 1, 999 * MS)
    changes = [change(T_NS, "modem.remove", mac=modem(3)["mac"])]
    replay = replay_changes(tmp_path, TEXT, sent, changes)
    removed = DownstreamProof(replay).check()
    drops = replay.counts("downstream", "drops")
    assert (removed > 0) is drops_packets
    assert drops.pop("service_flow_removed", 0) == removed
    assert drops == {"unknown_destination": 8}
    assert replay.stats["downstream"]["transmitted"] == count - removed + 1
    # 37.5 Mbps for 500 ms
    assert not drops_packets or 1900 < count - removed < 2400
    answer = replay.answers[1]
    assert answer["result"]["done"] == "1 modem removed"
    took_ns = answer["done_ns"] - answer["begun_ns"]
    assert 500 * MS <= took_ns < 502 * MS if drops_packets else 15 * MS < took_ns < 30 * MS


def test_configuration_files_apply_as_calls_do(tmp_path: Path) -> None:
    """--then with a file that differs in several objects, and then with the first file."""
    other = json.loads(json.dumps(FILE))
    del other["modems"][5]
    other["filter_groups"][1]["rules"] = ANY
    other["modems"][0]["service_flows"][0]["priority"] = "4"
    path = tmp_path / "other.yaml"
    path.write_text(json.dumps(other))
    get = change(T_NS + MS, "config.get", keys=True)
    options = ("--then", f"{T_NS} ns={path}", "--then", f"{LATER_NS} ns={tmp_path / 'sg.yaml'}")
    replay = replay_changes(
        tmp_path, TEXT, traffic(9), [get, change(LATER_NS + 2, "config.reload")], options=options
    )
    proof = DownstreamProof(replay)
    assert proof.check() == 0
    assert [len(config.modems) for config in (proof.configs[0], *proof.configs[-1:])] == [6, 6]
    assert min(len(config.modems) for config in proof.configs) == 5
    messages = [line for line in replay.completed.messages if "reloaded" in line]
    assert len(messages) == 3 and messages[2].endswith("reloaded: nothing changed")
