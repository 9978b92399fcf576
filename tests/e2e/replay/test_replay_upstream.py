# SPDX-License-Identifier: BSD-3-Clause
"""Upstream captures replayed: what comes out, and under which names the rest is counted, is what
the independent model says."""

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from random import Random

import pytest

from e2e.traffic import START_NS
from e2e.upstream import (
    ROOM,
    WITHOUT_CONTROL,
    UpstreamReplay,
    at_once,
    replay_upstream,
    vary_upstream,
)
from vcmts.witness.config import parse_config
from vcmts.witness.ip import SHORTEST
from vcmts.witness.pcapfile import Record, read_pcap, records_of
from witness import frame_cases, packet_cases, segment_cases
from witness.hostile import hostile_records
from witness.rig import Case, Rig
from witness.sample import UPSTREAM
from witness.upstream_traffic import (
    impair_by_copies,
    impair_by_flips,
    impair_by_loss,
    impair_by_order,
    sending,
)

pytestmark = pytest.mark.replay

# From packet to packet; the last is near a timeout. None ends at the same moment as a timeout, as
# nothing says which comes first.
GAPS_NS = [0, 1_009, 100_003, 3_000_017]
MOST = 80  # frames of a capture
LONG_SEEDS = (0, 3, 5)  # 54, 70 and 46 frames; those between send 8 to 14
TABLES = {
    "packets": packet_cases.case.cases,
    "segments": segment_cases.case.cases,
    "frames": frame_cases.case.cases,
}
VARIANTS = {
    "as it comes": UPSTREAM,
    "numbered by session": vary_upstream("verify_crc: true, psp_numbering: session"),
    "IPv6, without CRC": vary_upstream("verify_crc: false", ipv6=True),
    "IPv6, numbered by session, any source": vary_upstream(
        "verify_crc: true, verify_source: false, psp_numbering: session", ipv6=True
    ),
}


def none(problems: Sequence[tuple[object, list[str]]]) -> None:
    """Nobody has anything to say; shows who has."""
    assert [(what, said) for what, said in problems if said] == []


# What was counted by hand


def case_problems(case: Case, folder: Path) -> list[str]:
    rig = Rig()
    case.build(rig)
    replayed = replay_upstream(folder, UPSTREAM, rig.records)
    counters = replayed.stats["upstream"]["counters"]
    counted = {name: counters[name] for name in case.counters}
    problems = replayed.problems()
    if replayed.drops != dict(case.drops):
        problems.append(f"dropped {replayed.drops}, by hand {dict(case.drops)}")
    if counted != dict(case.counters):
        problems.append(f"counted {counted}, by hand {dict(case.counters)}")
    return problems


@pytest.mark.parametrize("cases", TABLES.values(), ids=list(TABLES))
def test_counted_by_hand(cases: Sequence[Case], tmp_path: Path) -> None:
    assert len({case.name for case in cases}) == len(cases) > 15
    said = at_once(lambda case: case_problems(case, tmp_path / case.name), cases)
    none([(case.name, problems) for case, problems in zip(cases, said, strict=True)])


# Good traffic


def good_problems(text: str, seed: int, gap_ns: int, udp: bool, folder: Path) -> list[str]:
    """Everything comes out, whatever the cuts; the model is not even asked for that."""
    sender = sending(seed, parse_config(text), most=MOST, udp=udp)
    sent = records_of(sender.packets, START_NS, gap_ns)
    replayed = replay_upstream(folder, text, sent)
    problems = replayed.problems()
    if replayed.drops or replayed.stats["upstream"]["held"]:
        problems.append(f"dropped {replayed.drops} of good traffic")
    if replayed.management != [m.ljust(SHORTEST, b"\0") for m in sender.management]:
        problems.append("other management messages than were sent")
    if sorted(replayed.frames) != sorted(chain.from_iterable(sender.expected.values())):
        problems.append("other frames than were sent")
    for stream, frames in sender.expected.items():
        mine = set(frames)
        if [frame for frame in replayed.frames if frame in mine] != frames:
            problems.append(f"other order than was sent in {stream}")
    return problems


@pytest.mark.parametrize("text", VARIANTS.values(), ids=list(VARIANTS))
def test_good_traffic_comes_out(text: str, tmp_path: Path) -> None:
    turn = list(VARIANTS.values()).index(text)
    runs = [
        (seed, gap_ns, (number + turn) % 2 == 1)
        for number, (seed, gap_ns) in enumerate(zip(LONG_SEEDS, GAPS_NS, strict=False))
    ]
    said = at_once(lambda run: good_problems(text, *run, tmp_path / str(run[0])), runs)
    none(list(zip(runs, said, strict=True)))


def test_same_input_same_bytes(tmp_path: Path) -> None:
    config = parse_config(UPSTREAM)
    sent = hostile_records(config, Random(4), 100)
    one, two = at_once(
        lambda name: replay_upstream(tmp_path / name, UPSTREAM, sent), ("one", "two")
    )
    for name in ("ip.pcap", "mmm.pcap", "stats.json"):
        assert (one.folder / name).read_bytes() == (two.folder / name).read_bytes()
    assert one.ended.stdout == two.ended.stdout
    assert len(one.frames) > 50 and one.management


def test_time_is_that_of_the_capture(tmp_path: Path) -> None:
    """Frames leave when the packet came that completed them."""
    sender = sending(5, parse_config(UPSTREAM), most=80)
    sent = records_of(sender.packets, START_NS, 1_000)
    replayed = replay_upstream(tmp_path, UPSTREAM, sent)
    times = [record.time_ns for record in read_pcap(tmp_path / "ip.pcap").records]
    assert times == sorted(times) and len(set(times)) > 5
    assert set(times) <= {record.time_ns for record in sent}
    assert replayed.problems() == []


@pytest.mark.parametrize("file", [True, False], ids=["file", "no file"])
@pytest.mark.parametrize("text", [UPSTREAM, WITHOUT_CONTROL], ids=["port", "no port"])
def test_the_file_decides_on_the_control_port(text: str, file: bool, tmp_path: Path) -> None:
    sender = sending(8, parse_config(text), most=80)
    replayed = replay_upstream(tmp_path, text, records_of(sender.packets), control=file)
    assert replayed.problems() == []
    messages = len(sender.management)
    assert messages > 0 and len(replayed.management) == (messages if file else 0)
    assert replayed.drops == ({} if file else {"no_control_port": messages})


# Damage


IMPAIRMENTS: dict[str, Callable[[Random, Sequence[bytes]], list[bytes]]] = {
    "loss": impair_by_loss,
    "copies": impair_by_copies,
    "order": impair_by_order,
    "few flips": lambda random, packets: impair_by_flips(random, packets, 0.02),
    "flips": lambda random, packets: impair_by_flips(random, packets, 0.2),
    "flips everywhere": lambda random, packets: impair_by_flips(random, packets, 1),
    "the end": lambda random, packets: list(packets[: random.randint(1, len(packets))]),
}


def damaged(name: str, seed: int) -> list[Record]:
    random = Random(seed)
    packets = IMPAIRMENTS[name](random, sending(seed, parse_config(UPSTREAM), most=MOST).packets)
    # at one time for all, nothing would say which of two waits ends first
    gaps, turn = GAPS_NS[1:], list(IMPAIRMENTS).index(name)
    return records_of(packets, START_NS, gaps[(seed // 3 + turn) % len(gaps)])


def damage_problems(name: str, seed: int, folder: Path) -> list[str]:
    text = vary_upstream(f"verify_crc: true, {ROOM}")
    return replay_upstream(folder, text, damaged(name, seed)).problems()


@pytest.mark.parametrize("name", IMPAIRMENTS)
def test_damaged_traffic(name: str, tmp_path: Path) -> None:
    seeds = range(6) if name == "the end" else LONG_SEEDS[:2]
    said = at_once(lambda seed: damage_problems(name, seed, tmp_path / str(seed)), seeds)
    none(list(zip(seeds, said, strict=True)))


HOSTILE = {
    "all checks": f"verify_crc: true, frame_timeout: 500 ms, {ROOM}",
    "without CRC": f"verify_crc: false, psp_numbering: session, {ROOM}",
    "any source": f"verify_crc: true, verify_source: false, {ROOM}",
    "no checks": f"verify_crc: false, verify_source: false, psp_numbering: session, {ROOM}",
    "patient": f"verify_crc: true, reorder_timeout: 100 ms, frame_timeout: 2 s, {ROOM}",
}


def hostile(settings: str, seed: int, folder: Path, bursts: int = 400) -> UpstreamReplay:
    text = vary_upstream(settings)
    return replay_upstream(folder, text, hostile_records(parse_config(text), Random(seed), bursts))


@pytest.mark.parametrize("settings", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_traffic(settings: str, tmp_path: Path) -> None:
    seeds = range(2)
    replays = at_once(lambda seed: hostile(settings, seed, tmp_path / str(seed)), seeds)
    none([(seed, replays[seed].problems()) for seed in seeds])
    assert all(len(replayed.drops) > 20 for replayed in replays)
    assert all(len(replayed.frames) > 50 for replayed in replays)
