# SPDX-License-Identifier: BSD-3-Clause
"""vcmts run: MAPs and requests are judged by what the modems saw."""

from typing import Any

import pytest

from vcmts.run import maps, summary

Json = dict[str, Any]


def run(**changed: Any) -> Json:
    """A good run, but for what is changed: `part__key=value`."""
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
    whole: Json = {
        "upstream": upstream,
        "gaps": {"shorter": 0, "list": []},
        "workers": [{"gaps": {"shorter": 0, "list": []}}],
        "host": {"tsc_hz": 1e9},
        "follow": {"changes": 0},
    }
    for path, value in changed.items():
        part, key = path.split("__")
        inside: Json = {"upstream": upstream, "scheduler": scheduler, "whole": whole}
        inside |= {"grants": grants} | grants
        inside[part][key] = value
    return whole


def wrong(whole: Json) -> Json:
    maps.add(whole)
    part = whole["upstream"]
    assert summary.JUDGED["faults of MAPs and requests"](part) == sum(part["access_wrong"].values())
    return {name: n for name, n in part["access_wrong"].items() if n}


def test_good() -> None:
    whole = run()
    assert wrong(whole) == {}
    assert whole["upstream"]["access_judged"] == {"maps": 1_000, "requests": 10_000}


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
def test_one_map_is_wrong(changed: Json, capsys: pytest.CaptureFixture[str]) -> None:
    assert wrong(run(**changed)) == {"maps": 1}
    assert "upstream: 1 MAPs " in capsys.readouterr().err


def test_most_maps_are_late() -> None:
    assert wrong(run(maps__late=501)) == {"maps": 501}
    assert wrong(run(maps__late=500)) == {}
    assert wrong(run(maps__late=501, maps__delayed=1)) == {}
    # Half of the time the machine stood still.
    gaps = {"shorter": 1_000, "list": []}
    assert wrong(run(maps__late=501, whole__gaps=gaps)) == {}


@pytest.mark.parametrize("heard", [99_999, 100_001])
def test_bytes_that_were_not_heard(heard: int) -> None:
    assert wrong(run(requests__heard_bytes=heard)) == {"requests": 1}
    assert wrong(run(requests__heard_bytes=heard, upstream__lost=1)) == {}


def test_requests_without_an_answer() -> None:
    assert wrong(run(requests__unanswered=950)) == {}
    assert wrong(run(requests__unanswered=951)) == {"requests": 501}
    # Late MAPs answer late.
    assert wrong(run(requests__unanswered=951, maps__late=48)) == {}
    assert wrong(run(requests__unanswered=951, maps__late=47)) == {"requests": 501}


@pytest.mark.parametrize("kind", ["excessive", "partial"])
def test_grants_are_as_large_as_requests(kind: str) -> None:
    more: Json = {f"bursts__{kind}": 501}
    assert wrong(run(**more)) == {"requests": 501}
    assert wrong(run(**{f"bursts__{kind}": 500})) == {}
    assert wrong(run(**more, maps__late=48)) == {}
    # Some of few are not judged.
    assert wrong(run(**{f"bursts__{kind}": 200}, bursts__all=400)) == {}
    assert wrong(run(**{f"bursts__{kind}": 201}, bursts__all=400)) == {"requests": 201}
    # Flows with rates get less at a time, and all may once they have waited.
    assert wrong(run(**more, grants__limited=True)) == {}


def test_flows_that_take_turns_get_parts() -> None:
    channels = [{"minislots": {"data": 1, "request": 9}}, {"minislots": {"data": 1, "request": 99}}]
    for more in (
        {"bursts__partial": 501},
        {"bursts__excessive": 501},
        {"requests__unanswered": 951},
    ):
        assert wrong(run(**more, grants__channels=channels)) == {}
        assert wrong(run(**more, grants__channels=channels[1:])) != {}


def test_messages_that_were_late_are_left_out() -> None:
    down = {"counters": {"messages_late": 2, "messages_lost": 1}}
    assert wrong(run(maps__skipped=6, whole__downstream=down)) == {}
    assert wrong(run(maps__skipped=7, whole__downstream=down)) == {"maps": 1}


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
def test_impaired_requests_are_not_judged(impaired: Json) -> None:
    assert wrong(run(requests__unanswered=5_000, requests__heard_bytes=1, **impaired)) == {}
    assert wrong(run(map_faults__gap=1, **impaired)) == {"maps": 1}


def test_nothing_is_judged() -> None:
    bad = {"map_faults__gap": 1}
    for whole in (
        run(**bad, maps__clock_jumps=1),
        run(**bad, whole__follow={"changes": 1}),
        run(**bad, whole__workers=[{}]),
    ):
        assert wrong(whole) == {}
        assert whole["upstream"]["access_judged"] == {"maps": 0, "requests": 0}
    opened: Json = {"upstream": {}}
    assert wrong(opened) == {}
