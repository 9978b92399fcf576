# SPDX-License-Identifier: BSD-3-Clause
"""Builds the JSON document of a day (docs/results.md): figures per sample, per hour, and in
total."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from planning.day import load
from planning.day.moment import HOURS, INFO, PAUSES, Moment, Span, mean
from vcmts.directions import DIRECTIONS
from vcmts.jsons import Json
from vcmts.power import model


@dataclass(frozen=True)
class Modelled:
    """Models watts. `highest`: maximum Hz by core, which also replaces unknown frequencies."""

    machine: model.Machine
    highest: dict[str, float]

    @property
    def name(self) -> str:
        return self.machine.name

    def _uses(self, span: Span) -> list[model.Use]:
        hertz = {core.core: core.hertz for core in span.cores()}
        uses = []
        for worker in span.workers():
            if worker.busy is None:
                continue
            highest, now = self.highest.get(worker.core, 0.0), hertz.get(worker.core)
            share = min(1.0, now / highest) if now and highest > 0 else 1.0
            paused = min(worker.paused or 0.0, 1 - worker.busy)
            uses.append(model.Use(worker.busy, paused, model.scaled_hertz(self.machine, share)))
        return uses

    def _polling(self, uses: list[model.Use]) -> list[model.Use]:
        """The same work as if the cores polled at the highest frequency."""
        fast = self.machine.states[-1].ghz * 1e9
        return [model.Use(use.busy * use.hertz / fast, 0.0, fast) for use in uses]

    def watts(self, span: Span) -> Json | None:
        """Mean modelled watts of processors and platform; None if no worker's time is known.

        The mean is over the samples of the span, as watts are not linear in the frequency.
        """
        parts = [Span(pair, span.start, span.length) for pair in pairwise(span.inside)]
        uses = [(part.seconds, found) for part in parts if (found := self._uses(part))]
        seconds = sum(time for time, _ in uses)
        if seconds <= 0:
            return None
        cpu, polling = 0.0, 0.0
        for time, found in uses:
            cpu += time / seconds * model.cpu_watts(self.machine, found)
            polling += time / seconds * model.cpu_watts(self.machine, self._polling(found))
        out: Json = {"cpu": round(cpu, 2), "cpu_polling": round(polling, 2)}
        for key, value in (("platform", cpu), ("platform_polling", polling)):
            platform = model.platform_watts(self.machine, value)
            out[key] = None if platform is None else round(platform, 2)
        return out


def rounded(value: float | None, digits: int = 4) -> float | None:
    """Rounds to the significant digits that a measurement has."""
    return None if value is None else float(f"{value:.{digits}g}")


def gbps(bits: float | None) -> float | None:
    return None if bits is None else rounded(bits / 1e9)


def figures(span: Span, modelled: Modelled | None) -> Json:
    """The JSON object of a sample, an hour or the whole day."""
    workers, cores = span.workers(), span.cores()
    found: Json = {
        "hour": round(span.hour, 3),
        "seconds": round(span.seconds, 3),
        **{f"{way}_gbps": gbps(span.bits(way)) for way in DIRECTIONS},
        "groups": [
            {"id": which, **{f"{way}_gbps": gbps(bits) for way, bits in ways.items()}}
            for which, ways in span.groups().items()
        ],
        "busy": rounded(mean([worker.busy for worker in workers])),
        "paused": rounded(mean([worker.paused for worker in workers])),
        "workers": [
            {
                "core": worker.core,
                "runs": worker.runs,
                "busy": rounded(worker.busy),
                "paused": rounded(worker.paused),
            }
            for worker in workers
        ],
        "hertz": rounded(mean([core.hertz for core in cores])),
        "cores": [
            {
                "core": core.core,
                "hertz": rounded(core.hertz),
                "wished_hertz": rounded(core.wished),
            }
            for core in cores
        ],
        "latency_us": {way: span.latency(way) for way in DIRECTIONS},
        "measured_watts": {what: rounded(watts) for what, watts in span.watts().items()},
    }
    return found | {"modelled_watts": modelled.watts(span) if modelled else None}


def hours(moments: Sequence[Moment], start: float, length: float) -> Iterator[Span]:
    """Yields a span per sampled hour. A sample belongs to the hour of its middle."""

    def hour_of(after: int) -> int:
        hour = Span(moments[after - 1 : after + 1], start, length).hour
        return min(HOURS - 1, max(0, int(hour)))

    for _, found in groupby(range(1, len(moments)), hour_of):
        positions = list(found)
        yield Span(moments[positions[0] - 1 : positions[-1] + 1], start, length)


def label(moments: Sequence[Moment], name: str, key: str) -> str | None:
    return moments[-1].answer.text(name, key) or None


def document(
    day: load.Day, moments: Sequence[Moment], start: float, length: float, modelled: Modelled | None
) -> Json | None:
    """The document; None with fewer than two moments."""
    if len(moments) < 2:
        return None
    return {
        "load": day.name,
        "length_seconds": length,
        "policy": label(moments, INFO, "policy"),
        "driver": label(moments, INFO, "driver"),
        "idle": label(moments, PAUSES, "kind"),
        "modelled_machine": modelled.name if modelled else None,
        "samples": [figures(Span(pair, start, length), modelled) for pair in pairwise(moments)],
        "hours": [figures(span, modelled) for span in hours(moments, start, length)],
        "whole": figures(Span(moments, start, length), modelled),
    }
