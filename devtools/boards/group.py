# SPDX-License-Identifier: BSD-3-Clause
"""The dashboard of service groups: both directions in the order of the stages.

Each section repeats per selected group. A group is selected by server and number, so that groups of
several servers can be compared.
"""

from collections.abc import Iterator

from grafana_foundation_sdk.models.dashboard import Dashboard

from boards.downstream import DELAY, DOWN, downstream
from boards.panels import (
    COUNT,
    ORANGE,
    PACKETS,
    RED,
    Panel,
    Part,
    Query,
    Section,
    board,
    latest,
    lay_out,
    variable,
)
from boards.queries import FINEST, Scope, dropped_rate
from boards.upstream import UP, upstream

# The variable `group` has an option per service group. An option's value is the label matchers of
# the group; its text is the label `at`, which QUERY adds. REGEX reads both from a sample such as
# {at="1 of HOST",instance="HOST",service_group="1"} 1. Its labels are sorted by name.
# `raw` keeps Grafana from escaping the quotation marks. GROUP needs a section of section(): there
# `group` is one group. In a section that does not repeat, several selected groups match nothing.
GROUP = Scope("${group:raw}")
QUERY = (
    "query_result(label_join(count by (instance, service_group) (vcmts_service_group_info),"
    ' "at", " of ", "service_group", "instance"))'
)
REGEX = r'/\{at="(?<text>[^"]*)", ?(?<value>.*)\}/'


def section(title: str) -> Section:
    """A section that repeats per selected group."""
    return Section(f"Group $group: {title}", repeat="group")


def latest_values() -> Iterator[Part]:
    """The section `now`, per group like the others: latest rates, counts and scheduler delay."""
    yield section("now")
    for name, title in ((DOWN, "Downstream"), (UP, "Upstream")):
        yield latest(
            title,
            "Bits per second that the data plane transmits.",
            "bps",
            Query(GROUP.bit_rate(f"{name}_transmitted_bytes_total")),
            width=3,
        )
    for name, title, about in (
        ("modems", "Modems", "Registered modems."),
        ("active_modems", "Active modems", "Modems with recent traffic."),
        ("active_addresses", "Active addresses", "Active addresses of CPEs behind the modems."),
        ("service_flows", "Service flows", "Downstream service flows."),
    ):
        yield latest(
            title, about, COUNT, Query(GROUP.total(f"vcmts_service_group_{name}")), width=3
        )
    yield latest(
        "Dropped",
        "Dropped downstream packets and upstream frames per second.",
        PACKETS,
        Query(dropped_rate(GROUP)),
        width=3,
        steps=[(1, ORANGE), (1000, RED)],
    )
    yield latest(
        "Scheduler delay",
        f"99th percentile of the time in the queues. {FINEST}",
        "s",
        Query(GROUP.quantile(0.99, DELAY)),
        width=3,
        steps=[(0.01, ORANGE), (0.1, RED)],
    )


def parts(sections: dict[str, list[Panel]]) -> Iterator[Part]:
    """A section per title, followed by its panels."""
    for title, panels in sections.items():
        yield section(title)
        yield from lay_out(panels)


def group() -> Dashboard:
    return board(
        "vcmts-group",
        "OpenVCMTS: service groups",
        "Both directions of the selected service groups, in the order of the stages.",
        [variable("group", "Service groups", QUERY).regex(REGEX).multi(True)],
        [*latest_values(), *parts(downstream(GROUP) | upstream(GROUP))],
    )
