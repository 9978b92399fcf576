# SPDX-License-Identifier: BSD-3-Clause
"""vcmtsd on kernel interfaces (af_packet and tap), in a network namespace of the test."""

import json
import re
import socket
import sys
from pathlib import Path

import pytest

from e2e.control.server import config_text
from e2e.expected import check_flows, check_stats, expect_downstream
from e2e.run.kernel_sender import SIZES
from e2e.run.test_run import CONFIG, config_on_test_cores
from e2e.running import Completed, environment, run
from e2e.traffic import START_NS, generate
from vcmts.paths import CHECKOUT
from vcmts.witness.config import load_config
from vcmts.witness.downstream import decode_downstream
from vcmts.witness.pcapfile import read_pcap, records_of, write_pcap

pytestmark = pytest.mark.run

MAX_FRAME = 1514  # frame bytes at MTU 1500
NAMESPACE = ("unshare", "--net")
FRAGMENT = 0x3FFF  # more-fragments flag and offset


def is_permitted(*command: str) -> bool:
    try:
        return run([*NAMESPACE, *command]).status == 0
    except (OSError, AssertionError):
        return False


def is_carried(frame: bytes) -> bool:
    """Whether it fits, and is no IPv4 fragment, which the kernel would reassemble for af_packet."""
    offset = 16 if frame[12:14] == b"\x81\x00" else 12
    fragment = int.from_bytes(frame[offset + 8 : offset + 10], "big") & FRAGMENT
    return len(frame) <= MAX_FRAME and not (frame[offset : offset + 2] == b"\x08\x00" and fragment)


PROBES = {
    "af_packet": ("ip", "link", "add", "name", "probe0", "type", "veth", "peer", "name", "probe1"),
    "tap": ("ip", "tuntap", "add", "name", "probe0", "mode", "tap"),
}


def run_in_namespace(module: str, *words: str | Path) -> Completed:
    path = f"{CHECKOUT / 'tools'}:{CHECKOUT / 'tests'}"
    command = [*NAMESPACE, sys.executable, "-m", module, *words]
    return run(command, environment(PYTHONPATH=path))


@pytest.mark.parametrize("kind", list(PROBES))
def test_packets_over_kernel_interfaces_match_model(kind: str, tmp_path: Path) -> None:
    if not is_permitted(*PROBES[kind]):
        pytest.skip("this user may not make network namespaces and interfaces here")
    frames = [frame for frame in generate(CONFIG, 41, 500) if is_carried(frame)]
    sent = records_of(frames, START_NS)
    config, capture, out, summary = (
        tmp_path / name for name in ("sg.yaml", "in.pcap", "out.pcap", "summary.json")
    )
    config.write_text(config_on_test_cores("1ds1t"))
    write_pcap(capture, sent)
    done = run_in_namespace("e2e.ports", kind, config, capture, out, summary)
    assert done.status == 0, done.stderr
    decoded = decode_downstream(read_pcap(out).records, CONFIG)
    expected = expect_downstream(sent, CONFIG)
    check_flows(expected, decoded)
    check_stats(expected, json.loads(summary.read_text())["downstream"], decoded)


def is_checksum_valid(packet: bytes) -> bool:
    """Verifies the checksum of TCP or UDP in IPv4 without options (RFC 768, 793, 1071)."""
    length = int.from_bytes(packet[2:4], "big") - 20
    data = packet[12:20] + bytes([0, packet[9]]) + length.to_bytes(2, "big")
    data += packet[20 : 20 + length] + b"\0" * (length % 2)
    words = sum(int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))
    return words % 0xFFFF == 0


def test_offloaded_checksums_are_completed(tmp_path: Path) -> None:
    """vcmtsd completes checksums that the kernel leaves to the NIC, and warns of GSO."""
    if not is_permitted(*PROBES["af_packet"]):
        pytest.skip("this user may not make network namespaces and interfaces here")
    config, out = tmp_path / "sg.yaml", tmp_path / "out.pcap"
    config.write_text(config_text())
    done = run_in_namespace("e2e.run.kernel_sender", config, out)
    assert done.status == 0, done.stderr
    decoded = decode_downstream(read_pcap(out).records, load_config(config))
    packets = [frame.ethernet[14:] for frame in decoded.frames if frame.ethernet]
    sizes = [len(packet) - 28 for packet in packets if packet[9] == socket.IPPROTO_UDP]
    assert sorted(size for size in sizes if size > 18) == sorted(n for n in SIZES if n > 18)
    assert len(packets) == len(SIZES) + 1
    assert sum(packet[9] == socket.IPPROTO_TCP for packet in packets) == 1
    assert all(is_checksum_valid(packet) for packet in packets)
    [warning] = [line for line in done.messages if "TCP and UDP checksums" in line]
    assert warning.startswith("vcmtsd: port network: ") and "ethtool -K IFACE tx off" in warning
    assert re.search(r"dropped ipv4_length +1\b", done.stdout, re.MULTILINE), done.stdout
