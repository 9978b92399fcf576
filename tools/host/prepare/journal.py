# SPDX-License-Identifier: BSD-3-Clause
"""The journal of changes to the host. Each line is a JSON record of a step and the state before it.

A record is on disk before its change begins. Records are only appended. A crash can leave an
incomplete last line, which is ignored: its change was not begun.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from host.prepare.system import System, synced
from vcmts import version
from vcmts.jsons import Json
from vcmts.paths import MistakeError
from vcmts.system.files import Files

FOLDER = "var/lib/vcmts-host"
PATH = f"{FOLDER}/journal"
SCHEMA = 1
MAX_BYTES = 16 << 20
BEGUN, DONE, UNDONE = "begun", "done", "undone"


@dataclass
class Entry:
    number: int
    step: Json
    before: Any
    made: list[str]  # folders that the step creates
    later: bool = False  # the service makes the change at the next boot
    done: bool = False
    undone: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.step["kind"], self.step["target"]


@dataclass
class Journal:
    system: System
    plan: str = ""  # digest of the applied plan; "": none is applied
    entries: list[Entry] = field(default_factory=list)
    handle: int = -1

    def entry(self, key: tuple[str, str]) -> Entry | None:
        """The entry of a kind and target that is not undone."""
        return next((e for e in self.entries if e.key == key and not e.undone), None)

    def open_entries(self) -> list[Entry]:
        return [entry for entry in self.entries if not entry.undone]

    def write(self, record: Json) -> None:
        line = json.dumps(record, separators=(",", ":")) + "\n"
        self.system.append(self.handle, line.encode())

    def record_begun(
        self, step: Json, before: Any, made: list[str], *, later: bool = False
    ) -> Entry:
        entry = Entry(len(self.entries), step, before, made, later)
        record = {"event": BEGUN, "step": step, "before": before, "made": made, "later": later}
        self.write(record)
        self.entries.append(entry)
        return entry

    def record_done(self, entry: Entry) -> None:
        self.write({"event": DONE, "number": entry.number})
        entry.done = True

    def record_undone(self, entry: Entry) -> None:
        self.write({"event": UNDONE, "number": entry.number})
        entry.undone = True


def wrong(line: int, why: str) -> MistakeError:
    return MistakeError(f"/{PATH}: line {line}: {why}: the file was edited or is damaged")


def is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_step(value: Any) -> bool:
    texts = isinstance(value, dict) and all(
        isinstance(value.get(key), str) for key in ("kind", "target")
    )
    return texts and ".." not in value["target"].split("/") and "wanted" in value


def check_schema(record: Json) -> None:
    """Raises MistakeError if a newer version wrote the file."""
    schema = record.get("schema")
    if type(schema) is int and schema > SCHEMA:
        writer = record.get("version")
        named = isinstance(writer, str) and re.fullmatch(r"[0-9A-Za-z.~+-]{1,32}", writer)
        raise MistakeError(
            f"/{PATH}: a newer vcmts wrote it, in schema {schema}, and version "
            f"{version.number()} reads {SCHEMA}: use "
            f"{f'version {writer}' if named else 'the version that wrote it'}, also to undo"
        )


def replay(journal: Journal, line: int, record: Json) -> None:
    """Applies a record of the file to the journal in memory."""
    event = record.get("event")
    if line == 1:
        check_schema(record)
        if record.get("schema") != SCHEMA or not isinstance(record.get("plan"), str):
            raise wrong(line, f"schema: found {record.get('schema')!r}, allowed: {SCHEMA}")
        journal.plan = record["plan"]
    elif event == BEGUN:
        if not is_step(record.get("step")) or not is_strings(record.get("made")):
            raise wrong(line, "no step")
        later = record.get("later", False) is True
        entry = Entry(len(journal.entries), record["step"], record.get("before"), record["made"])
        journal.entries.append(replace(entry, later=later))
    elif event in (DONE, UNDONE):
        which = record.get("number")
        if type(which) is not int or not 0 <= which < len(journal.entries):
            raise wrong(line, f"number: found {which!r}, which is no step of the journal")
        setattr(journal.entries[which], event, True)
    else:
        raise wrong(line, f"event: found {event!r}")


def whole_lines(system: System) -> bytes:
    """Reads the file without an incomplete last line."""
    path = system.path(PATH)
    if not path.exists():
        return b""
    if path.stat().st_size > MAX_BYTES:
        raise MistakeError(f"/{PATH}: larger than {MAX_BYTES >> 20} MB")
    data = path.read_bytes()
    return data[: data.rfind(b"\n") + 1]


def read(system: System) -> Journal:
    """Reads the journal without locking it. An empty or missing file is an empty journal."""
    journal = Journal(system)
    for number, line in enumerate(whole_lines(system).splitlines(), 1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise wrong(number, "no JSON") from error
        if not isinstance(record, dict):
            raise wrong(number, "no object")
        replay(journal, number, record)
    return journal


def applied(files: Files) -> frozenset[tuple[str, str]]:
    """Kind and target of each applied step. Empty without permission to read the journal."""
    try:
        return frozenset(entry.key for entry in read(System(files)).open_entries())
    except PermissionError:
        return frozenset()


def created_function_cards(files: Files) -> frozenset[str]:
    """Cards whose virtual functions the applied plan created."""
    return frozenset(target for kind, target in applied(files) if kind == "functions")


@contextmanager
def open_journal(system: System, plan: str = "") -> Iterator[Journal]:
    """Opens and locks the journal for writing. With `plan`, a journal without open entries is
    restarted for that plan."""
    system.make_folder(FOLDER)
    path = system.path(PATH)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise MistakeError(f"/{PATH}: another `vcmts host` is running; wait for it") from error
        os.ftruncate(handle, len(whole_lines(system)))
        journal = read(system)
        if plan and journal.plan != plan and not journal.open_entries():
            os.ftruncate(handle, 0)  # of a plan that was refused or undone
            journal = Journal(system)
        journal.handle = handle
        if plan and not journal.plan:
            journal.write({"schema": SCHEMA, "plan": plan, "version": version.number()})
            synced(path.parent)
            journal.plan = plan
        yield journal
    finally:
        os.close(handle)


def remove(journal: Journal) -> None:
    """Deletes a journal without open entries."""
    journal.system.remove(PATH)
    journal.system.remove_folder(FOLDER)
