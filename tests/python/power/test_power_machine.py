# SPDX-License-Identifier: BSD-3-Clause
"""Tests descriptions of a machine's power. Invalid ones are refused in one line."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from vcmts import published
from vcmts.paths import MistakeError
from vcmts.power import machine as power_machine

DESCRIPTION: dict[str, Any] = {
    "name": "a server",
    "groups": 4,
    "cores": 10,
    "workers": [{"carries": "both", "cores": 2, "gbps": 10}],
    "peak_gbps": 40,
    "p_states": [
        {"ghz": 2, "busy": 4, "polling": 3, "paused": 1},
        {"ghz": 1, "busy": 2, "paused": 0.5},
    ],
    "rest_watts": 50,
    "platform": {"watts": 100},
}


def description(**changes: Any) -> str:
    """Returns the description with other values; None removes a key."""
    whole = {**DESCRIPTION, **changes}
    return yaml.safe_dump({key: value for key, value in whole.items() if value is not None})


def test_given_watts_are_read() -> None:
    result = power_machine.parse_machine(description(), "x")
    assert [state.ghz for state in result.states] == [1, 2]
    assert [state.polling for state in result.states] == [2, 3]  # default: as busy
    assert (result.rest_watts, result.platform_watts, result.platform_factor) == (50, 100, 1)
    assert result.worker_cores == 8 and result.upstream_share == 0.1 and result.governor_busy == 1
    assert result.fitted == {} and result.published_day == {}


def test_platform_is_optional() -> None:
    assert power_machine.parse_machine(description(platform=None), "x").platform_watts is None


def test_description_of_energy_paper() -> None:
    """56 of its 64 cores are workers; its watts are those near idle."""
    result = power_machine.read()
    data = published.load()
    assert (result.groups, result.cores, result.worker_cores) == (28, 64, 56)
    assert [state.ghz for state in result.states] == pytest.approx(
        [0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8]
    )
    assert result.peak_gbps == data.value("energy.loaded")
    # Two processors of 185 W use at most that, polling at the highest frequency.
    top = result.rest_watts + 56 * result.states[-1].busy
    assert top == pytest.approx(data.value("energy.idle.cpu")) and top < 2 * data.value("2023.tdp")


@pytest.mark.parametrize("level", power_machine.LEVELS)
@pytest.mark.parametrize("saving", power_machine.SAVINGS)
def test_day_of_energy_paper_is_the_published_one(level: str, saving: str) -> None:
    """Table 1 of both files has the figure's four quantities in this order."""
    names = {"pauses": "c-states", "frequency": "p-states", "both": "both"}
    figure = published.load().figures[f"energy.day.{level}.{names[saving]}"]
    row = power_machine.read().published_day[level][saving]
    quote = [float(n.strip(" %")) for n in figure.quote.split("|")[1:]]
    assert quote == [row[q] for q in ("most", "least", "average", "per_watt")]
    assert row["average"] == pytest.approx(100 * figure.value)


def worker(**changes: Any) -> list[dict[str, Any]]:
    return [{"carries": "both", "cores": 2, "gbps": 10, **changes}]


CALIBRATE = {"gbps": 1, "cpu": 100, "pauses": 10, "frequency": 15, "both": 18}
FITTED: dict[str, Any] = {"p_states": None, "rest_watts": None, "platform": None}
GHZ = {"least": 1, "most": 2, "step": 0.5}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"name": None}, "name: missing"),
        ({"name": "two\nlines"}, "a line of text"),
        ({"groups": 0}, "groups: found 0"),
        ({"groups": 2.5}, "a whole number"),
        ({"groups": True}, "groups: found True"),
        ({"groups": "many"}, "the name of a published figure"),
        ({"cores": 7}, "found 8 cores of workers, allowed: 7"),
        ({"workers": []}, "workers: found \\[\\]"),
        ({"workers": [1]}, "workers 1: found 1, allowed: a mapping"),
        ({"workers": worker(carries="sideways")}, "carries: found 'sideways'"),
        ({"workers": worker(carries="downstream")}, "downstream and upstream, or both"),
        ({"workers": worker() + worker()}, "downstream and upstream, or both"),
        ({"workers": worker(gbps=float("nan"))}, "gbps: found nan"),
        ({"workers": worker(gbps=float("inf"))}, "gbps: found inf"),
        ({"peak_gbps": 40.1}, "peak_gbps: found 40.1, allowed: at most 40"),
        ({"p_states": None}, "p_states: missing"),
        (
            {"p_states": [dict(DESCRIPTION["p_states"][0]) for _ in range(2)]},
            "different frequencies",
        ),
        ({"rest_watts": 0}, "rest_watts: found 0"),
        ({"p_states": [{"ghz": 1, "busy": 2, "paused": 3}]}, "paused: found 3"),
        ({"p_states": [{"ghz": 1, "busy": 2, "polling": 3, "paused": 1}]}, "polling: found 3"),
        (
            {"p_states": [{"ghz": 1, "busy": 2, "paused": 1}, {"ghz": 2, "busy": 1, "paused": 1}]},
            "do not fall",
        ),
        ({"platform": {"watts": 1, "factor": 0.5}}, "factor: found 0.5"),
        ({"colour": "red"}, 'unknown key "colour"; allowed: '),
        ({"governor": {"busy": 0}}, "busy: found 0"),
        ({"governor": [1]}, "governor: found \\[1\\]"),
        ({"calibrate": CALIBRATE, "ghz": GHZ}, "p_states: not allowed with calibrate"),
        ({**FITTED, "calibrate": CALIBRATE}, "ghz: missing"),
        ({**FITTED, "calibrate": CALIBRATE, "ghz": {**GHZ, "step": 0.3}}, "equal steps"),
        ({**FITTED, "calibrate": CALIBRATE, "ghz": {**GHZ, "step": 0.001}}, "equal steps"),
        ({**FITTED, "calibrate": {**CALIBRATE, "gbps": 30}, "ghz": GHZ}, "lowest frequency"),
        (
            {**FITTED, "calibrate": {**CALIBRATE, "platform": 200}, "ghz": GHZ},
            "platform_pauses: missing",
        ),
        ({"published_day": {"disk": {}}}, 'unknown key "disk"; allowed: '),
        ({"published_day": {"cpu": {"pauses": {"most": 1}}}}, "least: missing"),
    ],
)
def test_invalid_values_are_refused(changes: dict[str, Any], error: str) -> None:
    with pytest.raises(MistakeError, match=error) as caught:
        power_machine.parse_machine(description(**changes), "machine.yaml")
    assert str(caught.value).startswith("machine.yaml") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- 1",
        "a: [",
        "name: 2024-13-45",
        "a: &a [1]\nb: *a",
        "a: &a [*a]",
        "[" * 5000,
        "name: \x00",
        "!!python/object:os.system {}",
    ],
)
def test_other_files_are_refused(text: str) -> None:
    with pytest.raises(MistakeError) as caught:
        power_machine.parse_machine(text, "machine.yaml")
    assert "\n" not in str(caught.value)


def test_aliases_are_refused() -> None:
    text = "a: &a [1]\n" + "".join(f"{n}: &b{n} [*a, *a]\n" for n in range(3))
    with pytest.raises(MistakeError, match=r"aliases \(\*a\) are not allowed"):
        power_machine.parse_machine(text, "machine.yaml")


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("#" * 70000)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name, error in (("none", "No such file"), ("long", "65,536"), ("bytes", "not text")):
        with pytest.raises(MistakeError, match=error):
            power_machine.read(tmp_path / name)
