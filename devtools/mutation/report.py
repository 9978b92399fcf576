# SPDX-License-Identifier: BSD-3-Clause
"""What is said of mutants, and what is kept of a run for the next one."""

import json
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from mutation.choose import Room
from mutation.operators import Mutant
from mutation.trial import Record, Verdict


def show(mutant: Mutant) -> str:
    return f"{mutant.file}:{mutant.number} {mutant.function}: {mutant.operator}"


def difference(mutant: Mutant) -> str:
    return f"    - {mutant.line}\n    + {mutant.becomes}"


def quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def stanza(mutant: Mutant) -> str:
    """A survivor as a reason is written down for it."""
    rule = f"# {mutant.rule}\n" if mutant.rule else ""
    return (
        f"# {mutant.file}:{mutant.number} {mutant.operator}\n{rule}"
        f"[[reason.{mutant.function or quote('')}]]\nline = {quote(mutant.line)}\n"
        f'becomes = {quote(mutant.becomes)}\nwhy = ""\n'
    )


class Progress:
    """A line for each mutant, from several threads."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self.lock = threading.Lock()

    def tell(self, verdict: Verdict) -> None:
        with self.lock:
            self.done += 1
            what = verdict.outcome + (" (reason)" if verdict.reason else "")
            by = f" by {verdict.by}" if verdict.by else ""
            head = f"[{self.done:3}/{self.total}] {what:9}"
            print(f"{head} {show(verdict.mutant)}{by}, {verdict.seconds:.1f} s", flush=True)
            if verdict.is_open:
                print(difference(verdict.mutant), flush=True)


def summary(room: str, verdicts: Sequence[Verdict], seconds: float) -> str:
    count = Counter(v.outcome for v in verdicts)
    reasoned = sum(1 for v in verdicts if v.reason)
    without = sum(1 for v in verdicts if v.is_open)
    return (
        f"{room:11}{len(verdicts):4} mutants: {count['killed']} killed, {count['same']} the same "
        f"code, {count['unbuilt']} not built, {reasoned} survived with a reason, "
        f"{without} without; {seconds:.0f} s"
    )


def not_needed(room: Room, verdicts: Sequence[Verdict]) -> list[str]:
    """Reasons for what did not survive: a test has come that sees it."""
    return [
        f"{room.name}.toml: reason not needed, {v.outcome} {v.by}: {show(v.mutant)}"
        for v in verdicts
        if v.outcome != "survived" and room.reason_for(v.mutant) is not None
    ]


def survivors_text(mutants: Iterable[Mutant]) -> str:
    head = "\nSurvived without a reason. A test that sees it, or a reason in ROOM.toml:\n\n"
    text = "\n".join(stanza(mutant) for mutant in mutants)
    return head + text if text else ""


def last_survivors(place: Path) -> list[Mutant]:
    path = place / "survivors.json"
    if not path.exists():
        return []
    return [Mutant(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def keep_survivors(place: Path, room: Room, verdicts: Sequence[Verdict]) -> None:
    """Those that were not tried now stay, where they are still possible."""
    tried = {v.mutant.text for v in verdicts}
    possible = {m.text for m in room.all() + room.chosen()}
    others = [
        m
        for m in last_survivors(place)
        if m.file not in room.texts or (m.text in possible and m.text not in tried)
    ]
    found = others + [v.mutant for v in verdicts if v.is_open]
    text = json.dumps([asdict(mutant) for mutant in found], indent=1)
    (place / "survivors.json").write_text(text + "\n", encoding="utf-8")


def read_record(place: Path) -> Record:
    path = place / "record.json"
    if not path.exists():
        return Record()
    kept = json.loads(path.read_text(encoding="utf-8"))
    kills = {file: Counter(tests) for file, tests in kept["kills"].items()}
    return Record(kept["processor"], kept["wall"], kills)


def keep_record(place: Path, record: Record) -> None:
    text = json.dumps(vars(record), indent=1)
    (place / "record.json").write_text(text + "\n", encoding="utf-8")
