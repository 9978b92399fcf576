# SPDX-License-Identifier: BSD-3-Clause
"""The endpoint for scrapers: what it tells, and that no client of it does harm."""

import http.client
import json
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from e2e.control.controlled import config_text, controlled, place
from e2e.ports import Run, pcap_ports, serve
from e2e.running import vcmtsd
from patience import TIMEOUT, until
from vcmts.control.client import Client
from vcmts.witness.pcapfile import Record, write_pcap

OPEN = "application/openmetrics-text; version=1.0.0"
TOLD = re.compile(r"vcmtsd: metrics http://(.+):(\d+)/metrics")
LINE = re.compile(r"([a-z][a-z0-9_]*)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
PACKETS = 100


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def samples(self) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        lines = [line for line in self.text.splitlines() if not line.startswith("#")]
        parts = [part for line in lines if (part := LINE.fullmatch(line))]
        assert len(parts) == len(lines)
        found = {(p[1], frozenset(LABEL.findall(p[2] or ""))): float(p[3]) for p in parts}
        assert len(found) == len(lines), "a series twice"
        return found

    @property
    def names(self) -> set[str]:
        return {line.split()[2] for line in self.text.splitlines() if line.startswith("# TYPE")}


@dataclass(frozen=True)
class Scraped:
    run: Run
    control: Path
    port: int

    def ask(self, path: str = "/metrics", accept: str = "*/*", method: str = "GET") -> Answer:
        """Again, where there were too many questions at a time."""
        answers: list[Answer] = []

        def answered() -> bool:
            answers.append(self.ask_once(path, accept, method))
            return answers[-1].status != 503

        until(answered, path)
        return answers[-1]

    def ask_once(self, path: str, accept: str, method: str) -> Answer:
        asking = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        try:
            asking.request(method, path, headers={"Accept": accept})
            got = asking.getresponse()
            headers = {name.lower(): value for name, value in got.getheaders()}
            return Answer(got.status, headers, got.read().decode())
        finally:
            asking.close()

    def raw(self, *pieces: bytes) -> bytes:
        """All that comes back until the other side closes."""
        whole = b""
        with socket.create_connection(("127.0.0.1", self.port), TIMEOUT) as made:
            try:
                for piece in pieces:
                    made.sendall(piece)
                while more := made.recv(65536):
                    whole += more
            except ConnectionError:
                pass
        return whole


def port_of(run: Run) -> int:
    told = [found for line in run.stderr if (found := TOLD.match(line))]
    assert len(told) == 1
    return int(told[0][2])


@pytest.fixture(scope="module")
def served() -> Iterator[Scraped]:
    with (
        place() as folder,
        controlled(folder, "--metrics", "127.0.0.1:0", "--latency") as (
            run,
            control,
        ),
    ):
        yield Scraped(run, control, port_of(run))
        assert run.stop().status == 0


def registry() -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = json.loads(vcmtsd("describe").stdout)["metrics"]
    return told


def test_every_metric_has_its_place(served: Scraped) -> None:
    """Also those of which there is no sample, as no port is shared."""
    names = [m["name"] for m in registry() if m.get("wanted", "always") == "always"]
    plain = served.ask()
    assert plain.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert set(names) == plain.names
    whole = served.ask("/metrics?modems=all&flows=all&service_group=1")
    assert {m["name"] for m in registry() if m["name"].startswith("vcmts_flow")} <= whole.names


def test_both_formats(served: Scraped) -> None:
    plain, open_ = served.ask(), served.ask(accept=f"{OPEN},text/plain;q=0.5")
    assert open_.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert open_.text.endswith("\n# EOF\n") and "# EOF" not in plain.text
    assert plain.samples.keys() == open_.samples.keys()
    assert {name.removesuffix("_total") for name in plain.names} == open_.names
    units = [line.split() for line in open_.text.splitlines() if line.startswith("# UNIT")]
    assert units and all(name.endswith(f"_{unit}") for _, _, name, unit in units)


def test_paths_and_methods(served: Scraped) -> None:
    assert served.ask("/healthz").status == 200
    assert served.ask("/readyz").status == 200
    assert (served.ask("/ready").text, served.ask("/live").text) == ("ready\n", "live\n")
    assert served.ask("/").status == 404
    assert served.ask("/metrics/../metrics").status == 404
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        refused = served.ask(method=method)
        assert refused.status == 405 and refused.headers["allow"] == "GET, HEAD"
    head = served.ask(method="HEAD")
    assert head.status == 200 and head.text == "" and int(head.headers["content-length"]) > 9999


def test_the_same_by_the_control_socket(served: Scraped) -> None:
    """What does not change by itself is told alike."""
    with Client(served.control, TIMEOUT) as client:
        told = client.call(
            "metrics.get", names=["vcmts_scheduler", "vcmts_service_group", "vcmts_up"]
        )
    by_socket = {
        (s["name"], frozenset(s["labels"].items())): float(s["value"]) for s in told["samples"]
    }
    page = served.ask("/metrics?names=vcmts_scheduler,vcmts_service_group,vcmts_up").samples
    uptime = ("vcmts_uptime_seconds", frozenset[tuple[str, str]]())
    assert by_socket.pop(uptime) <= page.pop(uptime)
    assert by_socket == page


@pytest.mark.run
def test_agrees_with_the_summary(tmp_path: Path) -> None:
    """Each counter of the downstream, when no packet is on its way any more."""
    config, captured, summary = (tmp_path / name for name in ("sg.yaml", "in.pcap", "s.json"))
    config.write_text(config_text())
    frame = bytes.fromhex("0200000000010200000000020800") + ip_packet()
    write_pcap(captured, [Record(n, frame, len(frame)) for n in range(PACKETS)])
    ports = pcap_ports(captured, tmp_path / "out.pcap")
    with serve("--config", config, "--json", summary, "--metrics", "[::1]:0", *ports) as run:
        run.taken(PACKETS)
        told = [found for line in run.stderr if (found := TOLD.match(line))]
        asking = http.client.HTTPConnection("::1", int(told[0][2]), timeout=TIMEOUT)
        asking.request("GET", "/metrics")
        answer = Answer(200, {}, asking.getresponse().read().decode())
        asking.close()
        assert run.stop().status == 0
    group = json.loads(summary.read_text())["downstream"]
    label = frozenset({("service_group", "1")})
    assert group["received"] == PACKETS
    units = {m["name"]: m["unit"] for m in registry()}
    for name, value in group["counters"].items():
        stems = {name, *(f"{name}_{unit}" for unit in set(units.values()))}
        stems -= group["counters"].keys() - {name}  # received_bytes is not that of received
        known = [full for stem in stems if (full := f"vcmts_downstream_{stem}_total") in units]
        assert len(known) == 1, name
        assert answer.samples[known[0], label] == value, name
    for reason, value in group["drops"].items():
        dropped = label | {("reason", reason)}
        assert answer.samples["vcmts_downstream_dropped_packets_total", dropped] == value


def ip_packet() -> bytes:
    """UDP without a checksum to the first modem's address."""
    head = bytearray.fromhex("4500 0064 0000 4000 4011 0000 c6336401 0a000001")
    words = sum(int.from_bytes(head[at : at + 2]) for at in range(0, 20, 2))
    words = (words & 0xFFFF) + (words >> 16)
    head[10:12] = (~((words & 0xFFFF) + (words >> 16)) & 0xFFFF).to_bytes(2)
    return bytes(head) + bytes.fromhex("0035 1000 0050 0000") + bytes(72)
