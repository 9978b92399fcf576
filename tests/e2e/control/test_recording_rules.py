# SPDX-License-Identifier: BSD-3-Clause
"""Recording rules: all metrics, stages, reasons and directions that they query exist in vcmtsd."""

import json
import re
from typing import Any

from e2e.control.queries import REFERENCE
from e2e.running import vcmtsd
from vcmts import yamls


def values(text: str, label: str) -> set[str]:
    matches = re.findall(rf'\b{label}=~?"([^"]+)"', text)
    return {value for match in matches for value in match.split("|")}


def test_rules_query_existing_names() -> None:
    described: dict[str, Any] = json.loads(vcmtsd("describe").stdout)
    groups = yamls.safe_load(REFERENCE.read_text())["groups"]
    text = " ".join(rule["expr"] for group in groups for rule in group["rules"])
    kinds = {metric["name"]: metric["type"] for metric in described["metrics"]}
    histograms = {name for name, kind in kinds.items() if kind == "histogram"}
    parts = {f"{name}_{part}" for name in histograms for part in ("sum", "count")}
    assert set(re.findall(r"\bvcmts_\w+", text)) <= kinds.keys() | parts
    lists = [one for way in ("downstream", "upstream") for one in described[way]["lists"]]
    stages = [stage for stage_list in lists for stage in stage_list["stages"]]
    assert values(text, "stage") <= {stage["name"] for stage in stages}
    assert values(text, "reason") <= {reason for stage in stages for reason in stage["drops"]}
    assert values(text, "direction") == {"downstream", "upstream"}
