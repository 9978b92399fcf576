# SPDX-License-Identifier: BSD-3-Clause
"""What the dashboards ask Prometheus for."""

from collections.abc import Sequence
from dataclasses import dataclass

WINDOW = "[$__rate_interval]"


@dataclass(frozen=True)
class Scope:
    """Whose figures: matchers of labels that stand in every query."""

    matchers: str

    def of(self, more: str) -> "Scope":
        return Scope(f"{self.matchers},{more}")

    def read(self, name: str) -> str:
        return f"{name}{{{self.matchers}}}"

    def total(self, name: str, by: Sequence[str] = ()) -> str:
        return f"{summed(by)} ({self.read(name)})"

    def rate(self, name: str, by: Sequence[str] = ()) -> str:
        """Of a counter, a second."""
        return f"{summed(by)} (rate({self.read(name)}{WINDOW}))"

    def bits(self, name: str, by: Sequence[str] = ()) -> str:
        return f"8 * {self.rate(name, by)}"

    def ratio(self, part: str, whole: str, by: Sequence[str] = ()) -> str:
        return f"{self.rate(part, by)} / {self.rate(whole, by)}"

    def quantile(self, share: float, name: str, by: Sequence[str] = ()) -> str:
        """Of a histogram, seconds; of those that count nothing, none."""
        return f"histogram_quantile({share}, {self.rate(f'{name}_bucket', ['le', *by])}) >= 0"


def summed(by: Sequence[str]) -> str:
    return f"sum by ({', '.join(by)})" if by else "sum"


SERVER = Scope('instance=~"$instance"')


def lost(scope: Scope) -> str:
    """Downstream packets and upstream frames that were dropped, a second."""
    frames = scope.of('unit="frames"')
    return (
        f"{scope.rate('vcmts_downstream_dropped_packets_total')}"
        f" + {frames.rate('vcmts_upstream_dropped_total')}"
    )
