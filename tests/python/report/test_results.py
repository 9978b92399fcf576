# SPDX-License-Identifier: BSD-3-Clause
"""Tests results.py: measurements are stored and read; invalid ones are refused in one line."""

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from python import report_samples
from vcmts import output, results
from vcmts.child import check_writable
from vcmts.paths import MistakeError

Json = dict[str, Any]


def store(folder: Path, file: Json) -> Path:
    path = folder / "file.json"
    path.write_text(json.dumps(file), encoding="utf-8")
    return path


def test_schema_is_valid() -> None:
    Draft202012Validator.check_schema(results.schema())


@pytest.mark.parametrize("kind", results.KINDS)
def test_all_kinds_are_read(kind: str, tmp_path: Path) -> None:
    file = report_samples.all_kinds()[kind]
    assert results.read(store(tmp_path, file)) == file
    interrupted = {**file, "complete": False, "results": [], "host": {"cpu": "A core"}}
    assert results.read(store(tmp_path, interrupted)) == interrupted


@pytest.mark.parametrize("kind", results.KINDS)
def test_unknown_keys_are_allowed(kind: str, tmp_path: Path) -> None:
    file = report_samples.all_kinds()[kind]
    file["results"][0]["future_key"] = [1, {"a": None}]
    assert results.read(store(tmp_path, file)) == file


def test_measurements_of_report_are_validated(tmp_path: Path) -> None:
    whole: Json = {"schema": 1, "kind": "report", "runs": [report_samples.pipeline()]}
    assert results.read(store(tmp_path, whole)) == whole
    whole["runs"][0]["results"][2]["min"] = None
    with pytest.raises(MistakeError, match=r"runs\[0\].results\[2\].min: found null, allowed: num"):
        results.read(store(tmp_path, whole))


def damaged(kind: str, change: Callable[[Json], Any]) -> Json:
    file = copy.deepcopy(report_samples.all_kinds()[kind])
    change(file)
    return file


def put(*path: str | int, value: Any = None) -> Callable[[Json], None]:
    """Returns a function that sets the value at the path, or deletes its key by default."""

    def change(file: Json) -> None:
        inner: Any = file
        for step in path[:-1]:
            inner = inner[step]
        if value is None:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value

    return change


WRONG = (
    (
        "pipeline",
        put("results", 1, "min", value="few"),
        'results[1].min: found "few", allowed: num',
    ),
    ("pipeline", put("results", 0, "cycles_per_packet", value=-1), "found -1, allowed: 0 or more"),
    ("pipeline", put("results", 0, "stages"), "results[0].stages: missing"),
    (
        "pipeline",
        put("results", 0, "direction", value="sideways"),
        'direction: found "sideways", allowed: downstream, upstream',
    ),
    ("pipeline", put("results", 0, "runs", value=0), "runs: found 0, allowed: 1 or more"),
    ("pipeline", put("host", "tsc_hz"), "host.tsc_hz: missing"),
    ("pipeline", put("host", "core_hz", value=0), "core_hz: found 0, allowed: more than 0"),
    ("pipeline", put("complete"), "complete: missing"),
    ("pipeline", put("kind", value="speed"), 'kind: found "speed", allowed: pipeline, cost, sched'),
    ("pipeline", put("results", value={}), "results: found {}, allowed: a list"),
    ("pipeline", put("fits", 0, "fixed", value="a"), 'fits[0].fixed: found "a", allowed: number'),
    (
        "cost",
        put("results", 0, "what", value="fish"),
        'what: found "fish", allowed: modems, filter',
    ),
    ("cost", put("results", 0, "value"), "results[0].value: missing"),
    (
        "scheduler",
        put("results", 0, "dropped", value=1.5),
        "dropped: found 1.5, allowed: 1 or less",
    ),
    ("scheduler", put("results", 3, "rte_sched", "min"), "results[3].rte_sched.min: missing"),
    ("throughput", put("results", 0, "gbps", "total"), "results[0].gbps.total: missing"),
    ("throughput", put("results", 0, "trials", 1, "verdict"), "trials[1].verdict: missing"),
    (
        "throughput",
        put("results", 0, "bound_by", value="moon"),
        'found "moon", allowed: data plane',
    ),
    ("latency", put("results", 2, "end_to_end_us", "p99"), "results[2].end_to_end_us.p99: missing"),
    ("latency", put("results", 0, "load", value=0), "load: found 0, allowed: more than 0"),
    (
        "latency",
        put("results", 0, "end_to_end_us", "histogram", 0, value=[1.5]),
        "results[0].end_to_end_us.histogram[0]: found [1.5], allowed: a list of 2 or more",
    ),
)


@pytest.mark.parametrize(("kind", "change", "error"), WRONG, ids=[error for _, _, error in WRONG])
def test_damaged_file_is_refused(
    kind: str, change: Callable[[Json], None], error: str, tmp_path: Path
) -> None:
    path = store(tmp_path, damaged(kind, change))
    with pytest.raises(MistakeError) as caught:
        results.read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    assert error in message


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100000, "not JSON"),
        ("[]", "the key schema is missing"),
        ("{}", "the key schema is missing"),
        ('{"schema": 2}', "schema: found 2, allowed: 1; measure again"),
        ('{"schema": 1}', "kind: missing"),
        ('{"schema": NaN}', "not JSON"),
        ('{"schema": 1, "kind": []}', "kind: found []"),
        ('{"schema": 1, "kind": "report", "runs": []}', "runs: found [], allowed: a list of 1"),
    ],
)
def test_other_json_is_refused(text: str, error: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MistakeError) as caught:
        results.read(path)
    assert error in str(caught.value) and "\n" not in str(caught.value)


def test_missing_and_binary_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MistakeError, match="No such file"):
        results.read(tmp_path / "none.json")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MistakeError, match="not JSON"):
        results.read(tmp_path / "bytes")


def test_written_measurement_is_read(tmp_path: Path) -> None:
    sample = report_samples.pipeline()
    path = tmp_path / "bench.json"
    measured = results.Measurement(
        "pipeline", ["/somewhere/vcmts/__main__.py", "bench", "pipeline"], "group", sample["host"]
    )
    measured.results = sample["results"]
    measured.write(str(path))
    file = results.read(path)
    assert file["complete"] is False and file["results"] == sample["results"]
    assert file["command"] == ["./vcmts", "bench", "pipeline"]
    assert file["host"]["core_hz"] == sample["host"]["core_hz"]
    assert file["host"]["cpu"] == "Sample processor" and "kernel" in file["host"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["bench.json"]


def test_commands_have_no_folders() -> None:
    folder = os.path.join(os.sep + "home", "someone", "work")
    arguments = ["vcmts", "--config", f"{folder}/sg.yaml", f"--json={folder}/a.json", "a/b.json"]
    arguments += [f"net_memif0,socket={folder}/x.sock,id=0", "0000:3b:00.1", "84:15,256:10"]
    assert results.without_local_paths(arguments) == [
        *("./vcmts", "--config", "sg.yaml", "--json=a.json", "a/b.json"),
        *("net_memif0,socket=x.sock,id=0", "0000:3b:00.1", "84:15,256:10"),
    ]


def test_folders_with_blanks_are_removed() -> None:
    home = f"{os.sep}home"
    arguments = ["vcmts", "--config", f"{home}/John Doe/x.yaml", f"-o{home}/me/r.html"]
    arguments += ["--watts-command", f"{home}/me/a b/watts.sh --of {home}/me/c"]
    assert results.without_local_paths(arguments) == [
        *("./vcmts", "--config", "x.yaml", "-or.html", "--watts-command", "watts.sh --of c")
    ]


def test_each_missing_key_is_reported() -> None:
    file = damaged("pipeline", lambda one: (one.pop("command"), one.pop("host")))
    assert sorted(results.violations(file)) == ["command: missing", "host: missing"]


def test_stdout_is_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    """If stdout is a file, the tables that were printed stay."""
    print("table")
    output.replace_file("/dev/stdout", "figures")
    assert capsys.readouterr().out == "table\nfigures"


def test_device_is_not_replaced(tmp_path: Path) -> None:
    """As root, `--json /dev/null` would replace the device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    output.replace_file(pipe, "figures")
    assert os.read(reader, 100) == b"figures"
    os.close(reader)
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_symlink_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("target.json")
    output.replace_file(tmp_path / "link.json", "figures")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "target.json").read_text() == "figures"


def test_check_for_writable_file_creates_none(tmp_path: Path) -> None:
    """An empty file would be read as an invalid result."""
    check_writable(str(tmp_path / "new.json"))
    assert not (tmp_path / "new.json").exists()
    (tmp_path / "old.json").write_text("unchanged")
    check_writable(str(tmp_path / "old.json"))
    assert (tmp_path / "old.json").read_text() == "unchanged"
    with pytest.raises(MistakeError, match="choose another file"):
        check_writable(str(tmp_path / "missing" / "new.json"))


def test_mix_from_file_has_no_folder() -> None:
    one = {"point": "@sizes.txt", "mix": "@/srv/mine/sizes.txt", "upstream_mix": "84:15,256:85"}
    file = results.Measurement("throughput", ["vcmts"], "", {}, [one], {"mix": "@/a/b"}).as_json()
    assert file["mix"] == "@b"
    assert file["results"][0] == one | {"mix": "@sizes.txt"}
