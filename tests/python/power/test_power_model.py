# SPDX-License-Identifier: BSD-3-Clause
"""Tests modelled watts: examples computed by hand, and properties of all machines."""

import itertools
import math
from dataclasses import replace

import pytest

from planning.power import simulate
from vcmts.paths import MistakeError
from vcmts.power import calibrate, model
from vcmts.power.model import Kind, Machine, State, Use

# A busy core uses 4 W at 2 GHz and 1 W at 1 GHz. Ten of the twelve cores are workers: two for
# each of five groups. The other parts of the processors use 20 W.
PLAIN = Machine(
    name="ten cores",
    source="",
    groups=5,
    cores=12,
    workers=(Kind("downstream", cores=1, gbps=8.0), Kind("upstream", cores=1, gbps=2.0)),
    upstream_share=0.25,
    peak_gbps=40.0,
    states=(
        State(ghz=1.0, busy=1.0, polling=0.8, paused=0.2),
        State(ghz=2.0, busy=4.0, polling=3.0, paused=0.5),
    ),
    rest_watts=20.0,
    platform_watts=100.0,
    platform_factor=1.5,
    governor_busy=0.8,
    governor_ghz=0.0,
)


def test_watts_of_a_core() -> None:
    half = model.core_watts(PLAIN, busy=0.5, paused=0.25, hertz=2e9)
    assert half == pytest.approx(0.5 * 4 + 0.25 * 3 + 0.25 * 0.5)
    assert model.core_watts(PLAIN, busy=1, paused=0, hertz=1e9) == 1.0


@pytest.mark.parametrize(
    ("hertz", "busy_watts", "paused_watts"),
    [(1.25e9, 1.75, 0.275), (1.5e9, 2.5, 0.35), (0.1e9, 1.0, 0.2), (9e9, 4.0, 0.5), (0, 1.0, 0.2)],
)
def test_watts_between_and_beyond_states(
    hertz: float, busy_watts: float, paused_watts: float
) -> None:
    assert model.core_watts(PLAIN, busy=1, paused=0, hertz=hertz) == pytest.approx(busy_watts)
    assert model.core_watts(PLAIN, busy=0, paused=1, hertz=hertz) == pytest.approx(paused_watts)


def test_watts_of_a_machine() -> None:
    assert model.watts(PLAIN, busy=1, paused=0, hertz=2e9) == pytest.approx(20 + 10 * 4)
    # A sample of three workers: one busy and fast, two paused and slow. It is scaled to all ten.
    uses = [Use(1, 0, 2e9), Use(0, 1, 1e9, 2)]
    assert model.cpu_watts(PLAIN, uses) == pytest.approx(20 + 10 * (4 + 2 * 0.2) / 3)
    assert model.platform_watts(PLAIN, 60.0) == pytest.approx(100 + 1.5 * 60)
    assert model.platform_watts(replace(PLAIN, platform_watts=None), 60.0) is None


@pytest.mark.parametrize(("busy", "paused"), [(0.6, 0.5), (-0.1, 0.5), (0.5, -0.1), (1.1, 0.0)])
def test_impossible_shares_are_refused(busy: float, paused: float) -> None:
    with pytest.raises(ValueError, match="shares of one time"):
        model.core_watts(PLAIN, busy=busy, paused=paused, hertz=2e9)


def test_empty_sample_of_workers_is_refused() -> None:
    with pytest.raises(ValueError, match="no worker"):
        model.cpu_watts(PLAIN, [])


def test_loads_of_workers() -> None:
    """20 Gbps for five groups are 4 each: 3.2 of 8 downstream, and 0.8 of 2 upstream."""
    assert model.split_rate(PLAIN, 20) == pytest.approx((16, 4))
    assert model.loads(PLAIN, 16, 4) == pytest.approx([0.4, 0.4])
    both = replace(PLAIN, workers=(Kind("both", 1, 8.0),))
    assert model.loads(both, 16, 4) == pytest.approx([0.5])


@pytest.mark.parametrize(
    ("load", "ghz"), [(0, 1), (0.4, 1), (0.4001, 2), (0.8, 2), (0.81, 2), (1, 2)]
)
def test_governor_keeps_a_fifth_idle(load: float, ghz: float) -> None:
    """`load` is the busy share at 2 GHz. It doubles at 1 GHz, where 0.8 is the most."""
    assert model.slowest(PLAIN, load).ghz == ghz


def test_governor_has_a_lowest_frequency() -> None:
    states = tuple(State(ghz, ghz, ghz, 0) for ghz in (1.0, 1.5, 2.0))
    machine = replace(PLAIN, states=states, governor_ghz=1.4)
    assert model.slowest(machine, 0.0).ghz == 1.5
    assert model.slowest(replace(machine, governor_ghz=3.0), 0.0).ghz == 2.0


def test_share_of_highest_frequency_becomes_hertz() -> None:
    assert model.scaled_hertz(PLAIN, 0.75) == pytest.approx(1.5e9)


# --- calibration ---------------------------------------------------------------------------------


def near_idle_of(switching: float, voltage: float, kept: float) -> calibrate.NearIdle:
    """Watts that ten idle cores save by pauses, by 1 instead of 2 GHz, and by both. `switching`:
    watts of a core at 2 GHz; `voltage` at 1 GHz, `kept` in pauses: shares."""
    slow = switching * voltage**2 / 2
    return calibrate.NearIdle(
        cpu=100.0,
        pauses=10 * switching * (1 - kept),
        frequency=10 * (switching - slow),
        both=10 * (switching - kept * slow),
    )


@pytest.mark.parametrize(
    ("switching", "voltage", "kept"), [(2.0, 0.8, 0.4), (1.0, 1.0, 0.0), (3.0, 0.6, 0.9)]
)
def test_calibration_finds_known_values(switching: float, voltage: float, kept: float) -> None:
    result = calibrate.solve(near_idle_of(switching, voltage, kept), 10, 1.0, 1.0, 0.5)
    assert result.watts == pytest.approx(switching)
    assert result.voltage == pytest.approx(voltage)
    assert result.kept == pytest.approx(kept, abs=1e-9)
    assert result.rest == pytest.approx(100 - 10 * switching)


def test_calibration_of_energy_paper() -> None:
    """The paper's savings near idle: pauses 62 W, 0.8 instead of 1.8 GHz 71 W, both 90 W, of 260 W
    for 56 cores. Unlike config/power.yaml, all time counts as idle.

    Pauses save 62 W at 1.8 GHz, and 90 - 71 = 19 W at 0.8 GHz. So 19/62 = 0.3065 of the switching
    power remains at 0.8 GHz, and the saved 71 W are the other 0.6935: 102.37 W in all, 1.828 W per
    core. A pause saves 62 of 102.37 W, so 0.3944 is kept."""
    result = calibrate.solve(calibrate.NearIdle(260, 62, 71, 90), 56, 1.0, 1.0, 0.8 / 1.8)
    assert result.watts == pytest.approx(71 / (1 - 19 / 62) / 56)
    assert result.kept == pytest.approx(0.3944, abs=5e-5)
    assert result.voltage == pytest.approx(math.sqrt(19 / 62 * 1.8 / 0.8))
    assert result.rest == pytest.approx(157.628, abs=5e-4)


def test_states_follow_clock_and_voltage() -> None:
    """The voltage is linear in the frequency: 0.8 at 1 GHz, 0.9 at 1.5 GHz. Watts are c V^2 f."""
    result = calibrate.states(calibrate.Switching(2.0, 0.8, 0.25, 0), [1.0, 1.5, 2.0])
    assert [state.busy for state in result] == pytest.approx([2 * 0.5 * 0.64, 2 * 0.75 * 0.81, 2.0])
    assert all(state.polling == state.busy for state in result)
    assert all(state.paused == pytest.approx(state.busy / 4) for state in result)


@pytest.mark.parametrize(
    "near_idle",
    [
        calibrate.NearIdle(260, 62, 71, 71),  # pauses save nothing when slow
        calibrate.NearIdle(260, 62, 71, 60),
        calibrate.NearIdle(260, 62, 71, 140),  # pauses save more when slow than when fast
        calibrate.NearIdle(260, 62, 20, 25),  # pauses save more than the switching power
        calibrate.NearIdle(100, 62, 71, 90),  # switching power above that of the processors
        calibrate.NearIdle(260, 62, 71, 115),  # the voltage would rise for lower frequencies
    ],
)
def test_contradicting_savings_are_refused(near_idle: calibrate.NearIdle) -> None:
    with pytest.raises(MistakeError, match="calibrate: "):
        calibrate.solve(near_idle, 56, 1.0, 1.0, 0.8 / 1.8)


def test_fit_factor_minimizes_squares() -> None:
    assert calibrate.fit_factor([1, 2], [2, 4]) == pytest.approx(2)
    assert calibrate.fit_factor([1, 1], [1, 2]) == pytest.approx(1.5)
    assert calibrate.fit_factor([62, 71, 90], [72, 84, 108]) == pytest.approx(
        20148 / 16985
    )  # of the paper


# --- properties of calibrated machines: 0.8 to 1.8 GHz, voltages, pauses and governors ------------

LOADS = [n / 40 for n in range(41)]


def machines() -> list[Machine]:
    result = []
    for voltage, kept, busy, floor in itertools.product(
        (0.6, 0.85, 1.0), (0.0, 0.4, 1.0), (0.6, 0.8, 1.0), (0.0, 1.3)
    ):
        ghz = [0.8 + n / 10 for n in range(11)]
        states = calibrate.states(calibrate.Switching(1.8, voltage, kept, 0), ghz)
        result.append(replace(PLAIN, states=states, governor_busy=busy, governor_ghz=floor))
    return result


def watts_at(machine: Machine, load: float, mode: str) -> float:
    """Returns the processors' watts if all workers have this load, of 8 Gbps down and 2 Gbps up.
    `mode`: of simulate.MODES."""
    down, up = load * 8 * machine.groups, load * 2 * machine.groups
    return simulate.moment(machine, down, up, mode).cpu


@pytest.mark.parametrize("machine", machines())
def test_more_load_never_uses_less_power(machine: Machine) -> None:
    for mode in simulate.MODES:
        result = [watts_at(machine, load, mode) for load in LOADS]
        assert all(a <= b + 1e-9 for a, b in itertools.pairwise(result)), mode


@pytest.mark.parametrize("machine", machines())
def test_no_saving_needs_more_power(machine: Machine) -> None:
    for load in LOADS:
        none, pauses, frequency, both = (watts_at(machine, load, m) for m in simulate.MODES)
        assert max(pauses, frequency) <= none + 1e-9
        assert both <= min(pauses, frequency) + 1e-9


@pytest.mark.parametrize("machine", machines())
def test_shares_of_time_are_valid(machine: Machine) -> None:
    for load, mode in itertools.product(LOADS, simulate.MODES):
        result = simulate.use(machine, load, mode, 1)
        assert 0 <= result.busy <= 1 and 0 <= result.paused <= 1 - result.busy + 1e-9
        # The work does not depend on the frequency.
        assert result.busy * result.hertz == pytest.approx(load * 1.8e9)
