# SPDX-License-Identifier: BSD-3-Clause
"""What the dashboards, the alerts and the pages ask Prometheus for."""

import json
import re
from typing import Any

import yaml

from vcmts.monitor import server
from vcmts.paths import CHECKOUT

BOARDS = {path.stem: path for path in (CHECKOUT / "deploy" / "grafana").glob("*.json")}
ALERTS = CHECKOUT / "deploy" / "prometheus" / "alerts.yaml"
REFERENCE = CHECKOUT / "deploy" / "prometheus" / "reference.yaml"
PAGE = (CHECKOUT / "docs" / "monitoring.md").read_text()
WINDOW = "1h"  # all of the run, however slow it was
# Of limits of alerts: without them an expression has its series whether it complains or not.
LIMIT = re.compile(r"\s(?:>|<|==)\s[\d.]+(?=\s|$|\))")


def expressions() -> dict[str, str]:
    """Of every dashboard, rule, and the first page; as they stand there."""
    found = {}
    for name, path in BOARDS.items():
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel.get("targets", []):
                found[f"{name}: {panel['title']}: {target['refId']}"] = target["expr"]
    for group in yaml.safe_load(REFERENCE.read_text())["groups"]:
        for rule in group["rules"]:
            found[f"recorded: {rule['record']}"] = rule["record"]
    for group in yaml.safe_load(ALERTS.read_text())["groups"]:
        for number, rule in enumerate(group["rules"]):
            for part, one in enumerate(re.split(r"\sor\s", rule["expr"])):
                found[f"alert {rule['alert']} {number}.{part}"] = one
    for question, asked in re.findall(r"^\| (.*) \| `(.*\[10s\].*)` \|$", PAGE, re.MULTILINE):
        found[f"docs: {question}"] = asked.replace("[10s]", f"[{WINDOW}]")
    for number, graph in enumerate(server.GRAPHS):
        found[f"first page: {number}"] = graph.format(window=WINDOW)
    return found


def asked_as(expression: str, target: str, other: str) -> str:
    """As Grafana asks it with these choices; without limits, and with windows of this run."""
    chosen = {"instance": target, "node": other}
    chosen["group:raw"] = f'instance="{target}",service_group="1"'
    expression = expression.replace("$__rate_interval", WINDOW)
    for name in sorted(chosen, key=len, reverse=True):
        expression = expression.replace(f"${name}", chosen[name])
        expression = expression.replace(f"${{{name}}}", chosen[name])
    expression = re.sub(r"\[5m\]", f"[{WINDOW}]", expression)
    expression = expression.replace("[10m:30s]", f"[{WINDOW}:1s]")
    return LIMIT.sub("", expression)


def variables() -> dict[str, dict[str, Any]]:
    """The choices above the dashboards."""
    return {
        f"{path.stem}: {one['name']}": one
        for path in BOARDS.values()
        for one in json.loads(path.read_text())["templating"]["list"]
        if one["type"] == "query"
    }


def choices(variable: dict[str, Any], series: list[dict[str, str]]) -> dict[str, str]:
    """The values that Grafana offers of a `query_result`, by their texts; `series`: labels."""
    regex = re.compile(variable["regex"].strip("/").replace("(?<", "(?P<"))
    lines = ["{" + ",".join(f'{k}="{v}"' for k, v in one.items()) + "} 1 0" for one in series]
    return {found["text"]: found["value"] for found in map(regex.search, lines) if found}
