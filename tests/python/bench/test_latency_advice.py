# SPDX-License-Identifier: BSD-3-Clause
"""The advice after the tables of `vcmts bench latency`."""

from typing import Any

import pytest

from vcmts.bench.latency_advice import advice
from vcmts.paths import TOOL

Json = dict[str, Any]


def measured(load: float, p99: float, **fields: Any) -> Json:
    latency = {"mean": p99 / 2, "p99": p99, "p99_9": 1.5 * p99, "max": fields.pop("max", 2 * p99)}
    one = {"direction": "downstream", "load": load, "gbps": {"downstream": 10 * load}}
    one |= {"end_to_end_us": latency, "pipeline_us": None, "disturbed": False, "lost": 0}
    return one | fields


def lines(*results: Json) -> list[str]:
    return list(advice(("downstream", "upstream"), results))


def test_flat_latency_needs_no_change() -> None:
    assert lines(measured(0.1, 20), measured(1, 59)) == [
        "downstream: 99 of 100 packets take at most 59 us up to 100% load (10.00 Gbps)"
    ]


def test_load_before_queues_build_up_is_named() -> None:
    results = [measured(0.9, 4000), measured(0.1, 20), measured(0.8, 60)]
    first, second = lines(*results)
    assert first.endswith("take at most 60 us up to 80% load (8.00 Gbps)")
    assert second == "  at 90% it is 4,000 us, as queues build up: plan for 80% at most"
    results = [measured(0.1, 20), measured(0.2, 400), measured(0.3, 30)]
    assert f"`{TOOL} layout`" in lines(*results)[-1]


@pytest.mark.parametrize(
    "fields, hint",
    [
        ({"pipeline_us": {"mean": 2.5}}, "  25% of the mean is inside the pipeline"),
        ({"max": 301}, f"(interrupts? power saving?): see `{TOOL} host check`"),
        ({"lost": 3}, f"  packets were lost at 50%: repeat `{TOOL} bench throughput`"),
        ({"disturbed": True, "lost": 3, "max": 9000}, f"  cores (`{TOOL} host plan`), and measure"),
    ],
)
def test_hint_has_its_reason(fields: Json, hint: str) -> None:
    _, *others = lines(measured(0.5, 20, **fields))
    assert hint in others[-1] and len(others) == (2 if "disturbed" in fields else 1)


def test_directions_without_packets_are_named() -> None:
    nothing = measured(0.5, 20, direction="upstream", end_to_end_us=None)
    assert lines(nothing) == ["upstream: nothing was measured"]
