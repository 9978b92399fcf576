# SPDX-License-Identifier: BSD-3-Clause
"""Segments, and headers of frames, and what must be counted for them: found by hand."""

from vcmts.witness.docsis import Request, encode_request
from witness.cable_modem import Dress, cut_segments, packet_frame
from witness.rig import (
    PLAIN,
    Cases,
    Rig,
    mac,
    packet,
    plain,
    segment,
    send,
    spoilt,
    whole,
    with_hcs,
)

MS = 10**6
case = Cases()


def dressed() -> bytes:
    """A frame of service flow 202 with a header of 10 bytes."""
    return packet_frame(PLAIN.security, 11, packet(), Dress("bp_up2"))


# Segment headers


@case({"segment_truncated": 1, "segment_hcs": 1}, segments=2, bursts=2)
def headers_of_segments(rig: Rig) -> None:
    send(rig, segment(0, b"")[:7], spoilt(segment(0, plain(), 0), 3))


@case({"segment_cluster": 1}, segments=1)
def segment_cluster(rig: Rig) -> None:
    send(rig, segment(0, plain(), 0, cluster=0))


@case({"segment_pointer": 2}, segments=4, extracted=2, transmitted=1)
def segment_pointer(rig: Rig) -> None:
    """Right behind the last byte is not beyond the end."""
    send(rig, segment(0, plain(), 71), segment(0, b"", 1))
    send(rig, segment(0, plain(), 0), segment(1, b"\xff", 1))


@case({"segment_duplicate": 2, "segment_late": 1}, segments=6, extracted=3, transmitted=3)
def repeated_segments(rig: Rig) -> None:
    """8191 is before the first one."""
    for number in (0, 0, 2, 2, 8191, 1):
        send(rig, segment(number, plain(number % 3), 0))


@case({}, segment_gaps=1, segments_missing=64, segments_reordered=0, transmitted=2)
def beyond_the_window(rig: Rig) -> None:
    """65 is 64 ahead of 1, one more than is waited for."""
    send(rig, segment(0, plain(), 0), segment(65, plain(), 0))
    assert rig.model().held()["segment"] == 0


@case({}, segment_gaps=0, segments_reordered=63, transmitted=65)
def within_the_window(rig: Rig) -> None:
    for number in (0, 64, *range(1, 64)):
        send(rig, segment(number, plain(), 0))


@case({}, segment_gaps=1, segments_missing=1, transmitted=2)
def segment_given_up_in_time(rig: Rig) -> None:
    send(rig, segment(8191, plain(), 0), segment(1, plain(), 0))


@case(
    {"segment_duplicate": 63, "segment_late": 1, "frame_gap": 1, "segment_orphan": 1},
    segment_resyncs=1,
    transmitted=1,
    resync_bytes=40,
)
def segment_resync(rig: Rig) -> None:
    """A modem that begins anew does not go on with its old frame."""
    old = [segment(number, b"") for number in range(64)]
    send(rig, segment(8191, plain()[:30], 0), *old, *old[1:], segment(8190, b""))
    send(rig, old[0], segment(1, plain()[30:] + plain(1), 40))


@case({}, segment_resyncs=1, segment_gaps=0, transmitted=3)
def segment_silence(rig: Rig) -> None:
    """A modem that was away for a second has begun anew."""
    send(rig, segment(8191, plain(), 0))
    rig.wait(1000 * MS)
    send(rig, segment(5000, plain(), 0), segment(5001, plain(), 0))


# Frames over segments


@case({"frame_gap": 1, "segment_orphan": 1}, frames=3, transmitted=2, resync_bytes=10)
def frame_gap(rig: Rig) -> None:
    """The second of five segments is lost: nothing is used up to the pointer of the fourth."""
    stream = cut_segments([plain(0, 130), plain(1), plain(2)], [30, 60, 130, 220], 0, 1)
    send(rig, stream[0], *stream[2:])


@case({"segment_orphan": 2}, resync_bytes=5, frames=1, transmitted=1)
def before_the_first_pointer(rig: Rig) -> None:
    send(rig, segment(0, b"abc"), segment(1, b""), segment(2, b"abcde" + plain(), 5))


@case({"frame_pointer": 3}, frames=6, transmitted=3, resync_bytes=20 + 60 + 3)
def frame_pointer(rig: Rig) -> None:
    """The frame ends at 40: pointers before it, behind it, and within its header."""
    first, rest = plain()[:30], plain()[30:]
    send(rig, segment(0, first, 0), segment(1, rest[:20] + plain(), 20))
    send(rig, segment(2, first, 0), segment(3, rest + bytes(20) + plain(), 60))
    send(rig, segment(4, plain()[:2], 0), segment(5, plain()[2:5] + plain(), 3))


@case({"frame_pointer": 4}, frames=8, transmitted=4, resync_bytes=3 + 6 + 8 + 30)
def pointer_behind_part_of_a_header(rig: Rig) -> None:
    """All that stands before the pointer is passed over: what the frame's header, of 10 bytes,
    took of it, too. The pointer stands before, behind and right at the header's end."""
    frame = dressed()
    for number, pointer in enumerate((3, 6, 8, 30)):
        rest = frame[2 : 2 + pointer]
        send(rig, segment(2 * number, frame[:2], 0))
        send(rig, segment(2 * number + 1, rest + plain(), pointer))


@case({"frame_pointer": 2}, frames=4, transmitted=2, resync_bytes=2 + 4)
def pointer_to_the_end_within_a_header(rig: Rig) -> None:
    """The next frame begins with the next segment, and of the header only 4 or 6 bytes are there;
    that it has 10 is known of 6."""
    frame = dressed()
    for number, size in enumerate((2, 4)):
        send(rig, segment(3 * number, frame[:2], 0))
        send(rig, segment(3 * number + 1, frame[2 : 2 + size], size))
        send(rig, segment(3 * number + 2, plain(), 0))


@case({"frame_pointer": 1}, requests=1, request_frames=0, transmitted=1, resync_bytes=5)
def pointer_behind_a_request(rig: Rig) -> None:
    """Its header is good, so that it asks, although it is dropped."""
    asking = encode_request(Request(11, 3))
    send(rig, segment(0, asking[:3], 0), segment(1, asking[3:] + bytes(2) + plain(), 5))


@case({"frame_runt": 1}, frames=2, transmitted=1, resync_bytes=7)
def pointer_behind_a_runt(rig: Rig) -> None:
    """Dropped for its header, which is all of it; the pointer says otherwise."""
    runt = with_hcs(bytes(4))
    send(rig, segment(0, runt[:2], 0), segment(1, runt[2:] + bytes(3) + plain(), 7))


@case({"segment_orphan": 1}, transmitted=3, resync_bytes=20 + 4, padding_bytes=5 + 6 + 7)
def behind_the_end_of_a_frame(rig: Rig) -> None:
    """Without pointer there is padding, or something that cannot be used."""
    whole = plain()
    send(rig, segment(0, whole[:30], 0), segment(1, whole[30:] + b"\xff" * 5))
    send(rig, segment(2, bytes(6)), segment(3, b"\xff" + bytes(6)))
    send(rig, segment(4, whole[:30], 0), segment(5, whole[30:] + bytes(4) + b"x" * 16))
    send(rig, segment(6, b"x" * 9), segment(7, b"x" * 4 + whole, 4))


@case({"segment_orphan": 2}, transmitted=1, padding_bytes=0, resync_bytes=0)
def nothing_but_padding_without_pointer(rig: Rig) -> None:
    """It loses the stream; another one without pointer is not looked at."""
    send(rig, segment(0, plain(), 0), segment(1, b"x"), segment(2, bytes(6)))


@case({"frame_hcs": 2, "segment_orphan": 1}, frames=4, transmitted=2, resync_bytes=80 + 40)
def frame_hcs(rig: Rig) -> None:
    """What is behind a bad header is passed over: to the end, and to the next pointer."""
    bad = spoilt(plain(), 3)
    send(rig, segment(0, plain() + bad + b"0123456789", 0), segment(1, b"abc"))
    send(rig, segment(2, bad[:4], 0), segment(3, bad[4:44] + plain(), 40))


@case({"frame_hcs": 2}, frames=4, transmitted=2, resync_bytes=40 + 40)
def header_in_parts(rig: Rig) -> None:
    """Of a bad header those bytes count that stand in the segment where it was found bad. It is
    known to have 10 bytes only when 6 are there."""
    bad = spoilt(dressed(), 8)
    send(rig, segment(0, bad[:2], 0), segment(1, bad[2:42] + plain(), 40))
    send(rig, segment(2, bad[:2], 0), segment(3, bad[2:4]), segment(4, bad[4:44] + plain(), 40))


@case({"frame_timeout": 1}, frames=2, transmitted=1, resync_bytes=40)
def frame_timeout(rig: Rig) -> None:
    """The rest comes too late."""
    send(rig, segment(0, plain()[:30], 0))
    rig.wait(500 * MS)
    send(rig, segment(1, plain()[30:] + plain(), 40))


# Bursts without segment header


@case({"frame_truncated": 3}, frames=5, transmitted=2, segments=3, extracted=3, resync_bytes=0)
def frame_truncated(rig: Rig) -> None:
    """In the packet, in the header, in its first byte."""
    whole(rig, plain(), plain()[:-1])
    whole(rig, plain()[:5])
    whole(rig, plain(), b"\0")


@case({"frame_hcs": 1}, frames=2, transmitted=1, resync_bytes=140)
def frame_hcs_in_a_burst(rig: Rig) -> None:
    whole(rig, plain(), spoilt(plain(), 4), plain())


@case({}, padding_bytes=6 + 3 + 60, transmitted=3, frames=3)
def padding(rig: Rig) -> None:
    whole(rig, plain(), bytes(6))
    whole(rig, plain(), b"\xff\x01\x02")
    whole(rig, plain(), bytes(6) + plain()[:54])


@case({"frame_reserved": 2}, frames=3, transmitted=1)
def frame_reserved(rig: Rig) -> None:
    """A type that is reserved, and one that only a CMTS sends: it goes on behind them."""
    whole(rig, mac(0x40, 0, 20, bytes(20)), mac(0xC0, 0, 20, bytes(20)), plain())


@case({"frame_ehdr": 8}, frames=9, transmitted=1)
def frame_ehdr(rig: Rig) -> None:
    """An element that runs past the end, of the wrong size, twice, over 240 bytes; EHDR_ON where it
    may not be, and not where it must be."""
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
    """LEN is shorter than the extended header: where the next frame begins is not known."""
    whole(rig, plain(), mac(0x01, 4, 3, bytes(4)), plain())


@case({"frame_too_long": 2, "frame_runt": 2}, frames=6, transmitted=2)
def sizes(rig: Rig) -> None:
    """2,000 and 18 bytes are allowed; 2,001 and 17 are not, of messages neither."""
    longest = plain(0, 1996)
    assert len(longest) == 6 + 2000
    too_long = mac(0x00, 0, 2001, bytes(2001))
    whole(rig, longest, too_long, mac(0x00, 0, 17, bytes(17)), mac(0xC2, 0, 17, bytes(17)))
    whole(rig, mac(0xC2, 0, 2001, bytes(2001)), plain())


@case({"frame_too_long": 1}, frames=2, transmitted=1, segments=39, resync_bytes=0)
def a_long_frame_is_passed_over(rig: Rig) -> None:
    """65,535 bytes: dropped for their length, they hold nothing."""
    stream = mac(0x00, 0, 65535, bytes(65535)) + plain()
    cuts = [stream[at : at + 1700] for at in range(0, len(stream), 1700)]
    send(rig, segment(0, cuts[0], 0), *(segment(n, cuts[n]) for n in range(1, 38)))
    assert rig.model().held()["frame"] == 0
    send(rig, segment(38, cuts[38], 65541 - 38 * 1700))
