# SPDX-License-Identifier: BSD-3-Clause
"""Tests the configuration that a container gives to the traffic program."""

import os
from pathlib import Path

import pytest

from vcmts.layout.machine import Machine
from vcmts.pod import traffic
from vcmts.pod.render import RefusedError, Source
from vcmts.system.files import Files


def source(folder: Path, text: str, **environment: str) -> Source:
    core = frozenset({3})
    machine = Machine(core, core, core, core, None, None, {}, ())
    (folder / "run").mkdir()
    (folder / "vcmts.yaml").write_text(text, encoding="utf-8")
    written = folder / "run" / "vcmts.yaml"
    return Source(folder / "vcmts.yaml", written, machine, Files(folder), environment, assign=False)


def test_unset_variables_get_different_devices() -> None:
    text = "a: ${X[1]}\nb: ${X[0]}\nc: ${Y}\nd: ${SET}\ne: $${Z}\nf: ${1}\n"
    found = traffic.with_unset_variables(text, {"SET": "s"})
    assert found.keys() == {"SET", "X", "Y"} and found["SET"] == "s"
    assert len(set(found["X"].split(","))) == 2 and found["Y"]


def test_written_configuration_has_cores_and_own_variables(tmp_path: Path) -> None:
    text = (
        "threads: {layout: 1us1t_1ds2t}\n"
        "service_groups:\n"
        "  - service_group: 1\n"
        "    ports: {network: {device: '${CARD[1]}', vlan: 7}, rphy: {device: '${CARD[0]}'}}\n"
        "    name: ${PLANT}\n"
    )
    made = source(tmp_path, text, PLANT="north")
    traffic.write_configuration(made)
    written = made.written.read_text(encoding="utf-8")
    assert "name: north" in written and "vlan: 7" in written and "${" not in written
    assert "upper_mac_core: 3" in written and "layout: 1us1t_1ds2t" in written
    assert os.stat(made.written).st_mode & 0o777 == 0o600


def test_all_mistakes_are_reported(tmp_path: Path) -> None:
    text = "service_groups:\n  - {service_group: 1, name: '${1}', file: gone.yaml}\n"
    with pytest.raises(RefusedError) as refusal:
        traffic.write_configuration(source(tmp_path, text))
    first, second = refusal.value.mistakes
    assert "allowed: ${NAME} or ${NAME[0]}" in first
    assert "gone.yaml: No such file or directory" in second
    assert list((tmp_path / "run").iterdir()) == []
