# SPDX-License-Identifier: BSD-3-Clause
"""vcmtsd on ports, in real time: whole bursts through every stage, and a clean stop."""

import json
import os
import platform
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from e2e.expected import check_flows, check_stats, expect
from e2e.ports import pcap_ports, serve
from e2e.running import SMALL, Ended, run, vary, vcmtsd
from e2e.traffic import START_NS, broken_frames, generate
from patience import until
from vcmts.paths import program
from vcmts.telemetry.plane import plane as connected
from vcmts.witness.config import load_config
from vcmts.witness.downstream import decode_downstream
from vcmts.witness.l2tp import decode_datagram
from vcmts.witness.pcapfile import read_pcap, records_of, write_pcap

CONFIG = load_config(SMALL)
CPUS = sorted(os.sched_getaffinity(0))


def on_these_cores(layout: str) -> str:
    """The small group on the cores that the tests may use."""
    if len(CPUS) < 2 and layout == "1ds2t":
        pytest.skip("1ds2t needs two cores")
    upper, lower = CPUS[-1], CPUS[0]
    threads = (
        f"{{downstream: {layout}, main_core: {lower}, upper_mac_core: {upper}, "
        f"lower_mac_core: {lower}}}"
    )
    return vary(SMALL.read_text(), threads=threads)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "sg.yaml"
    path.write_text(on_these_cores("1ds1t"))
    return path


@pytest.fixture
def captured(tmp_path: Path) -> Path:
    path = tmp_path / "in.pcap"
    write_pcap(path, records_of(generate(CONFIG, 31, 300), START_NS))
    return path


def downstream(path: Path) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(path.read_text())
    assert {"downstream", "workers", "host"} <= set(summary)
    stats: dict[str, Any] = summary["downstream"]
    return stats


def mean_burst(text: str, stage: str) -> float:
    """Packets that the stage had at a time, from the summary's table."""
    return next(float(line.split()[2]) for line in text.splitlines() if line.split()[0] == stage)


@pytest.mark.parametrize("layout", ["1ds1t", "1ds2t"])
def test_whole_bursts(layout: str, tmp_path: Path) -> None:
    """Packets of all modems and kinds next to each other in a burst: the same proof as in replay,
    but for the times."""
    config = tmp_path / "sg.yaml"
    config.write_text(on_these_cores(layout))
    frames = generate(CONFIG, 32, 2500, broken=0.1)
    frames += [frame for _, frame in broken_frames(CONFIG) if frame]
    sent = records_of(frames, START_NS)
    captured, out, summary = (tmp_path / name for name in ("in.pcap", "out.pcap", "s.json"))
    write_pcap(captured, sent)
    with serve("--config", config, "--json", summary, *pcap_ports(captured, out)) as run:
        run.taken(len(sent))
        done = run.stop()
    assert done.status == 0, done.stderr
    assert mean_burst(done.stdout, "filter") > 16
    decoded = decode_downstream(read_pcap(out).records, load_config(config))
    expected = expect(sent, CONFIG)
    check_flows(expected, decoded)
    stats = downstream(summary)
    check_stats(expected, stats, decoded)


def test_numbers_wrap(config: Path, tmp_path: Path) -> None:
    """DSIDs and PSP sessions begin with the number that was told, and go on with 0."""
    sent = records_of(generate(CONFIG, 33, 2500), START_NS)
    captured, out = tmp_path / "in.pcap", tmp_path / "out.pcap"
    write_pcap(captured, sent)
    ports = pcap_ports(captured, out)
    with serve("--config", config, "--first-number", "65530", *ports) as run:
        run.taken(len(sent))
        assert run.stop().status == 0
    decoded = decode_downstream(read_pcap(out).records, load_config(config))
    check_flows(expect(sent, CONFIG), decoded)
    numbers: dict[int, list[int]] = {}
    for record in decoded.frames:
        if record.service is not None and record.service.dsid is not None:
            assert record.service.sequence is not None
            numbers.setdefault(record.service.dsid, []).append(record.service.sequence)
    assert numbers
    for found in numbers.values():
        assert sorted(found) == sorted((65530 + n) % 65536 for n in range(len(found)))
    assert max(map(len, numbers.values())) > 10
    psp: dict[int, list[int]] = {}
    for packet in read_pcap(out).records:
        datagram = decode_datagram(packet.data)
        psp.setdefault(datagram.session, []).append(int.from_bytes(datagram.payload[2:4], "big"))
    for found in psp.values():
        assert found == [(65530 + n) % 65536 for n in range(len(found))]


def test_first_number_is_checked(config: Path) -> None:
    for wrong in ("65536", "-1", "x", "1x", ""):
        done = vcmtsd("run", "--config", config, "--first-number", wrong)
        assert done.status == 2
        assert f'--first-number: found "{wrong}", allowed: 0 to 65535' in done.stderr


def stopped_well(done: Ended, summary: Path) -> dict[str, Any]:
    assert done.status == 0, done.stderr
    stats = downstream(summary)
    assert stats["balanced"] and stats["held"] == 0
    assert stats["received"] == stats["transmitted"] + stats["dropped"]
    assert f"downstream: received {stats['received']}," in done.stdout
    return stats


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal(number: signal.Signals, config: Path, captured: Path, tmp_path: Path) -> None:
    out, summary = tmp_path / "out.pcap", tmp_path / "summary.json"
    with serve("--config", config, "--json", summary, *pcap_ports(captured, out)) as run:
        run.taken(len(read_pcap(captured).records))
        assert run.process.poll() is None
        stats = stopped_well(run.stop(number), summary)
    assert stats["transmitted"] == expect(read_pcap(captured).records, CONFIG).counters["enqueued"]


def full(drops: dict[str, int]) -> list[int]:
    return [drops["flow_buffer_full"], drops["scheduler_full"]]


def test_signal_under_overload(config: Path, captured: Path, tmp_path: Path) -> None:
    """More comes in than can leave: buffers are full at the stop, and all is accounted for."""
    summary = tmp_path / "summary.json"
    ports = ("--network", f"net_pcap0,rx_pcap={captured},infinite_rx=1", "--rphy", "net_null1")
    with serve("--config", config, "--json", summary, *ports) as run:
        with connected(run.process.pid) as asked:
            until(lambda: any(full(asked.counts()["downstream"]["drops"])), "full queues")
        stats = stopped_well(run.stop(), summary)
    assert any(full(stats["drops"]))
    assert stats["transmitted"] > 0


def test_duration(config: Path, captured: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.json"
    ports = pcap_ports(captured, tmp_path / "out.pcap")
    done = vcmtsd("run", "--config", config, "--duration", "500ms", "--json", summary, *ports)
    stats = stopped_well(done, summary)
    assert set(stats["cycles_per_packet"]["stages"]) > {"receive", "filter", "depi", "transmit"}
    assert sum(stats["cycles_per_packet"]["stages"].values()) == pytest.approx(
        stats["cycles_per_packet"]["total"], rel=0.01
    )


def test_summary_on_the_terminal(config: Path) -> None:
    ports = ("--network", "net_ring0", "--rphy", "net_null1", "--no-cycles")
    done = vcmtsd("run", "--config", config, "--duration", "100 ms", *ports)
    assert done.status == 0
    said = [line for line in done.messages if not line.startswith("vcmtsd: control socket ")]
    assert len(said) == 1 == len(done.messages) - 1
    assert done.stdout.startswith("downstream: received 0, transmitted 0 ")


@pytest.mark.parametrize(
    ("network", "word"),
    [
        ("net_nonsense0", "net_nonsense0"),
        ("net_pcap0,rx_pcap=/no/such/file.pcap", "net_pcap0"),
        ("net_null0,no_such_argument=1", "net_null0"),
        ("0000:ff:1f.7", "0000:ff:1f.7"),
        ("net_null1", "net_null1"),
    ],
)
def test_bad_device(network: str, word: str, config: Path) -> None:
    """The last line is ours and tells of the device; before it DPDK may have its say."""
    ports = ("--network", network, "--rphy", "net_null1")
    done = vcmtsd("run", "--config", config, "--duration", "100 ms", *ports)
    assert done.status in (1, 2) and done.stdout == ""
    message = done.messages[-1]
    assert message.startswith(("port network:", "port R-PHY:", "vcmtsd: "))
    assert word in "\n".join(done.messages)


def cpu_flags() -> set[str]:
    found = re.search(r"^flags\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return set(found[1].split()) if found else set()


# What the CPU needs for each. Whether there is code of the last two is the library's version's.
INSTRUCTION_SETS: dict[str, set[str] | None] = {
    "avx512": {"avx2", "bmi2", "avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"},
    "avx2": {"avx2", "bmi2"},
    "sse": set(),
    "avx": None,
    "plain": None,
}
SHORT = ("--network", "net_null0,no-rx=1", "--rphy", "net_null1,no-rx=1", "--duration", "50ms")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="of x86-64")
@pytest.mark.parametrize("name", INSTRUCTION_SETS)
def test_what_the_cpu_lacks_is_refused(name: str, config: Path) -> None:
    """The library is not called for what the CPU does not have: it would end by a signal."""
    done = vcmtsd("run", "--config", config, *SHORT, "--crypto-isa", name)
    assert done.status in (0, 2)
    if (needed := INSTRUCTION_SETS[name]) is not None:
        assert (done.status == 0) == ({"aes", *needed} <= cpu_flags()), done.stderr
    if done.status == 2:
        (line,) = done.messages
        assert (
            line.startswith("vcmtsd: crypto ipsec-mb: version ")
            and f"--crypto-isa {name}: " in line
        )


@pytest.mark.skipif(platform.machine() != "x86_64", reason="of x86-64")
@pytest.mark.parametrize(("name", "status"), [("sse", 0), ("", 2), ("avx5", 2)])
def test_the_environment_says_what_auto_is(name: str, status: int, config: Path) -> None:
    command: list[str | Path] = [program("vcmtsd"), "run", "--config", config, *SHORT]
    done = run(command, os.environ | {"VCMTS_CRYPTO_ISA": name})
    assert done.status == status
    assert not status or f'VCMTS_CRYPTO_ISA: found "{name}", allowed: auto, ' in done.messages[0]


def test_core_that_is_not_there(config: Path) -> None:
    text = vary(config.read_text(), threads="{upper_mac_core: 1023}")
    config.write_text(text)
    done = vcmtsd("run", "--config", config, "--network", "net_null0", "--rphy", "net_null1")
    assert done.status in (1, 2) and len(done.messages) == 1
    assert "core 1023" in done.messages[0] and "threads" in done.messages[0]
