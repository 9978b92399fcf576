# SPDX-License-Identifier: BSD-3-Clause
"""Fetches Debian packages with apt and unpacks them.

apt has separate lists and settings, so that the packages of this machine do not matter. Nothing is
installed, and no script of a package runs.
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
# Paths that are not unpacked.
UNREAD = re.compile(r"usr/(share/(man|locale|info|lintian|bash-completion)|include)/")


@dataclass(frozen=True)
class Archive:
    """A Debian mirror and release."""

    suite: str
    mirror: str
    security: str
    snapshot: bool  # of snapshot.debian.org: accept its lists, which have expired

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
    """An unpacked package: its control file and its paths."""

    control: str
    paths: list[str] = field(default_factory=list)

    def value(self, key: str) -> str:
        """The first line of a field of the control file; "" without that field."""
        found = re.search(rf"^{key}: *(.*)$", self.control, re.MULTILINE)
        return found[1].strip() if found else ""

    @property
    def name(self) -> str:
        return self.value("Package")


@dataclass
class Unpacked:
    """All packages in one tree. `owner` is the package of each path (usr/lib/.., never /lib/..)."""

    tree: Path
    packages: dict[str, Package] = field(default_factory=dict)
    owner: dict[str, str] = field(default_factory=dict)


def run(command: Sequence[str], what: str) -> str:
    """Runs a command and returns its output. Raises MistakeError, which names `what`."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        output = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise MistakeError(f"{what}: {' / '.join(output) or f'status {done.returncode}'}")
    return done.stdout


def installed_status(name: str, architecture: str) -> str:
    """A paragraph of dpkg's status that makes apt treat the package as installed."""
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
    archive: Archive, requested: Sequence[str], unneeded: Iterable[str], work: Path
) -> list[Path]:
    """Fetches packages and their dependencies, except `unneeded` ones, into work/archives. Returns
    all package files of that folder."""
    for folder in ("lists/partial", "archives/partial"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    (work / "sources.list").write_text(archive.sources(), encoding="utf-8")
    architecture = run(["dpkg", "--print-architecture"], "dpkg").strip()
    (work / "status").write_text(
        "".join(installed_status(name, architecture) for name in unneeded), encoding="utf-8"
    )
    settings = [
        f"Dir::State={work}",
        f"Dir::State::status={work}/status",
        f"Dir::Cache={work}",
        f"Dir::Etc::SourceList={work}/sources.list",
        "Dir::Etc::SourceParts=-",
        "APT::Sandbox::User=root",
        "Acquire::Languages=none",
        "Acquire::Retries=2",
    ]
    apt = ["apt-get", "-qq", *(word for setting in settings for word in ("-o", setting))]
    run([*apt, "update", "--error-on=any"], f"the lists of Debian {archive.suite}")
    run(
        [*apt, "install", "--download-only", "--no-install-recommends", "--yes", *requested],
        f"packages of Debian {archive.suite}",
    )
    return sorted((work / "archives").glob("*.deb"))


def merged(name: str) -> str:
    """A path of a package as on a system where /lib is a link to /usr/lib."""
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
                continue  # the link /lib itself, which Debian 13's base-files contains
            package.paths.append(path)
            into.owner[path] = package.name
            write(members, member, into.tree, path)
    if stream.returncode != 0:
        raise MistakeError(f"{file.name}: dpkg-deb cannot unpack it")


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
    """The names by which dpkg may know a file: with links resolved, and /lib for /usr/lib."""
    names = [str(path), str(path.resolve())]
    other = [
        name.removeprefix("/usr") if name.startswith("/usr/") else f"/usr{name}" for name in names
    ]
    return [*names, *other]


def packages_of(paths: Sequence[Path]) -> set[str]:
    """The packages of this machine that contain these files. Raises MistakeError if none does."""
    names = {name: path for path in paths for name in names_of(path)}
    # dpkg fails, as it does not know all of these names.
    output = subprocess.run(
        ["dpkg", "-S", *names], check=False, capture_output=True, text=True
    ).stdout
    found = {}
    for line in output.splitlines():
        packages, _, name = line.partition(": ")
        if name in names and not line.startswith("diversion "):
            found[names[name]] = packages.split(",")[0].split(":")[0]
    for path in paths:
        if path not in found:
            raise MistakeError(
                f"{path}: no Debian package contains it; the image can have Debian's libraries only"
            )
    return set(found.values())
