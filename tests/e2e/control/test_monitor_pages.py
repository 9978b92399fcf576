# SPDX-License-Identifier: BSD-3-Clause
"""The pages of `./vcmts monitor` in a browser, with a server that answers as Prometheus does."""

import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from e2e.bench import browser
from e2e.bench.browser import Browser
from e2e.bench.test_report_browser import CONTRAST, OUTSIDE
from patience import until
from vcmts.monitor import server

pytestmark = pytest.mark.skipif(
    browser.CHROMIUM is None, reason="no Chromium here: devtools/install-deps browser"
)

Json = dict[str, Any]
MARKUP = "<img src=http://example.org/x onerror=alert(1)>"
# Whether all visible panels are drawn. Panels below the window are drawn when they become visible.
DRAWN = """(() => { const all = [...document.querySelectorAll("article")];
  return all.length > 0 && all.filter(one => one.getBoundingClientRect().top < innerHeight)
    .every(one => one.querySelector(".content > *")); })()"""
# Of each graph: its title, the unit of its axis, and the texts of its legend.
GRAPHS = """[...document.querySelectorAll("article.timeseries")]
  .filter(one => one.querySelector("svg"))
  .map(one => [one.querySelector("h3").firstChild.textContent.trim(),
    one.querySelector(".unit").textContent, one.querySelector("svg").getAttribute("aria-label"),
    [...one.querySelectorAll(".legend li")].map(item => item.innerText.trim())])"""
ROWS = """[...document.querySelectorAll("tbody tr")].map(row =>
  [...row.cells].map(cell => cell.innerText.trim()))"""
LEGEND_OUTSIDE = """[...document.querySelectorAll("article")].flatMap(one => {
  const own = one.getBoundingClientRect();
  return [...one.querySelectorAll("li, h3, p, svg")].filter(part =>
    part.getBoundingClientRect().right > own.right + 1).map(part => part.innerText); })"""


def series(number: int, value: float) -> Json:
    labels = {"instance": "192.0.2.10:9464", "service_group": str(number), "reason": MARKUP}
    return {"metric": labels | {"core": str(number)}, "value": [0, str(value)]}


def rule(name: str, severity: str = "warning", **alerts: Any) -> Json:
    text = {key: f"{key} of {{{{ $labels.reason }}}}" for key in ("summary", "description")}
    annotations = text | {"action": "`./vcmts top`"}
    made = {"name": name, "labels": {"severity": severity}, "annotations": annotations}
    return made | {"alerts": [alert(f"{key} {MARKUP}", state) for key, state in alerts.items()]}


def alert(summary: str, state: str) -> Json:
    annotations = {"summary": summary, "description": "It lasts.", "action": "`./vcmts top`"}
    labels = {"instance": "192.0.2.10:9464"}
    when = "2026-01-01T00:00:00Z"
    return {"labels": labels, "annotations": annotations, "state": state, "activeAt": when}


@dataclass
class Canned:
    """The answers of the server, which a test may change."""

    values: list[float] = field(default_factory=lambda: [1.5e9, 2e6])
    rules: list[Json] = field(default_factory=list)
    error: str = ""

    def answer(self, path: str, asked: dict[str, list[str]]) -> Json:
        if self.error:
            return {"status": "error", "error": self.error}
        return {"status": "success", "data": self.data(path.rpartition("/api/v1/")[2], asked)}

    def data(self, path: str, asked: dict[str, list[str]]) -> Any:
        found = [series(number, value) for number, value in enumerate(self.values, 1)]
        if path == "rules":
            return {"groups": [{"name": "all", "rules": self.rules}]}
        if path.startswith("label/"):
            return ["192.0.2.10:9464"]
        if path == "query":
            for one in found:
                one["metric"] = {"at": f"{one['metric']['core']} of x", "service_group": "1"}
            return {"result": found}
        first, last, step = (int(asked[name][0]) for name in ("start", "end", "step"))
        for one in found:
            value = one.pop("value")[1]
            one["values"] = [[time, value] for time in range(first, last + 1, step)]
        return {"result": found}


class Handler(http.server.SimpleHTTPRequestHandler):
    canned = Canned()

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path.startswith("/api/"):
            text = json.dumps(self.canned.answer(url.path, parse_qs(url.query))).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
        else:
            super().do_GET()

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("pages")
    server.write_pages(folder / "user", 1)
    settings = folder / "user" / "settings.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"started": 0}))
    handler = partial(Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_address[1]}/user/"
        serving.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser.browser(tmp_path_factory.mktemp("chromium") / "profile") as page:
        yield page


@pytest.fixture
def canned() -> Iterator[Canned]:
    Handler.canned = Canned()
    yield Handler.canned
    Handler.canned = Canned()


def show(window: Browser, url: str, width: int = 1250, scheme: str = "light") -> None:
    window.emulate(width, scheme)
    window.open_address(url)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1250, 1000, 360])
@pytest.mark.parametrize("page", ["?board=system", "?board=group", "?board=cores", "alerts.html"])
def test_pages_fit_and_are_readable(
    page: str, width: int, scheme: str, window: Browser, address: str, canned: Canned
) -> None:
    canned.values = [150, 0.962]
    canned.rules = [rule("VcmtsA", one="firing", two="pending"), rule("VcmtsB", "critical")]
    show(window, address + page, width, scheme)
    ready = "!!document.querySelector('tbody')" if page == "alerts.html" else DRAWN
    until(lambda: window.evaluate(ready), "the page")
    assert window.evaluate("document.documentElement.scrollWidth") <= width
    assert window.evaluate(LEGEND_OUTSIDE) == []
    assert window.evaluate(OUTSIDE.replace("figure", "article")) == []
    assert window.evaluate(CONTRAST) >= 4.5  # WCAG 2, level AA, normal text
    for event in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
        assert window.events_of(event) == []
    requested = [e["request"]["url"] for e in window.events_of("Network.requestWillBeSent")]
    assert [url for url in requested if not url.startswith((address[:-6], "data:"))] == []


def test_graphs_have_titles_units_and_legends(
    window: Browser, address: str, canned: Canned
) -> None:
    show(window, address)
    until(lambda: window.evaluate(DRAWN), "the graphs")
    graphs = {title: (unit, name, legend) for title, unit, name, legend in window.evaluate(GRAPHS)}
    unit, name, legend = graphs["Downstream by service group"]
    assert (unit, name) == ("Gbit/s", "Downstream by service group")
    assert legend == [
        "group 1 of 192.0.2.10:9464 1.50 Gbit/s",
        "group 2 of 192.0.2.10:9464 2.00 Mbit/s",
    ]


def test_latest_values_have_units(window: Browser, address: str, canned: Canned) -> None:
    canned.values = [0.962]
    show(window, address)
    until(lambda: window.evaluate(DRAWN), "the values")
    busiest = """[...document.querySelectorAll("article.stat")].map(one => [
      one.innerText.replace(/\\n+/, " "), one.querySelector(".value").style.color])
      .find(([text]) => text.startsWith("Busiest"))"""
    assert window.evaluate(busiest) == ["Busiest core 96.2 %", "var(--red)"]


def test_no_data_is_said(window: Browser, address: str, canned: Canned) -> None:
    show(window, address)
    until(lambda: window.evaluate(DRAWN), "the graphs")
    canned.values = []
    texts = "[...document.querySelectorAll('.none')].map(one => one.innerText)"
    until(lambda: set(window.evaluate(texts)) == {"no data"}, "empty graphs")
    assert window.evaluate("document.querySelector('.value').innerText") == "-"


def test_group_is_chosen_by_address(window: Browser, address: str, canned: Canned) -> None:
    first = "document.querySelector('summary').innerText"
    for chosen, title in (("", "1 of x"), ("&group=2+of+x", "2 of x"), ("&group=gone", "1 of x")):
        show(window, f"{address}?board=group{chosen}")
        until(lambda: window.evaluate(DRAWN), "the group")
        assert window.evaluate(first) == f"Group {title}: now"


def test_refused_request_is_reported_until_one_succeeds(
    window: Browser, address: str, canned: Canned
) -> None:
    canned.error = f"too busy {MARKUP}"
    show(window, address)
    fault = "document.getElementById('fault')"
    until(lambda: not window.evaluate(f"{fault}.hidden"), "the error")
    assert window.evaluate(f"{fault}.textContent") == (
        f"Prometheus refused a request: {canned.error}"
    )
    canned.error = ""
    until(lambda: window.evaluate(f"{fault}.hidden && {DRAWN}"), "the graphs")


@pytest.mark.parametrize(
    "unit, value, text",
    [
        ("bps", "0", "0 bit/s"),
        ("pps", "999", "999 pps"),
        ("pps", "12345", "12.3 kpps"),
        ("s", "8.11e-6", "8.11 µs"),
        ("s", "2.5e-7", "250 ns"),
        ("s", "75", "1 min 15 s"),
        ("s", "90061", "1 d 1 h"),
        ("s", "Infinity", "∞"),
        ("percentunit", "0.00036", "0.04 %"),
        ("percentunit", "1", "100 %"),
        ("short", "12345", "12,345"),
        ("decbytes", "1.06e3", "1.06 kB"),
        ("furlong", "3", "3.00 furlong"),
        ("pps", "null", "-"),
    ],
)
def test_numbers_have_units(
    unit: str, value: str, text: str, window: Browser, address: str
) -> None:
    show(window, f"{address}alerts.html")
    formatted = f"import('./units.js').then(units => units.format('{unit}', {value}))"
    assert window.evaluate(formatted) == text


def test_every_alert_is_listed_once(window: Browser, address: str, canned: Canned) -> None:
    """Two rules of one name watch both directions, and two groups may hold the same rule."""
    canned.rules = [rule("VcmtsQuiet"), rule("VcmtsQuiet"), rule("VcmtsLoss", one="pending")]
    canned.rules += [rule("VcmtsFull", "critical", two="firing", three="firing")] * 2
    show(window, f"{address}alerts.html")
    until(lambda: window.evaluate("!!document.querySelector('tbody')"), "the alerts")
    titles = window.evaluate("[...document.querySelectorAll('h3')].map(one => one.innerText)")
    pending = "VcmtsLoss: warning, pending: the condition holds, but not for long enough"
    assert titles == ["VcmtsFull: critical, firing", pending]
    items = window.evaluate("[...document.querySelectorAll('li b')].map(one => one.innerText)")
    assert items == [f"{name} {MARKUP}" for name in ("three", "two", "one")]
    [quiet] = window.evaluate(ROWS)
    assert quiet == ["VcmtsQuiet", "warning", "summary of reason"]
    assert window.evaluate("document.querySelectorAll('img').length") == 0
    firing = window.evaluate("document.querySelector('nav a.firing').innerText")
    assert firing == "alerts (2 firing)"
