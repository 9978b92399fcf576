# SPDX-License-Identifier: BSD-3-Clause
"""What is in the image and what is not, seen in its archive: build-image/vcmts.tar."""

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
MOST_BYTES = 120_000_000
PROGRAMS = {"vcmtsd", "vcmts", "vcmts-traffic", "python3"}
TO_WRITE = {"run/vcmts", "tmp", "var/tmp"}
# Ours or made here: of no package.
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
        found = self.tar.extractfile(self.members[name])
        assert found is not None
        return found.read()

    def text(self, name: str) -> str:
        return self.read(name).decode()

    @cached_property
    def files(self) -> set[str]:
        return {name for name, member in self.members.items() if not member.isdir()}


@pytest.fixture(scope="module")
def image() -> Image:
    with tarfile.open(ARCHIVE) as archive:

        def read(name: str) -> bytes:
            found = archive.extractfile(name)
            assert found is not None
            return found.read()

        (told,) = json.loads(read("manifest.json"))
        return Image(
            json.loads(read(told["Config"])),
            [read(name) for name in told["Layers"]],
            told["Config"],
        )


def paragraphs(image: Image) -> list[dict[str, str]]:
    """Of dpkg's database; the lines of a description are left out."""
    found = []
    for text in image.text("var/lib/dpkg/status").strip().split("\n\n"):
        pairs = [line.split(":", 1) for line in text.splitlines() if not line.startswith(" ")]
        found.append({key: value.strip() for key, value in pairs})
    return found


def test_it_is_small_and_one_layer(image: Image) -> None:
    assert len(image.layers) == 1
    assert len(image.layers[0]) < MOST_BYTES


def test_its_digests_are_those_of_its_contents(image: Image) -> None:
    assert image.config["rootfs"]["diff_ids"] == [
        f"sha256:{hashlib.sha256(image.layers[0]).hexdigest()}"
    ]
    text = json.dumps(image.config, sort_keys=True, separators=(",", ":")).encode()
    assert image.name == f"{hashlib.sha256(text).hexdigest()}.json"


def test_it_starts_the_tool_as_an_ordinary_user(image: Image) -> None:
    config = image.config["config"]
    assert config["User"] == "10001:0"
    assert config["Entrypoint"] == ["/usr/bin/vcmts"]
    assert config["Cmd"] == ["pod"]
    assert config["Healthcheck"]["Test"] == ["CMD", "/usr/libexec/vcmts/health"]
    assert "vcmts:x:10001:0:" in image.text("etc/passwd")


def test_its_labels_say_what_it_was_made_of(image: Image) -> None:
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


def test_nobody_gets_rights_by_its_files(image: Image) -> None:
    for name, member in image.members.items():
        assert (member.uid, member.gid) == (0, 0), name
        assert not member.mode & 0o6000, name
        assert member.issym() or name in TO_WRITE or not member.mode & 0o022, name


def test_it_has_no_shell_and_no_package_manager(image: Image) -> None:
    programs = {
        name.rpartition("/")[2] for name in image.files if re.match(r"(usr/)?s?bin/[^/]+$", name)
    }
    assert {re.sub(r"^python3\.\d+$", "python3", name) for name in programs} == PROGRAMS
    tops = {name.split("/")[0] for name in image.members if name}
    assert tops == {
        "bin",
        "dev",
        "etc",
        "lib",
        "lib64",
        "proc",
        "run",
        "sbin",
        "sys",
        "tmp",
        "usr",
        "var",
    }
    assert {name for name in image.files if name.startswith("var/")} == {
        name for name in image.files if name.startswith("var/lib/dpkg/")
    }
    unwanted = (
        "*history*",
        "etc/machine-id",
        "etc/shadow*",
        "*.log",
        "*/man/man*",
        "etc/ssl/*",
        "*.a",
        "*.h",
    )
    kept = {"usr/share/vcmts/src/power/governor.h"}  # the tool reads its numbers
    assert not {
        name for name in image.files - kept if any(fnmatchcase(name, bad) for bad in unwanted)
    }


def test_every_driver_of_the_list_is_there(image: Image) -> None:
    told = tomllib.loads((CHECKOUT / "deploy/container/contents.toml").read_text(encoding="utf-8"))
    lists = {kind: names for kind, names in told["drivers"].items() if kind != "wished"}
    wanted = {f"librte_{kind}_{name}" for kind, names in lists.items() for name in names}
    assert len(wanted) > 20
    found = {name.rpartition("/")[2].split(".")[0] for name in image.files if "/dpdk/pmds-" in name}
    assert wanted - {f"librte_{name}" for name in told["drivers"]["wished"]} <= found
    shared = {"librte_common_iavf", "librte_common_mlx5"}  # of several drivers
    assert found - wanted - shared == set(), "drivers that nobody has asked for"


def test_a_driver_is_one_file_by_whatever_name(image: Image) -> None:
    """One that is there twice is loaded twice, and stands twice in DPDK's lists."""
    real = [
        name.rpartition("/")[2]
        for name in image.files
        if image.members[name].isreg() and "librte_" in name
    ]
    assert len(real) == len(set(real))


def test_bytecode_is_taken_without_a_look_at_its_source(image: Image) -> None:
    compiled = {name for name in image.files if name.endswith(".pyc")}
    sources = {
        name
        for name in image.files
        if name.endswith(".py") and "/python" in name and name.startswith("usr/")
    }
    assert len(compiled) == len(sources) > 300
    assert {image.read(name)[4:8] for name in compiled} == {b"\x01\0\0\0"}


def test_every_file_is_a_packages_or_ours(image: Image) -> None:
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


def test_licences_of_all_packages_are_there(image: Image) -> None:
    for package in paragraphs(image):
        folder = f"usr/share/doc/{package['Package']}"
        if image.members[folder].issym():
            folder = f"usr/share/doc/{image.members[folder].linkname}"
        assert f"{folder}/copyright" in image.members, package["Package"]


@pytest.fixture(scope="module")
def parts(image: Image) -> Json:
    told: Json = json.loads(image.text("usr/share/vcmts/sbom.cdx.json"))
    return told


def test_the_list_of_parts_is_valid(parts: Json) -> None:
    folder = importlib.resources.files("cyclonedx.schema") / "_res"

    def schema(name: str) -> Json:
        found: Json = json.loads((folder / name).read_text(encoding="utf-8"))
        return found

    others = [
        schema(name)
        for name in (
            "spdx.SNAPSHOT.schema.json",
            "jsf-0.82.SNAPSHOT.schema.json",
            "cryptography-defs.SNAPSHOT.schema.json",
        )
    ]
    registry: referencing.Registry[Any] = referencing.Registry().with_resources(
        (other["$id"], referencing.Resource.from_contents(other)) for other in others
    )
    validator = jsonschema.Draft7Validator(
        schema("bom-1.6.SNAPSHOT.schema.json"), registry=registry
    )
    assert [error.message for error in validator.iter_errors(parts)] == []
    assert list(validator.iter_errors(parts | {"bomFormat": "other"}))


def test_the_list_of_parts_is_complete(image: Image, parts: Json) -> None:
    debian = [
        part for part in parts["components"] if part.get("purl", "").startswith("pkg:deb/debian/")
    ]
    named = {(part["name"], part["version"]) for part in debian}
    assert named == {(package["Package"], package["Version"]) for package in paragraphs(image)}
    for part in debian:
        assert unquote(part["purl"]).startswith(f"pkg:deb/debian/{part['name']}@{part['version']}?")
        assert "distro=debian-" in part["purl"]
    rest = {part["name"] for part in parts["components"]} - {name for name, _ in named}
    assert rest == {"openvcmts", "HdrHistogram_c"}
    refs = [part["bom-ref"] for part in parts["components"]] + ["vcmts"]
    assert len(set(refs)) == len(refs)
    assert {line["ref"] for line in parts["dependencies"]} == set(refs)
    assert all(set(line["dependsOn"]) <= set(refs) for line in parts["dependencies"])


def test_the_list_of_parts_lies_beside_the_archive(image: Image) -> None:
    beside = ARCHIVE.parent / "vcmts.sbom.cdx.json"
    assert beside.read_bytes() == image.read("usr/share/vcmts/sbom.cdx.json")
