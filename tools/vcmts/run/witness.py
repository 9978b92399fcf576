# SPDX-License-Identifier: BSD-3-Clause
"""Checks random packets of a run with an independent decoder, which shares no code."""

import argparse
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vcmts.jsons import Json
from vcmts.paths import MistakeError, notify
from vcmts.run import expected, refusals, summary
from vcmts.streams import whole_file
from vcmts.witness.nodes import ConfigError
from vcmts.witness.windows import Window, WindowsError, read_windows

if TYPE_CHECKING:
    from vcmts.witness.downstream import Problem


PACKETS, MOST_PACKETS = 300, 100_000
CAPTURED = "witness.pcapng"
PRINTED = 5  # problems that are printed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--witness",
        type=int,
        metavar="NUMBER",
        default=PACKETS,
        help="number of random packets per direction of the R-PHY port that an independent decoder "
        "checks after the run; with --json they are kept in FILE.witness.pcapng; 0: none (default: "
        "%(default)s)",
    )


def options(given: argparse.Namespace, folder: Path) -> list[str]:
    """The options of vcmts-traffic for --witness. Raises MistakeError."""
    if not 0 <= given.witness <= MOST_PACKETS:
        raise MistakeError(f"--witness: found {given.witness}, allowed: 0 to {MOST_PACKETS}")
    if given.witness == 0:
        return []
    return ["--witness", str(folder / CAPTURED), "--witness-packets", str(given.witness)]


@dataclass
class Results:
    """The results of a direction."""

    packets: int = 0
    frames: int = 0
    wrong: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, window: Window, frames: int, problems: Sequence[str]) -> None:
        self.packets += len(window.records)
        self.frames += frames
        self.wrong += len(problems)
        where = f"at {window.records[0].time_ns / 1e9:.6f} s"
        self.problems += [f"{where}, {text}" for text in problems][: PRINTED - len(self.problems)]


def unintended(problems: "list[Problem]", refused: Counter[str]) -> "list[Problem]":
    """The problems without the expected ones; removes these from `refused`."""
    left = []
    for problem in problems:
        if refused[problem.reason] > 0:
            refused[problem.reason] -= 1
        else:
            left.append(problem)
    return left


def decode_windows(config: Path, captured: Path, refused: Counter[str]) -> dict[str, Json]:
    """Decodes the captured packets; results by direction. `refused`: the number of intentionally
    wrong upstream frames by drop reason. Raises ModuleNotFoundError without
    python3-cryptography."""
    from vcmts.witness.downstream import decode_window
    from vcmts.witness.groups import parse_groups
    from vcmts.witness.strict_upstream import decode_strictly

    windows = read_windows(captured)
    indexes = sorted({window.group_index for window in windows})
    groups = parse_groups(config.read_text(encoding="utf-8-sig"), indexes, config.parent)
    found = {"downstream": Results(), "upstream": Results()}
    for window in windows:
        group = groups[window.group_index]
        if window.direction == "downstream":
            result = decode_window(window.records, group)
            frames, problems = result.counters["frames"], result.problems
        else:
            decoded = decode_strictly(window.records, group, window=True)
            frames, problems = decoded.kinds.total(), unintended(decoded.problems, refused)
        texts = [f"packet {problem.packet}: {problem.text}" for problem in problems]
        found[window.direction].add(window, frames, texts)
    return {direction: asdict(one) for direction, one in found.items()}


def decode_run(
    whole: Json, config: Path, captured: Path, given: argparse.Namespace
) -> dict[str, Json]:
    """The results by direction; none for a run with changes of the configuration, or for an
    impaired upstream, as these differ from the file."""
    if not captured.exists():
        return {}
    if expected.configuration_changed(whole):
        notify("the configuration changed: the independent decoder was skipped")
        return {}
    try:
        refused = refusals.refused(whole.get("upstream", {}))
        found = decode_windows(config, captured, refused)
    except ModuleNotFoundError as error:
        notify(
            f"the independent decoder was skipped: it needs python3-{error.name}; install it, or "
            "use --witness 0"
        )
        return {}
    except (ConfigError, WindowsError) as error:
        notify(f"the independent decoder failed: {error}")
        return {}
    if given.impair is not None:
        del found["upstream"]
    return found


def add(whole: Json, config: Path, folder: Path, given: argparse.Namespace) -> None:
    """Adds `witness` to the directions of the summary."""
    found = decode_run(whole, config, folder / CAPTURED, given)
    for direction, part in parts_of(whole).items():
        part["witness"] = found.get(direction, asdict(Results()))


def wrong_count(whole: Json) -> int:
    return sum(map(summary.decoder_errors, parts_of(whole).values()))


def parts_of(whole: Json) -> dict[str, Json]:
    return {way: whole[way] for way in summary.directions(whole)}


def keep_packets(whole: Json, folder: Path, json: str | None) -> str | None:
    """Copies the packets beside the summary, or to the current folder if some are wrong. Returns
    the name of the file; None if they were not kept."""
    captured = folder / CAPTURED
    if not captured.exists() or (json is None and wrong_count(whole) == 0):
        return None
    kept = f"{json}.{CAPTURED}" if json else CAPTURED
    with whole_file(kept) as part:
        shutil.copyfile(captured, part)
    return kept


def print_problems(whole: Json, kept: str | None) -> None:
    for direction, part in parts_of(whole).items():
        for problem in part.get("witness", {}).get("problems", []):
            notify(f"{direction}: independent decoder: {problem} (`wireshark {kept}`)")
