# SPDX-License-Identifier: BSD-3-Clause
"""Replays upstream captures: cases counted by hand, valid, damaged and hostile traffic. Output and
counters must match the independent model."""

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from random import Random

import pytest

from e2e.traffic import START_NS
from e2e.upstream import (
    BUFFERS,
    WITHOUT_CONTROL,
    UpstreamReplay,
    replay_upstream,
    run_parallel,
    upstream_config,
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

# Between packets; the last one is near a timeout. No sum of gaps equals a timeout, as the order of
# packet and timeout would be undefined.
GAPS_NS = [0, 1_009, 100_003, 3_000_017]
FRAMES = 80  # per capture
LONG_SEEDS = (0, 3, 5)  # 54, 70 and 46 frames; other seeds give 8 to 14
TABLES = {
    "packets": packet_cases.case.cases,
    "segments": segment_cases.case.cases,
    "frames": frame_cases.case.cases,
}
VARIANTS = {
    "sample": UPSTREAM,
    "numbered by session": upstream_config("verify_crc: true, psp_numbering: session"),
    "IPv6, without CRC": upstream_config("verify_crc: false", ipv6=True),
    "IPv6, numbered by session, any source": upstream_config(
        "verify_crc: true, verify_source: false, psp_numbering: session", ipv6=True
    ),
}


def assert_none(problems: Sequence[tuple[object, list[str]]]) -> None:
    """Asserts that no list of problems has an entry."""
    assert [(source, texts) for source, texts in problems if texts] == []


# Cases counted by hand


def case_problems(case: Case, folder: Path) -> list[str]:
    rig = Rig()
    case.build(rig)
    replayed = replay_upstream(folder, UPSTREAM, rig.records)
    counters = replayed.stats["upstream"]["counters"]
    counted = {name: counters[name] for name in case.counters}
    problems = replayed.problems()
    if replayed.drops != dict(case.drops):
        problems.append(f"dropped {replayed.drops}, expected {dict(case.drops)}")
    if counted != dict(case.counters):
        problems.append(f"counted {counted}, expected {dict(case.counters)}")
    return problems


@pytest.mark.parametrize("cases", TABLES.values(), ids=list(TABLES))
def test_cases_match_manual_counts(cases: Sequence[Case], tmp_path: Path) -> None:
    assert len({case.name for case in cases}) == len(cases) > 15
    results = run_parallel(lambda case: case_problems(case, tmp_path / case.name), cases)
    assert_none([(case.name, problems) for case, problems in zip(cases, results, strict=True)])


# Valid traffic


def valid_problems(text: str, seed: int, gap_ns: int, udp: bool, folder: Path) -> list[str]:
    """Replays valid traffic, and compares the output with what was sent, and with the model."""
    sender = sending(seed, parse_config(text), most=FRAMES, udp=udp)
    sent = records_of(sender.packets, START_NS, gap_ns)
    replayed = replay_upstream(folder, text, sent)
    problems = replayed.problems()
    if replayed.drops or replayed.stats["upstream"]["held"]:
        problems.append(f"dropped {replayed.drops} of good traffic")
    if replayed.management != [m.ljust(SHORTEST, b"\0") for m in sender.management]:
        problems.append("management messages differ from those sent")
    if sorted(replayed.frames) != sorted(chain.from_iterable(sender.expected.values())):
        problems.append("frames differ from those sent")
    for stream, frames in sender.expected.items():
        sent_frames = set(frames)
        if [frame for frame in replayed.frames if frame in sent_frames] != frames:
            problems.append(f"stream {stream}: order differs from that sent")
    return problems


@pytest.mark.parametrize("text", VARIANTS.values(), ids=list(VARIANTS))
def test_valid_traffic_is_transmitted(text: str, tmp_path: Path) -> None:
    variant = list(VARIANTS.values()).index(text)
    runs = [
        (seed, gap_ns, (number + variant) % 2 == 1)
        for number, (seed, gap_ns) in enumerate(zip(LONG_SEEDS, GAPS_NS, strict=False))
    ]
    results = run_parallel(lambda run: valid_problems(text, *run, tmp_path / str(run[0])), runs)
    assert_none(list(zip(runs, results, strict=True)))


def test_same_input_gives_same_bytes(tmp_path: Path) -> None:
    config = parse_config(UPSTREAM)
    sent = hostile_records(config, Random(4), 100)
    one, two = run_parallel(
        lambda name: replay_upstream(tmp_path / name, UPSTREAM, sent), ("one", "two")
    )
    for name in ("ip.pcap", "mmm.pcap", "stats.json"):
        assert (one.folder / name).read_bytes() == (two.folder / name).read_bytes()
    assert one.completed.stdout == two.completed.stdout
    assert len(one.frames) > 50 and one.management


def test_output_time_follows_capture(tmp_path: Path) -> None:
    """The time of a frame is that of the packet that completes it."""
    sender = sending(5, parse_config(UPSTREAM), most=80)
    sent = records_of(sender.packets, START_NS, 1_000)
    replayed = replay_upstream(tmp_path, UPSTREAM, sent)
    times = [record.time_ns for record in read_pcap(tmp_path / "ip.pcap").records]
    assert times == sorted(times) and len(set(times)) > 5
    assert set(times) <= {record.time_ns for record in sent}
    assert replayed.problems() == []


@pytest.mark.parametrize("file", [True, False], ids=["file", "no file"])
@pytest.mark.parametrize("text", [UPSTREAM, WITHOUT_CONTROL], ids=["port", "no port"])
def test_control_port_exists_with_its_file_only(text: str, file: bool, tmp_path: Path) -> None:
    sender = sending(8, parse_config(text), most=80)
    replayed = replay_upstream(tmp_path, text, records_of(sender.packets), control=file)
    assert replayed.problems() == []
    messages = len(sender.management)
    assert messages > 0 and len(replayed.management) == (messages if file else 0)
    assert replayed.drops == ({} if file else {"no_control_port": messages})


# Damaged traffic


IMPAIRMENTS: dict[str, Callable[[Random, Sequence[bytes]], list[bytes]]] = {
    "loss": impair_by_loss,
    "copies": impair_by_copies,
    "order": impair_by_order,
    "few flips": lambda random, packets: impair_by_flips(random, packets, 0.02),
    "flips": lambda random, packets: impair_by_flips(random, packets, 0.2),
    "flips everywhere": lambda random, packets: impair_by_flips(random, packets, 1),
    "the end": lambda random, packets: list(packets[: random.randint(1, len(packets))]),
}


def damaged_records(name: str, seed: int) -> list[Record]:
    random = Random(seed)
    packets = IMPAIRMENTS[name](random, sending(seed, parse_config(UPSTREAM), most=FRAMES).packets)
    # not all at one time: the order of expired timers would be undefined
    gaps, kind = GAPS_NS[1:], list(IMPAIRMENTS).index(name)
    return records_of(packets, START_NS, gaps[(seed // 3 + kind) % len(gaps)])


def damage_problems(name: str, seed: int, folder: Path) -> list[str]:
    text = upstream_config(f"verify_crc: true, {BUFFERS}")
    return replay_upstream(folder, text, damaged_records(name, seed)).problems()


@pytest.mark.parametrize("name", IMPAIRMENTS)
def test_damaged_traffic_matches_model(name: str, tmp_path: Path) -> None:
    seeds = range(6) if name == "the end" else LONG_SEEDS[:2]
    results = run_parallel(lambda seed: damage_problems(name, seed, tmp_path / str(seed)), seeds)
    assert_none(list(zip(seeds, results, strict=True)))


HOSTILE = {
    "all checks": f"verify_crc: true, frame_timeout: 500 ms, {BUFFERS}",
    "without CRC": f"verify_crc: false, psp_numbering: session, {BUFFERS}",
    "any source": f"verify_crc: true, verify_source: false, {BUFFERS}",
    "no checks": f"verify_crc: false, verify_source: false, psp_numbering: session, {BUFFERS}",
    "patient": f"verify_crc: true, reorder_timeout: 100 ms, frame_timeout: 2 s, {BUFFERS}",
}


def replay_hostile(settings: str, seed: int, folder: Path, bursts: int = 400) -> UpstreamReplay:
    text = upstream_config(settings)
    return replay_upstream(folder, text, hostile_records(parse_config(text), Random(seed), bursts))


@pytest.mark.parametrize("settings", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_traffic_matches_model(settings: str, tmp_path: Path) -> None:
    seeds = range(2)
    replays = run_parallel(lambda seed: replay_hostile(settings, seed, tmp_path / str(seed)), seeds)
    assert_none([(seed, replays[seed].problems()) for seed in seeds])
    assert all(len(replayed.drops) > 20 for replayed in replays)
    assert all(len(replayed.frames) > 50 for replayed in replays)
