# SPDX-License-Identifier: BSD-3-Clause
"""Makes a release in build-release/VERSION/, or parts of it: python3 -m release PART... .

Each part writes its files again. `make release` calls all of them.
"""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from release import archive, building, changelog, chart, checksums, provenance, sbom, versions
from release.versions import MistakeError, Release

CHECKOUT = Path(__file__).resolve().parents[2]
OUTPUT = "build-release"
IMAGE = "build-image/vcmts.tar"


@dataclass(frozen=True)
class Order:
    """What the caller asked for."""

    release: Release
    checkout: Path
    folder: Path  # of the release's files
    key: str  # GnuPG's, for the signature; "" for none
    suites: tuple[str, ...]
    previous: str  # tag or commit from which `upgrade` upgrades; "" for the previous tag
    quick: bool  # without parts that compile


def say(text: str) -> None:
    print(f"release: {text}", flush=True)


def find_image(order: Order) -> sbom.Image | None:
    """The image of `make image`; None if there is none or it is of another commit."""
    path = order.checkout / IMAGE
    if not path.exists():
        return None
    image = sbom.read(path)
    return image if image.revision == order.release.commit else None


def image_name(release: Release) -> str:
    return f"vcmts-image-{release.version}.tar.gz"


def make_sbom(order: Order) -> Path | None:
    """Copies the image of the release's commit, and its SBOM after checking it."""
    image = find_image(order)
    if not image:
        if not order.quick:
            raise MistakeError(f"{IMAGE} is missing or of another commit: make image")
        say(f"without an image: {IMAGE} is missing or of another commit (make image)")
        return None
    sbom.check(image)
    if not sbom.has_schema():
        say("SBOM not validated by CycloneDX's schema: devtools/install-deps image installs it")
    building.compress(order.checkout / IMAGE, order.folder / image_name(order.release))
    path = order.folder / f"vcmts-image-{order.release.version}.cdx.json"
    path.write_text(image.text, encoding="utf-8")
    return path


def make_image(order: Order) -> Path:
    building.image(order.checkout, order.release, os.environ.get("IMAGE_OPTIONS", "").split())
    return order.checkout / IMAGE


def make_packages(order: Order) -> Path | None:
    """Builds the packages of all suites. Leaves out Ubuntu's if its archive cannot be reached."""
    source = order.folder / archive.name(order.release)
    if not source.exists():
        archive.write(order.checkout, order.release, order.folder)
    for suite in order.suites:
        start = time.monotonic()
        if building.build(order.checkout, order.release, suite, source, order.folder):
            say(f"packages of {suite} in {time.monotonic() - start:.0f} s")
        else:
            say(f"WITHOUT packages of {suite}: the reason is above")
    return order.folder


def make_upgrade(order: Order) -> Path | None:
    """Builds the packages of the previous release and upgrades from them (upgrade-test)."""
    name = order.previous or order.release.previous
    if not name:
        raise MistakeError("found no earlier tag to upgrade from: PREVIOUS=COMMIT names a commit")
    previous = versions.of_commit(order.checkout, name)
    building.upgrade(order.checkout, previous, order.release)
    return None


def make_provenance(order: Order) -> Path:
    source, builder = (os.environ.get(name, "") for name in ("SOURCE", "BUILDER"))
    copied = (order.folder / image_name(order.release)).exists()
    image = find_image(order) if copied else None
    return provenance.write(order.release, order.folder, image, source, builder)


PARTS: dict[str, Callable[[Order], Path | None]] = {
    "archive": lambda order: archive.write(order.checkout, order.release, order.folder),
    "changelog": lambda order: changelog.write(order.checkout, order.release, order.folder),
    "chart": lambda order: chart.write(order.checkout, order.release, order.folder),
    "packages": make_packages,
    "image": make_image,
    "sbom": make_sbom,
    "provenance": make_provenance,
    "checksums": lambda order: checksums.write(order.folder, order.key),
    "upgrade": make_upgrade,
}
# Provenance and checksums are last, as they cover the other files.
ALL = [name for name in PARTS if name != "upgrade"]
QUICK = [name for name in ALL if name not in ("packages", "image")]


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="release", description=__doc__)
    top.add_argument("parts", nargs="+", choices=[*PARTS, "all", "quick", "versions"])
    top.add_argument("--version", default="", help="1.2.3, or snapshot for a build of HEAD")
    top.add_argument("--key", default="", help="key of GnuPG that signs SHA256SUMS")
    top.add_argument("--suites", default=" ".join(building.SUITES), help="releases of packages")
    top.add_argument("--previous", default="", help="tag or commit to upgrade from")
    return top


def make(order: Order, parts: Sequence[str]) -> None:
    """Makes the parts in their order. Begins `all` and `quick` in an empty folder."""
    if {"all", "quick"} & set(parts):
        shutil.rmtree(order.folder, ignore_errors=True)
        parts = ALL if "all" in parts else QUICK
    order.folder.mkdir(parents=True, exist_ok=True)
    for part in (name for name in PARTS if name in parts):
        start = time.monotonic()
        path = PARTS[part](order)
        name = f": {path.relative_to(order.checkout)}" if path else ""
        say(f"{part} in {time.monotonic() - start:.1f} s{name}")


def main(words: Sequence[str], checkout: Path = CHECKOUT) -> int:
    arguments = parser().parse_args(words)
    try:
        if arguments.parts == ["versions"]:
            version = versions.agreed(versions.read_checkout(checkout))
            print(f"{', '.join(versions.FILES)}: version {version}")
            return 0
        release = versions.choose(checkout, arguments.version)
        order = Order(
            release=release,
            checkout=checkout,
            folder=checkout / OUTPUT / release.version,
            key=arguments.key,
            suites=building.checked_suites(arguments.suites),
            previous=arguments.previous,
            quick="quick" in arguments.parts,
        )
        make(order, arguments.parts)
    except MistakeError as mistake:
        print(f"release: {mistake}", file=sys.stderr)
        return 1
    return 0
