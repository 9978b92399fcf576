# SPDX-License-Identifier: BSD-3-Clause
"""Reads the SBOM from an image's archive, and compares it with the packages that the image has."""

import importlib.resources
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from release.versions import MistakeError

Json = dict[str, Any]
Names = set[tuple[str, str]]  # packages: name and version
IN_IMAGE = "usr/share/vcmts/sbom.cdx.json"
STATUS = "var/lib/dpkg/status"
REVISION = "org.opencontainers.image.revision"
OWN = {"openvcmts", "HdrHistogram_c"}  # no Debian packages
ADVICE = "build the image again: make image"


@dataclass(frozen=True)
class Image:
    """What a release needs of an image. `text` is the SBOM's."""

    digest: str  # sha256:..., of the configuration
    revision: str  # the commit, with -dirty if it had changes
    text: str
    packages: Names

    @property
    def sbom(self) -> Json:
        found: Json = json.loads(self.text)
        return found


def member(archive: tarfile.TarFile, name: str) -> BinaryIO:
    try:
        stream = archive.extractfile(name)
    except KeyError:
        stream = None
    if stream is None:
        raise MistakeError(f"the image has no file {name}: {ADVICE}")
    return stream  # type: ignore[return-value]


def installed(status: str) -> Names:
    """The packages of dpkg's status file."""
    packages = set()
    for paragraph in status.strip().split("\n\n"):
        pairs = (line.split(": ", 1) for line in paragraph.splitlines() if ": " in line)
        fields = {pair[0]: pair[1] for pair in pairs if not pair[0].startswith(" ")}
        packages.add((fields["Package"], fields["Version"]))
    return packages


def read(path: Path) -> Image:
    """Reads an archive that `make image` wrote. Raises MistakeError if a file is missing."""
    try:
        with tarfile.open(path) as archive:
            (manifest,) = json.load(member(archive, "manifest.json"))
            name = manifest["Config"]
            configuration: Json = json.load(member(archive, name))
            (layer,) = manifest["Layers"]
            with tarfile.open(fileobj=member(archive, layer)) as files:
                text = member(files, IN_IMAGE).read().decode()
                packages = installed(member(files, STATUS).read().decode())
    except (OSError, ValueError, KeyError, tarfile.TarError) as error:
        raise MistakeError(f"{path}: no image of make image ({error}): {ADVICE}") from None
    return Image(
        digest=f"sha256:{name.removesuffix('.json')}",
        revision=configuration["config"].get("Labels", {}).get(REVISION, "unknown"),
        text=text,
        packages=packages,
    )


def listed(sbom: Json) -> Names:
    """The Debian packages of an SBOM."""
    return {
        (part["name"], part["version"])
        for part in sbom.get("components", [])
        if part["name"] not in OWN
    }


def check(image: Image) -> None:
    """Raises MistakeError unless the SBOM is valid and lists exactly the image's packages."""
    names = listed(image.sbom)
    for found, text in (
        (image.packages - names, "the SBOM lacks packages of the image"),
        (names - image.packages, "the SBOM lists packages that the image lacks"),
    ):
        if found:
            packages = ", ".join(f"{name} {version}" for name, version in sorted(found)[:5])
            raise MistakeError(f"{text}: {packages}: {ADVICE}")
    errors = schema_errors(image.sbom)
    if errors:
        raise MistakeError(f"the SBOM is no CycloneDX 1.6: {errors[0]}")


def has_schema() -> bool:
    """Whether CycloneDX's published schemas are installed (devtools/install-deps image)."""
    try:
        importlib.resources.files("cyclonedx.schema")
    except ModuleNotFoundError:
        return False
    return True


def schema_errors(document: Json) -> list[str]:
    """The errors of a document by CycloneDX's schema; none if has_schema() is False."""
    if not has_schema():
        return []
    import jsonschema
    import referencing

    folder = importlib.resources.files("cyclonedx.schema") / "_res"

    def schema(name: str) -> Json:
        text = (folder / f"{name}.SNAPSHOT.schema.json").read_text(encoding="utf-8")
        result: Json = json.loads(text)
        return result

    others = [schema(name) for name in ("spdx", "jsf-0.82", "cryptography-defs")]
    registry: referencing.Registry[Any] = referencing.Registry().with_resources(
        (item["$id"], referencing.Resource.from_contents(item)) for item in others
    )
    validator = jsonschema.Draft7Validator(schema("bom-1.6"), registry=registry)
    return [error.message for error in validator.iter_errors(document)]
