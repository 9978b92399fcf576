# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites an archive of `podman save` so that equal images give equal archives.

The result is a docker-archive for `docker load`, `podman load` and containerd. Engines write names
of the build container into the configuration. Without them, equal contents have equal digests.
"""

import argparse
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any, BinaryIO

from container.contents import MistakeError

BUILD_KEYS = ("container", "container_config", "docker_version", "parent")
CONTAINER_KEYS = ("Hostname", "Domainname", "Image")


def normalized(configuration: bytes) -> bytes:
    """An image's configuration without the values that differ from build to build."""
    tree: dict[str, Any] = json.loads(configuration)
    for key in BUILD_KEYS:
        tree.pop(key, None)
    for key in CONTAINER_KEYS:
        tree["config"].pop(key, None)
    return json.dumps(tree, sort_keys=True, separators=(",", ":")).encode()


def add(archive: tarfile.TarFile, name: str, content: BinaryIO, size: int) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o644
    archive.addfile(member, content)


def open_member(saved: tarfile.TarFile, name: str) -> BinaryIO:
    stream = saved.extractfile(name)
    if stream is None:
        raise MistakeError(f"archive has no file {name}")
    return stream  # type: ignore[return-value]


def rewrite(arguments: argparse.Namespace) -> int:
    """Rewrites `saved` as `to`, for the image names `names`. Prints the image's digest, which is
    that of its configuration. Returns exit status 0."""
    with (
        tarfile.open(arguments.saved) as saved,
        tarfile.open(arguments.to, "w", format=tarfile.USTAR_FORMAT) as to,
    ):
        manifest = json.load(open_member(saved, "manifest.json"))
        if len(manifest) != 1:
            raise MistakeError(f"{arguments.saved}: {len(manifest)} images, allowed: 1")
        configuration = normalized(open_member(saved, manifest[0]["Config"]).read())
        digest = hashlib.sha256(configuration).hexdigest()
        layers = []
        for name, diff in zip(
            manifest[0]["Layers"], json.loads(configuration)["rootfs"]["diff_ids"], strict=True
        ):
            layers.append(f"{diff.removeprefix('sha256:')}.tar")
            member = saved.getmember(name)
            while member.issym():
                member = saved.getmember(str(Path(name).parent / member.linkname))
            add(to, layers[-1], open_member(saved, member.name), member.size)
        add(to, f"{digest}.json", io.BytesIO(configuration), len(configuration))
        image = {"Config": f"{digest}.json", "RepoTags": arguments.names, "Layers": layers}
        listing = json.dumps([image]).encode()
        add(to, "manifest.json", io.BytesIO(listing), len(listing))
    print(f"sha256:{digest}")
    return 0
