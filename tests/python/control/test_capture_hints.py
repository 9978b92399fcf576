# SPDX-License-Identifier: BSD-3-Clause
"""Hints of `vcmts capture` while nothing matches, and the examples in its help."""

import re
import shlex
from argparse import ArgumentParser

import pytest
import yaml

from vcmts.capture import command, waiting
from vcmts.impairments import kinds
from vcmts.paths import CHECKOUT, TOOL
from vcmts.profile.numbers import Numbers

ENTRY = re.compile(r'^REFUSED\(\w+, "(\w+)", "(\w+)"', re.MULTILINE)


def hints(*options: str) -> list[str]:
    parser = ArgumentParser()
    command.add_arguments(parser)
    given = parser.parse_args(options)
    return waiting.text(given, command.split_names(given.dropped or [])).split("\n  ")


def test_reasons_that_a_run_provokes_are_those_of_the_traffic_program() -> None:
    folder = CHECKOUT / "traffic" / "refused"
    texts = [(folder / f"{way}.def").read_text() for way in ("downstream", "upstream")]
    pairs = [pair for text in texts for pair in ENTRY.findall(text)]
    assert {name for pair in pairs for name in pair} == set(waiting.SENT)


def test_provoking_impairments_exist_and_all_reasons_are_known() -> None:
    assert set(waiting.IMPAIRED.values()) <= kinds().keys()
    assert {*waiting.IMPAIRED, *waiting.SENT} <= waiting.meanings().keys()


@pytest.mark.parametrize(
    "options, expected",
    [
        (["--dropped"], [f"`{TOOL} run` sends some packets that must be dropped (--refuse-every)"]),
        (["--stage", "frame"], [f"`{TOOL} top` shows the traffic"]),
        (["--modem", "02:01:00:00:00:01"], [f"`{TOOL} top` shows the traffic"]),
        (["--flow", "7"], [f"`{TOOL} telemetry flow 7` shows"]),
        (
            ["--dropped", "psp_late,runt"],
            [
                "psp_late: a PSP sequence number",
                "runt: shorter",
                f"`{TOOL} run --impair psp-late=1%`",
            ],
        ),
    ],
)
def test_hints_fit_the_request(options: list[str], expected: list[str]) -> None:
    first, *lines = hints(*options)
    assert first.startswith("nothing has matched yet")
    assert lines[-len(expected) :] == [
        next(line for line in lines if line.startswith(start)) for start in expected
    ]


def test_hint_to_deny_packets_is_a_command_with_a_filter_group() -> None:
    [_, line] = "\n".join(hints("--dropped", "filter_deny")).split("to deny packets: ")
    tool, method, name, group, filter_group = shlex.split(line.replace("\\\n", " "))
    assert (tool, method, name, group) == (TOOL, "control", "filter_group.set", "group=1")
    assert yaml.safe_load(filter_group.partition("=")[2])["rules"][0]["action"] == "deny"


def test_modem_in_the_help_is_the_first_of_every_configuration() -> None:
    [mac] = re.findall(r"--modem (\S+)", command.EPILOG)
    example = yaml.safe_load((CHECKOUT / "config" / "example.yaml").read_text())
    assert example["modems"][0]["mac"] == mac
    assert Numbers(1).modem_mac(1) == mac
