# SPDX-License-Identifier: BSD-3-Clause
"""Writes the image's SBOM in CycloneDX 1.6: Debian's packages and our own code.

The same parts give the same bytes: the serial number is a hash, and the time that of the commit.
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
    """The version that the image contains."""

    version: str
    revision: str
    epoch: int  # time of the commit, in seconds

    @property
    def created(self) -> str:
        return datetime.fromtimestamp(self.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def purl(package: Package, distribution: str) -> str:
    """The package URL, with the source package for vulnerability scanners."""
    source, _, version = package.value("Source").partition(" ")
    qualifiers = {"arch": package.value("Architecture"), "distro": distribution}
    if source:
        qualifiers["upstream"] = source + (f"@{version.strip('()')}" if version else "")
    words = "&".join(
        f"{key}={quote(value, safe='~.-_')}" for key, value in sorted(qualifiers.items())
    )
    name, version = (quote(package.value(key), safe="~.-_") for key in ("Package", "Version"))
    return f"pkg:deb/debian/{name}@{version}?{words}"


def licences(copyright: str) -> list[Json]:
    """The licence names of a machine-readable copyright file; none if it has another format."""
    if not copyright.lower().startswith("format:"):
        return []
    names = {name.strip() for name in re.findall(r"^License: *(\S.*)$", copyright, re.MULTILINE)}
    return [{"license": {"name": name}} for name in sorted(names)]


def component(package: Package, copyright: str, distribution: str) -> Json:
    found: Json = {
        "type": "library",
        "bom-ref": purl(package, distribution),
        "supplier": {"name": package.value("Maintainer")},
        "name": package.name,
        "version": package.value("Version"),
        "description": package.value("Description"),
        "purl": purl(package, distribution),
    }
    named = licences(copyright)
    return found | ({"licenses": named} if named else {})


def depends(package: Package) -> set[str]:
    """The names in Depends and Pre-Depends, with all alternatives."""
    field = f"{package.value('Pre-Depends')},{package.value('Depends')}"
    return {re.split(r"[ (:]", word.strip())[0] for word in re.split(r"[,|]", field)} - {""}


def own(release: Release, histogram: str) -> list[Json]:
    """Components that are no Debian packages: OpenVCMTS and HdrHistogram, which it contains."""
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
    packages: Iterable[Package], distribution: str, requested: Iterable[str]
) -> list[Json]:
    found = {package.name: package for package in packages}
    refs = {name: purl(package, distribution) for name, package in found.items()}
    lines = {"vcmts": {"openvcmts"}, "hdr_histogram": set[str]()}
    lines["openvcmts"] = {"hdr_histogram", *(refs[name] for name in requested if name in refs)}
    for name, package in found.items():
        lines[refs[name]] = {refs[other] for other in depends(package) if other in refs}
    return [{"ref": ref, "dependsOn": sorted(others)} for ref, others in sorted(lines.items())]


def make(
    release: Release,
    packages: list[Package],
    copyrights: Mapping[str, str],
    requested: Iterable[str],
    checkout: Path,
    distribution: str,
) -> str:
    """The SBOM as text. `copyrights`: texts by package; `distribution`: such as debian-12."""
    document: Json = {
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
            *(component(package, copyrights[package.name], distribution) for package in packages),
        ],
        "dependencies": dependencies(packages, distribution, requested),
    }
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    return (
        json.dumps(
            {
                "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
                **document,
                "serialNumber": f"urn:uuid:{number}",
            },
            indent=1,
        )
        + "\n"
    )
