# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts size` with bench files, answers computed by hand, and refused files."""

import json
from pathlib import Path
from typing import Any

import pytest

from python.conftest import ExpectError
from vcmts import cli

Json = dict[str, Any]
# A reference cycle (TSC) takes 1.5 core cycles.
HOST = {"cpu": "A core", "tsc_hz": 2.0e9, "core_hz": 3.0e9, "huge_pages": True}
BASE = {"schema": 1, "complete": True, "configuration": "6ofdm-0sc-qam_300cms_aes", "host": HOST}
SERVER = ("--cores-per-socket", "32", "--memory-per-service-group", "0.125")


def result(direction: str, mix: str, mean: float, cycles: float, **more: Any) -> Json:
    return {
        "direction": direction, "mix": mix, "mean_bytes": mean, "cycles_per_packet": cycles, **more
    }  # fmt: skip


RESULTS = [
    result("downstream", "imix", 1000, 800),
    # A downstream on two cores (1ds2t); sizing uses results of one.
    result("downstream", "imix", 1000, 500, threads=2),
    result("downstream", "84", 84, 400),
    result("downstream", "1284", 1284, 1000),
    result("upstream", "upstream-imix", 300, 600),
    result("upstream", "84", 84, 400),
]
PIPELINE = BASE | {"kind": "pipeline", "results": RESULTS}
POINT: Json = {
    "mix": "imix",
    "upstream_mix": "upstream-imix",
    "bound_by": "data plane",
    "mean_bytes": {"downstream": 1000, "upstream": 300},
    "gbps": {"downstream": 15.0, "upstream": 6.0, "total": 21.0},
}
THROUGHPUT = BASE | {"kind": "throughput", "results": [POINT]}
COST = BASE | {
    "kind": "cost",
    "results": [
        {"what": "modems", "value": n, "direction": direction, "memory_bytes": gib * 2**30,
         "cycles_per_packet": down if direction == "downstream" else up}
        for direction in ("downstream", "upstream")
        for n, down, up, gib in
        ((300, 800, 600, 0.1), (3000, 1000, 660, 0.4), (30000, 1200, 750, 3.1))
    ],
}  # fmt: skip


def store(folder: Path, **files: Json) -> list[str]:
    """Writes bench files by name. Returns --machine options for them."""
    arguments = []
    for name, content in files.items():
        path = folder / f"{name}.json"
        path.write_text(json.dumps(content))
        arguments += ["--machine", str(path)]
    return arguments


def size_one(
    machine: list[str], *options: str, folder: Path, server: tuple[str, ...] = SERVER
) -> Json:
    """Runs `vcmts size` for one kind of service group. `machine`: of store()."""
    answer = folder / "size.json"
    assert cli.main(["size", *machine, *server, *options, "--json", str(answer)]) == 0
    [kind] = json.loads(answer.read_text())["kinds"]
    result: Json = kind
    return result


def test_reference_cycles_become_core_cycles(tmp_path: Path) -> None:
    """800 reference cycles at 2 GHz are 1,200 core cycles at 3 GHz: 20 Gbps of 1,000 bytes."""
    machine = store(tmp_path, pipeline=PIPELINE)
    actual = size_one(machine, "--groups", "6ofdm:8Gbps/1Gbps", folder=tmp_path)
    assert actual["core_cycles_per_packet"] == pytest.approx(1200)
    assert actual["core_gbps"] == pytest.approx(20)
    slower = ("--core-clock", "1.5GHz", "--headroom", "20", "--groups", "6ofdm:7Gbps/1Gbps")
    assert size_one(machine, *slower, folder=tmp_path)["core_gbps"] == pytest.approx(20 / 2 * 0.8)
    assert actual["per_server"] == 16, "by the rules of 2023"
    notes = " ".join(actual["outside_what_was_measured"])
    assert "16 service groups at once on a socket: measured with up to 1" in notes


def test_hyper_threads_share_a_core(tmp_path: Path) -> None:
    """600 reference cycles upstream are 900 core cycles or 8 Gbps: 4 Gbps on one of two threads."""
    machine = store(tmp_path, pipeline=PIPELINE)
    actual = size_one(machine, "--groups", "6ofdm:8Gbps/4Gbps", folder=tmp_path)
    assert "x 0.5 core = 4.00 Gbps" in " ".join(actual["steps"])
    assert "hyper-threads do 1 times" in " ".join(actual["assumed"])
    gain = ("--thread-gain", "1.25", "--groups", "6ofdm:8Gbps/5Gbps")
    assert "x 0.625 core = 5.00 Gbps" in " ".join(
        size_one(machine, *gain, folder=tmp_path)["steps"]
    )
    single = ("--threads-per-core", "1", "--groups", "6ofdm:8Gbps/5Gbps")
    actual = size_one(machine, *single, folder=tmp_path)
    assert actual["per_server"] == 12, "2.375 cores per service group, of 30"
    assert actual["cores"]["data_plane"] == 24


@pytest.mark.parametrize(
    ("mix", "cycles", "mean", "note"),
    [
        ("84", 600, 84, ""),
        ("684", 1050, 684, "from the cycles of single sizes"),
        ("84:1,1284:1", 1050, 684, "from the cycles of single sizes"),
        ("1884", 1950, 1884, "measured from 84 to 1284 bytes, extrapolated to 1884"),
    ],
)
def test_cycles_of_mixes(mix: str, cycles: float, mean: float, note: str, tmp_path: Path) -> None:
    """Between 84 and 1,284 bytes, a byte takes half a reference cycle, 0.75 core cycles."""
    machine = store(tmp_path, pipeline=PIPELINE)
    actual = size_one(machine, "--mix", mix, "--groups", "6ofdm:1Gbps/1Gbps", folder=tmp_path)
    assert actual["core_cycles_per_packet"] == pytest.approx(cycles)
    assert actual["core_gbps"] == pytest.approx(3 / cycles * mean * 8)
    notes = " ".join(actual["outside_what_was_measured"])
    assert note in notes and ("single sizes" in notes) == bool(note)


def test_measured_throughput_bounds_the_rate(tmp_path: Path) -> None:
    machine = store(tmp_path, pipeline=PIPELINE, throughput=THROUGHPUT)
    actual = size_one(machine, "--groups", "6ofdm:8Gbps/1Gbps", folder=tmp_path)
    assert actual["core_gbps"] == 15
    alone = size_one(machine[2:], "--groups", "6ofdm:8Gbps/1Gbps", folder=tmp_path)
    assert alone["core_gbps"] == 15
    other = THROUGHPUT | {"results": [POINT | {"bound_by": "traffic", "confirmed": False}]}
    machine = store(tmp_path, throughput=other)
    actual = size_one(machine, "--groups", "6ofdm:8Gbps/1Gbps", folder=tmp_path)
    notes = " ".join(actual["outside_what_was_measured"])
    assert "bound by traffic" in notes and "not confirmed" in notes


def test_measured_throughput_bounds_only_downstream(tmp_path: Path) -> None:
    """The throughput search applies upstream as a share of downstream: 1.5 Gbps are no limit of a
    core, which carries 8 by its cycles."""
    slow = POINT | {"gbps": {"downstream": 10.0, "upstream": 1.5, "total": 11.5}}
    files = {"pipeline": PIPELINE, "throughput": THROUGHPUT | {"results": [slow]}}
    machine = store(tmp_path, **files)
    actual = size_one(machine, "--groups", "6ofdm:8Gbps/4Gbps", folder=tmp_path)
    assert actual["core_gbps"] == 10
    assert "upstream, on this server: 8.00 Gbps x 0.5 core = 4.00" in " ".join(actual["steps"])
    actual = size_one(machine[2:], "--groups", "6ofdm:8Gbps/0.75Gbps", folder=tmp_path)
    assert "upstream as applied" in " ".join(actual["outside_what_was_measured"])


def test_throughput_scales_with_clock_and_modems(tmp_path: Path) -> None:
    """15 Gbps at 3.6 GHz are 12.5 at 3 GHz. 3,000 modems take 1.25 times the cycles: 10 Gbps."""
    faster = THROUGHPUT | {"host": HOST | {"core_hz": 3.6e9}}
    machine = store(tmp_path, pipeline=PIPELINE, throughput=faster, cost=COST)
    actual = size_one(machine, "--groups", "6ofdm:8Gbps/1Gbps", folder=tmp_path)
    assert actual["core_gbps"] == pytest.approx(12.5)
    slow = ("--core-clock", "1.5GHz", "--groups", "6ofdm:6Gbps/1Gbps")
    assert size_one(machine, *slow, folder=tmp_path)["core_gbps"] == pytest.approx(12.5 / 2)
    more = ("--modems", "3000", "--groups", "6ofdm:8Gbps/1Gbps")
    assert size_one(machine, *more, folder=tmp_path)["core_gbps"] == pytest.approx(10)
    actual = size_one(machine[2:4], *more, folder=tmp_path)
    assert "3000 modems: measured with 300" in " ".join(actual["outside_what_was_measured"])


@pytest.mark.parametrize(
    ("workers", "note"),
    [
        (1, "one core carried both ways at once"),
        (2, "one core each way"),
        (3, "3 cores carried its rates"),
    ],
)
def test_cores_that_carried_the_throughput(workers: int, note: str, tmp_path: Path) -> None:
    trials = [{"busy_share": [0.5] * workers}]
    machine = store(tmp_path, throughput=THROUGHPUT | {"results": [POINT | {"trials": trials}]})
    actual = size_one(machine, "--groups", "6ofdm:8Gbps/1Gbps", folder=tmp_path)
    assert note in " ".join(actual["outside_what_was_measured"])


@pytest.mark.parametrize(
    ("modems", "factor", "upstream", "gib", "note"),
    [
        (150, 1.0, 1.0, 0.1 - 0.3 / 18, "150 modems: measured from 300 on"),
        (300, 1.0, 1.0, 0.1, ""),
        (1650, 900 / 800, 1.05, 0.25, ""),
        (30000, 1.5, 1.25, 3.1, ""),
        (60000, 1.5, 1.25, 6.1, "measured up to 30000"),
    ],
)
def test_cost_of_modems(
    modems: int, factor: float, upstream: float, gib: float, note: str, tmp_path: Path
) -> None:
    """`factor`, `upstream`: cycles downstream and upstream, relative to 300 modems, not
    extrapolated. `gib`: per service group, extrapolated by the nearest two points."""
    machine = store(tmp_path, pipeline=PIPELINE, cost=COST)
    options = ("--modems", str(modems), "--groups", "6ofdm:8Gbps/1Gbps")
    actual = size_one(machine, *options, folder=tmp_path, server=SERVER[:2])
    assert actual["core_gbps"] == pytest.approx(20 / factor)
    assert f"upstream, on this server: {8 / upstream:.2f} Gbps x 0.5 core" in " ".join(
        actual["steps"]
    )
    assert actual["memory_gib"] == pytest.approx(4 + actual["per_server"] * gib)
    notes = " ".join(actual["outside_what_was_measured"])
    assert note in notes and ("modems" in notes) == bool(note)


def test_upstream_of_throughput_has_its_cost_of_modems(tmp_path: Path) -> None:
    """3,000 modems take 660 cycles instead of 600: 6 Gbps become 6 * 600 / 660 = 5.45."""
    machine = store(tmp_path, throughput=THROUGHPUT, cost=COST)
    options = ("--modems", "3000", "--groups", "6ofdm:8Gbps/1Gbps")
    actual = size_one(machine, *options, folder=tmp_path)
    assert "upstream, on this server: 5.45 Gbps x 0.5 core" in " ".join(actual["steps"])


def test_extrapolations_are_reported(tmp_path: Path) -> None:
    machine = store(tmp_path, pipeline=PIPELINE)
    options = ("--groups", "2ofdm-32sc-qam:4Gbps/1Gbps", "--modems", "900", "--crypto", "none")
    actual = size_one(machine, *options, folder=tmp_path, server=SERVER[:2])
    notes = " ".join(actual["outside_what_was_measured"])
    for words in ("measured with 6ofdm", "900 modems: measured with 300", "crypto none",
                  "memory: unknown"):  # fmt: skip
        assert words in notes
    assert actual["memory_gib"] is None


@pytest.mark.parametrize("modems", [300, 900])
def test_memory_of_pipeline_file(modems: int, tmp_path: Path) -> None:
    machine = store(tmp_path, pipeline=PIPELINE | {"memory": {"total": 2**28}})
    options = ("--groups", "6ofdm:8Gbps/1Gbps", "--modems", str(modems))
    actual = size_one(machine, *options, folder=tmp_path, server=SERVER[:2])
    assert actual["memory_gib"] == pytest.approx(4 + 16 / 4)
    notes = " ".join(actual["outside_what_was_measured"])
    assert ("memory for 900 modems: that of 300" in notes) == (modems == 900)


def without(whole: Json, *keys: str) -> Json:
    return {key: value for key, value in whole.items() if key not in keys}


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ([], "the key schema is missing"),
        (PIPELINE | {"schema": 2}, "schema: found 2, allowed: 1"),
        (PIPELINE | {"kind": "latency"}, "kind: found 'latency'"),
        (without(PIPELINE, "kind"), "kind: found None"),
        (PIPELINE | {"complete": False}, "interrupted"),
        (PIPELINE | {"results": []}, "results: [] "),
        (PIPELINE | {"results": [7]}, "results.0: 7 is not of type"),
        (PIPELINE | {"results": [result("downstream", "imix", 1000, 0)]}, "cycles_per_packet: 0"),
        (without(PIPELINE, "host"), "'host' is a required"),
        (PIPELINE | {"host": HOST | {"core_hz": 0}}, "host.core_hz: 0"),
        (PIPELINE | {"results": [result("upstream", "84", 84, 9)]}, "downstream was not measured"),
        (PIPELINE | {"results": [result("downstream", "84", 84, 9)]}, "mix imix: not measured"),
        (PIPELINE | {"configuration": "6ofdm-0sc-qam_300cms_none"}, "measured without"),
        (without(PIPELINE, "configuration"), "configuration"),
        (PIPELINE | {"results": [{"direction": "downstream", "cycles_per_packet": 1,
                                  "mean_bytes": 1}]}, "mix"),
        (COST, "pipeline or throughput is needed"),
        (THROUGHPUT | {"results": [{"mix": "imix"}]}, "'upstream_mix' is a required"),
        (THROUGHPUT | {"results": [POINT | {"trials": [{"busy_share": 1}]}]}, "busy_share: 1 is"),
        (THROUGHPUT | {"results": [POINT | {"gbps": {"downstream": 0}}]}, "nothing was carried"),
    ],
)  # fmt: skip
def test_bad_file_fails(
    content: Json, error: str, tmp_path: Path, expect_error: ExpectError
) -> None:
    machine = store(tmp_path, bench=content)
    expect_error(error, "size", *machine, *SERVER, "--groups", "6ofdm:1Gbps/1Gbps")


@pytest.mark.parametrize(
    ("files", "options", "error"),
    [
        ({"a": PIPELINE, "b": PIPELINE}, SERVER, "a second file of kind pipeline"),
        (
            {"a": PIPELINE, "b": COST | {"host": HOST | {"cpu": "B core"}}},
            SERVER,
            "different machines: A core, B core",
        ),
        ({"a": PIPELINE}, (), "--cores-per-socket: needed"),
        ({"a": PIPELINE}, (*SERVER, "--mix", "banana"), "mix banana: not measured, allowed: imix"),
        ({"a": PIPELINE}, (*SERVER, "--mix", "²"), "mix ²: not measured, allowed: imix"),
        (
            {"a": PIPELINE | {"results": [*RESULTS, result("downstream", "²", 84, 9)]}},
            (*SERVER, "--mix", "banana"),
            "mix banana: not measured, allowed: imix",
        ),
        ({"a": PIPELINE}, (*SERVER, "--mix", "84:0"), "shares above 0"),
        ({"a": PIPELINE}, (*SERVER, "--mix", "20"), "64 to 9000"),
        ({"a": PIPELINE}, (*SERVER, "--crypto", "aes-qat"), "allowed: aes or none"),
        ({"a": THROUGHPUT}, (*SERVER, "--mix", "84"), "imix with upstream-imix"),
    ],
)
def test_bad_combinations_are_refused(
    files: dict[str, Json],
    options: tuple[str, ...],
    error: str,
    tmp_path: Path,
    expect_error: ExpectError,
) -> None:
    machine = store(tmp_path, **files)
    expect_error(error, "size", *machine, *options, "--groups", "6ofdm:1Gbps/1Gbps")
