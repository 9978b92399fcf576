# SPDX-License-Identifier: BSD-3-Clause
"""Builds the PromQL queries of the dashboards."""

from collections.abc import Sequence
from dataclasses import dataclass

WINDOW = "[$__rate_interval]"


@dataclass(frozen=True)
class Scope:
    """Selects time series: label matchers that every query contains."""

    matchers: str

    def with_labels(self, more: str) -> "Scope":
        return Scope(f"{self.matchers},{more}")

    def select(self, name: str) -> str:
        return f"{name}{{{self.matchers}}}"

    def total(self, name: str, by: Sequence[str] = ()) -> str:
        return f"{sum_by(by)} ({self.select(name)})"

    def rate(self, name: str, by: Sequence[str] = ()) -> str:
        """Rate of a counter per second."""
        return f"{sum_by(by)} (rate({self.select(name)}{WINDOW}))"

    def bits(self, name: str, by: Sequence[str] = ()) -> str:
        return f"8 * {self.rate(name, by)}"

    def ratio(self, part: str, whole: str, by: Sequence[str] = ()) -> str:
        return f"{self.rate(part, by)} / {self.rate(whole, by)}"

    def quantile(self, share: float, name: str, by: Sequence[str] = ()) -> str:
        """Quantile of a histogram, in seconds; no series if the histogram is empty."""
        return f"histogram_quantile({share}, {self.rate(f'{name}_bucket', ['le', *by])}) >= 0"


def sum_by(by: Sequence[str]) -> str:
    return f"sum by ({', '.join(by)})" if by else "sum"


SERVER = Scope('instance=~"$instance"')


def dropped_rate(scope: Scope) -> str:
    """Dropped downstream packets and upstream frames per second."""
    frames = scope.with_labels('unit="frames"')
    return (
        f"{scope.rate('vcmts_downstream_dropped_packets_total')}"
        f" + {frames.rate('vcmts_upstream_dropped_total')}"
    )
