# SPDX-License-Identifier: BSD-3-Clause
"""The version of a release: that of its tag, with which the files of the checkout must agree.

A snapshot is a build of a commit without a tag. Its version orders it before the next release.
"""

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Read = Callable[[str], str]  # the text of a file of the checkout, or of a commit
SNAPSHOT = "snapshot"
# Files that name the version, and the line that does.
FILES = {
    "meson.build": r"^  version: '(.*)',$",
    "debian/changelog": r"\Aopenvcmts \((.*?)\)",
    "deploy/helm/vcmts/Chart.yaml": r"^version: (\S+)$",
}
# A tag, as Debian and Semantic Versioning order alike: no letters.
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


class MistakeError(Exception):
    """A mistake of the caller, in one line."""


@dataclass(frozen=True)
class Release:
    """A version and the commit that it names."""

    version: str
    commit: str
    epoch: int  # time of the commit, in seconds
    tag: str | None  # None for a snapshot
    previous: str | None  # the tag of the version before

    @property
    def debian(self) -> str:
        """The version of Debian packages, to which build-packages adds a suffix."""
        return self.version.replace("-git", "~git")


def git(checkout: Path, *arguments: str) -> str:
    """The output of git without its last line feed. Raises MistakeError with git's message."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=checkout,
        env=os.environ | {"TZ": "UTC"},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        message = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise MistakeError(f"git {arguments[0]} failed: {message}")
    return done.stdout.removesuffix("\n")


def exists(checkout: Path, name: str) -> bool:
    command = ["git", "rev-parse", "--quiet", "--verify", name]
    return subprocess.run(command, cwd=checkout, capture_output=True, check=False).returncode == 0


def previous_tag(checkout: Path, commit: str) -> str | None:
    """The highest version's tag in the history before `commit`; None if there is none."""
    found: str = git(checkout, "tag", "--list", "v*", "--merged", commit, "--sort=-v:refname")
    for tag in found.split():
        earlier = git(checkout, "rev-parse", f"{tag}^{{commit}}") != commit
        if VERSION.fullmatch(tag[1:]) and earlier:
            return tag
    return None


def found_versions(read: Read) -> dict[str, str]:
    """The version that each file names. Raises MistakeError if one names none."""
    versions = {}
    for name, pattern in FILES.items():
        found = re.search(pattern, read(name), re.MULTILINE)
        if not found:
            raise MistakeError(f"{name}: found no version in it, needed: a line as {pattern}")
        versions[name] = found[1]
    return versions


def agreed(read: Read) -> str:
    """The version in which all files agree. Raises MistakeError if they do not."""
    versions = found_versions(read)
    if len(set(versions.values())) > 1:
        each = ", ".join(f"{name} has {version}" for name, version in versions.items())
        raise MistakeError(f"versions differ: {each}; write the same into all of them")
    version = versions["meson.build"]
    if not VERSION.fullmatch(version):
        raise MistakeError(
            f"meson.build: version: found {version}, allowed: three numbers as 1.2.3"
        )
    return version


def read_checkout(checkout: Path) -> Read:
    return lambda name: (checkout / name).read_text(encoding="utf-8")


def read_commit(checkout: Path, commit: str) -> Read:
    return lambda name: git(checkout, "show", f"{commit}:{name}") + "\n"


def epoch_of(checkout: Path, commit: str) -> int:
    return int(git(checkout, "log", "-1", "--format=%ct", commit))


def snapshot(checkout: Path, name: str) -> Release:
    """A snapshot of the commit `name`: its date and hash follow the next release's version."""
    commit = git(checkout, "rev-parse", "--verify", f"{name}^{{commit}}")
    version = agreed(read_commit(checkout, commit))
    if exists(checkout, f"refs/tags/v{version}"):
        *first, last = version.split(".")
        version = ".".join([*first, str(int(last) + 1)])
    when = git(checkout, "log", "-1", "--date=format-local:%Y%m%d%H%M%S", "--format=%cd", commit)
    return Release(
        version=f"{version}-git{when}.g{commit[:8]}",
        commit=commit,
        epoch=epoch_of(checkout, commit),
        tag=None,
        previous=previous_tag(checkout, commit),
    )


def tagged(checkout: Path, tag: str) -> Release:
    """The release of an existing tag, whose files must have its version."""
    if not exists(checkout, f"refs/tags/{tag}"):
        raise MistakeError(
            f"found no tag {tag}: create it (git tag -a {tag}), or build HEAD by VERSION=snapshot"
        )
    commit = git(checkout, "rev-parse", f"{tag}^{{commit}}")
    version = agreed(read_commit(checkout, commit))
    if tag != f"v{version}":
        raise MistakeError(
            f"tag {tag} names a commit of version {version} ({', '.join(FILES)}): "
            f"delete the tag, set the version to {tag[1:]} in these files and tag that commit"
        )
    return Release(version, commit, epoch_of(checkout, commit), tag, previous_tag(checkout, commit))


def of_commit(checkout: Path, name: str) -> Release:
    """The release of a tag, or a snapshot of any other commit."""
    if name.startswith("v") and VERSION.fullmatch(name[1:]):
        return tagged(checkout, name)
    return snapshot(checkout, name)


def choose(checkout: Path, wanted: str) -> Release:
    """The release `wanted`, such as 0.1.0, v0.1.0, `snapshot`, or "" for the checkout's version.
    Its commit must be HEAD, without changes, as parts of a release are built from the checkout."""
    if wanted == SNAPSHOT:
        release = snapshot(checkout, "HEAD")
    else:
        version = wanted.removeprefix("v") or agreed(read_checkout(checkout))
        if not VERSION.fullmatch(version):
            raise MistakeError(
                f"VERSION: found {wanted}, allowed: three numbers as 1.2.3, or {SNAPSHOT}"
            )
        release = tagged(checkout, f"v{version}")
        if release.commit != git(checkout, "rev-parse", "HEAD"):
            raise MistakeError(
                f"HEAD is not {release.tag}: git switch --detach {release.tag}, then try again"
            )
    if git(checkout, "status", "--porcelain"):
        raise MistakeError("the checkout has changes (git status): commit or remove them first")
    return release
