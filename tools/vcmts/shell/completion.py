# SPDX-License-Identifier: BSD-3-Clause
"""What can follow the text before the cursor."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from vcmts.jsons import Json
from vcmts.paths import MistakeError
from vcmts.shell.arguments import ASSIGNED, members, naming_key
from vcmts.shell.grammar import Method, next_words, resolve
from vcmts.shell.words import split

OWN = {
    "help": "lists commands, or describes one",
    "group": "selects a service group",
    "quit": "ends the shell",
}
ValuesOf = Callable[[str, str], list[str]]  # of a parameter's name and a method's noun


@dataclass(frozen=True)
class Candidate:
    text: str  # replaces the last word
    about: str
    ends_word: bool = True  # a space follows


def values(name: str, schema: Json, noun: str, values_of: ValuesOf) -> list[str]:
    """The possible values of a parameter, as far as they are known."""
    if "enum" in schema:
        return [str(one) for one in schema["enum"]]
    return ["true", "false"] if schema.get("type") == "boolean" else values_of(name, noun)


def words_after(known: Sequence[Method], before: Sequence[str]) -> Iterator[Candidate]:
    for word in next_words(known, before):
        words = (*before, word)
        method = next((m for m in known if m.words == words), None)
        about = next_words(known, words)
        yield Candidate(word, method.about if method else ", ".join(about))


def argument_names(method: Method, used: Sequence[str]) -> dict[str, Json]:
    """The keys that can still be given."""
    names = {name: s for name, s in method.params.items() if name != method.map_param}
    return {name: s for name, s in (names | members(method)).items() if name not in used}


def used_names(method: Method, words: Sequence[str]) -> list[str]:
    """The keys of the words, and those that words without a key stand for."""
    named = [match[1] for word in words if (match := ASSIGNED.fullmatch(word))]
    count = len(words) - len(named)
    key = naming_key(method)
    names = [key if name == method.map_param and key else name for name in method.positional]
    return [*named, *[name for name in names if name not in named][:count]]


def arguments(
    method: Method, words: Sequence[str], last: str, values_of: ValuesOf
) -> Iterator[Candidate]:
    """What can follow the arguments `words` of a method; `last` is the word to complete."""
    keys = argument_names(method, ())
    assigned = ASSIGNED.fullmatch(last)
    if assigned:
        key = assigned[1]
        for value in values(key, keys.get(key, {}), method.noun, values_of):
            yield Candidate(f"{key}={value}", "")
        return
    if words and words[-1] in keys:
        for value in values(words[-1], keys[words[-1]], method.noun, values_of):
            yield Candidate(value, "")
        return
    key_of_map = naming_key(method)
    place = [key_of_map if n == method.map_param and key_of_map else n for n in method.positional]
    used = used_names(method, words)
    unnamed = [name for name in place if name not in used and name in keys]
    for value in values(unnamed[0], keys[unnamed[0]], method.noun, values_of) if unnamed else ():
        yield Candidate(value, str(keys[unnamed[0]].get("description", "")))
    for name, about in argument_names(method, used).items():
        yield Candidate(f"{name}=", str(about.get("description", "")), ends_word=False)


def command_of(known: Sequence[Method], words: Sequence[str]) -> tuple[Method | None, list[str]]:
    """The method that the words begin with, and the words of the command in full. Raises
    MistakeError if there is none."""
    for method in known:
        if words and method.name == words[0]:
            return method, [words[0]]
    full, _ = resolve(known, words)
    return next((m for m in known if m.words == tuple(full)), None), full


def after_command(
    known: Sequence[Method], before: Sequence[str], last: str, values_of: ValuesOf
) -> Iterator[Candidate]:
    try:
        method, full = command_of(known, before)
    except MistakeError:
        return
    if len(full) == len(before):
        yield from words_after(known, full)
    if method is not None:
        yield from arguments(method, before[len(full) :], last, values_of)


def candidates(known: Sequence[Method], text: str, values_of: ValuesOf) -> list[Candidate]:
    """The words that can end the text, or follow it if it ends with a space."""
    parts = split(text)
    if parts.is_open or text.lstrip().startswith("#"):
        return []
    before = parts.words[: len(parts.words) - bool(parts.last)]
    found: list[Candidate] = []
    if not before:
        found += (Candidate(word, about) for word, about in OWN.items())
    if before[:1] == ("group",):
        found += (Candidate(value, "") for value in values_of("group", ""))
    else:
        words = before[1:] if before[:1] == ("help",) else before
        found += after_command(known, words, parts.last, values_of)
    return [one for one in found if one.text.startswith(parts.last)]
