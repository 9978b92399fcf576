# SPDX-License-Identifier: BSD-3-Clause
"""Service groups side by side, of one server or of several: each panel once for each of them."""

from collections.abc import Iterator

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.models.dashboard import (
    Dashboard,
    VariableRefresh,
    VariableSort,
)

from boards.downstream import downstream
from boards.panels import SOURCE, WIDTH, Panel, Part, Section, board
from boards.queries import Scope
from boards.upstream import upstream

MOST = 4  # beside each other
# A value has the matchers of a group, and its text is a label that is made for it. Unformatted, or
# Grafana would escape the quotation marks.
GROUP = Scope("${group:raw}")
QUERY = (
    "query_result(label_join(count by (instance, service_group) (vcmts_service_group_info),"
    ' "at", " of ", "service_group", "instance"))'
)
REGEX = r'/\{at="(?<text>[^"]*)", ?(?<value>.*)\}/'


def chosen() -> dashboard.QueryVariable:
    return (
        dashboard.QueryVariable("group")
        .label("Service groups")
        .datasource(SOURCE)
        .query(QUERY)
        .regex(REGEX)
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.NUMERICAL_ASC)
        .multi(True)
    )


def repeated(panel: Panel) -> Panel:
    titled = panel.title(f"{panel.build().title}: group $group").span(WIDTH)
    return titled.repeat("group").repeat_direction("h").max_per_row(MOST)


def parts(sections: dict[str, list[Panel]]) -> Iterator[Part]:
    for title, panels in sections.items():
        yield Section(title)
        yield from map(repeated, panels)


def compared() -> Dashboard:
    return board(
        "vcmts-groups",
        "OpenVCMTS: service groups compared",
        "Two to four service groups side by side, stage by stage, of one server or of several.",
        [chosen()],
        parts(downstream(GROUP) | upstream(GROUP)),
    )
