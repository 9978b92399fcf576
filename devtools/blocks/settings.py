# SPDX-License-Identifier: BSD-3-Clause
"""Reads devtools/commands.toml, and finds what it lacks."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blocks.pages import CHECKOUT, Command

LIST = CHECKOUT / "devtools" / "commands.toml"
EXCLUSIVE = {"run", "step", "within", "not"}


@dataclass(frozen=True)
class Settings:
    """`commands`: exceptions. `pages`: tests or reasons of pages that do not run here."""

    commands: Mapping[str, Mapping[str, Any]]
    pages: Mapping[str, str]

    def runs(self, command: str) -> bool:
        return not {"step", "within", "not"} & set(self.commands.get(command, {}))


def read(path: Path = LIST) -> Settings:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    return Settings(content["commands"], content["pages"])


def page_errors(settings: Settings, texts: Mapping[str, str]) -> list[str]:
    """`texts`: the pages by their name."""
    found = [f"{page}: no such page" for page in settings.pages if page not in texts]
    for page, why in settings.pages.items():
        test = CHECKOUT / why
        if why.startswith("tests/") and Path(page).stem not in (
            test.read_text(encoding="utf-8") if test.exists() else ""
        ):
            found.append(f"{page}: {why} does not name it")
    return found


def command_errors(settings: Settings, named: Sequence[Command], ci: str) -> list[str]:
    """`named`: the commands of pages that run here; `ci`: the text of .ci/run."""
    names = {command.text for command in named}
    found = [
        f"{name}: no page and no help text names it"
        for name in settings.commands
        if name not in names
    ]
    for name, entry in settings.commands.items():
        if len(EXCLUSIVE & set(entry)) > 1:
            found.append(f"{name}: more than one of run, step, within, not")
        if entry.get("step") and not re.search(rf"^step {re.escape(name)}( |$)", ci, re.MULTILINE):
            found.append(f"{name}: no step of .ci/run")
        other = entry.get("within")
        if other is not None and (
            other not in names or {"not", "within"} & set(settings.commands.get(other, {}))
        ):
            found.append(f"{name}: {other} does not run")
    return found
