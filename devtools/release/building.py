# SPDX-License-Identifier: BSD-3-Clause
"""Builds what needs a compiler: Debian packages in new root filesystems, and the image."""

import gzip
import os
import shutil
import subprocess
from pathlib import Path

from release import archive
from release.versions import MistakeError, Release

# Releases of Debian and Ubuntu, and whether a release of OpenVCMTS needs their packages.
SUITES = {"bookworm": True, "trixie": True, "noble": False}
UNREACHABLE = 3  # exit status of the script build-packages
# Where the log of a build stays: it is no file of a release.
LOG = "build.log"


def checked_suites(text: str) -> tuple[str, ...]:
    suites = tuple(text.split())
    if unknown := sorted({*suites} - SUITES.keys()):
        raise MistakeError(f"SUITES: found {unknown[0]}, allowed: {', '.join(SUITES)}")
    return suites


def run(command: list[str | Path], checkout: Path, **variables: str) -> int:
    """Runs a script of the checkout and returns its exit status."""
    environment = os.environ | variables
    return subprocess.run(command, cwd=checkout, env=environment, check=False).returncode


def build(checkout: Path, release: Release, suite: str, source: Path, folder: Path) -> bool:
    """Builds the packages of the source archive for the suite into folder/suite. Returns False
    if the suite is optional and its packages cannot be fetched."""
    work = checkout / "build-release" / "work" / suite
    script = checkout / "devtools" / "release" / "build-packages"
    status = run([script, suite, source, release.debian, work], checkout)
    if status == UNREACHABLE and not SUITES[suite]:
        return False
    if status != 0:
        raise MistakeError(f"packages of {suite} failed (above)")
    target = folder / suite
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(work, target, ignore=shutil.ignore_patterns(LOG))
    return True


def running_suite() -> str:
    """The code name of the release that runs here."""
    lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    return values.get("VERSION_CODENAME", "").strip('"')


def of_release(checkout: Path, release: Release, suite: str) -> Path:
    """The folder with the release's packages of a suite, which are built if it has none."""
    folder = checkout / "build-release" / release.version
    if not list((folder / suite).glob("*.deb")):
        folder.mkdir(parents=True, exist_ok=True)
        source = archive.write(checkout, release, folder)
        if not build(checkout, release, suite, source, folder):
            raise MistakeError(f"the upgrade test needs packages of {suite}")
    return folder / suite


def upgrade(checkout: Path, previous: Release, release: Release) -> None:
    """Tests the upgrade of a running service from the previous release's packages, on this
    machine's release of Debian."""
    suite = running_suite()
    checked_suites(suite)
    before, after = (of_release(checkout, each, suite) for each in (previous, release))
    script = checkout / "devtools" / "release" / "upgrade-test"
    if run([script, before, after], checkout) != 0:
        raise MistakeError(f"upgrade from {previous.version} to {release.version} failed (above)")


def image(checkout: Path, release: Release, options: list[str]) -> None:
    """Builds the image with the release's version as its tag."""
    script = checkout / "devtools" / "image"
    if run([script, *options], checkout, IMAGE_VERSION=release.version) != 0:
        raise MistakeError("the image failed (above)")


def compress(source: Path, target: Path) -> None:
    """Compresses a file without its name and time: the same content gives the same bytes."""
    with (
        source.open("rb") as found,
        target.open("wb") as to,
        gzip.GzipFile("", "wb", 6, to, mtime=0) as packed,
    ):
        shutil.copyfileobj(found, packed, 1 << 20)
