# SPDX-License-Identifier: BSD-3-Clause
"""Renders the mounted configuration for vcmtsd: variables, paths of files, cores."""

import io
import json
import os
import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from yaml.nodes import Node, ScalarNode

from vcmts.jsons import Json
from vcmts.layout import machine as layout_machine
from vcmts.layout.command import cores_text
from vcmts.layout.machine import Machine
from vcmts.paths import MistakeError, program
from vcmts.pod import mounted, text
from vcmts.pod.placing import (
    Placement,
    assign_groups,
    configured_layout,
    polling_machine,
    provisional_threads,
    threads_text,
    with_new_groups,
)
from vcmts.pod.text import Document
from vcmts.pod.variables import PodError, replace_references
from vcmts.profile.server import write_group_file
from vcmts.system.files import Files

PROFILES = "profiles"
CONFIG_MOST = 64 << 20  # bytes


class RefusedError(Exception):
    """The mounted files cannot be used: the errors, one line each."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__(mistakes[0])
        self.mistakes = mistakes


@dataclass(frozen=True)
class Source:
    """The input of a rendering."""

    config: Path  # the mounted file
    written: Path  # the rendered file for vcmtsd
    machine: Machine
    files: Files
    environment: Mapping[str, str]
    assign: bool = True  # assign cores to the groups; False: the file has them


@dataclass(frozen=True)
class Rendered:
    text: str
    facts: Json  # printed by `vcmtsd check`
    placement: Placement | None
    contents: tuple[str, ...] = ()  # hashes of the files that groups name


def write(path: Path, text: str) -> None:
    """Writes a file atomically, readable by its owner only, as it may contain keys."""
    new = path.with_name(f"new-{path.name}")
    new.unlink(missing_ok=True)  # left by a killed process
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(new, flags, 0o600)
        with os.fdopen(file, "w", encoding="utf-8") as out:
            out.write(text)
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def read_document(source: Source) -> Document:
    why = mounted.read_error(source.config)
    if why:
        raise PodError(f"{source.config}: {why}; is the ConfigMap mounted there?")
    with source.config.open("rb") as file:
        found = file.read(CONFIG_MOST + 1)
    if len(found) > CONFIG_MOST:
        raise PodError(f"{source.config}: larger than {CONFIG_MOST >> 20} MiB")
    try:
        decoded = found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PodError(f"{source.config}: invalid UTF-8 at byte {error.start}") from error
    return text.read(source.config.name, decoded)


def write_profile_file(document: Document, source: Source, node: Node, path: Path) -> list[str]:
    """Writes `path`, if it is PROFILES/NAME/sg-N.yaml, with group N of that profile."""
    base = source.written.parent / PROFILES
    number = re.fullmatch(r"sg-(\d{1,5})\.yaml", path.name)
    if path.parent.parent != base or number is None or path.exists():
        return []
    out = io.StringIO()
    try:
        write_group_file(path.parent.name, int(number[1]), out)
    except MistakeError as wrong:
        return [f"{document.name}:{node.start_mark.line + 1}: file: {path.name}: {wrong}"]
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, out.getvalue())  # atomically: a part would remain for the next container
    return []


def replace_paths(document: Document, source: Source) -> tuple[list[Path], list[str]]:
    """Rewrites the keys `file` relative to the rendered file. Returns the files, and errors."""
    paths, mistakes = [], []
    for item in text.group_nodes(document):
        found = text.find_key(item, "file")
        if found is None or item is document.root or not isinstance(found[1], ScalarNode):
            continue
        node = found[1]
        try:
            value = replace_references(node.value, source.environment)
        except PodError:
            continue  # replace_variables() reported it
        path = source.config.parent / value
        paths.append(path)
        mistakes += write_profile_file(document, source, node, path)
        why = mounted.read_error(path)
        if why and not path.is_relative_to(source.written.parent):
            mistakes.append(
                f"{document.name}:{node.start_mark.line + 1}: file: {path}: {why}; is the Secret "
                "or ConfigMap that has it mounted?"
            )
        begin = node.start_mark.index
        document.edits = [edit for edit in document.edits if edit.begin != begin]
        text.replace_scalar(document, node, os.path.relpath(path, source.written.parent))
    return paths, mistakes


def check_text(source: Source, document: Document, written: str) -> Json:
    """The facts of `vcmtsd check` for a rendered text. Raises RefusedError with its errors."""
    trial = source.written.with_name(f"trial-{source.written.name}")
    write(trial, written)
    cores = cores_text(source.machine)
    command = [str(program("vcmtsd")), "check", "--json", "--cores", cores]
    command += ["--config", str(trial)]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    finally:
        trial.unlink(missing_ok=True)
    if done.stdout:
        facts: Json = json.loads(done.stdout)
        return facts
    lines = [document.map_message(str(trial), line) for line in done.stderr.splitlines()]
    if done.returncode < 0:
        lines = [f"vcmtsd check ended by signal {-done.returncode}"]
    raise RefusedError([line for line in lines if line.strip()] or ["vcmtsd check printed nothing"])


def ports_node(facts: Json, files: Files) -> int | None:
    """The NUMA node of the first port whose node is known; None: unknown."""
    for group in facts["groups"]:
        for port in ("network_device", "rphy_device"):
            node = layout_machine.node_of_device(files, group[port])
            if node is not None:
                return node
    return None


def set_threads(document: Document, texts: list[str]) -> Document:
    """A copy whose groups have these `threads`, with the `layout` of the original."""
    copy = replace(document, edits=list(document.edits))
    for item, threads in zip(text.group_nodes(copy), texts, strict=True):
        found = text.find_key(item, "threads")
        layout = text.find_key(found[1], "layout") if found else None
        if layout is not None and isinstance(layout[1], ScalarNode):
            threads = f"{{layout: {text.quoted(layout[1].value)}, {threads[1:]}"
        text.set_map(copy, item, "threads", threads)
    return copy


def assign_cores(source: Source, document: Document, before: Placement | None) -> Rendered:
    """Assigns cores to the groups; those in `before` keep theirs."""
    count = len(text.group_nodes(document))
    first = set_threads(document, [provisional_threads(min(source.machine.usable))] * count)
    facts = check_text(source, first, first.written())
    listed = facts["placement"]["groups"]
    if before is None:
        node = ports_node(facts, source.files)
        found = assign_groups(polling_machine(source.machine, split=True), listed, node)
    else:
        ids = [int(group["service_group"]) for group in listed]
        found = with_new_groups(before, ids, configured_layout(listed))
    texts = [
        threads_text(
            found.groups[int(group["service_group"])],
            found.main_core,
            by_layout=group["layout"] is not None,
        )
        for group in listed
    ]
    last = set_threads(document, texts)
    return Rendered(last.written(), check_text(source, last, last.written()), found)


def refusals(facts: Json) -> list[str]:
    return [
        f"threads.{refusal['key']}: found {refusal['found']}, allowed: {refusal['allowed']}"
        for refusal in facts["placement"]["refused"]
    ]


def rendered(source: Source, before: Placement | None = None) -> Rendered:
    """Renders the configuration; groups in `before` keep their cores. Raises RefusedError."""
    try:
        document = read_document(source)
        mistakes = text.replace_variables(document, source.environment)
        paths, wrong_paths = replace_paths(document, source)
        mistakes += wrong_paths
        if mistakes:
            raise RefusedError(mistakes)
        if source.assign:
            made = assign_cores(source, document, before)
        else:
            written = document.written()
            made = Rendered(written, check_text(source, document, written), None)
    except PodError as wrong:
        raise RefusedError([str(wrong)]) from wrong
    if refusals(made.facts):
        raise RefusedError(refusals(made.facts))
    return replace(made, contents=tuple(mounted.content_hash(path, CONFIG_MOST) for path in paths))
