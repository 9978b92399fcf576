# SPDX-License-Identifier: BSD-3-Clause
"""Live captures of a vcmtsd in service: one run of traffic that never ends, and many captures."""

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

from e2e.control.capturing import (
    DENIED,
    FIRST_MODEM,
    Served,
    all_of,
    captured,
    config_text,
    connection,
    downstream_frames,
    line_of,
    nine_of,
    served_without_end,
)
from e2e.control.pcapng_reader import Read, read_pcapng
from e2e.ports import serve
from e2e.running import environment
from patience import TIMEOUT
from vcmts.control.client import Client
from vcmts.witness.bpi import decrypt_pdu
from vcmts.witness.config import load_config
from vcmts.witness.docsis import decode_frame
from wireshark.stage import Stage

ETHERNET, DOCSIS, PIECES = 1, 143, 147
DS_FRAME, DS_ENCRYPTED = "sg 1 downstream frame out", "sg 1 downstream encrypt_collect out"
US_ENCRYPTED, US_CLEAR = "sg 1 upstream extract out", "sg 1 upstream decrypt_collect out"


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with served_without_end() as made:
        yield made


def test_a_denied_packet_is_found(served: Served) -> None:
    read = captured(served, "--dropped", "filter_deny", "--count", "20")
    assert len(read.packets) == 20
    denied = {frame[14:] for frame in downstream_frames() if frame[36:38] == DENIED.to_bytes(2)}
    for packet in read.packets:
        assert packet.reason == "filter_deny"
        assert f"modem {FIRST_MODEM}" in packet.comment
        assert "stage filter dropped" in packet.comment
        assert packet.data[14:] in denied
        assert packet.data[:6] == bytes.fromhex(FIRST_MODEM.replace(":", ""))
    assert set(read.links.values()) == {ETHERNET}
    assert read.comments[-1].endswith("end: the number of packets requested")


def test_drops_of_any_reason(served: Served) -> None:
    read = captured(served, "--dropped", "--rate", "4000", "--count", "1500")
    reasons = {packet.reason for packet in read.packets}
    assert {"filter_deny", "unknown_destination"} < reasons
    assert reasons & {"psp_late", "psp_duplicate"}
    for packet in read.packets:
        if packet.reason in ("psp_late", "psp_duplicate"):  # with its outer headers again
            assert (packet.link, packet.data[12:14], packet.data[23]) == (1, b"\x08\x00", 115)
            assert "session 0x0002" in packet.comment
    times = [packet.time_ns for packet in read.packets]
    assert times == sorted(times)


def pdus_of(read: Read, interface: str) -> list[bytes]:
    return [packet.data for packet in read.packets if packet.interface == interface]


def test_both_sides_of_downstream_encryption(served: Served) -> None:
    """The frame that goes out encrypted is the one that came in clear, by the witness's key."""
    read = captured(served, "--stage", "frame,encrypt_collect", "--direction", "downstream",
                    "--modem", FIRST_MODEM, "--rate", "1000000", "--count", "600")  # fmt: skip
    assert read.links == {DS_FRAME: DOCSIS, DS_ENCRYPTED: DOCSIS}
    security = served.config.modems[0].security
    assert security.key is not None
    assert security.iv is not None
    clear = {packet.data for packet in read.packets if packet.interface == DS_FRAME}
    assert all(p.wire_size == len(p.data) + 4 for p in read.packets if p.interface == DS_FRAME)
    found = 0
    for data in pdus_of(read, DS_ENCRYPTED):
        frame = decode_frame(data)
        header = data[: -len(frame.pdu)]
        plain = decrypt_pdu(frame.pdu, security.key, security.iv)
        assert plain != frame.pdu
        found += header + plain[:-4] in clear
    assert found > 100


def test_both_sides_of_upstream_encryption(served: Served) -> None:
    read = captured(served, "--stage", "extract,decrypt_collect", "--direction", "upstream",
                    "--flow", "301", "--rate", "1000000", "--count", "400")  # fmt: skip
    links = {(packet.interface, packet.link) for packet in read.packets}
    assert {(US_ENCRYPTED, DOCSIS), (US_CLEAR, ETHERNET)} <= links
    assert links <= {(US_ENCRYPTED, DOCSIS), (US_CLEAR, ETHERNET), (US_CLEAR, PIECES)}
    security = served.config.modems[2].security
    assert security.key is not None
    assert security.iv is not None
    clear = set(pdus_of(read, US_CLEAR))
    frames = [decode_frame(data) for data in pdus_of(read, US_ENCRYPTED)]
    whole = [frame for frame in frames if frame.fc_parm == 0]
    decrypted = [decrypt_pdu(frame.pdu, security.key, security.iv) for frame in whole]
    assert sum(pdu in clear for pdu in decrypted) > 10
    assert all("flow 301" in packet.comment for packet in read.packets)


def test_tshark_reads_every_boundary(served: Served, stage: Stage) -> None:
    stages = ("receive", "classify", "schedule", "encrypt_collect", "depi", "validate",
              "uepi", "reassemble", "extract", "verify_source", "transmit")  # fmt: skip
    seen: set[str] = set()
    while not seen >= set(stages):  # some machines are too slow for all of them in that time
        read = captured(served, "--stage", ",".join(stages), "--dropped", "--sample", "7",
                        "--snaplen", "1600", "--seconds", "0.5", "--rate", "6000")  # fmt: skip
        seen = {name.split()[3] for name in read.links}
    copy = stage.folder / "live.pcapng"
    copy.write_bytes((served.folder / "out.pcapng").read_bytes())
    copy.chmod(0o644)
    fields = [word for name in ("frame.comment", "frame.interface_name", "frame.encap_type",
              "_ws.malformed") for word in ("-e", name)]  # fmt: skip
    script = ["-X", "lua_script:wireshark/docsis-psp.lua"]
    said = stage.run(["tshark", "-n", *script, "-r", str(copy), "-T", "fields", *fields])
    rows = [line.split("\t") for line in said.splitlines()]
    encapsulations = {ETHERNET: "1", DOCSIS: "33", PIECES: "45"}
    assert [row[:3] for row in rows] == [
        [packet.comment, packet.interface, encapsulations[packet.link]] for packet in read.packets
    ]
    assert not [row for row in rows if row[3]]


def test_the_reader_goes(served: Served) -> None:
    command = [*served.command("--stage", "receive", "-o", "-")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment(), stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1000)
        process.stdout.close()
        said = process.stderr.read().decode()
        assert process.wait(TIMEOUT) == 0
    assert said == "vcmts: who read the capture is gone; it was ended\n"


def test_a_full_disk(served: Served) -> None:
    done = subprocess.run(
        [*served.command("--stage", "receive"), "-o", "/dev/full"],
        env=environment(), capture_output=True, text=True, timeout=TIMEOUT, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == (
        "vcmts: /dev/full: No space left on device; what came before is in /dev/full\n"
    )


def test_a_file_that_may_not_grow(served: Served) -> None:
    """What does not fit is taken back to the last whole packet."""
    out = served.folder / "small.pcapng"
    words = served.command("--stage", "receive", "-o", str(out))
    limit = "import resource, signal, runpy, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (50001, 50001)); sys.argv = sys.argv[3:]; "
    limit += "sys.argv.insert(0, 'vcmts'); runpy.run_module('vcmts', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", limit, "-", "-", *words[3:]],
        env=environment(), capture_output=True, text=True, timeout=TIMEOUT, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "File too large; what came before is in" in done.stderr
    read_pcapng(out.read_bytes())


def said_by(*command: str) -> tuple[int, str]:
    """Exit status, and what it printed."""
    done = subprocess.run(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=TIMEOUT, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_another_socket(served: Served) -> None:
    command = [sys.executable, "-m", "vcmts", "capture", "--socket", str(served.control)]
    said = "vcmts: --socket: found another socket, allowed: a capture socket\n"
    assert said_by(*command) == (2, said)


def test_list(served: Served) -> None:
    """Every name of it can be asked for."""
    status, said = said_by(*served.command("--list"))
    assert status == 0
    names: dict[str, list[str]] = {"stage": [], "dropped": []}
    key = ""
    for line in said.splitlines():
        if found := re.match(r".*: --(stage|dropped)", line):
            key = found[1]
        elif found := re.match(r"[│ ]*([a-z0-9_]+) +│ *[^ ]", line):
            names[key].append(found[1])
    assert {"receive", "encrypt_collect", "verify_source"} < set(names["stage"])
    assert {"filter_deny", "psp_late", "port_stray"} < set(names["dropped"])
    wish = {"stages": names["stage"], "dropped": names["dropped"], "count": 1}
    assert answer_to(served, json.dumps(wish).encode() + b"\n") == {"ok": True}


def answer_to(served: Served, wish: bytes) -> Any:
    with connection(served) as made:
        with contextlib.suppress(BrokenPipeError):  # refused before it was read
            made.sendall(wish)
        return line_of(made)


def test_a_group_that_is_removed_and_the_end_of_vcmtsd(tmp_path: Path) -> None:
    """What was captured ends with a word."""
    text = config_text()
    path = tmp_path / "server.yaml"
    path.write_text("max_groups: 2\nservice_groups:\n  - " + text.replace("\n", "\n    "))
    with (
        tempfile.TemporaryDirectory(prefix="e2e-") as name,
        serve("--config", path, "--control-socket", f"{name}/c.sock") as run,
    ):
        (tmp_path / "sg.yaml").write_text(text)
        served = Served(run, load_config(tmp_path / "sg.yaml"), Path(name))
        nine = tmp_path / "nine.yaml"
        nine.write_text(nine_of(text))
        with Client(served.control, TIMEOUT) as client, connection(served) as made:
            client.call("group.add", file=str(nine))
            made.sendall(b'{"group": 9, "stages": ["receive"]}\n')
            assert line_of(made) == {"ok": True}
            client.call("group.remove", group=9)
            assert read_pcapng(all_of(made)).comments[-1].endswith("ports were removed")
        with connection(served) as made:
            made.sendall(b"{}\n")
            assert line_of(made) == {"ok": True}
            run.process.send_signal(signal.SIGTERM)
            assert read_pcapng(all_of(made)).comments[-1].endswith("vcmtsd ends")
        done = run.wait()
        assert done.status == 0
        assert f"a capture begins, for process {os.getpid()} of user {os.getuid()}" in done.stderr
        for end in ("all captured groups and ports were removed", "vcmtsd ends"):
            assert re.search(f"a capture ends: [0-9]+ packets, 0 missed: {end}", done.stderr)
