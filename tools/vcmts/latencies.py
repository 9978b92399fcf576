# SPDX-License-Identifier: BSD-3-Clause
"""How long packets stayed in a vcmtsd's pipeline during a trial, from its telemetry."""

from typing import Any

from vcmts.telemetry import Vcmtsd

Json = dict[str, Any]

COMMAND = "/vcmts/latency"
PERCENTILES = ("mean", "p50", "p90", "p99", "p99_9", "p99_99", "p99_999", "max")


def begin(asked: Vcmtsd | None, request: Json) -> None:
    """What was measured before is forgotten."""
    if asked is not None and request["latency"]:
        asked.ask(COMMAND, "reset")


def histogram(asked: Vcmtsd, direction: str) -> list[tuple[float, int]]:
    """Pairs of a bucket's shortest time in microseconds and its packets; they come in parts."""
    found: dict[int, int] = {}
    begin_ns = 0
    while part := asked.ask(COMMAND, f"{direction} {begin_ns}"):
        found |= {int(time): packets for time, packets in part.items()}
        begin_ns = max(found) + 1
    return [(time / 1e3, packets) for time, packets in sorted(found.items())]


def of_direction(asked: Vcmtsd, direction: str, told: Json) -> Json | None:
    if not told["packets"]:
        return None
    percentiles = {key: told[f"{key}_ns"] / 1e3 for key in PERCENTILES}
    return percentiles | {"histogram": histogram(asked, direction)}


def end(asked: Vcmtsd | None, request: Json) -> Json:
    """Since `begin`, as vcmts-bench-throughput tells it of a trial."""
    if asked is None or not request["latency"]:
        return {}
    measured = asked.ask(COMMAND)
    told = {way: of_direction(asked, way, one) for way, one in measured.items()}
    return {"pipeline_latency_us": told}
