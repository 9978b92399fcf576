# SPDX-License-Identifier: BSD-3-Clause
"""What vcmts-traffic may be asked to send over time. How it is spread over that time is tested on a
clock of the tests' own (test_traffic_pacing.c and test_traffic_shape.c) and on a machine
with nothing else to do (tests/realtime/test_pacing.py); here, what holds at any speed."""

import re
from pathlib import Path

import pytest

from e2e.run.test_traffic_alone import words
from e2e.running import run
from vcmts.paths import CHECKOUT
from vcmts.witness.pcapfile import read_pcap

SIZE = 1000
BITS = SIZE * 8
RATE = 80e6
DURATION_S = 0.2
BURST_S = 250e-6  # what may go at once
SHAPES = {  # shares of the rate's bits that the whole duration has
    "constant": 1.0,
    "bursts:on=10ms,off=40ms": 0.2,
    "steps:20%,100%,48Mbps,each=100ms": 0.6,
    "ramp:from=10%": 0.55,
    "day:@{day}": 0.55,
}


@pytest.mark.parametrize("shape", list(SHAPES))
def test_never_more_than_asked_for(shape: str, tmp_path: Path) -> None:
    """All packets are of the size, and together no more than the shape has room for; how many a
    busy machine sends is its own matter."""
    day, sent = tmp_path / "day.txt", tmp_path / "sent.pcap"
    day.write_text("# hour, share of the peak\n0:00 10%\n12:00 100%\n")
    how = ("--mix", str(SIZE), "--rate", f"{RATE:.0f}bps", "--shape", shape.format(day=day))
    ports = (f"net_pcap0,tx_pcap={sent}", "net_null1,no-rx=1")
    done = run(words(*ports, "--send-only", *how, "--duration", f"{DURATION_S * 1000:.0f}ms"))
    assert done.status == 0, done.stderr
    records = read_pcap(sent).records
    assert {len(record.data) for record in records} == {SIZE}
    assert f"sent {len(records)}" in re.sub(" +", " ", done.stdout)
    room = RATE * (SHAPES[shape] * DURATION_S + BURST_S) + 2 * BITS
    assert 0 < len(records) * BITS <= room


def documented(heading: str) -> list[str]:
    """What the first column of a table says, but for files."""
    page = (CHECKOUT / "docs" / "traffic.md").read_text()
    section = page.split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [row.split("|")[1] for row in re.findall(r"^\|.*`.*", section, re.MULTILINE)]
    found = [word for cell in cells for word in re.findall("`([^`]+)`", cell)]
    return [word for word in found if "@" not in word]


def test_what_is_documented_is_taken() -> None:
    mixes, shapes = documented("Mixes"), documented("Shapes")
    assert len(mixes) >= 11
    assert len(shapes) >= 7
    for option, value in [*(("--mix", m) for m in mixes), *(("--shape", s) for s in shapes)]:
        done = run(words("net_null0", "net_null1", option, value, "--check"))
        assert done.status == 0, done.stderr
