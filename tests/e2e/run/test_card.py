# SPDX-License-Identifier: BSD-3-Clause
"""Ports that hold buffers until they are closed, as those of cards do: whatever ends a program, it
closes them before it frees what they hold (card.c)."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from e2e.run.test_run import on_these_cores
from e2e.running import Ended, run
from vcmts.paths import CHECKOUT, program
from vcmts.witness.pcapfile import write_pcap
from witness.sample import UPSTREAM as UPSTREAM_SAMPLE

CARD = Path(__file__).with_name("card.c")
EXAMPLE = CHECKOUT / "config" / "example.yaml"
PORTS = ("--network", "net_null0,size=128", "--rphy", "net_null1,size=128")


@pytest.fixture(scope="session")
def card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("card") / "card.so"
    flags = subprocess.check_output(["pkg-config", "--cflags", "libdpdk"], text=True)
    compiler = ("cc", "-shared", "-fPIC", "-O1", "-w", *shlex.split(flags))
    subprocess.run([*compiler, CARD, "-o", library], check=True)
    return library


def with_card(card: Path, *command: str | Path, fails: str = "") -> Ended:
    return run(command, os.environ | {"LD_PRELOAD": str(card), "CARD_FAILS": fails})


def traffic(card: Path, *more: str, fails: str = "") -> Ended:
    command = (program("vcmts-traffic"), "--config", EXAMPLE, *PORTS)
    return with_card(card, *command, "--duration", "50ms", *more, fails=fails)


def said(done: Ended) -> list[str]:
    """Its messages but those on huge pages, and on DES of a library that is wrong with it."""
    beside = ("huge pages", "does AES only")
    return [line for line in done.messages if not any(words in line for words in beside)]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "sg.yaml"
    path.write_text(on_these_cores("1ds1t") + BY_DEVICE)
    return path


def served(card: Path, config: Path, *more: str, fails: str = "") -> Ended:
    command = (program("vcmtsd"), "run", "--config", config, *PORTS, "--duration", "50ms")
    return with_card(card, *command, *more, fails=fails)


UPSTREAM = ("--upstream-rate", "10Mbps")
CRYPTO = "rte_cryptodev_start 0"
BY_DEVICE = "\ncrypto: {provider: cryptodev, device: crypto_aesni_mb0}\n"
# The first port, the second one, that of control
RECEIVING = [f"rte_eth_rx_queue_setup {port}" for port in range(3)]
SENDING = [f"rte_eth_tx_queue_setup {port}" for port in range(3)]
STARTING = [f"rte_eth_dev_start {port}" for port in range(3)]


@pytest.mark.parametrize("more", [(), UPSTREAM, ("--no-downstream", *UPSTREAM)])
def test_traffic_ends(more: tuple[str, ...], card: Path) -> None:
    done = traffic(card, "--send-only", "--rate", "10Mbps", *more)
    assert done.status == 0, done.stderr


@pytest.mark.parametrize("fails", [RECEIVING[0], SENDING[1], STARTING[1]])
def test_traffic_does_not_come_up(fails: str, card: Path) -> None:
    done = traffic(card, "--send-only", *UPSTREAM, fails=fails)
    assert done.status == 2, done.stderr
    assert len(said(done)) == 1


def test_the_server_ends(card: Path, config: Path) -> None:
    done = served(card, config)
    assert done.status == 0, done.stderr


@pytest.mark.parametrize("fails", [*RECEIVING, *SENDING, *STARTING, CRYPTO])
def test_the_server_does_not_come_up(fails: str, card: Path, config: Path) -> None:
    control = ("--control", "net_null2") if fails.endswith("2") else ()
    done = served(card, config, *control, fails=fails)
    assert done.status == (1 if fails == CRYPTO else 2), done.stderr
    assert len(said(done)) == 1


@pytest.mark.parametrize("fails", [*(f"rte_eth_tx_queue_setup {n}" for n in range(6)), CRYPTO])
def test_the_replay_does_not_come_up(fails: str, card: Path, tmp_path: Path) -> None:
    """Three pairs of ports, of which each end is missing once."""
    config, captured = tmp_path / "sg.yaml", tmp_path / "in.pcap"
    config.write_text(UPSTREAM_SAMPLE + BY_DEVICE)
    write_pcap(captured, [])
    out = ("--network-out", tmp_path / "out.pcap", "--control-out", tmp_path / "control.pcap")
    command = (program("vcmtsd"), "replay", "--config", config, "--rphy-in", captured, *out)
    done = with_card(card, *command, fails=fails)
    assert done.status == 1, done.stderr
    assert len(said(done)) == 1


def test_the_server_finds_no_memory(card: Path, config: Path) -> None:
    """From one pool on none is made: from the first one, from the second one ..."""
    for first in range(100):
        done = served(card, config, fails=f"rte_mempool_create_empty {first}")
        if done.status == 0:
            break
        assert done.status == 1 and "no memory" in done.stderr
    assert 5 < first < 40


@pytest.mark.parametrize("first", [0, 2, 4, 6])
def test_traffic_finds_no_memory(first: int, card: Path) -> None:
    fails = f"rte_mempool_create_empty {first}"
    done = traffic(card, "--send-only", *UPSTREAM, fails=fails)
    assert done.status == 2 and "no memory" in done.stderr
