# SPDX-License-Identifier: BSD-3-Clause
"""Containers of the image, as little allowed as can be: no capability, nothing to write to but
/run/vcmts, no network, a user that the image does not know (as OpenShift does it)."""

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
LITTLE = (
    "--read-only", "--read-only-tmpfs=false", "--cap-drop=all",
    "--security-opt=no-new-privileges", "--no-healthcheck",
)  # fmt: skip


def engine() -> list[str]:
    """crun knows no machine that has both generations of cgroups, as older systems have."""
    mixed = Path("/sys/fs/cgroup/unified").exists() and shutil.which("runc")
    return ["podman", *(["--runtime", "runc"] if mixed else [])]


def limits() -> list[str]:
    """podman asks for the most; without the right to raise them they must be what they are."""
    return [] if os.geteuid() != 0 else ["--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096"]


def arguments(
    words: Sequence[str],
    *,
    share: Path | None,
    config: Path | None,
    user: str,
    name: str,
    options: Sequence[str],
    network: str = "none",
) -> list[str]:
    """Of `words` the first is the entry point; `share` is its /run/vcmts, else memory."""
    command = [*engine(), "run", "--rm", *LITTLE, *limits(), "--user", user, *options]
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
    given: str | None = None,
    options: Sequence[str] = (),
    network: str = "none",
) -> subprocess.CompletedProcess[str]:
    """To its end; `given` is its standard input."""
    interactive = ["--interactive"] if given is not None else []
    command = arguments(
        words,
        share=share,
        config=config,
        user=user,
        name="",
        options=[*interactive, *options],
        network=network,
    )
    return subprocess.run(
        command, input=given, check=False, capture_output=True, text=True, timeout=TIMEOUT
    )


@contextmanager
def started(
    name: str, *words: str, share: Path, config: Path, options: Sequence[str] = ()
) -> Iterator["Started"]:
    """In the background, and gone at the end."""
    command = arguments(words, share=share, config=config, user=USER, name=name, options=options)
    log = share / f"{name}.log"
    with log.open("wb") as said:
        child = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        try:
            yield Started(name, child, log)
        finally:
            if child.poll() is None:
                subprocess.run([*engine(), "kill", name], check=False, capture_output=True)
                child.wait(TIMEOUT)


class Started:
    def __init__(self, name: str, child: "subprocess.Popen[bytes]", log: Path) -> None:
        self.name, self.child, self.log = name, child, log

    @property
    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def runs(self) -> bool:
        return self.child.poll() is None

    def signal(self, name: str) -> int:
        """To the first process of the container; its exit status."""
        subprocess.run(
            [*engine(), "kill", "--signal", name, self.name], check=True, capture_output=True
        )
        return self.child.wait(TIMEOUT)
