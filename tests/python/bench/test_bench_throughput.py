# SPDX-License-Identifier: BSD-3-Clause
"""`vcmts bench throughput` around programs of known capacity."""

import re
from pathlib import Path

import pytest

from python.bench.simulated_bench import GBPS, Bench, runner, stored
from vcmts import cli
from vcmts.paths import CHECKOUT

QUICK = ("--trial-seconds", "0.1", "--point", "imix")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return runner("throughput", tmp_path, monkeypatch)


def test_what_is_known_is_found(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench("--trial-seconds", "0.1", "--point", "imix", "--point", "512") == 0
    file = stored(tmp_path)
    assert (file["kind"], file["complete"]) == ("throughput", True)
    assert file["configuration"] == "simulated"
    assert (file["transport"], file["repeats"], file["upstream_share"]) == ("rings", 3, 0.15)
    assert file["host"]["cpu"] == "A core"
    assert [one["point"] for one in file["results"]] == ["imix", "512"]
    one = file["results"][0]
    assert (one["mix"], one["upstream_mix"]) == ("imix", "upstream-imix")
    assert 5 * 0.98 <= one["gbps"]["total"] <= 5.001
    assert one["gbps"]["upstream"] == pytest.approx(0.15 * one["gbps"]["downstream"], rel=1e-3)
    assert one["mean_bytes"] == {"downstream": 1000, "upstream": 250}
    assert one["mpps"]["upstream"] == pytest.approx(one["gbps"]["upstream"] / 8 / 0.25)
    assert len(one["repeats"]) == 3
    assert one["min"] == min(one["repeats"]) and one["max"] == max(one["repeats"])
    assert one["bound_by"] == "data plane" and one["confirmed"] is True
    assert {trial["verdict"] for trial in one["trials"]} == {"passed", "failed"}
    assert {trial["search"] for trial in one["trials"]} == {1, 2, 3}
    printed = capsys.readouterr().out
    assert "data plane" in printed and f"{one['gbps']['total']:.2f}" in printed


@pytest.mark.parametrize("direction", ["downstream", "upstream"])
def test_one_direction(direction: str, bench: Bench, tmp_path: Path) -> None:
    assert bench(*QUICK, "--repeats", "1", "--direction", direction, capacity=2 * GBPS) == 0
    rates = stored(tmp_path)["results"][0]["gbps"]
    assert set(rates) == {direction, "total"}
    assert 2 * 0.98 <= rates["total"] <= 2.001


def test_no_upstream_channels(bench: Bench, tmp_path: Path) -> None:
    facts = {"upstream_capacity": 0}
    assert bench(*QUICK, "--repeats", "1", facts=facts) == 0
    assert set(stored(tmp_path)["results"][0]["gbps"]) == {"downstream", "total"}
    assert bench(*QUICK, "--direction", "upstream", facts=facts) == 2


def test_disturbed_trials_are_repeated_and_marked(bench: Bench, tmp_path: Path) -> None:
    assert bench(*QUICK, disturbed=[1, 2, 5, 9]) == 0
    one = stored(tmp_path)["results"][0]
    assert sum(trial["verdict"] == "disturbed" for trial in one["trials"]) == 4
    assert one["gbps"]["total"] >= 5 * 0.98 and one["bound_by"] == "data plane"


def test_a_machine_that_is_never_ours(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench("--trial-seconds", "0.01", "--point", "imix", always=True) == 0
    one = stored(tmp_path)["results"][0]
    assert (one["bound_by"], one["confirmed"], one["repeats"]) == ("machine", False, [])
    assert "not confirmed" in capsys.readouterr().out


def test_queues_that_overflow_are_the_channels(bench: Bench, tmp_path: Path) -> None:
    assert bench(*QUICK, "--repeats", "1", queues=True) == 0
    assert stored(tmp_path)["results"][0]["bound_by"] == "channels"


def test_as_much_as_the_channels_carry(bench: Bench, tmp_path: Path) -> None:
    assert bench(*QUICK, capacity=100 * GBPS) == 0
    one = stored(tmp_path)["results"][0]
    assert one["gbps"]["downstream"] == pytest.approx(10)
    assert one["bound_by"] == "channels"


def test_accepted_loss(bench: Bench, tmp_path: Path) -> None:
    assert bench(*QUICK, "--repeats", "1", "--accepted-loss", "0.1", "--resolution", "0.005") == 0
    one = stored(tmp_path)["results"][0]
    asked = max(sum(t["asked_gbps"].values()) for t in one["trials"] if t["verdict"] == "passed")
    assert asked == pytest.approx(5 / 0.9, rel=0.01)


def test_an_interrupt_keeps_what_was_measured(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Here in the second point."""
    words = ("--trial-seconds", "0.1", "--repeats", "1", "--point", "imix", "--point", "512")
    assert bench(*words, interrupts=12) == 130
    file = stored(tmp_path)
    assert file["complete"] is False
    assert [one["point"] for one in file["results"]] == ["imix"]
    told = capsys.readouterr()
    assert "interrupted: 1 of 2 points were measured; what there is is kept" in told.err
    assert "imix" in told.out


def test_searches_of_a_point_that_was_interrupted_are_kept(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(*QUICK, interrupts=18) == 130
    file = stored(tmp_path)
    assert file["complete"] is False
    assert 1 <= len(file["results"][0]["repeats"]) < 3
    assert "interrupted: 0 of 1 points" in capsys.readouterr().err


def test_an_interrupt_before_anything_is_measured(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(*QUICK, interrupts=1) == 130
    assert "interrupted: nothing was measured" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


def test_a_program_that_dies(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In its first search: what another time has stored stays."""
    (tmp_path / "out.json").write_text('"of another time"')
    assert bench(*QUICK, dies=3) == 1
    assert (tmp_path / "out.json").read_text() == '"of another time"'
    told = capsys.readouterr()
    assert "no memory" in told.err
    ended = "vcmts-bench-throughput ended with status 1; its messages are above"
    assert f"{ended}: nothing was measured" in told.err
    assert told.out == ""


def test_a_program_that_dies_later(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(*QUICK, dies=18) == 1
    assert stored(tmp_path)["complete"] is False
    assert "its messages are above: 0 of 1 points" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--point", "banana"), "vcmts: --point: banana: allowed"),
        (("--upstream-mix", "banana"), "banana: allowed"),
        (("--trial-seconds", "0"), "--trial-seconds: found 0, allowed: 0.01 to 86400"),
        (("--resolution", "2"), "--resolution: found 2, allowed: 0.0001 to 0.5"),
        (("--accepted-loss", "-1"), "--accepted-loss: found -1, allowed: 0 to 0.5"),
        (("--repeats", "0"), "--repeats: found 0, allowed: 1 to 1000"),
        (("--confirmations", "0"), "--confirmations: found 0, allowed: 1 to 1000"),
        (("--upstream-share", "nan"), "--upstream-share: found nan, allowed: 0.001 to 1000"),
        (("--prove", "0"), "--prove: found 0, allowed: 1, 1/2, 1/3 .. 1/1024"),
        (("--prove", "1/2000"), "--prove: found 1/2000"),
        (("--prove", "0.3"), "--prove: found 0.3"),
        (("--prove", "banana"), "--prove: found banana"),
        (("--core", "1"), "core 1 is the data plane's by the configuration"),
        (("--core", "7"), "--core: found 7, allowed: 0, 1"),
        (("--transport", "ports"), "--network: found none, allowed: two devices"),
        (("--network", "a", "b"), "--network: allowed with --transport ports only"),
        (("--json", "/nonexistent/out.json"), "/nonexistent/out.json"),
    ],
)
def test_mistakes(
    words: tuple[str, ...], message: str, bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(*words) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.err.count("\n") == 1 and told.out == ""


def test_a_request_that_the_program_refuses(
    bench: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was measured before is there, and not complete."""
    words = ("--trial-seconds", "0.1", "--repeats", "1", "--point", "imix", "--point", "512")
    assert bench(*words, refuses="512") == 2
    assert "mix: found it, allowed: another" in capsys.readouterr().err
    assert stored(tmp_path)["complete"] is False


def test_one_core(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(cores=1) == 2
    told = capsys.readouterr().err
    assert "found 1 core that this process may use, needed: 2" in told


def test_no_core_is_left(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(facts={"cores": [0, 1]}) == 2
    assert "core 0 is the data plane's by the configuration" in capsys.readouterr().err


def test_nothing_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VCMTS_BUILD", str(tmp_path))
    assert cli.main(["bench", "throughput", "--json", str(tmp_path / "out.json")]) == 2
    assert "run `make build` first" in capsys.readouterr().err


def test_rfc2544(bench: Bench, tmp_path: Path) -> None:
    """Every size and mix, trials of a minute."""
    assert bench("--rfc2544", "--repeats", "1", "--confirmations", "1") == 0
    file = stored(tmp_path)
    assert file["trial_seconds"] == 60
    points = [one["point"] for one in file["results"]]
    assert points == ["imix", "imix-2023", "64", "128", "256", "512", "1024", "1280", "1518"]
    assert file["results"][1]["upstream_mix"] == "upstream-imix-70"


def test_every_key_is_documented(bench: Bench, tmp_path: Path) -> None:
    assert bench(*QUICK, "--repeats", "1") == 0
    file = stored(tmp_path)
    page = (CHECKOUT / "docs" / "results.md").read_text()
    section = page.split("### `vcmts bench throughput`")[1].split("\n### ")[0]
    words = set(re.findall(r"`(?:results\[\]\.)?([a-z0-9_]+)", section))
    result = file["results"][0]
    assert set(file) - {"results"} <= words
    assert set(result) - {"trials"} <= words
    assert set(result["trials"][0]) <= words


@pytest.mark.parametrize(("text", "share"), [("1", 1), ("1/3", 1 / 3), ("0.25", 0.25)])
def test_a_share_is_proven(text: str, share: float, bench: Bench, tmp_path: Path) -> None:
    assert bench(*QUICK, "--repeats", "1", "--prove", text) == 0
    assert stored(tmp_path)["prove"] == pytest.approx(share)
