# SPDX-License-Identifier: BSD-3-Clause
"""Reads deploy/container/contents.toml, the image's contents besides the project's own files."""

import re
import subprocess
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path


class MistakeError(Exception):
    """Ends the program with this message."""


@dataclass(frozen=True)
class Contents:
    drivers: tuple[str, ...]  # names such as net_memif
    optional: frozenset[str]  # drivers that DPDK may lack
    requested: tuple[str, ...]  # packages
    whole: tuple[str, ...]  # patterns of package names
    unneeded: tuple[str, ...]  # packages that apt treats as installed
    also: tuple[str, ...]  # patterns of paths, of any package
    without: tuple[str, ...]  # patterns of paths of `whole` packages to omit
    without_modules: tuple[str, ...]  # patterns of Python modules of `whole` packages to omit
    without_installed: tuple[str, ...]  # patterns of our own paths to omit


def read(path: Path) -> Contents:
    with path.open("rb") as file:
        tree = tomllib.load(file)
    drivers = dict(tree["drivers"])
    optional = frozenset(drivers.pop("optional"))
    packages, files = tree["packages"], tree["files"]
    return Contents(
        drivers=tuple(f"{kind}_{name}" for kind, names in drivers.items() for name in names),
        optional=optional,
        requested=tuple(packages["requested"]),
        whole=tuple(packages["whole"]),
        unneeded=tuple(packages["unneeded"]),
        also=tuple(files["also"]),
        without=tuple(files["without"]),
        without_modules=tuple(files["without_modules"]),
        without_installed=tuple(files["without_installed"]),
    )


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern matches the whole name. * also matches /."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


MODULE = re.compile(r"usr/lib/python3(?:\.\d+)?/(?:lib-dynload/)?([^/]+)")


def is_left_out(name: str, contents: Contents) -> bool:
    """Whether to omit a file of a `whole` package: documentation, tools and unused modules."""
    if matches(name, contents.without):
        return True
    module = MODULE.match(name)
    return module is not None and matches(module[1].split(".")[0], contents.without_modules)


NEEDED = re.compile(r"\(NEEDED\).*\[(.*)\]")


def is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def needed(paths: Iterable[Path]) -> set[str]:
    """Names of the libraries that these ELF files need. Raises MistakeError for other files."""
    files = [str(path) for path in paths]
    if not files:
        return set()
    done = subprocess.run(
        ["readelf", "--dynamic", "--wide", *files], check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise MistakeError(f"readelf: {done.stderr.strip()}")
    return set(NEEDED.findall(done.stdout))
