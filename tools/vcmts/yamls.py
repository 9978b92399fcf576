# SPDX-License-Identifier: BSD-3-Clause
"""YAML by libyaml, which PyYAML has with few exceptions: the same values ten times as fast."""

from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def safe_load(text: str) -> Any:
    return yaml.load(text, Loader=LOADER)


def safe_load_all(text: str) -> list[Any]:
    return list(yaml.load_all(text, Loader=LOADER))
