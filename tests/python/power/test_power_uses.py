# SPDX-License-Identifier: BSD-3-Clause
"""Tests modelled watts in `vcmts size` and reports: values by hand, labels, no description."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from python import report_samples
from vcmts import cli
from vcmts.power import machine as power_machine
from vcmts.report import watts as report_watts
from vcmts.report.document import Table, Text
from vcmts.report.runs import Run, confirmed

Json = dict[str, Any]
# Cores and clock of the energy paper, with round watts: a worker core uses 4 W, or 1 W when slow.
ROUND: Json = {
    "name": "round numbers",
    "groups": 28,
    "cores": 64,
    "workers": [{"carries": "both", "cores": 2, "gbps": 10.25}],
    "peak_gbps": 258,
    "p_states": [{"ghz": 0.9, "busy": 1, "paused": 0}, {"ghz": 1.8, "busy": 4, "paused": 0}],
    "rest_watts": 100,
}


def write_description(folder: Path, **changes: Any) -> str:
    path = folder / "power.yaml"
    path.write_text(yaml.safe_dump({**ROUND, **changes}))
    return str(path)


def run_size(folder: Path, *options: str) -> Json:
    stored = folder / "size.json"
    assert cli.main(["size", *options, "--json", str(stored)]) == 0
    [kind] = json.loads(stored.read_text())["kinds"]
    result: Json = kind
    return result


ENERGY = ("--machine", "published:2023-energy", "--groups")


def test_size_has_watts_of_processors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """28 service groups on 56 cores with 0.1 of the load of a downstream core, and no upstream.
    Half the clock is enough: 0.2 of 28 cores are busy at 1 W."""
    wanted = f"6ofdm:{0.1 * 287 / 28 / 1.2}Gbps/0"
    actual = run_size(tmp_path, *ENERGY, wanted, "--power", write_description(tmp_path))["power"]
    assert actual["modelled_cpu_watts"] == {
        "polling": 100 + 56 * 4,
        "saving": pytest.approx(100 + 28 * 0.2, abs=0.01),
    }
    assert actual["modelled_platform_watts"] == {"polling": None, "saving": None}
    carried = 28 * 0.1 * 287 / 28 / 1.2
    assert actual["modelled_gbps_per_watt"]["polling"] == pytest.approx(carried / 324, abs=1e-4)
    out = capsys.readouterr().out
    assert "W of the processors, modelled: polling" in out
    assert "Gbps a watt, modelled: polling" in out


def test_size_has_watts_of_server(tmp_path: Path) -> None:
    """With a described platform, Gbps per watt are those of the server."""
    power = write_description(tmp_path, platform={"watts": 76, "factor": 1})
    actual = run_size(tmp_path, *ENERGY, "6ofdm:1Gbps/0", "--power", power)["power"]
    assert actual["modelled_platform_watts"]["polling"] == 400
    assert actual["modelled_gbps_per_watt"]["polling"] == pytest.approx(28 / 400, abs=1e-4)


def test_reserved_cores_use_no_watts(tmp_path: Path) -> None:
    """16 of 32 cores per processor are reserved, so 32 are left for 16 service groups."""
    options = ("--os-cores", "16", "--power", write_description(tmp_path))
    actual = run_size(tmp_path, *ENERGY, "6ofdm:1Gbps/0", *options)
    assert actual["per_server"] == 16
    assert actual["power"]["modelled_cpu_watts"]["polling"] == 100 + 32 * 4


def test_published_machine_has_a_description(tmp_path: Path) -> None:
    """The machine of the energy paper has one by default; other machines have none."""
    actual = run_size(tmp_path, *ENERGY, "6ofdm:7Gbps/1Gbps")["power"]
    assert actual["modelled_cpu_watts"]["polling"] == pytest.approx(260.1, abs=0.1)
    assert actual["modelled_cpu_watts"]["saving"] < 260
    other = run_size(
        tmp_path, "--machine", "published:2023-4th-gen", "--groups", "6ofdm:7Gbps/1Gbps"
    )
    assert "power" not in other


@pytest.mark.parametrize("option", [("--cores-per-socket", "40"), ("--core-clock", "2.0")])
def test_other_server_has_no_watts(
    option: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    actual = run_size(tmp_path, *ENERGY, "6ofdm:5Gbps/1Gbps", *option)
    assert "power" not in actual
    assert any("no watts: " in text for text in actual["outside_what_was_measured"])
    assert "modelled" not in capsys.readouterr().out.split("step by step")[0]


def test_report_has_watts(tmp_path: Path) -> None:
    machine = power_machine.read(Path(write_description(tmp_path)))
    file = report_samples.throughput()
    run = Run("throughput.json", "", file)
    text, table = report_watts.section([run], machine).blocks
    assert isinstance(text, Text) and "Modelled, not measured: round numbers" in text.words
    assert isinstance(table, Table)
    assert all("modelled" in name for name in table.head if "W" in name)
    results = [result for result in file["results"] if confirmed(result)]
    assert len(table.rows) == len(results) > 0
    for row, result in zip(table.rows, results, strict=True):
        assert row[0] == result["point"] and row[2:] == ("324", "-")
        assert float(row[1]) == pytest.approx(result["gbps"]["total"], rel=0.01)
    assert not any("Gbps/W" in name for name in table.head), (
        "one group does not use the whole server"
    )


def test_report_without_throughput_has_no_watts(tmp_path: Path) -> None:
    machine = power_machine.read(Path(write_description(tmp_path)))
    assert report_watts.section([Run("x.json", "", report_samples.latency())], machine).blocks == []
