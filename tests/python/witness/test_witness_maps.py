# SPDX-License-Identifier: BSD-3-Clause
"""Tests the MAP codec and Validator of tests/witness, which share no code with src/wire."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captures import capture
from vcmts.witness.depi import DepiError, decode_psp
from vcmts.witness.l2tp import L2tpError, decode_datagram
from vcmts.witness.pcapfile import read_pcap
from witness.map_format import (
    BROADCAST,
    DATA,
    INITIAL,
    MAX_ELEMENTS,
    MAX_MINISLOTS,
    REQUEST,
    STATION,
)
from witness.maps import (
    Account,
    Channel,
    Element,
    Flow,
    Grant,
    Map,
    MapError,
    Validator,
    read,
    write,
)

# The body of a captured MAP of version 1.
REAL = bytes.fromhex("0100040001556601015564710004000AFFFCC000FFFC4028FFFC41270001C140")
# A valid MAP: request region, two grants, idle minislots, a pending grant, an acknowledgement.
BUSY = Map(
    version=5,
    channel=9,
    ucd_count=3,
    alloc_start=1000,
    ack_time=400,
    ranging=(0, 4),
    data=(2, 8),
    elements=(
        Element(BROADCAST, REQUEST, 0, 6),
        Element(100, 13, 6, 10),
        Element(101, 13, 16, 4),
        Element(0, 13, 20, 80),
    ),
    minislots=100,
    pending=(Element(102, 13, 100),),
    acks=(Element(103, 8, 100),),
)
CHANNEL = Channel(minislot_bytes=48, frame_minislots=50, request_minislots=2)
FLOWS = {
    (9, 100): Flow("a"),
    (9, 101): Flow("b", header_bytes=8),
    (9, 102): Flow("c"),
    (10, 100): Flow("a"),
}


def test_real_map_is_read() -> None:
    result = read(REAL, 1)
    assert result.elements == (
        Element(BROADCAST, INITIAL, 0, 40),
        Element(BROADCAST, REQUEST, 40, 255),
        Element(BROADCAST, REQUEST, 295, 25),
    )
    assert (result.minislots, result.alloc_start - result.ack_time) == (320, 400)
    assert write(result) == REAL


def test_captured_maps_are_valid() -> None:
    """The capture's MAPs in order: 320 minislots each; between them less than 3 on average."""
    checks = Validator({1: Channel()})
    for record in read_pcap(capture("rpd-session.pcap")).records:
        try:
            datagram = decode_datagram(record.data)
            segments = decode_psp(datagram.payload).segments if datagram.session else ()
        except (L2tpError, DepiError):
            continue
        for segment in segments:
            # DOCSIS message from its addresses on: version at 17, type at 18 (3: MAP), body at 20.
            if segment.data[18:19] == b"\3":
                body = segment.data[20:]
                result = read(body, segment.data[17])
                assert checks.take(result) == []
                assert write(result) == body
    assert checks.maps == 8439
    assert checks.used.keys() == {"initial", "request"}
    assert sum(checks.used.values()) == 320 * 8439
    assert 0 < checks.gaps < 3 * 8439


@st.composite
def maps(draw: st.DrawFn) -> Map:
    version = draw(st.sampled_from([1, 5]))
    limit = MAX_MINISLOTS[version]
    ends = draw(st.sets(st.integers(1, limit), max_size=min(60, MAX_ELEMENTS[version] - 1)))
    edges = [0, *sorted(ends)]
    iucs = st.sampled_from([1, 2, 3, 4, *DATA])
    sids = st.integers(0, BROADCAST)
    low, high = sorted(draw(st.tuples(st.integers(0, 15), st.integers(0, 15))))
    behind = draw(st.lists(sids, max_size=9))
    word = st.integers(0, (1 << 32) - 1)
    return Map(
        version=version,
        channel=draw(st.integers(0, 255)),
        ucd_count=draw(st.integers(0, 255)),
        alloc_start=draw(word),
        ack_time=draw(word),
        ranging=(low, high),
        data=(0, high),
        elements=tuple(
            Element(draw(sids), draw(iucs), first, end - first) for first, end in pairwise(edges)
        ),
        minislots=edges[-1],
        pending=tuple(Element(sid, 10, edges[-1]) for sid in behind),
        acks=tuple(Element(sid, 8, edges[-1]) for sid in behind[::2]),
    )


@given(maps())
def test_written_map_is_read(map_: Map) -> None:
    assert read(write(map_), map_.version) == map_


@pytest.mark.parametrize(
    ("position", "value", "error"),
    [
        (slice(3, 4), "01", "reserved byte"),
        (slice(2, 3), "05", "5 elements"),
        (slice(2, 3), "03", "3 elements"),
        (slice(12, 14), "0504", "back-off"),
        (slice(12, 14), "0010", "back-off"),
        (slice(14, 16), "0504", "back-off"),
        (slice(16, 20), "FFFCC001", "begins at 1"),
        (slice(16, 20), "FFFE0000", "IUC 8"),
        (slice(16, 20), "FFFF8000", "IUC 14"),
        (slice(20, 24), "FFFC4000", "offset 0 behind 0"),
        (slice(20, 24), "FFFC4128", "offset 295 behind 296"),
        (slice(20, 24), "0001C028", "behind the null"),
        (slice(28, 32), "0005C140", "SID 1"),
        (slice(28, 32), "0001D001", "4097 minislots"),
        (slice(28, 32), "00018140", "no null"),
    ],
)
def test_invalid_element_is_refused(position: slice, value: str, error: str) -> None:
    body = bytearray(REAL)
    body[position] = bytes.fromhex(value)
    with pytest.raises(MapError, match=error):
        read(bytes(body), 1)


def test_invalid_map_is_refused() -> None:
    for version in (0, 2, 3, 4, 6):
        with pytest.raises(MapError, match="version"):
            read(REAL, version)
    for size in range(len(REAL)):
        with pytest.raises(MapError):
            read(REAL[:size], 1)
    with pytest.raises(MapError, match="probes"):
        read(bytes.fromhex("01000081015566010155647100000000"), 5)
    with pytest.raises(MapError, match="reserved bits"):
        read(bytes.fromhex("01000010015566010155647100000000"), 5)
    with pytest.raises(MapError, match="behind the null"):
        read(write(replace(BUSY, pending=(Element(102, STATION, 100),))), 5)
    with pytest.raises(MapError, match="behind the null"):
        read(write(replace(BUSY, pending=(Element(102, 13, 99),))), 5)


def make_validator(**requests: int) -> Validator:
    validator = Validator({9: CHANNEL, 10: CHANNEL}, FLOWS)
    for flow, size in requests.items():
        validator.ask(flow, size)
    return validator


def test_grants_reduce_requests() -> None:
    validator = make_validator(a=480, b=4 * 48 - 8, c=1)
    assert validator.take(BUSY) == [
        Grant("a", 9, 100, 1006, 10, 480),
        Grant("b", 9, 101, 1016, 4, 184),
    ]
    assert validator.used == {"request": 6, "data": 14, "idle": 80}
    assert validator.end_round() == []
    assert validator.accounts == {"c": Account(1, 1)}


@pytest.mark.parametrize(
    ("requested", "allowed"), [(480, True), (433, True), (432, False), (0, False)]
)
def test_grant_may_only_round_up(requested: int, allowed: bool) -> None:
    """BUSY grants 480 bytes, 10 minislots of 48. A request of 432 needs 9, so 10 are too many."""
    validator = make_validator(a=requested, b=1000)
    if allowed:
        validator.take(BUSY)
    else:
        with pytest.raises(MapError, match=f"granted 480 bytes, requested {requested}"):
            validator.take(BUSY)


def alone(sid: int, minislots: int, **changes: int) -> Map:
    """A MAP with one grant and idle minislots."""
    elements = (Element(sid, 13, 0, minislots), Element(0, 13, minislots, 100 - minislots))
    return replace(BUSY, elements=elements, pending=(), **changes)  # type: ignore[arg-type]


def test_grants_on_all_channels_reduce_the_request() -> None:
    validator = make_validator(a=900)
    validator.take(alone(100, 10))
    # 900 bytes split: 450 in 10 minislots of 48, which 433 to 480 bytes need.
    validator.take(alone(100, 10, channel=10))
    assert validator.accounts["a"] == Account(900 - 2 * 433, 0)
    with pytest.raises(MapError, match="a: granted 96 bytes, requested 34"):
        make_validator(a=900 - 866).take(alone(100, 2))
    with pytest.raises(MapError, match="a: granted 96 bytes, requested 34"):
        validator.take(alone(100, 2, alloc_start=1100))


def test_end_of_round_clears_rounding() -> None:
    """450 bytes, granted 480: up to 17 may be left. Without a pending grant, none are left after
    the MAP round."""
    validator = make_validator(a=450)
    validator.take(alone(100, 10))
    assert validator.accounts["a"] == Account(17, 0)
    assert validator.end_round() == []
    with pytest.raises(MapError, match="a: granted 48 bytes, requested 0"):
        validator.take(alone(100, 1, alloc_start=1100))


def test_flow_without_pending_grant_is_reported() -> None:
    """A flow with ungranted bytes needs a pending grant in a MAP of the round, even with a
    grant."""
    validator = make_validator(a=481, c=5)
    validator.take(replace(alone(100, 10), pending=(Element(102, 13, 100),)))
    assert validator.end_round() == ["a"]  # a byte of 481 is left
    validator = make_validator(a=481, c=5)
    validator.forget("c")
    validator.take(replace(alone(100, 10), pending=(Element(100, 13, 100),)))
    assert validator.end_round() == []
    assert validator.accounts == {"a": Account(48, 1)}


def test_round_covers_channels_with_maps() -> None:
    """A flow whose channels had no MAP in the round keeps its requests."""
    validator = make_validator(c=5)
    validator.take(replace(alone(100, 1), channel=10, elements=(Element(0, 13, 0, 100),)))
    assert validator.end_round() == []
    assert validator.accounts == {"c": Account(5, 5)}
    validator.take(replace(alone(100, 1), elements=(Element(0, 13, 0, 100),)))
    assert validator.end_round() == ["c"]
    assert validator.end_round() == []


def test_flow_has_one_grant_per_map() -> None:
    twice = (Element(100, 13, 0, 10), Element(100, 13, 10, 90))
    with pytest.raises(MapError, match="two grants for SID 100"):
        make_validator(a=10000).take(replace(BUSY, elements=twice))
    flows = FLOWS | {(9, 100): Flow("a", unsolicited=True)}
    Validator({9: CHANNEL}, flows).take(replace(BUSY, elements=twice))


def test_poll_needs_a_known_sid() -> None:
    for sid in (0, 100, 0x3E00, BROADCAST):
        make_validator().take(replace(BUSY, elements=(Element(sid, REQUEST, 0, 100),)))
    with pytest.raises(MapError, match="SID 104"):
        make_validator().take(replace(BUSY, elements=(Element(104, REQUEST, 0, 100),)))


def test_unsolicited_grants_need_no_request() -> None:
    flows = FLOWS | {(9, 100): Flow("a", unsolicited=True, max_burst=480)}
    validator = Validator({9: CHANNEL}, flows)
    validator.take(alone(100, 10))
    flows[9, 100] = replace(flows[9, 100], max_burst=432)
    with pytest.raises(MapError, match="480 bytes, allowed 432"):
        Validator({9: CHANNEL}, flows).take(alone(100, 10))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"channel": 11}, "channel 11"),
        ({"ucd_count": 4}, "UCD count 4"),
        ({"alloc_start": 1099}, "1 minislots before"),
        ({"alloc_start": 1000}, "100 minislots before the previous MAP ends"),
        ({"alloc_start": 1101}, "begins no frame"),
        ({"minislots": 99}, "a frame has 50"),
        ({"ack_time": 399}, "back by 1"),
        ({"ack_time": 1101}, "1 minislots ahead of the alloc start"),
        ({"ack_time": 1100}, ""),
        ({"pending": (Element(104, 13, 100),)}, "SID 104"),
        ({"elements": (Element(104, 13, 0, 100),)}, "SID 104"),
        ({"elements": (Element(BROADCAST, REQUEST, 0, 1),)}, "1 minislots, an opportunity"),
        ({"elements": (Element(101, 13, 0, 1),)}, ""),
        ({}, ""),
    ],
)
def test_consecutive_maps(change: dict[str, object], error: str) -> None:
    validator = make_validator(a=10000, b=10000)
    validator.channels = {9: replace(CHANNEL, ucd_count=3)}
    validator.take(BUSY)
    following = replace(BUSY, **({"alloc_start": 1100} | change))  # type: ignore[arg-type]
    if error:
        with pytest.raises(MapError, match=error):
            validator.take(following)
    else:
        validator.take(following)


def test_size_of_grant_is_limited() -> None:
    validator = make_validator(a=10000, b=10000)
    validator.channels = {9: replace(CHANNEL, max_burst_minislots=9)}
    with pytest.raises(MapError, match="10 minislots, allowed 9"):
        validator.take(BUSY)
    validator = make_validator(a=10000, b=10000)
    validator.channels = {9: replace(CHANNEL, burst_minislots=4)}
    with pytest.raises(MapError, match="b: a grant too small"):
        validator.take(BUSY)


def test_minislot_count_wraps() -> None:
    validator = make_validator(a=10000, b=10000)
    validator.take(replace(BUSY, alloc_start=0xFFFFFFCE, ack_time=0xFFFFFF00))
    # The MAP before ends at minislot 50; a gap of a frame follows.
    grants = validator.take(replace(BUSY, alloc_start=100, ack_time=0))
    assert [grant.minislot for grant in grants] == [(1 << 32) + 106, (1 << 32) + 116]
    assert (validator.gaps, validator.maps) == (50, 2)
