# SPDX-License-Identifier: BSD-3-Clause
"""Debian's packages as files: fetched by apt with lists and settings of its own, and unpacked.

Nothing is installed, no script of a package runs, and it does not matter what this machine has.
"""

import re
import subprocess
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from container.contents import MistakeError

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
MERGED = re.compile(r"(bin|sbin|lib|lib32|lib64|libx32)(?=/|$)")
UNREAD = re.compile(r"usr/(share/(man|locale|info|lintian|bash-completion)|include)/")


@dataclass(frozen=True)
class Archive:
    """Where packages come from."""

    suite: str
    mirror: str
    security: str
    snapshot: bool  # of a day that is past: its lists are no longer valid, which is meant

    def sources(self) -> str:
        options = f"signed-by={KEYS}" + (" check-valid-until=no" if self.snapshot else "")
        return "".join(
            f"deb [{options}] {mirror} {suite} main\n"
            for mirror, suite in (
                (self.mirror, self.suite),
                (self.mirror, f"{self.suite}-updates"),
                (self.security, f"{self.suite}-security"),
            )
        )


@dataclass
class Package:
    """One that was unpacked."""

    control: str
    paths: list[str] = field(default_factory=list)

    def value(self, key: str) -> str:
        found = re.search(rf"^{key}: *(.*)$", self.control, re.MULTILINE)
        return found[1].strip() if found else ""

    @property
    def name(self) -> str:
        return self.value("Package")


@dataclass
class Unpacked:
    """All of them in one tree; `owner` says whose a path is (usr/lib/.., never /lib/..)."""

    tree: Path
    packages: dict[str, Package] = field(default_factory=dict)
    owner: dict[str, str] = field(default_factory=dict)


def run(command: Sequence[str], what: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise MistakeError(f"{what}: {' / '.join(said) or f'status {done.returncode}'}")
    return done.stdout


def there(name: str, architecture: str) -> str:
    """What apt takes for a package that is installed, of whatever version is asked for."""
    fields = {
        "Package": name,
        "Status": "install ok installed",
        "Maintainer": "none",
        "Architecture": architecture,
        "Multi-Arch": "foreign",
        "Version": "99:0",
        "Description": "none",
    }
    return "".join(f"{key}: {value}\n" for key, value in fields.items()) + "\n"


def fetch(
    archive: Archive, asked: Sequence[str], unneeded: Iterable[str], place: Path
) -> list[Path]:
    """These and what they depend on, as the archive has them now."""
    for folder in ("lists/partial", "archives/partial"):
        (place / folder).mkdir(parents=True, exist_ok=True)
    (place / "sources.list").write_text(archive.sources(), encoding="utf-8")
    architecture = run(["dpkg", "--print-architecture"], "dpkg").strip()
    (place / "status").write_text(
        "".join(there(name, architecture) for name in unneeded),
        encoding="utf-8",
    )
    settings = [
        f"Dir::State={place}",
        f"Dir::State::status={place}/status",
        f"Dir::Cache={place}",
        f"Dir::Etc::SourceList={place}/sources.list",
        "Dir::Etc::SourceParts=-",
        "APT::Sandbox::User=root",
        "Acquire::Languages=none",
        "Acquire::Retries=2",
    ]
    apt = ["apt-get", "-qq", *(word for setting in settings for word in ("-o", setting))]
    run([*apt, "update", "--error-on=any"], f"the lists of Debian {archive.suite}")
    run(
        [*apt, "install", "--download-only", "--no-install-recommends", "--yes", *asked],
        f"packages of Debian {archive.suite}",
    )
    return sorted((place / "archives").glob("*.deb"))


def merged(name: str) -> str:
    """A path of a package as it is in a system where /lib is a link to /usr/lib."""
    path = name.removeprefix("./").removeprefix("/").rstrip("/")
    return f"usr/{path}" if MERGED.match(path) else path


def unpack_one(file: Path, into: Unpacked) -> None:
    package = Package(run(["dpkg-deb", "--field", str(file)], file.name))
    into.packages[package.name] = package
    with (
        subprocess.Popen(["dpkg-deb", "--fsys-tarfile", file], stdout=subprocess.PIPE) as stream,
        tarfile.open(fileobj=stream.stdout, mode="r|") as members,
    ):
        for member in members:
            path = merged(member.name)
            if path in ("", ".") or member.isdir() or UNREAD.match(path):
                continue
            if member.issym() and member.linkname == path:
                continue  # /lib itself, which Debian 13's base-files has
            package.paths.append(path)
            into.owner[path] = package.name
            write(members, member, into.tree, path)
    if stream.returncode != 0:
        raise MistakeError(f"{file.name}: cannot be unpacked")


def write(members: tarfile.TarFile, member: tarfile.TarInfo, tree: Path, path: str) -> None:
    target = tree / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if member.issym():
        target.symlink_to(member.linkname)
    elif member.islnk():
        target.hardlink_to(tree / merged(member.linkname))
    elif (content := members.extractfile(member)) is not None:
        target.write_bytes(content.read())
        target.chmod(0o755 if member.mode & 0o111 else 0o644)


def unpack(files: Iterable[Path], tree: Path) -> Unpacked:
    into = Unpacked(tree)
    tree.mkdir(parents=True)
    for file in files:
        unpack_one(file, into)
    return into


def names_of(path: Path) -> list[str]:
    """What dpkg may know a file by: its links, and /lib for /usr/lib."""
    names = [str(path), str(path.resolve())]
    other = [
        name.removeprefix("/usr") if name.startswith("/usr/") else f"/usr{name}" for name in names
    ]
    return [*names, *other]


def holding(paths: Sequence[Path]) -> set[str]:
    """The packages of this machine that have these files."""
    names = {name: path for path in paths for name in names_of(path)}
    # Its status tells that it does not know some of the names, which is so by intention.
    told = subprocess.run(
        ["dpkg", "-S", *names], check=False, capture_output=True, text=True
    ).stdout
    found = {}
    for line in told.splitlines():
        packages, _, name = line.partition(": ")
        if name in names and not line.startswith("diversion "):
            found[names[name]] = packages.split(",")[0].split(":")[0]
    for path in paths:
        if path not in found:
            raise MistakeError(
                f"{path}: of no package of Debian; the image takes only Debian's libraries"
            )
    return set(found.values())
