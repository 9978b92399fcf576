# SPDX-License-Identifier: BSD-3-Clause
"""Live captures by `vcmts capture` from a vcmtsd with endless traffic: filters, formats, errors."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.control.capture_server import (
    DENIED,
    FIRST_MODEM,
    CaptureServer,
    config_text,
    connect,
    downstream_frames,
    read_all,
    read_line,
    run_capture,
    second_group_config,
    serve_endless_traffic,
)
from e2e.control.pcapng_reader import Capture, read_pcapng
from e2e.ports import serve
from e2e.running import environment
from patience import TIMEOUT
from vcmts.control.client import Client
from vcmts.witness.bpi import decrypt_pdu
from vcmts.witness.config import load_config
from vcmts.witness.docsis import decode_frame
from wireshark.tshark import Tshark

ETHERNET, DOCSIS, FRAGMENTS = 1, 143, 147
DS_FRAME, DS_ENCRYPTED = "sg 1 downstream frame out", "sg 1 downstream encrypt_collect out"
US_ENCRYPTED, US_CLEAR = "sg 1 upstream extract out", "sg 1 upstream decrypt_collect out"


@pytest.fixture(scope="module")
def server() -> Iterator[CaptureServer]:
    with serve_endless_traffic() as server_:
        yield server_


def test_denied_packets_are_captured_with_reason(server: CaptureServer) -> None:
    capture = run_capture(server, "--dropped", "filter_deny", "--count", "20")
    assert len(capture.packets) == 20
    denied = {frame[14:] for frame in downstream_frames() if frame[36:38] == DENIED.to_bytes(2)}
    for packet in capture.packets:
        assert packet.reason == "filter_deny"
        assert f"modem {FIRST_MODEM}" in packet.comment
        assert "stage filter dropped" in packet.comment
        assert packet.data[14:] in denied
        assert packet.data[:6] == bytes.fromhex(FIRST_MODEM.replace(":", ""))
    assert set(capture.links.values()) == {ETHERNET}
    assert capture.comments[-1].endswith("end: the number of packets requested")


def test_drops_of_any_reason_are_captured(server: CaptureServer) -> None:
    capture = run_capture(server, "--dropped", "--rate", "4000", "--count", "1500")
    reasons = {packet.reason for packet in capture.packets}
    assert {"filter_deny", "unknown_destination"} < reasons
    assert reasons & {"psp_late", "psp_duplicate"}
    for packet in capture.packets:
        if packet.reason in ("psp_late", "psp_duplicate"):  # captured with its outer headers
            assert (packet.link, packet.data[12:14], packet.data[23]) == (1, b"\x08\x00", 115)
            assert "session 0x0002" in packet.comment
    times = [packet.time_ns for packet in capture.packets]
    assert times == sorted(times)


def packets_of_interface(capture: Capture, interface: str) -> list[bytes]:
    return [packet.data for packet in capture.packets if packet.interface == interface]


def test_downstream_frames_match_before_and_after_encryption(server: CaptureServer) -> None:
    """Captures frames before and after encryption. Decrypted by the witness, they are equal."""
    capture = run_capture(server, "--stage", "frame,encrypt_collect", "--direction", "downstream",
                    "--modem", FIRST_MODEM, "--rate", "1000000", "--count", "600")  # fmt: skip
    assert capture.links == {DS_FRAME: DOCSIS, DS_ENCRYPTED: DOCSIS}
    security = server.config.modems[0].security
    assert security.key is not None
    assert security.iv is not None
    clear = {packet.data for packet in capture.packets if packet.interface == DS_FRAME}
    assert all(p.wire_size == len(p.data) + 4 for p in capture.packets if p.interface == DS_FRAME)
    matches = 0
    for data in packets_of_interface(capture, DS_ENCRYPTED):
        frame = decode_frame(data)
        header = data[: -len(frame.pdu)]
        plain = decrypt_pdu(frame.pdu, security.key, security.iv)
        assert plain != frame.pdu
        matches += header + plain[:-4] in clear
    assert matches > 100


def test_upstream_frames_match_before_and_after_decryption(server: CaptureServer) -> None:
    capture = run_capture(server, "--stage", "extract,decrypt_collect", "--direction", "upstream",
                    "--flow", "301", "--rate", "1000000", "--count", "400")  # fmt: skip
    links = {(packet.interface, packet.link) for packet in capture.packets}
    assert {(US_ENCRYPTED, DOCSIS), (US_CLEAR, ETHERNET)} <= links
    assert links <= {(US_ENCRYPTED, DOCSIS), (US_CLEAR, ETHERNET), (US_CLEAR, FRAGMENTS)}
    security = server.config.modems[2].security
    assert security.key is not None
    assert security.iv is not None
    clear = set(packets_of_interface(capture, US_CLEAR))
    frames = [decode_frame(data) for data in packets_of_interface(capture, US_ENCRYPTED)]
    whole = [frame for frame in frames if frame.fc_parm == 0]
    decrypted = [decrypt_pdu(frame.pdu, security.key, security.iv) for frame in whole]
    assert sum(pdu in clear for pdu in decrypted) > 10
    assert all("flow 301" in packet.comment for packet in capture.packets)


def test_tshark_reads_captures_of_all_stages(server: CaptureServer, tshark: Tshark) -> None:
    stages = ("receive", "classify", "schedule", "encrypt_collect", "depi", "validate",
              "uepi", "reassemble", "extract", "verify_source", "transmit")  # fmt: skip
    seen: set[str] = set()
    while not seen >= set(stages):  # slow machines do not capture all stages in that time
        capture = run_capture(server, "--stage", ",".join(stages), "--dropped", "--sample", "7",
                        "--snaplen", "1600", "--seconds", "0.5", "--rate", "6000")  # fmt: skip
        seen = {name.split()[3] for name in capture.links}
    copy = tshark.folder / "live.pcapng"
    copy.write_bytes((server.folder / "out.pcapng").read_bytes())
    copy.chmod(0o644)
    fields = [word for name in ("frame.comment", "frame.interface_name", "frame.encap_type",
              "_ws.malformed") for word in ("-e", name)]  # fmt: skip
    script = ["-X", "lua_script:wireshark/docsis-psp.lua"]
    output = tshark.run(["tshark", "-n", *script, "-r", str(copy), "-T", "fields", *fields])
    rows = [line.split("\t") for line in output.splitlines()]
    encapsulations = {ETHERNET: "1", DOCSIS: "33", FRAGMENTS: "45"}
    assert [row[:3] for row in rows] == [
        [packet.comment, packet.interface, encapsulations[packet.link]]
        for packet in capture.packets
    ]
    assert not [row for row in rows if row[3]]


def test_capture_ends_when_reader_closes_pipe(server: CaptureServer) -> None:
    command = [*server.command("--stage", "receive", "-o", "-")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment(), stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1000)
        process.stdout.close()
        messages = process.stderr.read().decode()
        assert process.wait(TIMEOUT) == 0
    assert messages == "vcmts: the reader of the pipe has ended, so the capture was ended\n"


def test_full_disk_is_reported(server: CaptureServer) -> None:
    done = subprocess.run(
        [*server.command("--stage", "receive"), "-o", "/dev/full"],
        env=environment(), capture_output=True, text=True, timeout=TIMEOUT, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "vcmts: /dev/full: No space left on device; the packets before are in /dev/full\n"
    )


def test_file_at_size_limit_ends_with_complete_packet(server: CaptureServer) -> None:
    out = server.folder / "small.pcapng"
    command = server.command("--stage", "receive", "-o", str(out))
    limit = "import resource, signal, runpy, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (50001, 50001)); sys.argv = sys.argv[3:]; "
    limit += "sys.argv.insert(0, 'vcmts'); runpy.run_module('vcmts', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", limit, "-", "-", *command[3:]],
        env=environment(), capture_output=True, text=True, timeout=TIMEOUT, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "File too large; the packets before are in" in done.stderr
    read_pcapng(out.read_bytes())


def test_capture_says_that_nothing_has_matched(server: CaptureServer) -> None:
    out = str(server.folder / "none.pcapng")
    with subprocess.Popen(
        server.command("--dropped", "runt", "-o", out),
        env=environment(), stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        waits = "vcmts: nothing has matched yet, the capture waits; Ctrl-C ends it\n"
        assert process.stderr.readline() == waits
        assert process.stderr.readline() == "  runt: shorter than an Ethernet header\n"
        process.send_signal(signal.SIGINT)
        messages = process.stderr.read()
        assert process.wait(TIMEOUT) == 0
    assert messages == f"vcmts: 0 packets, 0 missed: in {out}; end: ended by its client\n"


def test_mistyped_name_is_refused_with_the_nearest(server: CaptureServer) -> None:
    message = 'unknown drop reason "filter_den"; did you mean filter_deny?'
    assert run_command(*server.command("--dropped", "filter_den")) == (
        2,
        f"vcmts: {message} `vcmts capture --list` shows all\n",
    )


def test_object_that_is_not_in_service_is_named(server: CaptureServer) -> None:
    command = server.command("--modem", "02:01:00:00:0f:0f")
    message = (
        "vcmts: no modem 02:01:00:00:0f:0f is in service; `vcmts control modem.list` lists them\n"
    )
    assert run_command(*command) == (2, message)


def run_command(*command: str) -> tuple[int, str]:
    """Exit status and output of the command."""
    done = subprocess.run(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=TIMEOUT, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_control_socket_names_the_server(server: CaptureServer, tmp_path: Path) -> None:
    """As in all commands, --socket is the control socket."""
    path = tmp_path / "some.pcapng"
    command = [sys.executable, "-m", "vcmts", "capture", "--socket", str(server.control)]
    status, output = run_command(*command, "--seconds", "0.1", "-o", str(path))
    assert status == 0, output
    assert path.read_bytes().startswith(b"\n\r\r\n")


def test_other_socket_is_rejected(server: CaptureServer, tmp_path: Path) -> None:
    link = tmp_path / "1-capture.sock"
    link.symlink_to(server.control)
    command = [sys.executable, "-m", "vcmts", "capture", "--socket", str(link)]
    message = "vcmts: --socket: found another socket, allowed: a capture socket\n"
    assert run_command(*command) == (2, message)


def test_listed_names_are_accepted(server: CaptureServer) -> None:
    status, output = run_command(*server.command("--list"))
    assert status == 0
    names: dict[str, list[str]] = {"stage": [], "dropped": []}
    key = ""
    for line in output.splitlines():
        if match := re.match(r".*: --(stage|dropped)", line):
            key = match[1]
        elif match := re.match(r"[| ]*([a-z0-9_]+) +[|] *[^ ]", line):
            names[key].append(match[1])
    names = {
        key: [name for name in found if name not in ("stage", "reason")]
        for key, found in names.items()
    }
    assert {"receive", "encrypt_collect", "verify_source"} < set(names["stage"])
    assert {"filter_deny", "psp_late", "port_stray"} < set(names["dropped"])
    request = {"stages": names["stage"], "dropped": names["dropped"], "count": 1}
    assert send_request(server, json.dumps(request).encode() + b"\n") == {"ok": True}


def send_request(server: CaptureServer, request: bytes) -> Any:
    with connect(server) as client:
        with contextlib.suppress(BrokenPipeError):  # rejected and closed before it is read
            client.sendall(request)
        return read_line(client)


def test_capture_ends_when_group_is_removed_or_vcmtsd_ends(tmp_path: Path) -> None:
    """The capture file ends with a comment that says why."""
    text = config_text()
    path = tmp_path / "server.yaml"
    path.write_text("max_groups: 2\nservice_groups:\n  - " + text.replace("\n", "\n    "))
    with (
        tempfile.TemporaryDirectory(prefix="e2e-") as name,
        serve("--config", path, "--control-socket", f"{name}/c.sock") as run,
    ):
        (tmp_path / "sg.yaml").write_text(text)
        server = CaptureServer(run, load_config(tmp_path / "sg.yaml"), Path(name))
        second_group = tmp_path / "nine.yaml"
        second_group.write_text(second_group_config(text))
        with Client(server.control, TIMEOUT) as client, connect(server) as raw:
            client.call("group.add", file=str(second_group))
            raw.sendall(b'{"group": 9, "stages": ["receive"]}\n')
            assert read_line(raw) == {"ok": True}
            client.call("group.remove", group=9)
            assert read_pcapng(read_all(raw)).comments[-1].endswith("ports were removed")
        with connect(server) as raw:
            raw.sendall(b"{}\n")
            assert read_line(raw) == {"ok": True}
            run.process.send_signal(signal.SIGTERM)
            assert read_pcapng(read_all(raw)).comments[-1].endswith("vcmtsd ends")
        done = run.wait()
        assert done.status == 0
        assert f"a capture begins, for process {os.getpid()} of user {os.getuid()}" in done.stderr
        for end in ("all captured groups and ports were removed", "vcmtsd ends"):
            assert re.search(f"a capture ends: [0-9]+ packets, 0 missed: {end}", done.stderr)
