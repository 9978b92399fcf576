# SPDX-License-Identifier: BSD-3-Clause
"""Does what a line of the shell says."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vcmts.control.client import Client, ClosedError, RefusedError, connected
from vcmts.control.show import answer_lines
from vcmts.jsons import Json
from vcmts.paths import MistakeError, program
from vcmts.shell import help as help_texts
from vcmts.shell.arguments import parse
from vcmts.shell.grammar import Method, find, matching, methods, resolve
from vcmts.shell.live import Values, find_sources

DISCOVER = "rpc.discover"
EVENTS = "events.subscribe"
ASK_TIMEOUT = 1  # seconds to wait for values to complete
OWN = ("help", "group", "quit", "exit")  # commands of the shell itself


class EndError(Exception):
    """The line ends the shell."""


@dataclass
class Session:
    """A connection to vcmtsd for each line, as vcmtsd disconnects idle clients if it has many."""

    choose: Callable[[], Path]  # the control socket; raises MistakeError if there is none
    path: Path  # the socket that answered last
    known: Sequence[Method]
    json_out: Callable[[str], None] | None = None  # gets answers as JSON, instead of run()
    group: int | None = None  # of commands that do not name one

    def connect(self) -> Client:
        """Connects to vcmtsd, or to the one that runs instead of it. Raises MistakeError."""
        try:
            return connected(self.path)
        except MistakeError:
            self.path = self.choose()
            return connected(self.path)

    def run(self, words: Sequence[str]) -> Iterator[str]:
        """Yields the lines to print. Raises EndError, MistakeError, RefusedError, ClosedError."""
        if not words:
            return
        is_verb = any(m.words[0].startswith(words[0]) for m in self.known)
        own = [] if is_verb else matching(words[0], OWN)
        if words[-1] == "?":
            yield from self.help(words[:-1])
        elif own:
            yield from self.run_own(own[0], words[1:])
        else:
            method, rest = find(self.known, words)
            yield from self.call(method, parse(method, rest, self.group))

    def run_own(self, word: str, rest: Sequence[str]) -> Iterator[str]:
        if word == "help":
            yield from self.help(rest)
        elif word != "group":
            raise EndError
        else:
            self.select(rest)

    def help(self, words: Sequence[str]) -> Iterator[str]:
        if not words or words[0] in OWN:
            yield from help_texts.overview(self.known)
            return
        named = [m for m in self.known if m.name == words[0]]
        full = tuple(resolve(self.known, words)[0])
        found = named or [m for m in self.known if m.words == full]
        if found:
            yield from help_texts.description(found[0])
        else:
            begun = [m for m in self.known if m.words[: len(full)] == full]
            yield from help_texts.commands(begun)

    def select(self, words: Sequence[str]) -> None:
        """Selects a service group."""
        if not words:
            self.group = None
            return
        groups = [str(one["id"]) for one in self.ask("group.list", {})["groups"]]
        if len(words) > 1 or words[0] not in groups:
            raise MistakeError(f"group: no group {' '.join(words)}; there are {', '.join(groups)}")
        self.group = int(words[0])

    def call(self, method: Method, params: Json) -> Iterator[str]:
        with self.connect() as client:
            answer = client.call(method.name, **params)
            if method.name == EVENTS:
                yield json.dumps(answer)
                yield from map(json.dumps, client.events())
            for part in more_pages(client.call, method, params, answer):
                add_lists(answer, part)
        yield from self.shown(answer)

    def shown(self, answer: Json) -> Iterator[str]:
        if self.json_out is not None:
            self.json_out(json.dumps(answer))
        elif answer.keys() == {"done", "generation"}:
            yield str(answer["done"])
        elif "samples" in answer:
            yield from map(sample_line, answer["samples"])
        else:
            yield from answer_lines(answer, columns())

    def ask(self, method: str, params: Json) -> Any:
        with self.connect() as client:
            return client.call(method, **params)

    def try_ask(self, method: str, params: Json) -> Any:
        """The answer for completion; None if there is none in time."""
        try:
            with Client(self.path, ASK_TIMEOUT) as client:
                return client.call(method, **params)
        except (OSError, RefusedError, ClosedError, ValueError):
            return None

    def values(self) -> Values:
        return Values(find_sources(self.known), self.try_ask)


def columns() -> int | None:
    """The width of the terminal; None if standard output is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def sample_line(sample: Json) -> str:
    """A sample of a metric as Prometheus writes it."""
    labels = ",".join(f'{name}="{value}"' for name, value in sample["labels"].items())
    return f"{sample['name']}{{{labels}}} {sample['value']}"


def more_pages(
    call: Callable[..., Json], method: Method, params: Json, answer: Json
) -> Iterator[Json]:
    """The further parts of an answer that has limits, unless the line sets them."""
    if params.keys() & {"first", "count"} or "first" not in method.params:
        return
    first, following = -1, answer.get("next")
    while following is not None and following > first:
        first = following
        part = call(method.name, **params | {"first": first})
        following = part.get("next")
        yield part


def add_lists(answer: Json, part: Json) -> None:
    answer.pop("next", None)
    for key, value in part.items():
        if isinstance(value, list):
            answer[key] += value


def start(choose: Callable[[], Path], json_out: Callable[[str], None] | None = None) -> Session:
    """A session with the commands that this vcmtsd has. Raises MistakeError without vcmtsd."""
    path = choose()
    with connected(path) as client:
        return Session(choose, path, methods(client.call(DISCOVER)), json_out)


def described(choose: Callable[[], Path]) -> Session:
    """A session with the commands of the installed vcmtsd, for `help` while none runs."""
    printed = subprocess.check_output([program("vcmtsd"), "describe", "--rpc"], text=True)
    return Session(choose, Path(), methods(json.loads(printed)))
