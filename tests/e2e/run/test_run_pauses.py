# SPDX-License-Identifier: BSD-3-Clause
"""Workers that pause and sleep: nothing is lost, all is counted, and the kind changes live."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.control.controlled import config_text, controlled, place
from e2e.machine import check_accounts, passed
from e2e.running import vcmts
from patience import TIMEOUT, until
from vcmts.control.client import Client, RefusedError

Json = dict[str, Any]
PROFILE = "2ofdm-0sc-qam_20cms_aes"
RATES = ("--rate", "50Mbps", "--upstream-rate", "10Mbps", "--duration", "300ms")
TPAUSE = "waitpkg" in Path("/proc/cpuinfo").read_text(encoding="utf-8")


@pytest.mark.run
def test_every_packet_is_proven_by_workers_that_sleep(folder: Path) -> None:
    path = folder / "summary.json"
    ended = vcmts("run", "--profile", PROFILE, *RATES, "--idle", "sleep", "--json", path)
    summary: dict[str, Any] = json.loads(path.read_text())
    check_accounts(summary)
    assert ended.status == (0 if passed(summary) else 1), ended.stderr
    power = summary["power"]
    assert power["idle"] == "sleep" and power["policy"] == "none"
    (worker,) = power["workers"]
    assert worker["kind"] == "sleep"
    assert worker["pauses"] > 0 and 0 < worker["paused"] <= worker["idle"]
    assert "paused (sleep)" in ended.stdout


def text(power: str) -> str:
    return power + config_text()


def samples(client: Client, name: str) -> list[Json]:
    found: list[Json] = client.call("metrics.get", names=[name])["samples"]
    return found


def kind(client: Client) -> str:
    (found,) = samples(client, "vcmts_worker_idle_info")
    return str(found["labels"]["kind"])


def one(client: Client, name: str) -> float:
    (found,) = samples(client, name)
    return float(found["value"])


def reload(client: Client, file: Path, power: str) -> str:
    file.write_text(text(power))
    return str(client.call("config.reload")["done"])


def check_sleeps(client: Client, file: Path) -> None:
    assert "idle settings changed" in reload(
        client, file, "power: {idle: sleep, longest_pause: 5us}\n"
    )
    assert kind(client) == "sleep"
    before = one(client, "vcmts_worker_paused_seconds_total")
    until(lambda: one(client, "vcmts_worker_paused_seconds_total") > before, "it sleeps")
    assert one(client, "vcmts_worker_idle_seconds_total") > 0


def check_what_is_not_there(client: Client, file: Path) -> None:
    assert one(client, "vcmts_idle_refused_total") == 0
    reload(client, file, "power: {idle: tpause-c0.1}\n")
    assert kind(client) == ("tpause-c0.1" if TPAUSE else "poll")
    assert one(client, "vcmts_idle_refused_total") == (0 if TPAUSE else 1)


def check_polls(client: Client, file: Path) -> None:
    reload(client, file, "power: {idle: poll}\n")
    assert kind(client) == "poll"
    pauses = one(client, "vcmts_worker_pauses_total")
    rounds = one(client, "vcmts_worker_rounds_total")
    until(lambda: one(client, "vcmts_worker_rounds_total") > rounds + 1000, "rounds")
    assert one(client, "vcmts_worker_pauses_total") == pauses > 0
    assert "nothing changed" in reload(client, file, "power: {idle: poll}\n")


def test_pauses_change_while_it_runs() -> None:
    with place() as folder:
        file = folder / "sg.yaml"
        file.write_text(text("power: {idle: spin, empty_rounds: 4}\n"))
        with controlled(folder, idle=()) as (run, path):
            with Client(path, TIMEOUT) as client:
                assert kind(client) == "spin"
                until(lambda: one(client, "vcmts_worker_pauses_total") > 100, "it pauses")
                check_sleeps(client, file)
                check_what_is_not_there(client, file)
                check_polls(client, file)
                with pytest.raises(RefusedError, match="metrics: differs"):
                    reload(client, file, "metrics: 127.0.0.1:0\n")
            ended = run.stop()
        assert ended.status == 0
        assert ("no such instruction" in ended.stderr) is not TPAUSE
