# SPDX-License-Identifier: BSD-3-Clause
"""A configuration as text that is changed in places: all else stays as it was written, and so do
the lines that vcmtsd names when it finds a mistake."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from vcmts import secret, yamls
from vcmts.pod.variables import WrongError, replaced

PLAIN = re.compile(r"(?!-(?: |$))[A-Za-z0-9_/.+-]([A-Za-z0-9_/.,=@+: -]*[A-Za-z0-9_/.,=@+-])?")
NUMBERED = re.compile(r":(\d+):")
PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")  # of a node: an anchor, a tag
LEVELS_MOST = 64  # of maps and lists within each other


@dataclass(frozen=True)
class Edit:
    begin: int  # of characters
    end: int
    text: str
    line: int  # of `begin`, from 0
    lines: int = 0  # more than were there


@dataclass
class Document:
    name: str  # of the file, for people
    text: str
    root: MappingNode
    edits: list[Edit] = field(default_factory=list)

    def written(self) -> str:
        """With all edits."""
        parts, at = [], 0
        for edit in sorted(self.edits, key=lambda edit: edit.begin):
            parts += [self.text[at : edit.begin], edit.text]
            at = edit.end
        return "".join([*parts, self.text[at:]])

    def line_before(self, line: int) -> int:
        """The line of the text for one of what was written, both from 1."""
        more = 0
        for edit in sorted(self.edits, key=lambda edit: edit.begin):
            if edit.lines and edit.line + more + edit.lines < line:
                more += edit.lines
        return line - more

    def in_its_words(self, written: str, said: str) -> str:
        """A line of vcmtsd's of the written file as one of the file that people know."""
        if not said.startswith(written):
            return said
        rest = said[len(written) :]
        return self.name + NUMBERED.sub(
            lambda match: f":{self.line_before(int(match[1]))}:", rest, count=1
        )


def check_levels(name: str, text: str) -> None:
    """Raises WrongError where it is deeper than what reads it afterwards, a call a level."""
    level = 0
    for event in yaml.parse(text, Loader=yamls.LOADER):
        if isinstance(event, CollectionStartEvent):
            level += 1
        elif isinstance(event, CollectionEndEvent):
            level -= 1
        if level > LEVELS_MOST:
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise WrongError(
                f"{name}:{line}: found maps and lists in more than {LEVELS_MOST} levels, "
                f"allowed: {LEVELS_MOST}"
            )


def read(name: str, text: str) -> Document:
    """Raises WrongError where it is no map in YAML."""
    try:
        check_levels(name, text)
        root = yaml.compose(text, Loader=yamls.LOADER)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise WrongError(f"{name}:{line}: {secret.yaml_fault(error)}") from error
    except yaml.YAMLError as error:
        raise WrongError(f"{name}: found {secret.yaml_fault(error)}") from error
    if not isinstance(root, MappingNode):
        raise WrongError(f"{name}:1: found no map of keys, allowed: a configuration")
    return Document(name, text, root)


def child(node: Node, key: str) -> tuple[Node, Node] | None:
    """A key of a map with what is behind it."""
    if not isinstance(node, MappingNode):
        return None
    return next((pair for pair in node.value if pair[0].value == key), None)


def items(document: Document) -> list[Node]:
    """The service groups: those of the list, or the file itself."""
    listed = child(document.root, "service_groups")
    if listed is None or not isinstance(listed[1], SequenceNode):
        return [document.root]
    return list(listed[1].value)


def scalars(node: Node, path: str, seen: set[int]) -> Iterator[tuple[str, ScalarNode]]:
    """All values in it, each once, with their paths."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, ScalarNode):
        yield path, node
    elif isinstance(node, SequenceNode):
        for place, value in enumerate(node.value):
            yield from scalars(value, f"{path}[{place}]", seen)
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            yield from scalars(value, f"{path}.{key.value}" if path else str(key.value), seen)


def scalar_text(value: str) -> str:
    """As YAML: plain where that is safe."""
    if PLAIN.fullmatch(value) and ": " not in value:
        return value
    return quoted(value)


def quoted(value: str) -> str:
    """Line ends beyond ASCII, which YAML folds, as escapes."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub("[\x85\u2028\u2029]", lambda end: f"\\u{ord(end[0]):04x}", text)


def put_scalar(document: Document, node: ScalarNode, value: str) -> None:
    begin, end = node.start_mark, node.end_mark
    found = document.text[begin.index : end.index]
    match = PROPERTIES.match(found)
    kept = match[0] if match else ""
    text = quoted(value) if node.style in ("|", ">", '"', "'") else scalar_text(value)
    text = kept + text + "\n" * (found.count("\n") - kept.count("\n"))
    document.edits.append(Edit(begin.index, end.index, text, begin.line))


def put_variables(document: Document, environment: Mapping[str, str]) -> list[str]:
    """Values for all references. Returns the mistakes, a line each."""
    mistakes = []
    if "${" not in document.text:
        return []
    for path, node in scalars(document.root, "", set()):
        if "${" not in node.value:
            continue
        try:
            put_scalar(document, node, replaced(node.value, environment))
        except WrongError as wrong:
            mistakes.append(f"{document.name}:{node.start_mark.line + 1}: {path}: {wrong}")
    return mistakes


def put_map(document: Document, node: Node, key: str, text: str) -> None:
    """Gives a map that key with a flow map for its value. Raises WrongError where it cannot."""
    found = child(node, key)
    if not isinstance(node, MappingNode) or not node.value:
        raise WrongError(f"{document.name}:{node.start_mark.line + 1}: found no map of keys")
    if found is not None:
        begin, end = found[1].start_mark, found[1].end_mark
        if begin.index < found[0].end_mark.index:
            raise WrongError(
                f"{document.name}:{found[0].start_mark.line + 1}: {key}: found an alias, "
                "allowed: a map"
            )
        old = document.text[begin.index : end.index]
        tail = old[len(old.rstrip()) :].rpartition("\n")[2] if old.endswith((" ", "\n")) else ""
        new = text + "\n" * old.count("\n") + tail
        document.edits = [e for e in document.edits if not begin.index <= e.begin < end.index]
        document.edits.append(Edit(begin.index, end.index, new, begin.line))
    elif node.flow_style:
        at = document.text.index("{", node.start_mark.index) + 1
        document.edits.append(Edit(at, at, f"{key}: {text}, ", node.start_mark.line))
    else:
        first = node.value[0][0].start_mark
        new = f"{key}: {text}\n{' ' * first.column}"
        document.edits.append(Edit(first.index, first.index, new, first.line, 1))
