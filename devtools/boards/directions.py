# SPDX-License-Identifier: BSD-3-Clause
"""Graphs that the downstream and the upstream sections of the service groups' dashboard share.

`direction` is a label's value: downstream or upstream.
"""

from collections.abc import Iterator

from boards.panels import COUNT, EVENTS, Panel, Query, graph
from boards.queries import FINEST, Scope

# NAME in the metrics vcmts_downstream_encrypted_NAME_frames_total and
# vcmts_upstream_decrypted_NAME_frames_total.
CIPHERS = ("aes_128", "aes_256", "des")


def cycles(scope: Scope, direction: str, packets: str) -> Panel:
    """Cycles per packet of each stage. `packets`: name of the counter to divide by, which contains
    the direction, so the counter has no label `direction`."""
    selected = scope.with_matchers(f'direction="{direction}"')
    return graph(
        "Cycles by stage",
        "Cycles of the time-stamp counter that each stage uses per packet; the top of the stack is"
        " the sum of all stages.",
        COUNT,
        Query(
            f"{selected.rate('vcmts_stage_cycles_total', ['stage'])}"
            f" / ignoring (stage) group_left () {scope.rate(packets)}",
            "{{stage}}",
        ),
        stacked=True,
    )


def latency(scope: Scope, direction: str) -> Panel:
    """Quantiles from the receive stage to transmission. Empty unless latency is measured."""
    selected = scope.with_matchers(f'direction="{direction}"')
    return graph(
        "Latency",
        "From the receive stage to transmission by the port; `vcmts control measure.set"
        f" latency=true` measures it. {FINEST}",
        "s",
        *(
            Query(selected.quantile(share, "vcmts_pipeline_latency_seconds"), f"p{share * 100:g}")
            for share in (0.5, 0.9, 0.99, 0.999)
        ),
    )


def poll_statistics(scope: Scope, direction: str) -> Iterator[Panel]:
    """Polls of the packet source by result, and packets (upstream: bursts) per lookup of modems."""
    selected = scope.with_matchers(f'direction="{direction}"')
    yield graph(
        "Polls",
        "Polls of the packet source per second; a useful poll returned packets.",
        EVENTS,
        Query(selected.rate("vcmts_polls_total", ["result"]), "{{result}}"),
        stacked=True,
    )
    yield graph(
        "Packets per lookup",
        "Mean number of packets (upstream: bursts) that one lookup of modems handles.",
        "short",
        Query(selected.ratio("vcmts_looked_up_total", "vcmts_lookups_total"), "per lookup"),
    )
