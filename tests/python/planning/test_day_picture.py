# SPDX-License-Identifier: BSD-3-Clause
"""Tests the table and the picture of a day. The picture is checked in its SVG text."""

import copy
import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.console import Console

from planning.day import load, picture, results, show
from planning.day.plan import Plan
from planning.day.results import Modelled
from python.planning.day_samples import FAST, LENGTH, Server, run_watch
from vcmts.paths import MistakeError
from vcmts.power import machine
from vcmts.power.measured import Joules, Sampler
from vcmts.simulate import plots

Json = dict[str, Any]
SVG = "{http://www.w3.org/2000/svg}"
DAY = load.Day("mine.txt", (load.Point(0, 1), load.Point(24, 1)), ())


@pytest.fixture(scope="module")
def day() -> Json:
    watch = run_watch(Server())
    modelled = Modelled(machine.read(), {"1": FAST, "2": FAST})
    day = results.document(DAY, watch.moments, watch.start, LENGTH, modelled)
    assert day is not None
    for part in (*day["samples"], *day["hours"], day["whole"]):
        part["measured_watts"] = {"package": 55.5}
    return day


def drawn(day: Json, folder: Path) -> ElementTree.Element:
    picture.draw(day, folder / "day.svg")
    return ElementTree.parse(folder / "day.svg").getroot()


def panels(root: ElementTree.Element) -> dict[str, ElementTree.Element]:
    """The SVG groups of the picture's panels, by name."""
    groups = {group.get("id", ""): group for group in root.iter(f"{SVG}g")}
    known = {name: groups.get(f"panel-{name}") for name in picture.PANELS}
    return {name: group for name, group in known.items() if group is not None}


def texts(root: ElementTree.Element) -> set[str]:
    return {text.text or "" for text in root.iter(f"{SVG}text")}


def plan_of(described: bool, path: Path) -> Plan:
    joules = Joules(Sampler(None))
    return Plan(DAY, LENGTH, machine.read(), described, path, io.BytesIO(), joules)


def curve_count(panel: ElementTree.Element) -> int:
    """Counts curves: paths with more points than ticks, axes or legend marks have."""
    paths = (path.get("d", "") for path in panel.iter(f"{SVG}path"))
    return sum(path.count("L") > 50 for path in paths)


def test_all_panels_are_drawn(day: Json, tmp_path: Path) -> None:
    root = drawn(day, tmp_path)
    result = panels(root)
    assert {name: curve_count(panel) for name, panel in result.items()} == {
        "load": 4,  # both directions, and two service groups
        "busy": 2,
        "paused": 2,
        "frequency": 4,  # actual and requested, of two cores
        "latency-downstream": 2,  # bands of 24 hours
        "power": 3,
    }
    words = texts(root)
    assert "power, modelled" not in words, "some of it is measured"
    assert {
        *("load", "busy", "paused", "frequency", "simulated", "in the pipeline", "power"),
        *("median of the hour", "up to 99 %", "up to 99.9 %", "requested"),
        *("modelled: as it was", "modelled: polling, fastest", "measured: package"),
        *("core 2: pipelines of core", "2", "0:00", "24:00"),
    } <= words
    assert any("modelled: 2 x Intel" in text for text in words)
    assert plots.LICENCE in (tmp_path / "day.svg").read_text()


def test_panels_without_data_are_left_out(day: Json, tmp_path: Path) -> None:
    unknown = copy.deepcopy(day)
    unknown["driver"] = unknown["modelled_machine"] = None
    for part in (*unknown["samples"], *unknown["hours"], unknown["whole"]):
        part["cores"], part["measured_watts"] = [], {}
        part["latency_us"] = {"downstream": None, "upstream": None}
        for worker in part["workers"]:
            worker["paused"] = None
    result = {name: curve_count(panel) for name, panel in panels(drawn(unknown, tmp_path)).items()}
    assert result == {"load": 4, "busy": 2}


def test_bands_are_of_the_hours(day: Json) -> None:
    """Upper and lower edges of the bands are the percentiles of each hour; an hour without any is
    a gap."""
    gap = copy.deepcopy(day)
    gap["hours"][7]["latency_us"]["downstream"] = None
    axes = plots.load().figure().add_subplot()
    assert picture.latency(axes, gap, "downstream")
    for hour, figures in enumerate(day["hours"]):
        known = figures["latency_us"]["downstream"]
        for band, names in zip(axes.collections, (("p50", "p99"), ("p99", "p99_9")), strict=True):
            corners = np.concatenate([path.vertices for path in band.get_paths()])
            inside = {y for x, y in corners if hour <= x <= hour + 1}
            assert (hour == 7) or {known[name] for name in names} <= inside
    (median,) = axes.patches
    assert np.isnan(median.get_data().values[7])


def test_watts_are_of_a_described_machine(day: Json, tmp_path: Path) -> None:
    """Modelled watts of the published machine are no figures of the one that ran."""
    for described, count in ((True, 3), (False, 1)):
        plan_of(described, tmp_path / "day.svg").show(day)
        root = ElementTree.parse(tmp_path / "day.svg").getroot()
        assert curve_count(panels(root)["power"]) == count


def test_many_cores_have_a_mean(tmp_path: Path) -> None:
    """Missing figures leave a gap. Watts that are not measured are labelled as modelled."""
    watch = run_watch(Server(cores=9))
    modelled = Modelled(machine.read(), {})
    gaps = results.document(DAY, watch.moments, watch.start, LENGTH, modelled)
    assert gaps is not None
    for sample in gaps["samples"][:20]:
        sample["workers"], sample["groups"], sample["downstream_gbps"] = [], [], None
    root = drawn(gaps, tmp_path)
    assert curve_count(panels(root)["busy"]) == 10
    assert {"mean of 9 cores", "power, modelled"} <= texts(root)


def test_formats_are_svg_and_png(day: Json, tmp_path: Path) -> None:
    picture.draw(day, tmp_path / "day.png")
    assert (tmp_path / "day.png").read_bytes().startswith(b"\x89PNG")
    picture.check(tmp_path / "day.svg")
    with pytest.raises(MistakeError, match=r"--plot: found day.jpg, allowed: name.svg or name.png"):
        picture.check(tmp_path / "day.jpg")


def test_table_has_a_row_per_hour(day: Json, capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(width=100)
    with console.capture() as captured:
        show.show(day, console)
    rows = [line.split("│") for line in captured.get().splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in row[1:-1]] for row in rows]
    assert [row[0] for row in cells] == [f"{hour:02}:00" for hour in range(24)] + ["all"]
    five = dict(zip((*show.HEADS, "measured"), cells[5], strict=True))
    assert (five["busy"], five["GHz"], five["p99"], five["measured"]) == (
        "25.0%",
        "0.80",
        "315",
        "56",
    )
    assert five["modelled\nW"] == f"{day['hours'][5]['modelled_watts']['cpu']:.0f}" != "260"
    out = capsys.readouterr().out
    assert "24 hours of mine.txt in 24 s; pauses: sleep; policy: saving by simulated" in out
    assert "modelled of 2 x Intel" in out and "measured of this machine: package 55.5 W" in out
    for line in out.splitlines():
        assert " W" not in line or line.startswith(("modelled of ", "measured of "))


def test_policy_without_frequencies_is_noted(day: Json, capsys: pytest.CaptureFixture[str]) -> None:
    show.show(day, Console(width=120))
    assert show.NO_CLOCK not in capsys.readouterr().out
    day = copy.deepcopy(day)
    day["whole"]["hertz"] = None
    show.show(day, Console(width=120))
    assert show.NO_CLOCK in capsys.readouterr().out
    day["policy"] = "none"
    show.show(day, Console(width=120))
    assert show.NO_CLOCK not in capsys.readouterr().out


def test_watts_are_in_the_column_of_their_kind(day: Json) -> None:
    """Hours and the whole day have different kinds of measured watts here."""
    mixed = copy.deepcopy(day)
    for hour in mixed["hours"]:
        hour["measured_watts"] = {"cpu": 11.0, "platform": 222.0}
    mixed["hours"][3]["measured_watts"] = {"platform": 222.0}
    mixed["whole"]["measured_watts"] = {"platform": 222.0}
    for sample in mixed["samples"]:
        sample["measured_watts"] = {}
    columns = {column.header: list(column.cells) for column in show.table(mixed).columns}
    assert columns["measured\nplatform W"] == ["222"] * 25
    assert columns["measured\ncpu W"] == ["11"] * 3 + ["-"] + ["11"] * 20 + ["-"]
