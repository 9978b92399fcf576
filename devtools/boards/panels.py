# SPDX-License-Identifier: BSD-3-Clause
"""Builds panels in the common style of all dashboards, and a dashboard from panels."""

from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_uppercase

from grafana_foundation_sdk.builders import bargauge, common, dashboard, prometheus, stat, table
from grafana_foundation_sdk.builders import timeseries as graphs
from grafana_foundation_sdk.models import common as choices
from grafana_foundation_sdk.models import dashboard as model

from boards.queries import FINEST_S

DATA_SOURCE = choices.DataSourceRef(type_val="prometheus", uid="${datasource}")
WIDTH, HEIGHT, STAT_HEIGHT = 24, 8, 4  # in Grafana's grid; WIDTH is that of a dashboard
# Units: packets and frames per second, other events per second, counts. Others are Grafana's names.
PACKETS, EVENTS, COUNT = "pps", "si:/s", "locale"
# Least end of the axis by unit: without it, the axis of an idle panel would end at 100.
LEAST_AXIS = {PACKETS: 1, EVENTS: 1, COUNT: 1, "s": 1e-6, "percentunit": 0.01, "bps": 1000}
BAR_HEIGHT = 48  # pixels, at most
GREEN, ORANGE, RED = "green", "orange", "red"
Panel = graphs.Panel | stat.Panel | bargauge.Panel | table.Panel


@dataclass(frozen=True)
class Query:
    """A PromQL query and the legend of its series, in which {{label}} is a label's value."""

    expression: str
    legend: str = ""


@dataclass(frozen=True)
class Section:
    """A titled row above panels. Grafana repeats both per value of the variable `repeat`."""

    title: str
    repeat: str | None = None


Part = Section | Panel


def targets(queries: Iterable[Query]) -> list[prometheus.Dataquery]:
    """The queries of a panel, at most 26, named A, B and so on."""
    return [
        prometheus.Dataquery().expr(query.expression).legend_format(query.legend).ref_id(letter)
        for letter, query in zip(ascii_uppercase, queries, strict=False)
    ]


def limits(*steps: tuple[float, str], first: str = GREEN) -> dashboard.ThresholdsConfig:
    """Colours by value: `first`, and from the threshold of each step on, the step's colour."""
    thresholds = [model.Threshold(color=first, value=None)]
    thresholds += [model.Threshold(color=color, value=value) for value, color in steps]
    return dashboard.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(thresholds)


# Text of a quantile in the first bucket; such values are exactly FINEST_S, but for rounding.
SHORTEST = model.RangeMap(
    model.DashboardRangeMapOptions(
        from_val=0.999 * FINEST_S,
        to=1.001 * FINEST_S,
        result=model.ValueMappingResult(text=f"<{FINEST_S * 1e9:.0f} ns", index=0),
    )
)


def graph(
    title: str, about: str, unit: str, *queries: Query, width: int = 8, stacked: bool = False
) -> graphs.Panel:
    """A graph over time."""
    # the SDK hides the legend by default
    legend = (
        common.VizLegendOptions()
        .show_legend(True)
        .display_mode(choices.LegendDisplayMode.LIST)
        .placement(choices.LegendPlacement.BOTTOM)
        .calcs([])
    )
    tooltip = (
        common.VizTooltipOptions()
        .mode(choices.TooltipDisplayMode.MULTI)
        .sort(choices.SortOrder.DESCENDING)
    )
    mode = choices.StackingMode.NORMAL if stacked else choices.StackingMode.NONE
    panel = (
        graphs.Panel()
        .title(title)
        .description(about)
        .datasource(DATA_SOURCE)
        .unit(unit)
        .min(0)
        .span(width)
        .height(HEIGHT)
        .line_width(1 if stacked else 2)
        .fill_opacity(40 if stacked else 0)
        .show_points(choices.VisibilityMode.NEVER)
        .stacking(common.StackingConfig().mode(mode).group("A"))
        .legend(legend)
        .tooltip(tooltip)
    )
    for target in targets(queries):
        panel.with_target(target)
    if unit in LEAST_AXIS:
        panel.axis_soft_max(LEAST_AXIS[unit])
    return panel.mappings([SHORTEST]) if unit == "s" else panel


def latest(
    title: str,
    about: str,
    unit: str,
    query: Query,
    *,
    width: int = 4,
    steps: Iterable[tuple[float, str]] = (),
    first: str = GREEN,
    decimals: int | None = None,
    named: bool = False,
) -> stat.Panel:
    """The latest value, with a small graph. `steps`, `first`: of limits(). `named`: the legend
    instead of the value, and no graph."""
    reduce = common.ReduceDataOptions().calcs(["lastNotNull"]).values(False)
    panel = (
        stat.Panel()
        .title(title)
        .description(about)
        .datasource(DATA_SOURCE)
        .unit(unit)
        .span(width)
        .height(STAT_HEIGHT)
        .thresholds(limits(*steps, first=first))
        .reduce_options(reduce)
        .graph_mode(choices.BigValueGraphMode.NONE if named else choices.BigValueGraphMode.AREA)
        .color_mode(choices.BigValueColorMode.VALUE)
        .text_mode(choices.BigValueTextMode.NAME if named else choices.BigValueTextMode.VALUE)
        .with_target(targets([query])[0])
    )
    if unit == "s":
        panel.mappings([SHORTEST])
    return panel if decimals is None else panel.decimals(decimals)


def bars(
    title: str,
    about: str,
    unit: str,
    *queries: Query,
    width: int = 8,
    maximum: float | None = None,
    steps: Iterable[tuple[float, str]] = (),
) -> bargauge.Panel:
    """The latest values as bars. `steps`: of limits()."""
    panel = (
        bargauge.Panel()
        .title(title)
        .description(about)
        .datasource(DATA_SOURCE)
        .unit(unit)
        .min(0)
        .span(width)
        .height(HEIGHT)
        .thresholds(limits(*steps))
        .orientation(choices.VizOrientation.HORIZONTAL)
        .display_mode(choices.BarGaugeDisplayMode.GRADIENT)
        .sizing(choices.BarGaugeSizing.MANUAL)
        .max_viz_height(BAR_HEIGHT)
        .text(common.VizTextDisplayOptions().title_size(14).value_size(18))
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
    )
    for target in targets(queries):
        panel.with_target(target.instant())
    return panel if maximum is None else panel.max(maximum)


def lay_out(panels: list[Panel]) -> list[Panel]:
    """Sets the widths in place: three panels per row, and two to four in the last row."""
    threes = len(panels) // 3 * 3 - (3 if len(panels) % 3 == 1 else 0)
    rest = panels[max(threes, 0) :]
    for panel in rest:
        panel.span(WIDTH // len(rest))
    return panels


def variable(
    name: str, label: str, query: str, *, several: bool = False
) -> dashboard.QueryVariable:
    """A variable of the dashboard, which the user selects above it."""
    made = (
        dashboard.QueryVariable(name)
        .label(label)
        .datasource(DATA_SOURCE)
        .query(query)
        .refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(model.VariableSort.NUMERICAL_ASC)
        .multi(several)
        .include_all(several)
    )
    if several:
        made.all_value(".*").current(
            model.VariableOption(selected=True, text="All", value="$__all")
        )
    return made


def source() -> dashboard.DatasourceVariable:
    return dashboard.DatasourceVariable("datasource").label("Prometheus").type("prometheus")


def board(
    uid: str,
    title: str,
    about: str,
    variables: Iterable[dashboard.QueryVariable],
    parts: Iterable[Part],
) -> model.Dashboard:
    links = (
        dashboard.DashboardLink("OpenVCMTS")
        .type(model.DashboardLinkType.DASHBOARDS)
        .tags(["openvcmts"])
        .as_dropdown(True)
        .include_vars(True)
        .keep_time(True)
    )
    made = (
        dashboard.Dashboard(title)
        .uid(uid)
        .description(about)
        .tags(["openvcmts"])
        .refresh("10s")
        .time("now-30m", "now")
        .timezone("browser")
        .tooltip(model.DashboardCursorSync.CROSSHAIR)
        .editable()
        .link(links)
        .with_variable(source())
    )
    for one in variables:
        made.with_variable(one)
    for number, part in enumerate(parts, 1):
        if isinstance(part, Section):
            row = dashboard.Row(part.title).id(number)
            made.with_row(row.repeat(part.repeat) if part.repeat else row)
        else:
            made.with_panel(part.id(number))
    return made.build()
