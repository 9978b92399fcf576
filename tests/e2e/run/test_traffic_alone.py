# SPDX-License-Identifier: BSD-3-Clause
"""vcmts-traffic without vcmtsd: captures of what it sends, and ports that never stop receiving."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from e2e.running import Completed, run, vcmts
from patience import TIMEOUT
from vcmts.paths import CHECKOUT, program
from vcmts.witness.crc import internet_checksum
from vcmts.witness.pcapfile import read_pcap

CONFIG = CHECKOUT / "config" / "example.yaml"
UDP = 17
UPSTREAM = ["--no-downstream", "--upstream-rate", "20Mbps"]


def traffic(network: str, rphy: str, *more: str, config: Path = CONFIG) -> list[str | Path]:
    command = program("vcmts-traffic")
    return [command, "--config", config, "--network", network, "--rphy", rphy, *more]


def run_into_capture(path: Path, *more: str) -> Completed:
    ports = ("net_null0,no-rx=1", f"net_pcap1,tx_pcap={path}")
    return run(traffic(*ports, *UPSTREAM, "--duration", "300ms", *more))


def test_send_only_writes_capture(tmp_path: Path) -> None:
    path, summary = tmp_path / "uepi.pcap", tmp_path / "summary.json"
    done = run_into_capture(path, "--send-only", "--json", str(summary))
    assert done.status == 0, done.stderr
    assert "not received" in done.stdout
    assert "lost" not in done.stdout and "proven" not in done.stdout + done.stderr
    assert '"sent"' in summary.read_text() and '"lost"' not in summary.read_text()
    records = read_pcap(path).records
    counts = json.loads(summary.read_text())["upstream"]
    assert 0 < counts["uepi_packets"] == len(records)
    assert sum(len(r.data) for r in records) == counts["uepi_bytes"] > counts["sent_bytes"]


def test_without_send_only_packets_are_lost(tmp_path: Path) -> None:
    done = run_into_capture(tmp_path / "uepi.pcap")
    assert done.status == 1
    assert "not received" not in done.stdout and "lost" in done.stdout


@pytest.mark.parametrize("options", [[], ["--send-only"]], ids=["proving", "sending only"])
def test_endless_reception_does_not_prevent_end(options: list[str]) -> None:
    """net_null delivers frames without end. The program ends nevertheless."""
    done = run(traffic("net_null0", "net_null1", *UPSTREAM, "--duration", "100ms", *options))
    assert done.status == (0 if options else 1)


def test_sigterm_ends_run() -> None:
    command = traffic("net_null0", "net_null1", *UPSTREAM, "--duration", "1h")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        assert p.stderr is not None
        while "proven" not in p.stderr.readline():
            assert p.poll() is None
        p.send_signal(signal.SIGTERM)
        stdout, _ = p.communicate(timeout=TIMEOUT)
    assert p.returncode == 1
    assert "lost" in stdout


def test_udp_checksums_are_zero_or_correct(tmp_path: Path) -> None:
    """RFC 768: checksum 0 means none. Any other value must be correct."""
    path, config = tmp_path / "network.pcap", tmp_path / "sg.yaml"
    config.write_text(vcmts("profile", "2ofdm-0sc-qam_20cms_aes").stdout)
    ports = (f"net_pcap0,tx_pcap={path}", "net_null1,no-rx=1")
    rate = ("--rate", "50Mbps", "--duration", "300ms")
    done = run(traffic(*ports, *rate, "--send-only", config=config))
    assert done.status == 0, done.stderr
    has_checksum = []
    for record in read_pcap(path).records:
        ip = record.data[14:]
        if record.data[12:14] != b"\x08\x00" or ip[9] != UDP:
            continue
        length = int.from_bytes(ip[2:4], "big") - 20
        pseudo = ip[12:20] + bytes([0, UDP]) + length.to_bytes(2, "big")
        checksum = int.from_bytes(ip[26:28], "big")
        assert checksum == 0 or internet_checksum(pseudo + ip[20 : 20 + length]) == 0
        has_checksum.append(checksum != 0)
    assert 0.2 < sum(has_checksum) / len(has_checksum) < 0.8
