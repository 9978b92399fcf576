# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts report` with known measurements: its HTML, Markdown and JSON."""

import gzip
import importlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from python import report_samples
from python.conftest import ExpectError
from vcmts import results, yamls
from vcmts.bench import goals_list
from vcmts.cli import main
from vcmts.report import configuration as report_configuration
from vcmts.report import figures_latency, figures_throughput
from vcmts.report import goals as report_goals
from vcmts.report.document import Document, Download, Figure, Items, Section, number
from vcmts.report.markdown import page
from vcmts.report.runs import with_letters
from vcmts.report.summary import (
    cards,
    condition_notes,
    disturbance_notes,
    limitation_notes,
    missing_notes,
    noise_notes,
)

Json = dict[str, Any]


def store(folder: Path, files: dict[str, Json]) -> list[str]:
    for name, file in files.items():
        (folder / f"{name}.json").write_text(json.dumps(file), encoding="utf-8")
    return [str(folder / f"{name}.json") for name in files]


# With module scope, random order would make it many times.
@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a report of every kind."""
    folder = tmp_path_factory.mktemp("report")
    paths = store(folder, report_samples.all_kinds())
    assert main(["report", *paths, "-o", str(folder / "out.html")]) == 0
    return folder


class Tags(HTMLParser):
    """Checks that elements are closed in order, and collects the addresses to which they refer."""

    VOID = ("meta", "link", "path", "use", "br", "img")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        names = ("href", "src", "xlink:href", "action", "data")
        self.addresses += [value or "" for name, value in attrs if name in names]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, tag


def test_page_is_well_formed_and_self_contained(full: Path) -> None:
    tags = Tags()
    tags.feed((full / "out.html").read_text(encoding="utf-8"))
    assert tags.open == [] and len(tags.addresses) > 15
    assert [a for a in tags.addresses if not a.startswith(("#", "data:"))] == []


def test_json_contains_the_files(full: Path) -> None:
    stored = results.read(full / "out.json")
    assert stored["kind"] == "report"
    assert dict(zip(stored["files"], stored["runs"], strict=True)) == {
        f"{kind}.json": file for kind, file in report_samples.all_kinds().items()
    }


def tables(markdown: str) -> Iterator[list[list[str]]]:
    for block in re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE):
        yield [
            [cell.strip() for cell in row.strip("| ").split(" | ")] for row in block.splitlines()
        ]


def test_measurement_and_its_report_are_one_run(full: Path, tmp_path: Path) -> None:
    """`bench-*.json` in a folder of `bench all` matches both."""
    paths = store(tmp_path, report_samples.all_kinds())
    out = tmp_path / "both.html"
    assert main(["report", *paths, str(full / "out.json"), "-o", str(out)]) == 0
    both = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    assert [run["kind"] for run in both["runs"]] == list(report_samples.all_kinds())
    page = out.read_text(encoding="utf-8")
    assert "run A" not in page
    assert page == (full / "out.html").read_text(encoding="utf-8")


def test_page_has_cost_of_latency_measurement(full: Path) -> None:
    page = (full / "out.html").read_text(encoding="utf-8")
    assert "24.5 downstream and 6.50 upstream reference cycles" in page


def test_markdown_has_tables_and_figures(full: Path) -> None:
    markdown = (full / "out.md").read_text(encoding="utf-8")
    stages = next(t for t in tables(markdown) if t[0][0] == "stage" and "1518 B" in t[0])
    column = {row[0]: row[1] for row in stages}
    assert column["`classify`"] == "160" and column["all stages"] == "1,617"
    for name in re.findall(r"!\[[^\]]+\]\((.*?)\)", markdown):
        svg = (full / name).read_text(encoding="utf-8")
        assert svg.startswith("<svg ") and "var(--ink, #" in svg
    assert markdown.count("![") == len(list((full / "out-figures").iterdir())) >= 20


def test_page_has_raw_values(full: Path) -> None:
    page = (full / "out.html").read_text(encoding="utf-8")
    files = report_samples.all_kinds()
    assert f">{files['pipeline']['results'][3]['stages']['depi']}<" in page
    assert f">{files['cost']['results'][7]['start_seconds']}<" in page
    assert f">{files['throughput']['results'][2]['trials'][1]['asked_gbps']['downstream']}<" in page
    us, count = files["latency"]["results"][4]["end_to_end_us"]["histogram"][17]
    assert f"{us}, {count}\n" in page
    values = files["pipeline"]["results"][0]["values"]
    assert ", ".join(map(str, values)) in page


def runs(**files: Json) -> Any:
    return with_letters([(f"{name}.json", file) for name, file in files.items()])


def test_summary_has_main_figures() -> None:
    result = {card.label: card for card in cards(runs(**report_samples.all_kinds()))}
    core = result["One core, downstream"]
    assert (core.value, core.unit) == ("11.4", "Gbps")
    assert "1,617 reference cycles" in core.note and "1,611 to 1,624 in 5 runs" in core.note
    assert result["Share of the crypto bound, downstream"].value == "44"
    loss = result["Without loss, both directions"]
    assert loss.value == "6.44" and "3 searches, over rings" in loss.note
    goals = result["Goals reached"]
    assert (goals.value, goals.note) == ("3 of 4", f"{len(goals_list.load()) - 4} not measured")
    late = result["Latency at 90 % of zero-loss, downstream"]
    assert (late.value, late.unit) == ("66.7", "us") and "461 us at 99.9 %" in late.note


def test_table_has_goals_and_published_figures(full: Path) -> None:
    page = (full / "out.md").read_text(encoding="utf-8")
    table = next(t for t in tables(page) if "verdict" in t[0])
    rows = {row[0]: row[1:] for row in table[2:]}
    downstream = rows["downstream, IMIX (798 core cycles)"]
    assert downstream[:3] == ["1,652 core cycles", "&lt;= 630", "612"]
    assert downstream[-2:] == ["0.971", "reached"]
    assert rows["dearest stage, 64 B (classify)"][-2:] == ["1.092", "missed"]
    assert rows["two cores / one, a group each (needs two cores)"][-1] == "not measured"
    assert "crypto alone takes 390 reference cycles, the core ran at 3.00 GHz" in page


def test_bound_of_missed_goal_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = replace(goals_list.load()["stage.64"], bound="the rules of a filter")
    monkeypatch.setattr(goals_list, "load", lambda: {bound.id: bound})
    (_, _, items) = report_goals.section(runs(goals=report_samples.goals())).blocks
    assert isinstance(items, Items)
    assert items.lines[0] == "dearest stage, 64 B is limited by the rules of a filter"


def test_missing_measurements_are_listed() -> None:
    partial = {**report_samples.latency(), "complete": False}
    partial["results"] = partial["results"][:3]
    lines = list(missing_notes(runs(pipeline=report_samples.pipeline(), latency=partial)))
    assert "bench cost" in lines[0] and "bench throughput" in lines[0]
    assert "bench pipeline" not in lines[0] and "bench latency" not in lines[0]
    assert lines[1].startswith("latency.json was interrupted: it has 3 results")


def test_unconfirmed_rate_is_not_found(tmp_path: Path) -> None:
    file = report_samples.throughput()
    file["results"][0] |= {"confirmed": False, "repeats": [], "min": 0, "max": 0}
    file["results"][0]["gbps"] = {"downstream": 0.0, "upstream": 0.0, "total": 0.0}
    result = runs(throughput=file)
    assert [card.value for card in cards(result)] == ["not found"]
    assert any("no rate was confirmed for imix" in line for line in missing_notes(result))
    out = tmp_path / "out.html"
    for results_of in (file["results"], file["results"][:1]):
        paths = store(tmp_path, {"throughput": {**file, "results": results_of}})
        assert main(["report", *paths, "-o", str(out)]) == 0
        table = next(tables(out.with_suffix(".md").read_text()[2000:]), [])
        assert "not found" in out.read_text(encoding="utf-8") and table


def test_summary_has_memory_and_start() -> None:
    file = report_samples.pipeline()
    file |= {"memory": {"total": 220 * 2**20}, "start": {"total": 1.25}}
    card = next(card for card in cards(runs(pipeline=file)) if card.label.startswith("Memory"))
    assert (card.value, card.unit) == ("220", "MiB") and "1.25 s to start" in card.note


def test_noise_is_reported() -> None:
    noisy = report_samples.pipeline()
    noisy["results"][4]["max"] = noisy["results"][4]["cycles_per_packet"] * 1.4
    line = next(noise_notes(runs(noisy=noisy)))
    assert "40.4 % in noisy.json" in line and "Smaller differences are not significant" in line
    line = next(noise_notes(runs(calm=report_samples.pipeline())))
    assert "0.8 % in calm.json" in line and "say nothing" not in line
    once = next(noise_notes(runs(once=report_samples.pipeline(runs=1))))
    assert once == "Measured only once, so the noise is unknown: once.json."


def test_disturbed_trials_are_reported() -> None:
    result = runs(throughput=report_samples.throughput(), latency=report_samples.latency())
    lines = list(disturbance_notes(result))
    assert lines[0] == ("throughput.json: 20 trials: 5 failed, 5 disturbed, 5 traffic, 5 passed.")
    assert "in 2 of 20 results" in lines[-1]


def test_circumstances_are_reported() -> None:
    file = report_samples.pipeline()
    file["host"] |= {"cpus": 2, "hypervisor": {"present": True}, "software": {"dirty": True}}
    other = report_samples.latency()
    other["host"]["cpu"] = "Another"
    result = runs(a=file, b=other)
    text = " ".join([*condition_notes(result), *limitation_notes(result)])
    for words in ("different processors", "1.30 core cycles", "Without huge pages", "virtual"):
        assert words in text
    assert "With 2 CPUs" in text and "uncommitted" in text
    text = " ".join(condition_notes(runs(a=report_samples.pipeline())))
    assert "virtual" not in text and "CPUs" not in text and "different" not in text


def test_runs_of_one_kind_have_letters(tmp_path: Path) -> None:
    files = {"before": report_samples.pipeline(), "after": report_samples.pipeline(0.5)}
    assert [run.letter for run in runs(**files)] == ["A", "B"]
    assert [run.letter for run in runs(only=report_samples.pipeline())] == [""]
    out = tmp_path / "two.html"
    assert main(["report", *store(tmp_path, files), "-o", str(out)]) == 0
    markdown = out.with_suffix(".md").read_text(encoding="utf-8")
    assert "A: before.json; B: after.json." in markdown
    assert "one thread, run B, after.json" in markdown


def test_interrupted_run_without_results_is_reported(tmp_path: Path) -> None:
    for kind, file in report_samples.all_kinds().items():
        early = {**file, "complete": False, "results": [], "configuration": ""}
        paths = store(tmp_path, {kind: early | {"host": {"cpu": "A core"}}})
        out = tmp_path / f"of-{kind}.html"
        assert main(["report", *paths, "-o", str(out)]) == 0
        assert "was interrupted: it has nothing" in out.read_text(encoding="utf-8")


def test_optional_keys_may_be_missing(tmp_path: Path) -> None:
    """Each file has one result, without optional keys."""
    optional = {"values", "threads", "core_cycles_per_packet", "mpps", "bound_by", "pipeline_us"}
    optional |= {"memory_bytes", "memory_bytes_per_modem", "start_seconds", "disturbed", "ratio"}
    optional |= {"share_of_round_trip", "rte_sched", "rte_sched_turns", "priorities"}
    files = {}
    for kind, file in report_samples.all_kinds().items():
        one = {key: value for key, value in file["results"][0].items() if key not in optional}
        for key in ("fits", "transport", "trial_seconds", "accepted_loss", "cost_of_measuring"):
            file.pop(key, None)
        files[kind] = {**file, "results": [one], "configuration": "of-my-own"}
    out = tmp_path / "few.html"
    assert main(["report", *store(tmp_path, files), "-o", str(out)]) == 0
    assert "is not a published profile" in out.read_text(encoding="utf-8")


def test_profile_is_shown_shortened_and_downloaded_whole(tmp_path: Path) -> None:
    name = "6ofdm-0sc-qam_30cms_aes"
    profile = report_configuration.published(name)
    assert profile is not None and report_configuration.published("of-my-own") is None
    cut = report_configuration.shorten(profile.text)
    assert len(cut) < len(profile.text) / 10
    full, short = yamls.safe_load(profile.text), yamls.safe_load(cut)
    assert len(short["modems"]) == 1 and "# ... and 29 more" in cut
    assert short["modems"][0]["mac"] == full["modems"][0]["mac"]
    assert short["channels"] == full["channels"] and short["rphy"] == full["rphy"]
    result = [b for b in report_configuration.configuration_blocks(name, None)]
    data = next(b.data for b in result if isinstance(b, Download))
    assert gzip.decompress(data).decode() == profile.text


def test_keys_of_own_configuration_are_masked(tmp_path: Path) -> None:
    profile = report_configuration.published("1ofdm-0sc-qam_4cms_aes")
    assert profile is not None
    path = tmp_path / "mine.yaml"
    path.write_text(profile.text.replace("name: 1ofdm-0sc-qam_4cms_aes", "name: mine"))
    keys = set(re.findall(r'(?:key|iv): "([0-9a-f]{32})"', profile.text))
    assert len(keys) >= 8
    parsed = report_configuration.read_configuration(str(path))
    assert parsed.name == "mine" and not [key for key in keys if key in parsed.text]
    file = {**report_samples.pipeline(), "configuration": "mine"}
    out = tmp_path / "out.html"
    words = ["report", *store(tmp_path, {"pipeline": file}), "--config", str(path)]
    assert main([*words, "-o", str(out)]) == 0
    page = out.read_text(encoding="utf-8")
    assert 'key: "masked"' in page and str(tmp_path) not in page


def test_lines_of_channel_rates() -> None:
    assert figures_throughput.limits(4) == [1, 2]
    assert figures_throughput.limits(12) == [1, 2, 3, 4, 5, 6]
    assert figures_throughput.limits(20) == [2, 4, 6, 8, 10]
    assert figures_throughput.limits(0.5) == [1]


def test_percentile_curve() -> None:
    histogram = [[1.0, 90], [2.0, 9], [5.0, 1]]
    points = figures_latency.curve({"histogram": histogram})
    assert [us for _, us in points] == [1.0, 2.0, 5.0]
    assert [x for x, _ in points] == pytest.approx([10, 100, 200])
    names = ("p50", "p90", "p99", "p99_9", "p99_99", "p99_999")
    plain = figures_latency.curve(dict(zip(names, range(1, 7), strict=True)))
    assert [us for _, us in plain] == [1, 2, 3, 4, 5, 6]
    assert [x for x, _ in plain] == pytest.approx([2, 10, 100, 1e3, 1e4, 1e5])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1616.6, "1,617"),
        (0.84, "0.840"),
        (0.0931, "0.0931"),
        (11.36, "11.4"),
        (9.99, "9.99"),
        (7, "7"),
        (0, "0"),
        (-2.5, "-2.50"),
        (1e-9, "0.000000"),
        (None, "-"),
        (True, "yes"),
    ],
)
def test_numbers_have_three_digits(value: float | None, text: str) -> None:
    assert number(value) == text


def test_number_with_more_digits_has_separators() -> None:
    assert number(1234.4, 5) == "1,234.4"


def test_markdown_is_escaped() -> None:
    figure = Figure("name", "<i>", "<i>", "<svg></svg>")
    download = Download("<i>", b"", "text/plain", "<i>")
    lines = page(Document("<i>", "<i>", [Section("<i>", [figure, download])]), "folder")
    assert "<" not in lines and lines.count("&lt;i>") == 8


def test_wrong_files_are_refused(tmp_path: Path, expect_error: ExpectError) -> None:
    (good,) = store(tmp_path, {"good": report_samples.pipeline()})
    bad = tmp_path / "bad.json"
    bad.write_text('{"schema": 3}')
    for words, error in (
        ([str(bad)], "schema: found 3, allowed: 1"),
        ([str(tmp_path / "none.json")], "No such file"),
        ([good, "-o", str(tmp_path / "out.pdf")], "found .pdf, allowed: .html"),
        ([good, "-o", str(tmp_path / "no" / "out.html")], "does not exist; create it"),
        ([good, "-o", str(tmp_path / "good.html")], "would overwrite"),
        ([good, "--config", str(tmp_path / "none.yaml")], "--config"),
    ):
        expect_error(error, "report", *words)
    assert results.read(good)["kind"] == "pipeline"


def test_missing_matplotlib_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import_module = importlib.import_module

    def import_without_matplotlib(name: str) -> Any:
        if name == "matplotlib":
            raise ModuleNotFoundError(name=name)
        return import_module(name)

    monkeypatch.setattr("vcmts.report.figures.importlib.import_module", import_without_matplotlib)
    (good,) = store(tmp_path, {"good": report_samples.pipeline()})
    assert main(["report", good, "-o", str(tmp_path / "out.html")]) == 2
    assert "run devtools/install-deps plot" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["good.json"]
