# SPDX-License-Identifier: BSD-3-Clause
"""Tests pages of the web site: their paths, links between them, and files and folders as pages."""

import os
from pathlib import Path, PurePosixPath

import pytest

from vcmts.docs import pictures, site


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("README.md", "index.md"),
        ("docs/limits.md", "limits.md"),
        ("docs/control.md", "control.md"),
        ("docs/pipeline.svg", "pipeline.svg"),
        ("docs/decisions", "decisions/index.md"),
        ("src/upstream/uepi.c", "source/src/upstream/uepi.c.md"),
        ("CONTRIBUTING.md", "source/CONTRIBUTING.md"),
        ("deploy/grafana", "source/deploy/grafana/index.md"),
        ("tests/vm", "source/tests/vm/README.md"),
    ],
)
def test_path_of_page(path: str, page: str) -> None:
    assert site.page_path(PurePosixPath(path)) == page


@pytest.mark.parametrize(
    ("origin", "text", "expected"),
    [
        ("README.md", "[a](docs/limits.md#cpu)", "[a](limits.md#cpu)"),
        ("docs/limits.md", "[a](../README.md#x)", "[a](index.md#x)"),
        ("docs/limits.md", "![a](pipeline.svg)", "![a](pipeline.svg)"),
        ("docs/decisions/008-server.md", "[a](../limits.md)", "[a](../limits.md)"),
        ("docs/limits.md", "[a](../src/main.c)", "[a](source/src/main.c.md)"),
        ("tests/vm/README.md", "[a](../../docs/host.md)", "[a](../../../host.md)"),
        ("docs/limits.md", "[a](https://x.org/y) [b](#z)", "[a](https://x.org/y) [b](#z)"),
        ("docs/limits.md", "```sh needs\nls x\n```", "```sh\nls x\n```"),
    ],
)
def test_links_and_blocks_are_rewritten(origin: str, text: str, expected: str) -> None:
    assert site.rewrite(text, PurePosixPath(origin)) == expected


def test_file_becomes_a_page() -> None:
    """Its fence is longer than fences in the file. The search excludes it."""
    page = site.page_text(PurePosixPath("tools/vcmts/docs/configuration.md.in"))
    assert page.startswith("---\nsearch:\n  exclude: true\n---\n# tools/")
    assert '\n```` text linenums="1"\n' in page and page.endswith("\n````\n")
    assert '\n``` c linenums="1"\n' in site.page_text(PurePosixPath("src/main.c"))


def test_folder_becomes_a_page() -> None:
    page = site.page_text(PurePosixPath("docs/decisions"))
    assert "](008-server.md)\n" in page and page.startswith("# docs/decisions\n")
    assert "- `alerts.yaml`\n" in site.page_text(PurePosixPath("deploy/prometheus"))


def test_missing_or_old_pictures_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    program, *drawn = (tmp_path / name for name in ("program", "a.svg", "b.svg"))
    names = tuple(path.name for path in drawn)
    for path in (program, drawn[0]):
        path.touch()
    assert pictures.is_older(names, program)
    drawn[1].touch()
    for path, time in zip((program, *drawn), (10, 11, 12), strict=True):
        os.utime(path, (time, time))
    assert not pictures.is_older(names, program)
    os.utime(drawn[0], (9, 9))
    assert pictures.is_older(names, program)
