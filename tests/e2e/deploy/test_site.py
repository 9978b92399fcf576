# SPDX-License-Identifier: BSD-3-Clause
"""The documentation site: all pages exist, and search works from files, without a network."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.bench import browser
from e2e.bench.browser import Browser
from patience import TIMEOUT
from vcmts.docs import pages, pictures
from vcmts.paths import CHECKOUT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as by `make docs`. Generated pictures may be missing."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(folder)],
        cwd=CHECKOUT,
        env=os.environ | {"PYTHONPATH": "tools", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    warnings = [line for line in done.stderr.splitlines() if line.startswith("WARNING")]
    assert [w for w in warnings if not any(name in w for name in pictures.NAMES)] == []
    return folder


def test_every_page_exists(site: Path) -> None:
    pages_of_docs = {path.stem for path in (CHECKOUT / "docs").glob("*.md")}
    names = pages_of_docs | {Path(name).stem for name in pages.REFERENCE} | {"index"}
    assert names <= {path.stem for path in site.glob("*.html")}
    assert "burst_release" in (site / "source/src/upstream/uepi.c.html").read_text()
    decisions = (site / "decisions/index.html").read_text()
    assert 'href="001-lists-of-stages.html"' in decisions


def test_code_blocks_are_rendered(site: Path) -> None:
    """Also blocks with a word for tests after the language."""
    for page in site.glob("*.html"):
        assert "```" not in page.read_text(), page.name


@pytest.fixture
def opened(site: Path, tmp_path: Path) -> Iterator[Browser]:
    with browser.browser(tmp_path / "user") as page:
        page.open(site / "index.html")
        yield page


ENTER_SEARCH = """(() => {
  const field = document.querySelector(".md-search__input");
  field.focus();
  field.value = "fragment_crc";
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  field.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }));
})()"""
SEARCH_RESULTS = '[...document.querySelectorAll(".md-search-result__link")].map(a => a.href)'


@pytest.mark.skipif(browser.CHROMIUM is None, reason="devtools/install-deps browser")
def test_search_works_without_network(opened: Browser) -> None:
    end = time.monotonic() + TIMEOUT
    links: list[str] = []
    while not any("counters.html" in link for link in links):
        assert time.monotonic() < end, links
        opened.evaluate(ENTER_SEARCH)
        time.sleep(0.2)
        links = opened.evaluate(SEARCH_RESULTS)
    urls = [event["request"]["url"] for event in opened.events_of("Network.requestWillBeSent")]
    assert [url for url in urls if url.startswith("http")] == []
