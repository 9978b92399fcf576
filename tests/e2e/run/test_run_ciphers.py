# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts run` with each cipher and provider: packets are proven and counted by cipher."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.machine import all_proven, check_balance, run_passed
from e2e.running import Completed, vcmts

PROFILE = "2ofdm-0sc-qam_20cms_aes"
COUNTERS = {"aes-128": "aes_128", "aes-256": "aes_256", "des": "des"}


def run_tool(folder: Path, *options: str) -> Completed:
    rates = ("--rate", "50Mbps", "--upstream-rate", "10Mbps", "--duration", "300ms")
    summary = ("--json", folder / "summary.json")
    return vcmts("run", "--profile", PROFILE, *rates, *summary, *options)


def read_summary(folder: Path) -> tuple[dict[str, Any], bool]:
    """The summary with a checked balance, and whether every packet was proven."""
    summary: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    check_balance(summary)
    return summary, all_proven(summary)


# Other tests have aes-128 with the default provider. Without a cipher, cryptodev is not used.
@pytest.mark.parametrize(
    ("cipher", "options"),
    [
        *((cipher, ()) for cipher in ("aes-256", "des", "none")),
        *((cipher, ("--provider", "cryptodev")) for cipher in COUNTERS),
    ],
)
@pytest.mark.run
def test_cipher_is_proven_and_counted(cipher: str, options: tuple[str, ...], folder: Path) -> None:
    done = run_tool(folder, "--cipher", cipher, *options)
    if cipher == "des" and "fails the self-test with DES on this CPU" in done.stderr:
        assert done.status == 2 and options
        pytest.skip("the library of the device is wrong with DES, and was refused (docs/crypto.md)")
    summary, _ = read_summary(folder)
    assert done.status == (0 if run_passed(summary) else 1), done.stderr
    for direction, counter in (("downstream", "encrypted"), ("upstream", "decrypted")):
        counters = summary[direction]["counters"]
        ciphers = {name for name in COUNTERS if counters[f"{counter}_{COUNTERS[name]}"] > 0}
        assert ciphers == {cipher} & set(COUNTERS)
        assert (counters["clear"] > 0) is (cipher == "none")
        assert counters[counter] == sum(counters[f"{counter}_{name}"] for name in COUNTERS.values())


def test_unknown_crypto_device_is_rejected(folder: Path) -> None:
    done = run_tool(folder, "--provider", "cryptodev", "--device", "crypto_unheard_of0")
    assert done.status not in (0, 1) or not (folder / "summary.json").exists()
    assert "crypto_unheard_of0" in done.stderr


def test_cipher_with_config_is_rejected(folder: Path) -> None:
    path = folder / "sg.yaml"
    assert vcmts("profile", PROFILE, "-o", path).status == 0
    done = vcmts("run", "--config", path, "--cipher", "des")
    assert done.status == 2
    assert done.messages == ["vcmts: --cipher: not allowed with --config; set it in the file"]
