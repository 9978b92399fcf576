# SPDX-License-Identifier: BSD-3-Clause
"""Installs into a test folder by `meson install`, and runs it without the checkout."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.running import Completed, check_completed
from patience import TIMEOUT
from vcmts.paths import CHECKOUT, build_directory
from vcmts.witness.pcapfile import read_pcap

PROFILE = "6ofdm-0sc-qam_300cms_aes"
# Imports every module. Constants that are paths must be of installed files.
IMPORT_ALL = """
import importlib, pathlib, pkgutil, sys
sys.path[0] = sys.argv[1]
sys.dont_write_bytecode = True
import vcmts
from vcmts.paths import HOME
seen = 0
for found in pkgutil.walk_packages(vcmts.__path__, "vcmts."):
    if found.name.endswith(("__main__", ".plots")):
        continue
    module = importlib.import_module(found.name)
    for name, value in vars(module).items():
        if isinstance(value, pathlib.Path) and HOME in value.parents:
            assert value.exists(), f"{found.name}.{name}: {value}"
            seen += 1
print(HOME, seen)
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("meson") is None:
        pytest.skip("meson is not installed")
    destdir = tmp_path_factory.mktemp("installed")
    environment = os.environ | {"DESTDIR": str(destdir)}
    command = ["meson", "install", "--no-rebuild", "--quiet", "-C", str(build_directory())]
    done = subprocess.run(
        command, env=environment, cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (root,) = (path.parents[1] for path in destdir.rglob("bin/vcmts"))
    return Path(root)


def vcmts(prefix: Path, *arguments: str | Path) -> Completed:
    """Runs the installed tool without variables that refer to the checkout or its build."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "VCMTS_BUILD")
    }
    done = subprocess.run(
        [sys.executable, prefix / "bin" / "vcmts", *arguments],
        env=environment,
        cwd=prefix,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert str(CHECKOUT) not in done.stdout + done.stderr
    return check_completed(done.returncode, done.stdout, done.stderr)


def write_profile(prefix: Path, folder: Path) -> Path:
    path = folder / "sg.yaml"
    assert vcmts(prefix, "profile", PROFILE, "--output", path).status == 0
    return path


def test_modules_find_installed_data(prefix: Path) -> None:
    python = prefix / "share" / "vcmts" / "python"
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, python], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    home, seen = done.stdout.split()
    assert home == str(prefix / "share" / "vcmts")
    assert int(seen) >= 8
    assert not [*prefix.rglob("__pycache__")], "bytecode was installed or written"
    assert not (python / "vcmts" / "docs").exists()


def test_tool_commands_succeed(prefix: Path, tmp_path: Path) -> None:
    config = write_profile(prefix, tmp_path)
    assert vcmts(prefix, "validate", config).stdout.startswith(f"{config}: good")
    for arguments in (
        ("show", config),
        ("layout", "--config", config),
        ("size", "--groups", "24x6ofdm:8Gbps/1Gbps"),
        ("power", "simulate"),
        ("impairments", "--help"),
        ("compare", "--help"),
    ):
        done = vcmts(prefix, *arguments)
        assert done.status == 0 and done.stdout, (arguments, done.stderr)


def test_tool_finds_programs(prefix: Path, tmp_path: Path) -> None:
    """The programs of bin, and one of libexec."""
    config, capture, out = write_profile(prefix, tmp_path), tmp_path / "sent.pcap", tmp_path / "out"
    traffic = [f"{prefix}/bin/vcmts-traffic", "--config", str(config), "--no-downstream"]
    traffic += ["--upstream-rate", "20Mbps", "--duration", "100ms", "--send-only"]
    ports = ["--network", "net_null0,no-rx=1", "--rphy", f"net_pcap1,tx_pcap={capture}"]
    subprocess.run([*traffic, *ports], check=True, capture_output=True, timeout=TIMEOUT)
    files = ("--rphy-in", capture, "--network-out", out)
    assert vcmts(prefix, "replay", "--config", config, *files).status == 0
    assert read_pcap(out).records
    done = vcmts(prefix, "impairments", "--packets", "10", "--config", tmp_path / "none.yaml")
    assert done.status == 2 and "none.yaml" in done.stderr


def test_missing_program_is_reported(prefix: Path, tmp_path: Path) -> None:
    """The message names the Debian package, and no path of a checkout."""
    copy = tmp_path / "copy"
    shutil.copytree(prefix, copy)
    config = write_profile(copy, tmp_path)
    (copy / "bin" / "vcmts-traffic").unlink()
    done = vcmts(copy, "run", "--config", config, "--duration", "1s")
    assert done.status == 2
    assert done.messages[-1].startswith("vcmts: vcmts-traffic not found in ")
    assert done.messages[-1].endswith("on Debian, apt install vcmts-traffic")
    shown = vcmts(copy, "show", tmp_path / "no.yaml")
    assert shown.status == 2 and "./vcmts" not in shown.stderr


def test_build_metadata_is_installed(prefix: Path) -> None:
    metadata = json.loads((prefix / "share" / "vcmts" / "installed.json").read_text())
    keys = {"commit", "dirty", "dpdk", "compiler", "march", "hdr_histogram", "version"}
    assert keys <= metadata["built"].keys()
    assert re.fullmatch(r"\d\d\.\d\d.*", metadata["built"]["dpdk"])
    assert (prefix / "share" / "vcmts" / metadata["bin"]).resolve() == prefix / "bin"


def test_systemd_units_have_installed_paths(prefix: Path) -> None:
    options = json.loads((build_directory() / "meson-info" / "intro-buildoptions.json").read_text())
    options_by_name = {option["name"]: option["value"] for option in options}
    unit = (prefix / "lib" / "systemd" / "system" / "vcmtsd.service").read_text()
    assert f"\nExecStart={options_by_name['prefix']}/bin/vcmtsd run " in unit
    power = prefix / "share" / "vcmts" / "deploy" / "systemd" / "vcmtsd.service.d" / "power.conf"
    assert f"{options_by_name['prefix']}/bin/vcmtsd power restore" in power.read_text()
    assert not re.search(r"@\w+@", unit + power.read_text())
    assert {path.name for path in power.parent.iterdir()} == {
        "kernel-interfaces.conf",
        "physical-addresses.conf",
        "power.conf",
    }
    rules = prefix / "lib" / "udev" / "rules.d"
    assert {path.name for path in rules.iterdir()} == {"70-vcmts-power.rules"}
