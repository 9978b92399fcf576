# SPDX-License-Identifier: BSD-3-Clause
"""What `vcmts bench` makes of a stored report: a table a direction."""

import io
from typing import Any

from rich.console import Console

from vcmts import bench


def result(direction: str, mix: str, stages: dict[str, float]) -> dict[str, Any]:
    total = sum(stages.values())
    return {
        "direction": direction,
        "mix": mix,
        "stages": stages,
        "cycles_per_packet": total,
        "min": total - 1,
        "max": total + 1,
        "cycles_without_accounting": total - 5,
        "core_cycles_per_packet": total * 1.5,
        "gbps_per_core": 7.25,
        "crypto_bound_cycles": 100.0,
        "share_of_crypto_bound": 100 / total,
        "runs": 5,
    }


def shown(*results: dict[str, Any]) -> str:
    host = {"cpu": "A core", "tsc_hz": 2.0e9, "core_hz": 3.0e9, "huge_pages": False}
    text = io.StringIO()
    report = {"results": list(results), "configuration": "group", "host": host}
    bench.show(report, Console(file=text, width=40))
    return text.getvalue()


DOWN = result("downstream", "imix", {"classify": 150.0, "frame": 50.0})
UP = result("upstream", "upstream-imix", {"extract": 300.0, "requests": 100.0})
UP_84 = result("upstream", "84", {"extract": 170.0, "requests": 30.0})


def test_a_table_a_direction() -> None:
    text = shown(UP, DOWN, UP_84)
    down, up = text.split("upstream, group")
    assert "downstream, group" in down
    assert "classify" in down and "extract" not in down
    assert "extract" in up and "classify" not in up
    assert up.index("upstream-imix") < up.index("84")
    assert "0.50" in down and "0.25" in up and "0.50" in up


def test_a_title_stands_on_one_line() -> None:
    """However narrow table and terminal are."""
    titles = [line for line in shown(UP).splitlines() if line.startswith("upstream")]
    assert titles == ["upstream, group, reference cycles a packet"]


def test_a_direction_that_was_not_measured_has_no_table() -> None:
    text = shown(UP)
    assert "downstream" not in text
    assert text.count("all stages") == 1


def test_what_it_was_measured_on() -> None:
    text = " ".join(shown(DOWN, UP).split())
    assert text.count("A core: TSC 2.00 GHz, core 3.00 GHz (1.50 core cycles") == 1
    assert "ordinary pages" in text and "median of 5 runs" in text
