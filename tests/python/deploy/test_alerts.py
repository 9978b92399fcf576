# SPDX-License-Identifier: BSD-3-Clause
"""Tests the rules in deploy/prometheus with promtool, and that each alert is documented."""

import re
import shutil
from typing import Any

import pytest

from e2e.running import run
from vcmts import yamls
from vcmts.paths import CHECKOUT

FOLDER = CHECKOUT / "deploy" / "prometheus"
RULES: list[dict[str, Any]] = [
    rule
    for group in yamls.safe_load((FOLDER / "alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None,
    reason="Prometheus is not installed: devtools/install-deps monitor",
)


@needs_promtool
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "rules", "alerts.yaml"),
        ("check", "config", "prometheus.yml"),
        ("test", "rules", "alerts_test.yaml"),
        ("check", "rules", "reference.yaml"),
        ("test", "rules", "reference_test.yaml"),
    ],
    ids=" ".join,
)
def test_promtool_accepts_files(arguments: tuple[str, ...]) -> None:
    done = run(["promtool", *arguments[:-1], FOLDER / arguments[-1]])
    assert done.status == 0, done.stdout + done.stderr


def test_all_alerts_have_tests() -> None:
    """The test file of promtool expects each alert."""
    expected = re.findall(r'alertname="(\w+)"', (FOLDER / "alerts_test.yaml").read_text())
    assert set(expected) == {rule["alert"] for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_alert_has_an_action_and_is_documented(rule: dict[str, Any]) -> None:
    assert set(rule["annotations"]) == {"summary", "description", "action"}
    assert all(rule["annotations"].values())
    assert rule["labels"]["severity"] in ("critical", "warning")
    rows = re.findall(r"^\| (`Vcmts.*) \|", (CHECKOUT / "docs" / "monitoring.md").read_text(), re.M)
    assert f"`{rule['alert']}`" in " ".join(rows)
