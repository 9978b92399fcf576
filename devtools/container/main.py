# SPDX-License-Identifier: BSD-3-Clause
"""container root: fetches Debian packages and writes the image's root filesystem. It runs in the
Containerfile's first stage, or on this machine (devtools/image --here). container archive: rewrites
the archive of an image so that equal contents have equal bytes. Errors: a line on stderr, status 1.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from container import archive, choose, database, packages, root, sbom
from container.contents import MistakeError, is_elf, read

CHECKOUT = Path(__file__).resolve().parents[2]
CONTENTS = CHECKOUT / "deploy/container/contents.toml"
HEALTH = CHECKOUT / "deploy/container/health"
SBOM = "usr/share/vcmts/sbom.cdx.json"


def system_of(tree: Path) -> str:
    """The distribution from os-release, such as debian-12."""
    lines = (tree / "usr/lib/os-release").read_text(encoding="utf-8").splitlines()
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    return f"{values['ID']}-{values['VERSION_ID']}".replace('"', "")


def write_sbom(
    choice: choose.Choice, requested: list[str], release: sbom.Release, target: Path
) -> None:
    """Writes the SBOM of the chosen packages. `requested`: those that apt was given, which are the
    direct dependencies of OpenVCMTS."""
    tree = choice.unpacked.tree
    parts = [choice.unpacked.packages[name] for name in database.chosen_paths(choice)]
    copyrights = {
        part.name: (target / "usr/share/doc" / part.name / "copyright").read_text(
            encoding="utf-8", errors="replace"
        )
        for part in parts
    }
    text = sbom.make(release, parts, copyrights, requested, CHECKOUT, system_of(tree))
    (target / SBOM).write_text(text, encoding="utf-8")


def write_commit(release: sbom.Release, target: Path) -> None:
    """Adds `commit` and `dirty` to installed.json, as the image has no checkout. The revision is
    COMMIT or COMMIT-dirty."""
    path = target / "usr/share/vcmts/installed.json"
    installed = json.loads(path.read_text(encoding="utf-8"))
    commit, _, dirty = release.revision.partition("-")
    installed["built"] |= {"commit": commit, "dirty": bool(dirty)}
    path.write_text(json.dumps(installed, indent=1) + "\n", encoding="utf-8")


def copy_licences(target: Path) -> None:
    """Copies the licences of our code and of HdrHistogram, which are from no Debian package."""
    folder = target / "usr/share/doc/vcmts"
    folder.mkdir(parents=True)
    shutil.copy(CHECKOUT / "LICENSE", folder / "copyright")
    for name in ("LICENSES/CC0-1.0.txt", "subprojects/hdr_histogram/LICENSE.txt"):
        shutil.copy(CHECKOUT / name, folder / f"hdr_histogram-{Path(name).name}")


def make_root(arguments: argparse.Namespace) -> int:
    """Deletes and writes the folder --to. Sets times last, as all other steps change them."""
    contents = read(CONTENTS)
    work, target = arguments.work.resolve(), arguments.to.resolve()
    for folder in (work / "tree", work / "archives", target):
        shutil.rmtree(folder, ignore_errors=True)
    source = packages.Archive(
        arguments.suite, arguments.mirror, arguments.security, arguments.snapshot
    )
    installed = arguments.installed.resolve()
    programs = [path for path in installed.rglob("*") if is_elf(path)]
    requested = choose.packages_to_install(contents, programs)
    files = packages.fetch(source, requested, contents.unneeded, work)
    choice = choose.choose(packages.unpack(files, work / "tree"), contents, programs)
    release = sbom.Release(arguments.version, arguments.revision, arguments.epoch)
    root.skeleton(target)
    root.copy_chosen(choice, target)
    names = root.copy_installed(installed, arguments.prefix, contents, target)
    root.strip(target, names)
    write_commit(release, target)
    root.copy(HEALTH, target / root.HEALTH)
    copy_licences(target)
    root.link_equal_copyrights(target)
    root.compile_python(target)
    database.write(choice, target)
    write_sbom(choice, requested, release, target)
    root.normalize(target, arguments.epoch)
    return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="container", description=__doc__)
    commands = top.add_subparsers(required=True)
    made = commands.add_parser("root", help="write the root filesystem")
    made.add_argument("--installed", type=Path, required=True, help="DESTDIR of meson install")
    made.add_argument("--prefix", default="usr", help="prefix of meson install, without /")
    made.add_argument(
        "--work", type=Path, required=True, help="folder for apt and the unpacked packages"
    )
    made.add_argument(
        "--to", type=Path, required=True, help="folder of the root filesystem; deleted first"
    )
    made.add_argument("--suite", required=True, help="Debian release, such as bookworm")
    made.add_argument("--mirror", required=True, help="URL of Debian's packages")
    made.add_argument("--security", required=True, help="URL of Debian's security updates")
    made.add_argument("--snapshot", action="store_true", help="accept expired lists of packages")
    made.add_argument(
        "--epoch", type=int, required=True, help="time of all files, in seconds since 1970"
    )
    made.add_argument("--version", required=True, help="version of OpenVCMTS")
    made.add_argument("--revision", required=True, help="COMMIT or COMMIT-dirty")
    made.set_defaults(call=make_root)
    packed = commands.add_parser("archive", help="rewrite an archive of podman save")
    packed.add_argument("saved", type=Path, help="the archive")
    packed.add_argument("to", type=Path, help="file to write")
    packed.add_argument("names", nargs="+", help="names of the image")
    packed.set_defaults(call=archive.rewrite)
    return top


def main(words: Sequence[str]) -> int:
    try:
        arguments = parser().parse_args(words)
        status: int = arguments.call(arguments)
        return status
    except MistakeError as mistake:
        print(f"image: {mistake}", file=sys.stderr)
        return 1
