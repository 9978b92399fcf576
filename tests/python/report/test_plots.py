# SPDX-License-Identifier: BSD-3-Clause
"""Tests legends of pictures with matplotlib 3.6 (of Debian 12) and later versions."""

import matplotlib
import pytest

from vcmts.simulate import plots


@pytest.mark.parametrize("version", [(3, 6), (3, 7)])
def test_legend_is_above_axes(version: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The figure has the legend if this version can place it outside; else its top axes."""
    if matplotlib.__version_info__ < version:
        pytest.skip("matplotlib is older")
    monkeypatch.setattr(matplotlib, "__version_info__", version)
    figure, (top, _) = plots.load().subplots(2, 1, layout="constrained")
    (line,) = top.plot([1, 2], label="a line")
    plots.legend_on_top(figure, handles=[line], ncols=3)
    figure.draw_without_rendering()
    shown = top.get_legend() if version < (3, 7) else figure.legends[0]
    assert [text.get_text() for text in shown.get_texts()] == ["a line"]
    plots.load().close(figure)
