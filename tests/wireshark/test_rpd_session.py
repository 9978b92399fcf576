# SPDX-License-Identifier: BSD-3-Clause
"""The PSP dissector on a capture of a real core and R-PHY device, where it is at hand."""

from collections import Counter
from pathlib import Path

import pytest

import captures
from wireshark.stage import Stage

DEPI_SESSIONS = {"0x00430000", "0x00430001"}
MAP_SESSION = "0x00d40000"
NAMES = (
    "l2tp.sid",
    "psp.subtype",
    "psp.seq",
    "psp.extra.counter",
    "docsis.hcs.status",
    "docsis_mgmt.type",
    "_ws.expert",
)


@pytest.fixture(scope="session")
def capture(stage: Stage) -> Path:
    """A copy that tshark may read."""
    original = captures.capture("rpd-session.pcap")
    copy = stage.folder / original.name
    copy.write_bytes(original.read_bytes())
    return copy


@pytest.fixture(scope="session")
def rows(stage: Stage, capture: Path) -> list[dict[str, list[str]]]:
    """All data packets of the control connection's sessions, PSP or not."""
    return [r for r in stage.fields(capture, *NAMES) if r["l2tp.sid"] not in ([], ["0x00000000"])]


def test_every_data_packet_is_psp(rows: list[dict[str, list[str]]]) -> None:
    sessions = Counter((row["l2tp.sid"][0], *row["psp.subtype"]) for row in rows)
    assert sessions == {
        ("0x00430000", "PSP DEPI"): 8570,
        ("0x00430001", "PSP DEPI"): 66,
        (MAP_SESSION, "MAP SC-QAM"): 8439,
    }


def test_every_frame_of_the_depi_sessions_has_a_good_hcs(rows: list[dict[str, list[str]]]) -> None:
    depi = [row for row in rows if row["l2tp.sid"][0] in DEPI_SESSIONS]
    assert {tuple(row["docsis.hcs.status"]) for row in depi} == {("1",)}
    assert {len(row["docsis_mgmt.type"]) for row in depi} == {1}


def test_maps_decode_on_the_map_pseudowire(rows: list[dict[str, list[str]]]) -> None:
    maps = [row for row in rows if row["l2tp.sid"][0] == MAP_SESSION]
    assert {(*row["docsis_mgmt.type"], *row["psp.extra.counter"]) for row in maps} == {("3",)}


def test_counter_after_the_table_counts(rows: list[dict[str, list[str]]]) -> None:
    for session in DEPI_SESSIONS:
        counters = [
            int(row["psp.extra.counter"][0]) for row in rows if row["l2tp.sid"][0] == session
        ]
        assert counters == [(counters[0] + i) % 16 for i in range(len(counters))]


def test_nothing_to_complain_of(rows: list[dict[str, list[str]]]) -> None:
    assert {tuple(row["_ws.expert"]) for row in rows} == {()}


def test_the_same_without_the_control_messages(
    stage: Stage, capture: Path, rows: list[dict[str, list[str]]]
) -> None:
    """What control messages taught, packets teach too: all but the names of subtypes. The first
    ones of a session do, so that those of the first part of the capture are enough."""
    data_only = stage.home / "data-only.pcap"
    only = ["-c", "5000", "-Y", "l2tp.sid != 0", "-F", "pcap", "-w", str(data_only)]
    stage.run(["tshark", "-n", "-r", str(capture), *only], stage.lean)
    untold = stage.fields(data_only, *NAMES)
    assert {row["l2tp.sid"][0] for row in untold} == {*DEPI_SESSIONS, MAP_SESSION}
    assert len(untold) > 2000
    assert [dict(row, **{"psp.subtype": []}) for row in rows[: len(untold)]] == untold
