# SPDX-License-Identifier: BSD-3-Clause
"""Tests the PSP dissector on a capture of a real core and R-PHY device, if it is installed."""

from collections import Counter
from pathlib import Path

import pytest

import captures
from wireshark.tshark import Tshark

DEPI_SESSIONS = {"0x00430000", "0x00430001"}
MAP_SESSION = "0x00d40000"
FIELDS = (
    "l2tp.sid",
    "psp.subtype",
    "psp.seq",
    "psp.extra.counter",
    "docsis.hcs.status",
    "docsis_mgmt.type",
    "_ws.expert",
)


@pytest.fixture(scope="session")
def capture(tshark: Tshark) -> Path:
    """A copy of the capture that tshark can read."""
    original = captures.capture("rpd-session.pcap")
    copy = tshark.folder / original.name
    copy.write_bytes(original.read_bytes())
    return copy


@pytest.fixture(scope="session")
def rows(tshark: Tshark, capture: Path) -> list[dict[str, list[str]]]:
    """The fields of all L2TPv3 data messages, PSP or not."""
    return [r for r in tshark.fields(capture, *FIELDS) if r["l2tp.sid"] not in ([], ["0x00000000"])]


def test_every_data_packet_is_psp(rows: list[dict[str, list[str]]]) -> None:
    sessions = Counter((row["l2tp.sid"][0], *row["psp.subtype"]) for row in rows)
    assert sessions == {
        ("0x00430000", "PSP DEPI"): 8570,
        ("0x00430001", "PSP DEPI"): 66,
        (MAP_SESSION, "MAP SC-QAM"): 8439,
    }


def test_depi_frames_have_a_correct_hcs(rows: list[dict[str, list[str]]]) -> None:
    depi = [row for row in rows if row["l2tp.sid"][0] in DEPI_SESSIONS]
    assert {tuple(row["docsis.hcs.status"]) for row in depi} == {("1",)}
    assert {len(row["docsis_mgmt.type"]) for row in depi} == {1}


def test_map_pseudowire_decodes_maps(rows: list[dict[str, list[str]]]) -> None:
    maps = [row for row in rows if row["l2tp.sid"][0] == MAP_SESSION]
    assert {(*row["docsis_mgmt.type"], *row["psp.extra.counter"]) for row in maps} == {("3",)}


def test_extra_counter_increments(rows: list[dict[str, list[str]]]) -> None:
    for session in DEPI_SESSIONS:
        counters = [
            int(row["psp.extra.counter"][0]) for row in rows if row["l2tp.sid"][0] == session
        ]
        assert counters == [(counters[0] + i) % 16 for i in range(len(counters))]


def test_no_expert_infos(rows: list[dict[str, list[str]]]) -> None:
    assert {tuple(row["_ws.expert"]) for row in rows} == {()}


def test_sessions_are_detected_without_control_messages(
    tshark: Tshark, capture: Path, rows: list[dict[str, list[str]]]
) -> None:
    """Without control messages the fields are the same, except for the subtype. The first 5,000
    packets are enough, as each session is detected from its first packets."""
    data_only = tshark.home / "data-only.pcap"
    options = ["-c", "5000", "-Y", "l2tp.sid != 0", "-F", "pcap", "-w", str(data_only)]
    tshark.run(["tshark", "-n", "-r", str(capture), *options], tshark.variables)
    detected = tshark.fields(data_only, *FIELDS)
    assert {row["l2tp.sid"][0] for row in detected} == {*DEPI_SESSIONS, MAP_SESSION}
    assert len(detected) > 2000
    assert [dict(row, **{"psp.subtype": []}) for row in rows[: len(detected)]] == detected
