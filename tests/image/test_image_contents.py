# SPDX-License-Identifier: BSD-3-Clause
"""Tests the contents of build-image/vcmts.tar: size, rights, programs, packages, SBOM."""

import hashlib
import importlib.resources
import io
import json
import re
import tarfile
import tomllib
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
import referencing

from image.containers import ARCHIVE
from vcmts.paths import CHECKOUT

Json = dict[str, Any]
MAX_BYTES = 120_000_000
PROGRAMS = {"vcmtsd", "vcmts", "vcmts-traffic", "python3"}
WRITABLE = {"run/vcmts", "tmp", "var/tmp"}
# Files that belong to no Debian package: those of OpenVCMTS, and generated ones.
OWN = (
    "usr/share/vcmts/*", "usr/bin/vcmts*", "usr/libexec/vcmts/*", "usr/share/doc/vcmts/*",
    "var/lib/dpkg/*", "etc/passwd", "etc/group", "*/__pycache__/*.pyc",
)  # fmt: skip


@dataclass(frozen=True)
class Image:
    config: Json
    layers: list[bytes]
    name: str

    @cached_property
    def tar(self) -> tarfile.TarFile:
        return tarfile.open(fileobj=io.BytesIO(self.layers[0]))

    @cached_property
    def members(self) -> dict[str, tarfile.TarInfo]:
        return {member.name.strip("/"): member for member in self.tar}

    def read(self, name: str) -> bytes:
        file = self.tar.extractfile(self.members[name])
        assert file is not None
        return file.read()

    def text(self, name: str) -> str:
        return self.read(name).decode()

    @cached_property
    def files(self) -> set[str]:
        return {name for name, member in self.members.items() if not member.isdir()}


@pytest.fixture(scope="module")
def image() -> Image:
    with tarfile.open(ARCHIVE) as archive:

        def read(name: str) -> bytes:
            file = archive.extractfile(name)
            assert file is not None
            return file.read()

        (manifest,) = json.loads(read("manifest.json"))
        name = manifest["Config"]
        return Image(json.loads(read(name)), [read(layer) for layer in manifest["Layers"]], name)


def dpkg_packages(image: Image) -> list[dict[str, str]]:
    """The fields of each package in dpkg's status file, without continuation lines."""
    packages = []
    for text in image.text("var/lib/dpkg/status").strip().split("\n\n"):
        pairs = [line.split(":", 1) for line in text.splitlines() if not line.startswith(" ")]
        packages.append({key: value.strip() for key, value in pairs})
    return packages


def test_image_is_small_and_has_one_layer(image: Image) -> None:
    assert len(image.layers) == 1
    assert len(image.layers[0]) < MAX_BYTES


def test_digests_match_contents(image: Image) -> None:
    assert image.config["rootfs"]["diff_ids"] == [
        f"sha256:{hashlib.sha256(image.layers[0]).hexdigest()}"
    ]
    text = json.dumps(image.config, sort_keys=True, separators=(",", ":")).encode()
    assert image.name == f"{hashlib.sha256(text).hexdigest()}.json"


def test_image_starts_the_tool_as_unprivileged_user(image: Image) -> None:
    config = image.config["config"]
    assert config["User"] == "10001:0"
    assert config["Entrypoint"] == ["/usr/bin/vcmts"]
    assert config["Cmd"] == ["pod"]
    assert config["Healthcheck"]["Test"] == ["CMD", "/usr/libexec/vcmts/health"]
    assert "vcmts:x:10001:0:" in image.text("etc/passwd")


def test_labels_match_version_and_commit(image: Image) -> None:
    labels = {
        key.rpartition(".")[2]: value for key, value in image.config["config"]["Labels"].items()
    }
    installed = json.loads(image.text("usr/share/vcmts/installed.json"))
    assert labels["version"] == installed["version"]
    assert labels["revision"].removesuffix("-dirty") == installed["built"]["commit"]
    assert labels["licenses"] == "BSD-3-Clause"
    created = datetime.fromisoformat(labels["created"])
    assert datetime.fromisoformat(image.config["created"]) == created
    assert not {member.mtime for member in image.members.values()} - {int(created.timestamp())}


def test_files_have_no_setuid_and_are_not_writable(image: Image) -> None:
    for name, member in image.members.items():
        assert (member.uid, member.gid) == (0, 0), name
        assert not member.mode & 0o6000, name
        assert member.issym() or name in WRITABLE or not member.mode & 0o022, name


def test_image_has_no_shell_and_no_package_manager(image: Image) -> None:
    programs = {
        name.rpartition("/")[2] for name in image.files if re.match(r"(usr/)?s?bin/[^/]+$", name)
    }
    assert {re.sub(r"^python3\.\d+$", "python3", name) for name in programs} == PROGRAMS
    tops = {name.split("/")[0] for name in image.members if name}
    assert tops == {
        "bin", "dev", "etc", "lib", "lib64", "proc", "run", "sbin", "sys", "tmp", "usr", "var",
    }  # fmt: skip
    assert {name for name in image.files if name.startswith("var/")} == {
        name for name in image.files if name.startswith("var/lib/dpkg/")
    }
    unwanted = (
        "*history*", "etc/machine-id", "etc/shadow*", "*.log", "*/man/man*", "etc/ssl/*", "*.[ah]",
    )  # fmt: skip
    allowed = {"usr/share/vcmts/src/power/governor.h"}  # the tool reads its constants
    files = image.files - allowed
    assert not {name for name in files if any(fnmatchcase(name, bad) for bad in unwanted)}


def test_drivers_match_the_contents_list(image: Image) -> None:
    text = (CHECKOUT / "deploy/container/contents.toml").read_text(encoding="utf-8")
    drivers = tomllib.loads(text)["drivers"]
    lists = {kind: names for kind, names in drivers.items() if kind != "optional"}
    wanted = {f"librte_{kind}_{name}" for kind, names in lists.items() for name in names}
    assert len(wanted) > 20
    pmds = {name.rpartition("/")[2].split(".")[0] for name in image.files if "/dpdk/pmds-" in name}
    assert wanted - {f"librte_{name}" for name in drivers["optional"]} <= pmds
    shared = {"librte_common_iavf", "librte_common_mlx5"}  # used by several drivers
    assert pmds - wanted - shared == set(), "drivers that are not in contents.toml"


def test_each_library_exists_once(image: Image) -> None:
    """DPDK would load a second copy and list its drivers twice."""
    real = [
        name.rpartition("/")[2]
        for name in image.files
        if image.members[name].isreg() and "librte_" in name
    ]
    assert len(real) == len(set(real))


def test_bytecode_is_unchecked_hash_based(image: Image) -> None:
    compiled = {name for name in image.files if name.endswith(".pyc")}
    sources = {
        name
        for name in image.files
        if name.endswith(".py") and "/python" in name and name.startswith("usr/")
    }
    assert len(compiled) == len(sources) > 300
    assert {image.read(name)[4:8] for name in compiled} == {b"\x01\0\0\0"}


def test_every_file_belongs_to_a_package_or_openvcmts(image: Image) -> None:
    links = {name for name, member in image.members.items() if member.issym()}
    owned = {
        line.removeprefix("/")
        for name in image.files
        if fnmatchcase(name, "var/lib/dpkg/info/*.list")
        for line in image.text(name).splitlines()
    }
    assert owned <= set(image.members)
    assert {
        name
        for name in image.files - owned - {"bin", "lib", "lib64", "sbin"}
        if not any(fnmatchcase(name, own) for own in OWN)
    } == set()
    assert {name for name in links if not image.members[name].linkname} == set()


def test_every_package_has_its_licence(image: Image) -> None:
    for package in dpkg_packages(image):
        folder = f"usr/share/doc/{package['Package']}"
        if image.members[folder].issym():
            folder = f"usr/share/doc/{image.members[folder].linkname}"
        assert f"{folder}/copyright" in image.members, package["Package"]


@pytest.fixture(scope="module")
def sbom(image: Image) -> Json:
    result: Json = json.loads(image.text("usr/share/vcmts/sbom.cdx.json"))
    return result


def test_sbom_is_valid(sbom: Json) -> None:
    folder = importlib.resources.files("cyclonedx.schema") / "_res"

    def schema(name: str) -> Json:
        result: Json = json.loads((folder / name).read_text(encoding="utf-8"))
        return result

    names = ("spdx", "jsf-0.82", "cryptography-defs")
    schemas = [schema(f"{name}.SNAPSHOT.schema.json") for name in names]
    registry: referencing.Registry[Any] = referencing.Registry().with_resources(
        (item["$id"], referencing.Resource.from_contents(item)) for item in schemas
    )
    bom = schema("bom-1.6.SNAPSHOT.schema.json")
    validator = jsonschema.Draft7Validator(bom, registry=registry)
    assert [error.message for error in validator.iter_errors(sbom)] == []
    assert list(validator.iter_errors(sbom | {"bomFormat": "other"}))


def test_sbom_is_complete(image: Image, sbom: Json) -> None:
    debian = [
        component
        for component in sbom["components"]
        if component.get("purl", "").startswith("pkg:deb/debian/")
    ]
    named = {(component["name"], component["version"]) for component in debian}
    assert named == {(package["Package"], package["Version"]) for package in dpkg_packages(image)}
    for component in debian:
        assert unquote(component["purl"]).startswith(
            f"pkg:deb/debian/{component['name']}@{component['version']}?"
        )
        assert "distro=debian-" in component["purl"]
    own = {component["name"] for component in sbom["components"]} - {name for name, _ in named}
    assert own == {"openvcmts", "HdrHistogram_c"}
    refs = [component["bom-ref"] for component in sbom["components"]] + ["vcmts"]
    assert len(set(refs)) == len(refs)
    assert {line["ref"] for line in sbom["dependencies"]} == set(refs)
    assert all(set(line["dependsOn"]) <= set(refs) for line in sbom["dependencies"])


def test_sbom_is_also_beside_the_archive(image: Image) -> None:
    copy = ARCHIVE.parent / "vcmts.sbom.cdx.json"
    assert copy.read_bytes() == image.read("usr/share/vcmts/sbom.cdx.json")
