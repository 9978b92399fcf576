# SPDX-License-Identifier: BSD-3-Clause
"""What `meson install` puts in place, in a folder of the test's: it works without the checkout."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.running import Ended, ended
from patience import TIMEOUT
from vcmts.paths import CHECKOUT, build_directory
from vcmts.witness.pcapfile import read_pcap

PROFILE = "6ofdm-0sc-qam_300cms_aes"
# Every module is imported; a constant that names a file which was not installed is a mistake.
IMPORTED = """
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
        pytest.skip("meson is not here")
    place = tmp_path_factory.mktemp("installed")
    environment = os.environ | {"DESTDIR": str(place)}
    command = ["meson", "install", "--no-rebuild", "--quiet", "-C", str(build_directory())]
    done = subprocess.run(
        command, env=environment, cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = (path.parents[1] for path in place.rglob("bin/vcmts"))
    return Path(found)


def vcmts(prefix: Path, *arguments: str | Path) -> Ended:
    """The installed tool, where neither the checkout nor its build can be meant."""
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
    return ended(done.returncode, done.stdout, done.stderr)


def configuration(prefix: Path, folder: Path) -> Path:
    made = folder / "sg.yaml"
    assert vcmts(prefix, "profile", PROFILE, "--output", made).status == 0
    return made


def test_every_module_finds_its_data(prefix: Path) -> None:
    python = prefix / "share" / "vcmts" / "python"
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, python], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    home, seen = done.stdout.split()
    assert home == str(prefix / "share" / "vcmts")
    assert int(seen) >= 8
    assert not [*prefix.rglob("__pycache__")], "what was compiled here was installed, or is left"
    assert not (python / "vcmts" / "docs").exists()


def test_the_tool_works(prefix: Path, tmp_path: Path) -> None:
    config = configuration(prefix, tmp_path)
    assert vcmts(prefix, "validate", config).stdout.startswith(f"{config}: good")
    for words in (
        ("show", config),
        ("layout", "--config", config),
        ("size", "--groups", "24x6ofdm:8Gbps/1Gbps"),
        ("power", "simulate"),
        ("impairments", "--help"),
        ("compare", "--help"),
    ):
        done = vcmts(prefix, *words)
        assert done.status == 0 and done.stdout, (words, done.stderr)


def test_programs_are_found(prefix: Path, tmp_path: Path) -> None:
    """Those in bin, and a helper in libexec."""
    config, sent, out = configuration(prefix, tmp_path), tmp_path / "sent.pcap", tmp_path / "out"
    traffic = [f"{prefix}/bin/vcmts-traffic", "--config", str(config), "--no-downstream"]
    traffic += ["--upstream-rate", "20Mbps", "--duration", "100ms", "--send-only"]
    ports = ["--network", "net_null0,no-rx=1", "--rphy", f"net_pcap1,tx_pcap={sent}"]
    subprocess.run([*traffic, *ports], check=True, capture_output=True, timeout=TIMEOUT)
    ways = ("--rphy-in", sent, "--network-out", out)
    assert vcmts(prefix, "replay", "--config", config, *ways).status == 0
    assert read_pcap(out).records
    found = vcmts(prefix, "impairments", "--packets", "10", "--config", tmp_path / "none.yaml")
    assert found.status == 2 and "none.yaml" in found.stderr


def test_what_is_missing_is_told(prefix: Path, tmp_path: Path) -> None:
    """In one line, that names Debian's package and nothing of a checkout."""
    copy = tmp_path / "copy"
    shutil.copytree(prefix, copy)
    config = configuration(copy, tmp_path)
    (copy / "bin" / "vcmts-traffic").unlink()
    done = vcmts(copy, "run", "--config", config, "--duration", "1s")
    assert done.status == 2
    assert done.messages[-1].startswith("vcmts: vcmts-traffic is not in ")
    assert done.messages[-1].endswith("on Debian, apt install vcmts-traffic")
    told = vcmts(copy, "show", tmp_path / "no.yaml")
    assert told.status == 2 and "./vcmts" not in told.stderr


def test_what_results_say_of_the_software(prefix: Path) -> None:
    noted = json.loads((prefix / "share" / "vcmts" / "installed.json").read_text())
    told = {"commit", "dirty", "dpdk", "compiler", "march", "hdr_histogram", "version"}
    assert told <= noted["built"].keys()
    assert re.fullmatch(r"\d\d\.\d\d.*", noted["built"]["dpdk"])
    assert (prefix / "share" / "vcmts" / noted["bin"]).resolve() == prefix / "bin"


def test_units_have_the_places_of_the_prefix(prefix: Path) -> None:
    options = json.loads((build_directory() / "meson-info" / "intro-buildoptions.json").read_text())
    named = {option["name"]: option["value"] for option in options}
    unit = (prefix / "lib" / "systemd" / "system" / "vcmtsd.service").read_text()
    assert f"\nExecStart={named['prefix']}/bin/vcmtsd run " in unit
    power = prefix / "share" / "vcmts" / "deploy" / "systemd" / "vcmtsd.service.d" / "power.conf"
    assert f"{named['prefix']}/bin/vcmtsd power restore" in power.read_text()
    assert not re.search(r"@\w+@", unit + power.read_text())
    assert {path.name for path in power.parent.iterdir()} == {
        "kernel-interfaces.conf",
        "physical-addresses.conf",
        "power.conf",
    }
    rules = prefix / "lib" / "udev" / "rules.d"
    assert {path.name for path in rules.iterdir()} == {"70-vcmts-power.rules"}
