# SPDX-License-Identifier: BSD-3-Clause
"""Edits a YAML configuration as text: the rest keeps its form, and lines can be mapped back."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from vcmts import secret, yamls
from vcmts.pod.variables import PodError, replace_references

PLAIN = re.compile(r"(?!-(?: |$))[A-Za-z0-9_/.+-]([A-Za-z0-9_/.,=@+: -]*[A-Za-z0-9_/.,=@+-])?")
NUMBERED = re.compile(r":(\d+):")
PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")  # of a node: an anchor, a tag
LEVELS_MOST = 64  # of nested maps and lists


@dataclass(frozen=True)
class Edit:
    """A replacement of the characters from `begin` to before `end`."""

    begin: int
    end: int
    text: str
    line: int  # of `begin`, from 0
    lines: int = 0  # that the edit adds


@dataclass
class Document:
    name: str  # of the file, in messages
    text: str
    root: MappingNode
    edits: list[Edit] = field(default_factory=list)

    def written(self) -> str:
        """The text with all edits."""
        parts, at = [], 0
        for edit in sorted(self.edits, key=lambda edit: edit.begin):
            parts += [self.text[at : edit.begin], edit.text]
            at = edit.end
        return "".join([*parts, self.text[at:]])

    def original_line(self, line: int) -> int:
        """Maps a line of written() to the line of the original text, both from 1."""
        more = 0
        for edit in sorted(self.edits, key=lambda edit: edit.begin):
            if edit.lines and edit.line + more + edit.lines < line:
                more += edit.lines
        return line - more

    def map_message(self, written: str, message: str) -> str:
        """Maps a message of vcmtsd about the written file to the original's name and line."""
        if not message.startswith(written):
            return message
        remainder = message[len(written) :]
        return self.name + NUMBERED.sub(
            lambda match: f":{self.original_line(int(match[1]))}:", remainder, count=1
        )


def check_levels(name: str, text: str) -> None:
    """Raises PodError for more than LEVELS_MOST levels, as later functions are recursive."""
    level = 0
    for event in yaml.parse(text, Loader=yamls.LOADER):
        if isinstance(event, CollectionStartEvent):
            level += 1
        elif isinstance(event, CollectionEndEvent):
            level -= 1
        if level > LEVELS_MOST:
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise PodError(f"{name}:{line}: maps and lists in more than {LEVELS_MOST} levels")


def read(name: str, text: str) -> Document:
    """Parses a configuration. Raises PodError if it is not a YAML map."""
    try:
        check_levels(name, text)
        root = yaml.compose(text, Loader=yamls.LOADER)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise PodError(f"{name}:{line}: {secret.yaml_error_text(error)}") from error
    except yaml.YAMLError as error:
        raise PodError(f"{name}: {secret.yaml_error_text(error)}") from error
    if not isinstance(root, MappingNode):
        raise PodError(f"{name}:1: the file has no `KEY: VALUE` lines; it needs a configuration")
    return Document(name, text, root)


def find_key(node: Node, key: str) -> tuple[Node, Node] | None:
    """The key and value nodes of a map's key; None if it is missing."""
    if not isinstance(node, MappingNode):
        return None
    return next((pair for pair in node.value if pair[0].value == key), None)


def group_nodes(document: Document) -> list[Node]:
    """The nodes of the service groups: the items of `service_groups`, or the whole file."""
    listed = find_key(document.root, "service_groups")
    if listed is None or not isinstance(listed[1], SequenceNode):
        return [document.root]
    return list(listed[1].value)


def scalars(node: Node, path: str, visited: set[int]) -> Iterator[tuple[str, ScalarNode]]:
    """Yields all scalars below a node with their paths. `visited`: IDs of visited nodes."""
    if id(node) in visited:
        return
    visited.add(id(node))
    if isinstance(node, ScalarNode):
        yield path, node
    elif isinstance(node, SequenceNode):
        for number, value in enumerate(node.value):
            yield from scalars(value, f"{path}[{number}]", visited)
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            yield from scalars(value, f"{path}.{key.value}" if path else str(key.value), visited)


def scalar_text(value: str) -> str:
    """Formats a scalar as YAML: plain if that is safe, else quoted."""
    if PLAIN.fullmatch(value) and ": " not in value:
        return value
    return quoted(value)


def quoted(value: str) -> str:
    """Formats a scalar as a quoted string. Escapes non-ASCII line ends, which YAML would fold."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub("[\x85\u2028\u2029]", lambda end: f"\\u{ord(end[0]):04x}", text)


def replace_scalar(document: Document, node: ScalarNode, value: str) -> None:
    """Replaces a scalar; keeps its quotes, its anchor or tag, and its number of lines."""
    begin, end = node.start_mark, node.end_mark
    found = document.text[begin.index : end.index]
    match = PROPERTIES.match(found)
    kept = match[0] if match else ""
    text = quoted(value) if node.style in ("|", ">", '"', "'") else scalar_text(value)
    text = kept + text + "\n" * (found.count("\n") - kept.count("\n"))
    document.edits.append(Edit(begin.index, end.index, text, begin.line))


def replace_variables(document: Document, environment: Mapping[str, str]) -> list[str]:
    """Replaces all references to variables. Returns the errors, one line each."""
    mistakes = []
    if "${" not in document.text:
        return []
    for path, node in scalars(document.root, "", set()):
        if "${" not in node.value:
            continue
        try:
            replace_scalar(document, node, replace_references(node.value, environment))
        except PodError as wrong:
            mistakes.append(f"{document.name}:{node.start_mark.line + 1}: {path}: {wrong}")
    return mistakes


def set_map(document: Document, node: Node, key: str, text: str) -> None:
    """Sets a key of the map `node` to the flow map `text`; replaces its value.

    Raises PodError if `node` is no map with keys, or if the value is an alias.
    """
    found = find_key(node, key)
    if not isinstance(node, MappingNode) or not node.value:
        raise PodError(f"{document.name}:{node.start_mark.line + 1}: not a map of keys")
    if found is not None:
        begin, end = found[1].start_mark, found[1].end_mark
        if begin.index < found[0].end_mark.index:
            raise PodError(
                f"{document.name}:{found[0].start_mark.line + 1}: {key}: an alias is not "
                "allowed here; write the map"
            )
        old = document.text[begin.index : end.index]
        tail = old[len(old.rstrip()) :].rpartition("\n")[2] if old.endswith((" ", "\n")) else ""
        new = text + "\n" * old.count("\n") + tail
        if begin.index == end.index:  # an empty value begins directly after its colon or key
            has_colon = ":" in document.text[found[0].end_mark.index : begin.index]
            new = f" {new}" if has_colon else f": {new}"
        document.edits = [e for e in document.edits if not begin.index <= e.begin < end.index]
        document.edits.append(Edit(begin.index, end.index, new, begin.line))
    elif node.flow_style:
        at = document.text.index("{", node.start_mark.index) + 1
        document.edits.append(Edit(at, at, f"{key}: {text}, ", node.start_mark.line))
    else:
        first = node.value[0][0].start_mark
        new = f"{key}: {text}\n{' ' * first.column}"
        document.edits.append(Edit(first.index, first.index, new, first.line, 1))
