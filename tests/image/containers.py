# SPDX-License-Identifier: BSD-3-Clause
"""Runs the image with least privilege: no capability, no network, only /run/vcmts writable, and a
user that is not in the image's passwd file, as on OpenShift."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from patience import TIMEOUT
from vcmts.paths import CHECKOUT

IMAGE = "localhost/vcmts:dev"
ARCHIVE = CHECKOUT / "build-image/vcmts.tar"
USER = "12345:0"
LEAST_PRIVILEGE = (
    "--read-only", "--read-only-tmpfs=false", "--cap-drop=all",
    "--security-opt=no-new-privileges", "--no-healthcheck",
)  # fmt: skip


def engine() -> list[str]:
    """The podman command. crun does not support hosts with both cgroups versions; runc does."""
    mixed = Path("/sys/fs/cgroup/unified").exists() and shutil.which("runc")
    return ["podman", *(["--runtime", "runc"] if mixed else [])]


def limits() -> list[str]:
    """podman raises these limits to their maximum, which fails without the privilege to do so."""
    return [] if os.geteuid() != 0 else ["--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096"]


def podman_run(
    words: Sequence[str],
    *,
    share: Path | None,
    config: Path | None,
    user: str,
    name: str,
    options: Sequence[str],
    network: str = "none",
) -> list[str]:
    """The podman command. `words` starts with the entry point. /run/vcmts: `share` or tmpfs."""
    command = [*engine(), "run", "--rm", *LEAST_PRIVILEGE, *limits(), "--user", user, *options]
    command += [f"--network={network}"]
    command += ["--name", name] if name else []
    command += ["--volume", f"{share}:/run/vcmts"] if share else ["--tmpfs", "/run/vcmts:mode=0770"]
    command += ["--volume", f"{config}:/etc/vcmts/config:ro"] if config else []
    return [*command, "--entrypoint", words[0], IMAGE, *words[1:]]


def run(
    *words: str,
    share: Path | None = None,
    config: Path | None = None,
    user: str = USER,
    stdin: str | None = None,
    options: Sequence[str] = (),
    network: str = "none",
) -> subprocess.CompletedProcess[str]:
    """Runs a container until it exits."""
    interactive = ["--interactive"] if stdin is not None else []
    mounts = {"share": share, "config": config}
    options = [*interactive, *options]
    command = podman_run(words, **mounts, user=user, name="", options=options, network=network)
    return subprocess.run(
        command, input=stdin, check=False, capture_output=True, text=True, timeout=TIMEOUT
    )


@contextmanager
def background_container(
    name: str, *words: str, share: Path, config: Path, options: Sequence[str] = ()
) -> Iterator["Container"]:
    """Runs a container in the background; kills it at exit."""
    command = podman_run(words, share=share, config=config, user=USER, name=name, options=options)
    log = share / f"{name}.log"
    with log.open("wb") as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield Container(name, child, log)
        finally:
            if child.poll() is None:
                subprocess.run([*engine(), "kill", name], check=False, capture_output=True)
                child.wait(TIMEOUT)


class Container:
    def __init__(self, name: str, child: "subprocess.Popen[bytes]", log: Path) -> None:
        self.name, self.child, self.log = name, child, log

    @property
    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def is_running(self) -> bool:
        return self.child.poll() is None

    def signal(self, name: str) -> int:
        """Sends a signal to the container's first process. Returns its exit status."""
        subprocess.run(
            [*engine(), "kill", "--signal", name, self.name], check=True, capture_output=True
        )
        return self.child.wait(TIMEOUT)
