# SPDX-License-Identifier: BSD-3-Clause
"""Panels that both directions of a service group have."""

from collections.abc import Iterator

from boards.panels import Panel, Query, graph
from boards.queries import Scope

CIPHERS = ("aes_128", "aes_256", "des")


def cycles(scope: Scope, direction: str, packets: str) -> Panel:
    """Cycles per packet of each stage; `packets`: metric that counts the packets."""
    selected = scope.with_matchers(f'direction="{direction}"')
    return graph(
        "Cycles by stage",
        "Cycles of the time-stamp counter that each stage uses per packet; the top of the stack is"
        " the sum of all stages.",
        "short",
        Query(
            f"{selected.rate('vcmts_stage_cycles_total', ['stage'])}"
            f" / ignoring (stage) group_left () {scope.rate(packets)}",
            "{{stage}}",
        ),
        stacked=True,
    )


def latency(scope: Scope, direction: str) -> Panel:
    selected = scope.with_matchers(f'direction="{direction}"')
    return graph(
        "Latency",
        "From the receive stage to transmission by the port; needs vcmtsd run --latency.",
        "s",
        *(
            Query(selected.quantile(share, "vcmts_pipeline_latency_seconds"), f"p{share * 100:g}")
            for share in (0.5, 0.9, 0.99, 0.999)
        ),
    )


def receive_effort(scope: Scope, direction: str) -> Iterator[Panel]:
    selected = scope.with_matchers(f'direction="{direction}"')
    yield graph(
        "Polls",
        "Polls of the packet source per second; a useful poll returned packets.",
        "ops",
        Query(selected.rate("vcmts_polls_total", ["result"]), "{{result}}"),
        stacked=True,
    )
    yield graph(
        "Packets per lookup",
        "Mean number of packets (upstream: bursts) that one lookup of modems handles.",
        "short",
        Query(selected.ratio("vcmts_looked_up_total", "vcmts_lookups_total"), "per lookup"),
    )
