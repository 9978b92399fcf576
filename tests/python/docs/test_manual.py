# SPDX-License-Identifier: BSD-3-Clause
"""Tests that manual pages and shell completion have all commands and options."""

import argparse
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from vcmts import cli
from vcmts.docs import commands_page
from vcmts.manual import commands, completion, pages, programs
from vcmts.manual.commands import Command, Group, Option

HELP = """Usage: plane run [OPTION...]
Serves.  Until a signal.

 What it is:
  -c, --config=FILE                                         service group, YAML
      --idle[=KIND]                                         poll, `spin` or sleep
  -C, --no-cycles                                           do not measure

 Kinds of --impair:
  clear                                                     in the clear
  -?, --help                                                Give this help list
      --usage                                               Give a short usage message

Mandatory or optional arguments to long options are also mandatory or so.
Exit status: 0 when all is well.
"""


@cache
def tool() -> Command:
    return programs.tool()


def test_help_output_is_parsed() -> None:
    read = commands.parse_help("plane run", HELP)
    assert read.text == "Serves.  Until a signal."
    assert [group.title for group in read.groups] == ["What it is"]
    config, _, cycles = read.groups[0].options
    assert config == Option(("-c", "--config"), "FILE", "service group, YAML")
    assert config.takes_file and not cycles.takes_file
    assert cycles == Option(("-C", "--no-cycles"), "", "do not measure")
    assert read.end.splitlines() == [
        "Kinds of --impair:",
        "  clear                 in the clear",
        "",
        "Exit status: 0 when all is well.",
    ]


def test_argument_parser_is_read() -> None:
    parser = argparse.ArgumentParser(prog="tool", description="Does  it.")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("more", nargs="*", choices=("a", "b"))
    parser.add_argument("--count", type=int, default=3, help="how often (default: %(default)s)")
    parser.add_argument("--secret", help=argparse.SUPPRESS)
    read = commands.parse_parser(parser)
    assert read.text == "Does it."
    file, more, count = read.options
    assert file == Option((), "FILE", "")
    assert more == Option((), "[MORE...]", "", ("a", "b"))
    assert count == Option(("--count",), "COUNT", "how often (default: 3)")


def test_commands_of_a_parser_have_texts() -> None:
    parser = argparse.ArgumentParser(prog="tool")
    parts = parser.add_subparsers()
    parts.add_parser("one", help="do one thing")
    parts.add_parser("two", help="do two", description="Does two things.")
    texts = [part.text for part in commands.parse_parser(parser).parts]
    assert texts == ["Do one thing.", "Does two things."]


def test_pages_have_all_options() -> None:
    for part in tool().parts:
        page = pages.page(part, "about", "1.0", ["vcmts(1)"])
        for command in commands.every(part):
            for option in command.options:
                assert pages.tag(option) in page.splitlines()
        parser = cli.make_parser([part.name.split()[1]])
        assert parser.prog == "vcmts"
    assert {part.name for part in tool().parts} == {f"vcmts {name}" for name in cli.COMMANDS}


def test_roff_syntax_is_escaped() -> None:
    option = Option(("--x",), "A", ".so /etc/passwd \\fB `it`")
    page = pages.page(Command("t", "'tis", (Group("", (option,)),), end=".ex"), "a", "1", [])
    assert "\\&.so /etc/passwd \\efB \\fBit\\fR" in page
    assert "\n\\&'tis\n" in page and "\n\\&.ex\n" in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_pages_are_rendered_without_warnings() -> None:
    for part in tool().parts:
        page = pages.page(part, "about", "1.0", ["vcmts(1)"])
        command = ["groff", "-man", "-Tutf8", "-ww", "-rLL=100n"]
        done = subprocess.run(command, input=page, text=True, capture_output=True, check=False)
        assert done.stderr == "", part.name
        assert "SYNOPSIS" in re.sub(r".\x08", "", done.stdout)


def complete(tmp_path: Path, *arguments: str) -> list[str]:
    """Returns what bash offers for the last word."""
    script = tmp_path / "vcmts"
    script.write_text(completion.bash(tool()))
    line = 'source "$0"; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _vcmts'
    tell = line + '; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-euc", tell, script, "vcmts", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes(tmp_path: Path) -> None:
    (tmp_path / "sg.yaml").write_text("")
    assert complete(tmp_path, "") == [*cli.COMMANDS]
    assert complete(tmp_path, "ru") == ["run"]
    assert {"--ports", "--policy"} <= {*complete(tmp_path, "run", "--p")}
    assert complete(tmp_path, "run", "--ports", "") == ["shared", "own"]
    assert complete(tmp_path, "run", "--ports", "=", "s") == ["shared"]
    assert complete(tmp_path, "run", "--config", "s") == ["sg.yaml"]
    assert complete(tmp_path, "run", "--rate", "s") == []  # rates have no completion
    assert "pipeline" in complete(tmp_path, "bench", "")
    assert complete(tmp_path, "bench", "pipeline", "--dir") == ["--direction"]
    assert complete(tmp_path, "validate", "s") == ["sg.yaml"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_parse_their_scripts(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    for root in (tool(), Command("one", "", (Group("", (Option(("--a",), "", "it's"),)),))):
        (tmp_path / "script").write_text(completion.SHELLS[shell](root))
        done = subprocess.run(
            [shell, "-n", tmp_path / "script"], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_site_has_all_commands_and_options() -> None:
    lines = commands_page.render({"vcmts": tool()}).splitlines()
    headings = [line for line in lines if line.startswith("##")]
    names = [command.name for command in commands.every(tool())]
    assert headings == [f"{'#' * (len(name.split()) + 1)} {name}" for name in names]
    for command in commands.every(tool()):
        assert command.text or command.name == "vcmts"
        for option in command.options:
            assert any(line.startswith(f"| {commands_page.name_of(option)} |") for line in lines)


def test_markdown_syntax_is_escaped() -> None:
    option = Option(("--x",), "A|B", "<b> *it* `a_b` [1]", ("p", "q"))
    page = commands_page.render({"t": Command("t", "x_y", (Group("", (option,)),), end="<e>")})
    assert r"| `--x=A\|B` | &lt;b&gt; \*it\* `a_b` \[1]: `p`, `q` |" in page.splitlines()
    assert "\nx\\_y\n" in page and "```text\n<e>\n```" in page
