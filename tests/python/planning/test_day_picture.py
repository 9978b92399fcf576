# SPDX-License-Identifier: BSD-3-Clause
"""The day as a table, and as a picture of which every panel is there."""

import copy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

from planning.day import load, picture, results, show
from planning.day.results import Modelled
from python.planning.day_samples import FAST, LENGTH, Server, watched
from vcmts.paths import MistakeError
from vcmts.power import machine
from vcmts.simulate import plots

Json = dict[str, Any]
SVG = "{http://www.w3.org/2000/svg}"
DAY = load.Day("mine.txt", (load.Point(0, 1), load.Point(24, 1)), ())


@pytest.fixture(scope="module")
def day() -> Json:
    watch = watched(Server())
    modelled = Modelled(machine.read(), {"1": FAST, "2": FAST})
    found = results.document(DAY, watch.moments, watch.start, LENGTH, modelled)
    assert found is not None
    for part in (*found["samples"], *found["hours"], found["whole"]):
        part["measured_watts"] = {"package": 55.5}
    return found


def drawn(day: Json, folder: Path) -> ElementTree.Element:
    picture.draw(day, folder / "day.svg")
    return ElementTree.parse(folder / "day.svg").getroot()


def panels(root: ElementTree.Element) -> dict[str, ElementTree.Element]:
    groups = {group.get("id", ""): group for group in root.iter(f"{SVG}g")}
    return {name: groups[f"panel-{name}"] for name in picture.PANELS}


def texts(root: ElementTree.Element) -> set[str]:
    return {text.text or "" for text in root.iter(f"{SVG}text")}


def lines(panel: ElementTree.Element) -> int:
    """Those that go on and on, as no tick, axis or mark of a legend does."""
    paths = (path.get("d", "") for path in panel.iter(f"{SVG}path"))
    return sum(path.count("L") > 50 for path in paths)


def test_every_panel_is_drawn(day: Json, tmp_path: Path) -> None:
    root = drawn(day, tmp_path)
    found = panels(root)
    assert {name: lines(panel) for name, panel in found.items()} == {
        "load": 4,  # both directions, and two service groups
        "busy": 2,
        "paused": 2,
        "frequency": 4,  # as it is, and wished, of two cores
        "latency": 3,
        "power": 3,
    }
    told = texts(root)
    assert {"power, modelled"} & told == set(), "some of it is measured"
    assert {
        *("load", "busy", "paused", "frequency", "simulated", "in the pipeline", "power"),
        *("downstream 99.9 %", "modelled: as it was", "modelled: polling, fastest"),
        *("measured: package", "core 2: pipelines of core 2", "0:00", "24:00"),
    } <= told
    assert any("modelled: 2 x Intel" in text for text in told)
    assert plots.LICENCE in (tmp_path / "day.svg").read_text()


def test_what_is_not_known_is_said(day: Json, tmp_path: Path) -> None:
    bare = copy.deepcopy(day)
    bare["driver"] = bare["modelled_machine"] = None
    for part in (*bare["samples"], bare["whole"]):
        part["cores"], part["modelled_watts"], part["measured_watts"] = [], None, {}
        part["latency_us"] = {"downstream": None, "upstream": None}
        for worker in part["workers"]:
            worker["paused"] = None
    root = drawn(bare, tmp_path)
    found = {name: lines(panel) for name, panel in panels(root).items()}
    assert found == {"load": 4, "busy": 2} | dict.fromkeys(
        ("paused", "frequency", "latency", "power"), 0
    )
    assert {
        "no pauses are told of",
        "frequencies are left alone",
        "latencies were not measured",
        "no watts are modelled or measured",
    } <= texts(root)


def test_many_cores_are_pale(tmp_path: Path) -> None:
    """And modelled watts alone are called so. A worker or group that came later leaves a gap, as
    figures do that nobody had for a while."""
    watch = watched(Server(cores=9))
    modelled = Modelled(machine.read(), {})
    holes = results.document(DAY, watch.moments, watch.start, LENGTH, modelled)
    assert holes is not None
    for sample in holes["samples"][:20]:
        sample["workers"], sample["groups"], sample["downstream_gbps"] = [], [], None
    root = drawn(holes, tmp_path)
    assert lines(panels(root)["busy"]) == 10
    assert {"mean of 9 cores", "power, modelled"} <= texts(root)


def test_formats(day: Json, tmp_path: Path) -> None:
    picture.draw(day, tmp_path / "day.png")
    assert (tmp_path / "day.png").read_bytes().startswith(b"\x89PNG")
    picture.check(tmp_path / "day.svg")
    with pytest.raises(
        MistakeError, match=r"--plot: found day.jpg, allowed: a name.svg or name.png"
    ):
        picture.check(tmp_path / "day.jpg")


def test_table(day: Json, capsys: pytest.CaptureFixture[str]) -> None:
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
    told = capsys.readouterr().out
    assert "24 hours of mine.txt in 24 s; pauses: sleep; policy: saving by simulated" in told
    assert "modelled of 2 x Intel" in told and "measured of this machine: package 55.5 W" in told
    for line in told.splitlines():
        assert " W" not in line or line.startswith(("modelled of ", "measured of "))


def test_a_policy_that_nothing_followed(day: Json, capsys: pytest.CaptureFixture[str]) -> None:
    show.show(day, Console(width=120))
    assert show.NO_CLOCK not in capsys.readouterr().out
    day = copy.deepcopy(day)
    day["whole"]["hertz"] = None
    show.show(day, Console(width=120))
    assert show.NO_CLOCK in capsys.readouterr().out
    day["policy"] = "none"
    show.show(day, Console(width=120))
    assert show.NO_CLOCK not in capsys.readouterr().out


def test_watts_stand_below_their_heading(day: Json) -> None:
    """Also where an hour has what the whole day has not, and lacks what that has."""
    mixed = copy.deepcopy(day)
    for hour in mixed["hours"]:
        hour["measured_watts"] = {"cpu": 11.0, "platform": 222.0}
    mixed["hours"][3]["measured_watts"] = {"platform": 222.0}
    mixed["whole"]["measured_watts"] = {"platform": 222.0}
    for sample in mixed["samples"]:
        sample["measured_watts"] = {}
    drawn = show.table(mixed)
    columns = {column.header: list(column.cells) for column in drawn.columns}
    assert columns["measured\nplatform W"] == ["222"] * 25
    assert columns["measured\ncpu W"] == ["11"] * 3 + ["-"] + ["11"] * 20 + ["-"]
