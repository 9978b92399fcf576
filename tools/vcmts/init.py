# SPDX-License-Identifier: BSD-3-Clause
"""vcmts init: writes a short configuration in which a comment explains each key.

The values are those of config/starter.yaml. The comments are the descriptions of
config/schema.json, each where its key comes first.
"""

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator

from vcmts.jsons import Json
from vcmts.paths import TOOL, data

WIDTH = 80  # columns of the file
COMMENT_AT = 30  # column of comments beside a value
HEAD = """# A service group with two modems, to start from. Its keys are for tests only.
#   {tool} validate sg.yaml                      checks it
#   {tool} run --config sg.yaml --duration 10s   sends traffic through it
#   {tool} help vcmts.yaml                       describes all keys, such as
# `ports` (network cards) and `threads` (cores, which `{tool} layout` proposes)
"""
# A key of a list's item or map, with the text before it and its value.
KEY = re.compile(r"(?P<before> *(?:- )?)(?P<key>\w+):(?P<value>.*)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = f"Save it: {TOOL} init > sg.yaml"


def keys_of(schema: Json) -> Json:
    """The keys of a map, or of the items of a list of maps."""
    found: Json = schema.get("items", schema).get("properties", {})
    return found


def explanation(schema: Json) -> str:
    """The description of a key with its allowed words; as many clauses as fit beside a key."""
    text = str(schema["description"])
    if "enum" in schema:
        return f"{re.split('[:;,(]', text)[0].strip()}: {schema['x-allowed']}"
    clauses: list[str] = [re.split(end, text)[0].strip() for end in ("$", "[;(]", "[,;(]")]
    telling = [one for one in clauses if one.count(" ") > 1]
    fitting = [one for one in telling if len(one) <= WIDTH - COMMENT_AT - 2]
    return [*fitting, *reversed(telling), text][0]


def with_comment(line: str, text: str, indent: int) -> Iterator[str]:
    """The line with the text beside it, or above it if the line is long."""
    if len(line) < COMMENT_AT - 1:
        first, *more = textwrap.wrap(text, WIDTH - COMMENT_AT - 2)
        yield f"{line.ljust(COMMENT_AT)}# {first}"
        yield from (f"{' ' * COMMENT_AT}# {one}" for one in more)
    else:
        yield from (f"{' ' * indent}# {one}" for one in textwrap.wrap(text, WIDTH - indent - 2))
        yield line


def commented(lines: Iterable[str], schema: Json) -> Iterator[str]:
    """Adds an explanation to the first line of each key. Raises KeyError for unknown keys."""
    above = [(-1, "", keys_of(schema))]  # indentation, path and keys of the enclosing maps
    explained = set()
    for line in lines:
        found = KEY.fullmatch(line)
        if found is None:  # an item in braces: its keys are those of the item above
            yield line
            continue
        indent = len(found["before"])
        while indent <= above[-1][0]:
            above.pop()
        path, about = f"{above[-1][1]}.{found['key']}", above[-1][2][found["key"]]
        above.append((indent, path, keys_of(about)))
        if path in explained:
            yield line
            continue
        explained.add(path)
        yield from with_comment(line, explanation(about), found["before"].count(" "))


def starter_text() -> str:
    schema = json.loads(data("config/schema.json").read_text(encoding="utf-8"))
    lines = data("config/starter.yaml").read_text(encoding="utf-8").splitlines()
    return HEAD.format(tool=TOOL) + "\n".join(commented(lines[1:], schema)) + "\n"


def main(arguments: argparse.Namespace) -> int:
    sys.stdout.write(starter_text())
    return 0
