# SPDX-License-Identifier: BSD-3-Clause
"""vcmtsd on ports in real time: full bursts, stop, sequence numbers, invalid options."""

import json
import os
import platform
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from e2e.expected import check_flows, check_stats, expect_downstream
from e2e.ports import pcap_ports, serve
from e2e.running import SMALL, Completed, replace_values, run, vcmtsd
from e2e.traffic import START_NS, generate, invalid_frames
from patience import until
from vcmts.paths import program
from vcmts.telemetry.plane import plane as connect_plane
from vcmts.witness.config import load_config
from vcmts.witness.downstream import decode_downstream
from vcmts.witness.l2tp import decode_datagram
from vcmts.witness.pcapfile import read_pcap, records_of, write_pcap

CONFIG = load_config(SMALL)
CPUS = sorted(os.sched_getaffinity(0))


def config_on_test_cores(layout: str) -> str:
    """sg-small.yaml on cores that the tests may use."""
    if len(CPUS) < 2 and layout == "1ds2t":
        pytest.skip("1ds2t needs two cores")
    upper, lower = CPUS[-1], CPUS[0]
    threads = (
        f"{{downstream: {layout}, main_core: {lower}, upper_mac_core: {upper}, "
        f"lower_mac_core: {lower}}}"
    )
    return replace_values(SMALL.read_text(), threads=threads)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "sg.yaml"
    path.write_text(config_on_test_cores("1ds1t"))
    return path


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "in.pcap"
    write_pcap(path, records_of(generate(CONFIG, 31, 300), START_NS))
    return path


def downstream(path: Path) -> dict[str, Any]:
    """The downstream part of the summary in a file."""
    summary: dict[str, Any] = json.loads(path.read_text())
    assert {"downstream", "workers", "host"} <= set(summary)
    stats: dict[str, Any] = summary["downstream"]
    return stats


def mean_burst(text: str, stage: str) -> float:
    """Mean packets per burst of the stage, from the printed summary."""
    return next(float(line.split()[2]) for line in text.splitlines() if line.split()[0] == stage)


@pytest.mark.parametrize("layout", ["1ds1t", "1ds2t"])
def test_full_bursts_match_model(layout: str, tmp_path: Path) -> None:
    """Bursts contain packets of all modems and kinds. The proof is as in a replay, except for
    times."""
    config = tmp_path / "sg.yaml"
    config.write_text(config_on_test_cores(layout))
    frames = generate(CONFIG, 32, 2500, broken=0.1)
    frames += [frame for _, frame in invalid_frames(CONFIG) if frame]
    sent = records_of(frames, START_NS)
    capture, out, summary = (tmp_path / name for name in ("in.pcap", "out.pcap", "s.json"))
    write_pcap(capture, sent)
    with serve("--config", config, "--json", summary, *pcap_ports(capture, out)) as run:
        run.wait_processed(len(sent))
        done = run.stop()
    assert done.status == 0, done.stderr
    assert mean_burst(done.stdout, "filter") > 16
    decoded = decode_downstream(read_pcap(out).records, load_config(config))
    expected = expect_downstream(sent, CONFIG)
    check_flows(expected, decoded)
    stats = downstream(summary)
    check_stats(expected, stats, decoded)


def test_sequence_numbers_wrap(config: Path, tmp_path: Path) -> None:
    """Sequence numbers of DSIDs and PSP sessions begin with --first-number and wrap to 0."""
    sent = records_of(generate(CONFIG, 33, 2500), START_NS)
    capture, out = tmp_path / "in.pcap", tmp_path / "out.pcap"
    write_pcap(capture, sent)
    ports = pcap_ports(capture, out)
    with serve("--config", config, "--first-number", "65530", *ports) as run:
        run.wait_processed(len(sent))
        assert run.stop().status == 0
    decoded = decode_downstream(read_pcap(out).records, load_config(config))
    check_flows(expect_downstream(sent, CONFIG), decoded)
    numbers: dict[int, list[int]] = {}
    for record in decoded.frames:
        if record.service is not None and record.service.dsid is not None:
            assert record.service.sequence is not None
            numbers.setdefault(record.service.dsid, []).append(record.service.sequence)
    assert numbers
    for sequence in numbers.values():
        assert sorted(sequence) == sorted((65530 + n) % 65536 for n in range(len(sequence)))
    assert max(map(len, numbers.values())) > 10
    psp: dict[int, list[int]] = {}
    for packet in read_pcap(out).records:
        datagram = decode_datagram(packet.data)
        psp.setdefault(datagram.session, []).append(int.from_bytes(datagram.payload[2:4], "big"))
    for sequence in psp.values():
        assert sequence == [(65530 + n) % 65536 for n in range(len(sequence))]


def test_invalid_first_number_is_rejected(config: Path) -> None:
    for number in ("65536", "-1", "x", "1x", ""):
        done = vcmtsd("run", "--config", config, "--first-number", number)
        assert done.status == 2
        assert f'--first-number: found "{number}", allowed: 0 to 65535' in done.stderr


def check_stopped(done: Completed, summary: Path) -> dict[str, Any]:
    """Checks a run that was stopped. Returns the downstream part of its summary."""
    assert done.status == 0, done.stderr
    stats = downstream(summary)
    assert stats["balanced"] and stats["held"] == 0
    assert stats["received"] == stats["transmitted"] + stats["dropped"]
    assert f"downstream: received {stats['received']}," in done.stdout
    return stats


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_run(sig: signal.Signals, config: Path, capture: Path, tmp_path: Path) -> None:
    out, summary = tmp_path / "out.pcap", tmp_path / "summary.json"
    with serve("--config", config, "--json", summary, *pcap_ports(capture, out)) as run:
        run.wait_processed(len(read_pcap(capture).records))
        assert run.process.poll() is None
        stats = check_stopped(run.stop(sig), summary)
    assert (
        stats["transmitted"]
        == expect_downstream(read_pcap(capture).records, CONFIG).counters["enqueued"]
    )


def full_drops(drops: dict[str, int]) -> list[int]:
    return [drops["flow_buffer_full"], drops["scheduler_full"]]


def test_signal_ends_overloaded_run(config: Path, capture: Path, tmp_path: Path) -> None:
    """Overload: buffers are full at the stop, and the balance is exact."""
    summary = tmp_path / "summary.json"
    ports = ("--network", f"net_pcap0,rx_pcap={capture},infinite_rx=1", "--rphy", "net_null1")
    with serve("--config", config, "--json", summary, *ports) as run:
        with connect_plane(run.process.pid) as client:
            until(lambda: any(full_drops(client.counts()["downstream"]["drops"])), "full queues")
        stats = check_stopped(run.stop(), summary)
    assert any(full_drops(stats["drops"]))
    assert stats["transmitted"] > 0


def test_duration_ends_run(config: Path, capture: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.json"
    ports = pcap_ports(capture, tmp_path / "out.pcap")
    done = vcmtsd("run", "--config", config, "--duration", "500ms", "--json", summary, *ports)
    stats = check_stopped(done, summary)
    assert set(stats["cycles_per_packet"]["stages"]) > {"receive", "filter", "depi", "transmit"}
    assert sum(stats["cycles_per_packet"]["stages"].values()) == pytest.approx(
        stats["cycles_per_packet"]["total"], rel=0.01
    )


def test_summary_is_printed(config: Path) -> None:
    ports = ("--network", "net_ring0", "--rphy", "net_null1", "--no-cycles")
    done = vcmtsd("run", "--config", config, "--duration", "100 ms", *ports)
    assert done.status == 0
    messages = [line for line in done.messages if not line.startswith("vcmtsd: control socket ")]
    assert len(messages) == 1 == len(done.messages) - 1
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
def test_unusable_device_is_rejected(network: str, word: str, config: Path) -> None:
    """The last line names the device. DPDK may print lines before it."""
    ports = ("--network", network, "--rphy", "net_null1")
    done = vcmtsd("run", "--config", config, "--duration", "100 ms", *ports)
    assert done.status in (1, 2) and done.stdout == ""
    message = done.messages[-1]
    assert message.startswith(("port network:", "port R-PHY:", "vcmtsd: "))
    assert word in "\n".join(done.messages)


def cpu_flags() -> set[str]:
    match = re.search(r"^flags\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return set(match[1].split()) if match else set()


# CPU flags that each needs. None: depends on the version of the library.
INSTRUCTION_SETS: dict[str, set[str] | None] = {
    "avx512": {"avx2", "bmi2", "avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"},
    "avx2": {"avx2", "bmi2"},
    "sse": set(),
    "avx": None,
    "plain": None,
}
SHORT_RUN = ("--network", "net_null0,no-rx=1", "--rphy", "net_null1,no-rx=1", "--duration", "50ms")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="tests CPUs of x86-64")
@pytest.mark.parametrize("name", INSTRUCTION_SETS)
def test_missing_instruction_set_is_rejected(name: str, config: Path) -> None:
    """An instruction set that the CPU lacks is rejected. The library would crash."""
    done = vcmtsd("run", "--config", config, *SHORT_RUN, "--crypto-isa", name)
    assert done.status in (0, 2)
    if (needed := INSTRUCTION_SETS[name]) is not None:
        assert (done.status == 0) == ({"aes", *needed} <= cpu_flags()), done.stderr
    if done.status == 2:
        (line,) = done.messages
        assert (
            line.startswith("vcmtsd: crypto ipsec-mb: version ")
            and f"--crypto-isa {name}: " in line
        )


@pytest.mark.skipif(platform.machine() != "x86_64", reason="tests CPUs of x86-64")
@pytest.mark.parametrize(("name", "status"), [("sse", 0), ("", 2), ("avx5", 2)])
def test_environment_sets_instruction_set(name: str, status: int, config: Path) -> None:
    command: list[str | Path] = [program("vcmtsd"), "run", "--config", config, *SHORT_RUN]
    done = run(command, os.environ | {"VCMTS_CRYPTO_ISA": name})
    assert done.status == status
    assert not status or f'VCMTS_CRYPTO_ISA: found "{name}", allowed: auto, ' in done.messages[0]


def test_missing_core_is_rejected(config: Path) -> None:
    text = replace_values(config.read_text(), threads="{upper_mac_core: 1023}")
    config.write_text(text)
    done = vcmtsd("run", "--config", config, "--network", "net_null0", "--rphy", "net_null1")
    assert done.status in (1, 2) and len(done.messages) == 1
    assert "core 1023" in done.messages[0] and "threads" in done.messages[0]
