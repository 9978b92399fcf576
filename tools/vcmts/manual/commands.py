# SPDX-License-Identifier: BSD-3-Clause
"""Reads the commands and options of a program from its argument parser or from its --help."""

import argparse
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace

HELP = ("-?", "-h", "--help", "--usage")  # common to all commands
USAGE = re.compile(r"Usage: ([\w-]+(?: \w+)?)(.*)")
OPTION = re.compile(r" {2,}((?:-\S(?:, )?)?(?:--[\w-]+)?(?:(\[?=\S+))?) {2,}(\S.*)")
NOTE = re.compile(r"Mandatory or optional arguments to long options")
WIDTH = 78  # of what is shown as it is
WORD = re.compile(r" {2}(\S+) {2,}(\S.*)")


@dataclass(frozen=True)
class Option:
    names: tuple[str, ...]  # empty: positional argument
    value: str  # placeholder of the value; "": no value
    text: str
    choices: tuple[str, ...] = ()

    @property
    def joint(self) -> str:
        """What joins the value to the last name."""
        if not self.names or not self.value:
            return ""
        return "=" if self.names[-1].startswith("--") else " "

    @property
    def unnamed_choices(self) -> tuple[str, ...]:
        """All choices, unless the text names each."""
        return () if all(choice in self.text for choice in self.choices) else self.choices

    @property
    def takes_file(self) -> bool:
        return self.value.strip("[].").partition(" ")[0] in ("FILE", "PATH", "PCAP", "DIR")


@dataclass(frozen=True)
class Group:
    title: str  # "": none
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Command:
    name: str  # full name such as `vcmts bench pipeline`
    text: str
    groups: tuple[Group, ...] = ()
    end: str = ""  # lines that are shown as they are
    parts: tuple["Command", ...] = ()

    @property
    def options(self) -> Iterator[Option]:
        for group in self.groups:
            yield from group.options


def every(command: Command) -> Iterator[Command]:
    yield command
    for part in command.parts:
        yield from every(part)


def value_name(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    word = action.metavar or action.dest.upper()
    text = word if isinstance(word, str) else " ".join(word)
    many = {"?": f"[{text}]", "*": f"[{text}...]", "+": f"{text}..."}
    return many.get(str(action.nargs), text)


def option_of(parser: argparse.ArgumentParser, action: argparse.Action) -> Option:
    formatter = parser._get_formatter()
    text = formatter._expand_help(action) if action.help else ""
    choices = tuple(str(choice) for choice in action.choices or ())
    return Option(tuple(action.option_strings), value_name(action), " ".join(text.split()), choices)


def described(command: Command, about: str) -> Command:
    """Gives a command without a text the words beside its name in the list of commands."""
    return replace(command, text=command.text or f"{about[:1].upper()}{about[1:]}.")


def parse_subparsers(
    action: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> list[Command]:
    """The commands of a parser, in its order."""
    about = {choice.dest: str(choice.help) for choice in action._choices_actions}
    return [described(parse_parser(part), about[name]) for name, part in action.choices.items()]


def parse_parser(parser: argparse.ArgumentParser) -> Command:
    groups, parts = [], []
    for group in parser._action_groups:
        options = []
        for action in group._group_actions:
            if isinstance(action, argparse._SubParsersAction):
                parts += parse_subparsers(action)
            elif action.help != argparse.SUPPRESS and "--help" not in action.option_strings:
                options.append(option_of(parser, action))
        usual = group.title in ("positional arguments", "options")
        if options:
            groups.append(Group("" if usual else group.title or "", tuple(options)))
    text = " ".join((parser.description or "").split())
    return Command(parser.prog, text, tuple(groups), parser.epilog or "", tuple(parts))


def notes_after_options(groups: list[Group], line: str) -> list[str]:
    """Formats a line after the options: an item of a list, or a sentence."""
    row = WORD.fullmatch(line)
    if row is None:
        return ["", *textwrap.wrap(line.strip(), WIDTH)]
    title = groups.pop().title if not groups[-1].options else ""
    return [*([f"{title}:"] if title else []), f"  {row[1]:21} {row[2]}"]


def with_option(group: Group, found: re.Match[str]) -> Group:
    """Adds an option to a group, unless it is common to all commands."""
    names = tuple(re.split(r"\[?=", found[1])[0].replace(",", " ").split())
    if set(names) & set(HELP):
        return group
    value = (found[2] or "").replace("=", "", 1)  # "=FILE", or "[=FILE]"
    return replace(group, options=(*group.options, Option(names, value, found[3])))


def parse_help(name: str, printed: str) -> Command:
    """Parses --help of argp without line breaks (ARGP_HELP_FMT)."""
    groups: list[Group] = [Group("", ())]
    text: list[str] = []
    end: list[str] = []
    for line in printed.splitlines():
        option = OPTION.fullmatch(line)
        if USAGE.fullmatch(line) or NOTE.match(line) or not line.strip():
            continue
        if option:
            groups[-1] = with_option(groups[-1], option)
        elif line.startswith(" ") and line.endswith(":"):
            groups.append(Group(line.strip(" :"), ()))
        elif len(groups) == 1 and not groups[0].options and not end:
            text.append(line.strip())
        else:
            end += notes_after_options(groups, line)
    return Command(name, " ".join(text), tuple(g for g in groups if g.options), "\n".join(end))


def parse_command_list(name: str, printed: str, helps: dict[str, str]) -> Command:
    """Parses --help that lists commands. `helps`: the help of each command."""
    parts = []
    for word, about in WORD.findall(printed):
        own = helps[word]
        part = parse_help(f"{name} {word}", own) if own else Command(f"{name} {word}", "")
        parts.append(described(part, about))
    return Command(name, "", parts=tuple(parts))
