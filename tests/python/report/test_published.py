# SPDX-License-Identifier: BSD-3-Clause
"""Tests the published figures: sources are complete, and computed figures follow from others."""

import re
from pathlib import Path

import pytest

from vcmts import published
from vcmts.paths import MistakeError
from vcmts.published import Figure, load

PUBLISHED = load()
FIGURES = list(PUBLISHED.figures.values())
COMPUTED = [f for f in FIGURES if f.formula]
CHECKED = [f for f in FIGURES if f.check]


def decimals(value: float) -> int:
    """Returns the number of decimals in the file."""
    return len(repr(value).partition(".")[2]) if isinstance(value, float) else 0


@pytest.mark.parametrize("figure", FIGURES, ids=lambda f: f.id)
def test_figures_have_sources(figure: Figure) -> None:
    assert figure.paper in PUBLISHED.papers and figure.where
    assert figure.how in published.HOW and figure.bound in published.BOUNDS
    assert figure.machine in ("", *PUBLISHED.machines)
    assert figure.quote or figure.how == "computed"
    assert (figure.how == "computed") == bool(figure.formula)


@pytest.mark.parametrize("figure", COMPUTED, ids=lambda f: f.id)
def test_computed_figures_follow_from_formulas(figure: Figure) -> None:
    """To the last digit in the file."""
    computed = PUBLISHED.computed(figure, figure.formula, figure.names)
    assert abs(computed - figure.value) <= 0.5 * 10 ** -decimals(figure.value) + 1e-9


@pytest.mark.parametrize("figure", CHECKED, ids=lambda f: f.id)
def test_figures_follow_from_second_formulas(figure: Figure) -> None:
    assert figure.check is not None
    computed = PUBLISHED.computed(figure, figure.check.formula, figure.check.names)
    assert abs(computed - figure.value) <= figure.check.within * figure.value + 1e-9


@pytest.mark.parametrize("figure", [f for f in FIGURES if f.how == "stated"], ids=lambda f: f.id)
def test_stated_value_is_in_its_quote(figure: Figure) -> None:
    """The quote has it as a number, a percentage, or in words."""
    words = {"one": 1, "two": 2, "four": 4, "eight": 8, "half": 0.5, "a third of": 0.5}
    quote = figure.quote
    numbers = [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", quote)]
    numbers += [value for word, value in words.items() if word in quote.lower()]
    numbers += [n / 100 for n in numbers] + [n / 2 for n in numbers] + [n * 1000 for n in numbers]
    assert any(abs(n - figure.value) < 1e-9 for n in numbers), quote


def test_throughput_cycles_and_clock_agree() -> None:
    """Gbps x cycles = clock x bits per packet, for each pair of figures of a core."""
    cycles = [f for f in PUBLISHED.of("cycles") if "gbps" in f.names]
    assert len(cycles) >= 6
    for figure in cycles:
        source = PUBLISHED.figures[figure.names["gbps"]]
        assert source.machine == figure.machine
        mix = figure.names.get("bytes")
        size = PUBLISHED.value(mix) if mix else 1024
        clock = PUBLISHED.machines[figure.machine].clock
        assert source.value * figure.value == pytest.approx(clock * size * 8, rel=5e-4)


def test_means_of_mixes() -> None:
    assert PUBLISHED.mixes["imix"].mean == pytest.approx(998.2)
    assert PUBLISHED.mixes["upstream-imix-2021"].mean == pytest.approx(318.28)
    assert PUBLISHED.mixes["upstream-imix-2023"].mean == pytest.approx(309.18)
    printed = PUBLISHED.mixes["imix-2017"]
    assert sum(printed.packets.values()) == 98
    assert printed.mean == pytest.approx(1013.3, abs=0.1)
    assert printed.stated_mean == 998
    for name, mix in PUBLISHED.mixes.items():
        assert name == "imix-2017" or sum(mix.packets.values()) == 100


def test_energy_table_is_consistent() -> None:
    """The gain in Gbps per watt is at least that of the mean saving."""
    for figure in PUBLISHED.figures.values():
        if figure.id.startswith("energy.day."):
            most, least, mean, gain = (float(n) for n in re.findall(r"([\d.]+)%", figure.quote))
            assert least < mean < most and mean == pytest.approx(100 * figure.value)
            assert gain >= 100 * (1 / (1 - mean / 100) - 1) - 0.6
            assert gain < 1.1 * 100 * (1 / (1 - mean / 100) - 1)


def test_idle_power_follows_from_all_techniques() -> None:
    for level, expected in (("idle", 260), ("platform", 408)):
        for technique in ("c-states", "p-states", "both"):
            figure = PUBLISHED.figures[f"energy.{level}.{technique}"]
            share = re.search(r"([\d.]+)%", figure.quote)
            assert share is not None
            assert figure.value / float(share[1]) * 100 == pytest.approx(expected, rel=0.01)


def test_references_to_figures_exist() -> None:
    named = [c.figures for c in PUBLISHED.contradictions]
    named += [rules.figures for rules in PUBLISHED.rules.values()]
    for names in named:
        assert names and all(PUBLISHED.value(name) for name in names)
    for profile in PUBLISHED.profiles.values():
        assert profile.machine in PUBLISHED.machines and profile.rules in PUBLISHED.rules
        assert profile.mix in PUBLISHED.mixes and profile.setup in PUBLISHED.setups
        assert bool(profile.downstream) != bool(profile.total)
        for name in (*profile.downstream.values(), *profile.total.values(), profile.memory):
            assert PUBLISHED.value(name) > 0


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("2017", {"server_cores": "2017.reserve", "upstream_cores": "2017.upstream-core"}),
        ("2023", {"socket_cores": "2023.reserve", "control_plane_cores": "2023.other-cores"}),
        ("cloud", {"interfaces": "cloud.interfaces", "interfaces_admin": "cloud.interfaces.admin"}),
        ("2021-two-a-core", {"downstream_cores": "2021.third"}),
    ],
)
def test_rules_have_the_published_figures(name: str, parts: dict[str, str]) -> None:
    for key, figure in parts.items():
        assert getattr(PUBLISHED.rules[name], key) == PUBLISHED.value(figure)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "no valid file of published figures"),
        ("figures: [{id: a}]", "paper: missing"),
        ("figures: [{id: a, colour: 1}]", 'unknown key "colour"; allowed: '),
        ("figures: [1]", "no valid file of published figures"),
        ("a: [", "no valid file of published figures"),
    ],
)
def test_invalid_file_is_refused(text: str, error: str, tmp_path: Path) -> None:
    path = tmp_path / "published.yaml"
    path.write_text(text)
    with pytest.raises(MistakeError, match=re.escape(error)):
        load(path)


@pytest.mark.parametrize("formula", ["", "a +", "b", "a ** 2", "'a'", "f(a)", "-a"])
def test_invalid_formula_is_refused(formula: str) -> None:
    with pytest.raises(MistakeError, match="formula"):
        published.evaluate(formula, {"a": 1.0})
