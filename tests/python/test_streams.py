# SPDX-License-Identifier: BSD-3-Clause
"""Tests closed pipes and full disks behind the output of commands, and files written whole."""

import errno
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from patience import TIMEOUT
from vcmts import cli, streams
from vcmts.paths import CHECKOUT

PRINTS = (["--help"], ["run", "--help"], ["capture", "--list"], ["profile", "--list"])


def environment(*, buffered: bool = True) -> dict[str, str]:
    own = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    more = {} if buffered else {"PYTHONUNBUFFERED": "1"}
    return own | {"PYTHONPATH": str(CHECKOUT / "tools")} | more


def run_tool(arguments: list[str], out: int, *, buffered: bool = True) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "vcmts", *arguments],
        env=environment(buffered=buffered),
        stdout=out,
        stderr=subprocess.PIPE,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.fixture
def closed_pipe() -> Iterator[int]:
    """The end for writing of a pipe without a reader."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.fixture
def full_disk() -> Iterator[int]:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


@pytest.mark.parametrize("arguments", PRINTS, ids=" ".join)
@pytest.mark.parametrize("buffered", [True, False])
def test_closed_pipe_is_no_failure(
    arguments: list[str], closed_pipe: int, *, buffered: bool
) -> None:
    assert run_tool(arguments, closed_pipe, buffered=buffered) == (0, "")


@pytest.mark.parametrize("arguments", PRINTS, ids=" ".join)
def test_full_disk_is_named(arguments: list[str], full_disk: int) -> None:
    assert run_tool(arguments, full_disk) == (2, "vcmts: /dev/full: No space left on device\n")


def test_status_without_reader_of_messages(closed_pipe: int) -> None:
    """Errors cannot be printed, but the exit status remains."""
    command = [sys.executable, "-m", "vcmts", "profile", "no-such-profile"]
    done = subprocess.run(command, env=environment(), stderr=closed_pipe, check=False)
    assert done.returncode == 2


def test_command_without_stdout() -> None:
    """`>&-` in a shell."""
    command = f"exec {sys.executable} -m vcmts profile --list >&-"
    assert subprocess.run(["sh", "-c", command], env=environment(), check=False).returncode == 0


def test_writes_go_on_after_reader_has_ended(closed_pipe: int) -> None:
    with os.fdopen(os.dup(closed_pipe), "w") as pipe:
        raw = streams.Stream(pipe.fileno())
        assert [raw.write(b"text"), raw.write(b"more text")] == [4, 9]
    with os.fdopen(os.dup(closed_pipe), "w") as pipe:
        raw = streams.Stream(pipe.fileno(), ends=True)
        with pytest.raises(streams.NoReaderError):
            raw.write(b"text")
        assert raw.write(b"text") == 4


def test_rich_does_not_exit(closed_pipe: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a BrokenPipeError, rich exits with status 1."""
    for ends in (False, True):
        with os.fdopen(os.dup(closed_pipe), "w") as pipe, monkeypatch.context() as patch:
            patch.setattr(sys, "__stdout__", pipe)
            out = streams.guarded(pipe, ends=ends)
            assert isinstance(out, io.TextIOWrapper) and out is not pipe
            if ends:
                with pytest.raises(streams.NoReaderError):
                    Console(file=out).print("text")
            else:
                Console(file=out).print("text")
            out.detach()


def test_endless_commands_exist() -> None:
    assert cli.ENDLESS - {"shell"} <= cli.COMMANDS.keys()


def test_whole_file_replaces_at_the_end(tmp_path: Path) -> None:
    target, link = tmp_path / "out.svg", tmp_path / "link.svg"
    target.write_text("before")
    link.symlink_to("out.svg")
    with streams.whole_file(link) as part:
        assert part.parent == tmp_path and part.suffix == ".svg"
        part.write_text("after")
        assert target.read_text() == "before"
    assert target.read_text() == "after" and link.is_symlink()
    with pytest.raises(ZeroDivisionError), streams.whole_file(target) as part:
        part.write_text("a part of it")
        _ = 1 / 0
    assert target.read_text() == "after"
    assert sorted(tmp_path.iterdir()) == [link, target]


def test_full_disk_leaves_no_part_of_a_file(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    with (
        pytest.raises(OSError, match="No space left") as caught,
        streams.whole_file(target) as part,
    ):
        part.write_text("a part of it")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.filename == str(target)
    assert list(tmp_path.iterdir()) == []
    with streams.whole_file("/dev/null") as device:
        assert device == Path("/dev/null")


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to mount a file system")
def test_profile_on_full_disk(tmp_path: Path) -> None:
    script = (
        f"mount -t tmpfs -o size=64k tmpfs {tmp_path} && "
        f"{sys.executable} -m vcmts profile 6ofdm-0sc-qam_300cms_aes -o {tmp_path}/sg.yaml; "
        f"echo $?; ls {tmp_path}"
    )
    done = subprocess.run(
        [CHECKOUT / "devtools/with-root-mount", "unshare", "-m", "sh", "-c", script],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip(done.stderr)
    assert done.stdout == "2\n"
    assert done.stderr == f"vcmts: {tmp_path}/sg.yaml: No space left on device\n"
