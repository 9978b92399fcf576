# SPDX-License-Identifier: BSD-3-Clause
"""Tests deploy/terraform: its references are declared, cloud-init is valid, and the script of the
first start runs with stubs instead of system programs."""

import base64
import functools
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import hcl2
import pytest

from vcmts import yamls
from vcmts.paths import CHECKOUT

FOLDER = CHECKOUT / "deploy" / "terraform" / "aws"
TEMPLATE = (FOLDER / "cloud-init.yaml.tftpl").read_text(encoding="utf-8")
VALUES = {
    "configuration": base64.b64encode((FOLDER / "example.yaml").read_bytes()).decode(),
    "package_url": "https://example.net/vcmts.deb?a=1&b=2",
    "package_sha256": "0" * 64,
    "network_mac": "02:00:00:00:00:01",
    "rphy_mac": "02:00:00:00:00:02",
    "rphy_address": "10.64.2.9",
    "rphy_router": "10.64.2.1",
}
SCRIPT = "/usr/local/sbin/vcmts-first-start"
STATE_FOLDER = "/var/lib/vcmts-first-start"
ROUTER_MAC = "0a:00:00:00:00:99"
# Replaces all system programs, and logs each call. The router is known after a ping, the package
# starts a configured vcmtsd, and `vcmts host apply` removes the interfaces.
STUB = """#!/bin/sh
name=$(basename "$0")
echo "$name $*" >>"$ROOT/log"
case "$name $*" in
"$FAILS"*) exit 1 ;;
ping*) [ -e "$ROOT/no-router" ] || touch "$ROOT/pinged"; exit 1 ;;
"ip neigh show 10.64.2.1 dev eth2")
	[ ! -e "$ROOT/pinged" ] || echo "10.64.2.1 lladdr 0a:00:00:00:00:99 REACHABLE" ;;
curl*) touch "$ROOT/var/lib/vcmts-first-start/vcmts.deb" ;;
sha256sum*) [ -e "$ROOT/var/lib/vcmts-first-start/vcmts.deb" ] ;;
apt-get*) [ -e "$ROOT/installed" ] || [ ! -e "$ROOT/etc/vcmts/vcmts.yaml" ] || exit 1
	touch "$ROOT/installed" ;;
"vcmts host plan"*)
	mkdir "$ROOT/var/lib/vcmts-first-start/plan"
	touch "$ROOT/var/lib/vcmts-first-start/plan/plan.json" ;;
"vcmts host apply"*) rm -rf "$ROOT/sys/class/net/eth1" "$ROOT/sys/class/net/eth2" ;;
install*) cp "$5" "$6" ;;
esac
"""
PROGRAMS = ("ip", "ping", "curl", "sha256sum", "apt-get", "vcmts", "systemctl", "install")


def unquote(name: str) -> str:
    return name.strip('"')


@functools.cache
def parse(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = hcl2.loads(path.read_text(encoding="utf-8"))
    return document


def blocks(kind: str) -> dict[str, Any]:
    """Returns all blocks of a kind, by `name` or `type.name`."""
    result: dict[str, Any] = {}
    for path in sorted(FOLDER.glob("*.tf")):
        for block in parse(path).get(kind, []):
            for name, inner in block.items():
                if kind in ("resource", "data"):
                    result |= {
                        f"{unquote(name)}.{unquote(key)}": body for key, body in inner.items()
                    }
                else:
                    result[unquote(name)] = inner
    return result


def terraform_text() -> str:
    parts = [path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.tf"))]
    return re.sub(r"#.*", "", "\n".join(parts))


def test_variables_are_declared_and_used() -> None:
    assert set(re.findall(r"\bvar\.(\w+)", terraform_text())) == set(blocks("variable"))
    assert all(unquote(body["description"]) for body in blocks("variable").values())


def test_references_are_declared() -> None:
    resources, data = blocks("resource"), blocks("data")
    assert len(resources) > 10
    named = set(re.findall(r"(?<!data\.)\b(aws_\w+\.\w+)", terraform_text()))
    assert named <= set(resources), "an undeclared resource"
    assert set(re.findall(r"\bdata\.(aws_\w+\.\w+)", terraform_text())) == set(data)
    assert set(re.findall(r"\blocal\.(\w+)", terraform_text())) == {"subnets", "arm"}


def test_interfaces_of_instance() -> None:
    """The first interface is for administration; the others have no source check."""
    resources = blocks("resource")
    attached = resources["aws_instance.this"]["network_interface"]
    assert [one["device_index"] for one in attached] == [0, 1, 2]
    names = [
        re.findall(r"interface\.(\w+)\.id", one["network_interface_id"])[0] for one in attached
    ]
    assert names == ["admin", "network", "rphy"]
    network = resources["aws_network_interface.network"]
    assert network["source_dest_check"] is False
    for way in ("ingress", "egress"):
        [rule] = resources["aws_security_group.rphy"][way]
        assert unquote(rule["protocol"]) == "115"
    assert unquote(resources["aws_placement_group.this"]["strategy"]) == "cluster"


def rendered() -> dict[str, Any]:
    """Renders the template as templatefile() does. It uses only ${name}."""
    arguments = re.search(r'tftpl", \{(.*?)\n  \}\)', terraform_text(), re.DOTALL)
    assert arguments is not None
    assert set(re.findall(r"^\s+(\w+)\s+=", arguments[1], re.MULTILINE)) == set(VALUES)
    assert set(re.findall(r"\$\{(\w+)\}", TEMPLATE)) == set(VALUES)
    assert "%{" not in TEMPLATE
    whole = re.sub(r"\$\{(\w+)\}", lambda match: VALUES[match[1]], TEMPLATE)
    assert whole.startswith("#cloud-config\n")
    document: dict[str, Any] = yamls.safe_load(whole)
    return document


def files() -> dict[str, Any]:
    return {item["path"]: item for item in rendered()["write_files"]}


def test_cloud_init_is_valid() -> None:
    whole = rendered()
    assert set(whole) == {"package_update", "packages", "write_files", "runcmd", "power_state"}
    for item in whole["write_files"]:
        assert {"path", "content"} <= set(item) <= {"path", "content", "permissions", "encoding"}
        assert item["path"].startswith("/") and item.get("permissions", "0644").startswith("0")
    assert [command[0] for command in whole["runcmd"]] == ["/usr/local/sbin/vcmts-first-start"]
    assert whole["power_state"]["mode"] == "reboot"
    cfg = yamls.safe_load(files()["/etc/cloud/cloud.cfg.d/99-vcmts.cfg"]["content"])
    assert cfg == {"datasource": {"Ec2": {"apply_full_imds_network_config": False}}}


def test_first_start_is_a_script() -> None:
    script = files()[SCRIPT]["content"]
    done = subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("vcmts validate", "vcmts host plan --config", "vcmts host apply"):
        assert words in script


def make_instance(root: Path) -> Path:
    """Simulates an instance with three interfaces below `root`. Returns its script."""
    for number, mac in enumerate(("02:00:00:00:00:00", VALUES["network_mac"], VALUES["rphy_mac"])):
        device = root / f"sys/devices/0000:00:0{number + 5}.0"
        link = root / f"sys/class/net/eth{number}"
        device.mkdir(parents=True)
        link.mkdir(parents=True)
        (link / "address").write_text(f"{mac}\n")
        (link / "device").symlink_to(device)
    programs = root / "programs"
    for folder in (programs, root / "etc/vcmts", root / "sys/class/iommu"):
        folder.mkdir(parents=True)
    for name in PROGRAMS:
        (programs / name).write_text(STUB)
        (programs / name).chmod(0o755)
    stored = root / f".{STATE_FOLDER}/vcmts.yaml"
    stored.parent.mkdir(parents=True)
    stored.write_bytes(base64.b64decode(files()[f"{STATE_FOLDER}/vcmts.yaml"]["content"]))
    script = root / "script"
    script.write_text(
        re.sub(r"(?<![\w/])/(etc|sys|var)/", rf"{root}/\1/", files()[SCRIPT]["content"])
    )
    return script


def first_start(root: Path, fails: str = "nothing") -> tuple[bool, str]:
    """Returns whether the script succeeded, and its log of calls."""
    (root / "log").write_text("")
    path = f"{root / 'programs'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", root / "script"], capture_output=True, text=True, check=False,
        env={"PATH": path, "ROOT": str(root), "FAILS": fails},
    )  # fmt: skip
    restarts = str(root) + rendered()["power_state"]["condition"].removeprefix("test -e ")
    assert Path(restarts).exists() is (done.returncode == 0), done.stderr
    return done.returncode == 0, (root / "log").read_text()


def configuration(root: Path) -> Path:
    """Returns the configuration that the first start writes."""
    make_instance(root)
    assert first_start(root)[0]
    return root / "etc/vcmts/vcmts.yaml"


def test_first_start_fills_in_the_example(tmp_path: Path) -> None:
    path = configuration(tmp_path)
    filled = yamls.safe_load(path.read_text(encoding="utf-8"))
    assert "%" not in path.read_text().replace("between %.", "")
    assert filled["ports"]["network"]["device"] == "0000:00:06.0"
    assert filled["ports"]["rphy"]["device"] == "0000:00:07.0"
    assert filled["rphy"]["core_mac"] == VALUES["rphy_mac"]
    assert filled["rphy"]["core_ip"] == VALUES["rphy_address"]
    assert filled["rphy"]["rpd_mac"] == ROUTER_MAC


def test_router_is_resolved_before_interfaces_are_bound(tmp_path: Path) -> None:
    make_instance(tmp_path)
    (tmp_path / "no-router").touch()
    done, log = first_start(tmp_path)
    assert not done, "without the router's MAC address"
    assert "ping -c 1 -I eth2 10.64.2.1\n" in log
    assert "flush" not in log
    (tmp_path / "no-router").unlink()
    done, log = first_start(tmp_path)
    assert done
    assert log.index("ip neigh") < log.index("ip address flush dev eth2")


@pytest.mark.parametrize(
    "step",
    ["ip link set eth1", "ip link set eth2", "curl", "apt-get", "vcmts validate",
     "vcmts host plan", "vcmts host apply", "install", "systemctl"],
)  # fmt: skip
def test_first_start_continues_after_failure(tmp_path: Path, step: str) -> None:
    """A failed start does not reboot, and writes no configuration before there is a plan."""
    make_instance(tmp_path)
    done, log = first_start(tmp_path, step)
    assert (done, log.splitlines()[-1].startswith(step)) == (False, True)
    assert (tmp_path / "etc/vcmts/vcmts.yaml").exists() is (step == "systemctl")
    fetched = (tmp_path / f".{STATE_FOLDER}/vcmts.deb").exists()
    done, log = first_start(tmp_path)
    assert (done, "curl " in log) == (True, not fetched), "the URL may have expired"
    assert first_start(tmp_path) == (True, ""), "no step is repeated"


def test_filled_in_example_is_valid(tmp_path: Path) -> None:
    done = subprocess.run(
        [CHECKOUT / "vcmts", "validate", configuration(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "good: 2 service groups" in done.stdout
