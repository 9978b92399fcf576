# SPDX-License-Identifier: BSD-3-Clause
"""The list of parts of the image, as CycloneDX 1.6 has it: Debian's packages and our own.

The same parts give the same bytes: its number is made of its contents, its time is the commit's.
"""

import json
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from container.packages import Package

Json = dict[str, Any]
SOURCE = "https://github.com/HdrHistogram/HdrHistogram_c"


@dataclass(frozen=True)
class Release:
    """What is built."""

    version: str
    revision: str
    epoch: int  # of the commit, in seconds

    @property
    def created(self) -> str:
        return datetime.fromtimestamp(self.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def purl(package: Package, distribution: str) -> str:
    source, _, version = package.value("Source").partition(" ")
    marks = {"arch": package.value("Architecture"), "distro": distribution}
    if source:
        marks["upstream"] = source + (f"@{version.strip('()')}" if version else "")
    words = "&".join(f"{key}={quote(value, safe='~.-_')}" for key, value in sorted(marks.items()))
    name, version = (quote(package.value(key), safe="~.-_") for key in ("Package", "Version"))
    return f"pkg:deb/debian/{name}@{version}?{words}"


def licences(paper: str) -> list[Json]:
    """The short names of a copyright file that is made to be read by programs; none of another."""
    if not paper.lower().startswith("format:"):
        return []
    names = {name.strip() for name in re.findall(r"^License: *(\S.*)$", paper, re.MULTILINE)}
    return [{"license": {"name": name}} for name in sorted(names)]


def component(package: Package, paper: str, distribution: str) -> Json:
    found: Json = {
        "type": "library",
        "bom-ref": purl(package, distribution),
        "supplier": {"name": package.value("Maintainer")},
        "name": package.name,
        "version": package.value("Version"),
        "description": package.value("Description"),
        "purl": purl(package, distribution),
    }
    named = licences(paper)
    return found | ({"licenses": named} if named else {})


def depends(package: Package) -> set[str]:
    """The names in its Depends and Pre-Depends, whichever of the alternatives it is."""
    said = f"{package.value('Pre-Depends')},{package.value('Depends')}"
    return {re.split(r"[ (:]", word.strip())[0] for word in re.split(r"[,|]", said)} - {""}


def own(release: Release, histogram: str) -> list[Json]:
    """What is no package of Debian: ours, and the library that is compiled in."""
    return [
        {
            "type": "application",
            "bom-ref": "openvcmts",
            "name": "openvcmts",
            "version": release.version,
            "licenses": [{"expression": "BSD-3-Clause"}],
            "properties": [{"name": "revision", "value": release.revision}],
        },
        {
            "type": "library",
            "bom-ref": "hdr_histogram",
            "name": "HdrHistogram_c",
            "version": histogram,
            "licenses": [{"expression": "CC0-1.0 OR BSD-2-Clause"}],
            "externalReferences": [{"type": "vcs", "url": SOURCE}],
        },
    ]


def histogram_version(checkout: Path) -> str:
    readme = (checkout / "subprojects/hdr_histogram/README.md").read_text(encoding="utf-8")
    return str(re.findall(r"at commit ([0-9a-f]{40})", readme)[0])


def dependencies(
    packages: Iterable[Package], distribution: str, asked: Iterable[str]
) -> list[Json]:
    found = {package.name: package for package in packages}
    refs = {name: purl(package, distribution) for name, package in found.items()}
    lines = {"vcmts": {"openvcmts"}, "hdr_histogram": set[str]()}
    lines["openvcmts"] = {"hdr_histogram", *(refs[name] for name in asked if name in refs)}
    for name, package in found.items():
        lines[refs[name]] = {refs[other] for other in depends(package) if other in refs}
    return [{"ref": ref, "dependsOn": sorted(others)} for ref, others in sorted(lines.items())]


def make(
    release: Release,
    packages: list[Package],
    papers: Mapping[str, str],
    asked: Iterable[str],
    checkout: Path,
    distribution: str,
) -> str:
    """As text. `papers`: the copyright files by package; `distribution`: debian-12."""
    told: Json = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": release.created,
            "component": {
                "type": "container",
                "bom-ref": "vcmts",
                "name": "vcmts",
                "version": release.version,
            },
        },
        "components": [
            *own(release, histogram_version(checkout)),
            *(component(package, papers[package.name], distribution) for package in packages),
        ],
        "dependencies": dependencies(packages, distribution, asked),
    }
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(told, sort_keys=True))
    return (
        json.dumps(
            {
                "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
                **told,
                "serialNumber": f"urn:uuid:{number}",
            },
            indent=1,
        )
        + "\n"
    )
