# SPDX-License-Identifier: BSD-3-Clause
"""The endpoint for scrapers: what it tells, and that no client of it does harm."""

import concurrent.futures
import http.client
import itertools
import json
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from e2e.control.controlled import NOWHERE, config_text, controlled, place
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
MAC = "02:01:00:00:00:02"
FLOW = frozenset({("service_group", "1"), ("sfid", "2"), ("modem", MAC)})


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


@pytest.mark.parametrize(
    ("accept", "open_"),
    [
        (f"{OPEN};q=0,text/plain", False),
        (f"{OPEN};q=0.4,text/plain;q=0.3", True),
        (f"{OPEN};q=0.3,text/plain;q=0.4", False),
        (f"text/plain,\r\n {OPEN}", True),
    ],
)
def test_weights_are_obeyed(served: Scraped, accept: str, open_: bool) -> None:
    """RFC 9110, 12.4.2; also of fields that are repeated."""
    found = served.raw(
        b"GET /metrics?names=vcmts_tsc HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
        + "".join(f"Accept: {one.strip()}\r\n" for one in accept.split(",\r\n")).encode()
        + b"\r\n"
    )
    head, _, body = found.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ") and b"\r\nVary: Accept" in head
    assert body.endswith(b"# EOF\n") is open_


def test_forms_of_targets(served: Scraped) -> None:
    """RFC 9112, 3.2: a server accepts the absolute form, and refuses a request without Host."""
    for target in ("/metrics", "http://other:9/metrics", "HTTP://h/metrics", "https://h/metrics"):
        line = f"GET {target}?names=vcmts_tsc HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        found = served.raw(line.encode())
        assert found.startswith(b"HTTP/1.1 200 ") and b"\nvcmts_tsc_hz " in found, target
    none = b"GET http://metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    assert served.raw(none).startswith(b"HTTP/1.1 404 ")
    assert served.raw(b"GET /metrics HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert served.raw(b"GET /healthz HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 ")


def test_selection(served: Scraped) -> None:
    some = served.ask("/metrics?names=vcmts_worker_rounds,vcmts_tsc")
    assert some.names == {"vcmts_worker_rounds_total", "vcmts_tsc_hz"}
    one = served.ask(f"/metrics?modems={MAC}&names=vcmts_modem")
    assert {dict(labels)["modem"] for _, labels in one.samples} == {MAC}
    flows = served.ask(f"/metrics?flows={MAC}&names=vcmts_flow")
    assert {dict(labels)["sfid"] for _, labels in flows.samples} == {"2"}
    assert flows.samples["vcmts_flow_max_sustained_bytes_per_second", FLOW] == 100e6 / 8
    every = served.ask("/metrics?modems=all&service_group=1&names=vcmts_modem")
    assert len({dict(labels)["modem"] for _, labels in every.samples}) == 4
    assert not served.ask("/metrics?service_group=2&names=vcmts_downstream").samples
    channels = served.ask("/metrics?names=vcmts_downstream_channel_rate_bytes_per_second").samples
    rates = {dict(labels)["channel"]: value for (_, labels), value in channels.items()}
    assert rates == {"11": 900e6 / 8, "12": 500e6 / 8}


@pytest.mark.parametrize(
    "path",
    [
        "/metrics?modems=all",
        "/metrics?modems=nobody&service_group=1",
        "/metrics?service_group=0",
        "/metrics?service_group=70000",
        "/metrics?colour=red",
        "/metrics?names=" + ",".join(f"vcmts_{n}" for n in range(99)),
        "/metrics?names=" + "v" * 600,
    ],
)
def test_questions_that_are_none(served: Scraped, path: str) -> None:
    refused = served.ask(path)
    assert refused.status == 400
    assert len(refused.text.splitlines()) == 1


def test_answers_are_counted(served: Scraped) -> None:
    def answers() -> dict[str, float]:
        told = served.ask("/metrics?names=vcmts_http_answers").samples.items()
        return {dict(labels)["code"]: value for (_, labels), value in told}

    before = answers()
    served.ask("/")
    until(lambda: answers()["404"] == before["404"] + 1, "an answer that is counted")
    assert answers()["200"] > before["200"]


def test_too_many_questions_at_a_time(served: Scraped) -> None:
    """Different ones, until a page that others may still want would have to go."""
    said: set[str] = set()
    numbers = itertools.count()

    def refused() -> bool:
        got = served.ask_once(f"/metrics?names=vcmts_{next(numbers)}", "*/*", "GET")
        if got.status == 503:
            said.add(got.text)
        return bool(said)

    until(refused, "a question too many")
    assert said == {"too many different questions at a time\n"}


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


def test_a_page_for_many(served: Scraped) -> None:
    """Two hundred at a time, more than there are connections: all are answered, by few pages."""
    pages = ("vcmts_http_pages_total", frozenset[tuple[str, str]]())
    before = served.ask().samples[pages]
    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(lambda _: served.ask(), range(200)))
    assert all(answer.status == 200 and answer.text.endswith("\n") for answer in answers)
    assert all(answer.samples for answer in answers[:3])
    assert served.ask().samples[pages] - before < 200


@pytest.mark.parametrize(
    "pieces",
    [
        (b"GET /metrics HTTP/1.1\r\nHost: x\r\n" + b"X: " + b"y" * 200_000 + b"\r\n\r\n",),
        (b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 20_000 + b"\r\n",),
        (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",),
        (b"\0" * 5000 + b"\r\n\r\n",),
        (b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", b"z" * 65536),
        (b"GET /metrics HTTP/9.9\r\n\r\n",),
    ],
    ids=["header", "headers", "path", "zeros", "body", "version"],
)
def test_requests_that_are_none(served: Scraped, pieces: tuple[bytes, ...]) -> None:
    """Refused or let go; the next is served."""
    got = served.raw(*pieces)
    assert not got.startswith((b"HTTP/1.1 200", b"HTTP/1.0 200"))
    assert served.ask("/healthz").status == 200


def test_half_a_request_and_no_reader(served: Scraped) -> None:
    """They keep their places for a while, and others are answered meanwhile."""
    silent = [socket.create_connection(("127.0.0.1", served.port), TIMEOUT) for _ in range(40)]
    try:
        for number, made in enumerate(silent):
            half = number % 2 == 0
            made.sendall(
                b"GET /metrics HTTP/1.1\r\nHo" if half else b"GET /metrics HTTP/1.1\r\n\r\n"
            )
        assert served.ask().status == 200
    finally:
        for made in silent:
            made.close()
    gone = ("vcmts_http_connections", frozenset[tuple[str, str]]())

    def alone() -> bool:
        return served.ask("/metrics?names=vcmts_http").samples[gone] <= 2

    until(alone, "connections that have ended")


def test_wrong_and_taken_addresses(served: Scraped, tmp_path: Path) -> None:
    config = tmp_path / "sg.yaml"
    config.write_text(config_text())
    for address in ("nowhere", "127.0.0.1", "127.0.0.1:99999", f"127.0.0.1:{served.port}"):
        done = vcmtsd("run", "--config", config, *NOWHERE, "--metrics", address)
        assert done.status == 2
        (line,) = done.messages
        assert line.startswith("vcmtsd: --metrics")


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
