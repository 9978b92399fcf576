# SPDX-License-Identifier: BSD-3-Clause
"""`vcmtsd check` and `vcmts validate` as root: they warn of a file that the service cannot read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.control.server import config_text
from vcmts.paths import CHECKOUT, program

FILE = "/etc/vcmts/vcmts.yaml"
UID = 64321
UNSHARE = (CHECKOUT / "devtools/with-root-mount", "unshare", "--mount")
# Runs in a mount namespace of its own, where the folder $1 is /etc.
IN_OTHER_ETC = 'mount --bind "$1" /etc && shift && exec "$@"'
WARNING = f"{FILE}: warning: the service cannot read it, as it runs as user vcmts: run "


def can_mount() -> bool:
    tried: tuple[str | Path, ...] = (*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt")
    return os.geteuid() == 0 and subprocess.run(tried, check=False).returncode == 0


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    if not can_mount():
        pytest.skip("needs root and mounts")
    tmp_path.chmod(0o755)
    (tmp_path / "vcmts").mkdir(mode=0o750)
    os.chown(tmp_path / "vcmts", 0, UID)
    (tmp_path / "passwd").write_text(f"root:x:0:0::/:/bin/sh\nvcmts:x:{UID}:{UID}::/:/bin/sh\n")
    (tmp_path / "group").write_text(f"root:x:0:\nvcmts:x:{UID}:\n")
    (tmp_path / "vcmts/vcmts.yaml").write_text(config_text())
    (tmp_path / "vcmts/vcmts.yaml").chmod(0o600)
    return tmp_path


def run(etc: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    outer = [*UNSHARE, "sh", "-c", IN_OTHER_ETC, "sh", etc, *command]
    return subprocess.run(outer, capture_output=True, text=True, check=False)


def check(etc: Path) -> tuple[int, str]:
    done = run(etc, program("vcmtsd").resolve(), "check", "--config", FILE)
    assert f"{FILE}: good: " in done.stdout, done.stderr
    return done.returncode, done.stderr


def test_unreadable_file_is_reported(etc: Path) -> None:
    status, stderr = check(etc)
    assert status == 0 and stderr.startswith(WARNING)
    tool = (sys.executable, "-c", "import sys; from vcmts import cli; sys.exit(cli.main())")
    os.environ.setdefault("PYTHONPATH", str(CHECKOUT / "tools"))
    done = run(etc, *tool, "validate", FILE)
    assert done.returncode == 0 and WARNING in done.stderr, done.stderr


def test_readable_file_is_not_reported(etc: Path) -> None:
    config = etc / "vcmts/vcmts.yaml"
    os.chown(config, 0, UID)
    assert check(etc)[1].startswith(WARNING)  # its group has no permission
    config.chmod(0o640)
    assert check(etc) == (0, "")
    (etc / "group").write_text(f"root:x:0:\nvcmts:x:{UID}:\nmore:x:{UID + 1}:vcmts\n")
    os.chown(config, 0, UID + 1)
    assert check(etc) == (0, "")  # a further group of the user
    (etc / "vcmts").chmod(0o700)
    assert check(etc)[1].startswith(WARNING)
    (etc / "passwd").write_text("root:x:0:0::/:/bin/sh\n")
    assert check(etc) == (0, "")  # there is no service
