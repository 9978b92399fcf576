# SPDX-License-Identifier: BSD-3-Clause
"""Generates the page on the configuration from its schema, the examples and a template."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from vcmts.paths import CHECKOUT
from vcmts.profile import qos as quality
from vcmts.profile import upstream
from vcmts.profile.group import GRAMMAR, MOST_SAIDS, PUBLISHED
from vcmts.profile.rules import FILTERS, FilterSet
from vcmts.profile.size import ACTIVE_FLOWS, CLASSIFIERS, CLASSIFIERS_IPV4, FLOWS

Schema = dict[str, Any]

SCHEMA = CHECKOUT / "config" / "schema.json"
EXAMPLE = CHECKOUT / "config" / "example.yaml"
SERVER_EXAMPLE = CHECKOUT / "config" / "example-server.yaml"
TEMPLATE = Path(__file__).with_name("configuration.md.in")


def escape(text: str) -> str:
    return text.replace("|", "\\|")


def table(heads: str, lines: Iterable[Iterable[str]]) -> Iterator[str]:
    """A Markdown table. `heads`: names with bars between them; a colon at the end of a name aligns
    right."""
    names = heads.split(" | ")
    yield f"| {' | '.join(name.removesuffix(':') for name in names)} |"
    yield f"| {' | '.join('---:' if name.endswith(':') else '---' for name in names)} |"
    for cells in lines:
        yield f"| {' | '.join(escape(cell) for cell in cells)} |"


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def allowed(schema: Schema) -> str:
    """The allowed values as text; for a list also those of an item."""
    words = str(schema.get("x-allowed", "a map, see below"))
    items = schema.get("items")
    if items is None:
        return words
    if "properties" in items:
        return f"{words}, see below"
    # x-allowed of cores describes both a text and a list of texts
    return f"{words}, each {items['x-allowed']}" if "x-allowed" in items else words


def default(schema: Schema) -> str:
    if "default" not in schema:
        return ""
    value = schema["default"]
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def rows(schema: Schema) -> Iterator[tuple[str, ...]]:
    needed = set(schema.get("required", schema.get("else", {}).get("required", ())))
    for name, value in schema["properties"].items():
        if "$ref" in value:  # a key of the top level
            continue
        key = f"**`{name}`**" if name in needed else f"`{name}`"
        yield key, value["description"], allowed(value), default(value)


def shared_keys(schema: Schema) -> str:
    """A sentence with the keys that an item of a list shares with the top level; "": none."""
    names = [f"`{name}`" for name, value in schema["properties"].items() if "$ref" in value]
    return f"These keys are as at the top level: {', '.join(names)}." if names else ""


def nested_maps(schema: Schema, path: str) -> Iterator[tuple[Schema, str]]:
    """The maps of a map at `path`, and those of its lists, each with its path."""
    for name, value in schema["properties"].items():
        key_path = f"{path}.{name}" if path else name
        if "properties" in value:
            yield value, key_path
        elif "properties" in value.get("items", {}):
            yield value["items"], f"{key_path}[]"


def sections(schema: Schema, path: str) -> Iterator[str]:
    """A heading and table for this map, then for every map inside it."""
    yield f"\n### {f'`{path}`' if path else 'Top level'}\n"
    if path:
        yield f"{sentence(schema['description'])}.\n"
    yield from table("key | meaning | allowed | default", rows(schema))
    if shared_keys(schema):
        yield f"\n{shared_keys(schema)}"
    for value, key_path in nested_maps(schema, path):
        yield from sections(value, key_path)


def filter_set(year: FilterSet) -> str:
    kind = FILTERS[year]
    rules = kind.ipv4_rules + kind.ipv6_rules
    return (
        f"{kind.groups} groups of {rules} rules ({kind.ipv4_rules} IPv4, {kind.ipv6_rules} IPv6), "
        f"{kind.groups_a_modem} per modem"
    )


def after_licence(path: Path) -> str:
    return path.read_text(encoding="utf-8").split("\n", 1)[1].rstrip("\n")


def placeholders(schema: Schema) -> dict[str, str]:
    return {
        "EXAMPLE": after_licence(EXAMPLE),
        "SERVER_EXAMPLE": after_licence(SERVER_EXAMPLE),
        "KEYS": "\n".join(sections(schema, "")),
        "GRAMMAR": GRAMMAR,
        "NAMES": "\n".join(f"- `{name}`" for name in PUBLISHED),
        "FILTERS_2023": filter_set("2023"),
        "FILTERS_2021": filter_set("2021"),
        "FLOWS": str(FLOWS),
        "ACTIVE_FLOWS": str(ACTIVE_FLOWS),
        "WEIGHTS": ", ".join(map(str, quality.WEIGHTS[:-1])) + f" and {quality.WEIGHTS[-1]}",
        "CLASSIFIERS": str(CLASSIFIERS),
        "CLASSIFIERS_IPV4": str(CLASSIFIERS_IPV4),
        "CLASSIFIERS_IPV6": str(CLASSIFIERS - CLASSIFIERS_IPV4),
        "MOST_SAIDS": str(MOST_SAIDS),
        "UPSTREAM_CHANNELS": str(upstream.CHANNELS),
        "UPSTREAM_RATE": upstream.RATE,
    }


def render(schema: Schema) -> str:
    """Fills the template."""
    words = placeholders(schema)
    return re.sub(
        r"@([A-Z][A-Z0-9_]+)@", lambda word: words[word[1]], TEMPLATE.read_text(encoding="utf-8")
    )


def read_schema(path: Path = SCHEMA) -> Schema:
    schema: Schema = json.loads(path.read_text(encoding="utf-8"))
    return schema
