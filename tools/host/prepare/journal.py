# SPDX-License-Identifier: BSD-3-Clause
"""What was changed and what was there before: a line of JSON each, on the disk before the change.

Lines are only ever added. One that a crash left unfinished is the last and counts as not written:
what it would have told of was not begun.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from host.prepare.system import System, synced
from vcmts.jsons import Json
from vcmts.paths import MistakeError
from vcmts.system.files import Files

FOLDER = "var/lib/vcmts-host"
PLACE = f"{FOLDER}/journal"
SCHEMA = 1
MOST_BYTES = 16 << 20
BEGUN, DONE, UNDONE = "begun", "done", "undone"


@dataclass
class Entry:
    number: int
    step: Json
    before: Any
    made: list[str]  # folders
    later: bool = False  # it is made at the next start, by the service
    done: bool = False
    undone: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.step["kind"], self.step["target"]


@dataclass
class Journal:
    system: System
    plan: str = ""  # digest of the plan that was applied; "": none was
    entries: list[Entry] = field(default_factory=list)
    handle: int = -1

    def entry(self, key: tuple[str, str]) -> Entry | None:
        return next((e for e in self.entries if e.key == key and not e.undone), None)

    def open_entries(self) -> list[Entry]:
        return [entry for entry in self.entries if not entry.undone]

    def write(self, record: Json) -> None:
        line = json.dumps(record, separators=(",", ":")) + "\n"
        self.system.append(self.handle, line.encode())

    def began(self, step: Json, before: Any, made: list[str], *, later: bool = False) -> Entry:
        entry = Entry(len(self.entries), step, before, made, later)
        record = {"event": BEGUN, "step": step, "before": before, "made": made, "later": later}
        self.write(record)
        self.entries.append(entry)
        return entry

    def finished(self, entry: Entry) -> None:
        self.write({"event": DONE, "number": entry.number})
        entry.done = True

    def took_back(self, entry: Entry) -> None:
        self.write({"event": UNDONE, "number": entry.number})
        entry.undone = True


def wrong(line: int, why: str) -> MistakeError:
    return MistakeError(f"/{PLACE}: line {line}: {why}; it is not what was written there")


def is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_step(value: Any) -> bool:
    texts = isinstance(value, dict) and all(
        isinstance(value.get(key), str) for key in ("kind", "target")
    )
    return texts and ".." not in value["target"].split("/") and "wanted" in value


def take(journal: Journal, line: int, record: Json) -> None:
    """A line that was written before."""
    event = record.get("event")
    if line == 1:
        if record.get("schema") != SCHEMA or not isinstance(record.get("plan"), str):
            raise wrong(line, f"schema: found {record.get('schema')!r}, allowed: {SCHEMA}")
        journal.plan = record["plan"]
    elif event == BEGUN:
        if not is_step(record.get("step")) or not is_texts(record.get("made")):
            raise wrong(line, "no step")
        later = record.get("later", False) is True
        entry = Entry(len(journal.entries), record["step"], record.get("before"), record["made"])
        journal.entries.append(replace(entry, later=later))
    elif event in (DONE, UNDONE):
        which = record.get("number")
        if type(which) is not int or not 0 <= which < len(journal.entries):
            raise wrong(line, f"number: found {which!r}, and there is no such step")
        setattr(journal.entries[which], event, True)
    else:
        raise wrong(line, f"event: found {event!r}")


def content(system: System) -> bytes:
    """Of the file, as far as lines are whole."""
    path = system.path(PLACE)
    if not path.exists():
        return b""
    if path.stat().st_size > MOST_BYTES:
        raise MistakeError(f"/{PLACE}: larger than {MOST_BYTES >> 20} MB")
    data = path.read_bytes()
    return data[: data.rfind(b"\n") + 1]


def read(system: System) -> Journal:
    """For who looks on; a journal without a line is none."""
    journal = Journal(system)
    for number, line in enumerate(content(system).splitlines(), 1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise wrong(number, "no JSON") from error
        if not isinstance(record, dict):
            raise wrong(number, "no object")
        take(journal, number, record)
    return journal


def applied(files: Files) -> frozenset[tuple[str, str]]:
    """Kind and target of what the preparation that is applied changed, as far as we may read it."""
    try:
        return frozenset(entry.key for entry in read(System(files)).open_entries())
    except PermissionError:
        return frozenset()


def made_cards(files: Files) -> frozenset[str]:
    """Cards whose functions are of the preparation that is applied."""
    return frozenset(target for kind, target in applied(files) if kind == "functions")


@contextmanager
def opened(system: System, plan: str = "") -> Iterator[Journal]:
    """To be written to, by one at a time. A new one is of that plan, where one is given."""
    system.make_folder(FOLDER)
    path = system.path(PLACE)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise MistakeError(f"/{PLACE}: another `vcmts host` is at work; wait for it") from error
        os.ftruncate(handle, len(content(system)))
        journal = read(system)
        if plan and journal.plan != plan and not journal.open_entries():
            os.ftruncate(handle, 0)  # of one that was refused, or is taken back
            journal = Journal(system)
        journal.handle = handle
        if plan and not journal.plan:
            journal.write({"schema": SCHEMA, "plan": plan})
            synced(path.parent)
            journal.plan = plan
        yield journal
    finally:
        os.close(handle)


def removed(journal: Journal) -> None:
    """When nothing is left of what it tells."""
    journal.system.remove(PLACE)
    journal.system.remove_folder(FOLDER)
