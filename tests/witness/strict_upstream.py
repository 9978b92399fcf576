# SPDX-License-Identifier: BSD-3-Clause
"""What faultless modems sent, as the strict decoder and the model of the data plane find it: both
have to find the same."""

from collections.abc import Sequence

from vcmts.witness.downstream import Problem
from vcmts.witness.model import Config
from vcmts.witness.pcapfile import Record
from vcmts.witness.strict_frames import Decoded
from vcmts.witness.strict_upstream import decode_strictly
from witness.upstream import expect_upstream


def decode_upstream(records: Sequence[Record], config: Config) -> Decoded:
    """All that the modems sent. Without problems it is complete, well formed, and what the model of
    the data plane makes of these packets."""
    decoded = decode_strictly(records, config)
    model = expect_upstream(records, config, drain=False)
    left = {**model.drops, **{unit: count for unit, count in model.held.items() if count}}

    def problem(text: str) -> None:
        decoded.problems.append(Problem(len(records), text))

    if left:
        problem(f"the model drops or holds {left}")
    for place, frames in decoded.frames.items():
        if model.stream(*place) != frames:
            problem(f"{place}: the model finds other frames")
    return decoded
