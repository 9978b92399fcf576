# SPDX-License-Identifier: BSD-3-Clause
"""Reports in a browser: a report needs no other file, draws all figures, and fits wide and narrow
windows with light and dark colors."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.bench import browser
from e2e.bench.browser import Browser
from python import report_samples
from vcmts.cli import main

pytestmark = pytest.mark.skipif(
    browser.CHROMIUM is None, reason="no Chromium here: devtools/install-deps browser"
)

# Per figure: id, width and height in CSS pixels, and number of paths.
SIZES = """[...document.querySelectorAll("figure svg")].map(svg => {
  const box = svg.getBoundingClientRect();
  return [svg.closest("figure").id, box.width, box.height, svg.querySelectorAll("path").length];
})"""
# Pairs of texts of one figure that overlap by more than 1 px across and 2 px down, for rounding.
OVERLAPS = """[...document.querySelectorAll("figure svg")].flatMap(svg => {
  const texts = [...svg.querySelectorAll("text")].map(t => [t.textContent.trim(),
    t.getBoundingClientRect()]).filter(([words]) => words);
  return texts.flatMap(([words, a], i) => texts.slice(i + 1).filter(([_, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2).map(([other]) =>
    [svg.closest("figure").id, words, other]));
})"""
# Texts that leave their figure by more than 1 px.
OUTSIDE = """[...document.querySelectorAll("figure svg")].flatMap(svg => {
  const own = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].map(t => [t.textContent.trim(),
    t.getBoundingClientRect()]).filter(([words, box]) => words && (box.left < own.left - 1 ||
    box.right > own.right + 1 || box.top < own.top - 1 || box.bottom > own.bottom + 1))
    .map(([words]) => [svg.closest("figure").id, words]);
})"""
# Smallest WCAG contrast ratio, from 1 to 21, of a text and the nearest background behind it.
CONTRAST = """(() => {
  const light = text => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map(c => {
    c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = e => { const color = getComputedStyle(e).backgroundColor;
    return color == "rgba(0, 0, 0, 0)" ? behind(e.parentElement) : color; };
  return [...document.querySelectorAll("p, li, td, th, h1, h2, h3, dt, dd, a, summary, pre, " +
      "figcaption, .note, .unit, svg text")]
    .map(e => { const s = getComputedStyle(e), page = light(behind(e));
      const own = light(e.namespaceURI.endsWith("svg") ? s.fill : s.color);
      return (Math.max(own, page) + 0.05) / (Math.min(own, page) + 0.05); })
    .reduce((least, one) => Math.min(least, one));
})()"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two reports: "every" has each kind of results, "two" compares a complete and an interrupted
    run. The interrupted run's configuration contains markup, which the report must escape."""
    folder = tmp_path_factory.mktemp("report")
    files = {}
    for name, file in report_samples.all_kinds().items():
        files[name] = folder / f"{name}.json"
        files[name].write_text(json.dumps(file), encoding="utf-8")
    second = folder / "second.json"
    file = {**report_samples.pipeline(0.5), "complete": False}
    file["configuration"] = "<img src=http://example.org/x onerror=alert(1)>"
    second.write_text(json.dumps(file), encoding="utf-8")
    every, two = folder / "every.html", folder / "two.html"
    assert main(["report", *map(str, files.values()), "-o", str(every)]) == 0
    assert main(["report", str(files["pipeline"]), str(second), "-o", str(two)]) == 0
    return {"every": every, "two": two}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser.browser(tmp_path_factory.mktemp("chromium") / "profile") as page:
        yield page


def open_page(window: Browser, page: Path, width: int, scheme: str) -> None:
    window.emulate(width, scheme)
    window.open(page)


@pytest.mark.parametrize("name", ["every", "two"])
def test_report_loads_no_other_file(name: str, pages: dict[str, Path], chromium: Browser) -> None:
    open_page(chromium, pages[name], 1250, "light")
    requested = [e["request"]["url"] for e in chromium.events_of("Network.requestWillBeSent")]
    assert [url for url in requested if not url.startswith("data:")] == [pages[name].as_uri()]
    assert chromium.events_of("Log.entryAdded") == []
    assert chromium.events_of("Runtime.exceptionThrown") == []
    assert chromium.events_of("Runtime.consoleAPICalled") == []
    assert chromium.evaluate("document.querySelectorAll('script, img, iframe, object').length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1250, 360])
@pytest.mark.parametrize("name", ["every", "two"])
def test_figures_are_drawn_and_fit(
    name: str, width: int, scheme: str, pages: dict[str, Path], chromium: Browser
) -> None:
    open_page(chromium, pages[name], width, scheme)
    figures = chromium.evaluate(SIZES)
    assert len(figures) >= (20 if name == "every" else 8)
    for figure, figure_width, figure_height, paths in figures:
        assert 280 <= figure_width <= 700 and 150 <= figure_height <= 600 and paths > 5, figure
    assert chromium.evaluate("document.documentElement.scrollWidth") <= width
    assert chromium.evaluate(OVERLAPS) == []
    assert chromium.evaluate(OUTSIDE) == []
    assert chromium.evaluate(CONTRAST) >= 4.5  # WCAG 2, level AA, normal text


@pytest.mark.parametrize("changed", ["--raised", "--paper"])
def test_contrast_is_that_of_the_nearest_background(
    changed: str, pages: dict[str, Path], chromium: Browser
) -> None:
    """Cards have --raised behind their texts, the page has --paper."""
    open_page(chromium, pages["every"], 1250, "light")
    chromium.evaluate(f"document.documentElement.style.setProperty('{changed}', '#8899a6')")
    assert chromium.evaluate(CONTRAST) < 4.5


def test_ids_are_unique_and_references_valid(pages: dict[str, Path], chromium: Browser) -> None:
    open_page(chromium, pages["every"], 1250, "light")
    duplicates = "(ids => ids.length - new Set(ids).size)([...document.querySelectorAll('[id]')]"
    assert chromium.evaluate(f"{duplicates}.map(e => e.id))") == 0
    broken = """[...document.querySelectorAll("use, [clip-path], a[href^='#'], [aria-labelledby]")]
      .map(e => e.getAttribute("xlink:href") || e.getAttribute("href")
        || e.getAttribute("aria-labelledby") || e.getAttribute("clip-path").slice(4, -1))
      .map(name => name.replace(/^#/, "")).filter(name => !document.getElementById(name))"""
    assert chromium.evaluate(broken) == []


def test_text_contains_results(pages: dict[str, Path], chromium: Browser) -> None:
    open_page(chromium, pages["every"], 1250, "light")
    text = chromium.evaluate("document.body.innerText")
    pipeline, throughput = report_samples.pipeline(), report_samples.throughput()
    imix: dict[str, Any] = pipeline["results"][0]
    assert f"{imix['cycles_per_packet']:,.0f} reference cycles per packet" in text
    assert f"{imix['gbps_per_core']:.1f}" in text
    assert f"{throughput['results'][0]['gbps']['total']:.2f}" in text
    assert "Latency at 90 % of zero-loss, downstream" in text and "66.7" in text
    for expected in ("Sample processor", "5 disturbed", "6 OFDM", "8180", "# ... and 299 more"):
        assert expected in text, expected


def test_markup_in_results_is_escaped(pages: dict[str, Path], chromium: Browser) -> None:
    open_page(chromium, pages["two"], 1250, "light")
    assert "<img src=http://example.org" in chromium.evaluate("document.body.innerText")
    assert "was interrupted" in chromium.evaluate("document.body.innerText")
