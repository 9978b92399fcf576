# SPDX-License-Identifier: BSD-3-Clause
"""The MAC frames of upstream bursts in tshark: segments, joined frames, concatenation, padding."""

import random
from itertools import pairwise
from pathlib import Path

import pytest

from vcmts.witness.docsis import Request, SegmentHeader, encode_request, encode_segment_header
from wireshark import uepi_packets as up
from wireshark.psp_packets import write_pcap
from wireshark.stage import Stage

GOOD = "1"  # HCS status
PORT = "udp.srcport"
SHOWN = (PORT, "docsis.hcs.status")


def capture(pcap: Path, payloads: list[bytes], *, session: int = up.DATA, subtype: int = 6) -> Path:
    """An SC-QAM burst each, in a packet of its own. Its control messages are packets 1 and 2."""
    packets = [up.upstream(n, up.sc_qam(one), session=session) for n, one in enumerate(payloads)]
    return write_pcap(pcap, [*up.told(session, subtype), *packets])


def ports(stage: Stage, pcap: Path, *options: str) -> list[list[int]]:
    """The UDP source ports of the frames shown with each burst; every HCS in them must be good."""
    rows = stage.fields(pcap, *SHOWN, options=options)[2:]
    assert {status for row in rows for status in row["docsis.hcs.status"]} <= {GOOD}
    return [[int(port) for port in row[PORT]] for row in rows]


def test_segment_header(stage: Stage, pcap: Path) -> None:
    header = SegmentHeader(0x1FF5, 5, 0x1234, 3)
    one = encode_segment_header(header) + b"end" + up.frame(100, 5000)
    two = encode_segment_header(SegmentHeader(0x1FF6, 5)) + b"\xffmiddle"
    broken = bytearray(one)
    broken[7] ^= 1
    capture(pcap, [one, two, bytes(broken)])
    start = "docsis_uepi.segment."
    names = ("pointer_valid", "pointer", "sequence", "sid_cluster", "request", "hcs", "hcs.status")
    rows = stage.fields(pcap, *(start + name for name in names))[2:]
    got = [[cells[0].replace("True", "1").replace("False", "0") for cells in row.values()]
           for row in rows]  # fmt: skip
    hcs = [f"0x{one[7]:02x}{one[6]:02x}", f"0x{two[7]:02x}{two[6]:02x}"]
    wrong = f"0x{broken[7]:02x}{broken[6]:02x}"
    assert got == [
        ["1", "3", str(0x1FF5), "5", str(0x1234), hcs[0], GOOD],
        ["0", "0", str(0x1FF6), "5", "0", hcs[1], GOOD],
        ["1", "3", str(0x1FF5), "5", str(0x1234), wrong, "0"],
    ]
    assert stage.uepi_experts(pcap)[4] == ["segment_hcs"]
    assert ports(stage, pcap) == [[5000], [], []]


@pytest.mark.parametrize("seed", range(4))
def test_frames_across_segments(stage: Stage, pcap: Path, seed: int) -> None:
    """The same stream, cut anywhere: each frame is shown once, where it is complete."""
    chance = random.Random(seed)
    frames = [up.frame(chance.choice((60, 84, 256, 1280)), 5000 + n) for n in range(40)]
    total = sum(map(len, frames))
    cuts = sorted(chance.sample(range(1, total), 30 + 20 * seed))
    payloads = up.segments_of(frames, cuts, first=8192 - 20, cluster=seed)
    capture(pcap, payloads)
    edges = [0, *cuts, total]
    ends = [sum(map(len, frames[: n + 1])) for n in range(len(frames))]
    expected = [
        [5000 + n for n, end in enumerate(ends) if begin < end <= stop]
        for begin, stop in pairwise(edges)
    ]
    for options in ((), ("-2",)):
        assert ports(stage, pcap, *options) == expected
        assert not any(stage.uepi_experts(pcap, *options))


def test_joined_frame_names_its_parts(stage: Stage, pcap: Path) -> None:
    one = up.frame(300, 5000)
    capture(pcap, up.segments_of([one, up.frame(90, 5001)], [3, 100, 305]))
    names = (
        "docsis_uepi.payload.joined_in",
        "docsis_uepi.joined.part",
        "docsis_uepi.joined.length",
    )
    rows = [list(row.values()) for row in stage.fields(pcap, *names, options=("-2",))[2:]]
    assert rows == [*[[["6"], [], []]] * 3, [[], ["3", "4", "5", "6"], [str(len(one))]]]


def test_segments_out_of_order(stage: Stage, pcap: Path) -> None:
    """On several channels a segment may come before its predecessors: whichever completes a frame
    shows it."""
    frames = [up.frame(200, 5000 + n) for n in range(6)]
    made = up.segments_of(frames, [150, 300, 700, 1100])
    order = [0, 3, 1, 2, 4]
    sessions = [up.DATA, up.DATA + 16, up.DATA, up.DATA, up.DATA + 16]
    sequence = {up.DATA: 0, up.DATA + 16: 0}
    packets = [*up.told(up.DATA, 6), *up.told(up.DATA + 16, 6)]
    for place, session in zip(order, sessions, strict=True):
        packets.append(up.upstream(sequence[session], up.sc_qam(made[place]), session=session))
        sequence[session] += 1
    write_pcap(pcap, packets)
    assert ports(stage, pcap)[2:] == [[], [5004], [5000], [5001, 5002, 5003], [5005]]
    assert stage.uepi_experts(pcap)[4:] == [[], ["gap"], ["late"], ["late"], []]
    apart = ("-o", "docsis_uepi.sid_per_session:TRUE")
    assert ports(stage, pcap, *apart)[2:] == [[], [5004], [5000], [5001, 5002], [5005]]
    assert not any(stage.uepi_experts(pcap, *apart))


def test_sids_and_clusters_do_not_mix(stage: Stage, pcap: Path) -> None:
    """Three streams with the same sequence numbers, segment by segment."""
    streams = []
    for n, (sid, cluster) in enumerate([(up.SID, 0), (up.SID, 1), (up.SID + 1, 0)]):
        frames = [up.frame(200, 5000 + 10 * n), up.frame(200, 5001 + 10 * n)]
        streams.append([(sid, one) for one in up.segments_of(frames, [100, 300], cluster=cluster)])
    bursts = [up.sc_qam(one, sid=sid) for turn in zip(*streams, strict=True) for sid, one in turn]
    packets = [up.upstream(n, burst) for n, burst in enumerate(bursts)]
    write_pcap(pcap, [*up.told(up.DATA, 6), *packets])
    assert ports(stage, pcap) == [[], [], [], [5000], [5010], [5020], [5001], [5011], [5021]]
    assert not any(stage.uepi_experts(pcap))


def test_lost_segment(stage: Stage, pcap: Path) -> None:
    """Frames in the gap are not shown; the stream goes on at the next pointer."""
    frames = [up.frame(200, 5000 + n) for n in range(4)]
    made = up.segments_of(frames, [100, 250, 500])
    capture(pcap, [made[0], made[2], made[3]])
    assert ports(stage, pcap) == [[], [], [5002, 5003]]
    assert stage.uepi_experts(pcap)[2:] == [[], ["gap"], []]
    rows = stage.fields(pcap, "docsis_uepi.segment.gap")[2:]
    assert [row["docsis_uepi.segment.gap"] for row in rows] == [[], ["1"], []]


def test_duplicate_and_restarted_segments(stage: Stage, pcap: Path) -> None:
    made = [up.segments_of([up.frame(90, 5000 + n)], [], first=100 + n)[0] for n in range(3)]
    again = [up.segments_of([up.frame(90, 6000 + n)], [], first=n)[0] for n in range(10)]
    capture(pcap, [*made, made[1], *again])
    found = stage.uepi_experts(pcap)[2:]
    assert found[:4] == [[], [], [], ["duplicate"]]
    assert found[4:] == [["late"]] * 7 + [["restart"], [], []]


def contradicting() -> list[tuple[list[bytes], list[list[str]], list[list[int]]]]:
    whole, other = up.frame(300, 5000), up.frame(90, 5001)

    def segment(number: int, payload: bytes, pointer: int | None = None) -> bytes:
        return encode_segment_header(SegmentHeader(number, pointer=pointer)) + payload

    first = segment(0, whole[:100], 0)
    early = [first, segment(1, whole[100:250] + other, 150)]
    late = [first, segment(1, whole[100:] + b"junk" + other, len(whole) - 96)]
    junk = [first, segment(1, whole[100:] + b"junk")]
    padded = [first, segment(1, whole[100:] + bytes(6)), segment(2, b"\xff")]
    orphan = [segment(0, other, 0), segment(1, b"nothing is open"), segment(2, b"xx" + other, 2)]
    beyond = [segment(0, other, len(other) + 1)]
    at_end = [segment(0, b"\x01\x02\x03", 3)]
    short = [segment(0, other, 0), segment(1, b"")[:7]]
    bad = bytearray(whole)
    bad[9] ^= 1
    torn = [segment(0, bytes(bad[:5]), 0), segment(1, bytes(bad[5:]))]
    return [
        (early, [["lost"], ["contradiction"]], [[], [5001]]),
        (late, [["lost"], ["contradiction"]], [[], [5001]]),
        (junk, [[], ["orphan"]], [[], [5000]]),
        (padded, [[], [], []], [[], [5000], []]),
        (orphan, [[], ["orphan"], ["orphan"]], [[5001], [], [5001]]),
        (beyond, [["pointer_beyond"]], [[]]),
        (at_end, [[]], [[]]),
        (short, [[], ["segment_truncated"]], [[5001], []]),
        (torn, [["lost"], ["frame_hcs"]], [[], []]),
    ]


def test_segments_that_contradict(stage: Stage, pcap: Path) -> None:
    """`-2` tells what became of a frame at its beginning, too. Each case has a SID of its own."""
    cases = contradicting()
    bursts = [up.sc_qam(one, sid=up.SID + n) for n, case in enumerate(cases) for one in case[0]]
    packets = [up.upstream(n, burst) for n, burst in enumerate(bursts)]
    write_pcap(pcap, [*up.told(up.DATA, 6), *packets])
    options = ("-2", "-o", "docsis_uepi.segment_header:always")
    found = iter(stage.uepi_experts(pcap, *options)[2:])
    frames = iter(ports(stage, pcap, *options))
    for payloads, expected, shown in cases:
        assert [next(found) for _ in payloads] == expected
        assert [next(frames) for _ in payloads] == shown, expected


def test_without_segment_header(stage: Stage, pcap: Path) -> None:
    """Frames, requests and a concatenation from the first byte on; padding behind them."""
    requests = encode_request(Request(up.SID, 4)) + encode_request(Request(up.SID, 0x102, True))
    joined = up.concatenated(up.frame(100, 5001), up.frame(90, 5002))
    payloads = [
        up.frame(80, 5000) + requests,
        joined + b"\xff" * 9,
        up.frame(80, 5003) + bytes(6) + b"anything",
        up.frame(80, 5004) + bytes(5),
        up.frame(80, 5005)[:-1],
    ]
    capture(pcap, payloads)
    names = (*SHOWN, "docsis_uepi.concatenation.count", "docsis_uepi.concatenation.length")
    rows = [list(row.values()) for row in stage.fields(pcap, *names)[2:]]
    assert rows == [
        [["5000"], [GOOD] * 3, [], []],
        [["5001", "5002"], [GOOD] * 2, ["2"], [str(len(joined) - 6)]],
        [["5003"], [GOOD], [], []],
        [["5004"], [GOOD], [], []],
        [[], [], [], []],
    ]
    assert stage.uepi_experts(pcap)[2:] == [[], [], [], ["truncated"], ["truncated"]]
    padding = stage.fields(pcap, "docsis_uepi.payload.padding")[2:]
    assert [row["docsis_uepi.payload.padding"] for row in padding] == [
        [], ["ff" * 9], [(bytes(6) + b"anything").hex()], [], []
    ]  # fmt: skip


def test_header_that_cannot_be_read(stage: Stage, pcap: Path) -> None:
    """Nothing tells where the next frame begins, so the rest is not looked at."""
    broken = bytearray(up.frame(80, 5001))
    broken[2] ^= 0x40
    capture(pcap, [up.frame(80, 5000) + bytes(broken) + up.frame(80, 5002)])
    row = stage.fields(pcap, *SHOWN)[2]
    assert row[PORT][0] == "5000" and "5002" not in row[PORT]
    assert row["docsis.hcs.status"] == [GOOD, "0"]
    assert stage.uepi_experts(pcap)[2] == ["frame_hcs"]


def test_segment_header_by_preference(stage: Stage, pcap: Path) -> None:
    (segment,) = up.segments_of([up.frame(80, 5000)], [])
    capture(pcap, [segment, up.frame(80, 5001)])
    assert ports(stage, pcap) == [[5000], [5001]]
    # Taken for a segment, the frame has no right HCS; taken for a frame, the segment has none.
    wish = "docsis_uepi.segment_header:"
    assert stage.uepi_experts(pcap, "-o", wish + "always")[2:] == [[], ["segment_hcs"]]
    assert stage.uepi_experts(pcap, "-o", wish + "never")[2:] == [["frame_hcs"], []]


def test_segment_with_a_wrong_hcs_stays_a_segment(stage: Stage, pcap: Path) -> None:
    """Once a SID has shown segment headers, a broken one is not taken for a frame."""
    (first,) = up.segments_of([up.frame(80, 5000)], [])
    broken = bytearray(first)
    broken[0] ^= 1
    capture(pcap, [bytes(broken), first, bytes(broken)])
    assert stage.uepi_experts(pcap)[2:] == [["frame_hcs"], [], ["segment_hcs"]]


@pytest.mark.parametrize("with_header", [False, True])
def test_ofdma_header_tells_of_the_segment_header(
    stage: Stage, pcap: Path, with_header: bool
) -> None:
    """The bit decides, not the bytes."""
    (segment,) = up.segments_of([up.frame(80, 5000)], [])
    units = [up.ofdma(one, segment_header=with_header) for one in (segment, up.frame(80, 5001))]
    packets = [up.upstream(n, one) for n, one in enumerate(units)]
    write_pcap(pcap, [*up.told(up.DATA, 7), *packets])
    expected = [[], ["segment_hcs"]] if with_header else [["frame_hcs"], []]
    assert stage.uepi_experts(pcap)[2:] == expected


def test_flow_that_never_completes_a_frame(stage: Stage, pcap: Path) -> None:
    """Its segments are shown, and another flow's frames too."""
    head = up.frame(1200, 5000)[:40]
    payloads = [encode_segment_header(SegmentHeader(0, pointer=0)) + head]
    payloads += [encode_segment_header(SegmentHeader(n)) + b"x" for n in range(1, 600)]
    packets = [up.upstream(n, up.sc_qam(one)) for n, one in enumerate(payloads)]
    packets.append(up.upstream(600, up.sc_qam(up.frame(80, 5001), sid=up.SID + 1)))
    write_pcap(pcap, [*up.told(up.DATA, 6), *packets])
    assert ports(stage, pcap) == [[]] * 600 + [[5001]]
    assert not any(stage.uepi_experts(pcap))
