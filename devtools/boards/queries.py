# SPDX-License-Identifier: BSD-3-Clause
"""Builds the PromQL queries of the dashboards."""

from collections.abc import Sequence
from dataclasses import dataclass

WINDOW = "[$__rate_interval]"
# The first bound of all histograms. Nothing finer is known; Prometheus would interpolate from 0.
FINEST_S = 2.56e-7
FINEST = "256 ns is the first bound of its histogram: a line there means 256 ns or less."


@dataclass(frozen=True)
class Scope:
    """Label matchers that each query contains, as PromQL text without braces."""

    matchers: str

    def with_matchers(self, more: str) -> "Scope":
        """This scope and more matchers, such as 'direction="upstream"'."""
        return Scope(f"{self.matchers},{more}")

    def select(self, name: str) -> str:
        return f"{name}{{{self.matchers}}}"

    def total(self, name: str, by: Sequence[str] = ()) -> str:
        """Sum of a gauge, per combination of the labels `by`."""
        return f"{sum_by(by)} ({self.select(name)})"

    def rate(self, name: str, by: Sequence[str] = ()) -> str:
        """Sum of a counter's rates per second, per combination of the labels `by`."""
        return f"{sum_by(by)} (rate({self.select(name)}{WINDOW}))"

    def bit_rate(self, name: str, by: Sequence[str] = ()) -> str:
        """Bits per second of a counter of bytes."""
        return f"8 * {self.rate(name, by)}"

    def ratio(self, part: str, whole: str, by: Sequence[str] = ()) -> str:
        """Rate of the counter `part` over that of `whole`; NaN while both are 0."""
        return f"{self.rate(part, by)} / {self.rate(whole, by)}"

    def quantile(self, share: float, name: str, by: Sequence[str] = ()) -> str:
        """Quantile (`share`: 0 to 1) of a histogram of times, at least FINEST_S. `name`: without
        _bucket. No series if it has no samples."""
        found = f"histogram_quantile({share}, {self.rate(f'{name}_bucket', ['le', *by])}) >= 0"
        return f"clamp_min({found}, {FINEST_S:g})"


def sum_by(by: Sequence[str]) -> str:
    return f"sum by ({', '.join(by)})" if by else "sum"


SERVER = Scope('instance=~"$instance"')


def dropped_rate(scope: Scope) -> str:
    """Dropped downstream packets and upstream frames per second. A group may lack an upstream."""
    frames = scope.with_matchers('unit="frames"')
    return (
        f"{scope.rate('vcmts_downstream_dropped_packets_total')}"
        f" + ({frames.rate('vcmts_upstream_dropped_total')} or vector(0))"
    )
