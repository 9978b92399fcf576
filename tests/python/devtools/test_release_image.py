# SPDX-License-Identifier: BSD-3-Clause
"""Tests the SBOM's check, the provenance and the chart of a release."""

import hashlib
import io
import json
import os
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from container import sbom as container_sbom
from container.packages import Package
from python.devtools.release_repository import Repository
from release import archive, building, chart, checksums, main, provenance, sbom
from release.versions import MistakeError, Release
from vcmts.paths import CHECKOUT

RELEASE = Release("0.1.0", "a" * 40, 1_800_000_000, "v0.1.0", None)
CONTROL = """\
Package: libexample1
Version: {version}
Architecture: amd64
Maintainer: Someone <a@example.org>
Description: example
 Version: of the description
"""
BUILDINFO = """\
Format: 1.0
Source: openvcmts
Build-Origin: {origin}
Installed-Build-Depends:
 g++-12 (= 4:12.2.0-3+b1),
 libpcap-dev:amd64 (= 1.10.3-1)
Environment:
 DEB_BUILD_OPTIONS="parallel=2"
 LANG (= C)
"""


def add(to: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    to.addfile(info, io.BytesIO(data))


def write_image(
    path: Path, listed: str = "1.0", installed: str = "1.0", revision: str = RELEASE.commit
) -> str:
    """Writes an archive as make image does, with a package's versions in SBOM and database."""
    details = container_sbom.Release("0.1.0", revision, RELEASE.epoch)
    package = Package(CONTROL.format(version=listed))
    text = container_sbom.make(
        details, [package], {"libexample1": ""}, ["libexample1"], CHECKOUT, "debian-12"
    )
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as files:
        add(files, sbom.IN_IMAGE, text.encode())
        add(files, sbom.STATUS, CONTROL.format(version=installed).encode())
    configuration = json.dumps({"config": {"Labels": {sbom.REVISION: revision}}}).encode()
    digest = hashlib.sha256(configuration).hexdigest()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as to:
        add(to, "layer.tar", layer.getvalue())
        add(to, f"{digest}.json", configuration)
        manifest = [{"Config": f"{digest}.json", "Layers": ["layer.tar"]}]
        add(to, "manifest.json", json.dumps(manifest).encode())
    return digest


def test_sbom_lists_the_packages_of_the_image(tmp_path: Path) -> None:
    path = tmp_path / "vcmts.tar"
    digest = write_image(path)
    image = sbom.read(path)
    assert (image.digest, image.packages) == (f"sha256:{digest}", {("libexample1", "1.0")})
    sbom.check(image)
    write_image(path, installed="1.1")
    with pytest.raises(MistakeError, match=r"lacks packages of the image: libexample1 1\.1: "):
        sbom.check(sbom.read(path))


def test_sbom_with_packages_that_the_image_lacks_is_refused(tmp_path: Path) -> None:
    write_image(tmp_path / "vcmts.tar")
    image = sbom.read(tmp_path / "vcmts.tar")
    fewer = sbom.Image(image.digest, image.revision, image.text, set())
    with pytest.raises(MistakeError, match=r"lists packages that the image lacks: libexample1"):
        sbom.check(fewer)


def test_sbom_that_breaks_the_schema_is_refused(tmp_path: Path) -> None:
    if not sbom.has_schema():
        pytest.skip("needs CycloneDX's schemas: devtools/install-deps image")
    write_image(tmp_path / "vcmts.tar")
    image = sbom.read(tmp_path / "vcmts.tar")
    broken = image.text.replace('"CycloneDX"', '"other"')
    with pytest.raises(MistakeError, match=r"no CycloneDX 1\.6"):
        sbom.check(sbom.Image(image.digest, image.revision, broken, image.packages))


def test_other_archives_are_no_image(tmp_path: Path) -> None:
    path = tmp_path / "vcmts.tar"
    path.write_bytes(b"no archive")
    with pytest.raises(MistakeError, match="no image of make image"):
        sbom.read(path)
    with tarfile.open(path, "w") as to:
        add(to, "other", b"")
    with pytest.raises(MistakeError, match=r"no file manifest\.json: build the image again"):
        sbom.read(path)


def order(folder: Path, quick: bool = False) -> main.Order:
    (folder / "out").mkdir(exist_ok=True)
    return main.Order(RELEASE, folder, folder / "out", "", (), "", quick)


def test_image_of_another_commit_is_not_released(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_image(tmp_path / main.IMAGE, revision=f"{RELEASE.commit}-dirty")
    with pytest.raises(MistakeError, match="of another commit: make image"):
        main.make_sbom(order(tmp_path))
    assert main.make_sbom(order(tmp_path, quick=True)) is None
    assert "without an image" in capsys.readouterr().out
    assert list((tmp_path / "out").iterdir()) == []


def statement(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out" / provenance.NAME).read_text())
    return found


def test_provenance_has_the_digests_of_all_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = write_image(tmp_path / main.IMAGE)
    for suite, origin in (("bookworm", "Debian"), ("noble", "Ubuntu")):
        folder = tmp_path / "out" / suite
        folder.mkdir(parents=True)
        (folder / "a.deb").write_text(suite)
        (folder / "a.buildinfo").write_text(BUILDINFO.format(origin=origin))
    monkeypatch.setenv("SOURCE", "https://example.org/vcmts.git")
    monkeypatch.setenv("BUILDER", "https://example.org/ci")
    main.make(order(tmp_path), ["sbom", "provenance", "checksums"])
    found = statement(tmp_path)
    digests = {item["name"]: item["digest"]["sha256"] for item in found["subject"]}
    assert digests.pop("localhost/vcmts") == digest
    sums = (tmp_path / "out" / checksums.SUMS).read_text().splitlines()
    expected = {line.split()[1]: line.split()[0] for line in sums}
    assert expected.pop(provenance.NAME) and digests == expected
    assert {"bookworm/a.deb", "vcmts-image-0.1.0.tar.gz", "vcmts-image-0.1.0.cdx.json"} <= set(
        digests
    )
    built = found["predicate"]["buildDefinition"]
    first, *packages = built["resolvedDependencies"]
    assert first == {
        "uri": "git+https://example.org/vcmts.git@refs/tags/v0.1.0",
        "digest": {"gitCommit": RELEASE.commit},
    }
    assert [item["uri"] for item in packages] == [
        "pkg:deb/debian/g%2B%2B-12@4%3A12.2.0-3%2Bb1?distro=bookworm",
        "pkg:deb/debian/libpcap-dev@1.10.3-1?distro=bookworm",
        "pkg:deb/ubuntu/g%2B%2B-12@4%3A12.2.0-3%2Bb1?distro=noble",
        "pkg:deb/ubuntu/libpcap-dev@1.10.3-1?distro=noble",
        "pkg:deb/debian/libexample1@1.0?arch=amd64&distro=debian-12",
    ]
    builder = found["predicate"]["runDetails"]["builder"]
    assert builder["id"] == "https://example.org/ci" and "git" in builder["version"]
    assert built["externalParameters"] == {"version": "0.1.0", "ref": "refs/tags/v0.1.0"}


def test_provenance_is_reproducible(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_text("a")
    texts = set()
    for _ in range(2):
        path = provenance.write(RELEASE, tmp_path / "out", None)
        texts.add(path.read_text())
    assert len(texts) == 1
    assert statement(tmp_path)["_type"] == provenance.STATEMENT


def test_image_is_compressed_without_name_and_time(tmp_path: Path) -> None:
    outputs = []
    for name, when in (("a", 1), ("b", 2)):
        (tmp_path / name).write_text("the image")
        os.utime(tmp_path / name, (when, when))
        building.compress(tmp_path / name, tmp_path / f"{name}.gz")
        outputs.append((tmp_path / f"{name}.gz").read_bytes())
    assert outputs[0] == outputs[1]
    assert outputs[0][4:8] == bytes(4)  # gzip's time
    packed = ["gzip", "-dc", str(tmp_path / "a.gz")]
    assert subprocess.run(packed, capture_output=True, check=True).stdout == b"the image"


def package(folder: Path, when: int, mode: int) -> bytes:
    """A package as Helm writes it, at another time."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as to:
        for name in ("vcmts/values.yaml", "vcmts/Chart.yaml", "vcmts/README.md"):
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(name), when, mode
            to.addfile(info, io.BytesIO(name.encode()))
    return out.getvalue()


def test_chart_is_reproducible(tmp_path: Path) -> None:
    first, second = (
        chart.normalized(package(tmp_path, when, mode), RELEASE.epoch)
        for when, mode in ((1, 0o644), (2, 0o600))
    )
    assert first == second
    assert first[4:8] == bytes(4)  # gzip's time
    with tarfile.open(fileobj=io.BytesIO(first)) as found:
        assert found.getnames() == ["vcmts/Chart.yaml", "vcmts/README.md", "vcmts/values.yaml"]
        assert {member.mtime for member in found} == {RELEASE.epoch}
        text = found.extractfile("vcmts/README.md")
        assert text is not None and text.read() == b"vcmts/README.md"


def test_chart_has_the_version_of_the_release(tmp_path: Path) -> None:
    if not (CHECKOUT / "build-chart" / "render").exists():
        pytest.skip("needs Helm's packages: devtools/install-deps chart")
    path = chart.write(CHECKOUT, RELEASE, tmp_path)
    assert path.read_bytes() == chart.write(CHECKOUT, RELEASE, tmp_path).read_bytes()
    with tarfile.open(path) as found:
        text = found.extractfile("vcmts/Chart.yaml")
        assert text is not None
        lines = text.read().decode().splitlines()
        assert "vcmts/dashboards/system.json" in found.getnames()
    assert {"version: 0.1.0", "appVersion: 0.1.0"} <= set(lines)


STUB = """#!/bin/sh
[ -n "$NO_LOG" ] || echo "${0##*/} $1 $2 $3 $IMAGE_VERSION" >>log
[ "$1" != noble ] || exit 3
[ "$1" != trixie ] || exit 1
[ -z "$4" ] || { mkdir -p "$4" && touch "$4/a.deb" "$4/build.log"; }
"""


@pytest.fixture
def stubs(tmp_path: Path) -> Path:
    """Scripts that log their calls: trixie fails, the packages of noble cannot be fetched."""
    for name in ("release/build-packages", "release/upgrade-test", "image"):
        path = tmp_path / "devtools" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STUB)
        path.chmod(0o755)
    return tmp_path


def test_packages_of_a_release(stubs: Path) -> None:
    out = stubs / "out"
    source = stubs / "source"
    assert building.build(stubs, RELEASE, "bookworm", source, out)
    assert [path.name for path in (out / "bookworm").iterdir()] == ["a.deb"]
    assert not building.build(stubs, RELEASE, "noble", source, out)
    assert not (out / "noble").exists()
    with pytest.raises(MistakeError, match="packages of trixie failed"):
        building.build(stubs, RELEASE, "trixie", source, out)
    with pytest.raises(MistakeError, match="SUITES: found sid, allowed: bookworm, trixie, noble"):
        building.checked_suites("bookworm sid")


def test_image_has_the_version_of_the_release(stubs: Path) -> None:
    building.image(stubs, RELEASE, ["--here"])
    assert (stubs / "log").read_text().split() == ["image", "--here", "0.1.0"]


def test_upgrade_installs_the_previous_packages_first(
    stubs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "running_suite", lambda: "bookworm")
    monkeypatch.setattr(archive, "write", lambda *_: stubs / "source")
    later = Release("0.2.0", "b" * 40, 1_800_000_000, "v0.2.0", "v0.1.0")
    building.upgrade(stubs, RELEASE, later)
    first, second, test = (stubs / "log").read_text().splitlines()
    source = str(stubs / "source")
    assert first.split() == ["build-packages", "bookworm", source, "0.1.0"]
    assert second.split() == ["build-packages", "bookworm", source, "0.2.0"]
    folders = [
        str(stubs / "build-release" / version / "bookworm") for version in ("0.1.0", "0.2.0")
    ]
    assert test.split() == ["upgrade-test", *folders]
    building.upgrade(stubs, RELEASE, later)  # does not build them again
    assert (stubs / "log").read_text().count("build-packages") == 2


def test_release_goes_on_without_ubuntu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All parts but the chart, with a stub of the script that builds packages."""
    repository = Repository(tmp_path / "checkout")
    repository.write(".gitignore", "/build*/\n")
    repository.write("devtools/release/build-packages", STUB)
    (repository.folder / "devtools/release/build-packages").chmod(0o755)
    commit = repository.commit("release: stubs")
    repository.tag("v0.1.0")
    image = repository.folder / main.IMAGE
    monkeypatch.setattr(main, "ALL", [name for name in main.ALL if name != "chart"])
    monkeypatch.setattr(building, "image", lambda *_: write_image(image, revision=commit))
    monkeypatch.setenv("NO_LOG", "yes")
    assert main.main(["all", "--suites", "bookworm noble"], repository.folder) == 0
    assert "release: WITHOUT packages of noble: " in capsys.readouterr().out
    folder = repository.folder / "build-release" / "0.1.0"
    done = subprocess.run(["sha256sum", "--check", checksums.SUMS], cwd=folder, capture_output=True)
    assert done.returncode == 0
    assert checksums.files(folder) == [
        "CHANGELOG.md",
        "bookworm/a.deb",
        "openvcmts-0.1.0.tar.gz",
        "provenance.json",
        "vcmts-image-0.1.0.cdx.json",
        "vcmts-image-0.1.0.tar.gz",
    ]
    assert main.main(["packages", "--suites", "trixie"], repository.folder) == 1
    assert capsys.readouterr().err == "release: packages of trixie failed (above)\n"
