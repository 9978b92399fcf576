# SPDX-License-Identifier: BSD-3-Clause
"""Tests the message for a key that a map may not have."""

import pytest

from vcmts.yamls import unknown_key

KNOWN = ("modems", "channels", "cpe_limit")


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("cpe_limt", 'unknown key "cpe_limt"; did you mean "cpe_limit"?'),
        ("colour", 'unknown key "colour"; allowed: modems, channels, cpe_limit'),
        (7, 'unknown key "7"; allowed: modems, channels, cpe_limit'),
        ("a\nb\x1b", 'unknown key "a?b?"; allowed: modems, channels, cpe_limit'),
        ("x" * 80, f'unknown key "{"x" * 60}"; allowed: modems, channels, cpe_limit'),
        (
            "0123456789abcdef" * 2,
            'unknown key "(32 characters, not shown)"; allowed: modems, channels, cpe_limit',
        ),
    ],
)
def test_unknown_key_names_a_similar_one_or_all(key: object, message: str) -> None:
    assert unknown_key(key, KNOWN) == message
