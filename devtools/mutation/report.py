# SPDX-License-Identifier: BSD-3-Clause
"""Prints results of mutants, and saves survivors and times of tests for the next run."""

import json
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from mutation.choose import Area
from mutation.operators import Mutant
from mutation.trial import Record, Verdict


def location(mutant: Mutant) -> str:
    return f"{mutant.file}:{mutant.number} {mutant.function}: {mutant.operator}"


def difference(mutant: Mutant) -> str:
    return f"    - {mutant.line}\n    + {mutant.becomes}"


def quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def stanza(mutant: Mutant) -> str:
    """The entry of AREA.toml for a survivor, to be completed with a reason."""
    rule = f"# {mutant.rule}\n" if mutant.rule else ""
    return (
        f"# {mutant.file}:{mutant.number} {mutant.operator}\n{rule}"
        f"[[reason.{mutant.function or quote('')}]]\nline = {quote(mutant.line)}\n"
        f'becomes = {quote(mutant.becomes)}\nwhy = ""\n'
    )


class Progress:
    """Prints a line per mutant. Several threads may use it."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self.lock = threading.Lock()

    def report(self, verdict: Verdict) -> None:
        with self.lock:
            self.done += 1
            outcome = verdict.outcome + (" (reason)" if verdict.reason else "")
            by = f" by {verdict.by}" if verdict.by else ""
            head = f"[{self.done:3}/{self.total}] {outcome:9}"
            print(f"{head} {location(verdict.mutant)}{by}, {verdict.seconds:.1f} s", flush=True)
            if verdict.is_unexplained:
                print(difference(verdict.mutant), flush=True)


def summary(area: str, verdicts: Sequence[Verdict], seconds: float) -> str:
    count = Counter(v.outcome for v in verdicts)
    explained = sum(1 for v in verdicts if v.reason)
    unexplained = sum(1 for v in verdicts if v.is_unexplained)
    return (
        f"{area:11}{len(verdicts):4} mutants: {count['killed']} killed, {count['same']} the same "
        f"code, {count['unbuilt']} not built, {explained} survived with a reason, "
        f"{unexplained} without; {seconds:.0f} s"
    )


def unneeded_reasons(area: Area, verdicts: Sequence[Verdict]) -> list[str]:
    """Messages about reasons of mutants that do not survive, as a test now detects them."""
    return [
        f"{area.name}.toml: reason not needed, {v.outcome} {v.by}: {location(v.mutant)}"
        for v in verdicts
        if v.outcome != "survived" and area.reason_for(v.mutant) is not None
    ]


def survivors_text(mutants: Iterable[Mutant]) -> str:
    head = "\nSurvived without a reason. Add a test that detects it, or a reason to AREA.toml:\n\n"
    text = "\n".join(stanza(mutant) for mutant in mutants)
    return head + text if text else ""


def read_survivors(folder: Path) -> list[Mutant]:
    path = folder / "survivors.json"
    if not path.exists():
        return []
    return [Mutant(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]


def save_survivors(folder: Path, area: Area, verdicts: Sequence[Verdict]) -> None:
    """Saves the survivors, and earlier ones that were not tried and still exist."""
    tried = {v.mutant.text for v in verdicts}
    possible = {m.text for m in area.all() + area.chosen()}
    others = [
        m
        for m in read_survivors(folder)
        if m.file not in area.texts or (m.text in possible and m.text not in tried)
    ]
    survivors = others + [v.mutant for v in verdicts if v.is_unexplained]
    text = json.dumps([asdict(mutant) for mutant in survivors], indent=1)
    (folder / "survivors.json").write_text(text + "\n", encoding="utf-8")


def read_record(folder: Path) -> Record:
    path = folder / "record.json"
    if not path.exists():
        return Record()
    saved = json.loads(path.read_text(encoding="utf-8"))
    kills = {file: Counter(tests) for file, tests in saved["kills"].items()}
    return Record(saved["processor"], saved["wall"], kills)


def save_record(folder: Path, record: Record) -> None:
    text = json.dumps(vars(record), indent=1)
    (folder / "record.json").write_text(text + "\n", encoding="utf-8")
