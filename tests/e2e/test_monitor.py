# SPDX-License-Identifier: BSD-3-Clause
"""The Prometheus that `./vcmts monitor` starts scrapes a vcmtsd with traffic: every metric comes,
every query of dashboards and alerts has data, and counters are those of the summary.

There is one run for all of it: what it was asked is kept, and judged by the tests.
"""

import json
import os
import re
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

from e2e.grouped import profile
from e2e.ports import Run, serve
from e2e.prometheus import INSTALLED, Answer, Prometheus, monitor, node
from e2e.running import stop, vcmtsd
from patience import TIMEOUT, until
from vcmts.control.client import Client, RefusedError
from vcmts.monitor import server
from vcmts.monitor.targets import targets
from vcmts.paths import CHECKOUT, program

pytestmark = [
    pytest.mark.run,
    pytest.mark.skipif(
        not INSTALLED, reason="no Prometheus here: devtools/install-deps monitor installs it"
    ),
]

Json = dict[str, Any]
Series = dict[str, float]  # by name with labels, as the page of metrics has it
CPUS = sorted(os.sched_getaffinity(0))
BOARDS = {path.stem: path for path in (CHECKOUT / "deploy" / "grafana").glob("*.json")}
ALERTS = CHECKOUT / "deploy" / "prometheus" / "alerts.yaml"
OPENMETRICS = "application/openmetrics-text;version=1.0.0"
PLAIN = "text/plain;version=0.0.4"
WINDOW = "4s"
LOOKS = 6  # of Prometheus, a second each: all windows are full
IMPAIRED = "psp-loss=1%,psp-reorder=1%,header-error=1%,clear=1%,foreign-source=1%"
DENY_ALL = {"id": 1, "rules": [{"family": "ipv4", "action": "deny"}]}
# Of limits of alerts: without them an expression has its series whether it complains or not.
LIMIT = re.compile(r"\s(?:>|<|==)\s[\d.]+(?=\s|$|\))")


@dataclass
class Watched:
    target: str
    said: str = ""
    names: set[str] = field(default_factory=set)
    answers: dict[str, Answer] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)
    rules: Json = field(default_factory=dict)
    last: Series = field(default_factory=dict)
    scraped: Series = field(default_factory=dict)
    summary: Json = field(default_factory=dict)


def page(target: str, accept: str, path: str = "/metrics") -> str:
    asked = urllib.request.Request(f"http://{target}{path}", headers={"Accept": accept})
    with urllib.request.urlopen(asked, timeout=TIMEOUT) as answer:
        text: str = answer.read().decode()
    return text


def series_of(text: str) -> Series:
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


def wires(folder: Path, role: str) -> list[str]:
    made = []
    for number, option in enumerate(("--network", "--rphy")):
        device = f"net_memif{number},role={role},id={number},rsize=12,socket-abstract=no"
        made += [option, f"{device},socket={folder}/{number}.sock"]
    return made


@contextmanager
def traffic(config: Path) -> Iterator[None]:
    """Both ways, and something wrong with the upstream, until the block ends."""
    command = [
        str(program("vcmts-traffic")),
        "--config",
        str(config),
        *wires(config.parent, "client"),
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


def expressions() -> dict[str, str]:
    """Of every dashboard, alert, and the first page; as they stand there."""
    found = {}
    for name, path in BOARDS.items():
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel.get("targets", []):
                found[f"{name}: {panel['title']}: {target['refId']}"] = target["expr"]
    for group in yaml.safe_load(ALERTS.read_text())["groups"]:
        for number, rule in enumerate(group["rules"]):
            for part, one in enumerate(re.split(r"\sor\s", rule["expr"])):
                found[f"alert {rule['alert']} {number}.{part}"] = one
    for number, graph in enumerate(server.GRAPHS):
        found[f"first page: {number}"] = graph.format(window=WINDOW)
    return found


def asked_as(expression: str, target: str, other: str) -> str:
    """As Grafana asks it with these choices; without limits, and with windows of this run."""
    chosen = {"instance": target, "first_instance": target, "second_instance": target}
    chosen |= {"service_group": "1", "first": "1", "second": "2", "node": other}
    expression = expression.replace("$__rate_interval", WINDOW)
    for name in sorted(chosen, key=len, reverse=True):
        expression = expression.replace(f"${name}", chosen[name])
    expression = re.sub(r"\[5m\]", f"[{WINDOW}]", expression)
    expression = expression.replace("[10m:30s]", "[4s:1s]")
    return LIMIT.sub("", expression)


def variables() -> dict[str, str]:
    """What the choices above the dashboards are made of."""
    found = {}
    for path in BOARDS.values():
        for one in json.loads(path.read_text())["templating"]["list"]:
            if one["type"] == "query":
                found[f"{path.stem}: {one['name']}"] = one["query"]
    return found


def look(watched: Watched, prometheus: Prometheus, other: str) -> None:
    """All that is asked while packets are on their way."""
    watched.names = prometheus.names()
    watched.rules = prometheus.get("rules")["data"]
    for name, expression in expressions().items():
        watched.answers[name] = prometheus.ask(asked_as(expression, watched.target, other))
    for name, query in variables().items():
        match = re.fullmatch(r"label_values\((.+), (\w+)\)", query)
        assert match, query
        values = prometheus.labels(match[2], asked_as(match[1], watched.target, other))
        watched.answers[f"variable {name}"] = Answer("", [1.0] * len(values))
    watched.pages = {accept: page(watched.target, accept) for accept in (OPENMETRICS, PLAIN)}
    watched.found = targets()


def change(path: Path) -> None:
    """Something is changed, something refused; a filter denies."""
    with Client(path, TIMEOUT) as client:
        client.call("filter_group.set", group=1, filter_group=DENY_ALL)
        client.call("key.use", group=2, said=1)
        with pytest.raises(RefusedError):
            client.call("modem.remove", group=1, modem={"mac": "02:ff:ff:ff:ff:ff"})


def metrics_address(run: Run) -> str:
    [found] = re.findall(r"metrics.*http://(\S+?)(?:/metrics)?$", "".join(run.stderr), re.MULTILINE)
    return str(found)


def scraped(prometheus: Prometheus) -> Series:
    """What Prometheus has of the server now, named as in the page."""
    found = {}
    for one in prometheus.get("query", query='{job="vcmtsd",__name__=~"vcmts_.*"}')["data"][
        "result"
    ]:
        labels = {k: v for k, v in one["metric"].items() if k not in ("instance", "job")}
        found[key_of(labels.pop("__name__"), labels)] = float(one["value"][1])
    return found


def key_of(name: str, labels: dict[str, str]) -> str:
    """Whatever the order of labels was."""
    return f"{name} {sorted(labels.items())}"


def keyed(series: Series) -> Series:
    made = {}
    for name, value in series.items():
        plain, _, rest = name.partition("{")
        made[key_of(plain, dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', rest)))] = value
    return made


def counters(series: Series) -> Series:
    """Those of packets: what a scrape itself does counts, too."""
    told = ("vcmts_downstream_", "vcmts_upstream_", "vcmts_port_")
    kinds = ("_total ", "_bucket ", "_count ")
    return {
        name: value
        for name, value in series.items()
        if name.startswith(told) and any(kind in name for kind in kinds) and "capacity" not in name
    }


def is_quiet(watched: Watched) -> bool:
    """Nothing moves any more."""
    before, watched.last = watched.last, counters(keyed(series_of(page(watched.target, PLAIN))))
    return before == watched.last


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    if len(CPUS) < 2:
        pytest.skip("two programs poll")
    with tempfile.TemporaryDirectory(prefix="m-") as name, ExitStack() as stack:
        folder = Path(name)
        config, summary, control = folder / "s.yaml", folder / "s.json", folder / "c.sock"
        config.write_text(profile(), encoding="utf-8")
        words = ("--config", config, "--json", summary, "--latency", "--control-socket", control)
        served = serve(*words, "--metrics", "127.0.0.1:0", *wires(folder, "server"))
        run = stack.enter_context(served)
        until(lambda: any("http://" in line for line in run.stderr), "its address")
        whole = Watched(metrics_address(run))
        other = stack.enter_context(node())
        with monitor([whole.target, other], "--interval", "1s") as (prometheus, whole.said):
            with traffic(config):
                change(control)
                enough = f'count_over_time(up{{instance="{whole.target}"}}[1h])'
                until(lambda: prometheus.value(enough) >= LOOKS, "looks of Prometheus")
                change_again = prometheus.value("sum(vcmts_downstream_transmitted_packets_total)")
                assert change_again > 0
                look(whole, prometheus, other)
            until(lambda: is_quiet(whole), "the end of all packets")
            until(lambda: counters(scraped(prometheus)) == whole.last, "the last scrape")
            whole.scraped = scraped(prometheus)
        done = run.stop()
        assert done.status == 0, done.stderr
        whole.summary = json.loads(summary.read_text())
        yield whole


def registry() -> list[Json]:
    found: list[Json] = json.loads(vcmtsd("describe").stdout)["metrics"]
    return found


# Those that are told on request, and those of states that this run does not make.
ON_REQUEST = ("vcmts_modem_", "vcmts_flow_")


def test_every_metric_arrives(watched: Watched) -> None:
    wanted = {
        metric["name"] + ("_bucket" if metric["type"] == "histogram" else "")
        for metric in registry()
        if not metric["name"].startswith(ON_REQUEST)
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


def test_rules_are_evaluated(watched: Watched) -> None:
    rules = [rule for group in watched.rules["groups"] for rule in group["rules"]]
    assert len(rules) == len([rule for rule in expressions_of_alerts()])
    assert [rule["lastError"] for rule in rules if rule["health"] == "err"] == []


def expressions_of_alerts() -> list[Json]:
    groups: list[Json] = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


@pytest.mark.parametrize("accept", [OPENMETRICS, PLAIN])
def test_promtool_is_content(accept: str, watched: Watched) -> None:
    done = subprocess.run(
        ["promtool", "check", "metrics"],
        input=watched.pages[accept],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_monitor_says_where_to_look(watched: Watched) -> None:
    assert f"watching {watched.target}" in watched.said
    assert watched.target in watched.found, "it finds by itself what runs here"


def test_counters_are_those_of_the_summary(watched: Watched) -> None:
    """Prometheus has what the page told last, and that is what vcmtsd tells at its end."""
    groups = watched.summary["groups"]
    assert len(groups) == 3
    for group in groups:
        for way in ("downstream", "upstream"):
            told = group[way]["counters"]
            for name, value in told.items():
                ours = metric_of(way, name)
                key = key_of(ours, {"service_group": str(group["id"])})
                assert watched.scraped[key] == value, key
            check_drops(watched, group, way)


def check_drops(watched: Watched, group: Json, way: str) -> None:
    """All but those of its end."""
    name = (
        f"vcmts_{way}_dropped_packets_total"
        if way == "downstream"
        else f"vcmts_{way}_dropped_total"
    )
    found = {}
    for key, value in watched.scraped.items():
        if key.startswith(f"{name} ") and f"('service_group', '{group['id']}')" in key:
            [reason] = re.findall(r"\('reason', '(\w+)'\)", key)
            found[reason] = value
    told = {reason: value for reason, value in group[way]["drops"].items()}
    ends = {reason for reason in told if reason.endswith("stopped")}
    assert {r: v for r, v in found.items() if r not in ends} == {
        r: v for r, v in told.items() if r not in ends
    }
    assert sum(found.values()) > 0


def metric_of(way: str, counter: str) -> str:
    """The one whose name begins so: a unit may stand behind."""
    names = [
        metric["name"]
        for metric in registry_names()
        if re.fullmatch(rf"vcmts_{way}_{counter}(_[a-z]+)?_total", metric["name"])
    ]
    exact = [name for name in names if name == f"vcmts_{way}_{counter}_total"]
    [found] = exact or names
    return str(found)


REGISTRY: list[Json] = []


def registry_names() -> list[Json]:
    if not REGISTRY:
        REGISTRY.extend(registry())
    return REGISTRY
