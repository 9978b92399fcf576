# SPDX-License-Identifier: BSD-3-Clause
"""OpenVCMTS for dpdk-telemetry-exporter.py of DPDK 23.11 and later (docs/monitoring.md).

Put beside the endpoints that DPDK brings, or named by --load-path. The exporter puts dpdk_vcmts_
before each name; what the metrics mean stands in docs/metrics.md. Of histograms there are sums and
counts; the exporter has no place for buckets.
"""

from typing import Any, Protocol

COMMAND = "/vcmts/metrics"
# What the telemetry socket has in whole numbers, and what Prometheus has.
UNITS = {"_nanoseconds": ("_seconds", 1e9), "_ppm": ("_ratio", 1e6)}

Sample = tuple[str, float, dict[str, str]]


class Socket(Protocol):
    def cmd(self, uri: str, arg: Any = None) -> Any: ...


class Info(dict[str, tuple[str, str]]):
    """By name: a description, and the type. Which metrics there are, vcmtsd knows."""

    def __missing__(self, name: str) -> tuple[str, str]:
        counts = name.endswith(("_total", "_sum", "_count"))
        return f"vcmts_{name} in docs/metrics.md", "counter" if counts else "gauge"


def info() -> Info:
    return Info()


def _sample(key: str, value: int) -> Sample:
    """From a key such as downstream_dropped_packets_total/service_group/1/reason/runt."""
    name, *labels = key.split("/")
    number: float = value
    for unit, (becomes, scale) in UNITS.items():
        if unit in name:
            name, number = name.replace(unit, becomes), value / scale
    return name, number, dict(zip(labels[::2], labels[1::2], strict=True))


def metrics(sock: Socket) -> list[Sample]:
    """All of the registry, in as many answers as it takes."""
    samples: list[Sample] = []
    while answer := sock.cmd(COMMAND, f"from={len(samples)}"):
        samples += [_sample(key, value) for key, value in answer.items()]
    return samples
