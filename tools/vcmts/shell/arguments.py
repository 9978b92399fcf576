# SPDX-License-Identifier: BSD-3-Clause
"""Makes the parameters of a method from the words behind a command.

A word is KEY=VALUE, KEY VALUE, or a value in the order of the required parameters. Keys that are no
parameter are members of the parameter that is a map; dots separate keys of nested maps.
"""

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from vcmts import secret
from vcmts.control.command import parse_value
from vcmts.jsons import Json
from vcmts.paths import MistakeError, data
from vcmts.shell.grammar import Method, did_you_mean

ASSIGNED = re.compile(r"(\w[\w.-]*)=(.*)", re.DOTALL)
NAMES = ("mac", "id")  # keys that name an object of the configuration


@cache
def schema() -> Json:
    """The schema of the configuration."""
    found: Json = json.loads(data("config/schema.json").read_text(encoding="utf-8"))
    return found


def members(method: Method) -> Json:
    """The keys of the map that a method gets, with their schemas: those of an item of the list in
    the configuration, or of the top level as far as the method's description names them."""
    if method.map_param is None:
        return {}
    top: Json = schema()["properties"]
    described = str(method.params[method.map_param].get("description", ""))
    if f"{method.noun}s" not in top:
        return {key: value for key, value in top.items() if re.search(rf"\b{key}\b", described)}
    keys: Json = top[f"{method.noun}s"]["items"]["properties"]
    only = described.startswith("the key ")
    return {key: value for key, value in keys.items() if not only or f"`{key}`" in described}


def naming_key(method: Method) -> str | None:
    """The key that names the object, such as `mac` of a modem."""
    return next((key for key in NAMES if key in members(method)), None)


class Arguments:
    """Collects the parameters of one request."""

    def __init__(self, method: Method) -> None:
        self.method = method
        self.params: Json = {}
        self.unnamed = list(method.positional)

    def assign(self, key: str, text: str) -> None:
        """Sets a parameter, or a member of the map, to a value in YAML."""
        value = parse_value(secret.hide_keys(key), text)
        whole, name = self.method.map_param, key
        target = self.params
        if key not in self.method.params:
            if whole is None:
                names = [*self.method.params]
                wrong = f'{self.method.command}: unknown parameter "{secret.hide_keys(key)}"'
                raise MistakeError(wrong + (did_you_mean(key, names) or "; it has none"))
            target = self.nested(whole)
            *path, name = key.split(".")
            for part in path:
                target = target.setdefault(part, {})
        elif self.method.params[key].get("type") == "array" and not isinstance(value, list):
            value = [value]
        if not isinstance(target, dict) or name in target:
            raise MistakeError(f"{secret.hide_keys(key)}: given twice")
        target[name] = value

    def nested(self, whole: str) -> Any:
        return self.params.setdefault(whole, {})

    def place(self, text: str) -> None:
        """Sets the next parameter that needs no name, or the key that names the object."""
        while self.unnamed and self.unnamed[0] in self.params:
            self.unnamed.pop(0)
        if not self.unnamed:
            shown = f'{self.method.command}: unexpected "{secret.hide_keys(text)}"'
            raise MistakeError(f"{shown}; write KEY=VALUE, or: {usage(self.method)}")
        name = self.unnamed.pop(0)
        key = naming_key(self.method)
        if name == self.method.map_param and key is not None and text[:1] not in "{@":
            name = key
        self.assign(name, text)

    def check(self) -> None:
        """Raises MistakeError if a required parameter is missing."""
        for name in self.method.required:
            if name not in self.params:
                raise MistakeError(f"{usage(self.method)}: {missing_text(self.method, name)}")


def missing_text(method: Method, name: str) -> str:
    if name == method.map_param:
        key = naming_key(method)
        return f"add {key} and the keys to set" if key else "add KEY=VALUE"
    return f"add {name}, {method.params[name].get('description', 'a value')}"


def usage(method: Method) -> str:
    """The command with its values in capitals, such as `set modem MAC KEY=VALUE...`."""
    shown = list(method.words)
    for name in method.positional:
        if name != method.map_param:
            shown.append(name.upper() if name in method.required else f"[{name.upper()}]")
            continue
        keys = members(method)
        key = naming_key(method)
        shown += [key.upper()] if key else []
        shown += ["KEY=VALUE..."] if len(keys) != 1 else []
    further = method.params.keys() - {*method.positional, "group"}
    return " ".join([*shown, *(["[KEY=VALUE...]"] if further and shown[0] != "show" else [])])


def parse(method: Method, words: Sequence[str], group: int | None) -> Json:
    """The parameters. `group`: the service group if none is given; None: vcmtsd's default."""
    if len(words) == 1 and words[0].startswith("{"):
        given = parse_value(method.command, words[0])
        if isinstance(given, dict) and given.keys() <= method.params.keys():
            return given
    found = Arguments(method)
    named = {*method.params, *members(method)}
    rest = [*words]
    while rest:
        word = rest.pop(0)
        assigned = ASSIGNED.fullmatch(word)
        if assigned:
            found.assign(assigned[1], assigned[2])
        elif word in named and rest and not ASSIGNED.fullmatch(rest[0]):
            found.assign(word, rest.pop(0))
        else:
            found.place(word)
    found.check()
    if group is not None and "group" in method.params:
        found.params.setdefault("group", group)
    return found.params
