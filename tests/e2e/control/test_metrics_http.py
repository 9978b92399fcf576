# SPDX-License-Identifier: BSD-3-Clause
"""The HTTP endpoint for metrics: content, formats, paths, and agreement with other interfaces."""

import http.client
import json
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from boards.queries import FINEST_S
from e2e.control.server import NULL_PORTS, config_folder, config_text, start_server
from e2e.ports import Run, pcap_ports, serve
from e2e.running import vcmtsd
from patience import TIMEOUT, until
from vcmts.control.client import Client
from vcmts.telemetry.delay import FINEST_US
from vcmts.witness.pcapfile import Record, write_pcap

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
ADDRESS_MESSAGE = re.compile(r"vcmtsd: metrics http://(.+):(\d+)/metrics")
LINE = re.compile(r"([a-z][a-z0-9_]*)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
PACKETS = 100


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def samples(self) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        lines = [line for line in self.text.splitlines() if not line.startswith("#")]
        parts = [part for line in lines if (part := LINE.fullmatch(line))]
        assert len(parts) == len(lines)
        samples = {(p[1], frozenset(LABEL.findall(p[2] or ""))): float(p[3]) for p in parts}
        assert len(samples) == len(lines), "a series occurs twice"
        return samples

    @property
    def names(self) -> set[str]:
        return {line.split()[2] for line in self.text.splitlines() if line.startswith("# TYPE")}


@dataclass(frozen=True)
class Endpoint:
    run: Run
    control: Path
    port: int

    def get(self, path: str = "/metrics", accept: str = "*/*", method: str = "GET") -> Response:
        """Sends a request, and repeats it while the endpoint is busy (503)."""
        responses: list[Response] = []

        def is_answered() -> bool:
            responses.append(self.get_once(path, accept, method))
            return responses[-1].status != 503

        until(is_answered, path)
        return responses[-1]

    def get_once(self, path: str, accept: str, method: str) -> Response:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        try:
            connection.request(method, path, headers={"Accept": accept})
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Response(response.status, headers, response.read().decode())
        finally:
            connection.close()


def metrics_port(run: Run) -> int:
    """The port number of the endpoint, which vcmtsd prints."""
    matches = [match for line in run.stderr if (match := ADDRESS_MESSAGE.match(line))]
    assert len(matches) == 1
    return int(matches[0][2])


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with (
        config_folder() as folder,
        start_server(folder, "--metrics", "127.0.0.1:0", "--latency") as (
            run,
            control,
        ),
    ):
        yield Endpoint(run, control, metrics_port(run))
        assert run.stop().status == 0


def test_taken_port_is_retried() -> None:
    """The data plane serves without metrics while another process has the port."""
    with (
        config_folder() as folder,
        socket.create_server(("127.0.0.1", 0)) as other,
    ):
        port = other.getsockname()[1]
        url = f"http://127.0.0.1:{port}/metrics"
        with start_server(folder, "--metrics", f"127.0.0.1:{port}") as (run, control):
            with Client(control, TIMEOUT) as client:
                info = client.call("server.info")
                assert (info["metrics"], info["metrics_fault"]) == (url, "Address already in use")
                other.close()
                until(lambda: "metrics_fault" not in client.call("server.info"), "metrics")
                assert client.call("server.info")["metrics"] == url
            assert Endpoint(run, control, port).get("/ready").status == 200
            warning = f"vcmtsd: --metrics 127.0.0.1:{port}: Address already in use: serving"
            assert sum(line.startswith(warning) for line in run.stderr) == 1, run.stderr
            assert metrics_port(run) == port
            assert run.stop().status == 0


def test_malformed_address_is_rejected() -> None:
    with config_folder() as folder:
        options = ("--config", folder / "sg.yaml", *NULL_PORTS, "--metrics", "localhost:9464")
        done = vcmtsd("run", *options, "--control-socket", "none")
        assert done.status == 2
        assert 'found "localhost:9464", allowed: ADDRESS:PORT' in done.stderr


def registry() -> list[dict[str, Any]]:
    metrics: list[dict[str, Any]] = json.loads(vcmtsd("describe").stdout)["metrics"]
    return metrics


def test_all_registered_metrics_are_listed(endpoint: Endpoint) -> None:
    """Also metrics without a sample, such as those of shared ports."""
    names = [m["name"] for m in registry() if m.get("wanted", "always") == "always"]
    plain = endpoint.get()
    assert plain.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert set(names) == plain.names
    all_ = endpoint.get("/metrics?modems=all&flows=all&service_group=1")
    assert {m["name"] for m in registry() if m["name"].startswith("vcmts_flow")} <= all_.names


def test_openmetrics_and_text_formats_agree(endpoint: Endpoint) -> None:
    plain, openmetrics = endpoint.get(), endpoint.get(accept=f"{OPENMETRICS},text/plain;q=0.5")
    assert openmetrics.headers["content-type"].startswith(
        "application/openmetrics-text; version=1.0.0"
    )
    assert openmetrics.text.endswith("\n# EOF\n") and "# EOF" not in plain.text
    assert plain.samples.keys() == openmetrics.samples.keys()
    assert {name.removesuffix("_total") for name in plain.names} == openmetrics.names
    units = [line.split() for line in openmetrics.text.splitlines() if line.startswith("# UNIT")]
    assert units and all(name.endswith(f"_{unit}") for _, _, name, unit in units)


def test_first_bounds_are_those_of_dashboards_and_tables(endpoint: Endpoint) -> None:
    """What is shown as <256 ns is below the first bound of each histogram."""
    first: dict[str, float] = {}
    for name, labels in endpoint.get().samples:
        bound = float(dict(labels).get("le", "inf"))
        if name.endswith("_bucket"):
            first[name] = min(first.get(name, bound), bound)
    assert first.keys() == {
        "vcmts_scheduler_delay_seconds_bucket",
        "vcmts_pipeline_latency_seconds_bucket",
    }
    assert set(first.values()) == {FINEST_S}
    assert pytest.approx(FINEST_S * 1e6) == FINEST_US


def test_paths_and_methods_have_documented_status(endpoint: Endpoint) -> None:
    assert endpoint.get("/healthz").status == 200
    assert endpoint.get("/readyz").status == 200
    assert (endpoint.get("/ready").text, endpoint.get("/live").text) == ("ready\n", "live\n")
    assert endpoint.get("/").status == 404
    assert endpoint.get("/metrics/../metrics").status == 404
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        refused = endpoint.get(method=method)
        assert refused.status == 405 and refused.headers["allow"] == "GET, HEAD"
    head = endpoint.get(method="HEAD")
    assert head.status == 200 and head.text == "" and int(head.headers["content-length"]) > 9999


def test_metrics_agree_with_control_socket(endpoint: Endpoint) -> None:
    """metrics.get and the endpoint return the same values of metrics that do not change."""
    with Client(endpoint.control, TIMEOUT) as client:
        answer = client.call(
            "metrics.get", names=["vcmts_scheduler", "vcmts_service_group", "vcmts_up"]
        )
    by_socket = {
        (s["name"], frozenset(s["labels"].items())): float(s["value"]) for s in answer["samples"]
    }
    page = endpoint.get("/metrics?names=vcmts_scheduler,vcmts_service_group,vcmts_up").samples
    uptime = ("vcmts_uptime_seconds", frozenset[tuple[str, str]]())
    assert by_socket.pop(uptime) <= page.pop(uptime)
    assert by_socket == page


@pytest.mark.run
def test_metrics_agree_with_summary(tmp_path: Path) -> None:
    """All packets are processed: each downstream counter equals that of the summary."""
    config, capture, summary = (tmp_path / name for name in ("sg.yaml", "in.pcap", "s.json"))
    config.write_text(config_text())
    frame = bytes.fromhex("0200000000010200000000020800") + ip_packet()
    write_pcap(capture, [Record(n, frame, len(frame)) for n in range(PACKETS)])
    ports = pcap_ports(capture, tmp_path / "out.pcap")
    with serve("--config", config, "--json", summary, "--metrics", "[::1]:0", *ports) as run:
        run.wait_processed(PACKETS)
        matches = [match for line in run.stderr if (match := ADDRESS_MESSAGE.match(line))]
        connection = http.client.HTTPConnection("::1", int(matches[0][2]), timeout=TIMEOUT)
        connection.request("GET", "/metrics")
        response = Response(200, {}, connection.getresponse().read().decode())
        connection.close()
        assert run.stop().status == 0
    group = json.loads(summary.read_text())["downstream"]
    label = frozenset({("service_group", "1")})
    assert group["received"] == PACKETS
    units = {m["name"]: m["unit"] for m in registry()}
    for name, value in group["counters"].items():
        stems = {name, *(f"{name}_{unit}" for unit in set(units.values()))}
        stems -= group["counters"].keys() - {name}  # received_bytes is a counter of its own
        names = [full for stem in stems if (full := f"vcmts_downstream_{stem}_total") in units]
        assert len(names) == 1, name
        assert response.samples[names[0], label] == value, name
    for reason, value in group["drops"].items():
        dropped = label | {("reason", reason)}
        assert response.samples["vcmts_downstream_dropped_packets_total", dropped] == value


def ip_packet() -> bytes:
    """A UDP packet without a checksum to the first modem."""
    head = bytearray.fromhex("4500 0064 0000 4000 4011 0000 c6336401 0a000001")
    words = sum(int.from_bytes(head[at : at + 2]) for at in range(0, 20, 2))
    words = (words & 0xFFFF) + (words >> 16)
    head[10:12] = (~((words & 0xFFFF) + (words >> 16)) & 0xFFFF).to_bytes(2)
    return bytes(head) + bytes.fromhex("0035 1000 0050 0000") + bytes(72)
