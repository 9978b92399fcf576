# SPDX-License-Identifier: BSD-3-Clause
"""Reads values.yaml of the reference with line numbers, and collects notes on unused keys.

Scalars are read as text, as YAML parsers differ in the types of `18:02.0` and `yes`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from vcmts.paths import MistakeError

MAX_BYTES = 16 << 20
YES, NO = ("yes", "true", "on", "y"), ("no", "false", "off", "n")


NOTHING = "nothing"


def wrong(found: str, allowed: str) -> str:
    if found == NOTHING:
        return f"missing; needed: {allowed}"
    return f"found {found}, allowed: {allowed}"


@dataclass
class Map:
    """A map of the file with its position. `used`: keys that were read."""

    file: str
    path: str
    line: int
    keys: dict[str, Node]
    lines: dict[str, int]  # of the keys
    used: set[str] = field(default_factory=set)

    def key_path(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def complaint(self, key: str, text: str) -> MistakeError:
        line = self.lines.get(key, self.line)
        return MistakeError(f"{self.file}:{line}: {self.key_path(key)}: {text}")

    def mistake(self, key: str, found: str, allowed: str) -> MistakeError:
        return self.complaint(key, wrong(found, allowed))

    def text(self, key: str) -> str | None:
        """The value as text; None if missing or empty."""
        self.used.add(key)
        node = self.keys.get(key)
        if node is None:
            return None
        if not isinstance(node, ScalarNode):
            raise self.mistake(key, describe_node(node), "a text")
        return node.value.strip() or None

    def number(self, key: str, least: int, most: int) -> int | None:
        text = self.text(key)
        if text is None:
            return None
        if (
            not text.isascii()
            or not text.isdigit()
            or len(text) > 9
            or not least <= int(text) <= most
        ):
            raise self.mistake(key, repr(text), f"a number, {least} to {most}")
        return int(text)

    def choice(self, key: str, allowed: tuple[str, ...]) -> str | None:
        text = self.text(key)
        if text is not None and text not in allowed:
            raise self.mistake(key, repr(text), f"{', '.join(allowed[:-1])} or {allowed[-1]}")
        return text

    def switch(self, key: str, *, on: str = "", off: str = "") -> bool | None:
        """A boolean in any form of YAML, or in the words of the version of 2018."""
        text = self.text(key)
        if text is None:
            return None
        if text.lower() in YES or (on and text == on):
            return True
        if text.lower() in NO or (off and text == off):
            return False
        raise self.mistake(key, repr(text), "yes or no")

    def needed(self, key: str) -> MistakeError:
        return self.mistake(key, NOTHING, "a value, as there is no group without it")

    def map(self, key: str) -> "Map":
        self.used.add(key)
        node = self.keys.get(key)
        if not isinstance(node, MappingNode):
            raise self.mistake(key, describe_node(node), "a map")
        return make_map(self.file, self.key_path(key), node)

    def maps(self, key: str) -> Iterator["Map"]:
        self.used.add(key)
        node = self.keys.get(key)
        if not isinstance(node, SequenceNode) or not node.value:
            raise self.mistake(key, describe_node(node), "a list of maps, one or more")
        for number, item in enumerate(node.value):
            path = f"{self.key_path(key)}[{number}]"
            if not isinstance(item, MappingNode):
                line = item.start_mark.line + 1
                raise MistakeError(
                    f"{self.file}:{line}: {path}: {wrong(describe_node(item), 'a map')}"
                )
            yield make_map(self.file, path, item)

    def unused(self) -> list[str]:
        return [key for key in self.keys if key not in self.used]


def describe_node(node: Node | None) -> str:
    if node is None:
        return "nothing"
    if isinstance(node, ScalarNode):
        return repr(node.value[:40]) if node.value else NOTHING
    return "a map" if isinstance(node, MappingNode) else "a list" if node.value else "an empty list"


def make_map(file: str, path: str, node: MappingNode) -> Map:
    keys: dict[str, Node] = {}
    lines: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, ScalarNode):
            raise MistakeError(f"{file}:{line}: {path}: {describe_node(key)} is the name of a key")
        if key.value in keys:
            where = f"{path}: " if path else ""
            raise MistakeError(
                f'{file}:{line}: {where}duplicate key "{key.value}", first on line '
                f"{lines[key.value]}"
            )
        keys[key.value], lines[key.value] = value, line
    return Map(file, path, node.start_mark.line + 1, keys, lines)


def yaml_error(error: yaml.YAMLError) -> tuple[int, str]:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        why = (error.problem or "not YAML").partition("'")[0]  # what stands there is quoted behind
        return (mark.line + 1 if mark else 1), why.strip()
    return 1, "characters that YAML does not allow"


def read(path: Path) -> Map:
    """Reads the file. Raises MistakeError with file and line."""
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise MistakeError(f"{path}: larger than {MAX_BYTES >> 20} MiB")
    try:
        node = yaml.compose(data.decode("utf-8-sig"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise MistakeError(f"{path}:{line}: invalid UTF-8; needed: a YAML file") from error
    except yaml.YAMLError as error:
        line, why = yaml_error(error)
        raise MistakeError(f"{path}:{line}: {why}") from error
    except RecursionError as error:
        raise MistakeError(f"{path}: maps and lists in too many levels") from error
    if not isinstance(node, MappingNode):
        raise MistakeError(f"{path}:1: {wrong(describe_node(node), 'a map with topology')}")
    return make_map(str(path), "", node)


# Keys of a service group that are not converted, with the reason.
UNUSED_KEYS = {
    "service_group_config": "",
    "template_config": "there is no template: the configuration is that of the profile",
    "socket_mem": "a process uses the huge pages of its pod: hugePages",
    "socket_lim": "a process uses the huge pages of its pod: hugePages",
    "app_stats": "counters cannot be turned off, as they cost almost nothing",
    "us_sched_enabled": "config.upstream.scheduler adds a scheduler (docs/upstream-scheduler.md)",
    "us_sched_id": "each group has its own scheduler, with config.upstream.scheduler",
    "tls_port": "managed over the control socket: kubectl exec POD -- vcmts control",
    "vcmtsd_image": "image.repository names this project's image",
    "ds_core_type": "the CPU manager gives a pod its own cores: cores.layout",
    "ds_core_pool_index": "the CPU manager chooses the cores: cores.layout",
}
SOCKET = (
    "the kubelet's topology manager puts cores, pages and devices on one node; "
    "--mode shared makes a pod for each"
)
# Keys of the chart beside topology.
CHART_KEYS = {
    "serviceAccount": "pods do not use the Kubernetes API, so they need no permissions",
    "images": "image.repository names this project's image",
}
UNKNOWN = "not known"


class Notes:
    """Notes on keys, each with its positions in the file."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], list[str]] = {}

    def add(self, where: Map, key: str, why: str) -> None:
        """Adds a note at the line of the key."""
        line = where.lines.get(key, where.line)
        self.found.setdefault((key, why), []).append(f"{where.file}:{line}")

    def add_unused(self, where: Map, reasons: dict[str, str]) -> None:
        """Adds a note for each key that was not read. A reason "" suppresses it."""
        for key in where.unused():
            why = reasons.get(key, UNKNOWN)
            if why:
                self.add(where, key, f"left out: {why}")

    def lines(self) -> list[str]:
        return [
            f"{positions[0]}: {key}: {why}"
            + (f" ({len(positions)} times)" if len(positions) > 1 else "")
            for (key, why), positions in self.found.items()
        ]
