# SPDX-License-Identifier: BSD-3-Clause
"""Tests which Python packages import each other."""

import re

from vcmts import cli, paths


def test_vcmts_does_not_import_planning_or_host() -> None:
    """`planning` and `host` depend on `vcmts`, which knows only the names of their commands."""
    tool = paths.CHECKOUT / "tools" / "vcmts"
    importing = [
        path.relative_to(tool)
        for path in tool.rglob("*.py")
        if path.relative_to(tool).parts[0] != "docs"
        and re.search(r"^ *(from|import) (planning|host)\b", path.read_text(), re.MULTILINE)
    ]
    assert importing == []


def test_commands_of_other_packages_load() -> None:
    for command, package in cli.OTHER_PACKAGES.items():
        assert cli.load_command(command).__name__ in (package, f"{package}.command")
