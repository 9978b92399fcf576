# SPDX-License-Identifier: BSD-3-Clause
"""vcmts pod --traffic: runs the traffic program with the configuration of a pod of the release.

The test of the Helm chart does so in a pod of its own, at the other ends of the ports.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from vcmts.paths import program
from vcmts.pod import text
from vcmts.pod.placing import provisional_threads
from vcmts.pod.render import (
    RefusedError,
    Source,
    read_document,
    replace_paths,
    set_threads,
    write,
)
from vcmts.pod.variables import NAME, REFERENCE, PodError


def unused_devices(name: str, count: int) -> str:
    """A list of devices, all different, as two ports must not have the same."""
    return ",".join(f"unused_{name}_{number}" for number in range(count))


def with_unset_variables(configuration: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment, plus a value for each variable that the configuration names but this pod
    lacks: addresses of vcmtsd's devices. The traffic program ignores them."""
    result = dict(environment)
    items: dict[str, int] = {}
    for escaped, reference in REFERENCE.findall(configuration):
        match = NAME.fullmatch(reference)
        if not escaped and match is not None and match[1] not in environment:
            items[match[1]] = max(items.get(match[1], 1), int(match[2] or 0) + 1)
    return result | {name: unused_devices(name, count) for name, count in items.items()}


def write_configuration(source: Source) -> None:
    """Writes the configuration for the traffic program. Raises RefusedError."""
    try:
        document = read_document(source)
        environment = with_unset_variables(document.text, source.environment)
        mistakes = text.replace_variables(document, environment)
        mistakes += replace_paths(document, replace(source, environment=environment))[1]
    except PodError as wrong:
        raise RefusedError([str(wrong)]) from wrong
    if mistakes:
        raise RefusedError(mistakes)
    # Layouts need cores. The traffic program does not use those of the configuration.
    threads = provisional_threads(min(source.machine.usable))
    document = set_threads(document, [threads] * len(text.group_nodes(document)))
    write(source.written, document.written())


def command_of(written: Path, options: Sequence[str]) -> list[str]:
    return [str(program("vcmts-traffic")), "--config", str(written), *options]


def replace_process(written: Path, options: Sequence[str]) -> None:
    """Replaces this process by the traffic program, which so gets the container's signals."""
    command = command_of(written, options)
    environment = os.environ | {"RUNTIME_DIRECTORY": str(written.parent)}
    os.execve(command[0], command, environment)
