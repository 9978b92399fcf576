# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the files of unpacked packages for the image: those that programs and drivers need."""

import posixpath
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from container.contents import Contents, MistakeError, is_elf, is_left_out, matches, needed
from container.packages import Unpacked, merged, packages_of

MULTIARCH = str(sysconfig.get_config_var("MULTIARCH"))
LIBRARIES = f"usr/lib/{MULTIARCH}"
# A library that the kernel provides without a file.
KERNEL_LIBRARY = "linux-vdso.so.1"


def driver_pattern(driver: str) -> str:
    """A pattern of the files of a driver, such as net_memif."""
    return f"{LIBRARIES}/dpdk/pmds-*/librte_{driver}.so.*"


def packages_to_install(contents: Contents, programs: Iterable[Path]) -> list[str]:
    """The packages to give to apt, which adds their dependencies: those that contents.toml
    requests, and those of this machine that contain the programs' libraries and the drivers. Raises
    MistakeError for a missing library or driver."""
    files = []
    for name in needed(programs):
        paths = [Path("/", folder, MULTIARCH, name) for folder in ("usr/lib", "lib")]
        path = next((path for path in paths if path.exists()), None)
        if path is None:
            raise MistakeError(
                f"{name}: not in {paths[0].parent}; only Debian's libraries are used"
            )
        files.append(path)
    for driver in contents.drivers:
        found = sorted(Path("/").glob(driver_pattern(driver)))
        if not found and driver not in contents.optional:
            raise MistakeError(f"librte_{driver}: the installed DPDK has no such driver")
        files += found[:1]
    return sorted({*contents.requested, *packages_of(files)})


@dataclass
class Choice:
    """The chosen paths: keys of `unpacked.owner`, relative to `unpacked.tree`."""

    unpacked: Unpacked
    paths: set[str] = field(default_factory=set)

    def include(self, path: str) -> None:
        """Adds a file, or a link and its target. Ignores paths that no package has."""
        while path not in self.paths and path in self.unpacked.owner:
            self.paths.add(path)
            file = self.unpacked.tree / path
            if not file.is_symlink():
                return
            path = merged(
                posixpath.normpath(posixpath.join("/", posixpath.dirname(path), file.readlink()))
            )

    def add_matching(self, pattern: str) -> int:
        """Adds all paths that match, and targets of links. Returns how many match, or 0."""
        found = [path for path in self.unpacked.owner if matches(path, [pattern])]
        for path in found:
            self.include(path)
        return len(found)

    def elf_files(self) -> list[Path]:
        """The chosen programs, libraries and drivers, in the unpacked tree."""
        tree = self.unpacked.tree
        return [tree / path for path in self.paths if is_elf(tree / path)]


def add_libraries(choice: Choice, programs: Iterable[Path]) -> None:
    """Adds the libraries that the programs and the chosen files need, and those that these need.
    Raises MistakeError for a library that no fetched package has."""
    seen: set[Path] = set()
    pending = {*programs, *choice.elf_files()}
    while pending:
        seen |= pending
        for name in needed(pending) - {KERNEL_LIBRARY}:
            path = f"{LIBRARIES}/{name}"
            if path not in choice.unpacked.owner:
                raise MistakeError(f"{name}: a program needs it, but no fetched package has it")
            choice.include(path)
        pending = set(choice.elf_files()) - seen


def add_copyrights(choice: Choice) -> None:
    """Adds the copyright file of each package with a chosen path. If its doc folder is a link, adds
    the link and the file of its target."""
    owner = choice.unpacked.owner
    for package in {owner[path] for path in choice.paths}:
        folder = f"usr/share/doc/{package}"
        if folder in owner:
            choice.paths.add(folder)
            folder = f"usr/share/doc/{(choice.unpacked.tree / folder).readlink().name}"
        if f"{folder}/copyright" not in owner:
            raise MistakeError(f"{package}: has no copyright file")
        choice.include(f"{folder}/copyright")


def choose(unpacked: Unpacked, contents: Contents, programs: Iterable[Path]) -> Choice:
    """The paths of the image that packages provide. `programs` are our own. Raises MistakeError for
    a missing driver, library or copyright file."""
    choice = Choice(unpacked)
    for path, owner in unpacked.owner.items():
        if matches(owner, contents.whole) and not is_left_out(path, contents):
            choice.include(path)
    for pattern in contents.also:
        choice.add_matching(pattern.replace("{multiarch}", MULTIARCH))
    for driver in contents.drivers:
        if choice.add_matching(driver_pattern(driver)) == 0 and driver not in contents.optional:
            raise MistakeError(f"librte_{driver}: no fetched package has it")
    add_libraries(choice, programs)
    add_copyrights(choice)
    return choice
