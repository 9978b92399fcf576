# SPDX-License-Identifier: BSD-3-Clause
"""OpenVCMTS for dpdk-telemetry-exporter.py of DPDK 23.11 and later (docs/monitoring.md).

Copy it to the folder of DPDK's endpoints, or name its folder with --load-path. The exporter puts
dpdk_vcmts_ before each name; docs/metrics.md describes the metrics. Histograms have a sum and a
count only, as the exporter does not support buckets.
"""

from typing import Any, Protocol

COMMAND = "/vcmts/metrics"
# Units of the telemetry socket, whose values are integers; unit and divisor for Prometheus.
UNITS = {"_nanoseconds": ("_seconds", 1e9), "_ppm": ("_ratio", 1e6)}

Sample = tuple[str, float, dict[str, str]]


class Socket(Protocol):
    def cmd(self, uri: str, arg: Any = None) -> Any: ...


class Info(dict[str, tuple[str, str]]):
    """Description and type by name, for any name: only vcmtsd knows the names."""

    def __missing__(self, name: str) -> tuple[str, str]:
        counts = name.endswith(("_total", "_sum", "_count"))
        return f"vcmts_{name} in docs/metrics.md", "counter" if counts else "gauge"


def info() -> Info:
    return Info()


def _sample(key: str, value: int) -> Sample:
    """A sample from a key such as downstream_dropped_packets_total/service_group/1/reason/runt."""
    name, *labels = key.split("/")
    number: float = value
    for unit, (becomes, scale) in UNITS.items():
        if unit in name:
            name, number = name.replace(unit, becomes), value / scale
    return name, number, dict(zip(labels[::2], labels[1::2], strict=True))


def metrics(sock: Socket) -> list[Sample]:
    """All metrics, in as many requests as necessary."""
    samples: list[Sample] = []
    while answer := sock.cmd(COMMAND, f"from={len(samples)}"):
        samples += [_sample(key, value) for key, value in answer.items()]
    return samples
