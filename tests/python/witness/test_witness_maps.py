# SPDX-License-Identifier: BSD-3-Clause
"""The witness's MAPs: a real one, round trips, each rule broken, and closed loops that cheat."""

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
    MOST_ELEMENTS,
    MOST_MINISLOTS,
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

REAL = bytes.fromhex("0100040001556601015564710004000AFFFCC000FFFC4028FFFC41270001C140")
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


def test_a_real_one() -> None:
    found = read(REAL, 1)
    assert found.elements == (
        Element(BROADCAST, INITIAL, 0, 40),
        Element(BROADCAST, REQUEST, 40, 255),
        Element(BROADCAST, REQUEST, 295, 25),
    )
    assert (found.minislots, found.alloc_start - found.ack_time) == (320, 400)
    assert write(found) == REAL


def test_all_of_a_real_core() -> None:
    """On its MAP pseudowire, in order: 320 minislots each, some minislots between them."""
    validator = Validator({1: Channel()})
    for record in read_pcap(capture("rpd-session.pcap")).records:
        try:
            datagram = decode_datagram(record.data)
            segments = decode_psp(datagram.payload).segments if datagram.session else ()
        except (L2tpError, DepiError):
            continue
        for segment in segments:
            if segment.data[18:19] == b"\3":
                body = segment.data[20:]
                found = read(body, segment.data[17])
                assert validator.take(found) == []
                assert write(found) == body
    assert validator.maps == 8439
    assert validator.used.keys() == {"initial", "request"}
    assert sum(validator.used.values()) == 320 * 8439
    assert 0 < validator.gaps < 3 * 8439


@st.composite
def maps(draw: st.DrawFn) -> Map:
    version = draw(st.sampled_from([1, 5]))
    most = MOST_MINISLOTS[version]
    ends = draw(st.sets(st.integers(1, most), max_size=min(60, MOST_ELEMENTS[version] - 1)))
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
def test_round_trip(made: Map) -> None:
    assert read(write(made), made.version) == made


@pytest.mark.parametrize(
    ("at", "value", "told"),
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
def test_a_rule_broken(at: slice, value: str, told: str) -> None:
    body = bytearray(REAL)
    body[at] = bytes.fromhex(value)
    with pytest.raises(MapError, match=told):
        read(bytes(body), 1)


def test_no_map() -> None:
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


def validator(**asked: int) -> Validator:
    made = Validator({9: CHANNEL, 10: CHANNEL}, FLOWS)
    for flow, size in asked.items():
        made.ask(flow, size)
    return made


def test_grants_of_what_was_asked() -> None:
    made = validator(a=480, b=4 * 48 - 8, c=1)
    assert made.take(BUSY) == [Grant("a", 9, 100, 1006, 10, 480), Grant("b", 9, 101, 1016, 4, 184)]
    assert made.used == {"request": 6, "data": 14, "idle": 80}
    assert made.end_round() == []
    assert made.accounts == {"c": Account(1, 1)}


@pytest.mark.parametrize(("asked", "fits"), [(480, True), (433, True), (432, False), (0, False)])
def test_a_grant_is_rounded_up_and_no_more(asked: int, fits: bool) -> None:
    made = validator(a=asked, b=1000)
    if fits:
        made.take(BUSY)
    else:
        with pytest.raises(MapError, match=f"of {asked} it asked for"):
            made.take(BUSY)


def alone(sid: int, minislots: int, **changes: int) -> Map:
    """One grant, and idle minislots."""
    elements = (Element(sid, 13, 0, minislots), Element(0, 13, minislots, 100 - minislots))
    return replace(BUSY, elements=elements, pending=(), **changes)  # type: ignore[arg-type]


def test_channels_share_what_a_flow_is_owed() -> None:
    made = validator(a=900)
    made.take(alone(100, 10))
    made.take(alone(100, 10, channel=10))  # 450 and 450, each rounded up
    assert made.accounts["a"] == Account(900 - 2 * 433, 0)
    with pytest.raises(MapError, match="a: granted 96 bytes, of 34 it asked for"):
        validator(a=900 - 866).take(alone(100, 2))
    with pytest.raises(MapError, match="a: granted 96 bytes, of 34"):
        made.take(alone(100, 2, alloc_start=1100))


def test_a_round_settles_what_was_rounded() -> None:
    made = validator(a=450)
    made.take(alone(100, 10))
    assert made.accounts["a"] == Account(17, 0)
    assert made.end_round() == []
    with pytest.raises(MapError, match="a: granted 48 bytes, of 0"):
        made.take(alone(100, 1, alloc_start=1100))


def test_who_is_owed_something_is_told_so() -> None:
    made = validator(a=481, c=5)
    made.take(replace(alone(100, 10), pending=(Element(102, 13, 100),)))
    assert made.end_round() == ["a"]  # 10 minislots hold 480
    made = validator(a=481, c=5)
    made.forget("c")
    made.take(replace(alone(100, 10), pending=(Element(100, 13, 100),)))
    assert made.end_round() == []
    assert made.accounts == {"a": Account(48, 1)}


def test_a_round_is_of_its_channels() -> None:
    made = validator(c=5)
    made.take(replace(alone(100, 1), channel=10, elements=(Element(0, 13, 0, 100),)))
    assert made.end_round() == []
    assert made.accounts == {"c": Account(5, 5)}
    made.take(replace(alone(100, 1), elements=(Element(0, 13, 0, 100),)))
    assert made.end_round() == ["c"]
    assert made.end_round() == []


def test_one_block_a_map() -> None:
    twice = (Element(100, 13, 0, 10), Element(100, 13, 10, 90))
    with pytest.raises(MapError, match="two grants for SID 100"):
        validator(a=10000).take(replace(BUSY, elements=twice))
    flows = FLOWS | {(9, 100): Flow("a", unsolicited=True)}
    Validator({9: CHANNEL}, flows).take(replace(BUSY, elements=twice))


def test_polls_of_somebody() -> None:
    for sid in (0, 100, 0x3E00, BROADCAST):
        validator().take(replace(BUSY, elements=(Element(sid, REQUEST, 0, 100),)))
    with pytest.raises(MapError, match="SID 104"):
        validator().take(replace(BUSY, elements=(Element(104, REQUEST, 0, 100),)))


def test_unsolicited_is_not_asked_for() -> None:
    flows = FLOWS | {(9, 100): Flow("a", unsolicited=True, max_burst=480)}
    made = Validator({9: CHANNEL}, flows)
    made.take(alone(100, 10))
    flows[9, 100] = replace(flows[9, 100], max_burst=432)
    with pytest.raises(MapError, match="480 bytes, allowed 432"):
        Validator({9: CHANNEL}, flows).take(alone(100, 10))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"channel": 11}, "channel 11"),
        ({"ucd_count": 4}, "UCD count 4"),
        ({"alloc_start": 1099}, "1 minislots before"),
        ({"alloc_start": 1000}, "100 minislots before"),
        ({"alloc_start": 1101}, "begins no frame"),
        ({"minislots": 99}, "a frame has 50"),
        ({"ack_time": 399}, "back by 1"),
        ({"ack_time": 1101}, "1 minislots ahead"),
        ({"ack_time": 1100}, ""),
        ({"pending": (Element(104, 13, 100),)}, "SID 104"),
        ({"elements": (Element(104, 13, 0, 100),)}, "SID 104"),
        ({"elements": (Element(BROADCAST, REQUEST, 0, 1),)}, "1 minislots, an opportunity"),
        ({"elements": (Element(101, 13, 0, 1),)}, ""),
        ({}, ""),
    ],
)
def test_maps_in_their_order(change: dict[str, object], told: str) -> None:
    made = validator(a=10000, b=10000)
    made.channels = {9: replace(CHANNEL, ucd_count=3)}
    made.take(BUSY)
    following = replace(BUSY, **({"alloc_start": 1100} | change))  # type: ignore[arg-type]
    if told:
        with pytest.raises(MapError, match=told):
            made.take(following)
    else:
        made.take(following)


def test_bounds_of_a_grant() -> None:
    made = validator(a=10000, b=10000)
    made.channels = {9: replace(CHANNEL, max_burst_minislots=9)}
    with pytest.raises(MapError, match="10 minislots, allowed 9"):
        made.take(BUSY)
    made = validator(a=10000, b=10000)
    made.channels = {9: replace(CHANNEL, burst_minislots=4)}
    with pytest.raises(MapError, match="b: a grant without room"):
        made.take(BUSY)


def test_counts_that_wrap() -> None:
    made = validator(a=10000, b=10000)
    made.take(replace(BUSY, alloc_start=0xFFFFFFCE, ack_time=0xFFFFFF00))
    grants = made.take(replace(BUSY, alloc_start=100, ack_time=0))  # 50, and a frame of gap
    assert [grant.minislot for grant in grants] == [(1 << 32) + 106, (1 << 32) + 116]
    assert (made.gaps, made.maps) == (50, 2)
