# SPDX-License-Identifier: BSD-3-Clause
"""The order of tests: that of the files, or a random one, which VCMTS_TEST_SEED repeats; that
properties are tried however long it takes; that interrupts are what they are for people; and that
the collector of garbage does not walk through all tests again and again."""

import gc
import os
import signal
from collections.abc import Generator
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# By itself it fails what takes more than 200 ms, or a second to make up.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# A shell has what it runs in the background ignore them, and with it all that tests start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SEED = os.environ.get("VCMTS_TEST_SEED")


def pytest_report_header() -> str:
    return f"random order: VCMTS_TEST_SEED={SEED}" if SEED else ""


def begins(config: pytest.Config, count: int) -> int:
    """Of the processes that collect tests at once, each begins with another one of so many."""
    given: dict[str, Any] = getattr(config, "workerinput", {"workerid": "gw0", "workercount": 1})
    return count * int(given["workerid"].removeprefix("gw")) // int(given["workercount"])


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """They begin at different files, as rewriting the assertions of a file takes most of the time
    when it is new: nearly each is rewritten once, and the others find what the first has stored."""
    report = yield
    if isinstance(collector, pytest.Dir) and report.passed:
        modules = [node for node in report.result if isinstance(node, pytest.Module)]
        first = begins(collector.config, len(modules))
        others = [node for node in report.result if not isinstance(node, pytest.Module)]
        report.result = [*modules[first:], *modules[:first], *others]
    return report


def in_order(items: list[pytest.Item]) -> None:
    """All the same in all processes: folders as they were asked for, and files by name."""
    folders = {path: n for n, path in enumerate(dict.fromkeys(item.path.parent for item in items))}
    items.sort(key=lambda item: (folders[item.path.parent], item.path))


class FirstOrder:
    """Before pytest groups tests by what they share; the random order comes after it."""

    @staticmethod
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
        if hasattr(config, "workerinput"):
            in_order(items)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(FirstOrder())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if SEED:
        Random(int(SEED)).shuffle(items)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests, and what they import, are there until the end: only what comes later is
    looked through, and not after each 700 objects, of which a configuration has 300,000."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 10, 10)
        gc.enable()
