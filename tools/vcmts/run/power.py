# SPDX-License-Identifier: BSD-3-Clause
"""What saves power in a run: options that go to vcmtsd, where they go before its file."""

import argparse

IDLE = ("poll", "spin", "tpause-c0.1", "tpause-c0.2", "mwaitx", "umwait", "sleep", "auto")
POLICIES = ("none", "performance", "balanced", "saving")
DRIVERS = ("auto", "cpufreq", "simulated")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--idle",
        choices=IDLE,
        help="what workers do while nothing comes (default: as the file says, else poll; of a day "
        "auto)",
    )
    parser.add_argument(
        "--policy",
        choices=POLICIES,
        help="of the cores' frequencies (default: as the file says, else none)",
    )
    parser.add_argument(
        "--power-driver",
        choices=DRIVERS,
        help="what changes them; simulated ones are work that is wasted (default: auto)",
    )


def options(given: argparse.Namespace) -> list[str]:
    """As vcmtsd takes them."""
    words: list[str] = []
    for name in ("idle", "policy", "power_driver"):
        value = getattr(given, name)
        words += [f"--{name.replace('_', '-')}", value] if value is not None else []
    return words
