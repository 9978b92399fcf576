# SPDX-License-Identifier: BSD-3-Clause
"""vcmtsd on interfaces of the kernel, in a network namespace that vanishes with the test."""

import json
import os
import sys
from pathlib import Path

import pytest

from e2e.expected import check_flows, check_stats, expect
from e2e.running import run
from e2e.test_run import CONFIG, on_these_cores
from e2e.traffic import START_NS, generate
from vcmts.paths import CHECKOUT, build_directory
from witness.downstream import decode_downstream
from witness.pcapfile import read_pcap, records_of, write_pcap

pytestmark = pytest.mark.run

LONGEST = 1514  # what a link of MTU 1500 carries
NAMESPACE = ("unshare", "--net")
FRAGMENT = 0x3FFF  # more fragments, and the offset


def may(*command: str) -> bool:
    try:
        return run([*NAMESPACE, *command]).status == 0
    except (OSError, AssertionError):
        return False


def travels(frame: bytes) -> bool:
    """Not so are IPv4 fragments: DPDK's af_packet asks the kernel to put them together."""
    ipv4 = frame[12:14] == b"\x08\x00"
    return len(frame) <= LONGEST and not (ipv4 and int.from_bytes(frame[20:22], "big") & FRAGMENT)


PROBES = {
    "af_packet": ("ip", "link", "add", "name", "probe0", "type", "veth", "peer", "name", "probe1"),
    "tap": ("ip", "tuntap", "add", "name", "probe0", "mode", "tap"),
}


@pytest.mark.parametrize("kind", list(PROBES))
def test_packets_over_the_kernel(kind: str, tmp_path: Path) -> None:
    if not may(*PROBES[kind]):
        pytest.skip("this user may not make network namespaces and interfaces here")
    frames = [frame for frame in generate(CONFIG, 41, 500) if travels(frame)]
    sent = records_of(frames, START_NS)
    config, captured, out, summary = (
        tmp_path / name for name in ("sg.yaml", "in.pcap", "out.pcap", "summary.json")
    )
    config.write_text(on_these_cores("1ds1t"))
    write_pcap(captured, sent)
    environment = os.environ | {
        "PYTHONPATH": f"{CHECKOUT / 'tools'}:{CHECKOUT / 'tests'}",
        "VCMTS_BUILD": str(build_directory().resolve()),
    }
    player = (sys.executable, "-m", "e2e.ports", kind, config, captured, out, summary)
    done = run([*NAMESPACE, *player], environment)
    assert done.status == 0, done.stderr
    decoded = decode_downstream(read_pcap(out).records, CONFIG)
    expected = expect(sent, CONFIG)
    check_flows(expected, decoded)
    check_stats(expected, json.loads(summary.read_text())["downstream"], decoded)
