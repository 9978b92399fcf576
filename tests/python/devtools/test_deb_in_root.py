# SPDX-License-Identifier: BSD-3-Clause
"""Tests how devtools/deb-in-root starts the unit's command, with stubs of the programs."""

import re
import subprocess
from pathlib import Path

from vcmts.paths import CHECKOUT

STUBS = """
set -euo pipefail
user=$(id -un) start='/usr/bin/vcmtsd $VCMTS_OPTIONS'
echo AmbientCapabilities= >unit
install() { cp served before; }
sleep() { :; }
trap 'kill "$served"' EXIT
"""


def run_serve(folder: Path, setpriv: str) -> subprocess.CompletedProcess[str]:
    """Calls serve() in `folder`. `setpriv`: the body of its stub."""
    text = (CHECKOUT / "devtools/deb-in-root").read_text(encoding="utf-8")
    found = re.search(r"^serve\(\) \{\n.*?^\}$", text, re.MULTILINE | re.DOTALL)
    assert found
    function = found[0].replace("/tmp/served", "served")
    script = f"{STUBS}setpriv() {{ {setpriv}; }}\n{function}\nserve unit --options\n"
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)


def test_output_of_the_previous_call_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "served").write_text("serving service group 1\n")
    done = run_serve(tmp_path, "echo serving; exec sleep 100")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "before").read_text() == ""


def test_command_that_does_not_serve_fails(tmp_path: Path) -> None:
    (tmp_path / "served").touch()
    done = run_serve(tmp_path, "exec sleep 100")
    assert done.returncode == 1
    assert "does not serve" in done.stdout
