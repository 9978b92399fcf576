# SPDX-License-Identifier: BSD-3-Clause
"""vcmts control: changes a data plane in service, by the methods that it tells itself."""

import argparse
import json
import os
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vcmts.control.client import Client, ClosedError, RefusedError
from vcmts.paths import MistakeError, complain

SOCKET = "control.sock"
DISCOVER = "rpc.discover"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "method", metavar="METHOD", nargs="?", help="what to do (without: which there are)"
    )
    parser.add_argument(
        "params",
        metavar="KEY=VALUE",
        nargs="*",
        help="its parameters; a value as in the configuration, @FILE for one in a YAML file, or "
        "@- for standard input",
    )
    parser.add_argument(
        "--socket", metavar="PATH", type=Path, help="of the vcmtsd (default: the only one there is)"
    )
    parser.add_argument("--json", action="store_true", help="print the answer as it came")


def folders() -> list[Path]:
    named = (os.environ.get(name) for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"))
    return [Path(base) / "vcmts" for base in ("/run", *named, "/tmp") if base]


def chosen(given: Path | None) -> Path:
    if given is not None:
        return given
    found = sorted({path for place in folders() for path in place.glob(f"*{SOCKET}")})
    if len(found) == 1:
        return found[0]
    if not found:
        raise MistakeError(
            "--socket: found no vcmtsd in service; start it with --control-socket PATH"
        )
    raise MistakeError(f"--socket: found several, allowed: one of {', '.join(map(str, found))}")


def value_of(key: str, text: str) -> Any:
    """What stands behind the sign, as YAML reads it."""
    try:
        if not text.startswith("@"):
            return yaml.load(text, Loader=yaml.BaseLoader)
        path = Path("/dev/stdin" if text == "@-" else text[1:])
        return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        first = str(error).splitlines()[0]
        raise MistakeError(f"{key}: {first}") from error


def params_of(words: list[str]) -> dict[str, Any]:
    params = {}
    for word in words:
        key, sign, text = word.partition("=")
        if not sign or not key:
            raise MistakeError(f"found {word}, allowed: KEY=VALUE")
        params[key] = value_of(key, text)
    return params


def usage(params: list[dict[str, Any]]) -> str:
    """The keys of a method, those that may be left out in brackets."""
    return " ".join(p["name"] if p["required"] else f"[{p['name']}]" for p in params)


def show_methods(described: dict[str, Any], console: Console) -> None:
    table = Table("method", "parameters", "does", box=None, header_style="bold")
    for method in described["methods"]:
        row = (method["name"], usage(method["params"]), method["summary"])
        table.add_row(*map(escape, row))
    console.print(table)


def ask(client: Client, arguments: argparse.Namespace) -> Any:
    if arguments.method is None:
        return client.call(DISCOVER)
    return client.call(arguments.method, **params_of(arguments.params))


def main(arguments: argparse.Namespace) -> int:
    path = chosen(arguments.socket)
    try:
        with Client(path) as client:
            answer = ask(client, arguments)
    except RefusedError as error:
        complain(str(error))
        return 1
    except ClosedError as error:
        complain(str(error))
        return 1
    except OSError as error:
        raise MistakeError(f"{path}: {error.strerror or error}") from error
    if arguments.method is None and not arguments.json:
        show_methods(answer, Console())
    else:
        print(json.dumps(answer, indent=None if arguments.json else 2))
    return 0
