# SPDX-License-Identifier: BSD-3-Clause
"""Tests maps.py: faults of MAPs and requests that simulated modems report."""

from typing import Any

import pytest

from vcmts.run import maps, verdict

Json = dict[str, Any]


def run(**changed: Any) -> Json:
    """Returns the summary of a good run with changed values, given as `part__key=value`."""
    grants = {
        "requests": {"contention": 9_000, "poll": 0, "piggyback": 1_000, "collided": 400}
        | {"unanswered": 600, "heard_bytes": 100_000, "lost": 0},
        "maps": {"seen": 1_000, "late": 20, "bad": 0, "wrong": 0, "skipped": 3, "clock_jumps": 0}
        | {"delayed": 0, "lost": 0},
        "bursts": {"all": 10_000, "late": 50, "unknown": 0, "excessive": 9, "partial": 9},
        "map_faults": {"overlap": 0, "gap": 0},
        "limited": False,
        "modems": {"silent": 0, "beyond": 0, "endless": 0},
        "channels": [{"minislots": {"data": 4, "request": 96}}],
    }
    scheduler = {"asked_bytes": 100_000, "late": 3}
    upstream = {"grants": grants, "scheduler": scheduler, "lost": 0, "seconds": 2.0}
    merged: Json = {
        "upstream": upstream,
        "gaps": {"shorter": 0, "list": []},
        "workers": [{"gaps": {"shorter": 0, "list": []}}],
        "host": {"tsc_hz": 1e9},
        "follow": {"changes": 0},
    }
    for path, value in changed.items():
        part, key = path.split("__")
        parts: Json = {"upstream": upstream, "scheduler": scheduler, "whole": merged}
        parts |= {"grants": grants} | grants
        parts[part][key] = value
    return merged


def failures(merged: Json) -> Json:
    maps.add(merged)
    part = merged["upstream"]
    assert verdict.ERRORS["errors of MAPs and requests"](part) == sum(part["access_wrong"].values())
    return {name: n for name, n in part["access_wrong"].items() if n}


def test_good_run_has_no_faults() -> None:
    merged = run()
    assert failures(merged) == {}
    assert merged["upstream"]["access_judged"] == {"maps": 1_000, "requests": 10_000}


@pytest.mark.parametrize(
    "changed",
    [
        {"maps__bad": 1},
        {"maps__wrong": 1},
        {"bursts__unknown": 1},
        {"maps__skipped": 4},
        {"map_faults__gap": 1},
    ],
)
def test_faulty_map_is_reported(changed: Json, capsys: pytest.CaptureFixture[str]) -> None:
    assert failures(run(**changed)) == {"maps": 1}
    assert "upstream: 1 MAPs " in capsys.readouterr().err


def test_late_maps_are_faults_from_half_of_them() -> None:
    assert failures(run(maps__late=501)) == {"maps": 501}
    assert failures(run(maps__late=500)) == {}
    assert failures(run(maps__late=501, maps__delayed=1)) == {}
    # The machine was stopped for half of the time.
    gaps = {"shorter": 1_000, "list": []}
    assert failures(run(maps__late=501, whole__gaps=gaps)) == {}


@pytest.mark.parametrize("received_bytes", [99_999, 100_001])
def test_bytes_of_lost_requests_are_faults(received_bytes: int) -> None:
    assert failures(run(requests__heard_bytes=received_bytes)) == {"requests": 1}
    assert failures(run(requests__heard_bytes=received_bytes, upstream__lost=1)) == {}


def test_unanswered_requests_are_faults() -> None:
    assert failures(run(requests__unanswered=950)) == {}
    assert failures(run(requests__unanswered=951)) == {"requests": 501}
    # Late MAPs have late grants.
    assert failures(run(requests__unanswered=951, maps__late=48)) == {}
    assert failures(run(requests__unanswered=951, maps__late=47)) == {"requests": 501}


@pytest.mark.parametrize("kind", ["excessive", "partial"])
def test_grants_of_other_sizes_are_faults(kind: str) -> None:
    more: Json = {f"bursts__{kind}": 501}
    assert failures(run(**more)) == {"requests": 501}
    assert failures(run(**{f"bursts__{kind}": 500})) == {}
    assert failures(run(**more, maps__late=48)) == {}
    # A few of 400 bursts are tolerated.
    assert failures(run(**{f"bursts__{kind}": 200}, bursts__all=400)) == {}
    assert failures(run(**{f"bursts__{kind}": 201}, bursts__all=400)) == {"requests": 201}
    # Flows with rates get less per grant, and more after a wait.
    assert failures(run(**more, grants__limited=True)) == {}


def test_partial_grants_are_expected_on_full_channels() -> None:
    channels = [{"minislots": {"data": 1, "request": 9}}, {"minislots": {"data": 1, "request": 99}}]
    for more in (
        {"bursts__partial": 501},
        {"bursts__excessive": 501},
        {"requests__unanswered": 951},
    ):
        assert failures(run(**more, grants__channels=channels)) == {}
        assert failures(run(**more, grants__channels=channels[1:])) != {}


def test_late_messages_are_not_skipped_maps() -> None:
    down = {"counters": {"messages_late": 2, "messages_lost": 1}}
    assert failures(run(maps__skipped=6, whole__downstream=down)) == {}
    assert failures(run(maps__skipped=7, whole__downstream=down)) == {"maps": 1}


@pytest.mark.parametrize(
    "impaired",
    [
        {"upstream__impairments": {"psp-loss": 5}},
        {"maps__lost": 1},
        {"maps__delayed": 1},
        {"requests__lost": 1},
        {"modems__silent": 1},
    ],
)
def test_impaired_requests_are_not_checked(impaired: Json) -> None:
    assert failures(run(requests__unanswered=5_000, requests__heard_bytes=1, **impaired)) == {}
    assert failures(run(map_faults__gap=1, **impaired)) == {"maps": 1}


def test_changed_runs_are_not_checked() -> None:
    bad = {"map_faults__gap": 1}
    for merged in (
        run(**bad, maps__clock_jumps=1),
        run(**bad, whole__follow={"changes": 1}),
        run(**bad, whole__workers=[{}]),
    ):
        assert failures(merged) == {}
        assert merged["upstream"]["access_judged"] == {"maps": 0, "requests": 0}
    opened: Json = {"upstream": {}}
    assert failures(opened) == {}
