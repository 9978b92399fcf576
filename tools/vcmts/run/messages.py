# SPDX-License-Identifier: BSD-3-Clause
"""The messages of a run: what it does, and those of its programs that help."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from threading import Thread
from typing import IO

from vcmts.jsons import Json
from vcmts.paths import TOOL
from vcmts.run import checks, groups
from vcmts.terminal import wrapped

# Messages of both programs that say what every run does; --verbose shows them.
ORDINARY = re.compile(
    r"vcmtsd: (control socket |serving service group|port [\w-]+: net_memif\d+: link (up|down))"
)
# Only worth a hint if the machine is too slow.
ORDINARY_PAGES = re.compile(r"vcmts(d|-traffic): fewer than \d+ MB of huge pages are free")
WAYS = {"downstream": "to", "upstream": "from"}
UNIT = r"(?<=\d)(?=[a-z])"  # between a number and its unit


@dataclass
class Messages:
    """The messages of both programs, without ordinary ones."""

    file: IO[bytes] | None  # for their stderr; None: that of the tool
    ordinary_pages: bool = False  # a program said that huge pages are missing

    def forward(self, lines: IO[str]) -> None:
        """Prints each line to stderr in one write, but ordinary ones."""
        for line in lines:
            if ORDINARY_PAGES.match(line):
                self.ordinary_pages = True
            elif not ORDINARY.match(line):
                sys.stderr.write(wrapped(line, sys.stderr))
                sys.stderr.flush()


@contextmanager
def filtered(*, verbose: bool) -> Iterator[Messages]:
    """The messages of programs that end in the context. With `verbose` they are not filtered."""
    if verbose:
        yield Messages(None)
        return
    reading, writing = os.pipe()
    lines = TextIOWrapper(os.fdopen(reading, "rb"), encoding="utf-8", errors="replace")
    with os.fdopen(writing, "wb") as file:
        messages = Messages(file)
        reader = Thread(target=messages.forward, args=(lines,))
        reader.start()
        try:
            yield messages
        finally:
            file.close()
            reader.join()


def first_message(facts: Json, duration: str, directions: list[str], seed: int) -> str:
    """What the run does, in one sentence."""
    served = groups.group_facts(facts)
    modems = sum(int(group["modems"]) for group in served)
    ways = " and ".join(WAYS[direction] for direction in directions)
    of = f" of {len(served)} service groups" if len(served) > 1 else ""
    return (
        f"sends packets {ways} {modems:,} simulated cable modem{'' if modems == 1 else 's'}{of} "
        f"through vcmtsd for {re.sub(UNIT, ' ', duration)}, decrypts and compares each one "
        f"({len(checks.CHECKS)} checks, seed {seed})"
    )


def live_hint(which: str) -> str:
    return f"`{TOOL} top {which}` in another terminal shows the run live"
