# SPDX-License-Identifier: BSD-3-Clause
"""Writes the image's root filesystem so that it is identical wherever and whenever it is built."""

import filecmp
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from container.choose import LIBRARIES, Choice
from container.contents import Contents, MistakeError, is_elf, matches
from container.packages import run

# The Containerfile and the Helm chart name this user, too.
USER = 10001
# Group 0, as OpenShift runs containers with any user and this group.
PASSWD = f"""root:x:0:0:root:/run/vcmts:/usr/sbin/nologin
vcmts:x:{USER}:0:OpenVCMTS:/run/vcmts:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
"""
GROUP = "root:x:0:\nnogroup:x:65534:\n"
# Folders for mounts, temporary files and programs. They exist even if no file is copied to them.
FOLDERS = "dev etc/vcmts/config etc/vcmts/secret proc run/vcmts sys tmp usr/bin usr/sbin var/tmp"
# The health check, which the Containerfile names; its source is deploy/container/health.
HEALTH = "usr/libexec/vcmts/health"


def copy(source: Path, target: Path) -> None:
    """Copies a file, or a link as a link. Creates the folder of `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target, follow_symlinks=False)


def skeleton(root: Path) -> None:
    """Creates folders, links such as /lib to usr/lib, users and groups. `root` must not exist."""
    for folder in FOLDERS.split():
        (root / folder).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    (root / "usr/lib64").mkdir()
    (root / "etc/passwd").write_text(PASSWD, encoding="utf-8")
    (root / "etc/group").write_text(GROUP, encoding="utf-8")


def copy_chosen(choice: Choice, root: Path) -> None:
    """Copies the chosen files. Further hard links to a file become symbolic links, as DPDK would
    load each copy as a driver of its own."""
    first: dict[int, Path] = {}
    for path in sorted(choice.paths):
        source, target = choice.unpacked.tree / path, root / path
        other = first.setdefault(source.lstat().st_ino, target)
        if other is target:
            copy(source, target)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(os.path.relpath(other, target.parent))


def link_equal_copyrights(root: Path) -> None:
    """Replaces each copyright file by a link to an equal one, if a package earlier in the alphabet
    has it. Packages of one source have equal ones."""
    by_size: dict[int, list[Path]] = {}
    for file in sorted(root.glob("usr/share/doc/*/copyright")):
        if file.is_symlink() or file.parent.is_symlink():
            continue
        same_size = by_size.setdefault(file.stat().st_size, [])
        for other in same_size:
            if filecmp.cmp(file, other, shallow=False):
                file.unlink()
                file.symlink_to(f"../{other.parent.name}/copyright")
                break
        else:
            same_size.append(file)


def installed_files(installed: Path, prefix: str, contents: Contents) -> Iterable[tuple[Path, str]]:
    """Files below `installed` (DESTDIR of `meson install`) that contents.toml does not omit, and
    their paths in the image. `prefix` has no leading slash; usr replaces it."""
    for path in sorted(installed.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            continue
        name = path.relative_to(installed).as_posix()
        name = f"usr{name.removeprefix(prefix)}" if name.startswith(f"{prefix}/") else name
        if not matches(name, contents.without_installed):
            yield path, name


def copy_installed(installed: Path, prefix: str, contents: Contents, root: Path) -> list[str]:
    """Copies the files of installed_files() to `root`. Returns their paths in it. Raises
    MistakeError if vcmtsd is not among them."""
    names = []
    for path, name in installed_files(installed, prefix, contents):
        copy(path, root / name)
        names.append(name)
    if "usr/bin/vcmtsd" not in names:
        raise MistakeError(f"{installed}: no vcmtsd below {prefix}/bin")
    return names


def strip(root: Path, names: Iterable[str]) -> None:
    """Removes symbols and debug information of the ELF files among `names`, and the build ID, which
    depends on the build folder."""
    files = [str(root / name) for name in names if is_elf(root / name)]
    run(["strip", "--strip-all", "--remove-section=.note.gnu.build-id", *files], "strip")


def compile_python(root: Path) -> None:
    """Compiles with the image's Python: the image must have this machine's architecture. The
    bytecode contains no times, and Python does not compare it with the source."""
    interpreter = next(root.glob("usr/bin/python3.[0-9]*"), None)
    loader = next((root / LIBRARIES).glob("ld-linux-*.so.*"), None) or next(
        root.glob("usr/lib/ld-linux-*.so.*"), None
    )
    if interpreter is None or loader is None:
        raise MistakeError("the image has no Python")
    folders = [
        str(root / "usr/lib" / interpreter.name),
        str(root / "usr/lib/python3"),
        str(root / "usr/share/vcmts/python"),
    ]
    command = [str(loader), "--library-path", str(root / LIBRARIES), str(interpreter)]
    # -B: the process does not write bytecode, with times, of the modules that it imports
    command += ["-s", "-S", "-B", "-m", "compileall", "-f", "-q"]
    command += ["--invalidation-mode", "unchecked-hash", "-s", str(root), "-p", "/", *folders]
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        env={"PYTHONHOME": str(root / "usr"), "PYTHONHASHSEED": "0", "LANG": "C.UTF-8"},
    )
    if done.returncode != 0:
        raise MistakeError(f"compileall: {(done.stdout + done.stderr).strip()[-500:]}")


def normalize(root: Path, epoch: int) -> None:
    """Sets modes that do not depend on the user's mask, and all times to `epoch` (since 1970)."""
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    for name in ("run/vcmts", "tmp", "var/tmp"):  # writable by any user if nothing is mounted
        (root / name).chmod(0o1777)
    for path in [*root.rglob("*"), root]:
        os.utime(path, (epoch, epoch), follow_symlinks=False)
