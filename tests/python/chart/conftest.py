# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Iterator
from pathlib import Path

import pytest

from python.chart.charts import Renderer, renderer
from python.chart.converted import Converted


@pytest.fixture(scope="session")
def render() -> Iterator[Renderer]:
    """One process for all that is rendered."""
    with renderer() as ready:
        yield ready


@pytest.fixture
def convert(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Converted:
    return Converted(tmp_path, capsys)
