# SPDX-License-Identifier: BSD-3-Clause
"""Runs every command of docs/wireshark.md and compares its output with the page."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from vcmts.witness import uepi
from vcmts.witness.burst import Burst, encode_burst
from vcmts.witness.depi import Segment
from wireshark import psp_packets as make
from wireshark import uepi_packets as up
from wireshark.tshark import CHECKOUT, Tshark
from wireshark.uepi_packets import frame as upstream_frame

PAGE = CHECKOUT / "docs" / "wireshark.md"


def blocks() -> list[list[tuple[str, str]]]:
    """The commands of each block, each with its documented output (may be empty)."""
    result = []
    for block in re.findall(r"^```console\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        parts = re.split(r"^\$ ", re.sub(r"\\\n *", "", block), flags=re.MULTILINE)[1:]
        result.append([(part.partition("\n")[0], part.partition("\n")[2]) for part in parts])
    return result


def lines(text: str) -> list[str]:
    """The lines of a text without trailing spaces and empty lines."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def frame(size: int, sequence: int, *, encrypted: bool = False) -> bytes:
    pdu = make.ethernet_pdu(size, 5000)
    return make.mac_frame(
        pdu, make.privacy(0x101, enabled=encrypted), make.ds_ehdr(0x00123, sequence)
    )


def bursts() -> list[bytes]:
    """Two grants of one flow, a request record, an unused grant, an OFDMA burst in two packets."""
    other = up.DATA + 15
    frames = [upstream_frame(size, 5000 + n) for n, size in enumerate((90, 400, 120))]
    first, second = up.segment_frames(frames, [300], first=5, cluster=2)
    trailer = replace(up.PLAIN, flags=uepi.TrailerFlag.FEC_VALID | uepi.TrailerFlag.SNR_VALID)
    grants = [
        encode_burst(Burst(uepi.ScQamHeader(up.IUC, up.SID, 1000), first, trailer)),
        encode_burst(Burst(uepi.ScQamHeader(up.IUC, up.SID, 1040), second + b"\xff" * 20, trailer)),
        encode_burst(
            Burst(uepi.ScQamHeader(up.IUC, up.SID + 1, 1080, no_burst=True), b"", up.PLAIN)
        ),
    ]
    record = uepi.RequestRecord(
        up.IUC, 16, up.SID, up.SID, 1000, up.DATA, 2, n_bytes=True, piggyback=True
    )
    (whole,) = up.segment_frames([upstream_frame(200, 5003)], [], first=9)
    parts = up.ofdma(whole, 100, sid=up.SID + 2, segment_header=True)
    return [
        *(
            packet
            for session, subtype in ((up.DATA, 6), (up.REQUESTS, 8))
            for packet in up.setup(session, subtype)
        ),
        up.upstream(1, grants[0]),
        up.upstream(1, Segment(uepi.encode_request_record(record)), session=up.REQUESTS),
        up.upstream(2, grants[1]),
        up.upstream(3, grants[2]),
        up.upstream(1, parts[:2], session=other),
        up.upstream(2, parts[2:], session=other),
    ]


@pytest.fixture(scope="module")
def captures(tshark: Tshark) -> Path:
    """The captures that the page speaks of, where its commands look for them."""
    first, last = make.split_frame(frame(1300, 2), 1000)
    after = make.depi(make.psp(0x6567, frame(200, 3), extra=make.counter(3)))
    data = [
        make.depi(make.psp(0x6564, make.map_frame(), frame(200, 1), first, extra=make.counter(0))),
        make.depi(make.psp(0x2020, make.map_message()), make.SESSION + 1),
        make.depi(make.psp(0x6565, last, extra=make.counter(1))),
    ]
    make.write_pcap(
        tshark.folder / "depi.pcap", [*make.session_setup(make.SESSION, 4), *data, after]
    )
    encrypted_packet = make.depi(make.psp(1, frame(100, 1, encrypted=True), extra=make.counter(0)))
    make.write_pcap(tshark.folder / "decrypted.pcap", [encrypted_packet])
    make.write_pcap(tshark.folder / "uepi.pcap", bursts())
    return tshark.folder


def test_page_has_commands_with_output() -> None:
    commands = [pair for block in blocks() for pair in block]
    assert [shlex.split(command)[0] for command, _ in commands].count("tshark") >= 8
    assert sum(bool(lines(output)) for _, output in commands) >= 8


@pytest.mark.parametrize("block", blocks())
def test_commands_print_the_documented_output(
    tshark: Tshark, captures: Path, block: list[tuple[str, str]]
) -> None:
    assert captures == tshark.folder
    for command, output in block:
        assert lines(tshark.run(["sh", "-euc", command])) == lines(output)


def test_page_has_only_console_blocks() -> None:
    """Blocks in another language would not be tested."""
    assert set(re.findall(r"^```(\w+)", PAGE.read_text(), re.MULTILINE)) == {"console"}


@pytest.mark.parametrize("protocol", ["psp", "docsis_uepi"])
def test_page_names_all_filters_and_preferences(tshark: Tshark, protocol: str) -> None:
    script = "-X lua_script:wireshark/docsis-psp.lua"
    glossary = tshark.run(["sh", "-c", f"tshark -G fields {script} | grep -i {protocol}"])
    preferences = tshark.run(["sh", "-c", f"tshark -G currentprefs {script} | grep {protocol}"])
    fields = re.findall(rf"^F\t[^\t]*\t({protocol}\.[\w.]+)\t", glossary, re.MULTILINE)
    settings = re.findall(rf"^#?({protocol}\.\w+):", preferences, re.MULTILINE)
    named = set(re.findall(rf"(?<!docsis-)\b{protocol}\.[a-z_.]*[a-z]", PAGE.read_text()))
    assert named == {*fields, *settings}
