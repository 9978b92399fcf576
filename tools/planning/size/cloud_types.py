# SPDX-License-Identifier: BSD-3-Clause
"""Reads and validates the instance types of config/cloud.yaml."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

from vcmts import yamls
from vcmts.paths import MistakeError, data
from vcmts.published import make_all, make_dataclass

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
    clock: float  # GHz with all cores busy
    threads: int  # vCPUs per core
    sources: Mapping[str, str]  # source per figure, also of its types
    packets: str = ""  # name of a published figure: Mpps per interface, both directions


@dataclass(frozen=True)
class Instance:
    family: str
    vcpus: int
    memory: float  # GiB
    bandwidth: float  # sustained Gbps per direction
    interfaces: int
    burst: float | None = None  # Gbps per direction for a limited time
    numa: int | None = None  # NUMA nodes
    limit: str = ""  # name of a published figure: maximum measured Gbps, both directions


@dataclass(frozen=True)
class Together:
    """Several instances that were measured together."""

    type: str
    instances: int
    figure: str  # name of a published figure: total Gbps


@dataclass(frozen=True)
class Cloud:
    sources: Mapping[str, Source]
    families: Mapping[str, Family]
    types: Mapping[str, Instance]
    # By type and number of service groups: name of a published figure, Gbps per group.
    measured: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    together: tuple[Together, ...] = ()

    def family(self, name: str) -> Family:
        return self.families[self.types[name].family]

    def named(self, names: list[str]) -> list[str]:
        """Resolves names of types or families to types. No names: all types."""
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
        total = yamls.safe_load(path.read_text(encoding="utf-8-sig"))
        return Cloud(
            sources=make_all(Source, total["sources"], "sources"),
            families=make_all(Family, total["families"], "families"),
            types=make_all(Instance, total["types"], "types"),
            measured=total["measured"],
            together=tuple(
                make_dataclass(Together, item, f"{path.name}: together")
                for item in total["together"]
            ),
        )
    except OSError as error:
        raise MistakeError(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise MistakeError(f"{path}: invalid instance types: {error}") from error
