# SPDX-License-Identifier: BSD-3-Clause
"""Tests how the PSP dissector gets session parameters: control messages, packets, preferences."""

from pathlib import Path

import pytest

from wireshark.psp_packets import (
    CORE,
    RPD,
    SESSION,
    avp,
    call,
    control,
    control_ip,
    counter,
    data_frame,
    depi,
    depi_udp,
    ethernet_pdu,
    ip,
    map_frame,
    map_message,
    psp,
    session_setup,
    split_frame,
    udp,
    write_pcap,
)
from wireshark.tshark import Tshark

FRAME = data_frame(1200, 3)
GOOD = "1"  # docsis.hcs.status


@pytest.mark.parametrize("extra", [0, 2])
def test_map_pseudowire_is_recognised(tshark: Tshark, pcap: Path, extra: int) -> None:
    """MAPs without MAC header are recognised and passed to the dissector of management messages."""
    write_pcap(pcap, [depi(psp(1, map_message(), map_message(), extra=counter(1)[:extra]))])
    names = ("docsis_map.numie", "docsis_mgmt.type", "docsis.fctype", "_ws.expert")
    (row,) = tshark.fields(pcap, *names)
    assert [row[name] for name in names] == [["3", "3"], ["3", "3"], [], []]


def test_session_preference_sets_payload_kind(tshark: Tshark, pcap: Path) -> None:
    write_pcap(pcap, [depi(psp(1, map_message())), depi(psp(1, map_frame()), 5)])
    preference = f"psp.sessions:0x{SESSION:08x}=0:data,5=auto:docsis"
    rows = tshark.fields(
        pcap, "psp.seq", "docsis_map.numie", "data.len", options=("-o", preference)
    )
    assert rows == [
        {"psp.seq": ["1"], "docsis_map.numie": [], "data.len": ["48"]},
        {"psp.seq": ["1"], "docsis_map.numie": ["3"], "data.len": []},
    ]


def test_preferences_set_extra_bytes(tshark: Tshark, pcap: Path) -> None:
    """A wrong setting gives frames with a wrong HCS. `psp.sessions` overrides `psp.extra`."""
    write_pcap(pcap, [depi(psp(1, map_frame(), extra=counter(1))), depi(psp(1, map_frame()), 5)])

    def hcs_good(*preferences: str) -> list[bool]:
        options = tuple(part for p in preferences for part in ("-o", p))
        rows = tshark.fields(pcap, "docsis.hcs.status", options=options)
        return [r["docsis.hcs.status"] == [GOOD] for r in rows]

    assert hcs_good() == [True, True]
    assert hcs_good("psp.extra:automatic") == [True, True]
    assert hcs_good("psp.extra:none") == [False, True]
    assert hcs_good("psp.extra:2 bytes") == [True, False]
    assert hcs_good("psp.extra:2 bytes", "psp.sessions:5=auto") == [True, True]
    assert hcs_good(f"psp.sessions:0x{SESSION:08x}=2,*=0") == [True, True]
    assert hcs_good("psp.sessions:5=2,*=0") == [False, False]
    assert hcs_good(f"psp.sessions:0x{SESSION:08x}=off") == [False, True]


def test_invalid_session_preference_is_reported(tshark: Tshark, pcap: Path) -> None:
    write_pcap(pcap, [depi(psp(1, map_frame()))])
    script = tshark.folder / "wireshark" / "docsis-psp.lua"
    command = f"tshark -X lua_script:{script} -r {pcap} -o psp.sessions:5=3,x=0,7=0:cake,1=0 2>&1"
    text = tshark.run(["sh", "-c", command])
    assert "psp.sessions: not understood: 5=3, x=0, 7=0:cake" in text


@pytest.mark.parametrize("extra", [0, 2])
def test_sessions_are_learned_from_control_messages(tshark: Tshark, pcap: Path, extra: int) -> None:
    """A session known from control messages is PSP from its first fragment on."""
    _, last = split_frame(FRAME, 700)
    packets = [
        *session_setup(SESSION, 4),
        depi(psp(1, last, extra=counter(1)[:extra])),
        depi(psp(2, map_frame(), extra=counter(2)[:extra])),
        *session_setup(0x2222, 13, local=2),
        depi(psp(1, map_message()), 0x2222),
    ]
    write_pcap(pcap, packets)
    rows = tshark.fields(pcap, "psp.seq", "psp.subtype", "docsis.hcs.status", "docsis_map.numie")
    assert rows[2]["psp.seq"] == ["1"]
    assert list(rows[3].values()) == [["2"], ["PSP DEPI"], [GOOD], ["3"]]
    assert rows[6]["psp.subtype"] == ["MAP SC-QAM"]
    assert rows[6]["docsis_map.numie"] == ["3"]


def test_udp_data_after_control_messages_is_psp(tshark: Tshark, pcap: Path) -> None:
    """The built-in dissector sets itself for the UDP conversation at each control message."""
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
        rows = tshark.fields(pcap, *names, options=passes)
        messages = [r["l2tp.avp.message_type"] for r in rows if not r["psp.subtype"]]
        assert messages == [["1"], ["10"], ["11"], ["6"], ["6"]]
        assert [r["docsis.hcs.status"] for r in rows if r["psp.subtype"]] == [[GOOD]] * 3


def test_cookie_size_from_avp_or_preference(tshark: Tshark, pcap: Path) -> None:
    """The Assigned Cookie AVP gives the size; without control messages the preference."""
    body = psp(1, map_frame())
    reply = call(11, SESSION, 0, 4, avp(65, bytes(8)))
    packets = [control_ip(reply, RPD, CORE), depi(b"12345678" + body), depi(b"abcd" + body, 5)]
    write_pcap(pcap, packets)
    names = ("psp.cookie", "docsis.hcs.status")
    rows = tshark.fields(pcap, *names, options=("-o", "psp.cookie:4 bytes"))
    assert rows[1] == {"psp.cookie": [b"12345678".hex()], "docsis.hcs.status": [GOOD]}
    assert rows[2] == {"psp.cookie": [b"abcd".hex()], "docsis.hcs.status": [GOOD]}
    assert tshark.fields(pcap, *names)[2] == {"psp.cookie": [], "docsis.hcs.status": []}


def test_multicast_session_is_found_by_its_id(tshark: Tshark, pcap: Path) -> None:
    _, last = split_frame(FRAME, 700)
    body = psp(1, last)
    data = [depi(body, destination=group) for group in ("232.1.1.1", "192.168.7.7")]
    write_pcap(pcap, [*session_setup(SESSION, 4), *data])
    assert [r["psp.seq"] for r in tshark.fields(pcap, "psp.seq")[2:]] == [["1"], []]


def test_other_l2tp_packets_use_the_builtin_dissector(tshark: Tshark, pcap: Path) -> None:
    """L2TPv2, Ethernet pseudowires and short packets look the same with and without the script."""
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

    plain = tshark.run(["tshark", "-n", "-r", str(pcap), "-V"], tshark.variables)
    assert "Ethernet II, Src: 02:00:00:00:00:09, Dst: 02:01:00:00:00:01" in plain
    assert tree(tshark.read(pcap, "-V")) == tree(plain)


def test_other_udp_port_by_decode_as(tshark: Tshark, pcap: Path) -> None:
    write_pcap(pcap, [depi_udp(psp(1, map_frame()), port=5555)])
    assert tshark.fields(pcap, "psp.seq") == [{"psp.seq": []}]
    setup = tshark.fields(pcap, "psp.seq", options=("-d", "udp.port==5555,psp_udp"))
    assert setup == [{"psp.seq": ["1"]}]
