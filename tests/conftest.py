# SPDX-License-Identifier: BSD-3-Clause
"""Settings of all pytest runs: test order, hypothesis limits, SIGINT and garbage collection.
VCMTS_TEST_SEED sets a random order, and repeats it."""

import contextlib
import gc
import os
import signal
from collections.abc import Generator
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from vcmts import version
from vcmts.paths import MistakeError

# By default hypothesis fails an example that takes more than 200 ms, or 1 s to generate.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# A shell makes background jobs ignore SIGINT, and programs that tests start would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Programs of the same build do not log their version then: tests compare the messages after it.
with contextlib.suppress(MistakeError):
    version.first_line()

SEED = os.environ.get("VCMTS_TEST_SEED")


def pytest_report_header() -> str:
    return f"random order: VCMTS_TEST_SEED={SEED}" if SEED else ""


def first_index(config: pytest.Config, count: int) -> int:
    """Returns the index of the first of `count` files that this process collects."""
    worker: dict[str, Any] = getattr(config, "workerinput", {"workerid": "gw0", "workercount": 1})
    return count * int(worker["workerid"].removeprefix("gw")) // int(worker["workercount"])


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Starts each collecting process at another file. Most of the time of a collection is rewriting
    the assertions of new files; a file that one process has rewritten is cached for the others."""
    report = yield
    if isinstance(collector, pytest.Dir) and report.passed:
        modules = [node for node in report.result if isinstance(node, pytest.Module)]
        first = first_index(collector.config, len(modules))
        packages = [node for node in report.result if not isinstance(node, pytest.Module)]
        report.result = [*modules[first:], *modules[:first], *packages]
    return report


def sort_items(items: list[pytest.Item]) -> None:
    """Sorts by folder (as on the command line) and file name, alike in all processes."""
    folders = {path: n for n, path in enumerate(dict.fromkeys(item.path.parent for item in items))}
    items.sort(key=lambda item: (folders[item.path.parent], item.path))


class UniformOrder:
    """Sorts before pytest groups tests by their fixtures; the random order comes after that."""

    @staticmethod
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
        if hasattr(config, "workerinput"):
            sort_items(items)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(UniformOrder())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if SEED:
        Random(int(SEED)).shuffle(items)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keeps the collected tests and their modules out of garbage collection, and raises the
    threshold of 700 objects: a configuration has 300,000."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 10, 10)
        gc.enable()
