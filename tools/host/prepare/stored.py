# SPDX-License-Identifier: BSD-3-Clause
"""Reads and validates plan.json. Its source may be untrusted, and root applies it, so each field
must be a value that `vcmts host plan` can write.

host.prepare.allowed compares the plan with the host.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema

from host.prepare import arguments
from host.prepare.cards import ADDRESS, ID, MAC
from host.prepare.plan import (
    LOADERS,
    NAME,
    SCHEMA,
    SIZES_KB,
    Facts,
    Function,
    Pages,
    Plan,
    PlannedCard,
)
from host.prepare.requirements import ETHERNET_MTU, MAX_VLAN, ROLES
from vcmts import version
from vcmts.jsons import Json
from vcmts.layout.propose import MOST_GROUPS
from vcmts.paths import MistakeError
from vcmts.secret import hide_keys

MAX_BYTES = 4 << 20
NO_MAC = "00:00:00:00:00:00"


# JSON Schemas: a whole number, a text that matches completely, an array, an object with exactly
# these keys.
def whole(least: int, most: int) -> Json:
    return {"type": "integer", "minimum": least, "maximum": most}


def text(pattern: str) -> Json:
    return {"type": "string", "pattern": rf"^(?:{pattern})\Z"}


def array(items: Json, most: int) -> Json:
    return {"type": "array", "items": items, "maxItems": most}


def unique_numbers(items: Json, most: int) -> Json:
    return {**array(items, most), "uniqueItems": True}


def record(**properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


CPU = whole(0, 65535)
NODE = {"anyOf": [whole(0, 1023), {"type": "null"}]}
GROUPS = {**unique_numbers(whole(1, 65535), MOST_GROUPS), "minItems": 1}
FUNCTION = record(
    index={"anyOf": [whole(0, 1023), {"type": "null"}]},
    role={"enum": list(ROLES)},
    groups=GROUPS,
    mac=text(f"|{MAC}"),
    vlan=whole(0, MAX_VLAN),
    check={"type": "boolean"},
    trust={"type": "boolean"},
)
CARD = record(
    address=text(ADDRESS),
    vendor=text(ID),
    device=text(ID),
    mac=text(f"|{MAC}"),
    node=NODE,
    functions={**array(FUNCTION, 1024), "minItems": 1},
    made=whole(0, 1024),
    others={"type": "boolean"},
    addresses=array(text(ADDRESS), 1024),
    bind={"type": "boolean"},
    named={"type": "boolean"},
    mtu=whole(ETHERNET_MTU, 65535),
)
DOCUMENT = record(
    schema={"const": SCHEMA},
    groups=GROUPS,
    main_core=CPU,
    polling=unique_numbers(CPU, 65536),
    isolated=unique_numbers(CPU, 65536),
    pages=array(record(node=NODE, size_kb={"enum": list(SIZES_KB)}, count=whole(1, 1 << 24)), 1024),
    arguments=array({"type": "string"}, 32),
    cards=array(CARD, 256),
    iommu={"type": "boolean"},
    no_iommu={"type": "boolean"},
    facts=record(
        cores=array(
            {
                "type": "array",
                "prefixItems": [CPU, NODE, NODE, array(CPU, 65536)],
                "minItems": 4,
                "items": False,
            },
            65536,
        ),
        loader={"enum": list(LOADERS)},
    ),
)


def parse_card(found: Json) -> PlannedCard:
    functions = tuple(Function(**{**f, "groups": tuple(f["groups"])}) for f in found["functions"])
    return PlannedCard(**{**found, "functions": functions, "addresses": tuple(found["addresses"])})


def parse_plan(found: Json) -> Plan:
    cores = tuple((n, socket, node, tuple(s)) for n, socket, node, s in found["facts"]["cores"])
    return Plan(
        groups=tuple(found["groups"]),
        main_core=found["main_core"],
        polling=tuple(found["polling"]),
        isolated=tuple(found["isolated"]),
        pages=tuple(Pages(**one) for one in found["pages"]),
        arguments=tuple(found["arguments"]),
        cards=tuple(parse_card(one) for one in found["cards"]),
        iommu=found["iommu"],
        no_iommu=found["no_iommu"],
        facts=Facts(cores, found["facts"]["loader"]),
    )


def function_error(card: PlannedCard, one: Function, groups: Sequence[int]) -> str:
    """Returns the error of a function, or "" if it is valid. `groups`: those of the plan."""
    if not set(one.groups) <= set(groups):
        return "a port has a service group that is not in `groups`"
    if one.index is None:
        return "a whole card has a MAC address or VLAN" if one.mac or one.vlan else ""
    if one.index >= card.made:
        return f"function {one.index} of {card.made}"
    if one.mac in ("", NO_MAC) or int(one.mac[:2], 16) & 1:
        return f"function {one.index} has MAC address {one.mac!r}, allowed: unicast addresses"
    return ""


def card_error(card: PlannedCard, groups: Sequence[int]) -> str:
    """Returns the error of a card or one of its functions, or "". `groups`: those of the plan."""
    indexes = [one.index for one in card.functions]
    whole_card = card.made == 0
    if whole_card != (indexes == [None]) or (not whole_card and None in indexes):
        return f"its functions do not match `made` = {card.made}"
    if whole_card and card.others:
        return "`others` is set on a whole card"
    if len(set(indexes)) != len(indexes):
        return "a function is listed twice"
    if len(card.addresses) != card.made:
        return f"{len(card.addresses)} addresses for {card.made} functions"
    found = (function_error(card, one, groups) for one in card.functions)
    return next((why for why in found if why), "")


def core_errors(plan: Plan) -> Iterator[str]:
    """Yields errors of main_core, polling and isolated: the first unknown core of each, main_core
    in isolated, and isolated cores that are not the polling ones with their hyper-threads."""
    known = {core[0] for core in plan.facts.cores}
    for name, cores in (
        ("main_core", [plan.main_core]),
        ("polling", plan.polling),
        ("isolated", plan.isolated),
    ):
        others = sorted(set(cores) - known)
        if others:
            yield f"{name}: core {others[0]} is not in facts.cores"
    if plan.main_core in plan.isolated:
        yield f"isolated: core {plan.main_core} is main_core, which must not be isolated"
    threads = {core[0]: {core[0], *core[3]} for core in plan.facts.cores}
    polling = {n for core in plan.polling for n in threads.get(core, ())} - {plan.main_core}
    if plan.isolated and set(plan.isolated) != polling:
        yield "isolated: allowed: none, or the polling cores with their hyper-threads"


def page_errors(plan: Plan) -> Iterator[str]:
    nodes = [one.node for one in plan.pages]
    if len(set(nodes)) != len(nodes) or (None in nodes and len(nodes) > 1):
        yield "pages: a node is listed twice"
    if len({one.size_kb for one in plan.pages}) > 1:
        yield "pages: several sizes, allowed: one"


def inconsistencies(plan: Plan) -> Iterator[str]:
    """Yields errors that the schema cannot express: of cores, pages, IOMMU and cards. Kernel
    arguments must be those that isolated cores and pages may need, in order."""
    yield from core_errors(plan)
    yield from page_errors(plan)
    if plan.iommu and plan.no_iommu:
        yield "no_iommu: it is set, but an IOMMU works"
    addresses = [card.address for card in plan.cards]
    for card in plan.cards:
        why = card_error(card, plan.groups)
        if why or addresses.count(card.address) > 1:
            yield f"cards: {card.address}: {why or 'it is listed twice'}"
    left = arguments.possible(plan.isolated, plan.pages)
    for word in plan.arguments:
        if word not in left:
            yield (
                f"arguments: found {word!r}, allowed, in this order and once each: "
                f"{' '.join(arguments.possible(plan.isolated, plan.pages))}"
            )
            return
        left = left[left.index(word) + 1 :]


def read_text(path: Path, most: int) -> str:
    """Reads a text file. Raises MistakeError if it is missing, a link, not text, or larger than
    `most` bytes."""
    try:
        if path.is_symlink() or not path.is_file():
            raise MistakeError(f"{path}: no such file, or a link: run `vcmts host plan -o`")
        if path.stat().st_size > most:
            raise MistakeError(f"{path}: larger than {most >> 20} MB")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise MistakeError(f"{path}: not UTF-8 text") from error


def unique_keys(path: Path) -> Callable[[list[tuple[str, Any]]], Json]:
    """Returns a JSON hook that rejects repeated keys: Python takes the last, a reviewer may read
    the first."""

    def build(pairs: list[tuple[str, Any]]) -> Json:
        names = [name for name, _ in pairs]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise MistakeError(f"{path}: an object has key {twice[:40]!r} twice")
        return dict(pairs)

    return build


def read(folder: Path) -> Plan:
    """Reads and validates plan.json in `folder`. Raises MistakeError if missing or invalid."""
    path = folder / NAME
    try:
        # Floats become strings, so the schema rejects them: it accepts 1.0 as an integer, sysfs
        # does not.
        found = json.loads(
            read_text(path, MAX_BYTES),
            parse_float=str,
            parse_constant=str,
            object_pairs_hook=unique_keys(path),
        )
    except (ValueError, RecursionError) as error:
        raise MistakeError(f"{path}: not JSON") from error
    schema = found.get("schema") if isinstance(found, dict) else None
    if type(schema) is int and schema != SCHEMA:
        raise MistakeError(
            f"{path}: schema {schema}, written by another version of vcmts; version "
            f"{version.number()} reads {SCHEMA}: plan again"
        )
    violation = jsonschema.exceptions.best_match(
        jsonschema.Draft202012Validator(DOCUMENT).iter_errors(found)
    )
    if violation is not None:
        # The user may have named a folder with another JSON file, whose values may be modem keys.
        place = ".".join(str(step) for step in violation.absolute_path) or "file"
        raise MistakeError(f"{path}: {place}: {hide_keys(violation.message)[:160]}")
    plan = parse_plan(found)
    why = next(inconsistencies(plan), "")
    if why:
        raise MistakeError(f"{path}: {why[:300]}")
    return plan
