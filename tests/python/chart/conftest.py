# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Iterator
from pathlib import Path

import pytest

from python.chart.charts import Renderer, renderer
from python.chart.converted import Converter


@pytest.fixture(scope="session")
def render() -> Iterator[Renderer]:
    """One process renders for all tests."""
    with renderer() as ready:
        yield ready


@pytest.fixture
def convert(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Converter:
    return Converter(tmp_path, capsys)
