# SPDX-License-Identifier: BSD-3-Clause
"""Every placement carries the same captures to the same bytes: the published core configurations,
free ones, and workers that give away what they run in the midst of it. A replay has the lists,
rings and owners of ports of its layout, and runs the workers in turn: what their threads do to each
other is the business of the tests that run them."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from e2e.changes.changed import MS, Change, change
from e2e.grouped import Json, down_traffic, dump, small_server, up_traffic
from e2e.running import vcmtsd
from vcmts.witness.pcapfile import Record, write_pcap

pytestmark = pytest.mark.replay

GAP_NS = 15_001
ONE_CORE: Json = {"upper_mac_core": 1, "lower_mac_core": 1, "upstream_core": 1}
TWO: Json = {"downstream": "1ds2t"}  # or the lower MAC is with the upper one
NAMED: dict[str, Json] = {
    "1us1t_1ds1t": {"layout": "1us1t_1ds1t", "cores": "1-6"},
    "1us1t_1ds2t": {"layout": "1us1t_1ds2t", "cores": "1-9"},
    "2us1t_1ds2t": {"layout": "2us1t_1ds2t", "cores": "1-8"},
    "combined": {"layout": "combined", "cores": "1-3"},
    "combined2": {"layout": "combined2", "cores": "1-2"},
}
COUNTS = {
    "1us1t_1ds1t": (2, 4, 6),
    "1us1t_1ds2t": (3, 6, 9),
    "2us1t_1ds2t": (3, 5, 8),
    "combined": (1, 2, 3),
    "combined2": (1, 1, 2),
}
IN_PAIRS = ("2us1t_1ds2t", "combined2")
FREE: dict[str, list[Json]] = {
    "three cores, crossed": [
        {"upper_mac_core": 1, "lower_mac_core": 2, "upstream_core": 3} | TWO,
        {"upper_mac_core": 2, "lower_mac_core": 3, "upstream_core": 1} | TWO,
        {"upper_mac_core": 3, "lower_mac_core": 1, "upstream_core": 2} | TWO,
    ],
    "others own the ports": [
        {"upper_mac_core": 7, "lower_mac_core": 2, "upstream_core": 7} | TWO,
        {"upper_mac_core": 1, "lower_mac_core": 3, "upstream_core": 2} | TWO,
        {"upper_mac_core": 2, "lower_mac_core": 1, "upstream_core": 1} | TWO,
    ],
}


@cache
def captures(groups: int) -> tuple[list[Record], list[Record]]:
    items = whole(groups)
    return down_traffic(items, 1, 250, GAP_NS), up_traffic(items, 1, 60, GAP_NS)


def whole(groups: int) -> list[Json]:
    """As files of their own: what each group has."""
    server = small_server()
    common = {k: v for k, v in server.items() if k not in ("service_groups", "name", "threads")}
    found: list[Json] = []
    for item in server["service_groups"][:groups]:
        own = {key: value for key, value in item.items() if key != "threads"}
        found.append(common | own | {"rphy": common["rphy"] | own["rphy"]})
    return found


def server(groups: int, threads: Json | Sequence[Json]) -> Json:
    items = whole(groups)
    if not isinstance(threads, dict):
        items = [item | {"threads": of_it} for item, of_it in zip(items, threads, strict=False)]
        return {"service_groups": items}
    return {"threads": {"main_core": 0} | threads, "service_groups": items}


def played(
    folder: Path, groups: int, threads: Json | Sequence[Json], changes: Sequence[Change] = ()
) -> list[bytes]:
    """What comes out of both captures, and what is counted of each group."""
    folder.mkdir()
    config, listed = folder / "server.yaml", folder / "changes.json"
    config.write_text(dump(server(groups, threads)))
    listed.write_text(json.dumps([item.json for item in changes]))
    found = []
    for up, came in zip((False, True), captures(groups), strict=True):
        names = ("--rphy-in", "--network-out") if up else ("--network-in", "--rphy-out")
        pcap, out, stats = folder / "in.pcap", folder / f"{names[1]}.pcap", folder / "stats.json"
        write_pcap(pcap, came)
        files = (names[0], pcap, names[1], out, "--stats", stats, "--changes", listed)
        ended = vcmtsd("replay", "--config", config, *files)
        assert ended.status == 0, ended.stderr
        told = json.loads(stats.read_text())["groups"]
        way = "upstream" if up else "downstream"
        counted = [[group[way][kind] for kind in ("drops", "counters")] for group in told]
        assert all(group[way]["balanced"] for group in told)
        found += [out.read_bytes(), json.dumps(counted).encode()]
    return found


@cache
def wanted(groups: int, folder: Path) -> list[bytes]:
    found = played(folder / f"wanted{groups}", groups, ONE_CORE)
    assert all(len(part) > 10_000 for part in found[::2])
    return found


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reference")


# Two groups are what the first two of three are, but where they go together: there three have one
# left over.
@pytest.mark.parametrize(
    ("name", "groups"),
    [(name, groups) for name in NAMED for groups in ((1, 2, 3) if name in IN_PAIRS else (1, 3))],
)
def test_published(name: str, groups: int, reference: Path, tmp_path: Path) -> None:
    """With one group the ports are its own, with more they are shared."""
    threads = NAMED[name] | {"cores": f"1-{COUNTS[name][groups - 1]}"}
    assert played(tmp_path / "0", groups, threads) == wanted(groups, reference)


@pytest.mark.parametrize("name", FREE)
def test_free(name: str, reference: Path, tmp_path: Path) -> None:
    assert played(tmp_path / "0", 3, FREE[name]) == wanted(3, reference)


MOVES = [
    change(MS + 7, "worker.drain", core=2, to=1),
    change(2 * MS + 7, "worker.drain", core=3, to=1),
    change(3 * MS + 7, "worker.drain", core=1, to=3),
    change(4 * MS + 7, "worker.resume", core=2),
    change(5 * MS + 7, "worker.resume", core=1),
    change(6 * MS + 7, "worker.drain", core=3, to=2),
    change(7 * MS + 7, "worker.resume", core=3),
]


@pytest.mark.parametrize("groups", [1, 3])
def test_workers_drained_and_resumed(groups: int, reference: Path, tmp_path: Path) -> None:
    threads = FREE["three cores, crossed"]
    assert played(tmp_path / "0", groups, threads, MOVES) == wanted(groups, reference)
