# SPDX-License-Identifier: BSD-3-Clause
"""The tool and the packages beside it: which of them know which."""

import re

from vcmts import cli, paths


def test_the_tool_needs_no_planner() -> None:
    """Planning and host preparation stand beside it: only the names of their commands are known."""
    tool = paths.CHECKOUT / "tools" / "vcmts"
    reaching = [
        path.relative_to(tool)
        for path in tool.rglob("*.py")
        if path.relative_to(tool).parts[0] != "docs"
        and re.search(r"^ *(from|import) (planning|host)\b", path.read_text(), re.MULTILINE)
    ]
    assert reaching == []


def test_commands_of_packages_beside_the_tool() -> None:
    for command, package in cli.BESIDE.items():
        assert cli.load(command).__name__ == f"{package}.command"
