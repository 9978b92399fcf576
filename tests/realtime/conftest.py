# SPDX-License-Identifier: BSD-3-Clause
"""Tests of what can only be seen in real time: rates, distances, delays. They belong to a machine
with nothing else to do (`make realtime`) and to no suite that must pass anywhere. One that fails
is repeated; what happened is told.
"""

import os

import pytest
from _pytest.runner import runtestprotocol

ATTEMPTS = int(os.environ.get("VCMTS_REALTIME_ATTEMPTS", "5"))

told: list[str] = []


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
        end = "failed" if failed(reports) else "passed"
        told.append(f"{item.nodeid}: {end} in attempt {attempt} of {ATTEMPTS}")
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    terminalreporter.write_line(f"processes that ran at a time lately: {load}")
    for line in told:
        terminalreporter.write_line(line)
