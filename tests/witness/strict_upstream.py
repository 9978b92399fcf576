# SPDX-License-Identifier: BSD-3-Clause
"""Decodes the traffic of correct modems with both the strict decoder and the model of the data
plane, which must agree."""

from collections.abc import Sequence

from vcmts.witness.downstream import Problem
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import Record
from vcmts.witness.strict_frames import Decoded
from vcmts.witness.strict_upstream import decode_strictly
from witness.upstream import expect_upstream


def decode_upstream(records: Sequence[Record], config: Config) -> Decoded:
    """Decodes all frames. Differences from the model are added to the problems."""
    decoded = decode_strictly(records, config)
    model = expect_upstream(records, config, drain=False)
    left = {**model.drops, **{unit: count for unit, count in model.pending.items() if count}}

    def problem(text: str) -> None:
        decoded.problems.append(Problem(len(records), text))

    if left:
        problem(f"the model drops or buffers {left}")
    for stream, frames in decoded.frames.items():
        if model.stream(*stream) != frames:
            problem(f"{stream}: the model has other frames")
    return decoded
