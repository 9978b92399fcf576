# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts shell`: one line from its arguments, the lines of standard input, or a prompt.

Exit status: 0 if done, 1 if refused or vcmtsd has ended, 2 for wrong arguments. A prompt goes on
after an error and ends with 0.
"""

import argparse
import functools
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from vcmts import options
from vcmts.control.client import WRONG_PARAMS, ClosedError, RefusedError
from vcmts.control.sockets import select_socket
from vcmts.output import is_stdout, replace_file
from vcmts.paths import TOOL, MistakeError, missing_package, notify
from vcmts.shell import completion
from vcmts.shell.session import EndError, Session, described, start
from vcmts.shell.words import split
from vcmts.terminal import print_wrapped

EPILOG = f"""examples:
  {TOOL} shell                          a prompt; Tab completes, `help` lists commands
  {TOOL} shell show modems
  {TOOL} shell show flow 12
  {TOOL} shell set modem 02:01:00:00:00:01 cpe_limit=4
  {TOOL} shell < changes.txt            a command per line; the first error ends it
"""
MORE = "... "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "words",
        metavar="WORD",
        nargs="*",
        help="a command (default: commands of standard input, with a prompt at a terminal)",
    )
    options.add_server(parser)
    options.add_json(parser, "answers, one per line,")


def json_writer(path: str | None) -> Callable[[str], None] | None:
    """Writes lines to the file of --json, or to standard output for `-`; None without --json."""
    lines: list[str] = []

    def write(line: str) -> None:
        lines.append(line)
        shown = [line] if is_stdout(path) else lines
        replace_file(str(path), "\n".join([*shown, ""]))

    return None if path is None else write


def status_of(error: Exception) -> int:
    wrong = isinstance(error, MistakeError)
    wrong |= isinstance(error, RefusedError) and error.code in WRONG_PARAMS
    return 2 if wrong else 1


def run_line(session: Session, words: tuple[str, ...], where: str = "") -> int:
    """Prints what a line answers. Returns its exit status; `where` begins the error message."""
    try:
        for line in session.run(words):
            print_wrapped(line)
    except (MistakeError, RefusedError, ClosedError) as error:
        notify(f"{where}{error}")
        return status_of(error)
    except ConnectionError as error:
        notify(f"{where}vcmtsd ended the connection: {error.strerror}")
        return 1
    return 0


def read_whole(read: Callable[[str], str], prompt: str) -> tuple[str, ...]:
    """The words of a line; one with an open bracket or quote goes on in the next."""
    text = read(prompt)
    while split(text).is_open:
        text += f" {read(MORE)}"
    return split(text).words


def run_script(session: Session, lines: Iterable[str]) -> int:
    """Runs lines until one fails. The lines after it do not run."""
    text, begin = "", 1
    for number, line in enumerate(lines, 1):
        text += line
        parts = split(text)
        if parts.is_open:
            continue
        try:
            status = run_line(session, parts.words, f"line {begin}: ")
        except EndError:
            return 0
        if status:
            notify(f"line {begin} failed: no line after it was run")
            return status
        text, begin = "", number + 1
    if text:
        notify(f"line {begin}: a bracket or quote is not closed")
    return 2 if text else 0


def reader(session: Session) -> Callable[[str], str]:
    """Reads lines at the terminal; without completion and history if prompt_toolkit is missing."""
    values = session.values()

    def candidates(text: str) -> list[completion.Candidate]:
        def values_of(name: str, noun: str) -> list[str]:
            return values.of(name, noun, session.group)

        return completion.candidates(session.known, text, values_of)

    try:
        prompt = importlib.import_module("vcmts.shell.prompt")
    except ModuleNotFoundError as error:
        name = str(error.name)
        notify(f"no completion and no history: {missing_package(name, 'run')}")
        return input
    read: Callable[[str], str] = prompt.reader(candidates)
    return read


def greeting(session: Session) -> Iterator[str]:
    yield "Tab completes, `help` lists commands, Ctrl-D ends."
    groups = [str(one["id"]) for one in session.ask("group.list", {})["groups"]]
    if len(groups) > 1:
        yield f"Service groups {', '.join(groups)}: `group {groups[0]}` selects one."


def talk(session: Session) -> int:
    """Reads and runs lines at the terminal until the user ends."""
    print(*greeting(session), sep="\n")
    read = reader(session)
    while True:
        words: tuple[str, ...] = ()
        try:
            words = read_whole(read, prompt_text(session))
            run_line(session, words)
        except KeyboardInterrupt:
            print("stopped waiting; vcmtsd completes a change that it has begun" if words else "")
        except (EOFError, EndError):
            return 0


def prompt_text(session: Session) -> str:
    return "vcmts> " if session.group is None else f"vcmts group {session.group}> "


def session_for(words: Sequence[str], arguments: argparse.Namespace) -> Session:
    choose = functools.partial(select_socket, arguments.pid, arguments.socket)
    try:
        return start(choose, json_writer(arguments.json))
    except MistakeError:
        if words[:1] == ("help",):
            return described(choose)
        raise


def main(arguments: argparse.Namespace) -> int:
    words = tuple(arguments.words)
    if len(words) == 1:
        words = split(words[0]).words
    session = session_for(words, arguments)
    if not words:
        return talk(session) if sys.stdin.isatty() else run_script(session, sys.stdin)
    try:
        return run_line(session, words)
    except EndError:
        return 0
