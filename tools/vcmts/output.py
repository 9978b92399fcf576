# SPDX-License-Identifier: BSD-3-Clause
"""Writes result files, whole or not at all, and JSON also to standard output.

While JSON goes to standard output, all text of a command goes to standard error."""

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from vcmts.streams import whole_file

STDOUT = "-"  # the value of --json that means standard output
OTHER_STDOUT = "/dev/stdout"
# Where JSON for standard output goes while sys.stdout is replaced; the last one counts.
_json_out: list[TextIO] = []


def is_stdout(path: str | None) -> bool:
    return path in (STDOUT, OTHER_STDOUT)


def file_name(path: str | None) -> str | None:
    """The path if it is a file; None for standard output and for None."""
    return None if is_stdout(path) else path


@contextlib.contextmanager
def text_beside_json(path: str | None) -> Iterator[None]:
    """In this context, what a command prints goes to standard error if `path` is standard output,
    which then has nothing but the JSON of replace_file()."""
    if not is_stdout(path):
        yield
        return
    _json_out.append(sys.stdout)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _json_out.pop()


def replace_file(path: str | Path, text: str) -> None:
    """Replaces the file as whole_file() does; writes to standard output for `-`. Raises OSError
    with the name of the file."""
    if is_stdout(str(path)):
        out = _json_out[-1] if _json_out else sys.stdout
        out.write(text)
        out.flush()
        return
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8")


def write_json(path: str, value: Any, indent: int | None = 1) -> None:
    """Writes a value as JSON to the file of --json, or to standard output. Raises OSError."""
    replace_file(path, json.dumps(value, indent=indent) + "\n")
