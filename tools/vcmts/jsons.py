# SPDX-License-Identifier: BSD-3-Clause
"""The type of a JSON object, and a compact layout of JSON files that people read and compare."""

import json
from typing import Any

Json = dict[str, Any]


def format_json(value: Any, width: int = 110, at: int = 0, key: str = "") -> str:
    """Formats a value as JSON: on one line if it fits into `width` columns, else one item per line.

    `at` is the indentation, `key` the text before the value.
    """
    line = key + json.dumps(value)
    if at + len(line) < width or not value or not isinstance(value, dict | list):
        return line
    if isinstance(value, dict):
        opened, closed = "{}"
        parts = [format_json(v, width, at + 1, f"{json.dumps(k)}: ") for k, v in value.items()]
    else:
        opened, closed = "[]"
        parts = [format_json(v, width, at + 1) for v in value]
    inner = " " * (at + 1)
    body = ",\n".join(inner + part for part in parts)
    return f"{key}{opened}\n{body}\n{' ' * at}{closed}"
