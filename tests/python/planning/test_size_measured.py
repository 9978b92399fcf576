# SPDX-License-Identifier: BSD-3-Clause
"""vcmts size from files of `vcmts bench`, with answers that can be computed by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from python.conftest import ExpectError
from vcmts import cli

Json = dict[str, Any]
# A reference cycle is 1.5 core cycles.
HOST = {"cpu": "A core", "tsc_hz": 2.0e9, "core_hz": 3.0e9, "huge_pages": True}
BASE = {
    "schema": 1,
    "complete": True,
    "configuration": "6ofdm-0sc-qam_300cms_aes",
    "host": HOST,
}
SERVER = ("--cores-per-socket", "32", "--memory-per-service-group", "0.125")


def result(direction: str, mix: str, mean: float, cycles: float, **more: Any) -> Json:
    return {
        "direction": direction, "mix": mix, "mean_bytes": mean, "cycles_per_packet": cycles, **more
    }  # fmt: skip


PIPELINE = BASE | {
    "kind": "pipeline",
    "results": [
        result("downstream", "imix", 1000, 800),
        result("downstream", "imix", 1000, 500, threads=2),
        result("downstream", "84", 84, 400),
        result("downstream", "1284", 1284, 1000),
        result("upstream", "upstream-imix", 300, 600),
        result("upstream", "84", 84, 400),
    ],
}
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
         "cycles_per_packet": cycles if direction == "downstream" else 7 * n}
        for direction in ("downstream", "upstream")
        for n, cycles, gib in ((300, 800, 0.1), (3000, 1000, 0.4), (30000, 1200, 3.1))
    ],
}  # fmt: skip


def stored(place: Path, **files: Json) -> list[str]:
    words = []
    for name, content in files.items():
        path = place / f"{name}.json"
        path.write_text(json.dumps(content))
        words += ["--machine", str(path)]
    return words


def one(machine: list[str], *options: str, place: Path, server: tuple[str, ...] = SERVER) -> Json:
    answer = place / "size.json"
    assert cli.main(["size", *machine, *server, *options, "--json", str(answer)]) == 0
    [kind] = json.loads(answer.read_text())["kinds"]
    found: Json = kind
    return found


def test_reference_and_core_cycles(tmp_path: Path) -> None:
    """800 reference cycles at 2 GHz are 1,200 core cycles at 3 GHz: 20 Gbps of 1,000 bytes."""
    machine = stored(tmp_path, pipeline=PIPELINE)
    found = one(machine, "--groups", "6ofdm:8Gbps/1Gbps", place=tmp_path)
    assert found["core_cycles_per_packet"] == pytest.approx(1200)
    assert found["core_gbps"] == pytest.approx(20)
    slower = ("--core-clock", "1.5GHz", "--headroom", "20", "--groups", "6ofdm:7Gbps/1Gbps")
    assert one(machine, *slower, place=tmp_path)["core_gbps"] == pytest.approx(20 / 2 * 0.8)
    assert found["per_server"] == 16, "by the rules of 2023"
    said = " ".join(found["outside_what_was_measured"])
    assert "16 service groups at once on a socket: measured with up to 1" in said


def test_hyper_threads(tmp_path: Path) -> None:
    """600 reference cycles upstream are 900 core cycles, 8 Gbps: 4 on one of two threads."""
    machine = stored(tmp_path, pipeline=PIPELINE)
    found = one(machine, "--groups", "6ofdm:8Gbps/4Gbps", place=tmp_path)
    assert "x 0.5 core = 4.00 Gbps" in " ".join(found["steps"])
    assert "hyper-threads do 1 times" in " ".join(found["assumed"])
    gain = ("--thread-gain", "1.25", "--groups", "6ofdm:8Gbps/5Gbps")
    assert "x 0.625 core = 5.00 Gbps" in " ".join(one(machine, *gain, place=tmp_path)["steps"])
    single = ("--threads-per-core", "1", "--groups", "6ofdm:8Gbps/5Gbps")
    found = one(machine, *single, place=tmp_path)
    assert found["per_server"] == 12, "2.375 cores a service group of 30"
    assert found["cores"]["data_plane"] == 24


@pytest.mark.parametrize(
    ("mix", "cycles", "mean", "said"),
    [
        ("84", 600, 84, ""),
        ("684", 1050, 684, "from the cycles of single sizes"),
        ("84:1,1284:1", 1050, 684, "from the cycles of single sizes"),
        ("1884", 1950, 1884, "measured from 84 to 1284 bytes, extrapolated to 1884"),
    ],
)
def test_mixes(mix: str, cycles: float, mean: float, said: str, tmp_path: Path) -> None:
    """Half a reference cycle a byte between 84 and 1,284 bytes."""
    machine = stored(tmp_path, pipeline=PIPELINE)
    found = one(machine, "--mix", mix, "--groups", "6ofdm:1Gbps/1Gbps", place=tmp_path)
    assert found["core_cycles_per_packet"] == pytest.approx(cycles)
    assert found["core_gbps"] == pytest.approx(3 / cycles * mean * 8)
    assert said in " ".join(found["outside_what_was_measured"])
    assert ("single sizes" in " ".join(found["outside_what_was_measured"])) == bool(said)


def test_zero_loss_throughput_is_less_than_cycles_promise(tmp_path: Path) -> None:
    machine = stored(tmp_path, pipeline=PIPELINE, throughput=THROUGHPUT)
    found = one(machine, "--groups", "6ofdm:8Gbps/1Gbps", place=tmp_path)
    assert found["core_gbps"] == 15
    alone = one(machine[2:], "--groups", "6ofdm:8Gbps/1Gbps", place=tmp_path)
    assert alone["core_gbps"] == 15
    other = THROUGHPUT | {"results": [POINT | {"bound_by": "traffic", "confirmed": False}]}
    machine = stored(tmp_path, throughput=other)
    found = one(machine, "--groups", "6ofdm:8Gbps/1Gbps", place=tmp_path)
    said = " ".join(found["outside_what_was_measured"])
    assert "bound by traffic" in said and "not confirmed" in said


def test_a_search_bounds_the_downstream_alone(tmp_path: Path) -> None:
    """Its upstream is a share of the downstream: 1.5 Gbps are not what a core carries, but 8."""
    slow = POINT | {"gbps": {"downstream": 10.0, "upstream": 1.5, "total": 11.5}}
    files = {"pipeline": PIPELINE, "throughput": THROUGHPUT | {"results": [slow]}}
    machine = stored(tmp_path, **files)
    found = one(machine, "--groups", "6ofdm:8Gbps/4Gbps", place=tmp_path)
    assert found["core_gbps"] == 10
    assert "upstream, on this server: 8.00 Gbps x 0.5 core = 4.00" in " ".join(found["steps"])
    found = one(machine[2:], "--groups", "6ofdm:8Gbps/0.75Gbps", place=tmp_path)
    assert "upstream as applied" in " ".join(found["outside_what_was_measured"])


def test_a_search_on_another_clock_and_with_other_modems(tmp_path: Path) -> None:
    """15 Gbps at 3.6 GHz are 12.5 at the 3 GHz of the pipeline's file, and 10 with 3,000 modems."""
    faster = THROUGHPUT | {"host": HOST | {"core_hz": 3.6e9}}
    machine = stored(tmp_path, pipeline=PIPELINE, throughput=faster, cost=COST)
    found = one(machine, "--groups", "6ofdm:8Gbps/1Gbps", place=tmp_path)
    assert found["core_gbps"] == pytest.approx(12.5)
    slow = ("--core-clock", "1.5GHz", "--groups", "6ofdm:6Gbps/1Gbps")
    assert one(machine, *slow, place=tmp_path)["core_gbps"] == pytest.approx(12.5 / 2)
    more = ("--modems", "3000", "--groups", "6ofdm:8Gbps/1Gbps")
    assert one(machine, *more, place=tmp_path)["core_gbps"] == pytest.approx(10)
    found = one(machine[2:4], *more, place=tmp_path)
    assert "3000 modems: measured with 300" in " ".join(found["outside_what_was_measured"])


@pytest.mark.parametrize(
    ("workers", "said"),
    [
        (1, "one core carried both ways at once"),
        (2, "one core each way"),
        (3, "3 cores carried its rates"),
    ],
)
def test_which_cores_carried_a_rate(workers: int, said: str, tmp_path: Path) -> None:
    trials = [{"busy_share": [0.5] * workers}]
    machine = stored(tmp_path, throughput=THROUGHPUT | {"results": [POINT | {"trials": trials}]})
    found = one(machine, "--groups", "6ofdm:8Gbps/1Gbps", place=tmp_path)
    assert said in " ".join(found["outside_what_was_measured"])


@pytest.mark.parametrize(
    ("modems", "factor", "gib", "said"),
    [
        (300, 1.0, 0.1, ""),
        (1650, 900 / 800, 0.25, ""),
        (30000, 1.5, 3.1, ""),
        (60000, 1.5, 6.1, "measured up to 30000"),
    ],
)
def test_modems(modems: int, factor: float, gib: float, said: str, tmp_path: Path) -> None:
    machine = stored(tmp_path, pipeline=PIPELINE, cost=COST)
    options = ("--modems", str(modems), "--groups", "6ofdm:8Gbps/1Gbps")
    found = one(machine, *options, place=tmp_path, server=SERVER[:2])
    assert found["core_gbps"] == pytest.approx(20 / factor)
    assert found["memory_gib"] == pytest.approx(4 + found["per_server"] * gib)
    outside = " ".join(found["outside_what_was_measured"])
    assert said in outside and ("modems" in outside) == bool(said)


def test_what_was_not_measured_is_said(tmp_path: Path) -> None:
    machine = stored(tmp_path, pipeline=PIPELINE)
    options = ("--groups", "2ofdm-32sc-qam:4Gbps/1Gbps", "--modems", "900", "--crypto", "none")
    found = one(machine, *options, place=tmp_path, server=SERVER[:2])
    said = " ".join(found["outside_what_was_measured"])
    for words in ("measured with 6ofdm", "900 modems: measured with 300", "crypto none",
                  "memory: unknown"):  # fmt: skip
        assert words in said
    assert found["memory_gib"] is None


@pytest.mark.parametrize("modems", [300, 900])
def test_memory_of_a_pipeline_file(modems: int, tmp_path: Path) -> None:
    machine = stored(tmp_path, pipeline=PIPELINE | {"memory": {"total": 2**28}})
    options = ("--groups", "6ofdm:8Gbps/1Gbps", "--modems", str(modems))
    found = one(machine, *options, place=tmp_path, server=SERVER[:2])
    assert found["memory_gib"] == pytest.approx(4 + 16 / 4)
    said = " ".join(found["outside_what_was_measured"])
    assert ("memory for 900 modems: that of 300" in said) == (modems == 900)


def without(whole: Json, *keys: str) -> Json:
    return {key: value for key, value in whole.items() if key not in keys}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "no key schema"),
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
def test_bad_files(content: Json, said: str, tmp_path: Path, expect_error: ExpectError) -> None:
    machine = stored(tmp_path, bench=content)
    expect_error(said, "size", *machine, *SERVER, "--groups", "6ofdm:1Gbps/1Gbps")


@pytest.mark.parametrize(
    ("files", "options", "said"),
    [
        ({"a": PIPELINE, "b": PIPELINE}, SERVER, "a second file of kind pipeline"),
        (
            {"a": PIPELINE, "b": COST | {"host": HOST | {"cpu": "B core"}}},
            SERVER,
            "different machines: A core, B core",
        ),
        ({"a": PIPELINE}, (), "--cores-per-socket: needed"),
        ({"a": PIPELINE}, (*SERVER, "--mix", "banana"), "mix banana: not measured, allowed: imix"),
        ({"a": PIPELINE}, (*SERVER, "--mix", "84:0"), "shares above 0"),
        ({"a": PIPELINE}, (*SERVER, "--mix", "20"), "64 to 9000"),
        ({"a": PIPELINE}, (*SERVER, "--crypto", "aes-qat"), "allowed: aes or none"),
        ({"a": THROUGHPUT}, (*SERVER, "--mix", "84"), "imix with upstream-imix"),
    ],
)
def test_bad_combinations(
    files: dict[str, Json],
    options: tuple[str, ...],
    said: str,
    tmp_path: Path,
    expect_error: ExpectError,
) -> None:
    machine = stored(tmp_path, **files)
    expect_error(said, "size", *machine, *options, "--groups", "6ofdm:1Gbps/1Gbps")
