# SPDX-License-Identifier: BSD-3-Clause
"""devtools/commands: no command that the README or `make help` names is forgotten in CI."""

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
    """The program as a module; it has no ending by which Python would know it."""
    loader = SourceFileLoader("commands", str(PROGRAM))
    spec = spec_from_loader("commands", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_list_is_complete() -> None:
    done = subprocess.run([sys.executable, PROGRAM, "--list"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_commands_are_found(commands: Any) -> None:
    assert commands.of_blocks(README) == ["./vcmts one --a b", "build/two --c"]
    assert commands.of_sentences(README) == ["make more", "./vcmts say"]
    assert "make help" in commands.targets() and "make bench" in commands.targets()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"make b": None}, "make b: not in commands.toml"),
        ({"make c": {}}, "make c: named nowhere"),
        ({"make b": {"run": "x", "not": "y"}}, "make b: more than one of"),
        ({"make b": {"step": True}}, "make b: no step of .ci/run"),
        ({"make b": {"within": "make x"}}, "make b: make x does not run"),
        ({"make b": {"within": "make b"}}, "make b: make b does not run"),
        ({"make a": {"beside": ["make x"]}, "make b": {}}, None),
        ({}, None),
    ],
)
def test_mistakes_of_the_list(changed: dict[str, Any], said: str | None, commands: Any) -> None:
    told = {"make a": {"step": True}, "make b": {"within": "make a"}} | changed
    told = {name: what for name, what in told.items() if what is not None}
    found = commands.mistakes(told, ["make a", "make b"], "step make a\nstep make bb\n")
    assert found == [] if said is None else any(text.startswith(said) for text in found)
