# SPDX-License-Identifier: BSD-3-Clause
"""vcmts-traffic without a CMTS: what it sends into a capture, and ports that never fall silent."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from e2e.running import Ended, run, vcmts
from patience import TIMEOUT
from vcmts.paths import CHECKOUT, program
from vcmts.witness.crc import internet_checksum
from vcmts.witness.pcapfile import read_pcap

CONFIG = CHECKOUT / "config" / "example.yaml"
UDP = 17
UEPI = ["--no-downstream", "--upstream-rate", "20Mbps"]


def words(network: str, rphy: str, *more: str, config: Path = CONFIG) -> list[str | Path]:
    command = program("vcmts-traffic")
    return [command, "--config", config, "--network", network, "--rphy", rphy, *more]


def captured(path: Path, *more: str) -> Ended:
    ports = ("net_null0,no-rx=1", f"net_pcap1,tx_pcap={path}")
    return run(words(*ports, *UEPI, "--duration", "300ms", *more))


def test_sending_only_makes_a_capture(tmp_path: Path) -> None:
    path, summary = tmp_path / "uepi.pcap", tmp_path / "summary.json"
    done = captured(path, "--send-only", "--json", str(summary))
    assert done.status == 0, done.stderr
    assert "not received" in done.stdout
    assert "lost" not in done.stdout and "proven" not in done.stdout + done.stderr
    assert '"sent"' in summary.read_text() and '"lost"' not in summary.read_text()
    records = read_pcap(path).records
    told = json.loads(summary.read_text())["upstream"]
    assert 0 < told["uepi_packets"] == len(records)
    assert sum(len(record.data) for record in records) == told["uepi_bytes"] > told["sent_bytes"]


def test_without_it_nothing_is_proven(tmp_path: Path) -> None:
    done = captured(tmp_path / "uepi.pcap")
    assert done.status == 1
    assert "not received" not in done.stdout and "lost" in done.stdout


@pytest.mark.parametrize("share", [[], ["--send-only"]], ids=["proving", "sending only"])
def test_a_port_that_never_falls_silent(share: list[str]) -> None:
    """net_null delivers frames for ever, which no drain gets to the end of."""
    done = run(words("net_null0", "net_null1", *UEPI, "--duration", "100ms", *share))
    assert done.status == (0 if share else 1)


def test_sigterm_ends_it() -> None:
    command = words("net_null0", "net_null1", *UEPI, "--duration", "1h")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        assert p.stderr is not None
        while "sent" not in p.stderr.readline():
            assert p.poll() is None
        p.send_signal(signal.SIGTERM)
        stdout, _ = p.communicate(timeout=TIMEOUT)
    assert p.returncode == 1
    assert "lost" in stdout


def test_udp_over_ipv4_has_a_checksum_or_none(tmp_path: Path) -> None:
    """RFC 768: with 0 there is none; any other is that of the packet."""
    path, config = tmp_path / "network.pcap", tmp_path / "sg.yaml"
    config.write_text(vcmts("profile", "2ofdm-0sc-qam_20cms_aes").stdout)
    ports = (f"net_pcap0,tx_pcap={path}", "net_null1,no-rx=1")
    rate = ("--rate", "50Mbps", "--duration", "300ms")
    done = run(words(*ports, *rate, "--send-only", config=config))
    assert done.status == 0, done.stderr
    found = []
    for record in read_pcap(path).records:
        ip = record.data[14:]
        if record.data[12:14] != b"\x08\x00" or ip[9] != UDP:
            continue
        length = int.from_bytes(ip[2:4], "big") - 20
        pseudo = ip[12:20] + bytes([0, UDP]) + length.to_bytes(2, "big")
        checksum = int.from_bytes(ip[26:28], "big")
        assert checksum == 0 or internet_checksum(pseudo + ip[20 : 20 + length]) == 0
        found.append(checksum != 0)
    assert 0.2 < sum(found) / len(found) < 0.8
