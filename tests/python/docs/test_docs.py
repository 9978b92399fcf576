# SPDX-License-Identifier: BSD-3-Clause
"""Tests generated pages and pictures of docs/, which are written only if they differ."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from vcmts.docs import counters_page, metrics_page, picture, pictures
from vcmts.docs import pages as docs
from vcmts.paths import CHECKOUT

SVG = "{http://www.w3.org/2000/svg}"
Json = dict[str, Any]


def stage(name: str, about: str, dpdk: str, *also: str, **queues: str) -> Json:
    """A stage with input queue `of`, output queue `gives` and more outputs, `also`."""
    named = {"from" if key == "of" else key: queue for key, queue in queues.items()}
    return {"name": name, "about": about, "dpdk": dpdk} | named | ({"also": also} if also else {})


def stage_list(name: str, *stages: Json, queues: Sequence[Json] = ()) -> Json:
    return {"name": name, "stages": stages, "queues": queues}


def drop(unit: str, meaning: str) -> Json:
    return {"unit": unit, "meaning": meaning}


ABOUT = {
    "bursts": "complete ones",
    "joined": "and behind them",
    "ring": "asked for",
    "port": "messages",
}
QUEUES = [{"name": name, "about": about} for name, about in ABOUT.items()]
DOWN = (
    stage_list(
        "upper MAC",
        stage("receive", "frames < 2000 & more", "ethdev"),
        stage("enqueue", "queues", "scheduler"),
    ),
    stage_list("lower MAC", stage("depi", "PSP", "mbuf")),
)
UP = (
    stage_list(
        "upstream",
        stage("uepi", "in order", "mbuf", "ring", gives="bursts"),
        stage("reassemble", "flows", "hash", "ring", of="bursts"),
        stage("extract", "frames", "mbuf", "ring", "port", "joined"),
        stage("joined", "fragments", "mbuf", "port", of="joined"),
        stage("transmit", "to the network", "ethdev"),
        queues=QUEUES,
    ),
    stage_list(
        "upstream scheduler", stage("requests", "of modems", "ring", of="ring"), queues=QUEUES
    ),
)
DESCRIPTION: Json = {
    "downstream": {
        "lists": DOWN,
        "drops": {"runt": drop("frames", "too short | empty")},
        "counters": {"received": "frames in"},
    },
    "upstream": {
        "lists": UP,
        "drops": {
            "vlan": drop("frames", "tagged"),
            "psp_late": drop("packets", "given up before"),
            "burst_gap": drop("bursts", "in its midst"),
            "segment_hcs": drop("segments", "wrong"),
        },
        "counters": {"bursts": "begun"},
    },
    "shared_port": {
        "lists": [],
        "drops": {"port_runt": drop("packets", "too short")},
        "counters": {"port_sent": "to the port"},
    },
}


def test_picture_has_stages_in_order() -> None:
    svg = picture.draw(docs.stage_lists(DESCRIPTION["downstream"]))
    root = ElementTree.fromstring(svg)
    texts = [(t.text, int(t.attrib["y"])) for t in root.iter(f"{SVG}text")]
    assert [text for text, _ in texts] == [
        *("upper MAC", "receive", "frames < 2000 & more", "ethdev"),
        *("enqueue", "queues", "scheduler"),
        *("lower MAC", "depi", "PSP", "mbuf"),
    ]
    boxes = [int(box.attrib["y"]) for box in root.iter(f"{SVG}rect") if "y" in box.attrib]
    assert boxes == sorted(boxes) and len(boxes) == 3
    assert max(y for _, y in texts) < int(root.attrib["height"])
    arrows = [p for p in root.iter(f"{SVG}path") if p.get("class") == "way"]
    assert len(arrows) == 2, "between two stages, and between two lists"


def paths_of_class(root: ElementTree.Element, css: str) -> list[str]:
    return [p.attrib["d"] for p in root.iter(f"{SVG}path") if p.get("class") == css]


def upstream_picture() -> ElementTree.Element:
    return ElementTree.fromstring(picture.draw(docs.stage_lists(DESCRIPTION["upstream"])))


def rectangles(root: ElementTree.Element, css: str) -> list[tuple[int, int, int, int]]:
    """Returns left, top, right and bottom of each rectangle."""
    boxes = [r.attrib for r in root.iter(f"{SVG}rect") if r.get("class") == css]
    return [
        (int(b["x"]), int(b["y"]), int(b["x"]) + int(b["width"]), int(b["y"]) + int(b["height"]))
        for b in boxes
    ]


def test_picture_has_exits_to_rings_and_ports() -> None:
    """A port ends the way of packets; a ring leads to another list."""
    root = upstream_picture()
    boxes = rectangles(root, "box")
    left, _, right, _ = boxes[0]
    uepi, reassemble, extract, joined, _, requests = ((b[1] + b[3]) // 2 for b in boxes)
    [ring] = paths_of_class(root, "link tip")
    rail = right + picture.RAIL
    assert ring == f"M{right} {uepi} H{rail} V{requests} H{right}"
    assert paths_of_class(root, "link") == [f"M{right} {y} H{rail}" for y in (reassemble, extract)]
    [port] = rectangles(root, "exit")
    out, up = (way for way in paths_of_class(root, "way") if " H" in way)
    assert out == f"M{left} {extract} H{port[2]}"
    assert up == f"M{left} {joined} H{(port[0] + port[2]) // 2} V{port[3]}"
    words = [t for t in root.iter(f"{SVG}text") if t.get("class") == "about"]
    assert "port" in [t.text for t in words]
    assert all(int(t.attrib["x"]) > rail for t in words if t.text != "port")


@pytest.mark.parametrize("name", ["pipeline.svg", "pipeline-upstream.svg", "system.svg"])
def test_texts_of_pictures_are_inside(name: str) -> None:
    """Texts end within the picture, and those of a box within the box, in a wide font."""
    textpath = pytest.importorskip("matplotlib.textpath", reason="devtools/install-deps plot")
    root = ElementTree.parse(CHECKOUT / "docs" / name).getroot()
    boxes = [box for css in ("box", "exit") for box in rectangles(root, css)]
    for text in root.iter(f"{SVG}text"):
        size = 12 if text.get("class") == "dpdk" else 14
        width = textpath.TextPath((0, 0), text.text or "", size=size).get_extents().width
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        left = x - {"middle": width / 2, "end": width}.get(text.get("text-anchor", ""), 0)
        assert left >= 0 and left + width <= float(root.attrib["width"]), text.text
        for box in boxes:
            if box[0] < x < box[2] and box[1] < y < box[3]:
                assert box[0] <= left and left + width <= box[2], text.text


def test_picture_has_queues_between_stages() -> None:
    """A queue is between its two stages. Packets also pass beside the second queue."""
    root = upstream_picture()
    uepi, reassemble, extract, joined, transmit, _ = rectangles(root, "box")
    bursts, units = rectangles(root, "queue")
    assert uepi[3] < bursts[1] and bursts[3] < reassemble[1]
    assert extract[3] < units[1] and units[3] < joined[1]
    names = [t.text for t in root.iter(f"{SVG}text") if t.text in {"bursts", "joined"}]
    assert names == ["bursts", "joined", "joined"], "two queues, and a stage"
    downwards = [way for way in paths_of_class(root, "way") if " v" in way]
    beside = f"M{extract[0] + picture.BOX // 6} {extract[3]} v{joined[1] - extract[3]}"
    between = [
        f"M{b[0] + picture.BOX // 2} {b[3]} v{picture.ROW - picture.BOX_HEIGHT}"
        for b in (reassemble, joined)
    ]
    assert [way for way in downwards if way in (beside, *between)] == [
        between[0],
        beside,
        between[1],
    ]
    into = [
        f"M{(q[0] + q[2]) // 2} {b[3]} v{q[1] - b[3]}"
        for b, q in ((uepi, bursts), (extract, units))
    ]
    out_of = [
        f"M{(q[0] + q[2]) // 2} {q[3]} v{b[1] - q[3]}"
        for q, b in ((bursts, reassemble), (units, joined))
    ]
    assert set(into + out_of) < set(downwards) and len(downwards) == 7
    assert transmit[3] < int(root.attrib["height"])


def test_counters_page_has_reasons_by_unit() -> None:
    """For both directions. Upstream drop reasons are ordered by unit."""
    _, *parts = re.split("^## (.*)$", counters_page.render(DESCRIPTION), flags=re.MULTILINE)
    page = dict(zip(parts[::2], parts[1::2], strict=True))
    assert "| `runt` | too short \\| empty |" in page["Downstream: drop reasons"]
    assert "| `received` | frames in |" in page["Downstream: counters"]
    assert "| `bursts` | begun |" in page["Upstream: counters"]
    assert "| `port_runt` | too short |" in page["Shared ports: drop reasons"]
    assert "| `port_sent` | to the port |" in page["Shared ports: counters"]
    rows = [line for line in page["Upstream: drop reasons"].splitlines() if line.startswith("| ")]
    assert [row for row in rows if "---" not in row] == [
        *("| packets | meaning |", "| `psp_late` | given up before |"),
        *("| bursts | meaning |", "| `burst_gap` | in its midst |"),
        *("| segments | meaning |", "| `segment_hcs` | wrong |"),
        *("| frames | meaning |", "| `vlan` | tagged |"),
    ]


def test_counters_page_has_all_drop_reasons() -> None:
    description = json.loads(docs.program_output("vcmtsd", "describe"))
    page = counters_page.render(description)
    for direction in (description[name] for name in ("downstream", "upstream", "shared_port")):
        assert all(page.count(f"| `{name}` | ") in (1, 2) for name in direction["drops"])
        assert {drop["unit"] for drop in direction["drops"].values()} <= set(counters_page.UNITS)


def metric(name: str, kind: str, unit: str, *labels: str, **more: str) -> dict[str, Any]:
    entry = {"name": name, "type": kind, "unit": unit, "labels": list(labels)}
    return entry | {"help": "a | b", "wanted": "always"} | more


def test_metrics_page_is_ordered_by_subject() -> None:
    """Subjects without metrics are omitted."""
    page = metrics_page.render(
        [
            metric("vcmts_flow_bytes_total", "counter", "bytes", "sfid", "modem", wanted="flows"),
            metric("vcmts_new", "gauge", ""),
            metric("vcmts_downstream_held_packets", "gauge", "packets", "service_group"),
            metric("vcmts_downstream_channel_bytes_total", "counter", "bytes", "channel"),
            metric("vcmts_downstream_received_packets_total", "counter", "packets"),
        ]
    )
    _, *parts = re.split("^## (.*)$", page, flags=re.MULTILINE)
    result = {
        head: [line for line in text.splitlines() if line and not line.startswith(("| n", "| -"))]
        for head, text in zip(parts[::2], parts[1::2], strict=True)
    }
    assert list(result) == [
        "Select metrics",
        *("Downstream channels and bonding groups", "Downstream", "The process", "Service flows"),
    ]
    assert result["Downstream"] == [
        "| `vcmts_downstream_held_packets` | gauge | packets | `service_group` | a \\| b |",
        "| `vcmts_downstream_received_packets_total` | counter | packets |  | a \\| b |",
    ]
    assert result["The process"] == ["| `vcmts_new` | gauge |  |  | a \\| b |"]
    assert result["Service flows"] == [
        metrics_page.ON_REQUEST["flows"],
        "| `vcmts_flow_bytes_total` | counter | bytes | `sfid`, `modem` | a \\| b |",
    ]


def test_metrics_page_has_all_metrics() -> None:
    metrics = json.loads(docs.program_output("vcmtsd", "describe"))["metrics"]
    page = metrics_page.render(metrics)
    assert all(page.count(f"| `{one['name']}` | {one['type']} |") == 1 for one in metrics)
    heads = re.findall("^## (.*)$", page, flags=re.MULTILINE)
    assert heads[1:] == [subject for subject, _ in metrics_page.SUBJECTS], "all have metrics"


def test_files_are_up_to_date() -> None:
    assert docs.update(CHECKOUT, docs.files(), check=True) == [], "run `make docs`"


def test_pages_are_written(tmp_path: Path) -> None:
    """All pages, without remaining placeholders of templates."""
    pages = docs.reference()
    assert docs.update(tmp_path, pages, check=False) == list(pages)
    assert {path.name for path in tmp_path.iterdir()} == set(docs.REFERENCE)
    for page in tmp_path.iterdir():
        text = page.read_text(encoding="utf-8")
        assert re.search(r"^# ", text, re.MULTILINE) and not re.search("@[A-Z_]+@", text)


def test_update_writes_what_differs(tmp_path: Path) -> None:
    (tmp_path / "same.md").write_text("same")
    (tmp_path / "old.md").write_text("old")
    content = {Path("same.md"): "same", Path("old.md"): "new", Path("docs/more.md"): "more"}
    stale = [Path("old.md"), Path("docs/more.md")]
    assert docs.update(tmp_path, content, check=True) == stale
    assert (tmp_path / "old.md").read_text() == "old"
    assert docs.update(tmp_path, content, check=False) == stale
    assert (tmp_path / "docs/more.md").read_text() == "more"
    assert docs.update(tmp_path, content, check=True) == []


PAGES = [CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *CHECKOUT.glob("docs/**/*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_links_exist(page: Path) -> None:
    """`make docs` checks anchors, and links of generated pages."""
    links = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
    generated = [CHECKOUT / "docs" / name for name in (*docs.REFERENCE, *pictures.NAMES)]
    broken = [
        link
        for link in links
        if "://" not in link
        and not (page.parent / link).exists()
        and (page.parent / link).resolve() not in generated
    ]
    assert broken == []


def links(page: Path, pattern: str) -> set[str]:
    """Returns names of the files to which the page links."""
    text = page.read_text(encoding="utf-8")
    return {Path(link).name for link in re.findall(rf"\]\(({pattern})[)#]", text)}


def test_navigation_has_all_pages() -> None:
    """Each page once."""
    navigation = (CHECKOUT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    pages = [path.name for path in (CHECKOUT / "docs").glob("*.md")]
    names = re.findall(r"([a-z-]+\.md)$", navigation, re.MULTILINE)
    assert sorted(names) == sorted([*pages, *docs.REFERENCE, "index.md", "index.md"])


def test_pictures_are_shown() -> None:
    shown = set().union(*(links(page, r"[^)#]+\.svg") for page in PAGES))
    assert shown == {path.name for path in (CHECKOUT / "docs").glob("*.svg")} | set(pictures.NAMES)
