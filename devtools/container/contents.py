# SPDX-License-Identifier: BSD-3-Clause
"""deploy/container/contents.toml: what is in the image beside the project's own files."""

import re
import subprocess
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path


class MistakeError(Exception):
    """Ends the work; said in one line."""


@dataclass(frozen=True)
class Contents:
    drivers: tuple[str, ...]  # net_memif
    wished: frozenset[str]  # those that need not be there
    asked: tuple[str, ...]  # packages
    whole: tuple[str, ...]  # patterns of packages' names, and of files below
    unneeded: tuple[str, ...]
    also: tuple[str, ...]
    without: tuple[str, ...]
    modules: tuple[str, ...]
    installed: tuple[str, ...]


def read(path: Path) -> Contents:
    with path.open("rb") as file:
        told = tomllib.load(file)
    drivers = dict(told["drivers"])
    wished = frozenset(drivers.pop("wished"))
    packages, files = told["packages"], told["files"]
    return Contents(
        drivers=tuple(f"{kind}_{name}" for kind, names in drivers.items() for name in names),
        wished=wished,
        asked=tuple(packages["asked"]),
        whole=tuple(packages["whole"]),
        unneeded=tuple(packages["unneeded"]),
        also=tuple(files["also"]),
        without=tuple(files["without"]),
        modules=tuple(files["modules"]),
        installed=tuple(files["installed"]),
    )


def fits(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


MODULE = re.compile(r"usr/lib/python3(?:\.\d+)?/(?:lib-dynload/)?([^/]+)")


def is_left_out(name: str, contents: Contents) -> bool:
    """Of a package that is taken as a whole: documentation, tools, modules that nothing uses."""
    if fits(name, contents.without):
        return True
    found = MODULE.match(name)
    return found is not None and fits(found[1].split(".")[0], contents.modules)


NEEDED = re.compile(r"\(NEEDED\).*\[(.*)\]")


def is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def needed(paths: Iterable[Path]) -> set[str]:
    """The names of the libraries that these files ask for themselves."""
    files = [str(path) for path in paths]
    if not files:
        return set()
    done = subprocess.run(
        ["readelf", "--dynamic", "--wide", *files], check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise MistakeError(f"readelf: {done.stderr.strip()}")
    return set(NEEDED.findall(done.stdout))
