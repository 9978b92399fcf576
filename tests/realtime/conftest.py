# SPDX-License-Identifier: BSD-3-Clause
"""Repeats a failed test and reports how often.

Tests of this folder measure rates, distances and delays in real time. They need an idle machine
(`make realtime`) and are in no suite that must pass on any machine."""

import os

import pytest
from _pytest.runner import runtestprotocol

ATTEMPTS = int(os.environ.get("VCMTS_REALTIME_ATTEMPTS", "5"))

repeated: list[str] = []


def failed(reports: list[pytest.TestReport]) -> bool:
    return any(report.failed for report in reports)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    attempt = 0
    reports: list[pytest.TestReport] = []
    while attempt == 0 or (failed(reports) and attempt < ATTEMPTS):
        attempt += 1
        item._initrequest()  # type: ignore[attr-defined]
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if attempt > 1:
        outcome = "failed" if failed(reports) else "passed"
        repeated.append(f"{item.nodeid}: {outcome} in attempt {attempt} of {ATTEMPTS}")
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    terminalreporter.write_line(f"load averages: {load}")
    for line in repeated:
        terminalreporter.write_line(line)
