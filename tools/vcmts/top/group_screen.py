# SPDX-License-Identifier: BSD-3-Clause
"""The screen of one service group: stages and drops of both directions, and its queues."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.text import Text

from vcmts.directions import DIRECTIONS
from vcmts.top import words
from vcmts.top.model import Channel, Delay, Direction, Drop, Group
from vcmts.top.server_screen import SHORT, delay_text, drop_style
from vcmts.top.table import fill
from vcmts.top.view import View

BOTH = 72  # minimum columns to show both directions side by side
LONGEST_NAME = 20  # characters of a stage name
TALL = 30  # minimum lines of a screen with blank lines between sections
FEWEST = 3  # minimum lines of a section


@dataclass(frozen=True)
class Area:
    """The width of a part of the screen and of stage names; whether bars may use block
    characters."""

    width: int
    blocks: bool
    name: int = 0


def not_measured(what: str) -> list[Text]:
    """How to measure it, in lines that fit half a screen. `what`: a parameter of measure.set."""
    texts = ("not measured; to measure it:", f"vcmts control measure.set {what}=true")
    return [Text(text, style="dim") for text in texts]


def stage_lines(part: Direction, area: Area) -> list[Text]:
    """Cycles per packet of each stage as bars, scaled to the longest."""
    wide = area.width >= 60
    bar_width = max(3, area.width - area.name - (14 if wide else 7))
    most = max((stage.cycles or 0.0 for stage in part.stages), default=0.0)
    whole = sum(stage.core or 0.0 for stage in part.stages)
    what = "cycles per packet, share of a core" if wide else "cycles per packet"
    title = f"{what:<{area.name + 1 + bar_width}} {words.short(part.cycles):>5}"
    lines = [Text(title + (f" {words.share(whole):>6}" if wide else ""), style="bold")]
    if not any(stage.cycles is None or stage.cycles > 0 for stage in part.stages):
        return [lines[0], *not_measured("cycles")]
    for stage in part.stages:
        line = Text(fill(stage.name, area.name, left=True) + " ")
        share = (stage.cycles or 0.0) / most if most else None
        line.append_text(words.bar(share, bar_width, "cyan", blocks=area.blocks))
        line.append(f" {words.short(stage.cycles):>5}")
        lines.append(line.append(f" {words.share(stage.core):>6}") if wide else line)
    return lines


def drop_line(drop: Drop, area: Area) -> Text:
    line = Text(fill(drop.reason, max(8, area.width - 16), left=True))
    line.append(f" {words.short(drop.total):>6}")
    return line.append(f" {words.per_second(drop.rate):>7}", style=drop_style(drop.rate))


def drops_lines(part: Direction, area: Area) -> list[Text]:
    title = Text(
        fill("drops", max(8, area.width - 16), left=True) + "  total     now", style="bold"
    )
    none = [Text("no drops since the start", style="dim")]
    return [title, *([drop_line(drop, area) for drop in part.drops] or none)]


def delay_line(name: str, delay: Delay) -> Text:
    return Text(
        f"{name:<13} {words.per_second(delay.rate):>7} "
        f"{words.at_most(delay.p50, delay.least):>7} {words.at_most(delay.p99, delay.least):>7}"
    )


def delay_lines(group: Group) -> list[Text]:
    """Delays since the last answer: in the queues by priority, and in the pipeline by direction."""
    lines = [Text(f"{'delay':<13} {'packets':>7} {'p50':>7} {'p99':>7}", style="bold")]
    used = {name: delay for name, delay in group.priorities.items() if delay.rate}
    lines += [delay_line(f"priority {name}", delay) for name, delay in used.items()]
    if not used:
        lines.append(Text("no packet in a queue", style="dim"))
    measured = [
        delay_line(f"pipeline {SHORT[way]}", part.latency)
        for way, part in group.directions.items()
        if part.latency.measured
    ]
    return lines + (measured or [Text("pipeline", style="dim"), *not_measured("latency")])


def channel_line(channel: Channel, area: Area) -> Text:
    bar_width = max(3, area.width - 30)
    line = Text(f"{channel.id:<7} ")
    line.append_text(words.bar(channel.share, bar_width, "magenta", blocks=area.blocks))
    line.append(f" {words.share(channel.share):>6} {words.short(channel.bits):>5}")
    return line.append(f" of {words.short(channel.rate):<5}")


def channel_lines(group: Group, area: Area) -> list[Text]:
    bar_width = max(3, area.width - 30)
    title = Text(f"{'channel':<7} {'':<{bar_width}} {'full':>6}   bps", style="bold")
    return [title, *(channel_line(channel, area) for channel in group.channels)]


def rate_lines(group: Group, direction: str) -> list[Text]:
    part = group.directions[direction]
    moved = [
        Text(f"{name} {words.bits(bits):>9} {words.per_second(packets):>7}")
        for name, bits, packets in (
            (f"{direction:<10}  in", part.in_bits, part.in_packets),
            (f"{'':<10} out", part.out_bits, part.out_packets),
        )
    ]
    moved[0].stylize("bold", 0, len(direction))
    delay, what = (group.delay, "queue") if direction == "downstream" else (part.latency, "delay")
    if part.latency.p99 is not None:
        delay, what = part.latency, "delay"
    line = Text(f"drops {words.short(part.dropped_total)} (")
    line.append(words.per_second(part.dropped), style=drop_style(part.dropped)).append(")")
    if delay.p99 is not None:
        line.append(f"  {what} p99 {delay_text(delay)}")
    return [*moved, line]


def side_by_side(parts: Sequence[Sequence[Text]], width: int) -> list[Text]:
    """Places parts side by side, each `width` columns wide."""
    lines = []
    for row in zip_longest(*parts, fillvalue=Text()):
        line = Text()
        for index, text in enumerate(row):
            clipped = text.copy()
            clipped.truncate(width, overflow="ellipsis", pad=index < len(row) - 1)
            line.append_text(clipped)
            line.append("  " if index < len(row) - 1 else "")
        lines.append(line)
    return lines


def group_line(group: Group, width: int) -> Text:
    """The group's name and counts; a narrow screen omits the least important ones."""
    active = f" ({words.integer(group.active_modems)} active)"
    modems = f"{words.integer(group.modems)} modems"
    flows = f", {words.integer(group.service_flows)} flows"
    pending = f", {words.integer(group.held)} packets pending"
    name = f"  {words.printable(group.name)}"
    variants = (
        f"{name}  {modems}{active}{flows}{pending}",
        f"{name}  {modems}{active}{pending}",
        f"{name}  {modems}{pending}",
        f"  {modems}{pending}",
    )
    line = Text(f"service group {group.id}", style="bold")
    fitting = (text for text in variants if line.cell_len + Text(text).cell_len <= width)
    return line.append(next(fitting, variants[-1]), style="not bold")


def queue_lines(group: Group, width: int, *, blocks: bool) -> list[Text]:
    """Delays, and channels of the downstream, side by side if the screen is wide."""
    if width < BOTH:
        return [*delay_lines(group), *channel_lines(group, Area(width, blocks))]
    half = Area((width - 2) // 2, blocks)
    return side_by_side([delay_lines(group), channel_lines(group, half)], half.width)


def sections(group: Group, ways: Sequence[str], width: int, area: Area) -> list[list[Text]]:
    """The sections stages, drops and queues; the first two with the directions `ways`."""
    parts = [group.directions[way] for way in ways]
    return [
        side_by_side([stage_lines(part, area) for part in parts], area.width),
        side_by_side([drops_lines(part, area) for part in parts], area.width),
        queue_lines(group, width, blocks=area.blocks),
    ]


def area_of(group: Group, ways: Sequence[str], width: int, *, blocks: bool) -> Area:
    """The part of a screen `width` columns wide for each of the directions `ways`."""
    names = [len(stage.name) for way in ways for stage in group.directions[way].stages]
    each = (width - 2 * (len(ways) - 1)) // max(1, len(ways))
    return Area(each, blocks, min(max(names, default=0), LONGEST_NAME))


def lines(group: Group, view: View, width: int, height: int, *, blocks: bool) -> list[Text]:
    """The lines of the screen: the selected section first, then others as far as they fit."""
    shown = [way for way in DIRECTIONS if way in group.directions]
    if width < BOTH or not shown:
        shown = shown[view.direction % len(shown) :][:1] if shown else []
    area = area_of(group, shown, width, blocks=blocks)
    whole = [group_line(group, width)] if height >= FEWEST else []
    if height >= FEWEST + 3:
        whole += side_by_side([rate_lines(group, way) for way in shown], area.width)
    made = sections(group, shown, width, area)
    ordered = made[view.section :] + made[: view.section]
    first = ordered[0]
    ordered[0] = [*first[:1], *first[1 + min(view.scroll, max(0, len(first) - 2)) :]]
    for index, section in enumerate(ordered):
        left = height - len(whole)
        if index and left < FEWEST:
            break
        blank = [Text()] if index and height >= TALL else []
        whole += [*blank, *section][:left]
    return whole[:height]
