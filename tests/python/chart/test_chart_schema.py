# SPDX-License-Identifier: BSD-3-Clause
"""Tests the schema of the chart's values: values.yaml, examples and README agree with it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from python.chart.charts import CHART, CI, SCHEMA, assemble
from vcmts import yamls
from vcmts.docs import chart_values, configdoc
from vcmts.paths import CHECKOUT

VALUES = yamls.safe_load((CHART / "values.yaml").read_text())
KEYWORDS = {
    *("type", "description", "properties", "additionalProperties", "required", "items", "enum"),
    *("pattern", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "$ref"),
    *("anyOf", "default", "examples", "propertyNames", "uniqueItems", "allOf", "if", "then"),
    *("else", "not", "const", "oneOf", "format"),
}
# Maps that Kubernetes checks.
OPEN = {"affinity", "global", "tolerations", "topologySpreadConstraints", "from", "networks"}
OPEN |= {"extraEnvironment", "extraVolumes", "extraVolumeMounts"}


def subschemas(schema: Any, name: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields all schemas in a schema, with their keys."""
    if not isinstance(schema, dict):
        return
    yield name, schema
    for key, value in schema.get("properties", {}).items():
        yield from subschemas(value, key)
    for key in ("items", "then", "else"):
        yield from subschemas(schema.get(key), name)
    for value in schema.get("anyOf", []):
        yield from subschemas(value, name)


def all_schemas() -> Iterator[tuple[str, dict[str, Any]]]:
    yield from subschemas({key: value for key, value in SCHEMA.items() if key != "definitions"})
    for name, value in SCHEMA["definitions"].items():
        if name == "configuration":
            for key, one in value.items():
                yield from subschemas(one, key)
        else:
            yield from subschemas(value, name)


def test_schema_is_of_draft_7() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    for name, schema in all_schemas():
        assert set(schema) - {"$schema", "title", "x-allowed"} <= KEYWORDS, name


def test_maps_refuse_unknown_keys() -> None:
    for name, schema in all_schemas():
        if schema.get("type") == "object" and name not in OPEN:
            closed = schema.get("additionalProperties")
            assert closed is False or closed == {"type": "string"}, name


def test_values_file_has_the_keys_of_the_schema() -> None:
    jsonschema.Draft7Validator(SCHEMA).validate(VALUES)
    assert set(VALUES) == set(SCHEMA["properties"]) - {"global"}

    def compare(values: dict[str, Any], schema: dict[str, Any], path: str) -> None:
        for key, value in values.items():
            known = schema["properties"].get(key)
            assert known is not None, f"{path}{key}"
            if value and isinstance(value, dict) and "properties" in known:
                assert set(value) == set(known["properties"]), f"{path}{key}"
                compare(value, known, f"{path}{key}.")

    compare(VALUES, SCHEMA, "")


@pytest.mark.parametrize("path", CI, ids=lambda path: path.stem)
def test_examples_are_valid(path: Any) -> None:
    jsonschema.Draft7Validator(SCHEMA).validate(yamls.safe_load(path.read_text()))


def test_schema_and_readme_are_up_to_date() -> None:
    configuration = configdoc.read_schema()
    for path, text in chart_values.pages(configuration).items():
        assert (CHECKOUT / path).read_text(encoding="utf-8") == text, f"{path}: make docs"


def test_config_has_the_keys_of_the_data_plane() -> None:
    """All keys of vcmtsd, except those for which the chart has keys of its own."""
    keys = set(configdoc.read_schema()["properties"])
    config_keys = set(SCHEMA["definitions"]["config"]["properties"])
    assert keys - config_keys == {
        *("name", "service_group", "ports", "threads", "crypto"),
        *("service_groups", "max_groups", "power", "metrics", "needs_version"),
    }


def test_readme_has_all_keys() -> None:
    readme = (CHART / "README.md").read_text(encoding="utf-8")

    def keys(values: dict[str, Any], path: str) -> Iterator[str]:
        for key, value in values.items():
            yield f"{path}{key}"
            if isinstance(value, dict):
                yield from keys(value, f"{path}{key}.")

    for key in keys(VALUES, ""):
        assert f"| `{key}` |" in readme, key


def test_assembled_chart_has_schema_dashboards_and_alerts(tmp_path: Path) -> None:
    """It also has all files of the checkout's chart, and none of an earlier version."""
    (tmp_path / "vcmts/templates").mkdir(parents=True)
    (tmp_path / "vcmts/templates/old.yaml").touch()
    paths = assemble(tmp_path).rglob("*")
    assembled = {path: path.read_bytes() for path in paths if path.is_file()}
    deploy = CHECKOUT / "deploy"
    expected = [(path.relative_to(CHART), path) for path in CHART.rglob("*") if path.is_file()]
    expected += [(Path("dashboards", path.name), path) for path in deploy.glob("grafana/*.json")]
    rules = ("alerts.yaml", "reference.yaml")
    expected += [(Path("files", name), deploy / "prometheus" / name) for name in rules]
    schema = assembled.pop(tmp_path / "vcmts" / "values.schema.json")
    assert json.loads(schema) == SCHEMA
    assert assembled == {tmp_path / "vcmts" / name: path.read_bytes() for name, path in expected}
