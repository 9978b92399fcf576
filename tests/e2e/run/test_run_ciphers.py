# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts run` with each cipher and provider: every packet is proven, and counted as what it was."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.machine import check_accounts, passed, proven
from e2e.running import Ended, vcmts

PROFILE = "2ofdm-0sc-qam_20cms_aes"
COUNTED = {"aes-128": "aes_128", "aes-256": "aes_256", "des": "des"}


def run(folder: Path, *words: str) -> Ended:
    rates = ("--rate", "50Mbps", "--upstream-rate", "10Mbps", "--duration", "300ms")
    summary = ("--json", folder / "summary.json")
    return vcmts("run", "--profile", PROFILE, *rates, *summary, *words)


def counted(folder: Path) -> tuple[dict[str, Any], bool]:
    """The summary, and whether every packet was proven."""
    summary: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    check_accounts(summary)
    return summary, proven(summary)


# With aes-128 by the library all other runs are; without a cipher there is nothing for a device.
@pytest.mark.parametrize(
    ("cipher", "words"),
    [
        *((cipher, ()) for cipher in ("aes-256", "des", "none")),
        *((cipher, ("--provider", "cryptodev")) for cipher in COUNTED),
    ],
)
@pytest.mark.run
def test_every_packet_is_proven(cipher: str, words: tuple[str, ...], folder: Path) -> None:
    ended = run(folder, "--cipher", cipher, *words)
    if cipher == "des" and "makes wrong frames with DES here" in ended.stderr:
        assert ended.status == 2 and words
        pytest.skip("the library of the device is wrong with DES, and was refused (docs/crypto.md)")
    summary, _ = counted(folder)
    assert ended.status == (0 if passed(summary) else 1), ended.stderr
    for direction, done in (("downstream", "encrypted"), ("upstream", "decrypted")):
        counters = summary[direction]["counters"]
        found = {name for name in COUNTED if counters[f"{done}_{COUNTED[name]}"] > 0}
        assert found == {cipher} & set(COUNTED)
        assert (counters["clear"] > 0) is (cipher == "none")
        assert counters[done] == sum(counters[f"{done}_{name}"] for name in COUNTED.values())


def test_a_device_that_is_not_there(folder: Path) -> None:
    ended = run(folder, "--provider", "cryptodev", "--device", "crypto_unheard_of0")
    assert ended.status not in (0, 1) or not (folder / "summary.json").exists()
    assert "crypto_unheard_of0" in ended.stderr


def test_a_file_says_it_itself(folder: Path) -> None:
    path = folder / "sg.yaml"
    assert vcmts("profile", PROFILE, "-o", path).status == 0
    ended = vcmts("run", "--config", path, "--cipher", "des")
    assert ended.status == 2
    assert ended.messages == [
        "vcmts: --cipher: found des beside --config, allowed: with --profile only; the file says it"
    ]
