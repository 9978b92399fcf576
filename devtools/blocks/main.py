# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of the pages, in order and each page in a folder of its own, in a terminal."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from blocks import pages, settings, terminal
from blocks.pages import BESIDE, CHECKOUT, SERVING, Command
from blocks.settings import Settings
from blocks.terminal import CTRL_C, Session, Shown

LIMIT_S = 600  # per command
READY_S = 60  # until a server answers
ATTEMPTS = 3  # at a run, if the machine was too busy for it


def make_targets() -> list[Command]:
    words = ["make", "--no-print-directory", "help"]
    done = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    names = re.findall(r"^ +make (\S+)", done.stdout, re.MULTILINE)
    return [Command("make help", "target", f"make {name}") for name in names]


def named_commands(texts: dict[str, str], tested: Sequence[str]) -> list[Command]:
    """The commands of pages that run here: of blocks, then of sentences, then targets of make."""
    blocks, inline = [], []
    for page, text in texts.items():
        if page not in tested:
            blocks += pages.page_commands(page, text)
        if page in pages.FIRST:
            inline += pages.inline_commands(page, text)
    known = {command.text for command in blocks}
    others = {command.text: command for command in (*inline, *make_targets())}
    return blocks + [command for text, command in others.items() if text not in known]


def list_errors(set_up: Settings, texts: dict[str, str], named: list[Command]) -> list[str]:
    found = settings.page_errors(set_up, texts)
    for page, text in texts.items():
        if page not in set_up.pages:
            found += [f"{page}: not run: {line}" for line in pages.unrun_commands(text)]
    ci = (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8")
    return found + settings.command_errors(set_up, named, ci)


def was_kept_from_its_core(shown: Shown) -> bool:
    """Whether a run failed, and its verdict names other processes on its cores."""
    words = " ".join(shown.text.split())
    return (
        shown.status == 1 and re.search(r"FAIL: .* while the system used a core", words) is not None
    )


class Walk:
    """Runs commands and collects their defects."""

    def __init__(self, set_up: Settings, locale: str) -> None:
        self.settings = set_up
        self.ascii_only = locale == "C"
        self.environment = dict(os.environ, TERM="xterm", LC_ALL=locale)
        self.environment.pop("COLUMNS", None)
        self.failed: list[str] = []

    def enter(self, folder: Path) -> None:
        """Prepares the folder of a page: programs as in a checkout, sockets of its own."""
        for name, target in (("vcmts", "vcmts"), ("build", os.environ.get("BUILD", "build"))):
            (folder / name).symlink_to(CHECKOUT / target)
        for name in ("config", "wireshark", "devtools"):
            (folder / name).symlink_to(CHECKOUT / name)
        (folder / "sockets").mkdir()
        self.environment["RUNTIME_DIRECTORY"] = str(folder / "sockets")

    def words_of(self, command: Command) -> str:
        """What runs: the command, or its short replacement."""
        return str(self.settings.commands.get(command.text, {}).get("run", command.text))

    def check(self, command: Command, shown: Shown, seconds: float) -> None:
        entry = self.settings.commands.get(command.text, {})
        defects = []
        if shown.status not in (0, *entry.get("status", [])):
            defects.append(f"status {shown.status}")
        if "Traceback (most recent" in shown.text:
            defects.append("a traceback")
        if "wide" not in entry and not command.text.startswith("make ") and "keys" not in entry:
            defects += [f"wider than the terminal: {line}" for line in shown.wide_lines()[:3]]
        if self.ascii_only:
            defects += [f"not ASCII: {line}" for line in shown.foreign_lines()[:3]]
        print(f"{seconds:6.1f} s  {command.page}: {self.words_of(command)}", flush=True)
        if defects:
            print("\n".join(shown.lines()[-30:]), flush=True)
        self.failed += [f"{command.page}: {command.text}: {text}" for text in defects]

    def attempt(self, command: Command, folder: Path) -> Shown:
        entry = self.settings.commands.get(command.text, {})
        return terminal.run(
            self.words_of(command),
            CHECKOUT if command.text.startswith("make ") else folder,
            self.environment,
            LIMIT_S,
            entry.get("keys", ""),
            entry.get("keys_after_s", 0.0),
        )

    def run(self, command: Command, folder: Path) -> None:
        begin = time.monotonic()
        shown = self.attempt(command, folder)
        for _ in range(ATTEMPTS - 1):
            if not was_kept_from_its_core(shown):
                break
            print(f"again, as the machine was busy: {command.text}", flush=True)
            shown = self.attempt(command, folder)
        self.check(command, shown, time.monotonic() - begin)

    @contextmanager
    def serving(self, command: Command, folder: Path) -> Iterator[None]:
        """Runs a server in a second terminal, from its first answer until Ctrl-C."""
        begin = time.monotonic()
        session = Session(self.words_of(command), folder, self.environment)
        while not session.ended(0.5) and time.monotonic() - begin < READY_S:
            words = ["./vcmts", "control", "server.info"]
            done = subprocess.run(words, cwd=folder, env=self.environment, capture_output=True)
            if done.returncode == 0:
                break
        try:
            yield
        finally:
            if not session.ended(0.0):
                session.type(CTRL_C)
            self.check(command, session.end(READY_S), time.monotonic() - begin)

    def run_page(self, commands: Sequence[Command], folder: Path) -> None:
        """Runs a page. A server runs until the next block that is not beside it."""
        selected = [one for one in commands if self.settings.runs(one.text)]
        at = 0
        while at < len(selected):
            command = selected[at]
            at += 1
            if command.kind != SERVING:
                self.run(command, folder)
                continue
            with self.serving(command, folder):
                while at < len(selected) and selected[at].kind == BESIDE:
                    self.run(selected[at], folder)
                    at += 1


def checkout_status() -> str:
    words = ["git", "status", "--porcelain"]
    done = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    return done.stdout


def arguments_of(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="commands",
        description="Runs the commands of the pages and targets of `make help` in a terminal of "
        "80 columns and 24 lines. devtools/commands.toml has the exceptions.",
    )
    parser.add_argument("page", nargs="*", help="pages such as docs/first-run.md; default: all")
    parser.add_argument("--list", action="store_true", help="check devtools/commands.toml only")
    parser.add_argument("--locale", default="C.UTF-8", help="C: each output must be ASCII")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    arguments = arguments_of(words)
    set_up = settings.read()
    texts = {page: (CHECKOUT / page).read_text(encoding="utf-8") for page in pages.pages()}
    named = named_commands(texts, list(set_up.pages))
    wrong = list_errors(set_up, texts, named)
    print("".join(f"{text}\n" for text in wrong), end="", file=sys.stderr)
    if wrong or arguments.list:
        return 1 if wrong else 0
    before = checkout_status()
    walk = Walk(set_up, arguments.locale)
    for page, commands in groupby(named, key=lambda command: command.page):
        if not arguments.page or page in arguments.page:
            with tempfile.TemporaryDirectory(prefix="vcmts-") as name:
                walk.enter(Path(name))
                walk.run_page(list(commands), Path(name))
    if checkout_status() != before:
        walk.failed.append("a command changed files of the checkout")
    print("".join(f"FAILED: {text}\n" for text in walk.failed), end="")
    return 1 if walk.failed else 0
