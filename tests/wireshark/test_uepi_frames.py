# SPDX-License-Identifier: BSD-3-Clause
"""Tests the dissection of MAC frames in upstream bursts: segments, concatenation, padding."""

import random
from itertools import pairwise
from pathlib import Path

import pytest

from vcmts.witness.docsis import Request, SegmentHeader, encode_request, encode_segment_header
from wireshark import uepi_packets as up
from wireshark.psp_packets import write_pcap
from wireshark.tshark import Tshark

GOOD = "1"  # HCS status
PORT = "udp.srcport"
FRAME_FIELDS = (PORT, "docsis.hcs.status")


def write_bursts(pcap: Path, payloads: list[bytes]) -> Path:
    """Writes two control messages, and a packet with an SC-QAM burst for each payload."""
    packets = [up.upstream(n, up.sc_qam(payload)) for n, payload in enumerate(payloads)]
    return write_pcap(pcap, [*up.setup(up.DATA, 6), *packets])


def ports(tshark: Tshark, pcap: Path, *options: str) -> list[list[int]]:
    """The UDP source ports of the frames of each burst, whose HCS must all be correct."""
    rows = tshark.fields(pcap, *FRAME_FIELDS, options=options)[2:]
    assert {status for row in rows for status in row["docsis.hcs.status"]} <= {GOOD}
    return [[int(port) for port in row[PORT]] for row in rows]


def test_segment_header_fields(tshark: Tshark, pcap: Path) -> None:
    header = SegmentHeader(0x1FF5, 5, 0x1234, 3)
    first = encode_segment_header(header) + b"end" + up.frame(100, 5000)
    second = encode_segment_header(SegmentHeader(0x1FF6, 5)) + b"\xffmiddle"
    broken = bytearray(first)
    broken[7] ^= 1
    write_bursts(pcap, [first, second, bytes(broken)])
    start = "docsis_uepi.segment."
    names = ("pointer_valid", "pointer", "sequence", "sid_cluster", "request", "hcs", "hcs.status")
    rows = tshark.fields(pcap, *(start + name for name in names))[2:]
    values = [[cells[0].replace("True", "1").replace("False", "0") for cells in row.values()]
           for row in rows]  # fmt: skip
    hcs = [f"0x{first[7]:02x}{first[6]:02x}", f"0x{second[7]:02x}{second[6]:02x}"]
    wrong = f"0x{broken[7]:02x}{broken[6]:02x}"
    assert values == [
        ["1", "3", str(0x1FF5), "5", str(0x1234), hcs[0], GOOD],
        ["0", "0", str(0x1FF6), "5", "0", hcs[1], GOOD],
        ["1", "3", str(0x1FF5), "5", str(0x1234), wrong, "0"],
    ]
    assert tshark.uepi_experts(pcap)[4] == ["segment_hcs"]
    assert ports(tshark, pcap) == [[5000], [], []]


@pytest.mark.parametrize("seed", range(4))
def test_frames_across_segments_are_joined(tshark: Tshark, pcap: Path, seed: int) -> None:
    """A stream split at random offsets: each frame is shown once, where it is complete."""
    rng = random.Random(seed)
    frames = [up.frame(rng.choice((60, 84, 256, 1280)), 5000 + n) for n in range(40)]
    total = sum(map(len, frames))
    offsets = sorted(rng.sample(range(1, total), 30 + 20 * seed))
    payloads = up.segment_frames(frames, offsets, first=8192 - 20, cluster=seed)
    write_bursts(pcap, payloads)
    bounds = [0, *offsets, total]
    ends = [sum(map(len, frames[: n + 1])) for n in range(len(frames))]
    expected = [
        [5000 + n for n, end in enumerate(ends) if begin < end <= stop]
        for begin, stop in pairwise(bounds)
    ]
    for options in ((), ("-2",)):
        assert ports(tshark, pcap, *options) == expected
        assert not any(tshark.uepi_experts(pcap, *options))


def test_joined_frame_lists_its_parts(tshark: Tshark, pcap: Path) -> None:
    whole = up.frame(300, 5000)
    write_bursts(pcap, up.segment_frames([whole, up.frame(90, 5001)], [3, 100, 305]))
    prefix = "docsis_uepi."
    names = (prefix + "payload.joined_in", prefix + "joined.part", prefix + "joined.length")
    rows = [list(row.values()) for row in tshark.fields(pcap, *names, options=("-2",))[2:]]
    assert rows == [*[[["6"], [], []]] * 3, [[], ["3", "4", "5", "6"], [str(len(whole))]]]


def test_segments_out_of_order_are_joined(tshark: Tshark, pcap: Path) -> None:
    """Segments of two channels: the burst that completes a frame shows it."""
    frames = [up.frame(200, 5000 + n) for n in range(6)]
    segments = up.segment_frames(frames, [150, 300, 700, 1100])
    order = [0, 3, 1, 2, 4]
    sessions = [up.DATA, up.DATA + 16, up.DATA, up.DATA, up.DATA + 16]
    sequence = {up.DATA: 0, up.DATA + 16: 0}
    packets = [*up.setup(up.DATA, 6), *up.setup(up.DATA + 16, 6)]
    for index, session in zip(order, sessions, strict=True):
        packets.append(up.upstream(sequence[session], up.sc_qam(segments[index]), session=session))
        sequence[session] += 1
    write_pcap(pcap, packets)
    assert ports(tshark, pcap)[2:] == [[], [5004], [5000], [5001, 5002, 5003], [5005]]
    assert tshark.uepi_experts(pcap)[4:] == [[], ["gap"], ["late"], ["late"], []]
    options = ("-o", "docsis_uepi.sid_per_session:TRUE")
    assert ports(tshark, pcap, *options)[2:] == [[], [5004], [5000], [5001, 5002], [5005]]
    assert not any(tshark.uepi_experts(pcap, *options))


def test_sids_and_clusters_are_joined_separately(tshark: Tshark, pcap: Path) -> None:
    """Three streams with the same sequence numbers, segment by segment."""
    streams = []
    for n, (sid, cluster) in enumerate([(up.SID, 0), (up.SID, 1), (up.SID + 1, 0)]):
        frames = [up.frame(200, 5000 + 10 * n), up.frame(200, 5001 + 10 * n)]
        parts = up.segment_frames(frames, [100, 300], cluster=cluster)
        streams.append([up.sc_qam(part, sid=sid) for part in parts])
    bursts = [burst for round_ in zip(*streams, strict=True) for burst in round_]
    packets = [up.upstream(n, burst) for n, burst in enumerate(bursts)]
    write_pcap(pcap, [*up.setup(up.DATA, 6), *packets])
    assert ports(tshark, pcap) == [[], [], [], [5000], [5010], [5020], [5001], [5011], [5021]]
    assert not any(tshark.uepi_experts(pcap))


def test_lost_segment_drops_its_frames(tshark: Tshark, pcap: Path) -> None:
    """Frames in the gap are not shown; dissection continues at the next pointer."""
    frames = [up.frame(200, 5000 + n) for n in range(4)]
    segments = up.segment_frames(frames, [100, 250, 500])
    write_bursts(pcap, [segments[0], segments[2], segments[3]])
    assert ports(tshark, pcap) == [[], [], [5002, 5003]]
    assert tshark.uepi_experts(pcap)[2:] == [[], ["gap"], []]
    rows = tshark.fields(pcap, "docsis_uepi.segment.gap")[2:]
    assert [row["docsis_uepi.segment.gap"] for row in rows] == [[], ["1"], []]


def test_duplicate_segment_and_restart_are_noted(tshark: Tshark, pcap: Path) -> None:
    segments = [up.segment_frames([up.frame(90, 5000 + n)], [], first=100 + n)[0] for n in range(3)]
    restarted = [up.segment_frames([up.frame(90, 6000 + n)], [], first=n)[0] for n in range(10)]
    write_bursts(pcap, [*segments, segments[1], *restarted])
    experts = tshark.uepi_experts(pcap)[2:]
    assert experts[:4] == [[], [], [], ["duplicate"]]
    assert experts[4:] == [["late"]] * 7 + [["restart"], [], []]


def contradicting_segments() -> list[tuple[list[bytes], list[list[str]], list[list[int]]]]:
    """Cases: payloads of bursts, and for each burst the expert infos and the UDP ports of the
    frames shown."""
    whole, other = up.frame(300, 5000), up.frame(90, 5001)

    def segment(number: int, payload: bytes, pointer: int | None = None) -> bytes:
        return encode_segment_header(SegmentHeader(number, pointer=pointer)) + payload

    first = segment(0, whole[:100], 0)
    early = [first, segment(1, whole[100:250] + other, 150)]
    late = [first, segment(1, whole[100:] + b"junk" + other, len(whole) - 96)]
    not_padding = [first, segment(1, whole[100:] + b"junk")]
    padded = [first, segment(1, whole[100:] + bytes(6)), segment(2, b"\xff")]
    orphan = [segment(0, other, 0), segment(1, b"nothing is open"), segment(2, b"xx" + other, 2)]
    beyond = [segment(0, other, len(other) + 1)]
    at_end = [segment(0, b"\x01\x02\x03", 3)]
    short = [segment(0, other, 0), segment(1, b"")[:7]]
    bad = bytearray(whole)
    bad[9] ^= 1
    wrong_hcs = [segment(0, bytes(bad[:5]), 0), segment(1, bytes(bad[5:]))]
    return [
        (early, [["lost"], ["contradiction"]], [[], [5001]]),
        (late, [["lost"], ["contradiction"]], [[], [5001]]),
        (not_padding, [[], ["orphan"]], [[], [5000]]),
        (padded, [[], [], []], [[], [5000], []]),
        (orphan, [[], ["orphan"], ["orphan"]], [[5001], [], [5001]]),
        (beyond, [["pointer_beyond"]], [[]]),
        (at_end, [[]], [[]]),
        (short, [[], ["segment_truncated"]], [[5001], []]),
        (wrong_hcs, [["lost"], ["frame_hcs"]], [[], []]),
    ]


def test_contradicting_segments_are_reported(tshark: Tshark, pcap: Path) -> None:
    """Each case has its own SID. With `-2` the begin of a dropped frame is reported, too."""
    cases = contradicting_segments()
    bursts = [up.sc_qam(part, sid=up.SID + n) for n, case in enumerate(cases) for part in case[0]]
    packets = [up.upstream(n, burst) for n, burst in enumerate(bursts)]
    write_pcap(pcap, [*up.setup(up.DATA, 6), *packets])
    options = ("-2", "-o", "docsis_uepi.segment_header:always")
    experts = iter(tshark.uepi_experts(pcap, *options)[2:])
    frames = iter(ports(tshark, pcap, *options))
    for payloads, expected, shown in cases:
        assert [next(experts) for _ in payloads] == expected
        assert [next(frames) for _ in payloads] == shown, expected


def test_payload_without_segment_header(tshark: Tshark, pcap: Path) -> None:
    """Frames, requests and a concatenation, followed by padding."""
    requests = encode_request(Request(up.SID, 4)) + encode_request(Request(up.SID, 0x102, True))
    joined = up.concatenated(up.frame(100, 5001), up.frame(90, 5002))
    payloads = [
        up.frame(80, 5000) + requests,
        joined + b"\xff" * 9,
        up.frame(80, 5003) + bytes(6) + b"anything",
        up.frame(80, 5004) + bytes(5),
        up.frame(80, 5005)[:-1],
    ]
    write_bursts(pcap, payloads)
    names = (*FRAME_FIELDS, "docsis_uepi.concatenation.count", "docsis_uepi.concatenation.length")
    rows = [list(row.values()) for row in tshark.fields(pcap, *names)[2:]]
    assert rows == [
        [["5000"], [GOOD] * 3, [], []],
        [["5001", "5002"], [GOOD] * 2, ["2"], [str(len(joined) - 6)]],
        [["5003"], [GOOD], [], []],
        [["5004"], [GOOD], [], []],
        [[], [], [], []],
    ]
    assert tshark.uepi_experts(pcap)[2:] == [[], [], [], ["truncated"], ["truncated"]]
    padding = tshark.fields(pcap, "docsis_uepi.payload.padding")[2:]
    assert [row["docsis_uepi.payload.padding"] for row in padding] == [
        [], ["ff" * 9], [(bytes(6) + b"anything").hex()], [], []
    ]  # fmt: skip


def test_frames_after_wrong_mac_header_are_not_shown(tshark: Tshark, pcap: Path) -> None:
    """Without LEN the begin of the next frame is unknown, so the rest is not dissected."""
    broken = bytearray(up.frame(80, 5001))
    broken[2] ^= 0x40
    write_bursts(pcap, [up.frame(80, 5000) + bytes(broken) + up.frame(80, 5002)])
    row = tshark.fields(pcap, *FRAME_FIELDS)[2]
    assert row[PORT][0] == "5000" and "5002" not in row[PORT]
    assert row["docsis.hcs.status"] == [GOOD, "0"]
    assert tshark.uepi_experts(pcap)[2] == ["frame_hcs"]


def test_preference_sets_segment_header(tshark: Tshark, pcap: Path) -> None:
    (segment,) = up.segment_frames([up.frame(80, 5000)], [])
    write_bursts(pcap, [segment, up.frame(80, 5001)])
    assert ports(tshark, pcap) == [[5000], [5001]]
    # Read as a segment, the frame has a wrong HCS; read as a frame, the segment has one.
    preference = "docsis_uepi.segment_header:"
    assert tshark.uepi_experts(pcap, "-o", preference + "always")[2:] == [[], ["segment_hcs"]]
    assert tshark.uepi_experts(pcap, "-o", preference + "never")[2:] == [["frame_hcs"], []]


def test_sid_with_segment_headers_keeps_its_format(tshark: Tshark, pcap: Path) -> None:
    """After a segment header of a SID, a wrong one is not read as a frame."""
    (first,) = up.segment_frames([up.frame(80, 5000)], [])
    broken = bytearray(first)
    broken[0] ^= 1
    write_bursts(pcap, [bytes(broken), first, bytes(broken)])
    assert tshark.uepi_experts(pcap)[2:] == [["frame_hcs"], [], ["segment_hcs"]]


@pytest.mark.parametrize("with_header", [False, True])
def test_ofdma_header_bit_decides(tshark: Tshark, pcap: Path, with_header: bool) -> None:
    """The bit decides, not the HCS."""
    (segment,) = up.segment_frames([up.frame(80, 5000)], [])
    payloads = (segment, up.frame(80, 5001))
    units = [up.ofdma(payload, segment_header=with_header) for payload in payloads]
    packets = [up.upstream(n, unit) for n, unit in enumerate(units)]
    write_pcap(pcap, [*up.setup(up.DATA, 7), *packets])
    expected = [[], ["segment_hcs"]] if with_header else [["frame_hcs"], []]
    assert tshark.uepi_experts(pcap)[2:] == expected


def test_flow_without_complete_frame_is_shown(tshark: Tshark, pcap: Path) -> None:
    """Its segments are shown, and the frames of another flow are dissected."""
    head = up.frame(1200, 5000)[:40]
    payloads = [encode_segment_header(SegmentHeader(0, pointer=0)) + head]
    payloads += [encode_segment_header(SegmentHeader(n)) + b"x" for n in range(1, 600)]
    packets = [up.upstream(n, up.sc_qam(payload)) for n, payload in enumerate(payloads)]
    packets.append(up.upstream(600, up.sc_qam(up.frame(80, 5001), sid=up.SID + 1)))
    write_pcap(pcap, [*up.setup(up.DATA, 6), *packets])
    assert ports(tshark, pcap) == [[]] * 600 + [[5001]]
    assert not any(tshark.uepi_experts(pcap))
