# SPDX-License-Identifier: BSD-3-Clause
"""Writes SHA256SUMS of a release's folder, and signs it."""

import hashlib
import subprocess
from pathlib import Path

from release.versions import MistakeError

SUMS = "SHA256SUMS"
SIGNATURE = f"{SUMS}.asc"


def digest(path: Path) -> str:
    """The SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def files(folder: Path) -> list[str]:
    """The names of all files below `folder`, except SHA256SUMS and its signature, sorted."""
    found = (path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix() for path in found}
    return sorted(names - {SUMS, SIGNATURE})


def write(folder: Path, key: str = "") -> Path:
    """Writes the sums, as sha256sum does. Signs them with `key` of GnuPG if it is not empty."""
    path = folder / SUMS
    lines = [f"{digest(folder / name)}  {name}\n" for name in files(folder)]
    path.write_text("".join(lines), encoding="utf-8")
    (folder / SIGNATURE).unlink(missing_ok=True)
    if key:
        sign(path, key)
    return path


def sign(path: Path, key: str) -> None:
    """Writes the signature beside the file, with the suffix .asc."""
    command = ["gpg", "--batch", "--yes", "--armor", "--local-user", key]
    command += ["--output", f"{path}.asc", "--detach-sign", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise MistakeError("KEY needs GnuPG: apt-get install gnupg") from None
    if done.returncode != 0:
        message = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise MistakeError(f"KEY: gpg cannot sign with {key}: {message}")
