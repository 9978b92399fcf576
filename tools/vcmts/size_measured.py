# SPDX-License-Identifier: BSD-3-Clause
"""vcmts size: costs from files of `vcmts bench` (docs/results.md), one of each kind at most."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vcmts import results
from vcmts.paths import MistakeError
from vcmts.size_curve import Costs, Curve, Points, along, between
from vcmts.size_request import Groups

KINDS = ("pipeline", "throughput", "cost")
CONFIGURATION = re.compile(r"(\d+)ofdm-(\d+)sc-qam_(\d+)cms_(aes|none)")
TABLE = re.compile(r"\d+:\d+(?:\.\d+)?(?:,\d+:\d+(?:\.\d+)?)*")
Json = dict[str, Any]


@dataclass(frozen=True)
class Files:
    """What was read, by kind, and the host of it all."""

    by_kind: dict[str, Json]
    names: dict[str, str]
    host: Json

    @property
    def clock(self) -> float:
        return float(self.host["core_hz"]) / 1e9


def read(paths: list[str]) -> Files:
    by_kind: dict[str, Json] = {}
    names: dict[str, str] = {}
    for path in paths:
        found = results.read(path)
        kind = found.get("kind")
        if kind not in KINDS:
            raise MistakeError(
                f"--machine {path}: kind: found {kind!r}, allowed: {', '.join(KINDS)}"
            )
        if kind in by_kind:
            raise MistakeError(f"--machine {path}: a second file of kind {kind}, allowed: one")
        if not found.get("complete"):
            raise MistakeError(f"--machine {path}: it was interrupted; measure again")
        _whole(found, path)
        by_kind[kind], names[kind] = found, Path(path).name
    if not {"pipeline", "throughput"} & by_kind.keys():
        raise MistakeError(
            f"--machine {paths[0]}: a file of kind pipeline or throughput is needed too"
        )
    hosts = {f["host"]["cpu"] for f in by_kind.values()}
    if len(hosts) > 1:
        raise MistakeError(f"--machine: measured on different machines: {', '.join(sorted(hosts))}")
    first = by_kind.get("pipeline") or by_kind["throughput"]
    return Files(by_kind, names, first["host"])


def _positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _whole(found: Json, path: str) -> None:
    """Raises MistakeError where a key that sizing reads is missing or is no figure."""
    host = found.get("host")
    results_found = found.get("results")
    if not isinstance(host, dict) or not isinstance(host.get("cpu"), str):
        raise MistakeError(f"--machine {path}: host.cpu is missing: not a whole measurement")
    for key in ("tsc_hz", "core_hz"):
        if not _positive(host.get(key)):
            raise MistakeError(
                f"--machine {path}: host.{key}: found {host.get(key)!r}, allowed: a number above 0"
            )
    if not isinstance(results_found, list) or not results_found:
        raise MistakeError(f"--machine {path}: results: nothing was measured")
    for place, result in enumerate(results_found):
        keys = {"pipeline": ("cycles_per_packet", "mean_bytes"), "cost": (), "throughput": ()}
        for key in keys[found["kind"]]:
            if not isinstance(result, dict) or not _positive(result.get(key)):
                raise MistakeError(
                    f"--machine {path}: results[{place}].{key}: missing or not above 0"
                )


def _of(pipeline: Json, direction: str) -> list[Json]:
    return [
        r
        for r in pipeline["results"]
        if r.get("direction") == direction and r.get("threads", 1) == 1
    ]


def by_size(found: list[Json], ratio: float) -> Points:
    """Core cycles by packet size, of the mixes that are one size."""
    sizes = [r for r in found if str(r["mix"]).isdigit()]
    return sorted((float(r["mix"]), r["cycles_per_packet"] * ratio) for r in sizes)


def cycles_of(found: list[Json], mix: str, ratio: float) -> tuple[float, float, str]:
    """Core cycles and bytes of a packet of the mix, and what of it was not measured."""
    for result in found:
        if result["mix"] == mix:
            return result["cycles_per_packet"] * ratio, result["mean_bytes"], ""
    sizes = by_size(found, ratio)
    if not (mix.isdigit() or TABLE.fullmatch(mix)) or len(sizes) < 2:
        known = ", ".join(str(r["mix"]) for r in found)
        raise MistakeError(
            f"mix {mix}: not measured, allowed: {known}"
            + ("; or a size, or 84:15,256:10,1280:75" if len(sizes) > 1 else "")
        )
    parts = [part.split(":") for part in mix.split(",")] if ":" in mix else [[mix, "1"]]
    shares = [(float(size), float(share)) for size, share in parts]
    whole = sum(share for _, share in shares)
    if whole <= 0 or not all(64 <= size <= 9000 for size, _ in shares):
        raise MistakeError(f"mix {mix}: allowed: sizes of 64 to 9000 bytes with shares above 0")
    cycles = sum(along(sizes, size) * share for size, share in shares) / whole
    mean = sum(size * share for size, share in shares) / whole
    least, most = sizes[0][0], sizes[-1][0]
    away = [size for size, _ in shares if not least <= size <= most]
    said = f"mix {mix}: from the cycles of single sizes"
    if away:
        said += f"; measured from {least:g} to {most:g} bytes, extrapolated to {away[0]:g}"
    if cycles <= 0:
        raise MistakeError(f"mix {mix}: too far from what was measured")
    return cycles, mean, said


def differences(name: str, groups: Groups) -> list[str]:
    """What was asked for and is not in the configuration that was measured."""
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


def modems_factor(files: Files, groups: Groups, name: str) -> tuple[float, str]:
    """Cycles with the modems that are asked for over those with the modems measured."""
    match = CONFIGURATION.match(name)
    base = int(match[3]) if match else groups.modems
    if groups.modems == base:
        return 1.0, ""
    cost = files.by_kind.get("cost")
    if cost is None:
        return 1.0, f"{groups.modems} modems: measured with {base}, taken as the same"
    points = [
        (float(r["value"]), float(r["cycles_per_packet"]))
        for r in cost["results"]
        if r.get("what") == "modems" and r.get("direction", "downstream") == "downstream"
    ]
    points.sort()
    if not points:
        return 1.0, f"{groups.modems} modems: {files.names['cost']} has none of modems"
    factor = between(points, groups.modems) / between(points, base)
    if groups.modems > points[-1][0]:
        return factor, f"{groups.modems} modems: measured up to {points[-1][0]:g}, taken as these"
    return factor, ""


def memory(files: Files, groups: Groups) -> tuple[float | None, str, str]:
    """GiB of a service group, from where, and what of it was not measured."""
    cost = files.by_kind.get("cost")
    points = sorted(
        (float(r["value"]), float(r["memory_bytes"]))
        for r in (cost["results"] if cost else [])
        if r.get("what") == "modems" and _positive(r.get("memory_bytes"))
    )
    if not points:
        return None, "", "memory: not measured (a file of `vcmts bench cost` has it)"
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
    source = f"{files.names['pipeline']}: {cycles * factor:.0f} core cycles a packet"
    outside = [said, more, *differences(pipeline["configuration"], groups)]
    return Curve(((1, gbps),), mean, source, False, tuple(s for s in outside if s))


def throughput_curve(files: Files, direction: str, groups: Groups) -> Curve:
    """The zero-loss rate of the same mixes: one core each way is taken to have carried it."""
    throughput, name = files.by_kind["throughput"], files.names["throughput"]
    for result in throughput["results"]:
        if result.get("mix") == groups.mix and result.get("upstream_mix") == groups.upstream_mix:
            break
    else:
        known = ", ".join(
            f"{r.get('mix')} with {r.get('upstream_mix')}" for r in throughput["results"]
        )
        raise MistakeError(f"mix {groups.mix} with {groups.upstream_mix}: {name} has {known}")
    gbps, mean = result["gbps"].get(direction), result["mean_bytes"].get(direction)
    if not _positive(gbps) or not _positive(mean):
        raise MistakeError(f"{name}: {direction}: nothing was carried at mix {groups.mix}")
    outside = differences(throughput["configuration"], groups)
    outside.append(f"{name}: one core each way is taken to have carried its rates")
    if result.get("bound_by") != "data plane":
        outside.append(f"{name}: bound by {result.get('bound_by')}: the data plane may carry more")
    return Curve(((1, gbps),), mean, f"{name}: zero loss at {gbps:.2f} Gbps", False, tuple(outside))


def curve(files: Files, direction: str, groups: Groups) -> Curve | None:
    """The smaller of what cycles and what the zero-loss search promise, where both are there."""
    found = None
    if "pipeline" in files.by_kind:
        found = pipeline_curve(files, direction, groups)
    if "throughput" not in files.by_kind:
        return found
    carried = throughput_curve(files, direction, groups)
    if found is None or carried.gbps(1) < found.gbps(1):
        return carried
    return replace(found, source=f"{found.source} (its zero-loss search carried more)")


def costs(files: Files, groups: Groups) -> Costs:
    down, up = curve(files, "downstream", groups), curve(files, "upstream", groups)
    if down is None:
        raise MistakeError("--machine: the downstream was not measured")
    gib, source, said = memory(files, groups)
    down = replace(down, outside=(*down.outside, *([said] if said else [])))
    return Costs(files.host["cpu"], files.clock, down, up, gib, source)
