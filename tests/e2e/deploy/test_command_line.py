# SPDX-License-Identifier: BSD-3-Clause
"""Command lines of the tool and of vcmtsd: exit status, and one message line per mistake."""

import os
import subprocess
from pathlib import Path

import pytest

from e2e.running import SMALL, Completed, run, vcmts, vcmtsd
from e2e.sanitized import without_version
from e2e.traffic import START_NS, generate
from vcmts.paths import CHECKOUT, program
from vcmts.witness.config import load_config
from vcmts.witness.pcapfile import records_of, write_pcap

TEXT = SMALL.read_text()


def single_message(done: Completed, *words: str) -> str:
    assert done.status == 2
    assert len(done.messages) == 1, done.stderr
    assert all(word in done.messages[0] for word in words), done.messages[0]
    return done.messages[0]


@pytest.mark.replay
def test_invalid_configuration_is_rejected(tmp_path: Path) -> None:
    """run and replay print the message of validate and write no output."""
    config, capture, out = (tmp_path / name for name in ("sg.yaml", "in.pcap", "out.pcap"))
    config.write_text(TEXT.replace("rate: 1.89 Gbps", "rate: fast"))
    write_pcap(capture, [])
    message = single_message(vcmts("validate", config), "rate", "fast")
    files = ("--config", config, "--network-in", capture, "--rphy-out", out)
    assert single_message(vcmts("replay", *files)) == message
    assert single_message(vcmtsd("run", "--config", config)) == message
    assert not out.exists()


@pytest.mark.replay
def test_launcher_replays_like_vcmtsd(tmp_path: Path) -> None:
    """The command of docs/first-run.md, in another directory with relative file names."""
    records = records_of(generate(load_config(SMALL), 51, 50), START_NS)
    write_pcap(tmp_path / "ip.pcap", records)
    (tmp_path / "sg.yaml").write_text(TEXT)
    direct = vcmtsd(
        *("replay", "--config", tmp_path / "sg.yaml", "--network-in", tmp_path / "ip.pcap"),
        *("--rphy-out", tmp_path / "direct.pcap", "--json", tmp_path / "direct.json"),
    )
    assert direct.status == 0
    files = "--config sg.yaml --network-in ip.pcap --rphy-out depi.pcap --json stats.json"
    done = subprocess.run(
        [CHECKOUT / "vcmts", "replay", *files.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == direct.stdout
    assert (tmp_path / "depi.pcap").read_bytes() == (tmp_path / "direct.pcap").read_bytes()
    launched, called = ((tmp_path / f"{name}.json").read_text() for name in ("stats", "direct"))
    assert without_version(launched) == without_version(called)


@pytest.mark.parametrize("device", ["nonsense", "net_nothing0"])
def test_failed_start_leaves_no_eal_folder(device: str, tmp_path: Path) -> None:
    """An invalid device name, and a device without a driver. The EAL folder is removed."""
    environment = os.environ | {"RUNTIME_DIRECTORY": str(tmp_path)}
    options = ("--config", SMALL, "--network", "net_null0", "--rphy", device)
    server, traffic = (program("vcmtsd"), "run"), (program("vcmts-traffic"), "--rate", "1Mbps")
    # vcmtsd: 1, as the device may appear later and systemd must try again
    for command, status in ((server, 1), (traffic, 2)):
        assert run((*command, *options), environment).status == status
        assert list((tmp_path / "dpdk").iterdir()) == []


@pytest.mark.parametrize(
    ("network", "rphy"),
    [("net_null0", "net_null0,size=128"), ("0000:3b:00.0", "3b:00.0")],
)
def test_one_device_for_two_ports_is_rejected(network: str, rphy: str) -> None:
    devices = ("--network", network, "--rphy", rphy)
    message = f"two ports have the device {rphy.split(',')[0]}; give each its own"
    done = vcmtsd("run", "--config", SMALL, *devices)
    assert done.status == 2 and done.messages == [f"vcmtsd: {message}"]
    done = run((program("vcmts-traffic"), "--config", SMALL, *devices, "--check"))
    assert done.status == 2 and done.messages == [f"vcmts-traffic: {message}"]
