# SPDX-License-Identifier: BSD-3-Clause
"""Generates manual pages in man(7) format for programs and their commands."""

import re
from collections.abc import Iterator, Sequence

from vcmts import cli
from vcmts.manual.commands import Command, Group, Option

OTHERS = {
    "vcmtsd": "OpenVCMTS, the data plane of a DOCSIS 3.1 CMTS",
    "vcmts-traffic": "core network, R-PHY device and cable modems around OpenVCMTS",
}
STATUS = {
    "0": "done: the answer is yes",
    "1": "no, or refused: lost or corrupted packets, a failed measurement, a request that vcmtsd "
    "refuses",
    "2": "a mistake in arguments, configuration or files, or no server; a line on stderr names it",
    "130": "stopped by Ctrl-C; 128 + N by another signal N",
}


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def plain(text: str) -> str:
    """Escapes characters that are special in roff."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text[:1] in (".", "'") else text


def words(text: str) -> str:
    """Formats `code` in bold."""
    parts = re.split(r"`([^`]+)`", text)
    shown = [f"\\fB{plain(p)}\\fR" if index % 2 else plain(p) for index, p in enumerate(parts)]
    return "".join(shown)


def lines(text: str) -> str:
    """Preformatted lines."""
    shown = "\n".join(plain(line) for line in text.strip("\n").splitlines())
    return f".nf\n{shown}\n.fi"


def head(name: str, section: int, about: str, version: str) -> Iterator[str]:
    title = f"OpenVCMTS {version}".strip()
    yield f'.TH {plain(name.upper())} {section} "" "{title}" "OpenVCMTS"'
    yield ".ad l\n.nh"  # no hyphenation, as option names are long
    yield ".SH NAME"
    yield f"{plain(name)} \\- {words(about)}"


def name_of(command: Command) -> str:
    return command.name.replace(" ", "-")


def synopsis(command: Command) -> str:
    shown = [f"\\fB{plain(command.name)}\\fR"]
    if any(option.names for option in command.options):
        shown.append("[\\fIOPTION\\fR]...")
    if command.parts:
        shown.append("\\fICOMMAND\\fR [\\fIOPTION\\fR]...")
    for option in command.options:
        if not option.names:
            shown.append(f"\\fI{plain(option.value)}\\fR")
    return " ".join(shown)


def tag(option: Option) -> str:
    names = ", ".join(f"\\fB{plain(name)}\\fR" for name in option.names)
    value = f"\\fI{plain(option.value)}\\fR" if option.value else ""
    return f"{names}{option.joint}{value}"


def entry(title: str, text: str) -> str:
    return f".TP\n{title}\n{text}"


def options(groups: Sequence[Group]) -> Iterator[str]:
    for group in groups:
        if group.title:
            yield f".SS {plain(sentence(group.title))}"
        for option in group.options:
            text = words(option.text)
            if option.unnamed_choices:
                text += f"{': ' if text else ''}{plain(', '.join(option.unnamed_choices))}"
            yield entry(tag(option), text or plain(option.value))


def part(command: Command) -> Iterator[str]:
    """A section for one of several commands of a page."""
    yield f".SS {plain(command.name)}"
    yield words(command.text)
    yield from options([Group("", group.options) for group in command.groups])


def page(command: Command, about: str, version: str, see: Sequence[str]) -> str:
    """A page. `about`: the description beside the name; `see`: other pages such as
    vcmts.yaml(5)."""
    shown = [*head(name_of(command), 1, about, version), ".SH SYNOPSIS", synopsis(command)]
    shown += [".SH DESCRIPTION", words(command.text or sentence(about) + ".")]
    if command.groups:
        shown += [".SH OPTIONS", *options(command.groups)]
    if command.parts:
        shown.append(".SH COMMANDS")
        for inner in command.parts:
            shown += part(inner)
    if command.end:
        shown += [".SH NOTES", lines(command.end)]
    shown += [".SH EXIT STATUS", *(entry(status, text) for status, text in STATUS.items())]
    shown += [".SH SEE ALSO", ",\n".join(re.sub(r"^([^(]+)", bold, name) for name in see)]
    return "\n".join(shown) + "\n"


def bold(found: re.Match[str]) -> str:
    return f"\\fB{plain(found[0])}\\fR"


def command_page(command: Command, version: str) -> str:
    """The page of a command of the tool, or of a program of OTHERS."""
    about = OTHERS.get(command.name) or cli.COMMANDS[command.name.split()[1]]
    see = [f"{name}(1)" for name in ("vcmts", *OTHERS) if name != command.name]
    return page(command, about, version, [*see, "vcmts.yaml(5)"])


def overview(version: str) -> str:
    """The page vcmts(1), which lists the commands; each has a page of its own."""
    parser = cli.make_parser([])
    shown = [*head("vcmts", 1, "the tool of OpenVCMTS", version)]
    shown += [".SH SYNOPSIS", "\\fBvcmts\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]..."]
    shown += [".SH DESCRIPTION", words(str(parser.description)), ".SH COMMANDS"]
    for name, text in cli.COMMANDS.items():
        title = f"\\fBvcmts\\-{plain(name)}\\fR(1)"
        shown.append(entry(title, words(sentence(text)) + "."))
    shown += [".SH NOTES", lines(str(parser.epilog))]
    shown += [".SH EXIT STATUS", *(entry(status, text) for status, text in STATUS.items())]
    shown += [
        ".SH SEE ALSO",
        "\\fBvcmtsd\\fR(1),\n\\fBvcmts\\-traffic\\fR(1),\n\\fBvcmts.yaml\\fR(5)",
    ]
    return "\n".join(shown) + "\n"
