# SPDX-License-Identifier: BSD-3-Clause
"""Tests options that several commands have: one name and one meaning, in all of them."""

import argparse
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from vcmts import cli, options, output, paths, version
from vcmts.paths import MistakeError
from vcmts.system import software
from vcmts.system.files import Files

# Commands that ask a running vcmtsd.
CLIENTS = (
    *("vcmts capture", "vcmts control", "vcmts monitor", "vcmts shell", "vcmts telemetry"),
    "vcmts top",
)
PROGRAMS = (
    *("vcmtsd", "vcmts-traffic", "vcmts-impairments", "vcmts-simulate", "vcmts-simulate-upstream"),
    *(f"vcmts-bench{more}" for more in ("", "-changes", "-maps", "-scheduler", "-throughput")),
)


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser, or those of its commands."""
    inner = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    if not inner:
        yield parser
    for choice in inner:
        for below in choice.choices.values():
            yield from leaves(below)


def commands() -> dict[str, dict[str, argparse.Action]]:
    """The options of all commands, by the command's name and theirs."""
    found = {}
    for name in cli.COMMANDS:
        for one in leaves(cli.make_parser([name])):
            if one.prog.split()[1] == name:
                found[one.prog] = dict(one._option_string_actions)
    return found


COMMANDS = commands()


@pytest.mark.parametrize("name", [name for name in COMMANDS if "--json" in COMMANDS[name]])
def test_json_has_one_meaning(name: str) -> None:
    option = COMMANDS[name]["--json"]
    assert (option.nargs, option.const, option.metavar) == ("?", output.STDOUT, "FILE")
    assert "standard output" in str(option.help)


def test_commands_with_results_write_json() -> None:
    """None of them loses the option, and those that measure are among them."""
    having = {name for name in COMMANDS if "--json" in COMMANDS[name]}
    assert having >= {
        *("vcmts run", "vcmts replay", "vcmts impairments", "vcmts simulate", "vcmts layout"),
        *("vcmts size", "vcmts compare", "vcmts power simulate", "vcmts host check"),
        *("vcmts top", "vcmts telemetry", "vcmts control"),
        *(f"vcmts bench {what}" for what in ("pipeline", "cost", "throughput", "latency")),
    }


def test_plot_is_a_file_in_all_commands() -> None:
    having = {name for name in COMMANDS if "--plot" in COMMANDS[name]}
    assert having == {"vcmts run", "vcmts simulate", "vcmts power simulate"}
    assert all(COMMANDS[name]["--plot"].metavar == "FILE" for name in having)
    assert not [name for name in COMMANDS if "--plots" in COMMANDS[name]]


@pytest.mark.parametrize("name", CLIENTS)
def test_clients_choose_the_server_by_pid_or_socket(name: str) -> None:
    assert COMMANDS[name]["--pid"].type is int
    assert COMMANDS[name]["--socket"].metavar == "PATH"


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["control", "--json", "group.list"], ["control", "--json=-", "group.list"]),
        (["size", "--json", "--groups", "1"], ["size", "--json=-", "--groups", "1"]),
        (["size", "--json"], ["size", "--json=-"]),
        (["size", "--json", "-"], ["size", "--json", "-"]),
        (["size", "--json", "a.json"], ["size", "--json", "a.json"]),
        (["size", "--json", "/dev/null"], ["size", "--json", "/dev/null"]),
        (["size", "--json", "--machine=/a"], ["size", "--json=-", "--machine=/a"]),
        (["size", "--json=a"], ["size", "--json=a"]),
    ],
)
def test_only_a_file_is_taken_for_the_value_of_json(argv: list[str], expected: list[str]) -> None:
    assert options.join_values(argv) == expected


def test_picture_gets_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "day.svg"
    assert options.picture_path(str(path)) == path
    assert path.parent.is_dir() and not path.exists()


@pytest.mark.parametrize("name", ["day.gif", "folder"])
def test_other_pictures_are_refused(name: str) -> None:
    with pytest.raises(MistakeError, match=r"--plot: found .*, allowed: name\.svg or name\.png"):
        options.picture_path(name)


def test_json_on_stdout_is_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with output.text_beside_json("-"):
        print("text")
        output.write_json("-", {"a": 1})
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"a": 1}
    assert captured.err == "text\n"


def test_text_stays_on_stdout_if_json_goes_to_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.json"
    with output.text_beside_json(str(path)):
        print("text")
        output.write_json(str(path), {"a": 1})
    assert capsys.readouterr().out == "text\n"
    assert json.loads(path.read_text(encoding="utf-8")) == {"a": 1}


def test_failed_write_keeps_the_file_and_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    path.write_text("before", encoding="utf-8")

    def full(self: Path, text: str, encoding: str) -> int:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left") as raised:
        output.write_json(str(path), {"a": 1})
    assert raised.value.filename == str(path)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["a.json"]


@pytest.mark.parametrize(
    ("words", "usage", "message"),
    [
        (["run", "--bogus"], "usage: vcmts run ", "vcmts run: error: unknown option --bogus\n"),
        (["run", "--durations=1s"], "usage: vcmts run ", "did you mean --duration?\n"),
        (["bench", "cost", "--bogus"], "usage: vcmts bench cost ", "unknown option --bogus\n"),
        (["run", "--json", "x"], "usage: vcmts run ", "has the suffix .json or a /\n"),
        (["show", "a", "b"], "usage: vcmts show ", "error: unexpected argument b\n"),
        (["--bogus", "run"], "usage: vcmts [", "vcmts: error: unknown option --bogus\n"),
    ],
)
def test_wrong_option_prints_the_usage_of_its_command(
    words: list[str], usage: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith(usage) and error.endswith(message)


def test_all_programs_are_of_one_build() -> None:
    """They print the same facts, beside those of libraries that they do not use."""
    found = {name: version.of_program(name) for name in PROGRAMS}
    for name, facts in found.items():
        assert facts.items() <= found["vcmtsd"].items(), name
        assert re.fullmatch(r"[0-9a-f]{12}(-dirty)?|unknown", facts["commit"])
    assert {"DPDK", "intel-ipsec-mb", "sanitize", "compiler"} <= found["vcmtsd"].keys()
    assert found["vcmtsd"]["version"] == version.number()


@pytest.mark.parametrize("words", [["--version"], ["run", "--version"]])
def test_tool_prints_its_version(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"vcmts {version.number()}"
    assert lines[1] == f"commit: {version.commit_text()}"
    assert any(line.startswith("DPDK: ") for line in lines)


def test_tool_prints_its_version_without_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VCMTS_BUILD", str(tmp_path))
    assert cli.main(["--version"]) == 0
    assert "run `make build` first" in capsys.readouterr().out


def test_first_line_is_that_of_vcmtsd(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable keeps programs of the same build from repeating it."""
    monkeypatch.delenv(version.LOGGED, raising=False)
    line = version.first_line()
    assert os.environ[version.LOGGED] == line
    command = [str(paths.program("vcmtsd")), "run", "--config", "config/example.yaml"]
    command += ["--duration", "1ms", "--network", "nonsense", "--rphy", "nonsense"]
    for environment, count in (({}, 1), ({version.LOGGED: line}, 0)):
        inherited = {key: text for key, text in os.environ.items() if key != version.LOGGED}
        done = subprocess.run(
            command,
            env=inherited | environment,
            cwd=paths.CHECKOUT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr.splitlines().count(f"vcmtsd: {line}") == count
        assert done.stderr.startswith(f"vcmtsd: {line}\n") == bool(count)


def test_revision_of_an_archive_is_its_commit(tmp_path: Path) -> None:
    """`git archive` writes the commit into the script, which finds no git there."""
    script = tmp_path / "devtools" / "revision"
    script.parent.mkdir()
    text = (paths.CHECKOUT / "devtools" / "revision").read_text(encoding="utf-8")
    script.write_text(text.replace("$Format:%H$", COMMIT), encoding="utf-8")
    script.chmod(0o755)

    def revision(**environment: str) -> str:
        inherited = {key: one for key, one in os.environ.items() if key != "VCMTS_REVISION"}
        return subprocess.run(
            [script], env=inherited | environment, stdout=subprocess.PIPE, text=True, check=True
        ).stdout

    assert revision() == f"{COMMIT}\n"
    assert software.revision(Files(), tmp_path) == {"commit": COMMIT, "dirty": False}
    assert revision(VCMTS_REVISION="abc-dirty") == "abc-dirty\n"
    script.write_text(text, encoding="utf-8")
    assert revision() == "unknown\n"
    subprocess.run([paths.CHECKOUT / "devtools" / "revision", "--into", tmp_path], check=True)
    assert re.fullmatch(r"[0-9a-f]{40}(-dirty)?\n|unknown\n", revision())
    attributes = (paths.CHECKOUT / ".gitattributes").read_text(encoding="utf-8")
    assert "devtools/revision export-subst\n" in attributes
