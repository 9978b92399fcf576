# SPDX-License-Identifier: BSD-3-Clause
"""A real Prometheus, as `./vcmts monitor` starts it, and what is asked of it."""

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

from e2e.running import environment, stop
from patience import TIMEOUT

INSTALLED = shutil.which("prometheus") is not None and shutil.which("promtool") is not None
# What the node exporter of a machine with RAPL tells: few machines of tests have one.
NODE = """# TYPE node_uname_info gauge
node_uname_info{machine="x86_64"} 1
# TYPE node_cpu_scaling_frequency_hertz gauge
node_cpu_scaling_frequency_hertz{cpu="0"} 2e9
# TYPE node_rapl_package_joules_total counter
node_rapl_package_joules_total{index="0"} %d
"""

Json = dict[str, Any]
Series = dict[str, float]  # by name and labels


@dataclass
class Answer:
    """Of a query: its error or the values of its series."""

    error: str
    values: list[float]

    @property
    def numbers(self) -> list[float]:
        return [value for value in self.values if value == value]


@dataclass
class Prometheus:
    base: str

    def get(self, path: str, **words: str) -> Json:
        url = f"{self.base}/api/v1/{path}?{urllib.parse.urlencode(words)}"
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
                found: Json = json.load(answer)
        except urllib.error.HTTPError as error:
            found = json.load(error)
        return found

    def ask(self, expression: str) -> Answer:
        found = self.get("query", query=expression)
        if found["status"] != "success":
            return Answer(f"{found['error']}: {expression}", [])
        return Answer("", [float(one["value"][1]) for one in found["data"]["result"]])

    def value(self, expression: str) -> float:
        """Of the one series there is; NaN without."""
        [value] = self.ask(expression).values or [float("nan")]
        return value

    def labels(self, label: str, match: str) -> set[str]:
        return set(self.get(f"label/{label}/values", **{"match[]": match})["data"])

    def names(self) -> set[str]:
        return set(self.get("label/__name__/values")["data"])


def page(target: str, accept: str, path: str = "/metrics") -> str:
    asked = urllib.request.Request(f"http://{target}{path}", headers={"Accept": accept})
    with urllib.request.urlopen(asked, timeout=TIMEOUT) as answer:
        text: str = answer.read().decode()
    return text


def series_of(text: str) -> Series:
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


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


@contextmanager
def monitor(targets: Sequence[str], *words: str) -> Iterator[tuple[Prometheus, str]]:
    """Until the block ends, by Ctrl-C; and what the command said."""
    command = [sys.executable, "-m", "vcmts", "monitor", *words]
    command += [word for one in targets for word in ("--target", one)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, env=environment(), start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None and process.stderr is not None
            said = ""
            for line in process.stdout:
                said += line
                if "Ctrl-C" in line:
                    break
            found = re.search(r"^alerts: +(http://\S+)/alerts$", said, re.MULTILINE)
            assert found, said + process.stderr.read()
            yield Prometheus(found[1]), said
            process.send_signal(2)
            _, wrong = process.communicate(timeout=TIMEOUT)
            assert (process.returncode, wrong) == (0, "")
        finally:
            stop(process)


class Node(http.server.BaseHTTPRequestHandler):
    joules = 0

    def do_GET(self) -> None:
        Node.joules += 50
        text = (NODE % Node.joules).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *words: object) -> None:
        pass


@contextmanager
def node() -> Iterator[str]:
    """Stands for a node exporter; where it is."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Node) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join(TIMEOUT)
