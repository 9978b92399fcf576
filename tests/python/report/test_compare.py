# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts compare`: statistics by published tables, verdicts, warnings, refused files."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from python import report_samples
from python.conftest import ExpectError
from vcmts.cli import main
from vcmts.compare import command as compare
from vcmts.compare import statistics
from vcmts.compare.statistics import Comparison, Sample, compare_samples

Json = dict[str, Any]


def sample(*values: float, with_values: bool = True) -> Sample:
    middle = sorted(values)[len(values) // 2]
    return Sample(middle, min(values), max(values), len(values), values if with_values else ())


def test_mann_whitney_agrees_with_tables() -> None:
    """Two-sided and exact: U = 0 is 2/252 for samples of 5 and 5, 2/70 for 4 and 4."""
    assert statistics.mann_whitney([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]) == pytest.approx(2 / 252)
    assert statistics.mann_whitney([1, 2, 3, 4], [5, 6, 7, 8]) == pytest.approx(2 / 70)
    # U = 2 for 5 and 5: 4 of 252 splits on either side.
    assert statistics.mann_whitney([1, 2, 3, 4, 7], [5, 6, 8, 9, 10]) == pytest.approx(8 / 252)
    assert statistics.mann_whitney([1, 3, 5], [2, 4, 6]) == pytest.approx(0.7)
    assert statistics.mann_whitney([2, 2, 2, 2], [2, 2, 2, 2]) == 1


def test_approximation_is_close_to_exact_test(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(4)
    for shift in (0.0, 0.5, 1.0):
        a = [draw.gauss(0, 1) for _ in range(8)]
        b = [draw.gauss(shift, 1) for _ in range(9)]
        exact = statistics.mann_whitney(a, b)
        with monkeypatch.context() as patched:
            patched.setattr(statistics, "EXACT_SPLITS", 0)
            assert statistics.mann_whitney(a, b) == pytest.approx(exact, abs=0.02)
            assert statistics.mann_whitney([1.0] * 9, [1.0] * 9) == 1


def test_equal_samples_rarely_differ() -> None:
    """At 5 %, about 5 of 100 comparisons of equal samples differ."""
    draw = random.Random(7)
    differs = 0
    for _ in range(400):
        a, b = ([draw.lognormvariate(0, 0.1) for _ in range(5)] for _ in range(2))
        differs += compare_samples(sample(*a), sample(*b)).verdict == "differs"
    assert 4 <= differs <= 30


@pytest.mark.parametrize(
    ("a", "b", "verdict", "method"),
    [
        (sample(10, 11, 12, 13, 14), sample(20, 21, 22, 23, 24), "differs", "Mann-Whitney"),
        (sample(10, 11, 12, 13, 14), sample(12, 13, 14, 15, 16), "within the noise", "Mann-Whit"),
        # One disturbed run makes the ranges overlap.
        (sample(10, 11, 12, 13, 24), sample(14, 15, 16, 17, 18), "within the noise", "Mann-Whit"),
        (
            sample(10, 11, 12, 13, 14, with_values=False),
            sample(20, 21, 22, 23),
            "differs",
            "ranges apart",
        ),
        (
            sample(10, 11, 12, with_values=False),
            sample(12, 13, 14),
            "within the noise",
            "ranges overlap",
        ),
        (sample(10, 11), sample(20, 21), "too few runs", "ranges apart"),
        (sample(10), sample(20), "too few runs", "measured once"),
        (sample(10), sample(20, 21, 22), "too few runs", "ranges apart"),
    ],
)
def test_verdicts(a: Sample, b: Sample, verdict: str, method: str) -> None:
    for judged in (compare_samples(a, b), compare_samples(b, a)):
        assert judged.verdict == verdict and judged.method.startswith(method)


def test_chance_of_separate_ranges() -> None:
    """Of (2n choose n) orders of two samples of n values, 2 have separate ranges."""
    assert compare_samples(sample(1, 2), sample(3, 4)).chance == pytest.approx(2 / 6)
    assert compare_samples(sample(1, 2, 3), sample(4, 5, 6)).chance == pytest.approx(2 / 20)


def store(folder: Path, name: str, file: Json) -> str:
    path = folder / name
    path.write_text(json.dumps(file), encoding="utf-8")
    return str(path)


def run_compare(capsys: pytest.CaptureFixture[str], *paths: str) -> Json:
    assert main(["compare", *paths, "--json"]) == 0
    result: Json = json.loads(capsys.readouterr().out)
    return result


def test_figures_have_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = store(tmp_path, "a.json", report_samples.pipeline())
    b = store(tmp_path, "b.json", report_samples.pipeline(0.8))
    actual = run_compare(capsys, a, b)
    assert actual["kind"] == "comparison" and actual["warnings"] == []
    imix = next(f for f in actual["figures"] if f["figure"] == "downstream, imix")
    assert imix["difference"] == pytest.approx(-0.2)
    assert imix["verdict"] == "faster" and imix["method"] == "Mann-Whitney"
    assert imix["between"][0] < -0.2 < imix["between"][1]
    stage = next(f for f in actual["figures"] if f["figure"] == "downstream, imix: classify")
    assert stage["difference"] == pytest.approx(-0.2) and stage["verdict"] == "too few runs"


def test_run_equals_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind, file in report_samples.all_kinds().items():
        path = store(tmp_path, f"{kind}.json", file)
        actual = run_compare(capsys, path, path)
        assert actual["figures"]
        assert {f["verdict"] for f in actual["figures"]} <= {"within the noise", "too few runs"}
        assert {f["difference"] for f in actual["figures"]} <= {0.0, None}


def test_ranges_alone_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [report_samples.pipeline(), report_samples.pipeline(1.2)]
    for file in files:
        for result in file["results"]:
            del result["values"]
    paths = [store(tmp_path, f"{i}.json", file) for i, file in enumerate(files)]
    imix = run_compare(capsys, *paths)["figures"][0]
    assert imix["verdict"] == "slower" and imix["method"] == "ranges apart"


def test_reports_are_compared_by_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [report_samples.throughput(), report_samples.pipeline()]
    a = store(tmp_path, "a.json", {"schema": 1, "kind": "report", "runs": runs})
    b = store(tmp_path, "b.json", report_samples.throughput(1.5))
    actual = run_compare(capsys, a, b)
    assert {f["kind"] for f in actual["figures"]} == {"throughput"}
    assert actual["figures"][0]["difference"] == pytest.approx(0.5)


def test_other_conditions_are_warnings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = report_samples.pipeline(), report_samples.pipeline()
    b["configuration"], b["complete"] = "other", False
    b["host"] |= {"cpu": "Other", "core_hz": 2.5e9, "software": {"dpdk": "24.11", "dirty": True}}
    a["host"] |= {"software": {"dpdk": "22.11", "dirty": False}}
    del b["results"][0]
    actual = run_compare(capsys, store(tmp_path, "a.json", a), store(tmp_path, "b.json", b))
    assert actual["warnings"] == [
        "configuration: 6ofdm-0sc-qam_300cms_aes and other",
        "processor: Sample processor and Other",
        "DPDK: 22.11 and 24.11",
        "core clock, measured: 3.00 GHz and 2.50 GHz",
        "B was interrupted: pipeline is incomplete",
        "B was measured with uncommitted changes of the source",
        "only in A: downstream, imix",
    ]


def test_differing_methods_are_warnings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rates over rings and memif, or latencies at shares of other rates, are not comparable."""
    for kind, changes, warning in (
        ("throughput", {"transport": "memif"}, "throughput, transport: rings and memif"),
        ("throughput", {"accepted_loss": 0.001}, "throughput, accepted loss: 0 and 0.001"),
        (
            "latency",
            {"zero_loss_gbps": {"downstream": 5.0, "upstream": 1.0}},
            "latency, 100 % load: 8.00 and 6.00 Gbps",
        ),
    ):
        a = report_samples.all_kinds()[kind]
        a |= {"transport": "rings", "accepted_loss": 0.0}
        a |= {"zero_loss_gbps": {"downstream": 7.0, "upstream": 1.0}} if kind == "latency" else {}
        paths = [store(tmp_path, f"{i}.json", file) for i, file in enumerate((a, a | changes))]
        assert warning in run_compare(capsys, *paths)["warnings"]


@pytest.mark.parametrize(
    ("share", "text"),
    [(1.0, "100 %"), (0.1, "10 %"), (0.0079, "0.79 %"), (1e-5, "< 0.01 %"), (None, "once")],
)
def test_chances_are_percentages(share: float | None, text: str) -> None:
    assert compare.chance(Comparison("differs", "once", share)) == text


def test_table_has_differing_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = store(tmp_path, "a.json", report_samples.pipeline())
    b = store(tmp_path, "b.json", report_samples.pipeline(1.1))
    assert main(["compare", a, b]) == 0
    text = capsys.readouterr().out
    assert "+10.0" in text and "slower" in text and "classify" not in text
    assert "Of 10 figures tested, about 0.5 differ by chance alone" in text


def test_wrong_files_are_refused(tmp_path: Path, expect_error: ExpectError) -> None:
    a = store(tmp_path, "a.json", report_samples.pipeline())
    b = store(tmp_path, "b.json", report_samples.latency())
    old = store(tmp_path, "old.json", {**report_samples.pipeline(), "schema": 0})
    empty = store(tmp_path, "empty.json", {**report_samples.pipeline(), "results": []})
    for paths, error in (
        ((a, b), f"nothing to compare: {a} has pipeline, {b} has latency"),
        ((a, old), f"{old}: schema: found 0, allowed: 1"),
        ((a, empty), "no figure is both in"),
        ((a, str(tmp_path / "none")), "No such file"),
    ):
        expect_error(error, "compare", *paths)
