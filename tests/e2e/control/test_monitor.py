# SPDX-License-Identifier: BSD-3-Clause
"""The Prometheus that `./vcmts monitor` starts scrapes a vcmtsd with traffic: every metric comes,
every query of dashboards and alerts has data, and counters are those of the summary.

There is one run for all of it: what it was asked is kept, and judged by the tests.
"""

import json
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.control.controlled import NOWHERE
from e2e.control.prometheus import (
    INSTALLED,
    Answer,
    Prometheus,
    Series,
    keyed,
    monitor,
    node,
    page,
    scraped,
    series_of,
)
from e2e.control.queries import ALERTS, PAGE, REFERENCE, asked_as, choices, expressions, variables
from e2e.grouped import profile
from e2e.ports import Run, memif, serve
from e2e.running import stop, vcmts, vcmtsd
from patience import TIMEOUT, until, within
from vcmts.control.client import Client, RefusedError
from vcmts.monitor.targets import targets
from vcmts.paths import program

pytestmark = [
    pytest.mark.run,
    pytest.mark.skipif(
        not INSTALLED, reason="no Prometheus here: devtools/install-deps monitor installs it"
    ),
]

Json = dict[str, Any]
CPUS = sorted(os.sched_getaffinity(0))
OPENMETRICS = "application/openmetrics-text;version=1.0.0"
PLAIN = "text/plain;version=0.0.4"
# What Prometheus has seen before it is asked: packets of every group both ways, and denied ones.
MOVING = " * ".join(
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


@dataclass(repr=False)
class Watched:
    target: str
    said: str = ""
    names: set[str] = field(default_factory=set)
    answers: dict[str, Answer] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)
    rules: Json = field(default_factory=dict)
    scraped: Series = field(default_factory=dict)
    summary: Json = field(default_factory=dict)


@contextmanager
def traffic(config: Path) -> Iterator[None]:
    """Both ways, and something wrong with the upstream, until the block ends."""
    command = [
        str(program("vcmts-traffic")),
        "--config",
        str(config),
        *memif(config.parent, "client"),
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
            stop(process)


def look(watched: Watched, prometheus: Prometheus, other: str) -> None:
    """All that is asked while packets are on their way."""
    watched.names = prometheus.names()
    watched.rules = prometheus.get("rules")["data"]
    asked = {name: asked_as(one, watched.target, other) for name, one in expressions().items()}

    def all_answered() -> bool:
        """A rate has data from a target's second scrape on, and each is scraped in its own turn."""
        for name, query in asked.items():
            if name not in watched.answers or not watched.answers[name].values:
                watched.answers[name] = prometheus.ask(query)
        return all(one.values or one.error for one in watched.answers.values())

    within(all_answered, TIMEOUT / 5)
    for name, variable in variables().items():
        match = re.fullmatch(r"(label_values|query_result)\((.+?)(?:, (\w+))?\)", variable["query"])
        assert match, variable
        query = asked_as(match[2], watched.target, other)
        if match[1] == "query_result":
            found = prometheus.get("query", query=query)["data"]["result"]
            watched.groups = choices(variable, [one["metric"] for one in found])
        else:
            values = prometheus.labels(match[3], query)
            watched.answers[f"variable {name}"] = Answer("", [1.0] * len(values))
    watched.pages = {accept: page(watched.target, accept) for accept in (OPENMETRICS, PLAIN)}
    watched.found = targets()


def change(path: Path) -> None:
    """Something is changed, something refused; a filter denies, as the page has it."""
    denying = shlex.split(BLOCKS["denying"])
    assert denying[:2] == ["./vcmts", "control"]
    denied = vcmts("control", "--socket", path, *denying[2:])
    assert denied.status == 0, denied.stderr
    with Client(path, TIMEOUT) as client:
        client.call("key.use", group=2, said=1)
        with pytest.raises(RefusedError):
            client.call("modem.remove", group=1, modem={"mac": "02:ff:ff:ff:ff:ff"})


def metrics_address(run: Run) -> str:
    [found] = re.findall(r"metrics.*http://(\S+?)(?:/metrics)?$", "".join(run.stderr), re.MULTILINE)
    return str(found)


def counters(series: Series) -> Series:
    """Those of packets: what a scrape itself does counts, too."""
    told = ("vcmts_downstream_", "vcmts_upstream_", "vcmts_port_")
    kinds = ("_total ", "_bucket ", "_count ")
    return {
        name: value
        for name, value in series.items()
        if name.startswith(told) and any(kind in name for kind in kinds) and "capacity" not in name
    }


def is_quiet(watched: Watched, prometheus: Prometheus) -> bool:
    """Nothing is on its way any more, and Prometheus has the counters as they are now."""
    now = keyed(series_of(page(watched.target, PLAIN)))
    watched.scraped = scraped(prometheus)
    held = [value for name, value in now.items() if re.match(r"vcmts_\w+_held(_packets)? ", name)]
    return held != [] and not any(held) and counters(now) == counters(watched.scraped)


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    if len(CPUS) < 2:
        pytest.skip("two programs poll")
    with tempfile.TemporaryDirectory(prefix="m-") as name, ExitStack() as stack:
        folder = Path(name)
        config, summary, control = folder / "s.yaml", folder / "s.json", folder / "c.sock"
        config.write_text(profile(), encoding="utf-8")
        words = ("--config", config, "--json", summary, "--latency", "--control-socket", control)
        governed = ("--policy", "saving", "--power-driver", "simulated")
        served = serve(*words, *governed, "--metrics", "127.0.0.1:0", *memif(folder, "server"))
        run = stack.enter_context(served)
        until(lambda: any("http://" in line for line in run.stderr), "its address")
        whole = Watched(metrics_address(run))
        other = stack.enter_context(node())
        asked = ("--interval", "1s", "--rules", str(REFERENCE))
        with monitor([whole.target, other], *asked) as (prometheus, whole.said):
            with traffic(config):
                change(control)
                until(lambda: prometheus.value(MOVING) > 0, "packets in Prometheus")
                look(whole, prometheus, other)
            until(lambda: is_quiet(whole, prometheus), "the last scrape, of all packets")
        done = run.stop()
        assert done.status == 0, done.stderr
        whole.summary = json.loads(summary.read_text())
        yield whole


def registry() -> list[Json]:
    found: list[Json] = json.loads(vcmtsd("describe").stdout)["metrics"]
    return found


# Those that are told on request, and those of kernels on CPUs that have WAITPKG.
ON_REQUEST = ("vcmts_modem_", "vcmts_flow_")
LIMIT = Path("/sys/devices/system/cpu/umwait_control")
# Those of an upstream scheduler, whose MAPs would never let the counters be still: the last test.
IDLE = (  # without modems
    "vcmts_upstream_grants_total",
    "vcmts_upstream_granted_bytes",
    "vcmts_upstream_pending",
    "vcmts_upstream_owed_bytes",
    "vcmts_message_delay",
)
SCHEDULED = ("vcmts_upstream_minislots", "vcmts_upstream_maps_total", *IDLE)
NOT_HERE = (*ON_REQUEST, *SCHEDULED, *([] if LIMIT.exists() else ["vcmts_umwait_info"]))


def test_every_metric_arrives(watched: Watched) -> None:
    wanted = {
        metric["name"] + ("_bucket" if metric["type"] == "histogram" else "")
        for metric in registry()
        if not metric["name"].startswith(NOT_HERE)
    }
    assert wanted - watched.names == set()
    ours = {name for name in watched.names if name.startswith("vcmts_")}
    told = {re.sub("_(sum|count)$", "_bucket", name) for name in ours}
    assert told == wanted, "and nothing else"


def test_every_query_has_data(watched: Watched) -> None:
    assert [one.error for one in watched.answers.values() if one.error] == []
    empty = [name for name, one in watched.answers.items() if not one.values]
    assert empty == []
    dumb = {name for name, one in watched.answers.items() if not one.numbers}
    assert dumb == set(), "only NaN: nothing is counted there"


def test_groups_to_compare_are_offered_with_their_matchers(watched: Watched) -> None:
    assert watched.groups == {
        f"{group} of {watched.target}": f'instance="{watched.target}",service_group="{group}"'
        for group in (1, 2, 3)
    }


def test_rules_are_evaluated(watched: Watched) -> None:
    rules = [rule for group in watched.rules["groups"] for rule in group["rules"]]
    wanted = [
        group["rules"]
        for path in (ALERTS, REFERENCE)
        for group in yaml.safe_load(path.read_text())["groups"]
    ]
    assert len(rules) == sum(map(len, wanted))
    assert {rule["health"] for rule in rules} == {"ok"}


def test_promtool_is_content(watched: Watched) -> None:
    """It reads the older format alone; the other one has gone through Prometheus itself."""
    done = subprocess.run(
        ["promtool", "check", "metrics"],
        input=watched.pages[PLAIN],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout + done.stderr == "" and done.returncode == 0


def test_monitor_says_where_to_look(watched: Watched) -> None:
    assert f"watching {watched.target}" in watched.said
    assert watched.target in watched.found, "it finds by itself what runs here"


def test_an_upstream_scheduler_has_metrics_of_its_own(tmp_path: Path) -> None:
    tree = yaml.safe_load(profile())
    tree["upstream"] = tree.get("upstream", {}) | {"scheduler": {}}
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(tree), encoding="utf-8")
    with serve("--config", tmp_path / "s.yaml", "--metrics", "127.0.0.1:0", *NOWHERE) as run:
        until(lambda: any("http://" in line for line in run.stderr), "its address")
        address = metrics_address(run)

        def told() -> set[str]:
            return {
                key.split(" ")[0]
                for key, value in keyed(series_of(page(address, PLAIN))).items()
                if key.startswith(SCHEDULED) and (value > 0 or key.startswith(IDLE))
            }

        wanted = {metric["name"] for metric in registry() if metric["name"].startswith(SCHEDULED)}
        assert len(wanted) == len(SCHEDULED) + 1
        until(lambda: told() == wanted, "all of them")
        assert run.stop().status == 0
