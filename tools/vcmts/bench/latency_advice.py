# SPDX-License-Identifier: BSD-3-Clause
"""The lines after the tables of `vcmts bench latency`: what the figures mean, what to change."""

from collections.abc import Iterator, Sequence

from vcmts.jsons import Json
from vcmts.paths import TOOL

FLAT = 3  # times the 99th percentile of the lowest load: queues do not build up below
TAIL = 10  # times the 99.9th percentile: the longest delays have a cause outside of the pipeline
LOW = 0.5  # of the rate without loss
NOTHING = "nothing was measured"


def latency(one: Json, key: str) -> float:
    return float(one["end_to_end_us"][key])


def flat_until(found: Sequence[Json]) -> Json:
    """The result of the highest load below which latency grows little; `found`: by load."""
    limit = FLAT * latency(found[0], "p99")
    last = found[0]
    for one in found:
        if latency(one, "p99") > limit:
            break
        last = one
    return last


def inside(one: Json) -> str:
    """Where packets spend the time; "" if it was measured end to end only."""
    if not one["pipeline_us"] or not latency(one, "mean"):
        return ""
    share = min(1.0, one["pipeline_us"]["mean"] / latency(one, "mean"))
    return f"{share:.0%} of the mean is inside the pipeline, the rest in the ports around it"


def of_direction(way: str, results: Sequence[Json]) -> Iterator[str]:
    """Advice on one direction. `results`: those of this direction."""
    found = sorted((one for one in results if one["end_to_end_us"]), key=lambda one: one["load"])
    if not found:
        yield f"{way}: {NOTHING}"
        return
    best, last = flat_until(found), found[-1]
    yield (
        f"{way}: 99 of 100 packets take at most {latency(best, 'p99'):,.0f} us"
        f" up to {best['load']:.0%} load ({best['gbps'][way]:.2f} Gbps)"
    )
    if best is not last:
        yield (
            f"  at {last['load']:.0%} it is {latency(last, 'p99'):,.0f} us, as queues build up:"
            + (f" plan for {best['load']:.0%} at most")
        )
        if best["load"] < LOW:
            yield f"  more cores for the service group lower it: `{TOOL} layout`"
    if where := inside(best):
        yield f"  {where}"
    if latency(best, "max") > TAIL * latency(best, "p99_9") and not best["disturbed"]:
        yield (
            f"  single packets took {latency(best, 'max'):,.0f} us (interrupts? power saving?):"
            f" see `{TOOL} host check`"
        )
    lost = ", ".join(f"{one['load']:.0%}" for one in found if one["lost"] and not one["disturbed"])
    if lost:
        yield f"  packets were lost at {lost}: repeat `{TOOL} bench throughput`"


def advice(ways: Sequence[str], results: Sequence[Json]) -> Iterator[str]:
    """Lines about all results."""
    for way in ways:
        own = [one for one in results if one["direction"] == way]
        if own:
            yield from of_direction(way, own)
    if any(one["disturbed"] for one in results):
        yield "figures with ! are those of a busy machine: stop other programs, or isolate"
        yield f"  cores (`{TOOL} host plan`), and measure again"
