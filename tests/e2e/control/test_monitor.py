# SPDX-License-Identifier: BSD-3-Clause
"""Prometheus, started by `./vcmts monitor`, scrapes a vcmtsd with traffic. Every metric must be
stored, and every query of dashboards and alerts must have data.

One run collects the results of all queries in `Observed`. The tests check them.
"""

import json
import os
import re
import shlex
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.bench import browser
from e2e.control.prometheus import (
    HAS_PROMETHEUS,
    Prometheus,
    QueryResult,
    Series,
    fetch_page,
    monitor,
    node_exporter,
    normalize_labels,
    parse_series,
    scraped_series,
)
from e2e.control.queries import (
    ALERTS,
    PAGE,
    REFERENCE,
    expressions,
    grafana_query,
    variable_choices,
    variables,
)
from e2e.control.server import NULL_PORTS
from e2e.ports import Run, memifs, serve
from e2e.running import stop_process, vcmts, vcmtsd
from e2e.service_groups import profile_yaml
from patience import TIMEOUT, until, within
from vcmts.control.client import Client, RefusedError
from vcmts.monitor.server import BOARDS
from vcmts.monitor.targets import targets
from vcmts.paths import data, program

pytestmark = [
    pytest.mark.run,
    pytest.mark.skipif(
        not HAS_PROMETHEUS, reason="no Prometheus here: devtools/install-deps monitor installs it"
    ),
]

Json = dict[str, Any]
CPUS = sorted(os.sched_getaffinity(0))
OPEN = "application/openmetrics-text;version=1.0.0"
PLAIN = "text/plain;version=0.0.4"
# Positive when Prometheus has packets of every group in both directions, and denied packets.
TRAFFIC_SEEN = " * ".join(
    f"min(rate(vcmts_{name}[1h]))"
    for name in (
        "downstream_transmitted_packets_total",
        "upstream_transmitted_packets_total",
        "pipeline_latency_seconds_count",
        'downstream_dropped_packets_total{service_group="1",reason="filter_deny"}',
    )
)
IMPAIRED = "psp-loss=1%,psp-reorder=1%,header-error=1%,clear=1%,foreign-source=1%"
BLOCKS = dict(re.findall(r"^```sh (\w+)\n((?s:.*?))^```", PAGE, re.MULTILINE))


# Panels of a page by title: their legends or values. Scrolls to the first one without data, as a
# page draws only what is visible.
EMPTY = ("", "no data", "-")
DRAWN = f"""(() => {{
  const panels = [...document.querySelectorAll("article")];
  const text = panel => panel.querySelector(".content").innerText;
  panels.find(one => {json.dumps(EMPTY)}.includes(text(one)))?.scrollIntoView();
  return panels.map(one => [one.querySelector("h3").firstChild.textContent, text(one)]);
}})()"""


@dataclass(repr=False)
class Observed:
    target: str
    output: str = ""
    names: set[str] = field(default_factory=set)
    answers: dict[str, QueryResult] = field(default_factory=dict)  # by names of expressions()
    groups: dict[str, str] = field(default_factory=dict)  # that dashboards offer, by their text
    pages: dict[str, str] = field(default_factory=dict)  # of /metrics, by Accept header
    targets_found: list[str] = field(default_factory=list)
    rules: Json = field(default_factory=dict)
    scraped_series: Series = field(default_factory=dict)
    summary: Json = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)  # of printed addresses
    drawn: dict[str, Any] = field(default_factory=dict)  # result of DRAWN by board, of a browser


@contextmanager
def traffic(config: Path) -> Iterator[None]:
    """Sends packets in both directions, with upstream impairments, until the end of the block."""
    command = [
        str(program("vcmts-traffic")),
        "--config",
        str(config),
        *memifs(config.parent, "client"),
    ]
    command += ["--rate", "30Mbps", "--upstream-rate", "10Mbps", "--impair", IMPAIRED]
    command += ["--duration", "86400s", "--core", str(CPUS[0]), "--main-core", str(CPUS[0])]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, text=True) as process:
        try:
            yield
            process.send_signal(2)
            process.wait(TIMEOUT)
        finally:
            stop_process(process)


def run_queries(seen: Observed, prometheus: Prometheus, node: str) -> None:
    """Runs all queries that need traffic, and stores their results in `seen`."""
    seen.names = prometheus.names()
    seen.rules = prometheus.get("rules")["data"]
    queries = {name: grafana_query(one, seen.target, node) for name, one in expressions().items()}

    def all_answered() -> bool:
        """Rates have data from the second scrape of a target on, so queries are repeated."""
        for name, query in queries.items():
            if name not in seen.answers or not seen.answers[name].values:
                seen.answers[name] = prometheus.query(query)
        return all(one.values or one.error for one in seen.answers.values())

    within(all_answered, TIMEOUT / 5)
    for name, variable in variables().items():
        match = re.fullmatch(r"(label_values|query_result)\((.+?)(?:, (\w+))?\)", variable["query"])
        assert match, variable
        query = grafana_query(match[2], seen.target, node)
        if match[1] == "query_result":
            series = prometheus.get("query", query=query)["data"]["result"]
            seen.groups = variable_choices(variable, [one["metric"] for one in series])
        else:
            values = prometheus.labels(match[3], query)
            seen.answers[f"variable {name}"] = QueryResult("", [1.0] * len(values))
    seen.pages = {accept: fetch_page(seen.target, accept) for accept in (OPEN, PLAIN)}
    seen.targets_found = targets()


def empty_panels(drawn: list[list[str]]) -> list[str]:
    return [title for title, text in drawn if text in EMPTY]


def wait_for_panels(seen: Observed, window: browser.Browser, board: str) -> None:
    """Stores the panels when all have data: a page draws them again every few seconds, and on a
    busy machine a query may have none at first."""

    def all_drawn() -> bool:
        seen.drawn[board] = window.evaluate(DRAWN)
        return bool(seen.drawn[board]) and not empty_panels(seen.drawn[board])

    within(all_drawn, TIMEOUT / 5)


def open_printed(seen: Observed) -> None:
    """Opens every address that the command printed, and each board in a browser if there is one."""
    for url in re.findall(r"http://\S+", seen.output):
        with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
            seen.statuses[url] = response.status
    [graphs] = re.findall(r"^graphs: +(\S+)$", seen.output, re.MULTILINE)
    if browser.CHROMIUM is None:
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        browser.browser(Path(folder) / "profile") as window,
    ):
        for board in BOARDS:
            window.open_address(f"{graphs}?board={board}&range=3600")
            wait_for_panels(seen, window, board)
            assert window.evaluate("document.getElementById('fault').hidden")
            assert window.events_of("Runtime.exceptionThrown") == []


def send_changes(path: Path) -> None:
    """Sends a change that is applied, one that is refused, and the documented one for a filter."""
    denying = shlex.split(BLOCKS["denying"])
    assert denying[:2] == ["./vcmts", "control"]
    denied = vcmts("control", "--socket", path, *denying[2:])
    assert denied.status == 0, denied.stderr
    with Client(path, TIMEOUT) as client:
        client.call("key.use", group=2, said=1)
        with pytest.raises(RefusedError):
            client.call("modem.remove", group=1, mac="02:ff:ff:ff:ff:ff")


def metrics_address(run: Run) -> str:
    [found] = re.findall(r"metrics.*http://(\S+?)(?:/metrics)?$", "".join(run.stderr), re.MULTILINE)
    return str(found)


def counters(series: Series) -> Series:
    """Counters of packets. Other counters also change by a scrape."""
    start = ("vcmts_downstream_", "vcmts_upstream_", "vcmts_port_")
    kinds = ("_total ", "_bucket ", "_count ")
    return {
        name: value
        for name, value in series.items()
        if name.startswith(start) and any(kind in name for kind in kinds) and "capacity" not in name
    }


def is_quiet(observed: Observed, prometheus: Prometheus) -> bool:
    """Whether no packet is pending and Prometheus has the current values of all counters."""
    now = normalize_labels(parse_series(fetch_page(observed.target, PLAIN)))
    observed.scraped_series = scraped_series(prometheus)
    held = [value for name, value in now.items() if re.match(r"vcmts_\w+_held(_packets)? ", name)]
    return held != [] and not any(held) and counters(now) == counters(observed.scraped_series)


@pytest.fixture(scope="module")
def observed() -> Iterator[Observed]:
    if len(CPUS) < 2:
        pytest.skip("two programs poll")
    with tempfile.TemporaryDirectory(prefix="m-") as name, ExitStack() as stack:
        folder = Path(name)
        config, summary, control = folder / "s.yaml", folder / "s.json", folder / "c.sock"
        config.write_text(profile_yaml(), encoding="utf-8")
        files = ("--config", config, "--json", summary, "--latency", "--control-socket", control)
        power = ("--policy", "saving", "--power-driver", "simulated")
        served = serve(*files, *power, "--metrics", "127.0.0.1:0", *memifs(folder, "server"))
        run = stack.enter_context(served)
        until(lambda: any("http://" in line for line in run.stderr), "the metrics address")
        observed_ = Observed(metrics_address(run))
        node = stack.enter_context(node_exporter())
        options = ("--interval", "1s", "--rules", str(REFERENCE))
        with monitor([observed_.target, node], *options) as (prometheus, observed_.output):
            with traffic(config):
                send_changes(control)
                until(lambda: prometheus.value(TRAFFIC_SEEN) > 0, "packets in Prometheus")
                run_queries(observed_, prometheus, node)
                open_printed(observed_)
            until(lambda: is_quiet(observed_, prometheus), "a scrape after the last packet")
        done = run.stop()
        assert done.status == 0, done.stderr
        observed_.summary = json.loads(summary.read_text())
        yield observed_


def registry() -> list[Json]:
    metrics: list[Json] = json.loads(vcmtsd("describe").stdout)["metrics"]
    return metrics


# Metrics on request only, and a metric of CPUs with WAITPKG.
ON_REQUEST = ("vcmts_modem_", "vcmts_flow_")
UMWAIT_CONTROL = Path("/sys/devices/system/cpu/umwait_control")
# Metrics of an upstream scheduler. Its MAPs change counters all the time: see the last test.
IDLE = (  # 0 without modems
    "vcmts_upstream_grants_total",
    "vcmts_upstream_granted_bytes",
    "vcmts_upstream_pending",
    "vcmts_upstream_owed_bytes",
    "vcmts_message_delay",
)
SCHEDULED = ("vcmts_upstream_minislots", "vcmts_upstream_maps_total", *IDLE)
NOT_STORED = (*ON_REQUEST, *SCHEDULED, *([] if UMWAIT_CONTROL.exists() else ["vcmts_umwait_info"]))


def test_every_metric_is_stored(observed: Observed) -> None:
    wanted = {
        metric["name"] + ("_bucket" if metric["type"] == "histogram" else "")
        for metric in registry()
        if not metric["name"].startswith(NOT_STORED)
    }
    assert wanted - observed.names == set()
    stored = {name for name in observed.names if name.startswith("vcmts_")}
    names = {re.sub("_(sum|count)$", "_bucket", name) for name in stored}
    assert names == wanted, "Prometheus has other metrics than vcmtsd describes"


def test_every_query_has_data(observed: Observed) -> None:
    assert [one.error for one in observed.answers.values() if one.error] == []
    empty = [name for name, one in observed.answers.items() if not one.values]
    assert empty == []
    only_nan = {name for name, one in observed.answers.items() if not one.numbers}
    assert only_nan == set(), "queries with NaN values only"


def test_dashboard_offers_groups_with_matchers(observed: Observed) -> None:
    assert observed.groups == {
        f"{group} of {observed.target}": f'instance="{observed.target}",service_group="{group}"'
        for group in (1, 2, 3)
    }


def test_rules_are_evaluated(observed: Observed) -> None:
    rules = [rule for group in observed.rules["groups"] for rule in group["rules"]]
    wanted = [
        group["rules"]
        for path in (ALERTS, REFERENCE)
        for group in yaml.safe_load(path.read_text())["groups"]
    ]
    assert len(rules) == sum(map(len, wanted))
    assert {rule["health"] for rule in rules} == {"ok"}


def test_promtool_accepts_metrics(observed: Observed) -> None:
    """promtool checks the text format. Prometheus itself has parsed OpenMetrics."""
    done = subprocess.run(
        ["promtool", "check", "metrics"],
        input=observed.pages[PLAIN],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout + done.stderr == "" and done.returncode == 0


def test_monitor_prints_and_finds_target(observed: Observed) -> None:
    assert f"scraping {observed.target}" in observed.output
    assert observed.target in observed.targets_found, "targets() does not list the running vcmtsd"


def test_every_printed_address_answers(observed: Observed) -> None:
    assert len(observed.statuses) >= 4 and set(observed.statuses.values()) == {200}


@pytest.mark.skipif(browser.CHROMIUM is None, reason="no Chromium: devtools/install-deps browser")
def test_pages_draw_all_panels(observed: Observed) -> None:
    for board in BOARDS:
        panels = json.loads(data(f"deploy/grafana/{board}.json").read_text())["panels"]
        titles = [panel["title"] for panel in panels if panel["type"] != "row"]
        assert [title.strip() for title, _ in observed.drawn[board]] == titles
        assert empty_panels(observed.drawn[board]) == [], board


def test_upstream_scheduler_metrics_are_exported(tmp_path: Path) -> None:
    tree = yaml.safe_load(profile_yaml())
    tree["upstream"] = tree.get("upstream", {}) | {"scheduler": {}}
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(tree), encoding="utf-8")
    with serve("--config", tmp_path / "s.yaml", "--metrics", "127.0.0.1:0", *NULL_PORTS) as run:
        until(lambda: any("http://" in line for line in run.stderr), "the metrics address")
        address = metrics_address(run)

        def exported() -> set[str]:
            return {
                key.split(" ")[0]
                for key, value in normalize_labels(parse_series(fetch_page(address, PLAIN))).items()
                if key.startswith(SCHEDULED) and (value > 0 or key.startswith(IDLE))
            }

        wanted = {metric["name"] for metric in registry() if metric["name"].startswith(SCHEDULED)}
        assert len(wanted) == len(SCHEDULED) + 1
        until(lambda: exported() == wanted, "all of them")
        assert run.stop().status == 0
