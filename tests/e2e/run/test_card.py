# SPDX-License-Identifier: BSD-3-Clause
"""Runs the programs on ports that keep buffers until they are closed, as NICs do (card.c). Each
program must close its ports before it frees their buffers, also when a start fails."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from e2e.run.test_run import config_on_test_cores
from e2e.running import Completed, run
from vcmts.paths import CHECKOUT, program
from vcmts.witness.pcapfile import write_pcap
from witness.sample import UPSTREAM as UPSTREAM_SAMPLE

CARD = Path(__file__).with_name("card.c")
EXAMPLE = CHECKOUT / "config" / "example.yaml"
PORTS = ("--network", "net_null0,size=128", "--rphy", "net_null1,size=128")


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("card") / "card.so"
    flags = subprocess.check_output(["pkg-config", "--cflags", "libdpdk"], text=True)
    compiler = ("cc", "-shared", "-fPIC", "-O1", "-w", *shlex.split(flags))
    subprocess.run([*compiler, CARD, "-o", library], check=True)
    return library


def run_with_card(library: Path, *command: str | Path, fails: str = "") -> Completed:
    return run(command, os.environ | {"LD_PRELOAD": str(library), "CARD_FAILS": fails})


def run_traffic(library: Path, *more: str, fails: str = "") -> Completed:
    command = (program("vcmts-traffic"), "--config", EXAMPLE, *PORTS)
    return run_with_card(library, *command, "--duration", "50ms", *more, fails=fails)


def messages(done: Completed) -> list[str]:
    """Messages without those on huge pages and on the DES of faulty libraries."""
    ignored = ("huge pages", "only AES is used")
    return [line for line in done.messages if not any(text in line for text in ignored)]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "sg.yaml"
    path.write_text(config_on_test_cores("1ds1t") + CRYPTO_DEVICE)
    return path


def run_server(library: Path, config: Path, *more: str, fails: str = "") -> Completed:
    command = (program("vcmtsd"), "run", "--config", config, *PORTS, "--duration", "50ms")
    return run_with_card(library, *command, *more, fails=fails)


UPSTREAM = ("--upstream-rate", "10Mbps")
CRYPTO_FAILURE = "rte_cryptodev_start 0"
CRYPTO_DEVICE = "\ncrypto: {provider: cryptodev, device: crypto_aesni_mb0}\n"
# Ports: network, R-PHY, control
RX_QUEUE_FAILURES = [f"rte_eth_rx_queue_setup {port}" for port in range(3)]
TX_QUEUE_FAILURES = [f"rte_eth_tx_queue_setup {port}" for port in range(3)]
START_FAILURES = [f"rte_eth_dev_start {port}" for port in range(3)]


@pytest.mark.parametrize("more", [(), UPSTREAM, ("--no-downstream", *UPSTREAM)])
def test_traffic_program_closes_ports(more: tuple[str, ...], library: Path) -> None:
    done = run_traffic(library, "--send-only", "--rate", "10Mbps", *more)
    assert done.status == 0, done.stderr


@pytest.mark.parametrize("fails", [RX_QUEUE_FAILURES[0], TX_QUEUE_FAILURES[1], START_FAILURES[1]])
def test_failed_start_of_traffic_program_closes_ports(fails: str, library: Path) -> None:
    done = run_traffic(library, "--send-only", *UPSTREAM, fails=fails)
    assert done.status == 2, done.stderr
    assert len(messages(done)) == 1


def test_vcmtsd_closes_ports(library: Path, config: Path) -> None:
    done = run_server(library, config)
    assert done.status == 0, done.stderr


@pytest.mark.parametrize(
    "fails", [*RX_QUEUE_FAILURES, *TX_QUEUE_FAILURES, *START_FAILURES, CRYPTO_FAILURE]
)
def test_failed_start_of_vcmtsd_closes_ports(fails: str, library: Path, config: Path) -> None:
    control = ("--control", "net_null2") if fails.endswith("2") else ()
    done = run_server(library, config, *control, fails=fails)
    assert done.status == 1, done.stderr
    assert len(messages(done)) == 1


@pytest.mark.parametrize(
    "fails", [*(f"rte_eth_tx_queue_setup {n}" for n in range(6)), CRYPTO_FAILURE]
)
def test_failed_start_of_replay_closes_ports(fails: str, library: Path, tmp_path: Path) -> None:
    config, captured = tmp_path / "sg.yaml", tmp_path / "in.pcap"
    config.write_text(UPSTREAM_SAMPLE + CRYPTO_DEVICE)
    write_pcap(captured, [])
    out = ("--network-out", tmp_path / "out.pcap", "--control-out", tmp_path / "control.pcap")
    command = (program("vcmtsd"), "replay", "--config", config, "--rphy-in", captured, *out)
    done = run_with_card(library, *command, fails=fails)
    assert done.status == 1, done.stderr
    assert len(messages(done)) == 1


def test_vcmtsd_without_memory_closes_ports(library: Path, config: Path) -> None:
    """Creation of mempools fails from the first on, from the second on, and so on."""
    for first in range(100):
        done = run_server(library, config, fails=f"rte_mempool_create_empty {first}")
        if done.status == 0:
            break
        assert done.status == 1 and "no memory" in done.stderr
    assert 5 < first < 40


@pytest.mark.parametrize("first", [0, 2, 4, 6])
def test_traffic_program_without_memory_closes_ports(first: int, library: Path) -> None:
    fails = f"rte_mempool_create_empty {first}"
    done = run_traffic(library, "--send-only", *UPSTREAM, fails=fails)
    assert done.status == 2 and "no memory" in done.stderr
