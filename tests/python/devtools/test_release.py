# SPDX-License-Identifier: BSD-3-Clause
"""Tests the version, the source archive, the changelog and the checksums of a release."""

import gzip
import itertools
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from python.devtools.release_repository import ENVIRONMENT, FIRST_TIME, Repository
from release import archive, changelog, checksums, main, versions
from release.versions import MistakeError


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "checkout")
    made.write(".gitignore", "/build*/\n")
    made.commit("wire: parse frames")
    return made


def mistake(repository: Repository, wanted: str = "") -> str:
    with pytest.raises(MistakeError) as raised:
        versions.choose(repository.folder, wanted)
    text = str(raised.value)
    assert "\n" not in text
    return text


def test_tag_names_the_version(repository: Repository) -> None:
    repository.tag("v0.1.0")
    for wanted in ("", "0.1.0", "v0.1.0"):
        release = versions.choose(repository.folder, wanted)
        assert (release.version, release.debian, release.tag) == ("0.1.0", "0.1.0", "v0.1.0")
        assert (release.epoch, release.previous) == (FIRST_TIME, None)


def test_missing_tag_is_refused(repository: Repository) -> None:
    assert "found no tag v0.1.0: create it (git tag -a v0.1.0)" in mistake(repository)
    assert "found no tag v0.2.0" in mistake(repository, "0.2.0")
    assert "VERSION: found 1.x, allowed:" in mistake(repository, "1.x")


def test_changed_checkout_is_refused(repository: Repository) -> None:
    repository.tag("v0.1.0")
    repository.write("build-release/file", "ignored")
    versions.choose(repository.folder, "")
    repository.write("new.c", "int a;\n")
    assert "the checkout has changes (git status)" in mistake(repository)
    assert "the checkout has changes (git status)" in mistake(repository, "snapshot")


def test_tag_of_another_commit_is_refused(repository: Repository) -> None:
    repository.tag("v0.1.0")
    repository.commit("wire: check the HCS")
    assert "HEAD is not v0.1.0: git switch --detach v0.1.0" in mistake(repository)


@pytest.mark.parametrize("name", list(versions.FILES))
def test_files_must_agree(name: str, repository: Repository) -> None:
    text = (repository.folder / name).read_text()
    repository.write(name, text.replace("0.1.0", "0.1.1"))
    repository.commit("meson: next version")
    for wanted in ("", "snapshot"):
        text = mistake(repository, wanted)
        assert f"{name} has 0.1.1" in text and "write the same into all of them" in text
    repository.write(name, "")
    repository.commit("meson: no version")
    assert f"{name}: found no version" in mistake(repository)


def test_tag_must_agree_with_files(repository: Repository) -> None:
    repository.tag("v0.2.0")
    text = mistake(repository, "0.2.0")
    assert "tag v0.2.0 names a commit of version 0.1.0" in text and "delete the tag" in text


def test_own_files_agree(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["versions"]) == 0
    assert "deploy/helm/vcmts/Chart.yaml: version " in capsys.readouterr().out


def test_snapshot_is_before_the_next_release(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    commit = repository.git("rev-parse", "HEAD")
    first = versions.choose(repository.folder, "snapshot")
    assert first.version == f"0.1.0-git20270115080000.g{commit[:8]}" and first.tag is None
    repository.tag("v0.1.0")
    second = repository.commit("wire: check the HCS")
    later = versions.choose(repository.folder, "snapshot")
    assert later.debian == f"0.1.1~git20270115080100.g{second[:8]}"
    assert later.previous == "v0.1.0"
    order = [first.debian, "0.1.0", "0.1.0+deb12", "0.1.0+deb13", later.debian, "0.1.1+deb12"]
    for lower, higher in itertools.pairwise(order):
        subprocess.run(["dpkg", "--compare-versions", lower, "lt", higher], check=True)


def test_previous_is_the_version_before(repository: Repository) -> None:
    repository.tag("v0.1.0")
    for version in ("0.9.0", "0.10.0", "0.11.0"):
        repository.set_version(version)
        repository.commit(f"meson: version {version}")
        repository.tag(f"v{version}")
    repository.tag("v99-test")
    assert versions.choose(repository.folder, "").previous == "v0.10.0"
    old = versions.of_commit(repository.folder, "v0.9.0")
    assert (old.version, old.previous) == ("0.9.0", "v0.1.0")
    assert versions.of_commit(repository.folder, "HEAD~3").version.startswith("0.1.1-git")


def test_archive_is_reproducible(repository: Repository, tmp_path: Path) -> None:
    """A clone with other settings and another umask gives the same bytes."""
    repository.write("a.c", "int a;\n")
    repository.write("devtools/revision", "'$Format:%H$'\n")
    repository.write(".gitattributes", "devtools/revision export-subst\n")
    commit = repository.commit("wire: a")
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", ".", str(clone))
    for setting in ("tar.umask=0077", "core.autocrlf=true", "tar.tar.gz.command=cat"):
        subprocess.run(["git", "config", *setting.split("=")], cwd=clone, check=True)
    (clone / "untracked").touch()
    files = []
    for checkout in (repository.folder, clone):
        release = versions.snapshot(checkout, "HEAD")
        files.append(archive.write(checkout, release, tmp_path).read_bytes())
    assert files[0] == files[1]
    assert files[0][4:8] == bytes(4)  # gzip's time
    name = f"openvcmts-{release.version}"
    with tarfile.open(tmp_path / f"{name}.tar.gz") as found:
        assert {member.name.split("/")[0] for member in found} == {name}
        assert {member.mtime for member in found} == {FIRST_TIME + 60}
        assert f"{name}/untracked" not in found.getnames()
        revision = found.extractfile(f"{name}/devtools/revision")
        assert revision is not None and revision.read().decode() == f"'{commit}'\n"


def test_changelog_groups_titles_since_the_previous_tag(repository: Repository) -> None:
    repository.tag("v0.1.0")
    repository.set_version("0.2.0")
    for title in (
        "upstream: second",
        "Merge branch topic",
        "tests, docs: shared",
        "Upstream: third",
        "downstream: first",
        "tests: own",
        "tests/unit: part",
        "no component at all of these words: none",
    ):
        repository.commit(title)
    repository.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    repository.commit("wire: on a branch")
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-ff", "--message", "merge: topic", "topic")
    repository.tag("v0.2.0")
    head = repository.git("rev-parse", "HEAD")
    text = changelog.make(repository.folder, versions.choose(repository.folder, ""))
    assert text.splitlines() == [
        "# OpenVCMTS 0.2.0", "",
        f"2027-01-15, commit {head}, 9 changes, since v0.1.0.", "",
        "## downstream", "", "- first", "",
        "## tests", "", "- tests, docs: shared", "- own", "- tests/unit: part", "",
        "## upstream", "", "- second", "- third", "",
        "## wire", "", "- on a branch", "",
        "## other", "", "- Merge branch topic", "- no component at all of these words: none",
    ]  # fmt: skip


def test_changelog_of_the_first_release_has_all_commits(repository: Repository) -> None:
    repository.tag("v0.1.0")
    text = changelog.make(repository.folder, versions.choose(repository.folder, "0.1.0"))
    assert "1 changes, no earlier release" in text and "## wire\n\n- parse frames\n" in text


def test_checksums_verify(tmp_path: Path) -> None:
    for name in ("a.tar.gz", "bookworm/b.deb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    checksums.write(tmp_path)
    path = checksums.write(tmp_path)  # its own sum is not in it
    assert [line.split()[1] for line in path.read_text().splitlines()] == [
        "a.tar.gz",
        "bookworm/b.deb",
    ]
    command = ["sha256sum", "--check", "--strict", path.name]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    (tmp_path / "a.tar.gz").write_text("other")
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 1


@pytest.fixture
def key_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder of gpg, whose agent's socket has a short path: 107 bytes are allowed."""
    with tempfile.TemporaryDirectory(prefix="k-") as home:
        monkeypatch.setenv("GNUPGHOME", home)
        yield


@pytest.mark.usefixtures("key_folder")
def test_checksums_are_signed(tmp_path: Path) -> None:
    batch = ["gpg", "--batch", "--quiet", "--passphrase", ""]
    subprocess.run([*batch, "--quick-generate-key", "a@example.org", "ed25519"], check=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_text("a")
    try:
        path = checksums.write(tmp_path / "out", "a@example.org")
        verify = ["gpg", "--verify", f"{path}.asc", str(path)]
        assert subprocess.run(verify, capture_output=True).returncode == 0
        with pytest.raises(MistakeError, match="KEY: gpg cannot sign with other"):
            checksums.write(tmp_path / "out", "other@example.org")
        assert not Path(f"{path}.asc").exists()
        path.write_text("changed")
    finally:
        subprocess.run(["gpgconf", "--kill", "all"], check=False)


def test_quick_release_begins_in_an_empty_folder(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the chart, which needs Helm's packages."""
    monkeypatch.setattr(main, "QUICK", [name for name in main.QUICK if name != "chart"])
    repository.tag("v0.1.0")
    folder = repository.folder / "build-release" / "0.1.0"
    (folder / "bookworm").mkdir(parents=True)
    (folder / "bookworm" / "old.deb").touch()
    assert main.main(["quick"], repository.folder) == 0
    names = {"openvcmts-0.1.0.tar.gz", "CHANGELOG.md", "provenance.json", "SHA256SUMS"}
    assert {path.name for path in folder.iterdir()} == names
    assert "without an image: build-image/vcmts.tar is missing" in capsys.readouterr().out
    gzip.decompress((folder / "openvcmts-0.1.0.tar.gz").read_bytes())
    assert repository.git("status", "--porcelain") == ""
    assert main.main(["sbom"], repository.folder) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_first_release_upgrades_from_a_named_commit_only(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.tag("v0.1.0")
    assert main.main(["upgrade"], repository.folder) == 1
    error = capsys.readouterr().err
    assert "found no earlier tag to upgrade from: PREVIOUS=COMMIT" in error
    assert main.main(["upgrade", "--previous", "nonsense"], repository.folder) == 1
    assert "git rev-parse failed: fatal: " in capsys.readouterr().err


def test_gnupg_is_only_needed_for_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    checksums.write(tmp_path)
    with pytest.raises(MistakeError, match="KEY needs GnuPG"):
        checksums.write(tmp_path, "a@example.org")
    assert "PATH" in ENVIRONMENT
