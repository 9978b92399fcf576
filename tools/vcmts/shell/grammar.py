# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the shell, made from the OpenRPC document of vcmtsd.

A method that returns something is `show`: modem.list is `show modems`, flow.get `show flow`,
modem.flows `show modem flows`. Of all other methods, the verb comes first: modem.add is `add
modem`. The name of a method is a command, too.
"""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vcmts import secret
from vcmts.jsons import Json
from vcmts.paths import MistakeError

READS = "returns "  # begin of the summary of a method that changes nothing


@dataclass(frozen=True)
class Method:
    name: str
    words: tuple[str, ...]  # the command, such as ("show", "modems")
    summary: str
    params: dict[str, Json]  # schemas by name
    required: tuple[str, ...]
    result: Json
    refusals: tuple[str, ...] = ()

    @property
    def noun(self) -> str:
        return self.name.partition(".")[0]

    @property
    def command(self) -> str:
        return " ".join(self.words)

    @property
    def map_param(self) -> str | None:
        """The parameter that is a map, such as `modem` of modem.add; words of the shell are its
        members. None if there is none."""
        return next(
            (n for n, schema in self.params.items() if schema.get("type") == "object"), None
        )

    @property
    def positional(self) -> tuple[str, ...]:
        """Parameters that need no name, in their order."""
        optional = self.params.keys() - {*self.required}
        return (*((self.noun,) if self.noun in optional else ()), *self.required)

    @property
    def about(self) -> str:
        return self.summary.removeprefix(READS)


def command_words(name: str, summary: str) -> tuple[str, ...]:
    noun, _, verb = name.rpartition(".")
    if not summary.startswith(READS):
        return (verb, noun)
    if verb == "list":
        return ("show", f"{noun}s")
    return ("show", noun) if verb in ("get", "info") else ("show", noun, verb)


def method_of(described: Json) -> Method:
    params = described["params"]
    return Method(
        described["name"],
        command_words(described["name"], described["summary"]),
        described["summary"],
        {param["name"]: param["schema"] for param in params},
        tuple(param["name"] for param in params if param["required"]),
        described["result"]["schema"],
        tuple(error["message"] for error in described["errors"]),
    )


def methods(document: Json) -> list[Method]:
    """The methods of an OpenRPC document, in its order."""
    return [method_of(described) for described in document["methods"]]


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """`; did you mean "x"?`, or all allowed words if none is similar."""
    names = list(dict.fromkeys(allowed))
    similar = difflib.get_close_matches(word, names, 1)
    if similar:
        return f'; did you mean "{similar[0]}"?'
    return f"; allowed: {', '.join(names)}" if names else ""


def next_words(known: Iterable[Method], before: Sequence[str]) -> list[str]:
    """The words that can follow the words of a command."""
    at = len(before)
    begun = (m.words for m in known if len(m.words) > at and m.words[:at] == tuple(before))
    return list(dict.fromkeys(words[at] for words in begun))


def matching(word: str, allowed: Sequence[str]) -> list[str]:
    """The allowed word itself, or those that begin with it."""
    return [word] if word in allowed else [one for one in allowed if one.startswith(word)]


def resolve(known: Sequence[Method], words: Sequence[str]) -> tuple[list[str], int]:
    """The words of a command in full, of which the beginning is enough, and how many of `words`
    they are. Raises MistakeError for a word that is unknown or begins several."""
    full: list[str] = []
    for word in words:
        allowed = next_words(known, full)
        found = matching(word, allowed)
        if len(found) != 1 and any(m.words == tuple(full) for m in known):
            break  # an argument
        begun = secret.hide_keys(" ".join([*full, *word.split()]))
        if not found:
            raise MistakeError(f'unknown command "{begun}"{did_you_mean(word, allowed)}')
        if len(found) > 1:
            raise MistakeError(f'"{begun}" begins several: {", ".join(found)}')
        full += found
    return full, len(full)


def find(known: Sequence[Method], words: Sequence[str]) -> tuple[Method, list[str]]:
    """The method of a line, and its arguments. Raises MistakeError."""
    for method in known:
        if words[0] == method.name:
            return method, [*words[1:]]
    full, count = resolve(known, words)
    for method in known:
        if method.words == tuple(full):
            return method, [*words[count:]]
    raise MistakeError(f"{' '.join(full)}: add one of: {', '.join(next_words(known, full))}")
