# SPDX-License-Identifier: BSD-3-Clause
"""vcmts capture: packets of a vcmtsd in service, copied at the boundaries of its stages.

Exit status: 0 when it ended as was asked for, 1 when vcmtsd or the disk ended it, 2 for a mistake
in the arguments.
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from vcmts.capture.blocks import Blocks, BrokenError, Told
from vcmts.capture.listing import show
from vcmts.control import trust
from vcmts.control.place import in_service
from vcmts.jsons import Json
from vcmts.paths import MistakeError, complain

FILE = "capture.pcapng"
STDOUT = "-"
PIECE = 1 << 18  # bytes taken at a time
ANSWER_MAX = 1 << 16  # bytes of the line before the file
PROGRESS_SECONDS = 1.0
SIZES = {"": 1, "B": 1, "kB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}
WANTED = ("requested", "client")  # ends that the user or the client requested
AS_THEY_ARE = ("group", "direction", "modem", "flow", "session",
               "count", "seconds", "rate", "sample", "snaplen")  # fmt: skip
EPILOG = """examples:
  vcmts capture --dropped filter_deny --count 10        packets that a filter denies, and whose
  vcmts capture --modem 02:00:00:00:00:01 --seconds 10  a modem's packets, both directions
  vcmts capture --stage frame,encrypt_collect -o -      both sides of encryption, into a pipe:
  vcmts capture -o - | wireshark -X lua_script:wireshark/docsis-psp.lua -k -i -

Without --stage and --dropped the packets of subscribers are captured: downstream when their service
flow is known (classify), upstream when they go to the network (verify_source).
"""


def chosen(given: Path | None, pid: int | None) -> Path:
    """The capture socket that is given, that of a process, or the only one that is in service."""
    if given is not None:
        return given
    found = in_service(f"{pid if pid is not None else '*'}-capture.sock")
    if len(found) == 1:
        return found[0]
    if not found:
        which = f"no vcmtsd {pid}" if pid is not None else "no vcmtsd"
        raise MistakeError(f"found {which} in service; --socket names a capture socket elsewhere")
    pids = ", ".join(path.name.partition("-")[0] for path in found)
    raise MistakeError(f"several are in service: choose one by --pid: {pids}")


class Output:
    """Takes whole blocks only: what cannot be written whole is taken back where that can be."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self.size = 0

    def write(self, data: bytes) -> None:
        """Raises OSError where it cannot; then the blocks before are all that is there."""
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
def opened(name: str) -> Iterator[Output]:
    """`-` is standard output, which must not be a terminal."""
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
    add("--list", action="store_true", help="show stages and drop reasons, and end")
    add("--pid", type=int, help="which vcmtsd, where several are in service")
    add("--socket", type=Path, metavar="PATH", help="its capture socket, where it is elsewhere")
    add("--group", type=int, metavar="ID", help="only this service group")
    add("--stage", action="append", metavar="NAME[,NAME]", help="what comes out of these stages, "
        "or ends there; NAME:in and NAME:out for one side")  # fmt: skip
    add("--direction", choices=("downstream", "upstream"), help="only this one")
    add("--modem", metavar="MAC", help="only this modem's packets")
    add("--flow", type=int, metavar="SFID", help="only those of this service flow")
    add("--session", type=lambda text: int(text, 0), metavar="ID", help="only this L2TPv3 session")
    add("--dropped", nargs="?", const="", action="append", metavar="REASON[,REASON]",
        help="packets that are dropped, for these reasons or any")  # fmt: skip
    add("--count", type=int, metavar="N", help="end after so many packets")
    add("--seconds", type=float, metavar="S", help="end after this time")
    add("--rate", type=int, metavar="R", help="at most so many packets per second (default: 10000)")
    add("--sample", type=int, metavar="N", help="one in so many packets (default: 1)")
    add("--snaplen", type=int, metavar="N", help="at most so many bytes of each packet")
    add("--max-size", metavar="SIZE", help="end when the file has this size (default: 100MB)")
    add("-o", "--output", metavar="FILE", default=FILE, help=f"where to; - is standard output "
        f"(default: {FILE})")  # fmt: skip


def size_of(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kMGT]?B|)", text)
    if found is None:
        raise MistakeError(f"--max-size: found {text}, allowed: a size such as 100MB")
    return int(float(found[1]) * SIZES[found[2]])


def words(given: list[str]) -> list[str]:
    return [word for text in given for word in text.split(",") if word]


def wish_of(arguments: argparse.Namespace) -> Json:
    """As vcmtsd reads it, which judges the values."""
    wish: Json = {
        key: getattr(arguments, key) for key in AS_THEY_ARE if getattr(arguments, key) is not None
    }
    if arguments.stage is not None:
        wish["stages"] = words(arguments.stage)
    if arguments.dropped is not None:
        wish["dropped"] = words(arguments.dropped) or True
    if arguments.max_size is not None:
        wish["max_size"] = size_of(arguments.max_size)
    return wish


def connected(path: Path) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.connect(str(path))
        trust.check_peer(made, path)
    except OSError as error:
        made.close()
        raise MistakeError(f"{path}: {trust.connect_fault(path, error)}") from error
    return made


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


def answered(made: socket.socket, wish: Json) -> bytes:
    """What came behind the answer, which is good."""
    heard = b""
    with contextlib.suppress(OSError):  # it may have answered before
        made.sendall(json.dumps(wish).encode() + b"\n")
    with contextlib.suppress(OSError):
        while b"\n" not in heard and len(heard) < ANSWER_MAX and (piece := made.recv(PIECE)):
            heard += piece
    line, found, rest = heard.partition(b"\n")
    if not found:
        raise MistakeError("vcmtsd ended the connection before it answered")
    check_answer(line)
    return rest


@contextmanager
def stoppable(made: socket.socket) -> Iterator[None]:
    """The first signal asks vcmtsd for the file's end, the second ends this at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        with contextlib.suppress(OSError):  # it has ended by itself
            made.shutdown(socket.SHUT_WR)

    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, stop) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def told_text(told: Told) -> str:
    text = f"{told.packets:,} packets, {told.missed:,} missed"
    return f"{text}, {told.limited:,} beyond the rate" if told.limited else text


def progress(told: Told) -> None:
    if sys.stderr.isatty():
        print(f"\r{told_text(told)}; Ctrl-C ends it\033[K", end="", file=sys.stderr, flush=True)


def pieces(made: socket.socket, first: bytes) -> Iterator[bytes]:
    if first:
        yield first
    while True:
        try:
            piece = made.recv(PIECE)
        except ConnectionResetError:
            return
        if not piece:
            return
        yield piece


def copy(made: socket.socket, first: bytes, output: Output) -> Told:
    blocks, last = Blocks(), time.monotonic()
    progress(blocks.told)  # there may be nothing to capture for a long time
    for piece in pieces(made, first):
        whole = b"".join(blocks.take(piece))
        if whole:
            output.write(whole)
        if time.monotonic() - last >= PROGRESS_SECONDS:
            progress(blocks.told)
            last = time.monotonic()
    return blocks.told


def finished(told: Told, where: str) -> int:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    end = told.end if told.end is not None else "vcmtsd ended, or let this capture go"
    print(f"vcmts: {told_text(told)}: {where}; end: {end}", file=sys.stderr)
    return 0 if told.end is not None and any(word in end for word in WANTED) else 1


def captured(made: socket.socket, first: bytes, output: Output, name: str) -> int:
    where = "to standard output" if name == STDOUT else f"in {name}"
    try:
        with stoppable(made):
            return finished(copy(made, first, output), where)
    except BrokenPipeError:
        complain("who read the capture is gone; it was ended")
        return 0
    except BrokenError:
        complain(f"what vcmtsd sent is no capture; what came before is {where}")
        return 1
    except OSError as error:
        complain(f"{name}: {error.strerror}; what came before is {where}")
        return 1


def main(arguments: argparse.Namespace) -> int:
    if arguments.list:
        show()
        return 0
    wish = wish_of(arguments)
    with connected(chosen(arguments.socket, arguments.pid)) as made:
        first = answered(made, wish)
        with opened(arguments.output) as output:
            return captured(made, first, output, arguments.output)
