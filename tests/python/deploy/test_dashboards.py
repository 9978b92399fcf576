# SPDX-License-Identifier: BSD-3-Clause
"""Tests deploy/grafana by Grafana's types, and by rules for titles, units and layout."""

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from boards.queries import FINEST_S, Scope
from e2e.running import run
from python.deploy.test_alerts import needs_promtool
from vcmts.paths import CHECKOUT

Json = dict[str, Any]
FOLDER = CHECKOUT / "deploy" / "grafana"
SCHEMA = CHECKOUT / "build-dashboards" / "schema" / "schema.json"
FILES = sorted(FOLDER.glob("*.json"))
BOARDS = {path.stem: json.loads(path.read_text()) for path in FILES}
WIDTH = 24
needs_types = pytest.mark.skipif(
    not SCHEMA.exists(), reason="Grafana's types are not installed: devtools/install-deps grafana"
)
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
# A Prometheus query, which Grafana's types do not define.
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
def type_schema() -> Json:
    copy: Json = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return copy


def schema_errors(value: Any, definition: str) -> list[str]:
    schema = type_schema() | {"$ref": f"#/definitions/{definition}"}
    return [f"{error.json_path}: {error.message}" for error in errors(schema, value)]


def errors(schema: Json, value: Any) -> list[Any]:
    return list(Draft7Validator(schema).iter_errors(value))


def board_errors(board: Json) -> list[str]:
    """Returns errors by Grafana's types, for each panel by the options of its kind."""
    result = schema_errors(board | {"panels": []}, "dashboard.Dashboard")
    for panel in board["panels"]:
        kind = panel["type"]
        if kind == "row":
            result += schema_errors(panel, "dashboard.RowPanel")
            continue
        result += schema_errors(panel, "dashboard.Panel") + schema_errors(
            panel["options"], f"{kind}.Root"
        )
        custom = panel["fieldConfig"]["defaults"].get("custom", {})
        result += schema_errors(custom, "custom.Root") if kind == "timeseries" else []
        result += [str(error) for one in panel["targets"] for error in errors(TARGET, one)]
    return result


def check_query(tmp_path: Path, series: list[Json], query: str, sample: Json) -> None:
    """Asserts what a query returns after 2 minutes of samples every 10 s."""
    expected = {"expr": query, "eval_time": "2m", "exp_samples": [sample]}
    test = {"interval": "10s", "input_series": series, "promql_expr_test": [expected]}
    path = tmp_path / "test.json"  # JSON is YAML, too
    path.write_text(json.dumps({"tests": [test]}))
    done = run(["promtool", "test", "rules", path])
    assert done.status == 0, done.stdout + done.stderr


def panels(board: Json) -> list[Json]:
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def test_dashboards_exist() -> None:
    assert set(BOARDS) == {"system", "group", "cores"}
    assert len({board["uid"] for board in BOARDS.values()}) == len(BOARDS)


@needs_types
@pytest.mark.parametrize("name", BOARDS)
def test_dashboard_follows_types(name: str) -> None:
    assert board_errors(BOARDS[name]) == []


def change(board: Json, path: list[str | int], value: Any) -> Json:
    copy: Json = json.loads(json.dumps(board))
    inner: Any = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return copy


@needs_types
@pytest.mark.parametrize(
    "path, value",
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
def test_types_reject_mistakes(path: list[str | int], value: Any) -> None:
    assert board_errors(change(BOARDS["cores"], path, value))


@pytest.mark.parametrize("name", BOARDS)
def test_panels_have_title_description_and_unit(name: str) -> None:
    numbers = [panel["id"] for panel in BOARDS[name]["panels"]]
    assert len(set(numbers)) == len(numbers)
    for panel in panels(BOARDS[name]):
        assert panel["title"] and panel["description"].endswith("."), panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        if panel["type"] == "timeseries":
            assert panel["options"]["legend"]["showLegend"]
            assert all(target["legendFormat"] for target in panel["targets"]), panel["title"]


RATE_OF_PACKETS = re.compile(r"sum(?: by \([^)]*\))? \(rate\(vcmts_\w+_(?:packets|frames)_total\b")


@pytest.mark.parametrize("name", BOARDS)
def test_packets_have_one_unit(name: str) -> None:
    found = set()
    for panel in panels(BOARDS[name]):
        unit = panel["fieldConfig"]["defaults"]["unit"]
        found.add(unit)
        for query in (target["expr"] for target in panel["targets"]):
            if RATE_OF_PACKETS.match(query) and " / " not in query:
                assert unit == "pps", panel["title"]
    assert "ops" not in found, "other events have si:/s"


def latency_panels(name: str) -> list[Json]:
    return [
        panel for panel in panels(BOARDS[name]) if "histogram_quantile" in str(panel["targets"])
    ]


def test_delays_below_the_first_bound_have_a_text() -> None:
    """All packets are in the first bucket: the query gives its bound, and Grafana shows a text."""
    for panel in latency_panels("system") + latency_panels("group"):
        [mapping] = panel["fieldConfig"]["defaults"]["mappings"]
        options = mapping["options"]
        assert options["from"] < FINEST_S < options["to"] and options["result"]["text"] == "<256 ns"
        assert "256 ns or less" in panel["description"], panel["title"]


@needs_promtool
@pytest.mark.parametrize(
    "first, expected", [(100, FINEST_S), (0, 2.56e-7 + (5.12e-7 - 2.56e-7) / 2)]
)
def test_quantiles_are_not_below_the_first_bound(
    first: int, expected: float, tmp_path: Path
) -> None:
    query = Scope('instance="a"').quantile(0.5, "d_seconds").replace("$__rate_interval", "1m")
    counts = {"2.56e-07": first, "5.12e-07": 100, "+Inf": 100}
    series = [
        {"series": f'd_seconds_bucket{{instance="a",le="{le}"}}', "values": f"0+{count}x12"}
        for le, count in counts.items()
    ]
    sample = {"labels": "{}", "value": expected}
    check_query(tmp_path, series, query, sample)


@pytest.mark.parametrize("name", BOARDS)
def test_panels_do_not_overlap(name: str) -> None:
    used: set[tuple[int, int]] = set()
    for panel in BOARDS[name]["panels"]:
        grid = panel["gridPos"]
        assert grid["x"] + grid["w"] <= WIDTH
        columns, rows = range(grid["x"], grid["x"] + grid["w"]), grid["y"] + grid["h"]
        cells = {(x, y) for x in columns for y in range(grid["y"], rows)}
        assert not cells & used, panel["title"]
        used |= cells


@pytest.mark.parametrize("name", BOARDS)
def test_declared_variables_are_used(name: str) -> None:
    board = BOARDS[name]
    declared = {one["name"] for one in board["templating"]["list"]}
    queries = [one["query"] for one in board["templating"]["list"] if one["type"] == "query"]
    queries += [one["expr"] for panel in panels(board) for one in panel["targets"]]
    used = set(re.findall(r"\$\{?(\w+)", " ".join(queries))) - {"__rate_interval"}
    assert used == declared - {"datasource"}


@needs_promtool
@pytest.mark.parametrize("name", ["group", "system"])
def test_drops_are_shown_without_an_upstream(name: str, tmp_path: Path) -> None:
    [panel] = [panel for panel in panels(BOARDS[name]) if panel["title"] == "Dropped"]
    query = panel["targets"][0]["expr"].replace("$__rate_interval", "1m")
    query = query.replace("${group:raw}", 'service_group="1"').replace("$instance", ".*")
    series = "vcmts_downstream_dropped_packets_total"
    labels = 'instance="a",service_group="1",reason="runt"'
    dropped = {"series": f"{series}{{{labels}}}", "values": "0+20x12"}
    check_query(tmp_path, [dropped], query, {"labels": "{}", "value": 2})


def test_deleted_schema_is_generated_again(tmp_path: Path) -> None:
    tool, made = tmp_path / "devtools" / "grafana" / "schema", tmp_path / "build-dashboards/schema"
    shutil.copytree(CHECKOUT / "devtools" / "grafana" / "schema", tool)
    (tmp_path / "npm").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "npm").chmod(0o755)
    made.mkdir(parents=True)
    (made / "schema.json").touch()
    names = ("build", "combine.mjs", "package.json", "package-lock.json")
    sources = b"".join((tool / name).read_bytes() for name in names)
    (made / "made-from").write_text(f"{hashlib.sha256(sources).hexdigest()}  -\n")
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for status in (0, 1):  # with schema.json, and without it
        done = subprocess.run([tool / "build"], env=environment, capture_output=True, text=True)
        assert (done.returncode, "npm ci failed" in done.stderr) == (status, status == 1)
        (made / "schema.json").unlink(missing_ok=True)


@needs_node
@pytest.mark.parametrize("module", ["build.mjs", "schema/combine.mjs"])
def test_node_parses_modules(module: str) -> None:
    done = run(["node", "--check", CHECKOUT / "devtools" / "grafana" / module])
    assert done.status == 0, done.stdout + done.stderr


@needs_node
def test_schemas_are_combined(tmp_path: Path) -> None:
    tool = CHECKOUT / "devtools" / "grafana" / "schema"
    shutil.copy(tool / "package.json", tmp_path)
    for part in ("graph", "stat"):
        root = {"description": "a type", "default": 1, "$ref": "#/definitions/T"}
        schema = {"definitions": {"Root": root, "T": {"type": "string"}}}
        (tmp_path / f"schema-{part}.json").write_text(json.dumps(schema))
    command = ["node", str(tool / "combine.mjs"), "graph", "stat"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "schema.json").read_text())["definitions"] == {
        "graph.Root": {"$ref": "#/definitions/graph.T"},
        "graph.T": {"type": "string"},
        "stat.Root": {"$ref": "#/definitions/stat.T"},
        "stat.T": {"type": "string"},
    }


def test_folder_has_only_dashboards() -> None:
    assert [path.name for path in Path(FOLDER).iterdir() if path not in FILES] == []
