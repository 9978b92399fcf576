# SPDX-License-Identifier: BSD-3-Clause
"""Runs a Prometheus by `./vcmts monitor`, and queries it. Also a simulated node exporter."""

import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from e2e.running import environment, stop_process
from patience import TIMEOUT

HAS_PROMETHEUS = shutil.which("prometheus") is not None and shutil.which("promtool") is not None
# Metrics of a node exporter on a machine with RAPL, which most test machines lack.
NODE_METRICS = """# TYPE node_uname_info gauge
node_uname_info{machine="x86_64"} 1
# TYPE node_cpu_scaling_frequency_hertz gauge
node_cpu_scaling_frequency_hertz{cpu="0"} 2e9
# TYPE node_rapl_package_joules_total counter
node_rapl_package_joules_total{index="0"} %d
"""

Json = dict[str, Any]
Series = dict[str, float]  # by name and labels


@dataclass
class QueryResult:
    """Result of a query: its error, or the values of its series."""

    error: str
    values: list[float]

    @property
    def numbers(self) -> list[float]:
        return [value for value in self.values if value == value]


@dataclass
class Prometheus:
    base: str

    def get(self, path: str, **parameters: str) -> Json:
        url = f"{self.base}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT) as reply:
                response: Json = json.load(reply)
        except urllib.error.HTTPError as error:
            response = json.load(error)
        return response

    def query(self, expression: str) -> QueryResult:
        response = self.get("query", query=expression)
        if response["status"] != "success":
            return QueryResult(f"{response['error']}: {expression}", [])
        return QueryResult("", [float(series["value"][1]) for series in response["data"]["result"]])

    def value(self, expression: str) -> float:
        """Value of the only series of the result. NaN without one."""
        [value] = self.query(expression).values or [float("nan")]
        return value

    def labels(self, label: str, match: str) -> set[str]:
        return set(self.get(f"label/{label}/values", **{"match[]": match})["data"])

    def names(self) -> set[str]:
        return set(self.get("label/__name__/values")["data"])


def fetch_page(target: str, accept: str, path: str = "/metrics") -> str:
    request = urllib.request.Request(f"http://{target}{path}", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        text: str = response.read().decode()
    return text


def parse_series(text: str) -> Series:
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


def scraped_series(prometheus: Prometheus) -> Series:
    """Current values of vcmtsd's metrics in Prometheus, by series_key()."""
    values = {}
    for series in prometheus.get("query", query='{job="vcmtsd",__name__=~"vcmts_.*"}')["data"][
        "result"
    ]:
        labels = {k: v for k, v in series["metric"].items() if k not in ("instance", "job")}
        values[series_key(labels.pop("__name__"), labels)] = float(series["value"][1])
    return values


def series_key(name: str, labels: dict[str, str]) -> str:
    """Name and labels of a series, independent of the order of labels."""
    return f"{name} {sorted(labels.items())}"


def normalize_labels(series: Series) -> Series:
    values = {}
    for name, value in series.items():
        metric, _, labels = name.partition("{")
        values[series_key(metric, dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)))] = value
    return values


@contextmanager
def monitor(targets: Sequence[str], *options: str) -> Iterator[tuple[Prometheus, str]]:
    """Runs `vcmts monitor` until the end of the block. Yields Prometheus and the output."""
    command = [sys.executable, "-m", "vcmts", "monitor", *options]
    command += [word for target in targets for word in ("--target", target)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, env=environment(), start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None and process.stderr is not None
            output = ""
            for line in process.stdout:
                output += line
                if "Ctrl-C" in line:
                    break
            match = re.search(r"^alerts: +(http://[^/]+)/\S+$", output, re.MULTILINE)
            assert match, output + process.stderr.read()
            yield Prometheus(match[1]), output
            process.send_signal(2)
            _, errors = process.communicate(timeout=TIMEOUT)
            assert (process.returncode, errors) == (0, "")
        finally:
            stop_process(process)


class NodeExporter(http.server.BaseHTTPRequestHandler):
    joules = 0

    def do_GET(self) -> None:
        NodeExporter.joules += 50
        text = (NODE_METRICS % NodeExporter.joules).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *words: object) -> None:
        pass


@contextmanager
def node_exporter() -> Iterator[str]:
    """Runs a simulated node exporter. Yields its address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), NodeExporter) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join(TIMEOUT)
