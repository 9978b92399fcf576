# SPDX-License-Identifier: BSD-3-Clause
"""Collects all Prometheus queries of the project: dashboards, rules, documentation."""

import json
import re
from typing import Any

import yaml

from vcmts.paths import CHECKOUT

DASHBOARDS = {path.stem: path for path in (CHECKOUT / "deploy" / "grafana").glob("*.json")}
ALERTS = CHECKOUT / "deploy" / "prometheus" / "alerts.yaml"
REFERENCE = CHECKOUT / "deploy" / "prometheus" / "reference.yaml"
PAGE = (CHECKOUT / "docs" / "monitoring.md").read_text()
WINDOW = "1h"  # more than the whole run
# Threshold of an alert. Without it an expression has series whether the alert fires or not.
THRESHOLD = re.compile(r"\s(?:>|<|==)\s[\d.]+(?=\s|$|\))")


def expressions() -> dict[str, str]:
    """All expressions as they are written, by a name that tells their source."""
    result = {}
    for name, path in DASHBOARDS.items():
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel.get("targets", []):
                result[f"{name}: {panel['title']}: {target['refId']}"] = target["expr"]
    for group in yaml.safe_load(REFERENCE.read_text())["groups"]:
        for rule in group["rules"]:
            result[f"recorded: {rule['record']}"] = rule["record"]
    for group in yaml.safe_load(ALERTS.read_text())["groups"]:
        for number, rule in enumerate(group["rules"]):
            for part, expression in enumerate(re.split(r"\sor\s", rule["expr"])):
                result[f"alert {rule['alert']} {number}.{part}"] = expression
    for question, expression in re.findall(r"^\| (.*) \| `(.*\[10s\].*)` \|$", PAGE, re.MULTILINE):
        result[f"docs: {question}"] = expression.replace("[10s]", f"[{WINDOW}]")
    return result


def grafana_query(expression: str, target: str, node: str) -> str:
    """The expression as Grafana sends it, without thresholds, and with windows of WINDOW."""
    values = {"instance": target, "node": node}
    values["group:raw"] = f'instance="{target}",service_group="1"'
    expression = expression.replace("$__rate_interval", WINDOW)
    for name in sorted(values, key=len, reverse=True):
        expression = expression.replace(f"${name}", values[name])
        expression = expression.replace(f"${{{name}}}", values[name])
    expression = re.sub(r"\[5m\]", f"[{WINDOW}]", expression)
    expression = expression.replace("[10m:30s]", f"[{WINDOW}:1s]")
    return THRESHOLD.sub("", expression)


def variables() -> dict[str, dict[str, Any]]:
    """The query variables of all dashboards."""
    return {
        f"{path.stem}: {variable['name']}": variable
        for path in DASHBOARDS.values()
        for variable in json.loads(path.read_text())["templating"]["list"]
        if variable["type"] == "query"
    }


def variable_choices(variable: dict[str, Any], series: list[dict[str, str]]) -> dict[str, str]:
    """Values that Grafana offers of a `query_result`, by their texts. `series`: labels of
    results."""
    regex = re.compile(variable["regex"].strip("/").replace("(?<", "(?P<"))
    lines = ["{" + ",".join(f'{k}="{v}"' for k, v in labels.items()) + "} 1 0" for labels in series]
    return {match["text"]: match["value"] for match in map(regex.search, lines) if match}
