# SPDX-License-Identifier: BSD-3-Clause
"""Computes costs of service groups from results of `vcmts bench`."""

import re
from dataclasses import replace

from planning.size.curve import Costs, Curve, Points, extrapolate, interpolate
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


def _is_size(mix: str) -> bool:
    return mix.isascii() and mix.isdigit()


def by_size(found: list[Json], ratio: float) -> Points:
    """Core cycles by packet size, from the mixes with a single size."""
    sizes = [r for r in found if _is_size(str(r["mix"]))]
    return sorted({float(r["mix"]): r["cycles_per_packet"] * ratio for r in sizes}.items())


def mix_shares(mix: str) -> list[tuple[float, float]] | None:
    """Sizes and shares (sum 1) of a mix that is a size or a table; None for a named mix."""
    if not (_is_size(mix) or TABLE.fullmatch(mix)):
        return None
    parts = [part.split(":") for part in mix.split(",")] if ":" in mix else [[mix, "1"]]
    shares = [(float(size), float(share)) for size, share in parts]
    total = sum(share for _, share in shares)
    if total <= 0 or not all(64 <= size <= 9000 for size, _ in shares):
        raise MistakeError(
            f"mix: found {mix!r}, allowed: sizes of 64 to 9000 bytes, total of shares above 0"
        )
    return [(size, share / total) for size, share in shares]


def mix_cost(
    mix: str, shares: list[tuple[float, float]], sizes: Points
) -> tuple[float, float, str]:
    """Mean cycles and bytes per packet of a mix, computed from single sizes, and a note."""
    cycles = sum(extrapolate(sizes, size) * share for size, share in shares)
    mean = sum(size * share for size, share in shares)
    least, most = sizes[0][0], sizes[-1][0]
    note = f"mix {mix}: from the cycles of single sizes"
    away = [f"{size:g}" for size, _ in shares if not least <= size <= most]
    if away:
        note += f"; measured from {least:g} to {most:g} bytes, extrapolated to {' and '.join(away)}"
    if cycles <= 0:
        raise MistakeError(f"mix {mix}: too far from what was measured")
    return cycles, mean, note


def mix_cycles(found: list[Json], mix: str, ratio: float) -> tuple[float, float, str]:
    """Mean core cycles and bytes per packet of a mix, and a note if it was not measured itself."""
    for result in found:
        if result["mix"] == mix:
            return result["cycles_per_packet"] * ratio, result["mean_bytes"], ""
    shares, sizes = mix_shares(mix), by_size(found, ratio)
    if shares is None or len(sizes) < 2:
        known = ", ".join(str(r["mix"]) for r in found)
        more = "; or a size, or 84:15,256:10,1280:75" if len(sizes) > 1 else ""
        raise MistakeError(f"mix {mix}: not measured, allowed: {known}{more}")
    return mix_cost(mix, shares, sizes)


def differences(name: str, groups: Groups) -> list[str]:
    """Notes on differences between the request and the measured configuration."""
    if groups.crypto == "aes-qat":
        raise MistakeError("crypto aes-qat: allowed: aes or none, as measured")
    match = CONFIGURATION.match(name)
    if match is None:
        return [f"measured with configuration {name}: its channels and modems are not compared"]
    note = []
    measured = f"{match[1]}ofdm" + (f"-{match[2]}sc-qam" if match[2] != "0" else "")
    if measured != groups.channels:
        note.append(f"{groups.channels}: measured with {measured}, taken as the same")
    if groups.crypto == "aes" and match[4] == "none":
        raise MistakeError(f"crypto aes: {name} was measured without; measure with it")
    if groups.crypto == "none" and match[4] == "aes":
        note.append("crypto none: counted as aes, which takes more")
    return note


def by_modems(cost: Json, key: str, direction: str | None = None) -> Points:
    """One value per number of modems. Memory is the same in results of both directions."""
    found = {
        float(r["value"]): float(r[key])
        for r in cost["results"]
        if r["what"] == "modems" and r.get(key) and direction in (None, r.get("direction"))
    }
    return sorted(found.items())


def modems_factor(files: Files, groups: Groups, name: str, direction: str) -> tuple[float, str]:
    """The factor from the cycles of configuration `name` in a direction to those with the requested
    number of modems, and a note if it was not measured."""
    match = CONFIGURATION.match(name)
    base = int(match[3]) if match else groups.modems
    if groups.modems == base:
        return 1.0, ""
    cost = files.by_kind.get("cost")
    if cost is None:
        return 1.0, f"{groups.modems} modems: measured with {base}, taken as the same"
    points = by_modems(cost, "cycles_per_packet", direction)
    if not points:
        return 1.0, (
            f"{groups.modems} modems: {files.names['cost']} has no {direction} results by modems"
        )
    factor = interpolate(points, groups.modems) / interpolate(points, base)
    least, most = points[0][0], points[-1][0]
    if groups.modems < least:
        return factor, f"{groups.modems} modems: measured from {least:g} on, taken as these"
    if groups.modems > most:
        return factor, f"{groups.modems} modems: measured up to {most:g}, taken as these"
    return factor, ""


def memory_of_pipeline(files: Files, groups: Groups) -> tuple[float | None, str, str]:
    """GiB of the measured configuration, its source, and a note."""
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
    """GiB per service group, the source, and a note if it was not measured."""
    cost = files.by_kind.get("cost")
    points = by_modems(cost, "memory_bytes") if cost else []
    if not points:
        return memory_of_pipeline(files, groups)
    note = ""
    if not points[0][0] <= groups.modems <= points[-1][0]:
        note = (
            f"memory for {groups.modems} modems: measured for {points[0][0]:g} to "
            f"{points[-1][0]:g}, extrapolated"
        )
    gib = max(0.0, extrapolate(points, groups.modems)) / 2**30
    return gib, f"{files.names['cost']}, for {groups.modems} modems", note


def pipeline_curve(files: Files, direction: str, groups: Groups) -> Curve | None:
    pipeline = files.by_kind["pipeline"]
    found = _of(pipeline, direction)
    if not found:
        return None
    mix = groups.mix if direction == "downstream" else groups.upstream_mix
    host = pipeline["host"]
    ratio = host["core_hz"] / host["tsc_hz"]
    cycles, mean, note = mix_cycles(found, mix, ratio)
    factor, more = modems_factor(files, groups, pipeline["configuration"], direction)
    gbps = host["core_hz"] / 1e9 / (cycles * factor) * mean * 8
    source = f"{files.names['pipeline']}: {cycles * factor:.0f} core cycles per packet"
    outside = [note, more, *differences(pipeline["configuration"], groups)]
    return Curve(((1, gbps),), mean, source, False, tuple(s for s in outside if s))


def carried_note(result: Json, name: str) -> str:
    """A note on the cores that carried a rate, from the busy shares of its trials."""
    workers = {len(trial.get("busy_share", [])) for trial in result.get("trials", [])}
    if workers == {1}:
        return f"{name}: one core carried both ways at once: each alone carries more"
    if workers <= {0, 2}:  # 0: unknown
        return f"{name}: one core each way is taken to have carried its rates"
    return f"{name}: {max(workers)} cores carried its rates, taken for one each way"


def throughput_curve(files: Files, direction: str, groups: Groups) -> Curve:
    """The zero-loss rate of the same mixes, scaled to the clock of `files`."""
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
    factor, more = modems_factor(files, groups, throughput["configuration"], direction)
    outside = [*differences(throughput["configuration"], groups), carried_note(result, name)]
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
    """The lower of the rates from cycles and from the zero-loss search, if both were measured. The
    search keeps the upstream at a share of the downstream, so it limits only the downstream."""
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
    """The measured costs of these groups. Raises MistakeError if mix or cipher was not measured."""
    down = curve(files, "downstream", groups)
    if down is None:
        raise MistakeError("--machine: the downstream was not measured")
    up = curve(files, "upstream", groups)
    gib, source, note = memory(files, groups)
    down = replace(down, outside=(*down.outside, *([note] if note else [])))
    return Costs(files.host["cpu"], files.clock, down, up, gib, source)
