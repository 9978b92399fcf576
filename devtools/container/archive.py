# SPDX-License-Identifier: BSD-3-Clause
"""The image as one file, such as `docker load`, `podman load` and containerd take.

Engines write into its configuration the names of the container that it was made in; without them
the same contents have the same digest.
"""

import argparse
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any, BinaryIO

from container.contents import MistakeError

OF_ONE_BUILD = ("container", "container_config", "docker_version", "parent")
OF_ONE_CONTAINER = ("Hostname", "Domainname", "Image")


def settled(configuration: bytes) -> bytes:
    """An image's configuration without what differs from build to build."""
    told: dict[str, Any] = json.loads(configuration)
    for key in OF_ONE_BUILD:
        told.pop(key, None)
    for key in OF_ONE_CONTAINER:
        told["config"].pop(key, None)
    return json.dumps(told, sort_keys=True, separators=(",", ":")).encode()


def add(archive: tarfile.TarFile, name: str, content: BinaryIO, size: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o644
    archive.addfile(member, content)


def part(saved: tarfile.TarFile, name: str) -> BinaryIO:
    found = saved.extractfile(name)
    if found is None:
        raise MistakeError(f"no {name} in what was saved")
    return found  # type: ignore[return-value]


def rewrite(arguments: argparse.Namespace) -> int:
    """Writes `to`, and says the digest of the image: that of its configuration."""
    with (
        tarfile.open(arguments.saved) as saved,
        tarfile.open(arguments.to, "w", format=tarfile.USTAR_FORMAT) as to,
    ):
        manifest = json.load(part(saved, "manifest.json"))
        if len(manifest) != 1:
            raise MistakeError(f"{arguments.saved}: {len(manifest)} images, allowed: one")
        configuration = settled(part(saved, manifest[0]["Config"]).read())
        digest = hashlib.sha256(configuration).hexdigest()
        layers = []
        for name, diff in zip(
            manifest[0]["Layers"], json.loads(configuration)["rootfs"]["diff_ids"], strict=True
        ):
            layers.append(f"{diff.removeprefix('sha256:')}.tar")
            member = saved.getmember(name)
            while member.issym():
                member = saved.getmember(str(Path(name).parent / member.linkname))
            add(to, layers[-1], part(saved, member.name), member.size)
        add(to, f"{digest}.json", io.BytesIO(configuration), len(configuration))
        image = {"Config": f"{digest}.json", "RepoTags": arguments.names, "Layers": layers}
        listing = json.dumps([image]).encode()
        add(to, "manifest.json", io.BytesIO(listing), len(listing))
    print(f"sha256:{digest}")
    return 0
