# SPDX-License-Identifier: BSD-3-Clause
"""Service groups, both directions stage by stage: each section once for each of those chosen.

So that groups of one server or of several can be compared, they are chosen by server and number.
"""

from collections.abc import Iterator

from grafana_foundation_sdk.models.dashboard import Dashboard

from boards.downstream import DELAY, DOWN, downstream
from boards.panels import ORANGE, RED, Ask, Panel, Part, Section, board, figure, spread, variable
from boards.queries import Scope, lost
from boards.upstream import UP, upstream

# A value of the variable has the matchers of a group, and its text is a label that is made for it.
# Unformatted, or Grafana would escape the quotation marks.
GROUP = Scope("${group:raw}")
QUERY = (
    "query_result(label_join(count by (instance, service_group) (vcmts_service_group_info),"
    ' "at", " of ", "service_group", "instance"))'
)
REGEX = r'/\{at="(?<text>[^"]*)", ?(?<value>.*)\}/'


def section(title: str) -> Section:
    return Section(f"Group $group: {title}", repeat="group")


def now() -> Iterator[Part]:
    yield section("now")
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
        "Downstream packets and upstream frames per second.",
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
        yield section(title)
        yield from spread(panels)


def group() -> Dashboard:
    return board(
        "vcmts-group",
        "OpenVCMTS: service groups",
        "Both directions of a service group, stage by stage; of several, one below the other.",
        [variable("group", "Service groups", QUERY).regex(REGEX).multi(True)],
        [*now(), *parts(downstream(GROUP) | upstream(GROUP))],
    )
