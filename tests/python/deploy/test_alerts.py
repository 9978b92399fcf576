# SPDX-License-Identifier: BSD-3-Clause
"""The rules in deploy/prometheus: what promtool says of them, and what a reader of alerts needs."""

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
with_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="no Prometheus here: devtools/install-deps monitor"
)


@with_promtool
@pytest.mark.parametrize(
    "words",
    [
        ("check", "rules", "alerts.yaml"),
        ("check", "config", "prometheus.yml"),
        ("test", "rules", "alerts_test.yaml"),
        ("check", "rules", "reference.yaml"),
        ("test", "rules", "reference_test.yaml"),
    ],
    ids=" ".join,
)
def test_promtool_is_content(words: tuple[str, ...]) -> None:
    done = run(["promtool", *words[:-1], FOLDER / words[-1]])
    assert done.status == 0, done.stdout + done.stderr


def test_every_alert_has_a_test() -> None:
    """That it comes: promtool's own file tests others than those that it names, too."""
    expected = re.findall(r'alertname="(\w+)"', (FOLDER / "alerts_test.yaml").read_text())
    assert set(expected) == {rule["alert"] for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_it_says_what_to_do(rule: dict[str, Any]) -> None:
    assert set(rule["annotations"]) == {"summary", "description", "action"}
    assert all(rule["annotations"].values())
    assert rule["labels"]["severity"] in ("critical", "warning")
    told = re.findall(r"^\| (`Vcmts.*) \|", (CHECKOUT / "docs" / "monitoring.md").read_text(), re.M)
    assert f"`{rule['alert']}`" in " ".join(told)
