# SPDX-License-Identifier: BSD-3-Clause
"""Replays the same captures with every placement: published layouts, free ones, and workers that
are drained during the replay. The output must be equal. A replay has the stage lists, rings and
port owners of its layout, but runs all workers on one thread."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from e2e import service_groups as sg
from e2e.changes.replay import MS, Change, change
from e2e.running import vcmtsd
from vcmts.witness.pcapfile import Record, write_pcap

pytestmark = pytest.mark.replay

Json = sg.Json
GAP_NS = 15_001
ONE_CORE: Json = {"upper_mac_core": 1, "lower_mac_core": 1, "upstream_core": 1}
TWO_THREADS: Json = {"downstream": "1ds2t"}  # lower MAC on a core of its own
PUBLISHED: dict[str, Json] = {
    "1us1t_1ds1t": {"layout": "1us1t_1ds1t", "cores": "1-6"},
    "1us1t_1ds2t": {"layout": "1us1t_1ds2t", "cores": "1-9"},
    "2us1t_1ds2t": {"layout": "2us1t_1ds2t", "cores": "1-8"},
    "combined": {"layout": "combined", "cores": "1-3"},
    "combined2": {"layout": "combined2", "cores": "1-2"},
}
# Polling cores of one, two and three groups.
CORE_COUNTS = {
    "1us1t_1ds1t": (2, 4, 6),
    "1us1t_1ds2t": (3, 6, 9),
    "2us1t_1ds2t": (3, 5, 8),
    "combined": (1, 2, 3),
    "combined2": (1, 1, 2),
}
PAIR_LAYOUTS = ("2us1t_1ds2t", "combined2")
FREE_LAYOUTS: dict[str, list[Json]] = {
    "three cores, crossed": [
        {"upper_mac_core": 1, "lower_mac_core": 2, "upstream_core": 3} | TWO_THREADS,
        {"upper_mac_core": 2, "lower_mac_core": 3, "upstream_core": 1} | TWO_THREADS,
        {"upper_mac_core": 3, "lower_mac_core": 1, "upstream_core": 2} | TWO_THREADS,
    ],
    "ports owned by other workers": [
        {"upper_mac_core": 7, "lower_mac_core": 2, "upstream_core": 7} | TWO_THREADS,
        {"upper_mac_core": 1, "lower_mac_core": 3, "upstream_core": 2} | TWO_THREADS,
        {"upper_mac_core": 2, "lower_mac_core": 1, "upstream_core": 1} | TWO_THREADS,
    ],
}


@cache
def captures(groups: int) -> tuple[list[Record], list[Record]]:
    """Traffic of the groups at the network ports, and at the R-PHY ports."""
    items = group_configs(groups)
    return sg.downstream_traffic(items, 1, 250, GAP_NS), sg.upstream_traffic(items, 1, 60, GAP_NS)


def group_configs(groups: int) -> list[Json]:
    """The configurations of the groups, each complete."""
    server = sg.small_server_config()
    common = {k: v for k, v in server.items() if k not in ("service_groups", "name", "threads")}
    configs: list[Json] = []
    for item in server["service_groups"][:groups]:
        settings = {key: value for key, value in item.items() if key != "threads"}
        configs.append(common | settings | {"rphy": common["rphy"] | settings["rphy"]})
    return configs


def server_config(groups: int, threads: Json | Sequence[Json]) -> Json:
    items = group_configs(groups)
    if not isinstance(threads, dict):
        items = [item | {"threads": own} for item, own in zip(items, threads, strict=False)]
        return {"service_groups": items}
    return {"threads": {"main_core": 0} | threads, "service_groups": items}


def replay_both(
    folder: Path, groups: int, threads: Json | Sequence[Json], changes: Sequence[Change] = ()
) -> list[bytes]:
    """Replays the captures of both directions. Returns output files and counters per group."""
    folder.mkdir()
    config, changes_file = folder / "server.yaml", folder / "changes.json"
    config.write_text(sg.to_yaml(server_config(groups, threads)))
    changes_file.write_text(json.dumps([item.json for item in changes]))
    result = []
    for upstream, capture in zip((False, True), captures(groups), strict=True):
        names = ("--rphy-in", "--network-out") if upstream else ("--network-in", "--rphy-out")
        pcap, out, stats = folder / "in.pcap", folder / f"{names[1]}.pcap", folder / "stats.json"
        write_pcap(pcap, capture)
        files = (names[0], pcap, names[1], out, "--json", stats, "--changes", changes_file)
        done = vcmtsd("replay", "--config", config, *files)
        assert done.status == 0, done.stderr
        groups_ = json.loads(stats.read_text())["groups"]
        way = "upstream" if upstream else "downstream"
        counts = [[group[way][kind] for kind in ("drops", "counters")] for group in groups_]
        assert all(group[way]["balanced"] for group in groups_)
        result += [out.read_bytes(), json.dumps(counts).encode()]
    return result


@cache
def reference_output(groups: int, folder: Path) -> list[bytes]:
    output = replay_both(folder / f"wanted{groups}", groups, ONE_CORE)
    assert all(len(part) > 10_000 for part in output[::2])
    return output


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reference")


# Two groups are tested with layouts for pairs of groups only.
@pytest.mark.parametrize(
    ("name", "groups"),
    [
        (name, groups)
        for name in PUBLISHED
        for groups in ((1, 2, 3) if name in PAIR_LAYOUTS else (1, 3))
    ],
)
def test_published_output_is_equal(name: str, groups: int, shared: Path, tmp_path: Path) -> None:
    """One group has ports of its own, several share them."""
    threads = PUBLISHED[name] | {"cores": f"1-{CORE_COUNTS[name][groups - 1]}"}
    assert replay_both(tmp_path / "0", groups, threads) == reference_output(groups, shared)


@pytest.mark.parametrize("name", FREE_LAYOUTS)
def test_free_output_is_equal(name: str, shared: Path, tmp_path: Path) -> None:
    assert replay_both(tmp_path / "0", 3, FREE_LAYOUTS[name]) == reference_output(3, shared)


DRAINS = [
    change(MS + 7, "worker.drain", core=2, to=1),
    change(2 * MS + 7, "worker.drain", core=3, to=1),
    change(3 * MS + 7, "worker.drain", core=1, to=3),
    change(4 * MS + 7, "worker.resume", core=2),
    change(5 * MS + 7, "worker.resume", core=1),
    change(6 * MS + 7, "worker.drain", core=3, to=2),
    change(7 * MS + 7, "worker.resume", core=3),
]


@pytest.mark.parametrize("groups", [1, 3])
def test_drained_output_is_equal(groups: int, shared: Path, tmp_path: Path) -> None:
    threads = FREE_LAYOUTS["three cores, crossed"]
    assert replay_both(tmp_path / "0", groups, threads, DRAINS) == reference_output(groups, shared)
