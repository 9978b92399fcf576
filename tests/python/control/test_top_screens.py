# SPDX-License-Identifier: BSD-3-Clause
"""Tests the screens of `vcmts top` as text, in several sizes, and the effect of keys."""

import io
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from rich.console import Console

from python.control.top_samples import mac, metrics_get
from vcmts.paths import CHECKOUT
from vcmts.top import model, modems
from vcmts.top.live import request_of
from vcmts.top.model import Figures
from vcmts.top.modems import Flow, Modem
from vcmts.top.samples import Answer, answer_of
from vcmts.top.screens import Scene, Terminal, screen, shown
from vcmts.top.view import SECTIONS, Level, Sort, View, press_key

SIZES = ((80, 24), (200, 50), (40, 10), (10, 3), (1, 1), (71, 7), (120, 4))
HOSTILE = "\x1b[2J\u202e\n\u5e83\u5e83\u5e83"


def answer_at(seconds: float, groups: tuple[int, ...] = (1, 2, 10), **params: Any) -> Answer:
    return answer_of(metrics_get(seconds, groups, params))


@cache
def figures_of(groups: tuple[int, ...]) -> Figures:
    return model.figures(answer_at(100, groups), answer_at(102, groups))


def scene(view: View | None = None, groups: tuple[int, ...] = (1, 2, 10)) -> Scene:
    """A scene of all groups and modems, 102 s after the start."""
    whole = Scene("vcmtsd 4711", 1.0, view or View(), figures=figures_of(groups))
    return replace(whole, modems=modems_and_flows()[0], flows=modems_and_flows()[1])


@cache
def modems_and_flows() -> tuple[tuple[Modem, ...], tuple[Flow, ...]]:
    query: dict[str, Any] = {"group": "2", "modems": True, "modem": mac(2, 3)}
    before, after = answer_at(100, **query), answer_at(102, **query)
    return modems.modems(before, after), modems.flows(before, after, mac(2, 3))


def view_of(level: Level, **more: Any) -> View:
    return View(level, {Level.SERVER: "2", Level.MODEMS: mac(2, 3)}, **more)


def lines_of(
    shown_scene: Scene, width: int = 80, height: int = 24, *, blocks: bool = False
) -> list[str]:
    return [line.plain.rstrip() for line in screen(shown_scene, Terminal(width, height, blocks))]


def text_of(shown_scene: Scene, width: int = 80, height: int = 24) -> str:
    return "\n".join(lines_of(shown_scene, width, height))


SERVER = """\
vcmtsd 4711  up 00:01:42  3 groups  9 modems                           every 1 s
down 10.4 Gbps 1.30M/s, dropped 120/s    up 1.04 Gbps 130k/s, dropped 0/s
                                            downstream                  upstream
   id name     modems   bps pkt/s drop/s    p99 cycles   bps pkt/s drop/s cycles
>   1 group 1       3  800M  100k      0 98.2us  1.20k 80.0M 10.0k      0    780
    2 group 2       3 1.60G  200k     12 98.2us  1.20k  160M 20.0k      0    780
   10 group 10      3 8.00G 1.00M    108 98.2us  1.20k  800M  100k      0    780

  core busy                        paused  >1 ms longest  runs
     1 ###################.  95.0%   2.5%      3  4.20ms  upper MAC
    10 #####...............  25.0%  37.5%      3  4.20ms  lower MAC, upstream

  lost at ports                     total     now
  net_memif0 missed                   510     5/s
"""
GROUP = """\
vcmtsd 4711  up 00:01:42  3 groups  9 modems                           every 1 s
service group 2  group 2  3 modems (2 active), 6 flows, 12 packets pending
downstream  in 1.60 Gbps  200k/s         upstream    in  160 Mbps 20.0k/s
           out 1.60 Gbps  200k/s                    out  160 Mbps 20.0k/s
drops 1.22k (12/s)  queue p99 98.2us     drops 7 (0/s)  delay p99 99.1us
cycles per packet                 1.20k  cycles per packet                   780
receive         #................    10  receive         #................    10
parse           ##...............    20  validate        ###..............    20
known_flows     ###..............    30  uepi            ####.............    30
modem_lookup    #####............    40  reassemble      ######...........    40
"""
MODEM = """\
vcmtsd 4711  up 00:01:42  3 groups  9 modems                           every 1 s
modem 02:00:00:02:00:03  24.0 Mbps 3.00k/s, dropped 2/s, 1 active addresses
     SFID   bps limit pkt/s drop/s waiting bytes ~delay    PIE
>       2 1.60M   any   200      0       5 5.00k 25.0ms   1.5%
       11 8.80M 20.0M 1.10k      9       5 5.00k 4.55ms   1.5%

  dropped                           total     now
  flow_buffer_full                    204     2/s
"""


def check_first_lines(result: list[str], expected: str) -> None:
    lines = expected.splitlines()
    assert result[: len(lines)] == lines


def test_server_screen() -> None:
    result = lines_of(scene())
    check_first_lines(result, SERVER)
    assert result[-1] == "q quit  ? help  enter group  s sort  r reverse  by id"


def test_group_screen() -> None:
    result = lines_of(scene(view_of(Level.GROUP)))
    check_first_lines(result, GROUP)
    assert any(line.startswith("transmit        #################   150") for line in result)


def test_modem_screen() -> None:
    check_first_lines(lines_of(scene(view_of(Level.MODEM))), MODEM)


def test_modems_screen() -> None:
    result = lines_of(scene(view_of(Level.MODEMS)))
    assert result[1].startswith("modems of service group 2  3, downstream")
    assert result[-2] == "" and [line.startswith("> ") for line in result].index(True) == 5
    assert result[5].split()[1:] == [mac(2, 3), "24.0M", "3.00k", "2", "3", "1"]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_screens_have_exactly_the_size(width: int, height: int) -> None:
    """Screens have `height` lines of `width` columns, for all views and missing data."""
    views = [View(), View(help=True), View(paused=True)]
    views += [view_of(level, section=n) for level in Level for n in range(SECTIONS)]
    views += [view_of(Level.GROUP, direction=1, scroll=1000)]
    for view in views:
        whole = scene(view)
        gone = replace(whole, figures=scene(groups=(7,)).figures)
        nothing = Scene("vcmtsd 4711", 1.0, view, trouble="no answer for 5 s")
        empty = replace(whole, figures=scene(groups=()).figures, modems=None, flows=None)
        large = replace(whole, figures=scene(groups=tuple(range(1, 29))).figures)
        for one in (whole, gone, nothing, empty, large):
            lines = screen(one, Terminal(width, height))
            assert len(lines) == height
            assert all(line.cell_len == width for line in lines), (view, width)


def test_small_screens_show_the_chosen_row() -> None:
    below = lines_of(scene(View(chosen={Level.SERVER: "10"})), 10, 3)
    assert below == ["vcmtsd 471", "    2", ">  10"]
    result = lines_of(scene(view_of(Level.GROUP, direction=1)), 40, 10)
    assert result[2] == "upstream    in  160 Mbps 20.0k/s", "only one direction fits"
    trouble = replace(scene(), trouble="no answer for 5 s")
    assert lines_of(trouble, 10, 3)[0] == "no answer"


def test_tall_screens_show_all_sections() -> None:
    result = text_of(scene(view_of(Level.GROUP)), 200, 50)
    for wanted in (
        "cycles per packet, share of a core",
        "filter_deny",
        "psp_late",
        "159",
        "priority 0",
    ):
        assert wanted in result, wanted


def test_tab_moves_section_to_the_top() -> None:
    first = [
        lines_of(scene(view_of(Level.GROUP, section=n)))[5].split()[0] for n in range(SECTIONS)
    ]
    assert first == ["cycles", "drops", "delay"]
    scrolled = lines_of(scene(view_of(Level.GROUP, scroll=3)))
    assert scrolled[5].startswith("cycles") and scrolled[6].startswith("modem_lookup")


def test_unknown_values_are_dashes() -> None:
    once = model.figures(answer_at(100), answer_at(100))
    assert "- -, dropped -" in text_of(replace(scene(), figures=once))
    result = text_of(replace(scene(view_of(Level.GROUP)), figures=once))
    assert "drops 1.20k (-)" in result
    assert "waiting for figures" in text_of(Scene("vcmtsd 1", 1, View()))
    gone = replace(scene(view_of(Level.GROUP)), figures=scene(groups=(1,)).figures)
    assert "service group 2 is not in service" in text_of(gone)
    unknown = replace(scene(view_of(Level.MODEM)), modems=None, flows=None)
    assert "no answer yet" in text_of(unknown)


def printed(shown_scene: Scene, **environment: str) -> str:
    out = io.StringIO()
    console = Console(
        file=out,
        force_terminal=True,
        width=80,
        height=24,
        _environ={"TERM": "xterm", **environment},
    )
    for line in screen(shown_scene, Terminal(80, 24)):
        console.print(line)
    return out.getvalue()


def test_colours_follow_the_environment() -> None:
    assert "\x1b[1;31m" in printed(scene()), "drops are red"
    plain = printed(scene(), NO_COLOR="1")
    assert "31m" not in plain and "> " in plain
    assert "\x1b" not in printed(scene(), TERM="dumb")


def test_control_characters_are_not_printed() -> None:
    whole = metrics_get(100, (2,))
    for sample in whole["samples"]:
        for label in ("name", "runs", "reason", "stage", "port"):
            if label in sample["labels"]:
                sample["labels"][label] = HOSTILE
    figures = model.figures(answer_of(whole), answer_of({**whole, "uptime": 101}))
    for level in Level:
        lines = screen(replace(scene(view_of(level)), figures=figures), Terminal(100, 40))
        assert all(line.plain.isprintable() and line.cell_len == 100 for line in lines)


def changed(changes: dict[str, dict[str, str]]) -> Figures:
    """Figures whose samples have other labels. `changes`: by name of the metric."""
    answers = []
    for seconds in (100, 102):
        whole = metrics_get(seconds, (2,))
        for sample in whole["samples"]:
            sample["labels"] |= changes.get(sample["name"], {})
        answers.append(answer_of(whole))
    return model.figures(*answers)


def test_long_names_stay_whole_in_80_columns() -> None:
    name, runs = "6ofdm-0sc-qam_300cms_aes-2", "upper and lower MAC, upstream"
    changes = {
        "vcmts_service_group_info": {"name": name},
        "vcmts_worker_info": {"runs": runs},
        "vcmts_ethdev_missed_packets_total": {"port": "net_memif0_with_a_name_of_33_letters"},
        "vcmts_stage_cycles_total": {"stage": "transmit_messages"},
    }
    figures = changed(changes)
    server = text_of(replace(scene(), figures=figures))
    assert name not in server and "..cms" not in server, "it does not fit"
    assert name in text_of(replace(scene(), figures=figures), 120)
    assert f"  {runs}\n" in server
    assert "net_memif0_with_a_name_of_33_letters missed    510" in server
    runs += " of groups 1, 2"
    server = text_of(replace(scene(), figures=changed({"vcmts_worker_info": {"runs": runs}})))
    assert "##### " in server and "upper and lower MAC, upstream of 1, 2\n" in server
    group = text_of(replace(scene(view_of(Level.GROUP)), figures=figures))
    assert f"service group 2  {name}  3 modems, 12 packets pending\n" in group
    assert "transmit_messages ###############" in group
    narrow = text_of(replace(scene(view_of(Level.GROUP)), figures=figures), 50)
    assert "service group 2  3 modems, 12 packets pending\n" in narrow


def delay_section(figures: Figures) -> list[str]:
    """The lines of the delays, the left half of the screen."""
    lines = lines_of(replace(scene(view_of(Level.GROUP, section=2)), figures=figures))
    start = next(index for index, line in enumerate(lines) if line.startswith("delay "))
    return [line[:39].rstrip() for line in lines[start : start + 5]]


def test_delays_below_the_first_bound_are_not_invented() -> None:
    answers = []
    for seconds in (100, 102):
        whole = metrics_get(seconds, (2,))
        for sample in whole["samples"]:
            if "delay_seconds_bucket" in sample["name"] and sample["labels"]["priority"] == "0":
                sample["value"] = seconds * 1000  # all in the first bucket
        answers.append(answer_of(whole))
    figures = model.figures(*answers)
    assert figures.groups[0].delay.p99 == figures.groups[0].delay.least == 1e-6
    lines = delay_section(figures)
    assert lines[1] == "priority 0     200k/s    <1us    <1us"
    assert lines[2] == "pipeline up      10/s  55.0us  99.1us", "downstream is not measured"
    assert not any("not measured" in line for line in lines)
    assert "  <1us" in text_of(replace(scene(), figures=figures)).splitlines()[4]
    assert "queue p99 <1us" in text_of(replace(scene(view_of(Level.GROUP)), figures=figures))


def test_unmeasured_figures_say_how_to_measure_them() -> None:
    answers = []
    for seconds in (100, 102):
        whole = metrics_get(seconds, (2,))
        kept = [s for s in whole["samples"] if "pipeline_latency" not in s["name"]]
        for sample in kept:
            if sample["name"] == "vcmts_stage_cycles_total":
                sample["value"] = 5
        answers.append(answer_of({**whole, "samples": kept}))
    figures = model.figures(*answers)
    assert delay_section(figures)[2:] == [
        "pipeline",
        "not measured; to measure it:",
        "vcmts control measure.set latency=true",
    ]
    group = lines_of(replace(scene(view_of(Level.GROUP)), figures=figures))
    assert group[5:8] == [
        "cycles per packet                     -  cycles per packet                     -",
        "not measured; to measure it:             not measured; to measure it:",
        "vcmts control measure.set cycles=true    vcmts control measure.set cycles=true",
    ]


def test_help_fits_the_screen() -> None:
    lines = screen(scene(View(help=True)), Terminal(200, 50))
    assert all(line.plain.rstrip() == line.plain[:80].rstrip() for line in lines[1:])
    assert "~delay" in lines_of(scene(View(help=True)))[-7]


def view_after(keys: str, view: View | None = None) -> View:
    view = view or View()
    for key in keys.split():
        view = press_key(view, key, shown(scene(view)))
    return view


def test_keys_choose_and_open_rows() -> None:
    assert view_after("down").group == "2" and view_after("down down down").group == "10"
    assert view_after("end up").group == "2" and view_after("down home").group == "1"
    view = view_after("down enter enter")
    assert (view.level, view.group) == (Level.MODEMS, "2") and request_of(view).modems
    view = view_after("down down enter", view)
    assert (view.level, view.modem) == (Level.MODEM, mac(2, 3))
    assert request_of(view).modem == mac(2, 3) and request_of(view).group == "2"
    assert view_after("escape", view).level is Level.MODEMS
    assert view_after("escape left backspace escape", view).level is Level.SERVER
    assert view_after("enter", view) == view


def test_chosen_row_stays_when_groups_change() -> None:
    view = view_after("down")
    assert view.group == "2"
    result = lines_of(scene(view, groups=(1, 2)))
    assert next(line for line in result if line.startswith("> ")).split()[1] == "2"
    result = lines_of(scene(view, groups=(3, 4)))
    assert next(line for line in result if line.startswith("> ")).split()[1] == "3"


def chosen_ids(view: View) -> list[str]:
    return list(shown(scene(view)).rows)


def test_rows_are_sorted() -> None:
    by_rate = View(sorts={Level.SERVER: Sort("downstream bps")})
    assert chosen_ids(View()) == ["1", "2", "10"] and chosen_ids(view_after("r")) == [
        "10",
        "2",
        "1",
    ]
    first = view_after("s s s")
    assert first.sort("").key == "down bps" and chosen_ids(first) == ["10", "2", "1"]
    assert chosen_ids(view_after("r", first)) == ["1", "2", "10"]
    assert (
        view_after("S", first).sort("").key == "modems"
        and view_after("S").sort("").key == "up cycles"
    )
    assert chosen_ids(by_rate) == ["1", "2", "10"], "an unknown column does not sort"
    by_drops = view_of(Level.MODEMS, sorts={Level.MODEMS: Sort("drop/s")})
    assert chosen_ids(by_drops) == [mac(2, number) for number in (3, 2, 1)]
    assert "by drop/s" in text_of(scene(by_drops))


def test_keys_for_help_pause_and_sections() -> None:
    assert view_after("q").quit and view_after("p").paused and not view_after("p p").paused
    assert view_after("?").help and not view_after("? ?").help and not view_after("? x").help
    assert not view_after("? escape").help and view_after("? down").group == ""
    assert view_after("tab").section == 1 and view_after("tab tab tab").section == 0
    assert view_after("d").direction == 1 and view_after("x é redraw") == View()
    assert "enter right" in text_of(scene(view_after("?")))
    assert "PAUSED" in text_of(scene(view_after("p")))
    view = view_after("down down down up", view_of(Level.GROUP))
    assert view.scroll == 2 and view.group == "2"


def test_keys_without_rows() -> None:
    view = View()
    for key in ("down", "enter", "s", "r"):
        view = press_key(view, key, shown(Scene("vcmtsd 1", 1, view)))
    assert view == View(sorts=view.sorts)


def test_monitoring_page_shows_the_screen() -> None:
    page = (CHECKOUT / "docs" / "monitoring.md").read_text(encoding="utf-8")
    assert f"```text\n{SERVER}```" in page
