# SPDX-License-Identifier: BSD-3-Clause
"""Power-saving options of a run. They are passed to vcmtsd, and override its configuration."""

import argparse

IDLE = ("poll", "spin", "tpause-c0.1", "tpause-c0.2", "mwaitx", "umwait", "sleep", "auto")
POLICIES = ("none", "performance", "balanced", "saving")
DRIVERS = ("auto", "cpufreq", "simulated")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--idle",
        choices=IDLE,
        metavar="KIND",
        help=f"what idle workers do: {', '.join(IDLE)} (default: as in the configuration, else "
        "poll; with --day auto)",
    )
    parser.add_argument(
        "--policy",
        choices=POLICIES,
        help="policy of the cores' frequencies (default: as in the configuration, else none)",
    )
    parser.add_argument(
        "--power-driver",
        choices=DRIVERS,
        help="driver that changes frequencies; simulated: wastes cycles instead (default: auto)",
    )


def options(given: argparse.Namespace) -> list[str]:
    """The options for vcmtsd's command line."""
    words: list[str] = []
    for name in ("idle", "policy", "power_driver"):
        value = getattr(given, name)
        words += [f"--{name.replace('_', '-')}", value] if value is not None else []
    return words
