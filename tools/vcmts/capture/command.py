# SPDX-License-Identifier: BSD-3-Clause
"""The command `vcmts capture`: writes packets at the stages of a running vcmtsd to a pcapng file.

Exit status: 0 if it ended as requested, 1 if vcmtsd ended it, 2 for wrong arguments or a full disk.
"""

import argparse
import contextlib
import json
import os
import re
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

from vcmts import options
from vcmts.capture import waiting
from vcmts.capture.blocks import Blocks, CaptureStatus, FormatError
from vcmts.capture.listing import show
from vcmts.control.peer import connect, server_pid
from vcmts.control.sockets import in_service, only_one
from vcmts.jsons import Json
from vcmts.paths import MistakeError, notify

FILE = "capture.pcapng"
STDOUT = "-"
PIECE = 1 << 18  # maximum bytes per read
ANSWER_MAX = 1 << 16  # bytes of the line before the file
PROGRESS_SECONDS = 1.0
QUIET_SECONDS = 3.0  # without a packet, until hints are printed
SIZES = {"": 1, "B": 1, "kB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}
REQUESTED_ENDS = ("requested", "client")  # ends that the user or the client requested
COPIED = ("group", "direction", "modem", "flow", "session",
               "count", "seconds", "rate", "sample", "snaplen")  # fmt: skip
EPILOG = """examples:
  vcmts capture --dropped filter_deny --count 10        packets that a filter denies
  vcmts capture --modem 02:01:00:00:00:01 --seconds 10  a modem's packets, both directions
  vcmts capture --stage frame,encrypt_collect -o -      both sides of encryption, into a pipe:
  vcmts capture -o - | wireshark -X lua_script:wireshark/docsis-psp.lua -k -i -

Without --stage and --dropped, it captures subscribers' packets: downstream after `classify`, which
finds the service flow, upstream after `verify_source`, before they are sent to the network.
"""


def beside(control: Path) -> Path:
    """The capture socket of the vcmtsd that listens at a control socket, in its folder. A capture
    socket is returned as it is. Raises MistakeError."""
    if re.fullmatch(r"\d+-capture\.sock", control.name):
        return control
    return control.with_name(f"{server_pid(control)}-capture.sock")


def choose_socket(given: Path | None, pid: int | None) -> Path:
    """Returns the capture socket beside the given control socket, that of a process, or the only
    one in service."""
    if given is not None:
        return beside(given)
    return only_one(in_service(f"{pid if pid is not None else '*'}-capture.sock"), pid)


class Output:
    """An output file or pipe. A file always ends with a whole block, also after a failed write."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self.size = 0

    def write(self, data: bytes) -> None:
        """Writes whole blocks. On failure, truncates a file to the blocks before and raises
        OSError."""
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError:
            if self._regular:
                os.ftruncate(self._descriptor, self.size)
            raise
        self.size += len(data)


@contextmanager
def open_output(name: str) -> Iterator[Output]:
    """Opens the output. `-` is standard output, which must not be a terminal."""
    if name == STDOUT:
        if sys.stdout.isatty():
            raise MistakeError("-o -: found a terminal, allowed: a pipe, as to wireshark -k -i -")
        yield Output(sys.stdout.fileno())
        return
    try:
        descriptor = os.open(
            Path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600
        )
    except OSError as error:
        raise MistakeError(f"-o {name}: {error.strerror}") from error
    try:
        yield Output(descriptor)
    finally:
        os.close(descriptor)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    add = parser.add_argument
    add("--list", action="store_true", help="print stages and drop reasons, then exit")
    options.add_server(parser)
    add("--group", type=int, metavar="ID", help="only this service group")
    add("--stage", action="append", metavar="NAME[,NAME]", help="packets that leave these stages "
        "or end there; NAME:in and NAME:out for one side")  # fmt: skip
    add("--direction", choices=("downstream", "upstream"), help="only this direction")
    add("--modem", metavar="MAC", help="only this modem's packets")
    add("--flow", type=int, metavar="SFID", help="only packets of this service flow")
    add("--session", type=lambda text: int(text, 0), metavar="ID", help="only this L2TPv3 session")
    add("--dropped", nargs="?", const="", action="append", metavar="REASON[,REASON]",
        help="dropped packets, for these reasons or any")  # fmt: skip
    add("--count", type=int, metavar="N", help="end after this number of packets")
    add("--seconds", type=float, metavar="S", help="end after this time")
    add("--rate", type=int, metavar="R", help="maximum packets per second (default: 10000)")
    add("--sample", type=int, metavar="N", help="capture every Nth packet (default: 1)")
    add("--snaplen", type=int, metavar="N", help="maximum captured bytes per packet")
    add("--max-size", metavar="SIZE", help="end when the file has this size (default: 100MB)")
    add("-o", "--output", metavar="FILE", default=FILE, help=f"output file; - is standard output "
        f"(default: {FILE})")  # fmt: skip


def parse_size(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kMGT]?B|)", text)
    if found is None:
        raise MistakeError(f"--max-size: found {text}, allowed: a size such as 100MB")
    return int(float(found[1]) * SIZES[found[2]])


def split_names(given: list[str]) -> list[str]:
    return [word for text in given for word in text.split(",") if word]


def capture_request(arguments: argparse.Namespace) -> Json:
    """The capture request as JSON. vcmtsd validates the values."""
    request: Json = {
        key: getattr(arguments, key) for key in COPIED if getattr(arguments, key) is not None
    }
    if arguments.stage is not None:
        request["stages"] = split_names(arguments.stage)
    if arguments.dropped is not None:
        request["dropped"] = split_names(arguments.dropped) or True
    if arguments.max_size is not None:
        request["max_size"] = parse_size(arguments.max_size)
    return request


def check_answer(line: bytes) -> None:
    try:
        answer = json.loads(line)
    except ValueError:
        answer = None
    if answer == {"ok": True}:
        return
    if isinstance(answer, dict) and isinstance(answer.get("error"), str):
        raise MistakeError(answer["error"])
    raise MistakeError("--socket: found another socket, allowed: a capture socket")


def send_request(connection: socket.socket, request: Json) -> bytes:
    """Sends the request and checks the answer. Returns the bytes received after the answer."""
    received = b""
    with contextlib.suppress(OSError):  # vcmtsd may have answered and closed already
        connection.sendall(json.dumps(request).encode() + b"\n")
    with contextlib.suppress(OSError):
        while (
            b"\n" not in received
            and len(received) < ANSWER_MAX
            and (piece := connection.recv(PIECE))
        ):
            received += piece
    line, found, incomplete = received.partition(b"\n")
    if not found:
        raise MistakeError("vcmtsd ended the connection before it answered")
    check_answer(line)
    return incomplete


@contextmanager
def stoppable(connection: socket.socket) -> Iterator[None]:
    """On the first signal, requests the end of the file from vcmtsd; the second one kills."""

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        with contextlib.suppress(OSError):  # vcmtsd has ended already
            connection.shutdown(socket.SHUT_WR)

    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, stop) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def status_text(status: CaptureStatus) -> str:
    text = f"{status.packets:,} packets, {status.missed:,} missed"
    return f"{text}, {status.limited:,} beyond the rate" if status.limited else text


def progress(status: CaptureStatus) -> None:
    if sys.stderr.isatty():
        print(f"\r{status_text(status)}; Ctrl-C ends it\033[K", end="", file=sys.stderr, flush=True)


def receive_pieces(connection: socket.socket, first: bytes) -> Iterator[bytes]:
    """Yields pieces of the file, and an empty one after PROGRESS_SECONDS without data."""
    connection.settimeout(PROGRESS_SECONDS)
    if first:
        yield first
    while True:
        try:
            piece = connection.recv(PIECE)
        except TimeoutError:
            yield b""
            continue
        except ConnectionResetError:
            return
        if not piece:
            return
        yield piece


def copy(
    connection: socket.socket, first: bytes, output: Output, hint: Callable[[], str]
) -> CaptureStatus:
    """Copies the file. Prints `hint` if there is no packet for QUIET_SECONDS."""
    blocks, begin = Blocks(), time.monotonic()
    last, hinted = begin, False
    progress(blocks.status)  # at once, as packets may come much later
    for piece in receive_pieces(connection, first):
        whole = b"".join(blocks.feed(piece))
        if whole:
            output.write(whole)
        now = time.monotonic()
        if not hinted and blocks.status.packets == 0 and now - begin >= QUIET_SECONDS:
            clear_progress()
            notify(hint())
            hinted = True
        if now - last >= PROGRESS_SECONDS:
            progress(blocks.status)
            last = now
    return blocks.status


def clear_progress() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)


def print_result(status: CaptureStatus, where: str) -> int:
    clear_progress()
    end = status.end if status.end is not None else "vcmtsd ended or disconnected this capture"
    notify(f"{status_text(status)}: {where}; end: {end}")
    return 0 if status.end is not None and any(word in end for word in REQUESTED_ENDS) else 1


def run_capture(
    connection: socket.socket, first: bytes, output: Output, name: str, hint: Callable[[], str]
) -> int:
    where = "to standard output" if name == STDOUT else f"in {name}"
    try:
        with stoppable(connection):
            return print_result(copy(connection, first, output, hint), where)
    except BrokenPipeError:
        notify("the reader of the pipe has ended, so the capture was ended")
        return 0
    except FormatError:
        notify(f"vcmtsd sent data that is not pcapng; the packets before are {where}")
        return 1
    except OSError as error:
        notify(f"{name}: {error.strerror}; the packets before are {where}")
        return 2


def main(arguments: argparse.Namespace) -> int:
    if arguments.list:
        show()
        return 0
    request = capture_request(arguments)
    with connect(choose_socket(arguments.socket, arguments.pid)) as connection:
        first = send_request(connection, request)
        with open_output(arguments.output) as output:
            hint = partial(waiting.text, arguments, split_names(arguments.dropped or []))
            return run_capture(connection, first, output, arguments.output, hint)
