# SPDX-License-Identifier: BSD-3-Clause
"""Merges the latencies of several trials.

The histograms of trials have buckets with two significant digits. Packets are assumed to be evenly
distributed within a bucket, so merged percentiles are accurate to a few percent. Percentiles of a
single trial are accurate to 0.1 %.
"""

import math
from collections import Counter
from collections.abc import Sequence

from vcmts.jsons import Json

SHARES = {
    "p50": 0.5,
    "p90": 0.9,
    "p99": 0.99,
    "p99_9": 0.999,
    "p99_99": 0.9999,
    "p99_999": 0.99999,
}
FINEST_US = 0.001  # resolution of latencies


def width(us: float) -> float:
    """The width of the bucket that begins at `us`: one unit of the second digit."""
    if us <= 0:
        return FINEST_US
    return max(FINEST_US, float(10.0 ** (math.floor(math.log10(us) + 1e-9) - 1)))


def quantile(buckets: Sequence[tuple[float, int]], share: float) -> float:
    """The latency within which `share` of the packets are; `buckets` are sorted by time."""
    due = share * sum(packets for _, packets in buckets)
    for us, packets in buckets:
        if packets >= due:
            return us + width(us) * due / packets
        due -= packets
    return buckets[-1][0] + width(buckets[-1][0])


def merge(latencies: Sequence[Json | None]) -> Json | None:
    """The latencies of all packets; None if there are none."""
    parts = [one for one in latencies if one is not None and one["histogram"]]
    if len(parts) <= 1:
        return parts[0] if parts else None
    counts = [sum(packets for _, packets in part["histogram"]) for part in parts]
    together: Counter[float] = Counter()
    for part in parts:
        for us, packets in part["histogram"]:
            together[us] += packets
    buckets = sorted(together.items())
    longest = max(part["max"] for part in parts)
    means = (part["mean"] * count for part, count in zip(parts, counts, strict=True))
    found = {key: min(quantile(buckets, share), longest) for key, share in SHARES.items()}
    return {
        "mean": sum(means) / sum(counts),
        **found,
        "max": longest,
        "histogram": [list(bucket) for bucket in buckets],
    }
