# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a plan: written for people to read and keep, and read again by `apply`."""

import os
from collections.abc import Mapping
from pathlib import Path

from host.prepare import pools, stored, texts, words
from host.prepare.plan import NAME, Plan
from vcmts.paths import MistakeError

FILES = "files"  # what apply puts into the system
WORDS = "plan.md"


def ours(folder: Path) -> list[Path]:
    """Files of an earlier plan. Raises MistakeError: something else is there, which is not written
    over, or a link, behind which nothing is."""
    there = [folder / NAME, folder / WORDS, folder / FILES, folder / pools.FOLDER]
    for top in (FILES, pools.FOLDER):
        for place, folders, files in os.walk(folder / top, followlinks=False):
            there += [Path(place) / name for name in (*folders, *files)]
    names = {f"{FILES}/{name}" for name in texts.NAMES} | {NAME, WORDS, *pools.NAMES}
    for path in there:
        if path.is_symlink():
            raise MistakeError(f"{path}: it is a link: take it away, or choose another folder")
        if path.exists() and not path.is_dir() and path.relative_to(folder).as_posix() not in names:
            raise MistakeError(f"{path}: it is of no plan: take it away")
    return [path for path in there if path.exists() and not path.is_dir()]


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
    """Into a new folder, or over the plan that is there: nothing else is written over. `text`: the
    plan in words; `others`: files that are not `apply`'s."""
    if folder.exists() and not folder.is_dir():
        raise MistakeError(f"{folder}: it is there, and no folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / NAME).is_file():
        raise MistakeError(f"{folder}: it is not empty, and holds no plan: choose another")
    for old in ours(folder):
        old.unlink()
    files = {f"{FILES}/{name}": content for name, content in texts.files_of(plan).items()}
    write(folder, {**files, **(others or {}), WORDS: text, NAME: plan.stored()})


def same_files(folder: Path, plan: Plan) -> None:
    """What was read and reviewed is what is put there."""
    wanted = {f"{FILES}/{name}": text for name, text in texts.files_of(plan).items()}
    for name, text in wanted.items():
        if stored.bounded(folder / name, stored.MOST_BYTES) != text:
            raise MistakeError(
                f"{folder / name}: it is not what {NAME} says: plan again instead of changing it"
            )
    if not words.same(plan, stored.bounded(folder / WORDS, stored.MOST_BYTES)):
        raise MistakeError(
            f"{folder / WORDS}: it is not what {NAME} says: plan again instead of changing it"
        )
    for path in sorted((folder / FILES).rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or (not path.is_dir() and name not in wanted):
            raise MistakeError(f"{path}: not of this plan: take it away")
