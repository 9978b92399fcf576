# SPDX-License-Identifier: BSD-3-Clause
"""What `vcmts simulate` refuses, in one line."""

import json
import sys
from pathlib import Path

import pytest

from vcmts import cli

MISTAKE = 2
UPSTREAM = "--upstream"
BEYOND = {"type": "pgs", "guaranteed_rate": 1e9, "grant_interval": 0.002}
FILES = {
    "list": "[]",
    "text": "rate = 5\n",
    "wrong": '{"service_flows": [{}], "senders": [{"rtt": 11}]}',
    "none": "{}",
    "far": '{"flows": [{"km": 161}]}',
    "size": '{"flows": [{"sizes": [{}, {"bytes": 1}]}]}',
    "delay": '{"flows": [{}], "delays": {"cmts": 1}}',
    "key": '{"flows": [{}], "channels": {"colour": 1}}',
    "pgs": json.dumps({"flows": [BEYOND]}),
}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nonsense"], "nonsense: no such scenario; allowed: light, "),
        (["missing.json"], "missing.json: No such file"),
        (["list.json"], "list.json: an object is expected"),
        (["text.json"], "text.json: Expecting value"),
        (["wrong.json"], "wrong.json: senders[0].rtt: allowed: 0.0001 to 10"),
        (["light", "--plots", "."], "--plots: goes alone"),
        (["--plots", "nowhere"], "--plots nowhere: no such folder"),
        ([UPSTREAM, "nonsense"], "nonsense: no such scenario; allowed: light-1ms, "),
        ([UPSTREAM, "missing.json"], "missing.json: [Errno 2] No such file"),
        ([UPSTREAM, "list.json"], "list.json: an object is expected"),
        ([UPSTREAM, "text.json"], "text.json: Expecting value"),
        ([UPSTREAM, "none.json"], "none.json: flows: at least one is needed"),
        ([UPSTREAM, "far.json"], "far.json: flows[0].km: allowed: 0 to 160"),
        ([UPSTREAM, "size.json"], "size.json: flows[0].sizes[1].bytes: allowed: 16 to 16000"),
        ([UPSTREAM, "delay.json"], "delay.json: delays.cmts: allowed: 0 to 0.1"),
        ([UPSTREAM, "key.json"], "key.json: channels.colour: no such key"),
        ([UPSTREAM, "pgs.json"], "pgs.json: "),
        ([UPSTREAM, "light-1ms", "--aqm", "wred"], "--aqm: is of the downstream"),
        ([UPSTREAM, "light-1ms", "--plots", "."], "--plots: goes alone"),
        ([UPSTREAM, "--plots", "nowhere"], "--plots nowhere: no such folder"),
    ],
)
def test_mistakes(
    words: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(f"{name}.json").write_text(text)
    assert cli.main(["simulate", *words]) == MISTAKE
    said = capfd.readouterr().err
    assert said.startswith(f"vcmts: {told}") and said.count("\n") == 1


@pytest.mark.parametrize("words", [[], [UPSTREAM]], ids=["downstream", "upstream"])
def test_without_matplotlib(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["simulate", *words, "--plots", "."]) == MISTAKE
    said = capfd.readouterr().err
    assert said.endswith("matplotlib is missing; run devtools/install-deps plot\n")
