# SPDX-License-Identifier: BSD-3-Clause
"""vcmts size: costs from what `vcmts bench` has measured."""

import re
from dataclasses import replace

from planning.size.curve import Costs, Curve, Points, along, between
from planning.size.files import Files
from planning.size.request import Groups
from vcmts.jsons import Json
from vcmts.paths import MistakeError

CONFIGURATION = re.compile(r"(\d+)ofdm-(\d+)sc-qam_(\d+)cms_(aes|none)")
TABLE = re.compile(r"\d+:\d+(?:\.\d+)?(?:,\d+:\d+(?:\.\d+)?)*")


def _of(pipeline: Json, direction: str) -> list[Json]:
    return [
        r for r in pipeline["results"] if r["direction"] == direction and r.get("threads", 1) == 1
    ]


def by_size(found: list[Json], ratio: float) -> Points:
    """Core cycles by packet size, of the mixes that are one size."""
    sizes = [r for r in found if str(r["mix"]).isdigit()]
    return sorted({float(r["mix"]): r["cycles_per_packet"] * ratio for r in sizes}.items())


def shares_of(mix: str) -> list[tuple[float, float]] | None:
    """Size and share of a mix that is a size or a table; the shares add up to 1."""
    if not (mix.isdigit() or TABLE.fullmatch(mix)):
        return None
    parts = [part.split(":") for part in mix.split(",")] if ":" in mix else [[mix, "1"]]
    shares = [(float(size), float(share)) for size, share in parts]
    whole = sum(share for _, share in shares)
    if whole <= 0 or not all(64 <= size <= 9000 for size, _ in shares):
        raise MistakeError(f"mix {mix}: allowed: sizes of 64 to 9000 bytes with shares above 0")
    return [(size, share / whole) for size, share in shares]


def put_together(
    mix: str, shares: list[tuple[float, float]], sizes: Points
) -> tuple[float, float, str]:
    """Cycles and bytes of a packet of the mix from those of single sizes, and how that is."""
    cycles = sum(along(sizes, size) * share for size, share in shares)
    mean = sum(size * share for size, share in shares)
    least, most = sizes[0][0], sizes[-1][0]
    said = f"mix {mix}: from the cycles of single sizes"
    away = [f"{size:g}" for size, _ in shares if not least <= size <= most]
    if away:
        said += f"; measured from {least:g} to {most:g} bytes, extrapolated to {' and '.join(away)}"
    if cycles <= 0:
        raise MistakeError(f"mix {mix}: too far from what was measured")
    return cycles, mean, said


def cycles_of(found: list[Json], mix: str, ratio: float) -> tuple[float, float, str]:
    """Core cycles and bytes of a packet of the mix, and what of it was not measured."""
    for result in found:
        if result["mix"] == mix:
            return result["cycles_per_packet"] * ratio, result["mean_bytes"], ""
    shares, sizes = shares_of(mix), by_size(found, ratio)
    if shares is None or len(sizes) < 2:
        known = ", ".join(str(r["mix"]) for r in found)
        more = "; or a size, or 84:15,256:10,1280:75" if len(sizes) > 1 else ""
        raise MistakeError(f"mix {mix}: not measured, allowed: {known}{more}")
    return put_together(mix, shares, sizes)


def differences(name: str, groups: Groups) -> list[str]:
    """What was asked for and is not in the configuration that was measured."""
    if groups.crypto == "aes-qat":
        raise MistakeError("crypto aes-qat: allowed: aes or none, as measured")
    match = CONFIGURATION.match(name)
    if match is None:
        return [f"measured with configuration {name}: its channels and modems are not compared"]
    said = []
    measured = f"{match[1]}ofdm" + (f"-{match[2]}sc-qam" if match[2] != "0" else "")
    if measured != groups.channels:
        said.append(f"{groups.channels}: measured with {measured}, taken as the same")
    if groups.crypto == "aes" and match[4] == "none":
        raise MistakeError(f"crypto aes: {name} was measured without; measure with it")
    if groups.crypto == "none" and match[4] == "aes":
        said.append("crypto none: counted as aes, which takes more")
    return said


def by_modems(cost: Json, key: str, direction: str | None = None) -> Points:
    """One figure a number of modems: both directions tell of the same memory."""
    found = {
        float(r["value"]): float(r[key])
        for r in cost["results"]
        if r["what"] == "modems" and r.get(key) and direction in (None, r.get("direction"))
    }
    return sorted(found.items())


def modems_factor(files: Files, groups: Groups, name: str) -> tuple[float, str]:
    """Cycles with the modems that are asked for over those with the modems measured."""
    match = CONFIGURATION.match(name)
    base = int(match[3]) if match else groups.modems
    if groups.modems == base:
        return 1.0, ""
    cost = files.by_kind.get("cost")
    if cost is None:
        return 1.0, f"{groups.modems} modems: measured with {base}, taken as the same"
    points = by_modems(cost, "cycles_per_packet", "downstream")
    if not points:
        return 1.0, f"{groups.modems} modems: {files.names['cost']} has none of modems"
    factor = between(points, groups.modems) / between(points, base)
    if groups.modems > points[-1][0]:
        return factor, f"{groups.modems} modems: measured up to {points[-1][0]:g}, taken as these"
    return factor, ""


def memory_of_pipeline(files: Files, groups: Groups) -> tuple[float | None, str, str]:
    """Of the one configuration that was measured."""
    pipeline = files.by_kind.get("pipeline", {})
    total = pipeline.get("memory", {}).get("total")
    if not total:
        return None, "", "memory: not measured (a file of `vcmts bench cost` has it)"
    source = f"{files.names['pipeline']}, of {pipeline['configuration']}"
    match = CONFIGURATION.match(pipeline["configuration"])
    if match and int(match[3]) != groups.modems:
        return total / 2**30, source, f"memory for {groups.modems} modems: that of {match[3]}"
    return total / 2**30, source, ""


def memory(files: Files, groups: Groups) -> tuple[float | None, str, str]:
    """GiB of a service group, from where, and what of it was not measured."""
    cost = files.by_kind.get("cost")
    points = by_modems(cost, "memory_bytes") if cost else []
    if not points:
        return memory_of_pipeline(files, groups)
    said = ""
    if not points[0][0] <= groups.modems <= points[-1][0]:
        said = (
            f"memory for {groups.modems} modems: measured for {points[0][0]:g} to "
            f"{points[-1][0]:g}, extrapolated"
        )
    gib = max(0.0, along(points, groups.modems)) / 2**30
    return gib, f"{files.names['cost']}, for {groups.modems} modems", said


def pipeline_curve(files: Files, direction: str, groups: Groups) -> Curve | None:
    pipeline = files.by_kind["pipeline"]
    found = _of(pipeline, direction)
    if not found:
        return None
    mix = groups.mix if direction == "downstream" else groups.upstream_mix
    host = pipeline["host"]
    ratio = host["core_hz"] / host["tsc_hz"]
    cycles, mean, said = cycles_of(found, mix, ratio)
    factor, more = modems_factor(files, groups, pipeline["configuration"])
    gbps = host["core_hz"] / 1e9 / (cycles * factor) * mean * 8
    source = f"{files.names['pipeline']}: {cycles * factor:.0f} core cycles per packet"
    outside = [said, more, *differences(pipeline["configuration"], groups)]
    return Curve(((1, gbps),), mean, source, False, tuple(s for s in outside if s))


def carried_by(result: Json, name: str) -> str:
    """Which cores carried a rate, as its trials tell."""
    workers = {len(trial.get("busy_share", [])) for trial in result.get("trials", [])}
    if workers == {1}:
        return f"{name}: one core carried both ways at once: each alone carries more"
    if workers <= {0, 2}:  # 0: not told
        return f"{name}: one core each way is taken to have carried its rates"
    return f"{name}: {max(workers)} cores carried its rates, taken for one each way"


def throughput_curve(files: Files, direction: str, groups: Groups) -> Curve:
    """The zero-loss rate of the same mixes, on the clock that stands for all files."""
    throughput, name = files.by_kind["throughput"], files.names["throughput"]
    for result in throughput["results"]:
        if result["mix"] == groups.mix and result["upstream_mix"] == groups.upstream_mix:
            break
    else:
        known = ", ".join(f"{r['mix']} with {r['upstream_mix']}" for r in throughput["results"])
        raise MistakeError(f"mix {groups.mix} with {groups.upstream_mix}: {name} has {known}")
    gbps, mean = result["gbps"].get(direction), result["mean_bytes"].get(direction)
    if not gbps or not mean:
        raise MistakeError(f"{name}: {direction}: nothing was carried at mix {groups.mix}")
    clock = throughput["host"]["core_hz"] / 1e9
    factor, more = modems_factor(files, groups, throughput["configuration"])
    outside = [*differences(throughput["configuration"], groups), carried_by(result, name)]
    outside += [more] if more else []
    if result.get("confirmed") is False:
        outside.append(f"{name}: its rate was not confirmed by a second search")
    if result["bound_by"] != "data plane":
        outside.append(f"{name}: bound by {result['bound_by']}: the data plane may carry more")
    if direction == "upstream":
        outside.append(f"{name}: upstream as applied beside the downstream, not the most it can be")
    source = f"{name}: zero loss at {gbps:.2f} Gbps and {clock:.4g} GHz"
    at_clock = gbps * files.clock / clock / factor
    return Curve(((1, at_clock),), mean, source, False, tuple(outside))


def curve(files: Files, direction: str, groups: Groups) -> Curve | None:
    """The smaller of what cycles and what the zero-loss search promise, where both are there. The
    search holds the upstream at a share of the downstream, so that it bounds the downstream alone.
    """
    found = None
    if "pipeline" in files.by_kind:
        found = pipeline_curve(files, direction, groups)
    if "throughput" not in files.by_kind or (found is not None and direction == "upstream"):
        return found
    carried = throughput_curve(files, direction, groups)
    if found is None or carried.gbps(1) < found.gbps(1):
        return carried
    return replace(found, source=f"{found.source} (its zero-loss search carried more)")


def costs(files: Files, groups: Groups) -> Costs:
    down = curve(files, "downstream", groups)
    if down is None:
        raise MistakeError("--machine: the downstream was not measured")
    up = curve(files, "upstream", groups)
    gib, source, said = memory(files, groups)
    down = replace(down, outside=(*down.outside, *([said] if said else [])))
    return Costs(files.host["cpu"], files.clock, down, up, gib, source)
