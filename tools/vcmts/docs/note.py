# SPDX-License-Identifier: BSD-3-Clause
"""Writes the file with facts of an installation, which paths.py reads.

Arguments: OUTPUT BUILD VERSION BIN LIBEXEC. The build calls it, with Python's own packages only.
"""

import json
import sys
from pathlib import Path

from vcmts.system import software
from vcmts.system.files import Files


def main(output: str, build: str, version: str, *places: str) -> None:
    note = {
        **dict(zip(("bin", "libexec"), places, strict=True)),
        "version": version,
        "built": {"version": version, **software.of_build(Files(), Path(build))},
    }
    Path(output).write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")


main(*sys.argv[1:])
