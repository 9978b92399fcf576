# SPDX-License-Identifier: BSD-3-Clause
"""Tests `vcmts bench throughput` with simulated programs of known capacity."""

import re

import pytest

from python.bench.simulated_bench import GBPS, Bench, Json
from python.bench.simulated_bench import bench as bench
from vcmts import cli
from vcmts.paths import CHECKOUT

WHAT = "throughput"
QUICK = ("--trial-seconds", "0.1", "--point", "imix")


def test_known_capacity_is_found(bench: Bench) -> None:
    assert bench("--trial-seconds", "0.1", "--point", "imix", "--point", "512") == 0
    file = bench.stored()
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
    printed = bench.output()[0]
    assert "data plane" in printed and f"{one['gbps']['total']:.2f}" in printed


ENDED = "vcmts: vcmts-bench-throughput ended with status 1; its messages are printed above: "
BOTH = ("--trial-seconds", "0.1", "--repeats", "1", "--point", "imix", "--point", "512")
ENDS: dict[str, tuple[tuple[str, ...], Json, int, int | None, str]] = {
    "a signal before anything is measured": (
        *(QUICK, {"interrupts": 1}, 130, None),
        "stopped by Ctrl-C: nothing was measured",
    ),
    "a signal in the second search": (
        QUICK,
        {"interrupts": 18},
        130,
        1,
        "stopped by Ctrl-C: 0 of 1",
    ),
    "a signal in the second point": (
        *(BOTH, {"interrupts": 12}, 130, 1),
        "stopped by Ctrl-C: 1 of 2 points were measured; their results are stored",
    ),
    "a program that dies": (QUICK, {"dies": 3}, 1, None, f"no memory\n{ENDED}nothing was measured"),
    "a program that dies later": (QUICK, {"dies": 18}, 1, 1, f"no memory\n{ENDED}0 of 1 points"),
    "a refused request": (BOTH, {"refuses": "512"}, 2, 1, "mix: found it, allowed: another"),
}


@pytest.mark.parametrize(
    ("arguments", "behaviour", "status", "kept", "message"), ENDS.values(), ids=list(ENDS)
)
def test_early_end_keeps_results(
    arguments: tuple[str, ...],
    behaviour: Json,
    status: int,
    kept: int | None,
    message: str,
    bench: Bench,
) -> None:
    """Without results, an existing file is kept."""
    bench.path.write_text('"old"')
    assert bench(*arguments, **behaviour) == status
    out, err = bench.output()
    assert message in err
    if kept is None:
        assert (bench.path.read_text(), out) == ('"old"', "")
        return
    assert bench.stored()["complete"] is False and len(bench.stored()["results"]) == kept
    assert bench.result()["point"] == "imix" and ("imix" in out) == (status != 2)
    assert len(bench.result()["repeats"]) < 3


@pytest.mark.parametrize("direction", ["downstream", "upstream"])
def test_single_direction_is_measured(direction: str, bench: Bench) -> None:
    assert bench(*QUICK, "--repeats", "1", "--direction", direction, capacity=2 * GBPS) == 0
    rates = bench.result()["gbps"]
    assert set(rates) == {direction, "total"}
    assert 2 * 0.98 <= rates["total"] <= 2.001


def test_group_without_upstream(bench: Bench) -> None:
    facts = {"upstream_capacity": 0}
    assert bench(*QUICK, "--repeats", "1", facts=facts) == 0
    assert set(bench.result()["gbps"]) == {"downstream", "total"}
    assert bench(*QUICK, "--direction", "upstream", facts=facts) == 2


def test_disturbed_trials_are_repeated_and_marked(bench: Bench) -> None:
    assert bench(*QUICK, disturbed=[1, 2, 5, 9]) == 0
    one = bench.result()
    assert sum(trial["verdict"] == "disturbed" for trial in one["trials"]) == 4
    assert one["gbps"]["total"] >= 5 * 0.98 and one["bound_by"] == "data plane"


def test_always_disturbed_machine_is_the_bound(bench: Bench) -> None:
    assert bench("--trial-seconds", "0.01", "--point", "imix", always=True) == 0
    one = bench.result()
    assert (one["bound_by"], one["confirmed"], one["repeats"]) == ("machine", False, [])
    assert "not confirmed" in bench.output()[0]


def test_full_queues_are_bound_by_channels(bench: Bench) -> None:
    assert bench(*QUICK, "--repeats", "1", queues=True) == 0
    assert bench.result()["bound_by"] == "channels"


def test_rate_is_bound_by_channels(bench: Bench) -> None:
    assert bench(*QUICK, capacity=100 * GBPS) == 0
    one = bench.result()
    assert one["gbps"]["downstream"] == pytest.approx(10)
    assert one["bound_by"] == "channels"


def test_accepted_loss_raises_the_rate(bench: Bench) -> None:
    assert bench(*QUICK, "--repeats", "1", "--accepted-loss", "0.1", "--resolution", "0.005") == 0
    one = bench.result()
    rate = max(sum(t["asked_gbps"].values()) for t in one["trials"] if t["verdict"] == "passed")
    assert rate == pytest.approx(5 / 0.9, rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--point", "banana"), 'vcmts: --point: found "banana", allowed'),
        (("--upstream-mix", "banana"), 'found "banana", allowed'),
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
        (("--core", "1"), "--core: found 1, which the configuration assigns"),
        (("--core", "7"), "--core: found 7, allowed: 0, 1"),
        (("--transport", "ports"), "--network: missing; needed: two devices"),
        (("--network", "a", "b"), "--network: allowed only with --transport ports"),
        (("--json", "/nonexistent/out.json"), "/nonexistent/out.json"),
    ],
)
def test_wrong_options_are_refused(arguments: tuple[str, ...], message: str, bench: Bench) -> None:
    bench.expect_error(message, *arguments)


def test_missing_cores_and_programs_are_refused(bench: Bench) -> None:
    bench.expect_error("found 1 usable core, needed: 2", cores=1)
    facts = {"cores": [0, 1]}
    bench.expect_error("--core: found 0, which the configuration assigns", facts=facts)
    bench.monkeypatch.setenv("VCMTS_BUILD", str(bench.folder))
    assert cli.main(["bench", "throughput", "--json", str(bench.path)]) == 2
    assert "run `make build` first" in bench.output()[1]


def test_rfc2544_measures_all_points(bench: Bench) -> None:
    """All sizes and mixes, with trials of a minute."""
    assert bench("--rfc2544", "--repeats", "1", "--confirmations", "1") == 0
    file = bench.stored()
    assert file["trial_seconds"] == 60
    points = [one["point"] for one in file["results"]]
    assert points == ["imix", "imix-2023", "64", "128", "256", "512", "1024", "1280", "1518"]
    assert file["results"][1]["upstream_mix"] == "upstream-imix-70"


def test_keys_are_documented(bench: Bench) -> None:
    assert bench(*QUICK, "--repeats", "1") == 0
    file = bench.stored()
    page = (CHECKOUT / "docs" / "results.md").read_text()
    section = page.split("### `vcmts bench throughput`")[1].split("\n### ")[0]
    documented = set(re.findall(r"`(?:results\[\]\.)?([a-z0-9_]+)", section))
    result = file["results"][0]
    assert set(file) - {"results"} <= documented
    assert set(result) - {"trials"} <= documented
    assert set(result["trials"][0]) <= documented


@pytest.mark.parametrize(("text", "share"), [("1", 1), ("1/3", 1 / 3), ("0.25", 0.25)])
def test_proven_share_is_stored(text: str, share: float, bench: Bench) -> None:
    assert bench(*QUICK, "--repeats", "1", "--prove", text) == 0
    assert bench.stored()["prove"] == pytest.approx(share)
