# SPDX-License-Identifier: BSD-3-Clause
"""A report, opened in a browser: it stands alone, everything is drawn, it fits light, dark, wide
and narrow."""

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

SIZES = """[...document.querySelectorAll("figure svg")].map(svg => {
  const box = svg.getBoundingClientRect();
  return [svg.closest("figure").id, box.width, box.height, svg.querySelectorAll("path").length];
})"""
# Texts of one figure that lie on each other: each pair's words. A pixel is a rounding.
OVERLAPS = """[...document.querySelectorAll("figure svg")].flatMap(svg => {
  const texts = [...svg.querySelectorAll("text")].map(t => [t.textContent.trim(),
    t.getBoundingClientRect()]).filter(([words]) => words);
  return texts.flatMap(([words, a], i) => texts.slice(i + 1).filter(([_, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2).map(([other]) =>
    [svg.closest("figure").id, words, other]));
})"""
# Texts that stand outside of their figure.
OUTSIDE = """[...document.querySelectorAll("figure svg")].flatMap(svg => {
  const own = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].map(t => [t.textContent.trim(),
    t.getBoundingClientRect()]).filter(([words, box]) => words && (box.left < own.left - 1 ||
    box.right > own.right + 1 || box.top < own.top - 1 || box.bottom > own.bottom + 1))
    .map(([words]) => [svg.closest("figure").id, words]);
})"""
# Luminance contrast of text with the page, as WCAG defines it.
CONTRAST = """(() => {
  const light = text => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map(c => {
    c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const page = light(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll("p, li, td, th, h2, figcaption, .note, .unit, svg text")]
    .map(e => { const s = getComputedStyle(e);
      const own = light(e.namespaceURI.endsWith("svg") ? s.fill : s.color);
      return (Math.max(own, page) + 0.05) / (Math.min(own, page) + 0.05); })
    .reduce((least, one) => Math.min(least, one));
})()"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report of every kind once, and one of two runs, one of them interrupted."""
    folder = tmp_path_factory.mktemp("report")
    files = {}
    for name, file in report_samples.every_kind().items():
        files[name] = folder / f"{name}.json"
        files[name].write_text(json.dumps(file), encoding="utf-8")
    second = folder / "second.json"
    file = {**report_samples.pipeline(0.5), "complete": False}
    # Whatever a file holds is text in the page, and no markup.
    file["configuration"] = "<img src=http://example.org/x onerror=alert(1)>"
    second.write_text(json.dumps(file), encoding="utf-8")
    every, two = folder / "every.html", folder / "two.html"
    assert main(["report", *map(str, files.values()), "-o", str(every)]) == 0
    assert main(["report", str(files["pipeline"]), str(second), "-o", str(two)]) == 0
    return {"every": every, "two": two}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser.browser(tmp_path_factory.mktemp("chromium") / "profile") as one:
        yield one


def look(one: Browser, page: Path, width: int, scheme: str) -> None:
    one.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    scheme_feature = [{"name": "prefers-color-scheme", "value": scheme}]
    one.call("Emulation.setEmulatedMedia", features=scheme_feature)
    one.open(page)


@pytest.mark.parametrize("name", ["every", "two"])
def test_it_stands_alone(name: str, pages: dict[str, Path], chromium: Browser) -> None:
    look(chromium, pages[name], 1250, "light")
    asked = [e["request"]["url"] for e in chromium.all("Network.requestWillBeSent")]
    assert [url for url in asked if not url.startswith("data:")] == [pages[name].as_uri()]
    assert chromium.all("Log.entryAdded") == []
    assert chromium.all("Runtime.exceptionThrown") == []
    assert chromium.all("Runtime.consoleAPICalled") == []
    assert chromium.value("document.querySelectorAll('script, img, iframe, object').length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1250, 360])
@pytest.mark.parametrize("name", ["every", "two"])
def test_everything_is_drawn_and_fits(
    name: str, width: int, scheme: str, pages: dict[str, Path], chromium: Browser
) -> None:
    look(chromium, pages[name], width, scheme)
    found = chromium.value(SIZES)
    assert len(found) >= (20 if name == "every" else 8)
    for figure, wide, high, paths in found:
        assert 280 <= wide <= 700 and 150 <= high <= 600 and paths > 5, figure
    assert chromium.value("document.documentElement.scrollWidth") <= width
    assert chromium.value(OVERLAPS) == []
    assert chromium.value(OUTSIDE) == []
    assert chromium.value(CONTRAST) >= 4.5


def test_no_name_is_there_twice(pages: dict[str, Path], chromium: Browser) -> None:
    look(chromium, pages["every"], 1250, "light")
    twice = "(ids => ids.length - new Set(ids).size)([...document.querySelectorAll('[id]')]"
    assert chromium.value(f"{twice}.map(e => e.id))") == 0
    lost = """[...document.querySelectorAll("use, [clip-path], a[href^='#'], [aria-labelledby]")]
      .map(e => e.getAttribute("xlink:href") || e.getAttribute("href")
        || e.getAttribute("aria-labelledby") || e.getAttribute("clip-path").slice(4, -1))
      .map(name => name.replace(/^#/, "")).filter(name => !document.getElementById(name))"""
    assert chromium.value(lost) == []


def test_its_text_holds_the_figures(pages: dict[str, Path], chromium: Browser) -> None:
    look(chromium, pages["every"], 1250, "light")
    text = chromium.value("document.body.innerText")
    pipeline, throughput = report_samples.pipeline(), report_samples.throughput()
    imix: dict[str, Any] = pipeline["results"][0]
    assert f"{imix['cycles_per_packet']:,.0f} reference cycles per packet" in text
    assert f"{imix['gbps_per_core']:.1f}" in text
    assert f"{throughput['results'][0]['gbps']['total']:.2f}" in text
    assert "Latency at 90 % of zero-loss, downstream" in text and "66.7" in text
    for words in ("Sample processor", "5 disturbed", "6 OFDM", "8180", "# ... and 299 more"):
        assert words in text, words


def test_text_of_a_file_is_no_markup(pages: dict[str, Path], chromium: Browser) -> None:
    look(chromium, pages["two"], 1250, "light")
    assert "<img src=http://example.org" in chromium.value("document.body.innerText")
    assert "was interrupted" in chromium.value("document.body.innerText")
