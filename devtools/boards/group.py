# SPDX-License-Identifier: BSD-3-Clause
"""One service group: both directions, stage by stage."""

from collections.abc import Iterator

from grafana_foundation_sdk.models.dashboard import Dashboard

from boards.downstream import DELAY, DOWN, downstream
from boards.panels import ORANGE, RED, Ask, Panel, Part, Section, board, figure, spread, variable
from boards.queries import GROUP, lost
from boards.upstream import UP, upstream


def now() -> Iterator[Part]:
    yield Section("Now")
    for name, title in ((DOWN, "Downstream"), (UP, "Upstream")):
        yield figure(
            title,
            "Bits a second that left the data plane.",
            "bps",
            Ask(GROUP.bits(f"{name}_transmitted_bytes_total")),
            width=3,
        )
    for name, title, about in (
        ("modems", "Modems", "Registered."),
        ("active_modems", "Active modems", "That had traffic lately."),
        ("active_addresses", "Active addresses", "Behind these modems."),
        ("service_flows", "Service flows", "Of the downstream."),
    ):
        yield figure(
            title, about, "short", Ask(GROUP.total(f"vcmts_service_group_{name}")), width=3
        )
    yield figure(
        "Dropped",
        "Downstream packets and upstream frames a second.",
        "pps",
        Ask(lost(GROUP)),
        width=3,
        steps=[(1, ORANGE), (1000, RED)],
    )
    yield figure(
        "Scheduler delay",
        "99 of 100 packets stayed shorter in the queues.",
        "s",
        Ask(GROUP.quantile(0.99, DELAY)),
        width=3,
        steps=[(0.01, ORANGE), (0.1, RED)],
    )


def parts(sections: dict[str, list[Panel]]) -> Iterator[Part]:
    for title, panels in sections.items():
        yield Section(title)
        yield from spread(panels)


def group() -> Dashboard:
    groups = 'label_values(vcmts_service_group_info{instance=~"$instance"}, service_group)'
    return board(
        "vcmts-group",
        "OpenVCMTS: service group",
        "Both directions of a service group, stage by stage.",
        [
            variable("instance", "Server", "label_values(vcmts_build_info, instance)"),
            variable("service_group", "Service group", groups),
        ],
        [*now(), *parts(downstream(GROUP) | upstream(GROUP))],
    )
