# SPDX-License-Identifier: BSD-3-Clause
"""Writes the source archive of a commit. The same commit gives the same bytes."""

import gzip
import subprocess
from pathlib import Path

from release.versions import MistakeError, Release

# The user's configuration of git must not change the archive.
SETTINGS = ("tar.umask=0022", "core.autocrlf=false", "core.attributesFile=/dev/null")


def name(release: Release) -> str:
    return f"openvcmts-{release.version}.tar.gz"


def write(checkout: Path, release: Release, folder: Path) -> Path:
    """Writes the archive to `folder`. Its files are in a folder openvcmts-VERSION."""
    settings = [word for setting in SETTINGS for word in ("-c", setting)]
    prefix = f"--prefix=openvcmts-{release.version}/"
    command = ["git", *settings, "archive", "--format=tar", prefix, release.commit]
    done = subprocess.run(command, cwd=checkout, capture_output=True, check=False)
    if done.returncode != 0:
        raise MistakeError(f"git archive failed: {done.stderr.decode(errors='replace').strip()}")
    path = folder / name(release)
    path.write_bytes(gzip.compress(done.stdout, 9, mtime=0))
    return path
