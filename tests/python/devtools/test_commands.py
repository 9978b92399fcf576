# SPDX-License-Identifier: BSD-3-Clause
"""Tests devtools/commands, which checks that CI runs all commands of the README and `make help`."""

import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import Any

import pytest

from vcmts.paths import CHECKOUT

PROGRAM = CHECKOUT / "devtools" / "commands"
README = """Text, `make more` and `./vcmts say`, not `vcmtsd run`.
```
./vcmts one --a  b   # a comment
build/two \\
    --c
sg.yaml
```
"""


@pytest.fixture(scope="module")
def commands() -> Any:
    """The program as a module, loaded by path as it has no .py suffix."""
    loader = SourceFileLoader("commands", str(PROGRAM))
    spec = spec_from_loader("commands", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_list_is_complete() -> None:
    done = subprocess.run([sys.executable, PROGRAM, "--list"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_commands_are_read_from_text_and_make(commands: Any) -> None:
    assert commands.block_commands(README) == ["./vcmts one --a b", "build/two --c"]
    assert commands.inline_commands(README) == ["make more", "./vcmts say"]
    assert "make help" in commands.make_targets() and "make bench" in commands.make_targets()


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"make b": None}, "make b: not in commands.toml"),
        ({"make c": {}}, "make c: no page and no help text names it"),
        ({"make b": {"run": "x", "not": "y"}}, "make b: more than one of"),
        ({"make b": {"step": True}}, "make b: no step of .ci/run"),
        ({"make b": {"within": "make x"}}, "make b: make x does not run"),
        ({"make b": {"within": "make b"}}, "make b: make b does not run"),
        ({"make a": {"beside": ["make x"]}, "make b": {}}, None),
        ({}, None),
    ],
)
def test_errors_of_the_list(changed: dict[str, Any], error: str | None, commands: Any) -> None:
    listed = {"make a": {"step": True}, "make b": {"within": "make a"}} | changed
    listed = {name: what for name, what in listed.items() if what is not None}
    errors = commands.list_errors(listed, ["make a", "make b"], "step make a\nstep make bb\n")
    assert errors == [] if error is None else any(text.startswith(error) for text in errors)
