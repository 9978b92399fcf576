# SPDX-License-Identifier: BSD-3-Clause
"""The recording rules ask for metrics, stages and reasons that vcmtsd has."""

import json
import re
from typing import Any

from e2e.control.queries import REFERENCE
from e2e.running import vcmtsd
from vcmts import yamls


def values(text: str, label: str) -> set[str]:
    found = re.findall(rf'\b{label}=~?"([^"]+)"', text)
    return {value for one in found for value in one.split("|")}


def test_rules_name_what_there_is() -> None:
    told: dict[str, Any] = json.loads(vcmtsd("describe").stdout)
    groups = yamls.safe_load(REFERENCE.read_text())["groups"]
    text = " ".join(rule["expr"] for group in groups for rule in group["rules"])
    kinds = {metric["name"]: metric["type"] for metric in told["metrics"]}
    histograms = {name for name, kind in kinds.items() if kind == "histogram"}
    parts = {f"{name}_{part}" for name in histograms for part in ("sum", "count")}
    assert set(re.findall(r"\bvcmts_\w+", text)) <= kinds.keys() | parts
    lists = [one for way in ("downstream", "upstream") for one in told[way]["lists"]]
    stages = [stage for one in lists for stage in one["stages"]]
    assert values(text, "stage") <= {stage["name"] for stage in stages}
    assert values(text, "reason") <= {reason for stage in stages for reason in stage["drops"]}
    assert values(text, "direction") == {"downstream", "upstream"}
