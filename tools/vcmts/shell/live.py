# SPDX-License-Identifier: BSD-3-Clause
"""Values that parameters can have in a running vcmtsd, for completion: addresses of modems, IDs of
groups and channels, cores.

They are read from answers of methods that need no parameters. The methods are found by the schemas
of their results: a list `modems` whose items have a `mac`.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from vcmts.jsons import Json
from vcmts.shell.grammar import Method

MAX_AGE = 5  # seconds for which values are kept
KEYS = ("mac", "id", "core")  # keys that name an item


@dataclass(frozen=True)
class Source:
    method: str
    list_name: str
    key: str
    params: Json


def lists_of(method: Method) -> Iterator[Source]:
    """The lists of named items in the result of a method."""
    pages = method.params.get("count", {})
    params = {"count": pages["maximum"]} if "maximum" in pages else {}
    for name, value in method.result.get("properties", {}).items():
        items = value.get("items", {}).get("properties", {})
        for key in KEYS:
            if key in items:
                yield Source(method.name, name, key, params)


def find_sources(known: Sequence[Method]) -> dict[str, Source]:
    """Sources by what an item is, such as `modem`. A method `list` comes before others."""
    readers = [m for m in known if m.words[0] == "show" and not m.required]
    found: dict[str, Source] = {}
    for method in sorted(readers, key=lambda m: not m.name.endswith(".list")):
        for source in lists_of(method):
            found.setdefault(source.list_name.removesuffix("s"), source)
    return found


def source_of(sources: dict[str, Source], name: str, noun: str) -> Source | None:
    """The source of a parameter of a method with this noun."""
    if name == "id":
        return sources.get(noun)
    by_key = (source for source in sources.values() if source.key == name)
    return sources.get(name) or next(by_key, None)


@dataclass
class Values:
    """Asks vcmtsd, and keeps answers for MAX_AGE. `ask` returns None if vcmtsd does not answer."""

    sources: dict[str, Source]
    ask: Callable[[str, Json], Any]
    kept: dict[str, tuple[float, Any]] = field(default_factory=dict)

    def of(self, name: str, noun: str, group: int | None) -> list[str]:
        """The values of a parameter; none if they are not known."""
        source = source_of(self.sources, name, noun)
        if source is None:
            return []
        params = source.params | ({} if group is None or name == "group" else {"group": group})
        answer = self.answer(source.method, params)
        items = answer.get(source.list_name, []) if isinstance(answer, dict) else []
        return [str(item[source.key]) for item in items if source.key in item]

    def answer(self, method: str, params: Json) -> Any:
        request = f"{method} {params}"
        when, answer = self.kept.get(request, (-MAX_AGE, None))
        if time.monotonic() - when > MAX_AGE:
            answer = self.ask(method, params)
            self.kept[request] = (time.monotonic(), answer)
        return answer
