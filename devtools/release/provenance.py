# SPDX-License-Identifier: BSD-3-Clause
"""Writes the provenance of a release: an in-toto statement with a SLSA predicate.

It names the digest of each file, the commit, the builder, and the packages that compiled.
"""

import json
import platform
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from release import checksums, sbom
from release.versions import Release

Json = dict[str, Any]
NAME = "provenance.json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "https://openvcmts.example.org/make-release/v1"
BUILDER = "https://openvcmts.example.org/local-machine"
# A package of the paragraph Installed-Build-Depends, such as ` gcc-12 (= 12.2.0-14),`.
INSTALLED = re.compile(r"^ ([a-z0-9][a-z0-9+.-]*)(?::\w+)? \(= ([^)]+)\),?$", re.MULTILINE)
TOOLS = ("git --version", "mmdebstrap --version", "podman --version", "dpkg --version")


def subjects(folder: Path, image: sbom.Image | None) -> list[Json]:
    """The files of a release, except those that are written after the provenance; and the image,
    whose digest is that of its configuration."""
    found = [
        {"name": name, "digest": {"sha256": checksums.digest(folder / name)}}
        for name in checksums.files(folder)
        if name != NAME
    ]
    if image:
        digest = image.digest.removeprefix("sha256:")
        found.append({"name": "localhost/vcmts", "digest": {"sha256": digest}})
    return found


def build_packages(buildinfo: str, suite: str) -> list[Json]:
    """The packages that were installed while a .buildinfo's packages were compiled."""
    _, _, text = buildinfo.partition("\nInstalled-Build-Depends:\n")
    # The paragraph ends at the next field.
    text = re.split(r"\n(?=\S)", text, maxsplit=1)[0]
    vendor = "ubuntu" if "\nBuild-Origin: Ubuntu\n" in buildinfo else "debian"
    return [
        {"uri": f"pkg:deb/{vendor}/{quote(name)}@{quote(version, safe='~.-')}?distro={suite}"}
        for name, version in INSTALLED.findall(text)
    ]


def source(release: Release, url: str) -> Json:
    """The commit. `url`: the repository, or "" if the release does not name one."""
    reference = f"refs/tags/{release.tag}" if release.tag else release.commit
    uri = f"git+{url}@{reference}" if url else f"pkg:generic/openvcmts@{release.version}"
    return {"uri": uri, "digest": {"gitCommit": release.commit}}


def materials(release: Release, folder: Path, image: sbom.Image | None, url: str) -> list[Json]:
    """The commit, and the packages that compiled the files or are part of the image."""
    found = [source(release, url)]
    for path in sorted(folder.glob("*/*.buildinfo")):
        found += build_packages(path.read_text(encoding="utf-8"), path.parent.name)
    if image:
        parts = image.sbom.get("components", [])
        found += [{"uri": part["purl"]} for part in parts if "purl" in part]
    return list({item["uri"]: item for item in found}.values())


def tool_versions(commands: Iterable[str] = TOOLS) -> dict[str, str]:
    """The first line of each tool's output, by the tool's name; without tools that are missing."""
    found = {"kernel": platform.release(), "python": platform.python_version()}
    for command in commands:
        try:
            done = subprocess.run(command.split(), capture_output=True, text=True, check=True)
        except (FileNotFoundError, subprocess.CalledProcessError):
            continue
        found[command.split()[0]] = done.stdout.splitlines()[0]
    return found


def make(
    release: Release, folder: Path, image: sbom.Image | None, url: str = "", builder: str = ""
) -> Json:
    """The statement about all files in `folder`. `builder`: a URI that names the machine or the CI
    that built them."""
    return {
        "_type": STATEMENT,
        "subject": subjects(folder, image),
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {
                    "version": release.version,
                    "ref": f"refs/tags/{release.tag}" if release.tag else release.commit,
                },
                "resolvedDependencies": materials(release, folder, image, url),
            },
            "runDetails": {
                "builder": {"id": builder or BUILDER, "version": tool_versions()},
            },
        },
    }


def write(
    release: Release, folder: Path, image: sbom.Image | None, url: str = "", builder: str = ""
) -> Path:
    path = folder / NAME
    statement = make(release, folder, image, url, builder)
    path.write_text(json.dumps(statement, indent=1) + "\n", encoding="utf-8")
    return path
