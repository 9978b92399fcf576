# SPDX-License-Identifier: BSD-3-Clause
"""Packages the Helm chart. The same commit gives the same bytes, which Helm does not ensure: it
writes the current time into the package."""

import gzip
import io
import subprocess
import tarfile
import tempfile
from pathlib import Path

from release.versions import MistakeError, Release


def name(release: Release) -> str:
    return f"vcmts-{release.version}.tgz"


def normalized(package: bytes, epoch: int) -> bytes:
    """The package with files in order, of one time and owner."""
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(package)) as found,
        tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as to,
    ):
        members = {member.name: member for member in found.getmembers() if member.isfile()}
        # Helm reads the chart's description first.
        for path in sorted(members, key=lambda path: (path != "vcmts/Chart.yaml", path)):
            info = tarfile.TarInfo(path)
            info.size, info.mode, info.mtime = members[path].size, 0o644, epoch
            to.addfile(info, found.extractfile(members[path]))
    return gzip.compress(out.getvalue(), 9, mtime=0)


def run(command: list[str], checkout: Path) -> None:
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        message = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise MistakeError(f"{Path(command[0]).name} failed: {message}")


def write(checkout: Path, release: Release, folder: Path) -> Path:
    """Writes the package. Version and appVersion, which is the image's tag, are the release's."""
    render = checkout / "build-chart" / "render"
    if not render.exists():
        raise MistakeError(f"found no {render}: devtools/install-deps chart compiles it")
    with tempfile.TemporaryDirectory() as work:
        run([str(checkout / "devtools/helm/assemble"), work], checkout)
        package = ["--package", work, release.version]
        run([str(render), f"{work}/vcmts", *package], checkout)
        found = (Path(work) / name(release)).read_bytes()
    path = folder / name(release)
    path.write_bytes(normalized(found, release.epoch))
    return path
