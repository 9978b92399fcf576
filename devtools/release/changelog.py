# SPDX-License-Identifier: BSD-3-Clause
"""Makes the changelog of a release from the titles of its commits, by component."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from release.versions import Release, git

OTHER = "other"
Titles = dict[str, list[str]]  # by component: the first word or folder, in lower case


def component(title: str) -> tuple[str, str]:
    """The component of a title, and the line for it: the effect, or the whole title if it names
    more than the component, such as a part of it or a second one."""
    names, colon, effect = title.partition(": ")
    if not colon or len(names.split()) > 4:
        return OTHER, title
    first = re.split(r"[ ,/]", names.lower().lstrip("./"))[0]
    return first, effect if names.lower() == first else title


def grouped(titles: Iterable[str]) -> Titles:
    """Titles by component, in alphabetical order; those without one come last."""
    groups: Titles = {}
    for title in titles:
        group, line = component(title)
        groups.setdefault(group, []).append(line)
    return {key: groups[key] for key in sorted(groups, key=lambda key: (key == OTHER, key))}


def titles(checkout: Path, release: Release) -> list[str]:
    """The titles of the commits since the previous tag, oldest first, without merges."""
    commits = f"{release.previous}..{release.commit}" if release.previous else release.commit
    text = git(checkout, "log", "--no-merges", "--reverse", "--format=%s", commits)
    return text.splitlines()


def make(checkout: Path, release: Release) -> str:
    """The changelog as Markdown."""
    day = datetime.fromtimestamp(release.epoch, UTC).strftime("%Y-%m-%d")
    found = titles(checkout, release)
    since = f"since {release.previous}" if release.previous else "no earlier release"
    lines = [
        f"# OpenVCMTS {release.version}",
        "",
        f"{day}, commit {release.commit}, {len(found)} changes, {since}.",
    ]
    for group, effects in grouped(found).items():
        lines += ["", f"## {group}", "", *(f"- {effect}" for effect in effects)]
    return "\n".join(lines) + "\n"


def write(checkout: Path, release: Release, folder: Path) -> Path:
    path = folder / "CHANGELOG.md"
    path.write_text(make(checkout, release), encoding="utf-8")
    return path
