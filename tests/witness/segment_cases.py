# SPDX-License-Identifier: BSD-3-Clause
"""Test cases with segments and frame headers, and the drops and counters expected for each,
determined by hand."""

from vcmts.witness.docsis import Request, encode_request
from witness.cable_modem import FrameOptions, packet_frame, split_segments
from witness.rig import (
    PLAIN,
    Cases,
    Rig,
    corrupted,
    mac,
    packet,
    plain,
    segment,
    send,
    whole,
    with_hcs,
)

MS = 10**6
case = Cases()


def frame_with_privacy() -> bytes:
    """A frame of service flow 202 with a MAC header of 10 bytes."""
    return packet_frame(PLAIN.security, 11, packet(), FrameOptions("bp_up2"))


# Segment headers


@case({"segment_truncated": 1, "segment_hcs": 1}, segments=2, bursts=2)
def bad_segment_headers(rig: Rig) -> None:
    send(rig, segment(0, b"")[:7], corrupted(segment(0, plain(), 0), 3))


@case({"segment_cluster": 1}, segments=1)
def segment_cluster(rig: Rig) -> None:
    send(rig, segment(0, plain(), 0, cluster=0))


@case({"segment_pointer": 2}, segments=4, extracted=2, transmitted=1)
def segment_pointer(rig: Rig) -> None:
    """A pointer may be right after the last byte, and not beyond."""
    send(rig, segment(0, plain(), 71), segment(0, b"", 1))
    send(rig, segment(0, plain(), 0), segment(1, b"\xff", 1))


@case({"segment_duplicate": 2, "segment_late": 1}, segments=6, extracted=3, transmitted=3)
def repeated_segments(rig: Rig) -> None:
    """8191 is before the first one."""
    for number in (0, 0, 2, 2, 8191, 1):
        send(rig, segment(number, plain(number % 3), 0))


@case({}, segment_gaps=1, segments_missing=64, segments_reordered=0, transmitted=2)
def segment_beyond_window(rig: Rig) -> None:
    """65 is 64 ahead of the missing 1, one more than the window."""
    send(rig, segment(0, plain(), 0), segment(65, plain(), 0))
    assert rig.model().pending()["segment"] == 0


@case({}, segment_gaps=0, segments_reordered=63, transmitted=65)
def segments_within_window(rig: Rig) -> None:
    for number in (0, 64, *range(1, 64)):
        send(rig, segment(number, plain(), 0))


@case({}, segment_gaps=1, segments_missing=1, transmitted=2)
def segment_reorder_timeout(rig: Rig) -> None:
    send(rig, segment(8191, plain(), 0), segment(1, plain(), 0))


@case(
    {"segment_duplicate": 63, "segment_late": 1, "frame_gap": 1, "segment_orphan": 1},
    segment_resyncs=1,
    transmitted=1,
    resync_bytes=40,
)
def segment_resync(rig: Rig) -> None:
    """After a resynchronization, the incomplete frame is dropped."""
    old = [segment(number, b"") for number in range(64)]
    send(rig, segment(8191, plain()[:30], 0), *old, *old[1:], segment(8190, b""))
    send(rig, old[0], segment(1, plain()[30:] + plain(1), 40))


@case({}, segment_resyncs=1, segment_gaps=0, transmitted=3)
def segment_silence(rig: Rig) -> None:
    """Any number resynchronizes after a second without segments."""
    send(rig, segment(8191, plain(), 0))
    rig.wait(1000 * MS)
    send(rig, segment(5000, plain(), 0), segment(5001, plain(), 0))


# Frames over segments


@case({"frame_gap": 1, "segment_orphan": 1}, frames=3, transmitted=2, resync_bytes=10)
def frame_gap(rig: Rig) -> None:
    """The second of five segments is lost: decoding continues at the pointer of the fourth."""
    stream = split_segments([plain(0, 130), plain(1), plain(2)], [30, 60, 130, 220], 0, 1)
    send(rig, stream[0], *stream[2:])


@case({"segment_orphan": 2}, resync_bytes=5, frames=1, transmitted=1)
def bytes_before_first_pointer(rig: Rig) -> None:
    send(rig, segment(0, b"abc"), segment(1, b""), segment(2, b"abcde" + plain(), 5))


@case({"frame_pointer": 3}, frames=6, transmitted=3, resync_bytes=20 + 60 + 3)
def frame_pointer(rig: Rig) -> None:
    """The frame ends at 40: pointers before, after, and within its header."""
    first, rest = plain()[:30], plain()[30:]
    send(rig, segment(0, first, 0), segment(1, rest[:20] + plain(), 20))
    send(rig, segment(2, first, 0), segment(3, rest + bytes(20) + plain(), 60))
    send(rig, segment(4, plain()[:2], 0), segment(5, plain()[2:5] + plain(), 3))


@case({"frame_pointer": 4}, frames=8, transmitted=4, resync_bytes=3 + 6 + 8 + 30)
def pointer_behind_part_of_a_header(rig: Rig) -> None:
    """All bytes before the pointer are skipped, also those of the incomplete header of 10 bytes.
    The pointer is before, after and at the end of the header."""
    frame = frame_with_privacy()
    for number, pointer in enumerate((3, 6, 8, 30)):
        rest = frame[2 : 2 + pointer]
        send(rig, segment(2 * number, frame[:2], 0))
        send(rig, segment(2 * number + 1, rest + plain(), pointer))


@case({"frame_pointer": 2}, frames=4, transmitted=2, resync_bytes=2 + 4)
def pointer_to_the_end_within_a_header(rig: Rig) -> None:
    """The pointer is at the end of the segment, when 4 or 6 bytes of the header have arrived. Its
    size of 10 is known from 6 bytes on."""
    frame = frame_with_privacy()
    for number, size in enumerate((2, 4)):
        send(rig, segment(3 * number, frame[:2], 0))
        send(rig, segment(3 * number + 1, frame[2 : 2 + size], size))
        send(rig, segment(3 * number + 2, plain(), 0))


@case({"frame_pointer": 1}, requests=1, request_frames=0, transmitted=1, resync_bytes=5)
def pointer_behind_a_request(rig: Rig) -> None:
    """The request has a valid header, so it counts, although the frame is dropped."""
    requesting = encode_request(Request(11, 3))
    send(rig, segment(0, requesting[:3], 0), segment(1, requesting[3:] + bytes(2) + plain(), 5))


@case({"frame_runt": 1}, frames=2, transmitted=1, resync_bytes=7)
def pointer_behind_a_runt(rig: Rig) -> None:
    """The frame is dropped for its header, which is all of it; the pointer is elsewhere."""
    runt = with_hcs(bytes(4))
    send(rig, segment(0, runt[:2], 0), segment(1, runt[2:] + bytes(3) + plain(), 7))


@case({"segment_orphan": 1}, transmitted=3, resync_bytes=20 + 4, padding_bytes=5 + 6 + 7)
def bytes_after_end_of_frame(rig: Rig) -> None:
    """Without pointer, these bytes are padding or unusable."""
    whole = plain()
    send(rig, segment(0, whole[:30], 0), segment(1, whole[30:] + b"\xff" * 5))
    send(rig, segment(2, bytes(6)), segment(3, b"\xff" + bytes(6)))
    send(rig, segment(4, whole[:30], 0), segment(5, whole[30:] + bytes(4) + b"x" * 16))
    send(rig, segment(6, b"x" * 9), segment(7, b"x" * 4 + whole, 4))


@case({"segment_orphan": 2}, transmitted=1, padding_bytes=0, resync_bytes=0)
def padding_without_pointer(rig: Rig) -> None:
    """Bytes that are not padding lose the stream; a further segment without pointer is dropped."""
    send(rig, segment(0, plain(), 0), segment(1, b"x"), segment(2, bytes(6)))


@case({"frame_hcs": 2, "segment_orphan": 1}, frames=4, transmitted=2, resync_bytes=80 + 40)
def frame_hcs(rig: Rig) -> None:
    """Bytes after an invalid header are skipped, up to the next pointer."""
    bad = corrupted(plain(), 3)
    send(rig, segment(0, plain() + bad + b"0123456789", 0), segment(1, b"abc"))
    send(rig, segment(2, bad[:4], 0), segment(3, bad[4:44] + plain(), 40))


@case({"frame_hcs": 2}, frames=4, transmitted=2, resync_bytes=40 + 40)
def bad_header_in_two_segments(rig: Rig) -> None:
    """Skipped bytes are counted from the segment in which the header is found invalid. Its size of
    10 is known from 6 bytes on."""
    bad = corrupted(frame_with_privacy(), 8)
    send(rig, segment(0, bad[:2], 0), segment(1, bad[2:42] + plain(), 40))
    send(rig, segment(2, bad[:2], 0), segment(3, bad[2:4]), segment(4, bad[4:44] + plain(), 40))


@case({"frame_timeout": 1}, frames=2, transmitted=1, resync_bytes=40)
def frame_timeout(rig: Rig) -> None:
    """The rest of the frame comes after the timeout."""
    send(rig, segment(0, plain()[:30], 0))
    rig.wait(500 * MS)
    send(rig, segment(1, plain()[30:] + plain(), 40))


# Bursts without segment header


@case({"frame_truncated": 3}, frames=5, transmitted=2, segments=3, extracted=3, resync_bytes=0)
def frame_truncated(rig: Rig) -> None:
    """Truncated in the packet, in the header, after one byte."""
    whole(rig, plain(), plain()[:-1])
    whole(rig, plain()[:5])
    whole(rig, plain(), b"\0")


@case({"frame_hcs": 1}, frames=2, transmitted=1, resync_bytes=140)
def frame_hcs_in_a_burst(rig: Rig) -> None:
    whole(rig, plain(), corrupted(plain(), 4), plain())


@case({}, padding_bytes=6 + 3 + 60, transmitted=3, frames=3)
def padding(rig: Rig) -> None:
    whole(rig, plain(), bytes(6))
    whole(rig, plain(), b"\xff\x01\x02")
    whole(rig, plain(), bytes(6) + plain()[:54])


@case({"frame_reserved": 2}, frames=3, transmitted=1)
def frame_reserved(rig: Rig) -> None:
    """A reserved type, and one that only a CMTS sends. The next frame is decoded."""
    whole(rig, mac(0x40, 0, 20, bytes(20)), mac(0xC0, 0, 20, bytes(20)), plain())


@case({"frame_ehdr": 8}, frames=9, transmitted=1)
def frame_ehdr(rig: Rig) -> None:
    """Elements that exceed the header, of wrong size, repeated, of over 240 bytes; EHDR_ON where
    not allowed, and missing where required."""
    whole(
        rig,
        mac(0x01, 2, 22, b"\x73\x11" + bytes(20)),
        mac(0x01, 3, 23, b"\x72\x11\x80" + bytes(20)),
        mac(0x01, 8, 28, b"\x73\x11\x00\x0a" * 2 + bytes(20)),
        mac(0x01, 241, 261, bytes(261)),
        with_hcs(b"\xc5\x04\x01\x23"),
        with_hcs(b"\xf9\x02\x00\x14") + bytes(20),
        mac(0xC6, 0, 20, bytes(20)),
        mac(0xC7, 4, 24, b"\x73\x11\x00\x0a" + bytes(20)),
        plain(),
    )


@case({"frame_length": 1}, frames=2, transmitted=1)
def frame_length(rig: Rig) -> None:
    """LEN is less than the extended header: the next frame boundary is unknown."""
    whole(rig, plain(), mac(0x01, 4, 3, bytes(4)), plain())


@case({"frame_too_long": 2, "frame_runt": 2}, frames=6, transmitted=2)
def sizes(rig: Rig) -> None:
    """PDUs and messages of 18 to 2,000 bytes are allowed."""
    longest = plain(0, 1996)
    assert len(longest) == 6 + 2000
    too_long = mac(0x00, 0, 2001, bytes(2001))
    whole(rig, longest, too_long, mac(0x00, 0, 17, bytes(17)), mac(0xC2, 0, 17, bytes(17)))
    whole(rig, mac(0xC2, 0, 2001, bytes(2001)), plain())


@case({"frame_too_long": 1}, frames=2, transmitted=1, segments=39, resync_bytes=0)
def too_long_frame_is_skipped(rig: Rig) -> None:
    """A frame of 65,535 bytes is dropped by its header, without buffering."""
    stream = mac(0x00, 0, 65535, bytes(65535)) + plain()
    parts = [stream[at : at + 1700] for at in range(0, len(stream), 1700)]
    send(rig, segment(0, parts[0], 0), *(segment(n, parts[n]) for n in range(1, 38)))
    assert rig.model().pending()["frame"] == 0
    send(rig, segment(38, parts[38], 65541 - 38 * 1700))
