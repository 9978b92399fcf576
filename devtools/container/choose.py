# SPDX-License-Identifier: BSD-3-Clause
"""Which files of the unpacked packages are in the image: what programs and drivers ask for."""

import posixpath
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from container.contents import Contents, MistakeError, fits, is_elf, is_left_out, needed
from container.packages import Unpacked, holding, merged

MULTIARCH = str(sysconfig.get_config_var("MULTIARCH"))
LIBRARIES = f"usr/lib/{MULTIARCH}"
# Taken to be on every Linux machine by the linker: no file.
OF_THE_KERNEL = "linux-vdso.so.1"


def driver_files(driver: str) -> str:
    return f"{LIBRARIES}/dpdk/pmds-*/librte_{driver}.so.*"


def packages_asked(contents: Contents, programs: Iterable[Path]) -> list[str]:
    """Those of the machine that the programs were built on which hold their libraries, and those of
    the drivers. apt finds the rest."""
    wanted = []
    for name in needed(programs):
        places = [Path("/", folder, MULTIARCH, name) for folder in ("usr/lib", "lib")]
        found = next((place for place in places if place.exists()), None)
        if found is None:
            raise MistakeError(f"{name}: not in {places[0].parent}, where Debian's libraries are")
        wanted.append(found)
    for driver in contents.drivers:
        files = sorted(Path("/").glob(driver_files(driver)))
        if not files and driver not in contents.wished:
            raise MistakeError(f"librte_{driver}: this DPDK has no such driver")
        wanted += files[:1]
    return sorted({*contents.asked, *holding(wanted)})


@dataclass
class Choice:
    """Paths of `unpacked` that are taken."""

    unpacked: Unpacked
    paths: set[str] = field(default_factory=set)

    def take(self, path: str) -> None:
        """A file, or a link and what it leads to."""
        while path not in self.paths and path in self.unpacked.owner:
            self.paths.add(path)
            place = self.unpacked.tree / path
            if not place.is_symlink():
                return
            path = merged(
                posixpath.normpath(posixpath.join("/", posixpath.dirname(path), place.readlink()))
            )

    def take_fitting(self, pattern: str) -> int:
        found = [path for path in self.unpacked.owner if fits(path, [pattern])]
        for path in found:
            self.take(path)
        return len(found)

    def programs(self) -> list[Path]:
        tree = self.unpacked.tree
        return [tree / path for path in self.paths if is_elf(tree / path)]


def take_libraries(choice: Choice, programs: Iterable[Path]) -> None:
    """All that is asked for, and what these ask for in their turn."""
    seen: set[Path] = set()
    waiting = {*programs, *choice.programs()}
    while waiting:
        seen |= waiting
        for name in needed(waiting) - {OF_THE_KERNEL}:
            path = f"{LIBRARIES}/{name}"
            if path not in choice.unpacked.owner:
                raise MistakeError(f"{name}: asked for, and in no package that was fetched")
            choice.take(path)
        waiting = set(choice.programs()) - seen


def take_papers(choice: Choice) -> None:
    """The licences of all that is taken. Where a package's folder is a link, those of the other."""
    owner = choice.unpacked.owner
    for package in {owner[path] for path in choice.paths}:
        folder = f"usr/share/doc/{package}"
        if folder in owner:
            choice.paths.add(folder)
            folder = f"usr/share/doc/{(choice.unpacked.tree / folder).readlink().name}"
        if f"{folder}/copyright" not in owner:
            raise MistakeError(f"{package}: has no file of its licences")
        choice.take(f"{folder}/copyright")


def choose(unpacked: Unpacked, contents: Contents, programs: Iterable[Path]) -> Choice:
    choice = Choice(unpacked)
    for path, owner in unpacked.owner.items():
        if fits(owner, contents.whole) and not is_left_out(path, contents):
            choice.take(path)
    for pattern in contents.also:
        choice.take_fitting(pattern.replace("{multiarch}", MULTIARCH))
    for driver in contents.drivers:
        if choice.take_fitting(driver_files(driver)) == 0 and driver not in contents.wished:
            raise MistakeError(f"librte_{driver}: in no package that was fetched")
    take_libraries(choice, programs)
    take_papers(choice)
    return choice
