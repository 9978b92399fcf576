# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts control`: calls methods of vcmtsd's control socket.

Exit status: 0 if done, 1 if refused or vcmtsd has ended, 2 for wrong arguments.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any, NoReturn

import yaml

from vcmts import options, secret
from vcmts.control import metrics
from vcmts.control.client import connected
from vcmts.control.show import answer_lines, method_lines
from vcmts.control.sockets import select_socket
from vcmts.jsons import Json
from vcmts.output import write_json
from vcmts.paths import MistakeError
from vcmts.terminal import terminal_width

DISCOVER = "rpc.discover"
SUBSCRIBE = "events.subscribe"
EPILOG = """Without METHOD, it lists all methods; docs/control.md describes each."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument(
        "method", metavar="METHOD", nargs="?", help="method to call (default: list all methods)"
    )
    parser.add_argument(
        "params",
        metavar="KEY=VALUE",
        nargs="*",
        help="parameters of the method; VALUE is as in the configuration, @FILE (a YAML file) or "
        "@- (standard input); or all parameters as one JSON object",
    )
    options.add_server(parser)
    options.add_json(parser, "the answer")


class ValueLoader(yaml.BaseLoader):
    """Reads scalars as text, which vcmtsd converts; null stays, as it removes keys."""


NULL = "tag:yaml.org,2002:null"
ValueLoader.add_implicit_resolver(NULL, re.compile("null$"), ["n"])
ValueLoader.add_constructor(NULL, lambda _loader, _node: None)


def parse_value(key: str, text: str) -> Any:
    """Parses the text after `=` as YAML, or the file that it names."""
    try:
        if not text.startswith("@"):
            return yaml.load(text, Loader=ValueLoader)
        path = Path("/dev/stdin" if text == "@-" else text[1:])
        return yaml.load(path.read_text(encoding="utf-8-sig"), Loader=ValueLoader)
    except OSError as error:
        raise MistakeError(f"{key}: {secret.hide_keys(text)}: {error.strerror}") from error
    except UnicodeError as error:
        raise MistakeError(f"{key}: found no UTF-8, allowed: YAML") from error
    except yaml.YAMLError as error:
        raise MistakeError(f"{key}: {secret.yaml_error_text(error)}") from error


def parse_object(text: str) -> Json:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise MistakeError(f"found no JSON: {error}") from error
    assert isinstance(found, dict), "it begins with a brace"
    return found


def parse_params(words: list[str]) -> Json:
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        return parse_object(words[0])
    params: Json = {}
    for number, word in enumerate(words, 1):
        key, sign, text = word.partition("=")
        if not sign or not key:
            raise MistakeError(
                f"parameter {number}: found {len(word)} characters without KEY=, allowed: "
                "KEY=VALUE, or one JSON object"
            )
        if key in params:
            raise MistakeError(f"{secret.hide_keys(key)}: given twice")
        params[key] = parse_value(secret.hide_keys(key), text)
    return params


def call_method(path: Path, method: str, params: Json) -> Json:
    with connected(path) as client:
        try:
            answer: Json = client.call(method, **params)
            if method == metrics.METHOD and not params.keys() & {"first", "count"}:
                answer = metrics.add_parts(client, answer, params)
        except OSError as error:
            raise MistakeError(f"{path}: {error.strerror or error}") from error
    return answer


def print_events(path: Path, params: Json) -> NoReturn:
    """Prints the answer and each event, one JSON object per line, until vcmtsd ends."""
    with connected(path) as client:
        print(json.dumps(client.call(SUBSCRIBE, **params)), flush=True)
        for event in client.events():
            print(json.dumps(event), flush=True)
    raise AssertionError("events end by an exception")


def main(arguments: argparse.Namespace) -> int:
    method, params = arguments.method or DISCOVER, parse_params(arguments.params)
    path = select_socket(arguments.pid, arguments.socket)
    if method == SUBSCRIBE:
        print_events(path, params)
    answer = call_method(path, method, params)
    if arguments.json:
        write_json(arguments.json, answer, indent=None)
    elif arguments.method == DISCOVER:
        print(json.dumps(answer, indent=2))
    else:
        width = terminal_width(sys.stdout)
        print(*(answer_lines if arguments.method else method_lines)(answer, width), sep="\n")
    return 0
