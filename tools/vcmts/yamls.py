# SPDX-License-Identifier: BSD-3-Clause
"""Loads YAML with libyaml if PyYAML has it: ten times as fast, with the same values."""

from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def safe_load(text: str) -> Any:
    return yaml.load(text, Loader=LOADER)


def safe_load_all(text: str) -> list[Any]:
    return list(yaml.load_all(text, Loader=LOADER))
