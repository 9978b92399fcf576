# SPDX-License-Identifier: BSD-3-Clause
"""Generates manual pages in man(7) format for programs and for the configuration file."""

import re
from collections.abc import Iterator, Sequence

from vcmts.docs.configdoc import allowed, default, sentence, shared_keys
from vcmts.docs.manual.commands import Command, Group, Option
from vcmts.jsons import Json

STATUS = {
    "0": "all is well",
    "1": "packets were lost or corrupted, or something failed in service",
    "2": "a mistake in arguments or configuration; a line on stderr names it",
}


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
    yield f'.TH {plain(name.upper())} {section} "" "OpenVCMTS {version}" "OpenVCMTS"'
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


def overview(about: str, commands: dict[str, str], end: str, version: str) -> str:
    """The page vcmts(1), which lists the commands; each has a page of its own."""
    shown = [*head("vcmts", 1, "the tool of OpenVCMTS", version)]
    shown += [".SH SYNOPSIS", "\\fBvcmts\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]..."]
    shown += [".SH DESCRIPTION", words(about), ".SH COMMANDS"]
    for name, text in commands.items():
        title = f"\\fBvcmts\\-{plain(name)}\\fR(1)"
        shown.append(entry(title, words(sentence(text)) + "."))
    shown += [".SH NOTES", lines(end)]
    shown += [".SH EXIT STATUS", *(entry(status, text) for status, text in STATUS.items())]
    shown += [
        ".SH SEE ALSO",
        "\\fBvcmtsd\\fR(1),\n\\fBvcmts\\-traffic\\fR(1),\n\\fBvcmts.yaml\\fR(5)",
    ]
    return "\n".join(shown) + "\n"


def keys(schema: Json, path: str) -> Iterator[str]:
    """A heading and the keys of a map, then those of nested maps."""
    yield f".SS {plain(path) if path else 'Top level of the file'}"
    if path:
        yield f"{words(sentence(schema['description']))}."
    needed = set(schema.get("required", schema.get("else", {}).get("required", ())))
    for name, value in schema["properties"].items():
        if "$ref" in value:  # a key of the top of the file
            continue
        text = f"{sentence(value['description'])}. Allowed: {allowed(value)}."
        text += f" Default: {default(value)}." if default(value) else ""
        text += " Required." if name in needed else ""
        yield entry(f"\\fB{plain(name)}\\fR", words(text))
    if shared_keys(schema):
        yield f".PP\n{words(shared_keys(schema))}"
    for name, value in schema["properties"].items():
        key_path = f"{path}.{name}" if path else name
        if "properties" in value:
            yield from keys(value, key_path)
        elif "properties" in value.get("items", {}):
            yield from keys(value["items"], f"{key_path}[]")


def configuration(schema: Json, example: str, version: str) -> str:
    shown = [*head("vcmts.yaml", 5, "configuration of the OpenVCMTS data plane", version)]
    about = "A YAML file of one service group, or of a server of several. `vcmts profile` writes "
    about += "a published test configuration. `vcmts validate` reports mistakes."
    shown += [".SH DESCRIPTION", words(about), ".SH KEYS", *keys(schema, "")]
    shown += [".SH EXAMPLE", lines(example)]
    shown += [".SH SEE ALSO", "\\fBvcmtsd\\fR(1),\n\\fBvcmts\\-validate\\fR(1)"]
    return "\n".join(shown) + "\n"
