# SPDX-License-Identifier: BSD-3-Clause
"""Reads and checks config/published.yaml: the published figures of the reference system.

Every figure has its source. A figure that was computed from others has its formula, which this
module evaluates.
"""

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml

from vcmts import yamls
from vcmts.paths import MistakeError, data

FILE = data("config/published.yaml")
HOW = ("stated", "table", "figure", "computed")
# Whether a figure is exact, approximate or a limit, and the words for it.
BOUNDS = {"": "", "about": "about ", "at-least": "at least ", "at-most": "at most "}
Operation = Callable[[float, float], float]
OPERATIONS: dict[type[ast.operator], Operation] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Paper:
    title: str
    publisher: str
    year: int


@dataclass(frozen=True)
class Machine:
    cpu: str
    clock: float  # GHz of the cores, fixed in all measurements but those in the cloud
    cores: int  # per socket
    sockets: int  # in use
    source: str
    dpdk: str = ""
    software: str = ""
    nics: str = ""


@dataclass(frozen=True)
class Mix:
    packets: Mapping[int, float]  # bytes of an Ethernet frame without CRC: share of packets
    source: str
    stated_mean: float | None = None

    @property
    def mean(self) -> float:
        """Mean bytes per packet. The shares need not add up to 100 %: those of 2017 do not."""
        shares = sum(self.packets.values())
        return sum(size * share for size, share in self.packets.items()) / shares


@dataclass(frozen=True)
class Setup:
    modems: int
    addresses: int
    filters: str
    classifiers: str
    queues: str
    crc: str
    crypto: str
    source: str


@dataclass(frozen=True)
class Check:
    """A second formula for a figure, to check it."""

    formula: str
    within: float  # maximum difference, as a share of the figure
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    id: str
    paper: str
    where: str
    quantity: str
    value: float
    unit: str
    how: str
    quote: str = ""
    bound: str = ""
    machine: str = ""
    conditions: str = ""
    note: str = ""
    formula: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    check: Check | None = None


@dataclass(frozen=True)
class Contradiction:
    figures: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class Rules:
    """A paper's sizing rules: the cores that it reserves per service group, socket and server."""

    downstream_cores: float  # per service group
    upstream_cores: float
    server_cores: float = 0
    socket_cores: float = 0
    control_plane_cores: float = 0  # per service group
    scheduler_cores: float = 0  # upstream scheduler, per service group
    one_thread: bool = False  # both directions run on the downstream's thread
    headroom: float = 0  # share of each core
    interfaces: int = 0  # per service group; 0: not counted
    interfaces_admin: int = 0
    count_overhead: bool = True
    figures: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class SizingProfile:
    """A paper's measurements. Points: groups at once, id of the figure with Gbps per group."""

    machine: str
    rules: str
    setup: str
    channels: str
    crypto: str
    mix: str
    memory: str  # id of a figure, MB per group
    downstream: Mapping[int, str] = field(default_factory=dict)
    total: Mapping[int, str] = field(default_factory=dict)  # both directions together
    upstream: str = ""  # per hyper-thread
    upstream_share: float = 0  # upstream rate over downstream rate in `total`
    at_once: str = "socket"  # "socket" or "server": where the groups of a point run
    interface_limit: str = ""
    crypto_limit: str = ""  # of a socket's crypto devices
    power: str = ""  # the machine's description for modelled watts, a file in config/


@dataclass(frozen=True)
class Published:
    papers: Mapping[str, Paper]
    machines: Mapping[str, Machine]
    mixes: Mapping[str, Mix]
    setups: Mapping[str, Setup]
    figures: Mapping[str, Figure]
    contradictions: tuple[Contradiction, ...]
    rules: Mapping[str, Rules]
    profiles: Mapping[str, SizingProfile]

    def value(self, name: str) -> float:
        """The value of a figure by its id, or the mean bytes of mix.NAME. Raises MistakeError."""
        if name.startswith("mix.") and name[4:] in self.mixes:
            return self.mixes[name[4:]].mean
        if name not in self.figures:
            raise MistakeError(f"{FILE.name}: no figure {name!r}")
        figure = self.figures[name]
        return (
            self.computed(figure, figure.formula, figure.names) if figure.formula else figure.value
        )

    def computed(self, figure: Figure, formula: str, names: Mapping[str, str]) -> float:
        values = {name: self.value(source) for name, source in names.items()}
        if figure.machine:
            values["clock"] = self.machines[figure.machine].clock
        return evaluate(formula, values)

    def of(self, quantity: str, unit: str = "") -> Iterator[Figure]:
        for figure in self.figures.values():
            if figure.quantity == quantity and unit in ("", figure.unit):
                yield figure


def evaluate(formula: str, values: Mapping[str, float]) -> float:
    """Evaluates a formula: numbers, the names in `values`, and the four basic operations."""

    def at(node: ast.expr) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return node.value
        if isinstance(node, ast.Name) and node.id in values:
            return values[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
            return OPERATIONS[type(node.op)](at(node.left), at(node.right))
        raise MistakeError(f"{FILE.name}: formula {formula!r}: cannot be computed")

    try:
        return at(ast.parse(formula, mode="eval").body)
    except SyntaxError as error:
        raise MistakeError(f"{FILE.name}: formula {formula!r}: {error.msg}") from error


def make_dataclass(kind: type[Kind], value: Any, where: str) -> Kind:
    """Makes a dataclass from a mapping named `where`. Raises MistakeError for wrong keys."""
    if not isinstance(value, dict):
        raise MistakeError(f"{where}: found {type(value).__name__}, allowed: a mapping")
    known = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    given = {("names" if key == "from" else key): inner for key, inner in value.items()}
    for key in given:
        if key not in known:
            raise MistakeError(f"{where}: {yamls.unknown_key(key, known)}")
    for name, f in known.items():
        if name not in given and f.default is MISSING and f.default_factory is MISSING:
            raise MistakeError(f"{where}: {name}: missing")
    if isinstance(given.get("check"), dict):
        given["check"] = make_dataclass(Check, given["check"], f"{where}: check")
    if "figures" in given:
        given["figures"] = tuple(given["figures"])
    return kind(**given)


def make_all(kind: type[Kind], part: Any, name: str) -> dict[str, Kind]:
    return {
        key: make_dataclass(kind, value, f"{FILE.name}: {name}: {key}")
        for key, value in part.items()
    }


def parse_published(text: str) -> Published:
    whole = yamls.safe_load(text)
    figures: dict[str, Figure] = {}
    for item in whole["figures"]:
        figure = make_dataclass(Figure, item, f"{FILE.name}: figure {item.get('id')}")
        if figure.id in figures:
            raise MistakeError(f"{FILE.name}: figure {figure.id}: defined twice")
        figures[figure.id] = figure
    return Published(
        papers=make_all(Paper, whole["papers"], "papers"),
        machines=make_all(Machine, whole["machines"], "machines"),
        mixes=make_all(Mix, whole["mixes"], "mixes"),
        setups=make_all(Setup, whole["setups"], "setups"),
        figures=figures,
        contradictions=tuple(
            make_dataclass(Contradiction, item, f"{FILE.name}: contradictions")
            for item in whole["contradictions"]
        ),
        rules=make_all(Rules, whole["rules"], "rules"),
        profiles=make_all(SizingProfile, whole["profiles"], "profiles"),
    )


@cache
def load(path: Path = FILE) -> Published:
    try:
        return parse_published(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MistakeError(f"{path}: {error.strerror}") from error
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise MistakeError(f"{path}: no valid file of published figures: {error}") from error
