# SPDX-License-Identifier: BSD-3-Clause
"""Writes the folder of a plan, and checks before `apply` that it was not edited."""

import os
from collections.abc import Mapping
from pathlib import Path

from host.prepare import markdown, pools, stored, texts
from host.prepare.plan import NAME, Plan
from vcmts.paths import MistakeError

FILES = "files"  # what apply puts into the system
WORDS = "plan.md"


def existing_files(folder: Path) -> list[Path]:
    """Returns the files of an earlier plan. Raises MistakeError if the folder contains other files
    or links, which must not be overwritten."""
    paths = [folder / NAME, folder / WORDS, folder / FILES, folder / pools.FOLDER]
    for top in (FILES, pools.FOLDER):
        for parent, folders, files in os.walk(folder / top, followlinks=False):
            paths += [Path(parent) / name for name in (*folders, *files)]
    names = {f"{FILES}/{name}" for name in texts.NAMES} | {NAME, WORDS, *pools.NAMES}
    for path in paths:
        if path.is_symlink():
            raise MistakeError(f"{path}: it is a link: remove it, or choose another folder")
        if path.exists() and not path.is_dir() and path.relative_to(folder).as_posix() not in names:
            raise MistakeError(f"{path}: not a file of a plan: remove it")
    return [path for path in paths if path.exists() and not path.is_dir()]


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o644), "w", encoding="utf-8") as out:
            out.write(content)


def write_plan(
    folder: Path, plan: Plan, text: str, others: Mapping[str, str] | None = None
) -> None:
    """Writes a plan into a new folder, or replaces an earlier plan; overwrites nothing else.
    `text`: the plan as Markdown; `others`: files that `apply` does not install."""
    if folder.exists() and not folder.is_dir():
        raise MistakeError(f"{folder}: it exists and is not a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / NAME).is_file():
        raise MistakeError(f"{folder}: it is not empty and contains no plan: choose another folder")
    for old in existing_files(folder):
        old.unlink()
    files = {f"{FILES}/{name}": content for name, content in texts.plan_files(plan).items()}
    write(folder, {**files, **(others or {}), WORDS: text, NAME: plan.as_text()})


def parts(folder: Path) -> list[str]:
    """The files and folders of a written plan."""
    found = (folder / name for name in (WORDS, NAME, FILES, pools.FOLDER))
    return [f"{path.name}/" if path.is_dir() else path.name for path in found if path.exists()]


def check_files(folder: Path, plan: Plan) -> None:
    """Raises MistakeError if a file that the operator reviewed differs from the plan."""
    wanted = {f"{FILES}/{name}": text for name, text in texts.plan_files(plan).items()}
    for name, text in wanted.items():
        if stored.read_text(folder / name, stored.MAX_BYTES) != text:
            raise MistakeError(
                f"{folder / name}: it differs from {NAME}: plan again instead of editing it"
            )
    if not markdown.matches(plan, stored.read_text(folder / WORDS, stored.MAX_BYTES)):
        raise MistakeError(
            f"{folder / WORDS}: it differs from {NAME}: plan again instead of editing it"
        )
    for path in sorted((folder / FILES).rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or (not path.is_dir() and name not in wanted):
            raise MistakeError(f"{path}: not a file of this plan: remove it")
