# SPDX-License-Identifier: BSD-3-Clause
"""Runs in a container of the image and prints JSON: the libraries that the loader does not find for
the image's programs and libraries, and the modules of the tool that cannot be imported."""

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, "/usr/share/vcmts/python")


def elf_files() -> list[Path]:
    result = []
    for folder, _, names in os.walk("/usr"):
        for path in (Path(folder, name) for name in names):
            if path.is_file() and not path.is_symlink():
                with path.open("rb") as file:
                    header = file.read(18)  # to e_type; relocatable files (1) are kernel modules
                    result += [path] if header[:4] == b"\x7fELF" and header[16] != 1 else []
    return result


def missing(files: list[Path]) -> list[str]:
    """Runs the image's loader on each file and returns its error lines."""
    loader = next(Path("/usr").glob("lib*/ld-linux-*.so.*"))
    lines = []
    for file in files:
        done = subprocess.run([loader, "--list", file], check=False, capture_output=True, text=True)
        for line in (done.stdout + done.stderr).splitlines():
            lines += [f"{file}: {line.strip()}"] if "not found" in line or "cannot" in line else []
    return lines


def import_modules() -> tuple[int, dict[str, str]]:
    """Imports all modules. Returns their number, and the errors by module."""
    import vcmts

    count, errors = 0, {}
    for module in pkgutil.walk_packages(vcmts.__path__, "vcmts."):
        if module.name.endswith("__main__"):
            continue
        count += 1
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            errors[module.name] = str(error)
    return count, errors


files = elf_files()
count, errors = import_modules()
print(
    json.dumps(
        {"elf_files": len(files), "missing": missing(files), "modules": count, "failed": errors}
    )
)
