# SPDX-License-Identifier: BSD-3-Clause
"""No key reaches a file when the service crashes, with a handler of core dumps installed."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from packages.booted import CONFIG, SERVICE, Root, control

PATTERN = Path("/proc/sys/kernel/core_pattern")
SETTINGS = "/usr/lib/sysctl.d/50-coredump.conf"
STORED = ("var", "run", "tmp", "root", "core")
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
    """The configured keys and initialisation vectors: as bytes, and as text."""
    words = re.findall(r'\b(?:next_)?(?:key|iv): "([0-9a-f]{32})"', root.run("cat", CONFIG))
    assert len(words) == 1200
    return {bytes.fromhex(word) for word in words} | {word.encode() for word in words}


def files_with(root: Root, secrets: set[bytes]) -> list[str]:
    """The files of the root that have one of the secrets, besides the configuration."""
    top = Path(f"/proc/{control('pid', root.folder)}/root")
    pattern = re.compile(b"|".join(map(re.escape, sorted(secrets))))
    found = []
    for name in STORED:
        for folder, _, names in os.walk(top / name):
            for path in (Path(folder) / name for name in names):
                with contextlib.suppress(OSError):
                    plain = path.is_file() and not path.is_symlink()
                    if plain and pattern.search(path.read_bytes()):
                        found.append(str(path.relative_to(top)))
    return [name for name in found if name != "root/vcmts.yaml"]


def test_handler_stores_the_memory_of_other_programs(root: Root, handled: Path) -> None:
    """The test below proves something only if a secret of another process is found."""
    secret = "f00dfeedf00dfeedf00dfeedf00dfeed"
    script = f"import os; key = bytes.fromhex('{secret[:16]}' * 2); os.abort()"
    root.call("python3", "-c", script)
    root.wait(lambda: "python3" in root.call("coredumpctl", "--no-legend").stdout, "a stored dump")
    assert handled.exists()
    root.wait(lambda: bool(files_with(root, {bytes.fromhex(secret)})), "the secret in a file")


@pytest.mark.parametrize("signal", ["ABRT", "SEGV"])
def test_no_key_in_any_file_after_a_crash(root: Root, handled: Path, signal: str) -> None:
    secrets = keys(root)
    before = root.pid()
    root.run("systemctl", "kill", "--signal", signal, "--kill-who", "main", SERVICE)
    root.wait(lambda: root.pid() not in (0, before), "a new process of the service")
    root.wait_until_served()
    root.wait(lambda: not root.call("pgrep", "systemd-coredu").stdout, "the end of the handler")
    assert files_with(root, secrets) == []
    assert root.call("sh", "-c", "ls /var/lib/systemd/coredump/core.vcmtsd.*").returncode != 0
