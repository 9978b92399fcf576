# SPDX-License-Identifier: BSD-3-Clause
"""Tests run/witness.py: findings of the independent decoder in captured windows of a run."""

import argparse
from pathlib import Path
from typing import Any

import pytest

from vcmts.paths import MistakeError
from vcmts.run import witness
from vcmts.witness.config import parse_config
from witness.sample import CONFIG, UPSTREAM
from witness.sender import Sender
from witness.upstream_traffic import sending
from witness.windows_file import write_windows

Json = dict[str, Any]
ARGUMENTS = argparse.Namespace(witness=300, impair=None)


def down_packets() -> list[bytes]:
    config = parse_config(CONFIG)
    sender = Sender(config)
    frame = config.modems[0].mac + bytes(200)
    packets = [packet for _ in range(60) for packet in sender.send(1, frame, 1)]
    return packets + sender.flush()


def run(folder: Path, text: str, direction: str, packets: list[bytes], **options: Any) -> Json:
    """Returns the summary of a run whose capture has one window with these packets."""
    config = folder / "sg.yaml"
    config.write_text(text)
    write_windows(folder / witness.CAPTURED, [(f"{direction} 0", packets)])
    merged: Json = {"downstream": {}, "upstream": {}, **options.pop("summary", {})}
    witness.add(merged, config, folder, argparse.Namespace(**{**vars(ARGUMENTS), **options}))
    return merged


def test_good_window_has_no_problems(tmp_path: Path) -> None:
    packets = down_packets()
    merged = run(tmp_path, CONFIG, "downstream", packets)
    result = merged["downstream"]["witness"]
    assert result == {"packets": len(packets), "frames": 60, "wrong": 0, "problems": []}
    assert merged["upstream"]["witness"]["packets"] == 0
    assert witness.wrong_count(merged) == 0
    assert witness.keep_packets(merged, tmp_path, None) is None


def test_problem_is_printed_and_capture_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    packets = down_packets()
    packets[3] = packets[3][:-1] + bytes([packets[3][-1] ^ 1])
    merged = run(tmp_path, CONFIG, "downstream", packets)
    assert witness.wrong_count(merged) == 1
    monkeypatch.chdir(tmp_path.parent)
    folder = witness.keep_packets(merged, tmp_path, None)
    assert folder is not None and (tmp_path.parent / folder).exists()
    witness.print_problems(merged, folder)
    assert "downstream: independent decoder: at 0.0" in capsys.readouterr().err


def test_all_problems_are_counted(tmp_path: Path) -> None:
    packets = [packet[:60] for packet in down_packets()]
    actual = run(tmp_path, CONFIG, "downstream", packets)["downstream"]["witness"]
    assert actual["wrong"] >= len(packets) and len(actual["problems"]) == witness.PRINTED


def test_upstream_window(tmp_path: Path) -> None:
    packets = list(sending(1, parse_config(UPSTREAM)).packets)
    actual = run(tmp_path, UPSTREAM, "upstream", packets)["upstream"]["witness"]
    assert actual["frames"] > 5 and actual["wrong"] == 0
    impaired = run(tmp_path, UPSTREAM, "upstream", packets, impair="psp-loss=1%")
    assert impaired["upstream"]["witness"]["packets"] == 0


@pytest.mark.parametrize(
    ("text", "summary", "message"),
    [
        (CONFIG, {"follow": {"changes": 1}}, "the configuration changed"),
        ("modems: 1", {}, "the independent decoder failed: "),
    ],
)
def test_reason_of_skipped_decoding_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, summary: Json, message: str
) -> None:
    merged = run(tmp_path, text, "downstream", down_packets(), summary=summary)
    assert merged["downstream"]["witness"]["packets"] == 0
    assert message in capsys.readouterr().err


def test_invalid_capture_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sg.yaml").write_text(CONFIG)
    (tmp_path / witness.CAPTURED).write_bytes(b"no blocks of a file")
    merged: Json = {"downstream": {}}
    witness.add(merged, tmp_path / "sg.yaml", tmp_path, ARGUMENTS)
    assert "the independent decoder failed" in capsys.readouterr().err
    assert merged["downstream"]["witness"]["packets"] == 0


@pytest.mark.parametrize("number", [-1, 100_001])
def test_number_out_of_range_is_refused(tmp_path: Path, number: int) -> None:
    with pytest.raises(MistakeError, match="--witness"):
        witness.options(argparse.Namespace(witness=number), tmp_path)


def test_options_of_traffic(tmp_path: Path) -> None:
    assert witness.options(argparse.Namespace(witness=0), tmp_path) == []
    words = witness.options(ARGUMENTS, tmp_path)
    assert words == ["--witness", str(tmp_path / witness.CAPTURED), "--witness-packets", "300"]
