# SPDX-License-Identifier: BSD-3-Clause
"""container root ...: the root filesystem of the image, in the Containerfile's first stage or here.
container archive ...: an archive of the image that depends on nothing but its contents."""

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
    """debian-12, as its os-release says."""
    lines = (tree / "usr/lib/os-release").read_text(encoding="utf-8").splitlines()
    told = dict(line.split("=", 1) for line in lines if "=" in line)
    return f"{told['ID']}-{told['VERSION_ID']}".replace('"', "")


def write_sbom(
    choice: choose.Choice, asked: list[str], release: sbom.Release, target: Path
) -> None:
    tree = choice.unpacked.tree
    parts = [choice.unpacked.packages[name] for name in database.taken(choice)]
    papers = {
        part.name: (target / "usr/share/doc" / part.name / "copyright").read_text(
            encoding="utf-8", errors="replace"
        )
        for part in parts
    }
    text = sbom.make(release, parts, papers, asked, CHECKOUT, system_of(tree))
    (target / SBOM).write_text(text, encoding="utf-8")


def note(release: sbom.Release, target: Path) -> None:
    """What the tool says of its programs: their commit, which no checkout is there to tell."""
    path = target / "usr/share/vcmts/installed.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    commit, _, dirty = release.revision.partition("-")
    told["built"] |= {"commit": commit, "dirty": bool(dirty)}
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def own_papers(target: Path) -> None:
    """The licences of what is no package."""
    folder = target / "usr/share/doc/vcmts"
    folder.mkdir(parents=True)
    shutil.copy(CHECKOUT / "LICENSE", folder / "copyright")
    for name in ("LICENSES/CC0-1.0.txt", "subprojects/hdr_histogram/LICENSE.txt"):
        shutil.copy(CHECKOUT / name, folder / f"hdr_histogram-{Path(name).name}")


def make_root(arguments: argparse.Namespace) -> int:
    contents = read(CONTENTS)
    work, target = arguments.work.resolve(), arguments.to.resolve()
    for folder in (work / "tree", work / "archives", target):
        shutil.rmtree(folder, ignore_errors=True)
    place = packages.Archive(
        arguments.suite, arguments.mirror, arguments.security, arguments.snapshot
    )
    installed = arguments.installed.resolve()
    programs = [path for path in installed.rglob("*") if is_elf(path)]
    asked = choose.packages_asked(contents, programs)
    files = packages.fetch(place, asked, contents.unneeded, work)
    choice = choose.choose(packages.unpack(files, work / "tree"), contents, programs)
    release = sbom.Release(arguments.version, arguments.revision, arguments.epoch)
    root.skeleton(target)
    root.copy_chosen(choice, target)
    names = root.copy_installed(installed, arguments.prefix, contents, target)
    root.strip(target, names)
    note(release, target)
    root.copy(HEALTH, target / root.HEALTH)
    own_papers(target)
    root.share_papers(target)
    root.compile_python(target)
    database.write(choice, target)
    write_sbom(choice, asked, release, target)
    root.settle(target, arguments.epoch)
    return 0


def parser() -> argparse.ArgumentParser:
    whole = argparse.ArgumentParser(prog="container", description=__doc__)
    commands = whole.add_subparsers(required=True)
    made = commands.add_parser("root", help="the root filesystem")
    made.add_argument("--installed", type=Path, required=True, help="DESTDIR of meson install")
    made.add_argument("--prefix", default="usr", help="of meson install, without its first /")
    made.add_argument("--work", type=Path, required=True, help="packages and lists of apt")
    made.add_argument("--to", type=Path, required=True, help="the root filesystem")
    made.add_argument("--suite", required=True)
    made.add_argument("--mirror", required=True)
    made.add_argument("--security", required=True)
    made.add_argument("--snapshot", action="store_true", help="the archive of a day that is past")
    made.add_argument("--epoch", type=int, required=True, help="SOURCE_DATE_EPOCH")
    made.add_argument("--version", required=True)
    made.add_argument("--revision", required=True)
    made.set_defaults(call=make_root)
    packed = commands.add_parser("archive", help="from what podman save wrote")
    packed.add_argument("saved", type=Path)
    packed.add_argument("to", type=Path)
    packed.add_argument("names", nargs="+", help="of the image")
    packed.set_defaults(call=archive.rewrite)
    return whole


def main(words: Sequence[str]) -> int:
    try:
        arguments = parser().parse_args(words)
        status: int = arguments.call(arguments)
        return status
    except MistakeError as mistake:
        print(f"image: {mistake}", file=sys.stderr)
        return 1
