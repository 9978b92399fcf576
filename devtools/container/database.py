# SPDX-License-Identifier: BSD-3-Clause
"""dpkg's database of the image: what scanners of vulnerabilities read, and the list of parts."""

from pathlib import Path

from container.choose import Choice
from container.packages import Package

FOLDER = "var/lib/dpkg"


def taken(choice: Choice) -> dict[str, list[str]]:
    """The packages of which something is in the image, by name, and what it is."""
    found: dict[str, list[str]] = {}
    for path in sorted(choice.paths):
        found.setdefault(choice.unpacked.owner[path], []).append(path)
    return dict(sorted(found.items()))


def status(package: Package) -> str:
    """Its paragraph, as dpkg writes that of a package that is installed."""
    first, rest = package.control.rstrip("\n").split("\n", 1)
    return f"{first}\nStatus: install ok installed\n{rest}\n"


def list_name(package: Package) -> str:
    same = package.value("Multi-Arch") == "same"
    return f"{package.name}:{package.value('Architecture')}" if same else package.name


def write(choice: Choice, root: Path) -> None:
    folder = root / FOLDER
    (folder / "info").mkdir(parents=True)
    packages = choice.unpacked.packages
    paragraphs = []
    for name, paths in taken(choice).items():
        paragraphs.append(status(packages[name]))
        text = "".join(f"/{path}\n" for path in paths)
        (folder / "info" / f"{list_name(packages[name])}.list").write_text(text, encoding="utf-8")
    (folder / "status").write_text("\n".join(paragraphs), encoding="utf-8")
