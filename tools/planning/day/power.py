# SPDX-License-Identifier: BSD-3-Clause
"""Modelled watts of a described machine whose workers spend their time as those that were watched.

It is another machine than that of the run, unless somebody describes that one: what is taken over
are shares of the time and of the highest frequency.
"""

from dataclasses import dataclass
from itertools import pairwise

from planning.day.moment import Span
from vcmts.jsons import Json
from vcmts.power import model


@dataclass(frozen=True)
class Modelled:
    """`highest`: Hz of cores of the run, by their numbers; unknown frequencies count as that."""

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
            uses.append(model.Use(worker.busy, paused, model.hertz_at(self.machine, share)))
        return uses

    def _polling(self, uses: list[model.Use]) -> list[model.Use]:
        """The same work at the highest frequency, without pauses."""
        fast = self.machine.states[-1].ghz * 1e9
        return [model.Use(use.busy * use.hertz / fast, 0.0, fast) for use in uses]

    def watts(self, span: Span) -> Json | None:
        """Of processors and platform, in the mean over the short parts in it, as watts do not grow
        in a line with the frequency. None where no worker told its time."""
        parts = [Span(pair, span.start, span.length) for pair in pairwise(span.inside)]
        uses = [(part.seconds, found) for part in parts if (found := self._uses(part))]
        seconds = sum(time for time, _ in uses)
        if seconds <= 0:
            return None
        cpu, polling = 0.0, 0.0
        for time, found in uses:
            cpu += time / seconds * model.cpu_watts(self.machine, found)
            polling += time / seconds * model.cpu_watts(self.machine, self._polling(found))
        told: Json = {"cpu": round(cpu, 2), "cpu_polling": round(polling, 2)}
        for key, value in (("platform", cpu), ("platform_polling", polling)):
            platform = model.platform_watts(self.machine, value)
            told[key] = None if platform is None else round(platform, 2)
        return told
