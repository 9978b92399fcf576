# SPDX-License-Identifier: BSD-3-Clause
"""Generates values.schema.json and README.md of the Helm chart.

Called as `chart_values FILE`, it writes the schema to the file.
"""

import copy
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vcmts import yamls
from vcmts.docs.configdoc import Schema, escape, read_schema, sentence
from vcmts.jsons import format_json
from vcmts.paths import CHECKOUT
from vcmts.profile.group import GRAMMAR, NAME

CHART = Path("deploy/helm/vcmts")
BASE = Path(__file__).with_name("values.schema.in.yaml")
TEMPLATE = Path(__file__).with_name("chart.md.in")
# Keys of the configuration that the chart replaces by own keys, and keys of the server.
NOT_OF_CONFIG = ("name", "service_group", "ports", "threads", "crypto", "service_groups")
NOT_OF_A_GROUP = ("max_groups", "power", "metrics", "needs_version")
REFERENCE = "#/definitions/configuration/"


def configuration_part(schema: Schema, path: str) -> Schema:
    for key in path.split("."):
        schema = schema["properties"][key]
    return copy.deepcopy(schema)


def with_resource(found: Schema) -> Schema:
    """Adds keys for a device of a Kubernetes device plugin."""
    found.pop("required", None)
    for key in ("resource", "variable"):
        found["properties"][key] = {"$ref": f"#/definitions/{key}"}
    return found


def expand(node: Any, configuration: Schema) -> Any:
    """Replaces x-keys and x-group in a part of the base by parts of the configuration's schema."""
    if isinstance(node, list):
        return [expand(item, configuration) for item in node]
    if not isinstance(node, dict):
        return node
    if "x-keys" in node:
        found = configuration_part(configuration, node["x-keys"])
        return with_resource(found) if node.get("x-resource") else found
    if "x-group" in node:
        left_out = NOT_OF_CONFIG + NOT_OF_A_GROUP
        keys = [key for key in configuration["properties"] if key not in left_out]
        return {
            "description": node["description"],
            "type": "object",
            "additionalProperties": False,
            "properties": {key: {"$ref": REFERENCE + key} for key in keys},
        }
    return {key: expand(value, configuration) for key, value in node.items()}


def plain(node: Any) -> Any:
    """Removes extension keywords, so that the schema is JSON Schema draft 7, which Helm 3 reads."""
    if isinstance(node, list):
        return [plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: plain(value)
        for key, value in node.items()
        if isinstance(value, dict) or not key.startswith("x-")
    }


def base() -> Schema:
    text = BASE.read_text(encoding="utf-8")
    text = text.replace("@PROFILE@", f"^({NAME.pattern})?$").replace("@GRAMMAR@", GRAMMAR)
    schema: Schema = yamls.safe_load(text)
    return schema


def schema_of(configuration: Schema) -> Schema:
    schema: Schema = expand(base(), configuration)
    parts = {
        key: value
        for key, value in configuration["properties"].items()
        if key not in NOT_OF_CONFIG + NOT_OF_A_GROUP
    }
    text = json.dumps({**schema, "definitions": {**schema["definitions"], "configuration": parts}})
    whole: Schema = plain(json.loads(text.replace('"#/properties/', f'"{REFERENCE}')))
    return whole


def words(value: Schema, schema: Schema) -> Schema:
    """Resolves the reference of a value."""
    reference = value.get("$ref")
    return {**schema["definitions"][reference.rsplit("/", 1)[1]], **value} if reference else value


def allowed(value: Schema) -> str:
    if "x-allowed" in value:
        return str(value["x-allowed"])
    if "enum" in value:
        listed = [written(one) for one in value["enum"]]
        return f"{', '.join(listed[:-1])} or {listed[-1]}"
    if value.get("type") == "boolean":
        return "true or false"
    if value.get("type") == "integer":
        return f"a number, {value['minimum']} to {value['maximum']}"
    return "a map"


def written(value: Any) -> str:
    if isinstance(value, str):
        return value or "empty"
    return json.dumps(value)


def rows(value: Schema, schema: Schema, default: Any, path: str) -> Iterator[str]:
    for name, found in value["properties"].items():
        key = words(found, schema)
        key_path = f"{path}{name}"
        here = default.get(name) if isinstance(default, dict) else None
        shown = "" if here in (None, "", [], {}) or isinstance(here, dict) else f"`{written(here)}`"
        items = key.get("items", {})
        cells = (f"`{key_path}`", sentence(key["description"]), allowed(key), shown)
        if "properties" not in key or not path.startswith("serviceGroups"):
            yield f"| {' | '.join(escape(cell) for cell in cells)} |"
        if items.get("required") == ["id"]:
            yield from rows(items, schema, {}, f"{key_path}[].")
        elif "properties" in key and found.get("$ref") is None and "x-keys" not in found:
            yield from rows(key, schema, here, f"{key_path}.")


def rendered_readme(configuration: Schema) -> str:
    schema = expand(base(), configuration)
    schema["properties"].pop("global")
    values = yamls.safe_load((CHECKOUT / CHART / "values.yaml").read_text(encoding="utf-8"))
    table = ["| key | meaning | allowed | default |", "| --- | --- | --- | --- |"]
    table += rows(schema, schema, values, "")
    return TEMPLATE.read_text(encoding="utf-8").replace("@VALUES@", "\n".join(table))


def pages(configuration: Schema) -> dict[Path, str]:
    return {CHART / "README.md": rendered_readme(configuration)}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(format_json(schema_of(read_schema())), encoding="utf-8")
