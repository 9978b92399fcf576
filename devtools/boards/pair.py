# SPDX-License-Identifier: BSD-3-Clause
"""Two service groups side by side, of one server or of two."""

from collections.abc import Callable, Iterator

from grafana_foundation_sdk.models.dashboard import Dashboard

from boards.downstream import downstream
from boards.panels import Panel, Part, Section, board, variable
from boards.queries import Scope
from boards.upstream import upstream

SIDES = ("first", "second")
FIRST, SECOND = (Scope(f'instance=~"${side}_instance",service_group="${side}"') for side in SIDES)


def named(panel: Panel, side: str) -> Panel:
    """With the group in its title: Grafana puts the number there."""
    return panel.title(f"{panel.build().title}: group ${side}")


def parts(direction: Callable[[Scope], dict[str, list[Panel]]]) -> Iterator[Part]:
    """The first on the left, the second on the right."""
    left, right = direction(FIRST), direction(SECOND)
    for title, ours in left.items():
        yield Section(title)
        for one, other in zip(ours, right[title], strict=True):
            yield named(one, "first").span(12)
            yield named(other, "second").span(12)


def pair() -> Dashboard:
    variables = []
    for side in SIDES:
        instance = f"{side}_instance"
        variables.append(
            variable(instance, f"{side.title()} server", "label_values(vcmts_build_info, instance)")
        )
        groups = f'label_values(vcmts_service_group_info{{instance=~"${instance}"}}, service_group)'
        variables.append(variable(side, f"{side.title()} group", groups))
    return board(
        "vcmts-pair",
        "OpenVCMTS: two service groups",
        "Two service groups, stage by stage: the first on the left, the second on the right.",
        variables,
        [*parts(downstream), *parts(upstream)],
    )
