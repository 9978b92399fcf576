# SPDX-License-Identifier: BSD-3-Clause
"""Where the tests look for captures of real networks."""

from pathlib import Path

import pytest

from captures import capture


def test_folder_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VCMTS_CAPTURES", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match=r"no a\.pcap in \$VCMTS_CAPTURES"):
        capture("a.pcap")
    (tmp_path / "a.pcap").touch()
    assert capture("a.pcap") == tmp_path / "a.pcap"
