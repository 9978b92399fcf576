# SPDX-License-Identifier: BSD-3-Clause
"""How many service groups a crypto device carries, and how many stay with software."""

import json
from pathlib import Path
from typing import Any

import pytest

from planning.size.devices import Devices
from vcmts import cli


def sized(folder: Path, *words: str) -> dict[str, Any]:
    path = folder / "size.json"
    assert cli.main(["size", *words, "--json", str(path)]) == 0
    answer: dict[str, Any] = json.loads(path.read_text())
    return answer


@pytest.mark.parametrize(("does", "gbps", "groups"), [("crc", 36.0, 6), ("cipher", 47.0, 8)])
def test_as_published(does: str, gbps: float, groups: int) -> None:
    """Two devices for the service groups of 2023: six with the CRC, eight without."""
    rate = 12.0 if does == "crc" else 11.75
    found = Devices(2, does).as_json(16, rate)
    assert (found["gbps"], found["groups_a_device"]) == (gbps, groups // 2)
    assert (found["groups"], found["software"]) == (groups, 16 - groups)


@pytest.mark.parametrize(
    ("devices", "counts", "rates", "carried"),
    [
        (1, [16], [9.0], (4,)),  # to the last bit
        (1, [3], [9.0], (3,)),
        (2, [16], [20.0], (2,)),  # a group is on one device, and none is cut in two
        (1, [4], [36.5], (0,)),
        (2, [3, 9], [10.0, 6.0], (3, 7)),  # the second kind takes what the first leaves
        (64, [16, 1], [9.0, 1.0], (16, 1)),
    ],
)
def test_groups_have_a_device_each(
    devices: int, counts: list[int], rates: list[float], carried: tuple[int, ...]
) -> None:
    assert Devices(devices, "crc").carry(counts, rates) == carried


def test_the_answer_says_who_stays_with_software(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--groups", "16x6ofdm:8.7Gbps/2Gbps", "--crypto-devices", "2")
    found = sized(tmp_path, *words)
    [kind] = found["kinds"]
    assert kind["crypto_devices"]["groups_a_device"] == 4
    carried = kind["crypto_devices"]["groups"]
    assert carried == 8 and kind["crypto_devices"]["software"] == kind["per_server"] - carried
    [server] = found["servers"]
    assert server["on_crypto_devices"] == [8]
    said = capsys.readouterr().out
    assert "36 Gbps each (cipher and CRC), so 4 service groups of 8.70 Gbps: 2 carry 8 of" in said
    assert "16 x 6ofdm:8.7Gbps/2Gbps, 8 of them on crypto devices" in said
    found = sized(tmp_path, *words, "--crypto-offload", "cipher")
    assert found["kinds"][0]["crypto_devices"]["groups"] == 10


def test_nothing_is_said_without_devices(tmp_path: Path) -> None:
    found = sized(tmp_path, "--groups", "16x6ofdm:8.7Gbps/2Gbps")
    assert found["kinds"][0]["crypto_devices"] is None
    assert "on_crypto_devices" not in found["servers"][0]
    assert not any("crypto device" in step for step in found["kinds"][0]["steps"])
