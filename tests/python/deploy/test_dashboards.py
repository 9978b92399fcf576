# SPDX-License-Identifier: BSD-3-Clause
"""The dashboards in deploy/grafana, held against Grafana's own types and a reader's needs."""

import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from vcmts.paths import CHECKOUT

Json = dict[str, Any]
FOLDER = CHECKOUT / "deploy" / "grafana"
SCHEMA = CHECKOUT / "build-dashboards" / "schema" / "schema.json"
FILES = sorted(FOLDER.glob("*.json"))
BOARDS = {path.stem: json.loads(path.read_text()) for path in FILES}
WIDTH = 24
needs_types = pytest.mark.skipif(
    not SCHEMA.exists(), reason="no types of Grafana here: devtools/install-deps grafana"
)
# Of a query of Prometheus: Grafana's types leave it to the data source.
TARGET = {
    "type": "object",
    "required": ["expr", "refId", "legendFormat"],
    "additionalProperties": False,
    "properties": {
        "expr": {"type": "string", "minLength": 1},
        "legendFormat": {"type": "string"},
        "refId": {"type": "string", "pattern": "^[A-Z]$"},
        "instant": {"type": "boolean"},
        "range": {"type": "boolean"},
    },
}


@functools.cache
def types() -> Json:
    made: Json = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return made


def wrong(value: Any, definition: str) -> list[str]:
    schema = types() | {"$ref": f"#/definitions/{definition}"}
    return [f"{error.json_path}: {error.message}" for error in errors(schema, value)]


def errors(schema: Json, value: Any) -> list[Any]:
    return list(Draft7Validator(schema).iter_errors(value))


def mistakes(board: Json) -> list[str]:
    """By Grafana's types, each panel with the options of its kind."""
    found = wrong(board | {"panels": []}, "dashboard.Dashboard")
    for panel in board["panels"]:
        kind = panel["type"]
        if kind == "row":
            found += wrong(panel, "dashboard.RowPanel")
            continue
        found += wrong(panel, "dashboard.Panel") + wrong(panel["options"], f"{kind}.Root")
        custom = panel["fieldConfig"]["defaults"].get("custom", {})
        found += wrong(custom, "custom.Root") if kind == "timeseries" else []
        found += [str(error) for one in panel["targets"] for error in errors(TARGET, one)]
    return found


def panels(board: Json) -> list[Json]:
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def test_all_are_there() -> None:
    assert set(BOARDS) == {"system", "group", "cores"}
    assert len({board["uid"] for board in BOARDS.values()}) == len(BOARDS)


@needs_types
@pytest.mark.parametrize("name", BOARDS)
def test_grafana_takes_it(name: str) -> None:
    assert mistakes(BOARDS[name]) == []


def change(board: Json, place: list[str | int], value: Any) -> Json:
    made: Json = json.loads(json.dumps(board))
    inner: Any = made
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return made


@needs_types
@pytest.mark.parametrize(
    "place, value",
    [
        (["panels", 1, "gridPoss"], {}),
        (["panels", 1, "options", "displayMode"], "gradually"),
        (["panels", 1, "fieldConfig", "defaults", "thresholds", "mode"], "half"),
        (["panels", 2, "fieldConfig", "defaults", "custom", "lineWidht"], 1),
        (["panels", 2, "targets", 0, "expression"], "up"),
        (["templating", "list", 1, "refresh"], 7),
        (["refresh"], 10),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_a_mistake_is_seen(place: list[str | int], value: Any) -> None:
    assert mistakes(change(BOARDS["cores"], place, value))


@pytest.mark.parametrize("name", BOARDS)
def test_every_panel_says_what_it_is(name: str) -> None:
    numbers = [panel["id"] for panel in BOARDS[name]["panels"]]
    assert len(set(numbers)) == len(numbers)
    for panel in panels(BOARDS[name]):
        assert panel["title"] and panel["description"].endswith("."), panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        if panel["type"] == "timeseries":
            assert panel["options"]["legend"]["showLegend"]
            assert all(target["legendFormat"] for target in panel["targets"]), panel["title"]


@pytest.mark.parametrize("name", BOARDS)
def test_panels_lie_beside_each_other(name: str) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in BOARDS[name]["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= WIDTH
        columns, rows = range(place["x"], place["x"] + place["w"]), place["y"] + place["h"]
        cells = {(x, y) for x in columns for y in range(place["y"], rows)}
        assert not cells & taken, panel["title"]
        taken |= cells


@pytest.mark.parametrize("name", BOARDS)
def test_variables_are_those_that_queries_use(name: str) -> None:
    board = BOARDS[name]
    declared = {one["name"] for one in board["templating"]["list"]}
    queries = [one["query"] for one in board["templating"]["list"] if one["type"] == "query"]
    queries += [one["expr"] for panel in panels(board) for one in panel["targets"]]
    used = set(re.findall(r"\$\{?(\w+)", " ".join(queries))) - {"__rate_interval"}
    assert used == declared - {"datasource"}


def test_nothing_else_is_there() -> None:
    assert [path.name for path in Path(FOLDER).iterdir() if path not in FILES] == []
