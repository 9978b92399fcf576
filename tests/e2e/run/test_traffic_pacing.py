# SPDX-License-Identifier: BSD-3-Clause
"""Limits of the rates and shapes of vcmts-traffic that hold at any speed of the machine.
test_traffic_pacing.c and test_traffic_shape.c test the distribution over time on a simulated clock,
tests/realtime/test_pacing.py on an idle machine."""

import re
from pathlib import Path

import pytest

from e2e.run.test_traffic_alone import traffic
from e2e.running import run
from vcmts.paths import CHECKOUT
from vcmts.witness.pcapfile import read_pcap

SIZE = 1000
BITS = SIZE * 8
RATE = 80e6
DURATION_S = 0.2
BURST_S = 250e-6  # the largest burst, as time at the rate
SHAPES = {  # mean share of the rate over the duration
    "constant": 1.0,
    "bursts:on=10ms,off=40ms": 0.2,
    "steps:20%,100%,48Mbps,each=100ms": 0.6,
    "ramp:from=10%": 0.55,
    "day:@{day}": 0.55,
}


@pytest.mark.parametrize("shape", list(SHAPES))
def test_sent_bits_do_not_exceed_shape(shape: str, tmp_path: Path) -> None:
    """All packets have the size of the mix. Their sum does not exceed the shape; on a busy machine
    it is lower."""
    day, capture = tmp_path / "day.txt", tmp_path / "sent.pcap"
    day.write_text("# hour, share of the peak\n0:00 10%\n12:00 100%\n")
    options = ("--mix", str(SIZE), "--rate", f"{RATE:.0f}bps", "--shape", shape.format(day=day))
    ports = (f"net_pcap0,tx_pcap={capture}", "net_null1,no-rx=1")
    done = run(traffic(*ports, "--send-only", *options, "--duration", f"{DURATION_S * 1000:.0f}ms"))
    assert done.status == 0, done.stderr
    records = read_pcap(capture).records
    assert {len(record.data) for record in records} == {SIZE}
    assert f"sent {len(records)}" in re.sub(" +", " ", done.stdout)
    max_bits = RATE * (SHAPES[shape] * DURATION_S + BURST_S) + 2 * BITS
    assert 0 < len(records) * BITS <= max_bits


def documented_values(heading: str) -> list[str]:
    """Values in the first column of the table under the heading, without those that name files."""
    page = (CHECKOUT / "docs" / "traffic.md").read_text()
    section = page.split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [line.split("|")[1] for line in re.findall(r"^\|.*`.*", section, re.MULTILINE)]
    values = [value for cell in cells for value in re.findall("`([^`]+)`", cell)]
    return [value for value in values if "@" not in value]


def test_documented_mixes_and_shapes_are_accepted() -> None:
    mixes, shapes = documented_values("Mixes"), documented_values("Shapes")
    assert len(mixes) >= 11
    assert len(shapes) >= 7
    for option, value in [*(("--mix", m) for m in mixes), *(("--shape", s) for s in shapes)]:
        done = run(traffic("net_null0", "net_null1", option, value, "--check"))
        assert done.status == 0, done.stderr
