# SPDX-License-Identifier: BSD-3-Clause
"""What holds for every machine that the tests prepare."""

import os

import pytest


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' own session is none of these machines', and their disk does not matter."""
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    monkeypatch.setattr(os, "fsync", lambda handle: None)
