# SPDX-License-Identifier: BSD-3-Clause
"""Two service groups side by side, of one server or of two."""

from collections.abc import Iterator

from grafana_foundation_sdk.models.dashboard import Dashboard

from boards.downstream import downstream
from boards.panels import Panel, Part, Section, board, variable
from boards.queries import Scope
from boards.upstream import upstream

SIDES = ("first", "second")
FIRST, SECOND = (Scope(f'instance=~"${side}_instance",service_group="${side}"') for side in SIDES)


def beside(left: list[Panel], right: list[Panel]) -> Iterator[Panel]:
    for ours, theirs in zip(left, right, strict=True):
        yield ours.span(12)
        yield theirs.span(12)


def parts() -> Iterator[Part]:
    yield Section("Downstream: first group on the left, second on the right")
    yield from beside(downstream(FIRST), downstream(SECOND))
    yield Section("Upstream: first group on the left, second on the right")
    yield from beside(upstream(FIRST), upstream(SECOND))


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
        "Two service groups side by side, stage by stage.",
        variables,
        parts(),
    )
