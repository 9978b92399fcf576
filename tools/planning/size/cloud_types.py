# SPDX-License-Identifier: BSD-3-Clause
"""Instance types of clouds as data: config/cloud.yaml, read and checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

from vcmts import yamls
from vcmts.paths import MistakeError, data
from vcmts.published import all_of, made

FILE = data("config/cloud.yaml")


@dataclass(frozen=True)
class Source:
    title: str
    date: str


@dataclass(frozen=True)
class Family:
    provider: str
    driver: str  # of DPDK
    arch: str
    cpu: str
    clock: float  # GHz of all cores at work
    threads: int  # vCPUs of a core
    sources: Mapping[str, str]  # of each figure, of its types too
    packets: str = ""  # Mpps of an interface, both ways: a published figure


@dataclass(frozen=True)
class Instance:
    family: str
    vcpus: int
    memory: float  # GiB
    bandwidth: float  # Gbps each way, sustained
    interfaces: int
    burst: float | None = None
    numa: int | None = None
    limit: str = ""  # Gbps both ways that were measured at most: a published figure


@dataclass(frozen=True)
class Together:
    """Several instances that were measured at once."""

    type: str
    instances: int
    figure: str  # Gbps of all


@dataclass(frozen=True)
class Cloud:
    sources: Mapping[str, Source]
    families: Mapping[str, Family]
    types: Mapping[str, Instance]
    measured: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    together: tuple[Together, ...] = ()

    def family(self, name: str) -> Family:
        return self.families[self.types[name].family]

    def named(self, names: list[str]) -> list[str]:
        """The types of these names, each of a type or a family; all where there are none."""
        found: list[str] = []
        for name in names:
            of_family = [key for key, value in self.types.items() if value.family == name]
            if name not in self.types and not of_family:
                known = ", ".join([*self.families, *self.types])
                raise MistakeError(f"--cloud {name}: not known, allowed: {known}")
            found += of_family or [name]
        return list(dict.fromkeys(found)) or list(self.types)


@cache
def load(path: Path = FILE) -> Cloud:
    try:
        whole = yamls.safe_load(path.read_text(encoding="utf-8-sig"))
        return Cloud(
            sources=all_of(Source, whole["sources"], "sources"),
            families=all_of(Family, whole["families"], "families"),
            types=all_of(Instance, whole["types"], "types"),
            measured=whole["measured"],
            together=tuple(
                made(Together, item, f"{path.name}: together") for item in whole["together"]
            ),
        )
    except OSError as error:
        raise MistakeError(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise MistakeError(f"{path}: not the types of clouds: {error}") from error
