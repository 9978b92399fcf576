# SPDX-License-Identifier: BSD-3-Clause
"""No key reaches a file when the service crashes, with a handler of core dumps installed."""

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from packages.booted import CONFIG, SERVICE, Root, control

PATTERN = Path("/proc/sys/kernel/core_pattern")
SETTINGS = "/usr/lib/sysctl.d/50-coredump.conf"
STORED = ("etc", "root", "run", "srv", "tmp", "var")
# The kernel starts the handler outside of the root's namespaces. Dumps of other processes of this
# machine are discarded.
HANDLER = """#!/bin/sh
[ "$(readlink /proc/$1/ns/pid)" = "$(readlink /proc/{init}/ns/pid)" ] || exec cat >/dev/null
shift
echo "$@" >>{folder}/handled
exec nsenter --target {init} --mount --uts --ipc --net --pid --cgroup --root --wd "$@"
"""


@pytest.fixture
def handled(root: Root) -> Iterator[Path]:
    """Installs systemd-coredump, as the handler of this root's core dumps. Yields the file with a
    line for each dump."""
    root.install("systemd-coredump")
    root.write("/etc/systemd/coredump.conf.d/plain.conf", "[Coredump]\nCompress=no\n")
    match = re.search(r"^kernel\.core_pattern=\|(.*)$", root.run("cat", SETTINGS), re.MULTILINE)
    assert match
    handler = root.folder / "handler"
    handler.write_text(
        HANDLER.format(init=control("pid", root.folder), folder=root.folder), encoding="utf-8"
    )
    handler.chmod(0o755)
    before = PATTERN.read_text(encoding="utf-8")
    try:
        # %p: the process ID in its own namespace.
        PATTERN.write_text(f"|{handler} %P {match[1].replace('%P', '%p')}\n", encoding="utf-8")
    except OSError:
        pytest.skip("needs a writable /proc/sys/kernel/core_pattern")
    try:
        yield root.folder / "handled"
    finally:
        PATTERN.write_text(before, encoding="utf-8")


def keys(root: Root) -> set[bytes]:
    """The configured keys: as bytes, and as text."""
    words = re.findall(r'\b(?:next_)?key: "([0-9a-f]{32})"', root.run("cat", CONFIG))
    assert len(words) == 600
    return {bytes.fromhex(word) for word in words} | {word.encode() for word in words}


def written_since(root: Root, start: float) -> Iterator[Path]:
    """The files of the root that were created or changed since then."""
    top = Path(f"/proc/{control('pid', root.folder)}/root")
    for name in STORED:
        for folder, _, names in os.walk(top / name):
            for path in (Path(folder) / name for name in names):
                with contextlib.suppress(OSError):
                    state = path.lstat()
                    if stat.S_ISREG(state.st_mode) and state.st_ctime >= start:
                        yield path


def files_with(root: Root, secrets: set[bytes], start: float) -> list[str]:
    """The files written since then that have one of the secrets."""
    found = []
    for path in written_since(root, start):
        data = path.read_bytes()
        if any(secret in data for secret in secrets):
            found.append(str(path))
    return found


def test_handler_stores_the_memory_of_other_programs(root: Root, handled: Path) -> None:
    """The test below proves something only if a secret of another process is found."""
    start = time.time()
    secret = "f00dfeedf00dfeedf00dfeedf00dfeed"
    script = f"import os; key = bytes.fromhex('{secret[:16]}' * 2); os.abort()"
    # The handler of systemd 257 stores nothing above the limit, unlike that of 252.
    root.call("sh", "-c", 'ulimit -c unlimited && exec python3 -c "$1"', "sh", script)
    root.wait(lambda: "python3" in root.call("coredumpctl", "--no-legend").stdout, "a stored dump")
    assert handled.exists()
    root.wait(
        lambda: bool(files_with(root, {bytes.fromhex(secret)}, start)), "the secret in a file"
    )


@pytest.mark.parametrize("signal", ["ABRT", "SEGV"])
def test_no_key_in_any_file_after_a_crash(root: Root, handled: Path, signal: str) -> None:
    secrets = keys(root)
    start, before = time.time(), root.pid()
    root.run("systemctl", "kill", "--signal", signal, "--kill-who", "main", SERVICE)
    root.wait(lambda: root.pid() not in (0, before), "a new process of the service")
    root.wait_until_served()
    root.wait(lambda: not root.call("pgrep", "systemd-coredu").stdout, "the end of the handler")
    assert files_with(root, secrets, start) == []
    assert root.call("sh", "-c", "ls /var/lib/systemd/coredump/core.vcmtsd.*").returncode != 0
