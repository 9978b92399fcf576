# SPDX-License-Identifier: BSD-3-Clause
"""The model's packets and bursts: every drop reason with what was counted by hand."""

import re
from pathlib import Path

import pytest

from vcmts.witness.config import parse_config
from witness.books import REASONS, UNMODELLED
from witness.packet_cases import CUTS, SC_QAM, WHOLE, case, head, tail
from witness.rig import Case, Rig, check
from witness.sample import UPSTREAM

ROOT = Path(__file__).parents[3]


def test_packets_may_be_numbered_by_session() -> None:
    text = UPSTREAM.replace("verify_crc: true", "psp_numbering: session")
    rig = Rig(parse_config(text))
    for number, flow in ((10, 0), (11, 1), (13, 0), (12, 1)):
        rig.psp(SC_QAM, number, *WHOLE, flow=flow)
    result = rig.result()
    assert not result.drops and result.counters["psp_reordered"] == 1
    assert result.counters["transmitted"] == 4


@pytest.mark.parametrize("item", case.cases, ids=lambda item: item.name)
def test_counts(item: Case) -> None:
    check(item, Rig())


def test_what_is_held() -> None:
    """An open burst, a packet ahead; then everything stops."""
    rig = Rig()
    rig.psp(SC_QAM, 0, head(), CUTS[0])
    rig.psp(SC_QAM, 2, tail())
    model = rig.model()
    assert model.result().held == {"packet": 1, "burst": 1, "segment": 0, "frame": 0}
    model.stop()
    result = model.result()
    assert result.drops == {"packet_stopped": 1, "burst_stopped": 1}
    assert not any(result.held.values())


def test_every_reason_is_met() -> None:
    wanted = {*REASONS["packet"], *REASONS["burst"]} - {"packet_stopped", "burst_stopped"}
    assert wanted - {"packet_session_removed", "burst_session_removed"} <= case.reasons


def test_the_model_knows_all_reasons_and_their_units() -> None:
    text = "".join(path.read_text() for path in (ROOT / "src/pipeline").glob("*.def"))
    rows = re.findall(r'^DROP\(\w+, "(\w+)", (\w+), (\w+),', text, re.MULTILINE)
    upstream = {name: unit.lower() for name, way, unit in rows if way in ("UP", "BOTH")}
    known = {reason: unit for unit, reasons in REASONS.items() for reason in reasons}
    assert {name: unit for name, unit in upstream.items() if name not in UNMODELLED} == known
    assert set(UNMODELLED) <= set(upstream)
