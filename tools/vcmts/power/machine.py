# SPDX-License-Identifier: BSD-3-Clause
"""Reads and checks the description of a machine for modelled watts: a YAML file (docs/power.md).

A number may also be the name of a published figure (config/published.yaml).
"""

import math
import reprlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from vcmts import published, yamls
from vcmts.jsons import Json
from vcmts.paths import MistakeError, data
from vcmts.power import calibrate
from vcmts.power.model import Kind, Machine, State, loads, split_rate
from vcmts.secret import yaml_error_text

PUBLISHED = data("config/power.yaml")
MOST_BYTES = 1 << 16
MOST_STATES = 256
MOST_DEPTH = 8
CARRIES = ("downstream", "upstream", "both")
SAVINGS = ("pauses", "frequency", "both")
LEVELS = ("cpu", "platform")
QUANTITIES = ("most", "least", "average", "per_watt")
NEEDED = ("name", "groups", "cores", "workers", "peak_gbps")
OPTIONAL = ("source", "upstream_share", "governor", "published_day")
CALIBRATED = ("ghz", "calibrate")
GIVEN = ("p_states", "rest_watts", "platform")


class Part:
    """A mapping of the file. Its methods read and check values, and raise MistakeError."""

    def __init__(self, value: Any, where: str, allowed: Sequence[str]) -> None:
        if not isinstance(value, dict):
            raise MistakeError(f"{where}: found {shown(value)}, allowed: a mapping")
        for key in value:
            if key not in allowed:
                raise MistakeError(f"{where}: {yamls.unknown_key(key, allowed)}")
        self.value: Json = value
        self.where = where

    def __contains__(self, key: str) -> bool:
        return key in self.value

    def of(self, key: str) -> Any:
        if key not in self.value:
            raise MistakeError(f"{self.where}: {key}: missing")
        return self.value[key]

    def part(self, key: str, allowed: Sequence[str]) -> "Part":
        return Part(self.of(key), f"{self.where}: {key}", allowed)

    def parts(self, key: str, allowed: Sequence[str], most: int) -> list["Part"]:
        items = self.of(key)
        if not isinstance(items, list) or not 1 <= len(items) <= most:
            raise MistakeError(
                f"{self.where}: {key}: found {shown(items)}, allowed: 1..{most} items"
            )
        return [Part(item, f"{self.where}: {key} {n}", allowed) for n, item in enumerate(items, 1)]

    def text(self, key: str, default: str | None = None) -> str:
        value = self.value.get(key, default) if default is not None else self.of(key)
        if not isinstance(value, str) or not value.isprintable():
            raise MistakeError(
                f"{self.where}: {key}: found {shown(value)}, allowed: a line of text"
            )
        return value

    def number(self, key: str, least: float, most: float, default: float | None = None) -> float:
        value = self.of(key) if default is None else self.value.get(key, default)
        if isinstance(value, str) and value in published.load().figures:
            value = published.load().value(value)
        good = isinstance(value, int | float) and not isinstance(value, bool)
        if not good or not math.isfinite(value) or not least <= value <= most:
            raise MistakeError(
                f"{self.where}: {key}: found {shown(value)}, allowed: {least:g}..{most:g}, or the "
                "name of a published figure"
            )
        return float(value)

    def whole(self, key: str, most: int) -> int:
        value = self.number(key, 1, most)
        if value != int(value):
            raise MistakeError(f"{self.where}: {key}: found {value:g}, allowed: a whole number")
        return int(value)


def shown(value: Any) -> str:
    return reprlib.repr(value)


def worker_kinds(part: Part) -> tuple[Kind, ...]:
    found = []
    for item in part.parts("workers", ("carries", "cores", "gbps"), 2):
        carries = item.of("carries")
        if carries not in CARRIES:
            raise MistakeError(
                f"{item.where}: carries: found {shown(carries)}, allowed: {', '.join(CARRIES)}"
            )
        found.append(
            Kind(carries, item.number("cores", 0.01, 1024), item.number("gbps", 0.001, 100000))
        )
    carried = {kind.carries for kind in found}
    if carried not in ({"both"}, {"downstream", "upstream"}) or len(carried) != len(found):
        raise MistakeError(
            f"{part.where}: workers: found {', '.join(kind.carries for kind in found)}, allowed: "
            "downstream and upstream, or both"
        )
    return tuple(found)


def ghz_of(part: Part) -> list[float]:
    span = part.part("ghz", ("least", "most", "step"))
    least, most = span.number("least", 0.01, 20), span.number("most", 0.01, 20)
    step = span.number("step", 0.001, 20)
    steps = round((most - least) / step)
    if not 1 <= steps < MOST_STATES or not math.isclose(least + steps * step, most):
        raise MistakeError(
            f"{span.where}: found {least:g}, {most:g} and {step:g}, allowed: 1..{MOST_STATES - 1} "
            "equal steps from least to most"
        )
    return [least + (most - least) * n / steps for n in range(steps + 1)]


def states_of(part: Part) -> tuple[State, ...]:
    found = []
    for item in part.parts("p_states", ("ghz", "busy", "polling", "paused"), MOST_STATES):
        busy = item.number("busy", 0, 10000)
        polling = item.number("polling", 0, busy, busy)
        found.append(
            State(item.number("ghz", 0.01, 20), busy, polling, item.number("paused", 0, polling))
        )
    found.sort(key=lambda state: state.ghz)
    for slow, fast in pairwise(found):
        rising = zip(
            (slow.ghz + 1e-9, slow.busy, slow.polling, slow.paused),
            (fast.ghz, fast.busy, fast.polling, fast.paused),
            strict=True,
        )
        if any(low > high for low, high in rising):
            raise MistakeError(
                f"{part.where}: p_states: found {slow.ghz:g} and {fast.ghz:g} GHz, allowed: "
                "different frequencies, whose watts do not fall as they rise"
            )
    return tuple(found)


def explicit_watts(part: Part) -> Json:
    """The watts of a Machine, from the keys `p_states`, `rest_watts` and `platform`."""
    rest = part.number("rest_watts", 0.1, 100000)
    out: Json = {
        "states": states_of(part),
        "rest_watts": rest,
        "platform_watts": None,
        "platform_factor": 0.0,
    }
    if "platform" in part:
        platform = part.part("platform", ("watts", "factor"))
        out["platform_watts"] = platform.number("watts", 0, 100000)
        out["platform_factor"] = platform.number("factor", 1, 10, 1.0)
    return out


def calibrated_watts(part: Part, machine: Machine) -> Json:
    """The watts of a Machine, from the key `calibrate`: power savings near idle."""
    keys = ("cpu", "pauses", "frequency", "both")
    of_platform = ("platform", "platform_pauses", "platform_frequency", "platform_both")
    points = part.part("calibrate", ("gbps", *keys, *of_platform))
    ghz = ghz_of(part)
    at = loads(machine, *split_rate(machine, points.number("gbps", 0, machine.peak_gbps)))
    shares = [kind.cores * machine.groups / machine.worker_cores for kind in machine.workers]
    slowdown = ghz[0] / ghz[-1]

    def idle(frequency: float) -> float:
        return sum(s * (1 - load / frequency) for s, load in zip(shares, at, strict=True))

    if max(at) >= slowdown:
        raise MistakeError(
            f"{points.where}: gbps: more than the workers carry at the lowest frequency"
        )
    near_idle = calibrate.NearIdle(*(points.number(key, 0.1, 100000) for key in keys))
    found = calibrate.solve(near_idle, machine.worker_cores, idle(1.0), idle(slowdown), slowdown)
    out: Json = {
        "states": calibrate.states(found, ghz),
        "rest_watts": found.rest,
        "platform_watts": None,
        "platform_factor": 0.0,
        "fitted": {
            "modelled_core_watts": found.watts,
            "voltage_at_lowest": found.voltage,
            "kept_in_pause": found.kept,
        },
    }
    if any(key in points for key in of_platform):
        whole, *saved = (points.number(key, 0.1, 100000) for key in of_platform)
        factor = calibrate.fit_factor(
            [near_idle.pauses, near_idle.frequency, near_idle.both], saved
        )
        if factor < 1 or whole < factor * near_idle.cpu:
            raise MistakeError(f"{points.where}: the platform must use and save more than the CPU")
        out["platform_factor"] = factor
        out["platform_watts"] = whole - factor * near_idle.cpu
    return out


def published_of(part: Part) -> Json:
    """The published percentages of a day's saving by level, saving and quantity."""
    if "published_day" not in part:
        return {}
    levels = part.part("published_day", LEVELS)
    out: Json = {}
    for level in levels.value:
        savings = levels.part(level, SAVINGS)
        out[level] = {
            saving: {q: savings.part(saving, QUANTITIES).number(q, 0, 1000) for q in QUANTITIES}
            for saving in savings.value
        }
    return out


def parse_yaml(text: str, where: str) -> Any:
    """Parses YAML. Refuses aliases, which expand to any size, and more than MOST_DEPTH levels."""
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yamls.LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent):
                raise MistakeError(f"{where}: aliases (*{event.anchor}) are not allowed")
            if depth > MOST_DEPTH:
                raise MistakeError(f"{where}: maps and lists in more than {MOST_DEPTH} levels")
        return yamls.safe_load(text)
    except yaml.YAMLError as error:
        raise MistakeError(f"{where}: not YAML: {yaml_error_text(error)}") from error
    except ValueError as error:
        raise MistakeError(f"{where}: not YAML: {' '.join(str(error).split())}") from error


def parse_machine(text: str, where: str) -> Machine:
    """Makes a Machine from a description. `where` is its name in messages."""
    document = parse_yaml(text, where)
    part = Part(document, where, (*NEEDED, *OPTIONAL, *CALIBRATED, *GIVEN))
    both_ways = [key for key in GIVEN if key in part] if "calibrate" in part else []
    if both_ways:
        raise MistakeError(f"{where}: {both_ways[0]}: not allowed with calibrate")
    governor = (
        part.part("governor", ("busy", "least_ghz", "transition_us"))
        if "governor" in part
        else None
    )
    bare = Machine(
        name=part.text("name"),
        source=part.text("source", ""),
        groups=part.whole("groups", 100000),
        cores=part.whole("cores", 100000),
        workers=worker_kinds(part),
        upstream_share=part.number("upstream_share", 0, 10, 0.1),
        peak_gbps=part.number("peak_gbps", 0.001, 1e6),
        states=(),
        rest_watts=0.0,
        platform_watts=None,
        platform_factor=0.0,
        governor_busy=governor.number("busy", 0.05, 1, 1.0) if governor else 1.0,
        governor_ghz=governor.number("least_ghz", 0, 20, 0.0) if governor else 0.0,
        transition_us=governor.number("transition_us", 0, 1e6, 10.0) if governor else 10.0,
        published_day=published_of(part),
    )
    watts = calibrated_watts(part, bare) if "calibrate" in part else explicit_watts(part)
    return check(Machine(**{**vars(bare), **watts}), where)


def check(machine: Machine, where: str) -> Machine:
    """Raises MistakeError if the workers do not fit the cores, or do not carry the peak rate."""
    if machine.worker_cores > machine.cores:
        raise MistakeError(
            f"{where}: found {machine.worker_cores:g} cores of workers, allowed: {machine.cores}"
        )
    most = max(loads(machine, *split_rate(machine, machine.peak_gbps)))
    if most > 1 + 1e-9:
        raise MistakeError(
            f"{where}: peak_gbps: found {machine.peak_gbps:g}, allowed: at most "
            f"{machine.peak_gbps / most:g}, the capacity of the workers"
        )
    return machine


def read(path: Path = PUBLISHED) -> Machine:
    """Reads a description. Raises MistakeError if it is not valid."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise MistakeError(f"{path}: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise MistakeError(f"{path}: larger than {MOST_BYTES:,} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MistakeError(f"{path}: not text; needed: YAML in UTF-8") from error
    return parse_machine(text, str(path))
