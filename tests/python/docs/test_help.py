# SPDX-License-Identifier: BSD-3-Clause
"""Tests the commands `vcmts completion` and `vcmts help`, which work in a checkout."""

import shutil
import subprocess
from pathlib import Path

import pytest

from vcmts import cli
from vcmts.manual import help as help_command
from vcmts.manual import pages

# Prints what the shell offers for a command line. `script` is the output of `vcmts completion`.
OFFERS = {
    "bash": """
        source "$1"; compopt() { :; }
        COMP_WORDS=($2) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        declared=$(complete -p "${COMP_WORDS[0]##*/}"); declared=${declared#*-F }; ${declared%% *}
        printf '%s\\n' "${COMPREPLY[@]}"
    """,
    "fish": "source $argv[1]; complete -C $argv[2]",
}


def need(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def script(shell: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> Path:
    """Writes what `vcmts completion` prints to a file."""
    assert cli.main(["completion", shell]) == 0
    path = folder / "script"
    path.write_text(capfd.readouterr().out)
    return path


def output(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_shells_offer_commands_of_all_programs(
    shell: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The tool is completed as `./vcmts`, too."""
    need(shell)
    file = script(shell, tmp_path, capfd)
    command = [shell, "-c", OFFERS[shell]] + (["bash"] if shell == "bash" else [])

    def offers(line: str) -> list[str]:
        return [text.split("\t")[0] for text in output(*command, file, line).splitlines()]

    assert offers("./vcmts comple") == ["completion"]
    assert {"pipeline", "latency"} <= {*offers("./vcmts bench pip"), *offers("vcmts bench lat")}
    assert "describe" in offers("vcmtsd desc")
    assert "--send-only" in offers("vcmts-traffic --send-")


def test_zsh_registers_all_programs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    need("zsh")
    file = script("zsh", tmp_path, capfd)
    registered = "source $1; print $_comps[vcmts] $_comps[vcmtsd] $_comps[vcmts-traffic]"
    shown = output("zsh", "-fc", registered, "zsh", file)
    assert shown.split() == ["_vcmts", "_vcmtsd", "_vcmts-traffic"]


def test_completion_needs_no_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VCMTS_BUILD", str(tmp_path))
    assert cli.main(["completion", "bash"]) == 0
    printed = capfd.readouterr().out
    assert "complete -F _vcmts vcmts\n" in printed and "vcmtsd\n" not in printed


@pytest.mark.parametrize("topic", [*cli.COMMANDS, "vcmtsd", "vcmts-traffic", "vcmts.yaml"])
def test_help_has_a_page_of_each_command(topic: str) -> None:
    name = f"vcmts-{topic}" if topic in cli.COMMANDS else topic
    page = help_command.page_text(topic)
    assert page.startswith(f".TH {pages.plain(name.upper())} {'5' if '.' in name else '1'} ")


def test_help_shows_pages_with_man(capfd: pytest.CaptureFixture[str]) -> None:
    need("man")
    assert cli.main(["help", "validate"]) == 0
    shown = capfd.readouterr()
    assert "VCMTS-VALIDATE(1)" in shown.out and shown.err == ""
    assert cli.main(["help", "nonsense"]) == 2
    assert capfd.readouterr().err.startswith('vcmts: no command "nonsense"; `')


def test_help_without_man_prints_usage(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SystemExit) as ended:
        cli.main(["help", "validate"])
    assert ended.value.code == 0
    assert capfd.readouterr().out.startswith("usage: vcmts validate")
