# SPDX-License-Identifier: BSD-3-Clause
"""Writes dpkg's database of the image, which vulnerability scanners read."""

from pathlib import Path

from container.choose import Choice
from container.packages import Package

FOLDER = "var/lib/dpkg"


def chosen_paths(choice: Choice) -> dict[str, list[str]]:
    """The chosen paths by name of their package; both are sorted."""
    found: dict[str, list[str]] = {}
    for path in sorted(choice.paths):
        found.setdefault(choice.unpacked.owner[path], []).append(path)
    return dict(sorted(found.items()))


def status(package: Package) -> str:
    """The paragraph of an installed package in dpkg's status file."""
    first, rest = package.control.rstrip("\n").split("\n", 1)
    return f"{first}\nStatus: install ok installed\n{rest}\n"


def list_name(package: Package) -> str:
    """The name of the package's list of paths in dpkg's folder info, without .list."""
    same = package.value("Multi-Arch") == "same"
    return f"{package.name}:{package.value('Architecture')}" if same else package.name


def write(choice: Choice, root: Path) -> None:
    """Writes the status and the lists of paths of all packages with a chosen path."""
    folder = root / FOLDER
    (folder / "info").mkdir(parents=True)
    packages = choice.unpacked.packages
    paragraphs = []
    for name, paths in chosen_paths(choice).items():
        paragraphs.append(status(packages[name]))
        text = "".join(f"/{path}\n" for path in paths)
        (folder / "info" / f"{list_name(packages[name])}.list").write_text(text, encoding="utf-8")
    (folder / "status").write_text("\n".join(paragraphs), encoding="utf-8")
