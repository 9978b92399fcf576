# SPDX-License-Identifier: BSD-3-Clause
"""Runs every command of docs/wireshark.md and compares what it prints with what the page shows."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from vcmts.witness.burst import Burst, encode_burst
from vcmts.witness.depi import Segment
from vcmts.witness.uepi import (
    RequestRecord,
    ScQamHeader,
    TrailerFlag,
    encode_request_record,
)
from wireshark.psp_packets import (
    SESSION,
    counter,
    cut,
    depi,
    ds_ehdr,
    ethernet_pdu,
    mac_frame,
    map_frame,
    map_message,
    privacy,
    psp,
    set_up,
    write_pcap,
)
from wireshark.stage import CHECKOUT, Stage
from wireshark.uepi_packets import (
    DATA,
    IUC,
    PLAIN,
    REQUESTS,
    SID,
    ofdma,
    segments_of,
    told,
    upstream,
)
from wireshark.uepi_packets import frame as upstream_frame

PAGE = CHECKOUT / "docs" / "wireshark.md"


def blocks() -> list[list[tuple[str, str]]]:
    """The commands of each block, each with the output that stands below it (may be empty)."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        parts = re.split(r"^\$ ", re.sub(r"\\\n *", "", block), flags=re.MULTILINE)[1:]
        found.append([(part.partition("\n")[0], part.partition("\n")[2]) for part in parts])
    return found


def lines(text: str) -> list[str]:
    """Without what an editor would take away."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def frame(size: int, sequence: int, *, encrypted: bool = False) -> bytes:
    pdu = ethernet_pdu(size, 5000)
    return mac_frame(pdu, privacy(0x101, enabled=encrypted), ds_ehdr(0x00123, sequence))


def bursts() -> list[bytes]:
    """Two grants of one flow, a record, a grant not used, and an OFDMA burst in two packets."""
    other = DATA + 15
    frames = [upstream_frame(size, 5000 + n) for n, size in enumerate((90, 400, 120))]
    first, second = segments_of(frames, [300], first=5, cluster=2)
    trailer = replace(PLAIN, flags=TrailerFlag.FEC_VALID | TrailerFlag.SNR_VALID)
    grants = [
        encode_burst(Burst(ScQamHeader(IUC, SID, 1000), first, trailer)),
        encode_burst(Burst(ScQamHeader(IUC, SID, 1040), second + b"\xff" * 20, trailer)),
        encode_burst(Burst(ScQamHeader(IUC, SID + 1, 1080, no_burst=True), b"", PLAIN)),
    ]
    record = RequestRecord(IUC, 16, SID, SID, 1000, DATA, 2, n_bytes=True, piggyback=True)
    (whole,) = segments_of([upstream_frame(200, 5003)], [], first=9)
    parts = ofdma(whole, 100, sid=SID + 2, segment_header=True)
    return [
        *(
            packet
            for session, subtype in ((DATA, 6), (REQUESTS, 8))
            for packet in told(session, subtype)
        ),
        upstream(1, grants[0]),
        upstream(1, Segment(encode_request_record(record)), session=REQUESTS),
        upstream(2, grants[1]),
        upstream(3, grants[2]),
        upstream(1, parts[:2], session=other),
        upstream(2, parts[2:], session=other),
    ]


@pytest.fixture(scope="module")
def captures(stage: Stage) -> Path:
    """The captures that the page speaks of, where its commands look for them."""
    first, last = cut(frame(1300, 2), 1000)
    after = depi(psp(0x6567, frame(200, 3), extra=counter(3)))
    data = [
        depi(psp(0x6564, map_frame(), frame(200, 1), first, extra=counter(0))),
        depi(psp(0x2020, map_message()), SESSION + 1),
        depi(psp(0x6565, last, extra=counter(1))),
    ]
    write_pcap(stage.folder / "depi.pcap", [*set_up(SESSION, 4), *data, after])
    closed = depi(psp(1, frame(100, 1, encrypted=True), extra=counter(0)))
    write_pcap(stage.folder / "decrypted.pcap", [closed])
    write_pcap(stage.folder / "uepi.pcap", bursts())
    return stage.folder


def test_page_has_its_commands() -> None:
    commands = [pair for block in blocks() for pair in block]
    assert [shlex.split(command)[0] for command, _ in commands].count("tshark") >= 8
    assert sum(bool(lines(output)) for _, output in commands) >= 8


@pytest.mark.parametrize("block", blocks())
def test_commands_print_what_the_page_shows(
    stage: Stage, captures: Path, block: list[tuple[str, str]]
) -> None:
    assert captures == stage.folder
    for command, output in block:
        assert lines(stage.run(["sh", "-euc", command])) == lines(output)


def test_nothing_else_in_the_page_is_a_command() -> None:
    """Blocks in another language would go untested."""
    assert set(re.findall(r"^```(\w+)", PAGE.read_text(), re.MULTILINE)) == {"console"}


@pytest.mark.parametrize("protocol", ["psp", "docsis_uepi"])
def test_page_names_all_filters_and_preferences(stage: Stage, protocol: str) -> None:
    """What the page names exists, and what exists is named."""
    script = "-X lua_script:wireshark/docsis-psp.lua"
    glossary = stage.run(["sh", "-c", f"tshark -G fields {script} | grep -i {protocol}"])
    preferences = stage.run(["sh", "-c", f"tshark -G currentprefs {script} | grep {protocol}"])
    fields = re.findall(rf"^F\t[^\t]*\t({protocol}\.[\w.]+)\t", glossary, re.MULTILINE)
    settings = re.findall(rf"^#?({protocol}\.\w+):", preferences, re.MULTILINE)
    named = set(re.findall(rf"(?<!docsis-)\b{protocol}\.[a-z_.]*[a-z]", PAGE.read_text()))
    assert named == {*fields, *settings}
