# SPDX-License-Identifier: BSD-3-Clause
"""Settings of all host tests."""

import os

import pytest


@pytest.fixture(autouse=True)
def isolate_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides the SSH session of the tests from the tool, and skips fsync."""
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    monkeypatch.setattr(os, "fsync", lambda handle: None)
