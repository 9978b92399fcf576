# SPDX-License-Identifier: BSD-3-Clause
"""The PSP dissector on packets made here, byte by byte."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from wireshark.psp_packets import (
    CORE,
    CORE6,
    GATEWAY,
    MODEM,
    RPD,
    RPD6,
    SESSION,
    Segment,
    avp,
    call,
    control,
    control_ip,
    counter,
    cut,
    data_frame,
    depi,
    depi_udp,
    ethernet_pdu,
    ip,
    mac_frame,
    map_frame,
    map_message,
    privacy,
    psp,
    set_up,
    udp,
    write_pcap,
)
from wireshark.stage import Stage

FRAME = data_frame(1200, 3)
GOOD = "1"  # docsis.hcs.status
Carry = Callable[..., bytes]
HEAD_FIELDS = [
    "psp.seq", "psp.count", "psp.segment.begin", "psp.segment.end", "psp.segment.len",
    "psp.extra.counter", "psp.extra.profile", "psp.reassembled_in", "psp.fragment",
    "psp.reassembled.length", "psp.gap",
]  # fmt: skip
FRAME_FIELDS = [
    "docsis.hcs.status", "docsis.ehdr.ds_pkt_seq_num", "docsis.len", "l2tp.sid", "_ws.expert"
]  # fmt: skip
EXPERTS = [
    "gap", "late", "restart", "short", "table_beyond", "beyond", "trailing", "empty", "cut",
    "no_begin", "before_capture", "lost_middle", "no_end", "too_long",
]  # fmt: skip


@pytest.fixture
def pcap(stage: Stage, request: pytest.FixtureRequest) -> Path:
    """Where this test writes its capture: a place that tshark may read."""
    return stage.folder / f"{request.node.name}.pcap"


CARRIERS = [
    pytest.param(depi, {}, id="ipv4"),
    pytest.param(depi, {"source": CORE6, "destination": RPD6}, id="ipv6"),
    pytest.param(depi_udp, {}, id="udp"),
    pytest.param(depi_udp, {"source": CORE6, "destination": RPD6}, id="udp-ipv6"),
]


def truth(values: list[str]) -> list[int]:
    """Booleans, which tshark prints as 1 and 0 or, newer ones, as True and False."""
    return [int(v in ("1", "True")) for v in values]


@pytest.mark.parametrize("extra", [0, 2])
@pytest.mark.parametrize(("carry", "addresses"), CARRIERS)
def test_fragmented_over_three_packets(
    stage: Stage, pcap: Path, carry: Carry, addresses: dict[str, str], extra: int
) -> None:
    """Whole frames beside a frame in three pieces: all fields, every frame whole, no complaint."""
    first, middle, last = cut(FRAME, 500, 400)
    bodies = [
        psp(0xFFFE, data_frame(104, 0), data_frame(120, 1), first, extra=counter(14)[:extra]),
        psp(0xFFFF, middle, extra=counter(15)[:extra]),
        psp(0x0000, last, data_frame(200, 4), extra=counter(0, 5)[:extra]),
    ]
    write_pcap(pcap, [carry(body, **addresses) for body in bodies])
    rows = stage.fields(pcap, *HEAD_FIELDS, *FRAME_FIELDS, options=("-2",))
    assert [r["psp.seq"] for r in rows] == [["65534"], ["65535"], ["0"]]
    assert [r["psp.count"] for r in rows] == [["3"], ["1"], ["2"]]
    assert [r["psp.segment.len"] for r in rows] == [["104", "120", "500"], ["400"], ["300", "200"]]
    assert [truth(r["psp.segment.begin"]) for r in rows] == [[1, 1, 1], [0], [0, 1]]
    assert [truth(r["psp.segment.end"]) for r in rows] == [[1, 1, 0], [0], [1, 1]]
    counters, profiles = (
        ([["14"], ["15"], ["0"]], [["0"], ["0"], ["5"]]) if extra else ([[]] * 3,) * 2
    )
    assert [r["psp.extra.counter"] for r in rows] == counters
    assert [r["psp.extra.profile"] for r in rows] == profiles
    assert [r["psp.reassembled_in"] for r in rows] == [["3"], ["3"], []]
    assert [r["psp.fragment"] for r in rows] == [[], [], ["1", "2", "3"]]
    assert [r["psp.reassembled.length"] for r in rows] == [[], [], ["1200"]]
    assert [r["docsis.hcs.status"] for r in rows] == [[GOOD, GOOD], [], [GOOD, GOOD]]
    assert [r["docsis.ehdr.ds_pkt_seq_num"] for r in rows] == [["0", "1"], [], ["3", "4"]]
    assert [r["docsis.len"] for r in rows] == [["98", "114"], [], ["1194", "194"]]
    assert all(r["l2tp.sid"] == ["0x00010001"] for r in rows)
    assert all(r["_ws.expert"] == [] and r["psp.gap"] == [] for r in rows)


def layers(stage: Stage, pcap: Path, *options: str) -> list[dict[str, object]]:
    packets = json.loads(stage.tshark(pcap, "-T", "json", "--no-duplicate-keys", *options))
    return [packet["_source"]["layers"] for packet in packets]


def experts(stage: Stage, pcap: Path, *options: str) -> list[list[str]]:
    """The names of the expert fields of each packet, without `psp.expert.`."""
    rows = stage.fields(pcap, *(f"psp.expert.{name}" for name in EXPERTS), options=options)
    return [[name for name in EXPERTS if row[f"psp.expert.{name}"]] for row in rows]


def test_fragmented_over_two_packets_gives_the_bytes_back(stage: Stage, pcap: Path) -> None:
    """The payload that the innermost dissector sees is what the frame held, also in one pass."""
    first, last = cut(FRAME, 700)
    write_pcap(pcap, [depi(psp(7, first)), depi(psp(8, last))])
    for passes in ((), ("-2",)):
        rows = stage.fields(pcap, "udp.payload", "docsis.hcs.status", options=passes)
        sent = FRAME[17 + 14 + 28 : -4].hex()
        assert rows == [
            {"udp.payload": [], "docsis.hcs.status": []},
            {"udp.payload": [sent], "docsis.hcs.status": [GOOD]},
        ]
    assert "DOCSIS Packet PDU" not in stage.tshark(pcap, "-V", "-Y", "frame.number == 1")


def test_json_tree(stage: Stage, pcap: Path) -> None:
    write_pcap(pcap, [depi(psp(9, map_frame(), extra=counter(3)))])
    (packet,) = layers(stage, pcap)
    head = packet["psp"]
    assert isinstance(head, dict)
    assert head["psp.seq"] == "9"
    assert head["psp.count"] == "1"
    assert head["psp.flow"] == "0"
    assert "docsis" in packet and "l2tp" in packet


@pytest.mark.parametrize("extra", [0, 2])
def test_map_pseudowire_is_recognised(stage: Stage, pcap: Path, extra: int) -> None:
    """A MAP without MAC header goes to the management dissector: its bytes say what it is."""
    write_pcap(pcap, [depi(psp(1, map_message(), map_message(), extra=counter(1)[:extra]))])
    names = ("docsis_map.numie", "docsis_mgmt.type", "docsis.fctype", "_ws.expert")
    (row,) = stage.fields(pcap, *names)
    assert [row[name] for name in names] == [["3", "3"], ["3", "3"], [], []]


def test_preference_says_what_a_session_carries(stage: Stage, pcap: Path) -> None:
    write_pcap(pcap, [depi(psp(1, map_message())), depi(psp(1, map_frame()), 5)])
    wish = f"psp.sessions:0x{SESSION:08x}=0:data,5=auto:docsis"
    rows = stage.fields(pcap, "psp.seq", "docsis_map.numie", "data.len", options=("-o", wish))
    assert rows == [
        {"psp.seq": ["1"], "docsis_map.numie": [], "data.len": ["48"]},
        {"psp.seq": ["1"], "docsis_map.numie": ["3"], "data.len": []},
    ]


def test_preference_sets_the_extra_bytes(stage: Stage, pcap: Path) -> None:
    """Set wrong, the frames come out wrong, so it is obeyed; the list goes before the rest."""
    write_pcap(pcap, [depi(psp(1, map_frame(), extra=counter(1))), depi(psp(1, map_frame()), 5)])

    def good(*preferences: str) -> list[bool]:
        options = tuple(part for p in preferences for part in ("-o", p))
        rows = stage.fields(pcap, "docsis.hcs.status", options=options)
        return [r["docsis.hcs.status"] == [GOOD] for r in rows]

    assert good() == [True, True]
    assert good("psp.extra:automatic") == [True, True]
    assert good("psp.extra:none") == [False, True]
    assert good("psp.extra:2 bytes") == [True, False]
    assert good("psp.extra:2 bytes", "psp.sessions:5=auto") == [True, True]
    assert good(f"psp.sessions:0x{SESSION:08x}=2,*=0") == [True, True]
    assert good("psp.sessions:5=2,*=0") == [False, False]
    assert good(f"psp.sessions:0x{SESSION:08x}=off") == [False, True]


def test_wrong_preference_is_named(stage: Stage, pcap: Path) -> None:
    write_pcap(pcap, [depi(psp(1, map_frame()))])
    script = stage.folder / "wireshark" / "docsis-psp.lua"
    command = f"tshark -X lua_script:{script} -r {pcap} -o psp.sessions:5=3,x=0,7=0:cake,1=0 2>&1"
    text = stage.run(["sh", "-c", command])
    assert "psp.sessions: not understood: 5=3, x=0, 7=0:cake" in text


def test_sequence_gap(stage: Stage, pcap: Path) -> None:
    frames = [psp(n, data_frame(100, n)) for n in (10, 11, 15, 16)]
    write_pcap(pcap, [depi(f) for f in frames])
    rows = stage.fields(pcap, "psp.gap", "docsis.hcs.status")
    assert [r["psp.gap"] for r in rows] == [[], [], ["3"], []]
    assert [r["docsis.hcs.status"] for r in rows] == [[GOOD]] * 4
    assert experts(stage, pcap) == [[], [], ["gap"], []]


def test_sequence_numbers_of_sessions_and_flows_are_apart(stage: Stage, pcap: Path) -> None:
    """Two sessions, two directions and two flows interleave without a gap, fragments included."""
    first, last = cut(FRAME, 700)
    other_first, other_last = cut(data_frame(900, 9), 300)
    packets = [
        depi(psp(1, first)),
        depi(psp(500, other_first), 5),
        depi(psp(900, other_first, flow=3)),
        depi(psp(70, other_first), source=RPD, destination=CORE),
        depi(psp(2, last)),
        depi(psp(501, other_last), 5),
        depi(psp(901, other_last, flow=3)),
        depi(psp(71, other_last), source=RPD, destination=CORE),
    ]
    write_pcap(pcap, packets)
    names = ("psp.fragment", "docsis.hcs.status", "psp.flow", "_ws.expert")
    rows = stage.fields(pcap, *names, options=("-2",))
    assert [r["psp.fragment"] for r in rows[4:]] == [["1", "5"], ["2", "6"], ["3", "7"], ["4", "8"]]
    assert all(r["docsis.hcs.status"] == [GOOD] for r in rows[4:])
    assert [r["psp.flow"] for r in rows] == [[f] for f in "00300030"]
    assert all(r["_ws.expert"] == [] for r in rows)
    mixed = experts(stage, pcap, "-o", "psp.flow_sequence:FALSE")
    assert [names for names in mixed if "gap" in names or "late" in names]


def test_lost_middle_and_lost_end(stage: Stage, pcap: Path) -> None:
    first, _, last = cut(FRAME, 500, 400)
    packets = [
        psp(1, first),
        psp(3, last),  # the middle was in 2
        psp(4, first),
        psp(6, data_frame(100)),  # the end was in 5
        psp(7, first),
        psp(8, data_frame(100)),  # nothing lost: the sender never ended the frame
        psp(9, last),  # nor began this one
        psp(10, data_frame(100)),
    ]
    write_pcap(pcap, [depi(p) for p in packets])
    expected = [[], ["gap", "lost_middle"], [], ["gap", "no_end"], [], ["no_end"], ["no_begin"], []]
    assert experts(stage, pcap) == expected
    assert experts(stage, pcap, "-2") == expected
    rows = stage.fields(pcap, "psp.reassembled_in", "docsis.hcs.status", options=("-2",))
    assert all(r["psp.reassembled_in"] == [] for r in rows)
    whole = [i + 1 for i, r in enumerate(rows) if r["docsis.hcs.status"] == [GOOD]]
    assert whole == [4, 6, 8]
    text = stage.tshark(pcap, "-2", "-V")
    assert "never completed: lost" in text and "never completed: no end" in text
    assert "The middle of this frame, begun in packet 1, was lost" in text


def test_capture_that_starts_in_a_frame(stage: Stage, pcap: Path) -> None:
    """A note, not a warning. Until a frame shows what the session is, it must be told."""
    _, middle, last = cut(FRAME, 500, 400)
    write_pcap(pcap, [depi(psp(1, middle)), depi(psp(2, last)), depi(psp(3, data_frame(100)))])
    noted = ["before_capture"]
    assert experts(stage, pcap, "-o", "psp.sessions:*=0") == [noted, noted, []]
    assert [r["psp.seq"] for r in stage.fields(pcap, "psp.seq")] == [[], [], ["3"]]


def test_late_duplicate_and_restart(stage: Stage, pcap: Path) -> None:
    first, last = cut(FRAME, 700)
    packets = [psp(100, first), psp(100, first), psp(101, last), psp(99, data_frame(100))]
    packets += [psp(n, data_frame(100)) for n in range(40, 50)]
    write_pcap(pcap, [depi(p) for p in packets])
    found = experts(stage, pcap)
    assert found[:4] == [[], ["late"], [], ["late"]]
    assert found[4:] == [["late"]] * 7 + [["restart"], [], []]
    rows = stage.fields(pcap, "psp.fragment", "docsis.hcs.status")
    assert rows[2] == {"psp.fragment": ["1", "3"], "docsis.hcs.status": [GOOD]}


def test_frame_longer_than_any(stage: Stage, pcap: Path) -> None:
    """A sender that never ends a frame is cut off; the next frame is fine again."""
    head = Segment(FRAME[:1000], first=True, last=False)
    more = Segment(bytes(9000), first=False, last=False)
    packets = [psp(1, head), *(psp(n, more) for n in range(2, 10)), psp(10, data_frame(100))]
    write_pcap(pcap, [depi(p) for p in packets])
    assert experts(stage, pcap) == [[]] * 8 + [["too_long"], []]
    assert stage.fields(pcap, "docsis.hcs.status")[-1] == {"docsis.hcs.status": [GOOD]}


def test_table_and_segments_beyond_the_packet(stage: Stage, pcap: Path) -> None:
    whole = psp(1, data_frame(100))
    packets = [
        whole,
        b"\x40\xff\x00\x02" + whole[4:],  # 255 entries
        b"\x40\x01\x00\x03\xff\xff" + whole[6:],  # 16383 bytes
        psp(4, data_frame(100)) + bytes(5),
        psp(5, Segment(b"", first=False, last=False), data_frame(100)),
        psp(6),
    ]
    write_pcap(pcap, [depi(p) for p in packets])
    assert experts(stage, pcap) == [[], ["table_beyond"], ["beyond"], ["trailing"], ["empty"], []]


@pytest.mark.parametrize("carry", [depi, depi_udp])
@pytest.mark.parametrize("extra", [0, 2])
def test_every_truncation(stage: Stage, pcap: Path, carry: Carry, extra: int) -> None:
    """A packet that ends at any byte: no Lua error, and all but the whole one are complained of."""
    fragment = Segment(FRAME[:40], last=False)
    whole = psp(1, map_frame(), map_frame(), fragment, extra=counter(1)[:extra])
    write_pcap(pcap, [carry(whole[:size], 100 + size) for size in range(len(whole) + 1)])
    for options in (("-o", f"psp.sessions:*={extra}"), ("-2", "-o", "psp.sessions:*=auto"), ()):
        stage.tshark(pcap, "-V", *options)
    found = experts(stage, pcap, "-o", f"psp.sessions:*={extra}")
    severe = {"short", "table_beyond", "beyond"}
    assert [bool(severe.intersection(names)) for names in found] == [True] * len(whole) + [False]


@pytest.mark.parametrize("carry", [depi, depi_udp])
def test_every_snap_length(stage: Stage, pcap: Path, carry: Carry) -> None:
    """A packet that the capture cut short is not malformed, only not shown in full."""
    body = psp(1, map_frame(), map_frame(), extra=counter(1))
    whole = [carry(body, 100 + size) for size in range(4, len(body))]
    start = len(whole[0]) - len(body)
    write_pcap(pcap, whole, [start + size for size in range(4, len(body))])
    found = experts(stage, pcap, "-o", "psp.sessions:*=2")
    assert {tuple(sorted(set(names))) for names in found} == {("cut",)}


def test_hostile_bytes(stage: Stage, pcap: Path) -> None:
    """Bytes changed at random, data and control: no Lua error, and sound packets decode."""
    chance = random.Random(20240229)
    first, middle, last = cut(FRAME, 500, 400)
    sound = [
        depi(psp(1, data_frame(104, 0), first, extra=counter(1))),
        depi_udp(psp(2, middle, map_frame(), extra=counter(2))),
        depi(psp(3, last, extra=counter(3)), source=CORE6, destination=RPD6),
        *set_up(SESSION, 4),
        udp(CORE, RPD, call(10, 1, 0, 4)),
    ]
    packets = []
    for _ in range(2500):
        packet = bytearray(chance.choice(sound))
        start = 54 if packet[12:14] == b"\x86\xdd" else 34
        for _ in range(chance.randint(1, 6)):
            packet[chance.randrange(start, min(len(packet), start + 60))] = chance.randrange(256)
        packets.append(bytes(packet))
    write_pcap(pcap, [*packets, depi(psp(1, map_frame()), 0x777)])
    for options in ((), ("-2", "-o", "psp.sessions:*=auto")):
        stage.tshark(pcap, "-V", *options)
    assert stage.fields(pcap, "docsis.hcs.status")[-1] == {"docsis.hcs.status": [GOOD]}


@pytest.mark.parametrize("extra", [0, 2])
def test_sessions_are_learned_from_control_messages(stage: Stage, pcap: Path, extra: int) -> None:
    """Control messages name the session: then even a fragment without beginning is PSP."""
    _, last = cut(FRAME, 700)
    packets = [
        *set_up(SESSION, 4),
        depi(psp(1, last, extra=counter(1)[:extra])),
        depi(psp(2, map_frame(), extra=counter(2)[:extra])),
        *set_up(0x2222, 13, local=2),
        depi(psp(1, map_message()), 0x2222),
    ]
    write_pcap(pcap, packets)
    rows = stage.fields(pcap, "psp.seq", "psp.subtype", "docsis.hcs.status", "docsis_map.numie")
    assert rows[2]["psp.seq"] == ["1"]
    assert list(rows[3].values()) == [["2"], ["PSP DEPI"], [GOOD], ["3"]]
    assert rows[6]["psp.subtype"] == ["MAP SC-QAM"]
    assert rows[6]["docsis_map.numie"] == ["3"]


def test_control_messages_over_udp_keep_the_data_with_us(stage: Stage, pcap: Path) -> None:
    """The built-in dissector claims the UDP conversation at each control message."""
    request = control(1, avp(15, b"\0\4", 4491))
    packets = [
        udp(CORE, RPD, request),
        udp(CORE, RPD, call(10, 1, 0, 4)),
        udp(RPD, CORE, call(11, SESSION, 1, 4)),
        depi_udp(psp(1, map_frame(), extra=counter(0))),
        udp(RPD, CORE, control(6)),
        depi_udp(psp(2, map_frame(), extra=counter(1))),
        udp(CORE, RPD, control(6)),
        depi_udp(psp(3, map_frame(), extra=counter(2))),
    ]
    write_pcap(pcap, packets)
    for passes in ((), ("-2",)):
        names = ("psp.subtype", "l2tp.avp.message_type", "docsis.hcs.status")
        rows = stage.fields(pcap, *names, options=passes)
        messages = [r["l2tp.avp.message_type"] for r in rows if not r["psp.subtype"]]
        assert messages == [["1"], ["10"], ["11"], ["6"], ["6"]]
        assert [r["docsis.hcs.status"] for r in rows if r["psp.subtype"]] == [[GOOD]] * 3


def test_cookies(stage: Stage, pcap: Path) -> None:
    """Learned from the Assigned Cookie AVP, or told by the preference."""
    body = psp(1, map_frame())
    reply = call(11, SESSION, 0, 4, avp(65, bytes(8)))
    packets = [control_ip(reply, RPD, CORE), depi(b"12345678" + body), depi(b"abcd" + body, 5)]
    write_pcap(pcap, packets)
    names = ("psp.cookie", "docsis.hcs.status")
    rows = stage.fields(pcap, *names, options=("-o", "psp.cookie:4 bytes"))
    assert rows[1] == {"psp.cookie": [b"12345678".hex()], "docsis.hcs.status": [GOOD]}
    assert rows[2] == {"psp.cookie": [b"abcd".hex()], "docsis.hcs.status": [GOOD]}
    assert stage.fields(pcap, *names)[2] == {"psp.cookie": [], "docsis.hcs.status": []}


def test_multicast_session_is_known_by_its_id(stage: Stage, pcap: Path) -> None:
    _, last = cut(FRAME, 700)
    body = psp(1, last)
    data = [depi(body, destination=group) for group in ("232.1.1.1", "192.168.7.7")]
    write_pcap(pcap, [*set_up(SESSION, 4), *data])
    assert [r["psp.seq"] for r in stage.fields(pcap, "psp.seq")[2:]] == [["1"], []]


def test_everything_else_stays_with_the_built_in_dissector(stage: Stage, pcap: Path) -> None:
    """L2TPv2, an Ethernet pseudowire and garbage look the same with and without the script."""
    inner = ethernet_pdu(80)[:-4]
    packets = [
        control_ip(control(1), CORE, RPD),
        control_ip(call(10, 1, 0, 0, pw=5), CORE, RPD),
        control_ip(call(11, 9, 1, 0, pw=5), RPD, CORE),
        depi(inner, 9),
        depi(inner, 77),
        udp(CORE, RPD, control(1)),
        udp(CORE, RPD, call(10, 1, 0, 0, pw=5)),
        udp(RPD, CORE, call(11, 9, 1, 0, pw=5)),
        depi_udp(inner, 9),
        udp(RPD, CORE, bytes.fromhex("c8020014000100000000000080080000000000 01")),
        udp(RPD, CORE, bytes.fromhex("0002000100010021")),
        *(ip(CORE, RPD, 115, b"\0\1\2\3\4"[:n]) for n in range(5)),
        *(udp(CORE, RPD, b"\0\3\0\0\1\2\3\4\5"[:n]) for n in range(9)),
    ]
    write_pcap(pcap, packets)

    def tree(text: str) -> str:
        return "\n".join(line for line in text.splitlines() if "Protocols in frame" not in line)

    plain = stage.run(["tshark", "-n", "-r", str(pcap), "-V"])
    assert "Ethernet II, Src: 02:00:00:00:00:09, Dst: 02:01:00:00:00:01" in plain
    assert tree(stage.tshark(pcap, "-V")) == tree(plain)


def test_packet_quoted_by_icmp_is_not_of_the_stream(stage: Stage, pcap: Path) -> None:
    """An unreachable message quotes packet 1: no packet for sequence and reassembly."""
    first, last = cut(FRAME, 700)
    quoted = depi(psp(1, first))[14:]
    icmp = ip(RPD, CORE, 1, bytes.fromhex("0303fcfc00000000") + quoted)
    write_pcap(pcap, [depi(psp(1, first)), icmp, depi(psp(2, last))])
    assert experts(stage, pcap) == [[], [], []]
    assert stage.fields(pcap, "psp.fragment")[2] == {"psp.fragment": ["1", "3"]}


def test_decrypted_payload(stage: Stage, pcap: Path) -> None:
    """A frame whose header says encrypted shows its payload when Wireshark is told to look."""
    frame = mac_frame(ethernet_pdu(100), privacy(1, enabled=True))
    write_pcap(pcap, [depi(psp(1, frame))])
    names = ("docsis.bpi_en", "docsis.encrypted_payload", "udp.dstport")
    (closed,) = stage.fields(pcap, *names)
    (open_,) = stage.fields(pcap, *names, options=("-o", "docsis.dissect_encrypted_frames:TRUE"))
    assert closed["udp.dstport"] == []
    assert len(bytes.fromhex(closed["docsis.encrypted_payload"][0])) == 100 - 12
    assert open_["udp.dstport"] == ["40000"] and open_["docsis.encrypted_payload"] == []


def test_other_udp_port_by_decode_as(stage: Stage, pcap: Path) -> None:
    write_pcap(pcap, [depi_udp(psp(1, map_frame()), port=5555)])
    assert stage.fields(pcap, "psp.seq") == [{"psp.seq": []}]
    told = stage.fields(pcap, "psp.seq", options=("-d", "udp.port==5555,psp_udp"))
    assert told == [{"psp.seq": ["1"]}]


def test_bad_hcs_is_shown(stage: Stage, pcap: Path) -> None:
    """A frame with a wrong HCS in a known session: Wireshark says so."""
    broken = bytearray(map_frame())
    broken[4] ^= 1
    write_pcap(pcap, [depi(psp(1, map_frame())), depi(psp(2, bytes(broken)))])
    rows = stage.fields(pcap, "docsis.hcs.status", "psp.seq")
    assert [r["docsis.hcs.status"] for r in rows] == [[GOOD], ["0"]]


def test_makers() -> None:
    """The makers' own ground: the HCS of a header and the length rule, as published."""
    assert mac_frame(bytes(0x38), fc=0xC2)[:6] == bytes.fromhex("c2000038ba43")
    assert data_frame(119)[:17].hex().startswith("010b0071")
    assert (MODEM[0] | GATEWAY[0]) & 1 == 0
