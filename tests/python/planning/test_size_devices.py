# SPDX-License-Identifier: BSD-3-Clause
"""Tests how many service groups crypto devices carry, and how many software crypto carries."""

import json
from pathlib import Path
from typing import Any

import pytest

from planning.size.devices import Devices
from vcmts import cli


def run_size(folder: Path, *arguments: str) -> dict[str, Any]:
    path = folder / "size.json"
    assert cli.main(["size", *arguments, "--json", str(path)]) == 0
    answer: dict[str, Any] = json.loads(path.read_text())
    return answer


@pytest.mark.parametrize(("does", "gbps", "groups"), [("crc", 36.0, 6), ("cipher", 47.0, 8)])
def test_published_rates_of_devices(does: str, gbps: float, groups: int) -> None:
    """Two devices and the service groups of 2023: six with the CRC, eight without."""
    rate = 12.0 if does == "crc" else 11.75
    result = Devices(2, does).as_json(16, rate)
    assert (result["gbps"], result["groups_a_device"]) == (gbps, groups // 2)
    assert (result["groups"], result["software"]) == (groups, 16 - groups)


@pytest.mark.parametrize(
    ("devices", "counts", "rates", "carried"),
    [
        (1, [16], [9.0], (4,)),  # exactly 36 Gbps
        (1, [3], [9.0], (3,)),
        (2, [16], [20.0], (2,)),  # a group is on one device
        (1, [4], [36.5], (0,)),
        (2, [3, 9], [10.0, 6.0], (3, 7)),  # the second kind gets what the first leaves
        (64, [16, 1], [9.0, 1.0], (16, 1)),
    ],
)
def test_group_is_on_one_device(
    devices: int, counts: list[int], rates: list[float], carried: tuple[int, ...]
) -> None:
    assert Devices(devices, "crc").assign(counts, rates) == carried


def test_answer_has_groups_of_devices_and_software(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--groups", "16x6ofdm:8.7Gbps/2Gbps", "--crypto-devices", "2")
    answer = run_size(tmp_path, *arguments)
    [kind] = answer["kinds"]
    assert kind["crypto_devices"]["groups_a_device"] == 4
    carried = kind["crypto_devices"]["groups"]
    assert carried == 8 and kind["crypto_devices"]["software"] == kind["per_server"] - carried
    [server] = answer["servers"]
    assert server["on_crypto_devices"] == [8]
    out = capsys.readouterr().out
    assert "36 Gbps each (cipher and CRC), so 4 service groups of 8.70 Gbps: 2 carry 8 of" in out
    assert "16 x 6ofdm:8.7Gbps/2Gbps, 8 of them on crypto devices" in out
    answer = run_size(tmp_path, *arguments, "--crypto-offload", "cipher")
    assert answer["kinds"][0]["crypto_devices"]["groups"] == 10


def test_answer_without_devices_does_not_mention_them(tmp_path: Path) -> None:
    answer = run_size(tmp_path, "--groups", "16x6ofdm:8.7Gbps/2Gbps")
    assert answer["kinds"][0]["crypto_devices"] is None
    assert "on_crypto_devices" not in answer["servers"][0]
    assert not any("crypto device" in step for step in answer["kinds"][0]["steps"])
