# SPDX-License-Identifier: BSD-3-Clause
"""Tests messages.py: what a run does, and which messages of its programs it shows."""

import os

import pytest

from vcmts.run import messages

ORDINARY = (
    "vcmtsd: control socket /run/vcmts/1-control.sock",
    "vcmtsd: serving service group 1: 300 modems, 6 channels",
    "vcmtsd: serving service groups: 2, with 600 modems",
    "vcmtsd: port network: net_memif0: link down",
    "vcmtsd: port R-PHY: net_memif1: link up",
)
PAGES = "vcmts-traffic: fewer than 563 MB of huge pages are free: running on ordinary pages, slower"
SHOWN = (
    "vcmtsd: worker on core 1 has made no round for 5 s",
    "vcmtsd: port network: 0000:3b:02.0: link down",
    "   1 s  2.00 Gbps down; 27,208,797 proven, 3 lost",
)


def test_ordinary_messages_are_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with messages.filtered(verbose=False) as shown:
        assert shown.file is not None and not shown.ordinary_pages
        lines = "\n".join((*ORDINARY, PAGES, *SHOWN)) + "\n\udcff"
        os.write(shown.file.fileno(), lines.encode(errors="surrogateescape"))
    assert capsys.readouterr().err == "\n".join(SHOWN) + "\n\ufffd"
    assert shown.ordinary_pages


def test_verbose_runs_show_all_messages() -> None:
    with messages.filtered(verbose=True) as shown:
        assert shown.file is None


@pytest.mark.parametrize(
    ("groups", "directions", "text"),
    [
        ([300], ["downstream", "upstream"], "to and from 300 simulated cable modems through"),
        ([1], ["upstream"], "from 1 simulated cable modem through"),
        ([8000, 400], ["downstream"], "to 8,400 simulated cable modems of 2 service groups thr"),
    ],
)
def test_first_message_says_what_is_sent(
    groups: list[int], directions: list[str], text: str
) -> None:
    facts = {"groups": [{"modems": modems} for modems in groups]}
    message = messages.first_message(facts, "500ms", directions, 7)
    assert message.startswith(f"sends packets {text}")
    assert " vcmtsd for 500 ms, " in message and message.endswith(" checks, seed 7)")
