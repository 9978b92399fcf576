# SPDX-License-Identifier: BSD-3-Clause
"""Draws the dashboards as PNG files from a run with four service groups.

Instead of a Grafana server, a page in Chromium (devtools/grafana) queries Prometheus as Grafana
does and draws the results with the panels of npm's @grafana/ui. build-dashboards/ has the packages
(400 MB) and the results.
"""

import functools
import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlencode

from vcmts.monitor.targets import serves_metrics

CHECKOUT = Path(__file__).resolve().parents[2]
DASHBOARDS = CHECKOUT / "deploy" / "grafana"
PARTS = CHECKOUT / "devtools" / "grafana"
FOLDER = CHECKOUT / "build-dashboards"
METRICS = "127.0.0.1:19464"
RUN = ("run", "--profile", "6ofdm-0sc-qam_300cms_aes", "--groups", "4", "--latency")
RATES = ("--rate", "600Mbps", "--upstream-rate", "150Mbps")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, ROW, HEAD = 1600, 38, 80  # pixels: width of the page, height of a grid row and of the title
THEMES = ("dark", "light")
SELECTED = {"instance": METRICS, "node": ".*"}
# Values of the variable `group`, as Grafana gets them from its query.
COMPARED = [f'instance="{METRICS}",service_group="{group}"' for group in (1, 2)]


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        pass


def prepare() -> None:
    """Installs npm packages, unless they are installed, and builds the page."""
    if shutil.which("npm") is None:
        raise SystemExit("dashboards: needs npm (Debian's packages nodejs and npm)")
    FOLDER.mkdir(exist_ok=True)
    for part in PARTS.glob("*.*"):
        shutil.copy(part, FOLDER)
    if not (FOLDER / "node_modules").exists():
        print("npm install: 400 MB, a minute or two", file=sys.stderr)
        command = ["npm", "install", "--ignore-scripts", "--legacy-peer-deps", "--silent"]
        subprocess.run(command, cwd=FOLDER, check=True)
    subprocess.run(["node", "build.mjs"], cwd=FOLDER, check=True)
    for path in DASHBOARDS.glob("*.json"):
        shutil.copy(path, FOLDER)


@contextmanager
def child(*words: str) -> Iterator["subprocess.Popen[str]"]:
    """Runs a command of the tool vcmts; terminates it at the end of the block."""
    command = [str(CHECKOUT / "vcmts"), *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait()


def address_of(process: "subprocess.Popen[str]") -> str:
    """The URL of the Prometheus that `vcmts monitor` started, from its output."""
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://[\d.]+:\d+", line):
            return found[0]
    raise SystemExit("dashboards: Prometheus did not start; its message is above")


@contextmanager
def serve() -> Iterator[int]:
    """Serves build-dashboards over HTTP; yields the port."""
    handler = functools.partial(QuietHandler, directory=str(FOLDER))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def height_of(name: str) -> int:
    """The height of a dashboard in pixels."""
    board = json.loads((DASHBOARDS / f"{name}.json").read_text())
    bottom = max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in board["panels"])
    repeated = any("repeat" in panel for panel in board["panels"])
    return int(bottom) * (len(COMPARED) if repeated else 1) * ROW + HEAD


def draw(name: str, theme: str, port: int, prometheus: str, seconds: int) -> str:
    """Writes NAME-THEME.png. Returns the page's result: OK, or its errors, queries without data and
    panels with clipped parts."""
    browser = next(path for path in map(shutil.which, BROWSERS) if path)
    parameters = {"dashboard": f"{name}.json", "prometheus": prometheus, "seconds": str(seconds)}
    parameters |= {f"var-{key}": value for key, value in SELECTED.items()}
    parameters["theme"] = theme
    parameters["repeat"] = "\n".join(COMPARED)
    page = f"http://127.0.0.1:{port}/index.html?{urlencode(parameters)}"
    common = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    common += [f"--window-size={WIDTH},{height_of(name)}", "--virtual-time-budget=30000"]
    common += [f"--user-data-dir={FOLDER / 'browser'}"]
    for more in ([f"--screenshot={FOLDER / name}-{theme}.png"], ["--dump-dom"]):
        ended = subprocess.run(
            [browser, *common, *more, page], check=True, capture_output=True, text=True
        )
    title = re.search(r"<title>(.*?)</title>", ended.stdout, re.DOTALL)
    return title[1] if title else "FAILED: the page did not finish"


def draw_all(seconds: int) -> None:
    prepare()
    with ExitStack() as stack:
        run = stack.enter_context(child(*RUN, *RATES, "--duration", "1h", "--metrics", METRICS))
        while not serves_metrics(METRICS):
            if run.poll() is not None:
                raise SystemExit("dashboards: vcmts run did not start; its message is above")
            time.sleep(0.5)
        monitor = child("monitor", "--target", METRICS, "--interval", "1s")
        prometheus = address_of(stack.enter_context(monitor))
        port = stack.enter_context(serve())
        time.sleep(seconds)
        for path in sorted(DASHBOARDS.glob("*.json")):
            for theme in THEMES:
                result = draw(path.stem, theme, port, prometheus, seconds)
                print(f"{FOLDER.name}/{path.stem}-{theme}.png: {result}")
