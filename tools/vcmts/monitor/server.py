# SPDX-License-Identifier: BSD-3-Clause
"""Runs Prometheus as a child process. Its configuration and data are in a temporary folder."""

import http.client
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from vcmts.child import Stopped, start
from vcmts.paths import MistakeError, data, install_hint

RULES = data("deploy/prometheus/alerts.yaml")
HOST = "127.0.0.1"
USUAL_PORT = 9090
START_SECONDS = 60
SAID_LINES = 5
PAGES = Path(__file__).with_name("page")
BOARDS = ("system", "group", "cores")  # of deploy/grafana, in the order of the page's links
AT = "/user"  # where Prometheus serves its --web.user-assets


def prometheus_path() -> str:
    found = shutil.which("prometheus")
    if found is None:
        raise MistakeError(f"prometheus is not installed: {install_hint('monitor', 'prometheus')}")
    return found


def free_port(requested: int | None) -> int:
    """The port `requested`, which must be free; None: USUAL_PORT, or any free port if it is not."""
    for port in (requested,) if requested is not None else (USUAL_PORT, 0):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            found: int = probe.getsockname()[1]
            return found
    raise MistakeError(f"--port {requested}: in use or not permitted; choose another port")


def configuration(targets: Sequence[str], rules: Sequence[Path], seconds: int) -> str:
    """The configuration of Prometheus, as JSON, which is also YAML."""
    interval = f"{seconds}s"
    tree = {
        "global": {"scrape_interval": interval, "evaluation_interval": interval},
        "rule_files": [str(RULES), *(str(path.absolute()) for path in rules)],
        "scrape_configs": [
            {"job_name": "vcmtsd", "static_configs": [{"targets": list(targets)}]},
        ],
    }
    return json.dumps(tree, indent=1)


def write_pages(folder: Path, seconds: int) -> None:
    """Writes the pages and the dashboards that they draw. `seconds`: between two scrapes."""
    shutil.copytree(PAGES, folder)
    boards = []
    for name in BOARDS:
        text = data(f"deploy/grafana/{name}.json").read_text(encoding="utf-8")
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
        boards.append({"name": name, "title": json.loads(text)["title"].partition(": ")[2]})
    settings = json.dumps({"interval": seconds, "boards": boards, "started": int(time.time())})
    (folder / "settings.json").write_text(settings, encoding="utf-8")


def command(folder: Path, port: int) -> list[str]:
    return [
        prometheus_path(),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={HOST}:{port}",
        f"--web.user-assets={folder / 'page'}",
        "--log.level=warn",
    ]


def start_prometheus(
    folder: Path,
    port: int,
    targets: Sequence[str],
    rules: Sequence[Path],
    seconds: int,
    stderr: IO[bytes],
) -> "subprocess.Popen[bytes]":
    (folder / "prometheus.yml").write_text(configuration(targets, rules, seconds), encoding="utf-8")
    write_pages(folder / "page", seconds)
    return start(command(folder, port), quiet=True, stderr=stderr)


def is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=1)
    try:
        connection.request("GET", "/-/ready")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def wait_until_ready(
    child: "subprocess.Popen[bytes]", port: int, stopped: Stopped, stderr: IO[bytes]
) -> None:
    """Waits until Prometheus is ready, or for a signal. Raises MistakeError on failure."""
    deadline = time.monotonic() + START_SECONDS
    while not stopped.by_signal and not is_ready(port):
        if child.poll() is not None:
            raise MistakeError(f"prometheus ended: {last_messages(stderr)}")
        if time.monotonic() > deadline:
            raise MistakeError(f"prometheus was not ready within {START_SECONDS} s")
        time.sleep(0.05)


def last_messages(stderr: IO[bytes]) -> str:
    stderr.seek(0)
    lines = stderr.read().decode(errors="replace").splitlines()
    return " / ".join(lines[-SAID_LINES:]) or "it printed no message"
