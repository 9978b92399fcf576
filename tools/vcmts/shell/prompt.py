# SPDX-License-Identifier: BSD-3-Clause
"""Reads lines at a terminal: with completion and history if prompt_toolkit is installed."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from vcmts import secret
from vcmts.shell.completion import Candidate
from vcmts.shell.words import split

ABOUT = 60  # characters of the text beside a candidate


class LineCompleter(Completer):
    def __init__(self, candidates: Callable[[str], list[Candidate]]) -> None:
        self.candidates = candidates

    def get_completions(self, document: Document, _event: CompleteEvent) -> Iterator[Completion]:
        text = document.text_before_cursor
        length = len(split(text).last)
        for one in self.candidates(text):
            word = f"{one.text} " if one.ends_word else one.text
            yield Completion(word, -length, display=one.text, display_meta=one.about[:ABOUT])


class SecretFreeHistory(FileHistory):
    """Lines in a file that only the user reads; without lines that may contain a key."""

    def store_string(self, string: str) -> None:
        if secret.hide_keys(string) == string:
            super().store_string(string)


def history_file() -> Path:
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "vcmts" / "shell-history"


def history() -> History:
    """The lines of previous sessions; only those of this one if the file cannot be written."""
    file = history_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.touch(mode=0o600)
        with file.open("ab"):
            return SecretFreeHistory(str(file))
    except (OSError, RuntimeError):
        return InMemoryHistory()


def reader(candidates: Callable[[str], list[Candidate]]) -> Callable[[str], str]:
    """A function that reads a line after a prompt. It raises EOFError at Ctrl-D, and
    KeyboardInterrupt at Ctrl-C."""
    session: PromptSession[str] = PromptSession(
        history=history(),
        completer=LineCompleter(candidates),
        complete_in_thread=True,
        complete_while_typing=False,
        auto_suggest=AutoSuggestFromHistory(),
    )
    return session.prompt
