# SPDX-License-Identifier: BSD-3-Clause
"""Runs in a container of the image: asks its loader whether every program and library finds what it
needs, and imports every module of the tool. Writes what it found as JSON."""

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, "/usr/share/vcmts/python")


def programs() -> list[Path]:
    found = []
    for folder, _, names in os.walk("/usr"):
        for path in (Path(folder, name) for name in names):
            if path.is_file() and not path.is_symlink():
                with path.open("rb") as file:
                    # relocatable ones are for the kernel (e_type 1)
                    head = file.read(18)
                    found += [path] if head[:4] == b"\x7fELF" and head[16] != 1 else []
    return found


def missing(files: list[Path]) -> list[str]:
    """In one go, as each call of the loader costs."""
    loader = next(Path("/usr").glob("lib*/ld-linux-*.so.*"))
    lines = []
    for file in files:
        done = subprocess.run([loader, "--list", file], check=False, capture_output=True, text=True)
        said = done.stdout + done.stderr
        lines += [
            f"{file}: {line.strip()}"
            for line in said.splitlines()
            if "not found" in line or "cannot" in line
        ]
    return lines


def imported() -> tuple[int, dict[str, str]]:
    import vcmts

    count, failed = 0, {}
    for module in pkgutil.walk_packages(vcmts.__path__, "vcmts."):
        if module.name.endswith("__main__"):
            continue
        count += 1
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            failed[module.name] = str(error)
    return count, failed


files = programs()
count, failed = imported()
print(
    json.dumps(
        {"programs": len(files), "missing": missing(files), "modules": count, "failed": failed}
    )
)
