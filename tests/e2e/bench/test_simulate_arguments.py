# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts simulate` rejects invalid arguments and scenario files with one line."""

import json
import sys
from pathlib import Path

import pytest

from vcmts import cli

USAGE_ERROR = 2
UPSTREAM = "--upstream"
FLOWS = '"service_flows": [{"sustained_rate": 10e6}]'
EXCESSIVE_GRANTS = {"type": "pgs", "guaranteed_rate": 1e9, "grant_interval": 0.002}


def check_rejected(args: list[str], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["simulate", *args]) == USAGE_ERROR
    error = capfd.readouterr().err
    assert error.startswith(f"vcmts: {message}") and error.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nonsense"], "nonsense: no such scenario; allowed: light, "),
        (["missing.json"], "missing.json: No such file"),
        (["light", "--plot", "a.svg"], "--plot: not allowed together with"),
        (["--plot", "a.png"], "--plot: found a.png, allowed: name.svg"),
        ([UPSTREAM, "nonsense"], "nonsense: no such scenario; allowed: light-1ms, "),
        ([UPSTREAM, "missing.json"], "missing.json: [Errno 2] No such file"),
        ([UPSTREAM, "light-1ms", "--aqm", "wred"], "--aqm: not allowed with --upstream"),
        ([UPSTREAM, "light-1ms", "--plot", "a.svg"], "--plot: not allowed together with"),
        ([UPSTREAM, "--plot", "/proc/no/a.svg"], "--plot /proc/no/a.svg: No such file"),
    ],
)
def test_invalid_arguments_are_rejected(
    args: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    check_rejected(args, message, capfd)


DOWNSTREAM_FILES = [
    ("rate = 5", "Expecting value"),
    ("[]", "not a JSON object"),
    ("{}", "service_flows: at least one"),
    ('{"service_flows": {}}', "service_flows: an array"),
    ('{"service_flows": [1]}', "service_flows[0]: an object"),
    ('{"service_flow": []}', "service_flow: no such key"),
    ('{"duration": "1", FLOWS}', "duration: allowed: 0.1 to 3600"),
    ('{"duration": 5, "warmup": 5, FLOWS}', "warmup: is not less"),
    (
        '{"service_flows": [{"aqm": "red"}]}',
        "service_flows[0].aqm: allowed: tail-drop wred docsis-pie",
    ),
    (
        '{"service_flows": [{"wred": {"weight": 16}}]}',
        "service_flows[0].wred.weight: allowed: 1 to 15",
    ),
    ('{"channels": [{}], FLOWS}', "channels[0].rate: is missing"),
    ('{"senders": [{"service_flow": 1}], FLOWS}', "senders[0].service_flow: allowed: 0 to 0"),
    ('{"senders": [{"kind": "cbr"}], FLOWS}', "senders[0].rate: required with cbr"),
    ('{"senders": [{"rtt": 11}], FLOWS}', "senders[0].rtt: allowed: 0.0001 to 10"),
    ('{"senders": [{"rtt": 0.2, "rtt_max": 0.1}], FLOWS}', "senders[0].rtt_max: is less"),
    ('{"changes": [{"at": 1}], FLOWS}', "changes[0].sustained_rate: is missing"),
    (
        '{"changes": [{"sustained_rate": 1e6}], "service_flows": [{}]}',
        "changes[0].service_flow: the flow has no",
    ),
]
UPSTREAM_FILES = [
    ("rate = 5", "Expecting value"),
    ("[]", "not a JSON object"),
    ("{}", "flows: at least one is needed"),
    ('{"flows": [1]}', "flows[0]: an object"),
    ('{"duration": 5, "warmup": 5, "flows": [{}]}', "warmup: is not less"),
    ('{"flows": [{}, {"type": "best"}]}', "flows[1].type: allowed: best-effort "),
    ('{"flows": [{"km": 161}]}', "flows[0].km: allowed: 0 to 160"),
    ('{"flows": [{"km": 10, "km_max": 9}]}', "flows[0].km_max: is less"),
    ('{"flows": [{"conduct": "beyond"}]}', "flows[0].conduct: allowed: honest "),
    ('{"flows": [{"count": 10000}, {"count": 10000}]}', "flows: at most 16000"),
    ('{"channels": {"kind": 1}, "flows": [{}]}', "channels.kind: allowed"),
    ('{"channels": {"count": 65}, "flows": [{}]}', "channels.count: allowed"),
    ('{"channels": {"colour": 1}, "flows": [{}]}', "channels.colour: no such key"),
    ('{"delays": {"cmts": 1}, "flows": [{}]}', "delays.cmts: allowed: 0 to 0.1"),
    ('{"delays": {"x": 1}, "flows": [{}]}', "delays.x: no such key"),
    ('{"flows": [{"sizes": [{"share": 2}]}]}', "flows[0].sizes[0].share: allowed"),
    (
        '{"flows": [{"sizes": [{}, {"bytes": 1}]}]}',
        "flows[0].sizes[1].bytes: allowed: 16 to 16000",
    ),
    (json.dumps({"flows": [EXCESSIVE_GRANTS]}), ""),
]


@pytest.mark.parametrize(
    ("args", "text", "message"),
    [
        *(((), text, message) for text, message in DOWNSTREAM_FILES),
        *(((UPSTREAM,), text, message) for text, message in UPSTREAM_FILES),
    ],
)
def test_invalid_files_are_rejected(
    args: tuple[str, ...],
    text: str,
    message: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "x.json"
    path.write_text(text.replace("FLOWS", FLOWS))
    check_rejected([*args, str(path)], f"{path}: {message}", capfd)


@pytest.mark.parametrize("args", [[], [UPSTREAM]], ids=["downstream", "upstream"])
def test_plots_without_matplotlib_are_rejected(
    args: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["simulate", *args, "--plot", "a.svg"]) == USAGE_ERROR
    error = capfd.readouterr().err
    assert error.endswith("matplotlib is missing; run devtools/install-deps plot\n")
