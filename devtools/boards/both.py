# SPDX-License-Identifier: BSD-3-Clause
"""What both directions of a service group have alike."""

from collections.abc import Iterator

from boards.panels import Ask, Panel, lines
from boards.queries import Scope

CIPHERS = ("aes_128", "aes_256", "des")


def cycles(scope: Scope, direction: str, packets: str) -> Panel:
    """Of all stages, over the packets of the direction: the whole is what a packet costs."""
    own = scope.of(f'direction="{direction}"')
    return lines(
        "Cycles by stage",
        "Cycles of the time-stamp counter that each stage used a packet; the top of the stack is"
        " what a packet costs in all.",
        "short",
        Ask(
            f"{own.rate('vcmts_stage_cycles_total', ['stage'])}"
            f" / ignoring (stage) group_left () {scope.rate(packets)}",
            "{{stage}}",
        ),
        stacked=True,
    )


def latency(scope: Scope, direction: str) -> Panel:
    own = scope.of(f'direction="{direction}"')
    return lines(
        "Latency",
        "From the receive stage to the port that takes the packet; while it is measured.",
        "s",
        *(
            Ask(own.quantile(share, "vcmts_pipeline_latency_seconds"), f"p{share * 100:g}")
            for share in (0.5, 0.9, 0.99, 0.999)
        ),
    )


def effort(scope: Scope, direction: str) -> Iterator[Panel]:
    own = scope.of(f'direction="{direction}"')
    yield lines(
        "Polls",
        "Times a second that the source was asked for packets: useful where it had some.",
        "ops",
        Ask(own.rate("vcmts_polls_total", ["result"]), "{{result}}"),
        stacked=True,
    )
    yield lines(
        "Packets a lookup",
        "Mean number of packets (upstream: bursts) whose modem is looked up together.",
        "short",
        Ask(own.ratio("vcmts_looked_up_total", "vcmts_lookups_total"), "together"),
    )
