# SPDX-License-Identifier: BSD-3-Clause
"""deploy/terraform: it parses, what it names is there, and its first start is valid."""

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

PLACE = CHECKOUT / "deploy" / "terraform" / "aws"
TEMPLATE = (PLACE / "cloud-init.yaml.tftpl").read_text(encoding="utf-8")
GIVEN = {
    "configuration": base64.b64encode((PLACE / "example.yaml").read_bytes()).decode(),
    "package_url": "https://example.net/vcmts.deb?a=1&b=2",
    "package_sha256": "0" * 64,
    "network_mac": "02:00:00:00:00:01",
    "rphy_mac": "02:00:00:00:00:02",
    "rphy_address": "10.64.2.9",
    "rphy_router": "10.64.2.1",
}
SCRIPT = "/usr/local/sbin/vcmts-first-start"
KEPT = "/var/lib/vcmts-first-start"
ROUTER_MAC = "0a:00:00:00:00:99"
# In the place of all programs that change or ask something: each call is a line of the log. The
# router is known behind a ping, the package starts what is configured, and `vcmts host apply` takes
# the interfaces away.
STAND_IN = """#!/bin/sh
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


def plain(name: str) -> str:
    return name.strip('"')


@functools.cache
def parsed(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = hcl2.loads(path.read_text(encoding="utf-8"))
    return found


def blocks(kind: str) -> dict[str, Any]:
    """All of that kind, by name or type.name."""
    found: dict[str, Any] = {}
    for path in sorted(PLACE.glob("*.tf")):
        for block in parsed(path).get(kind, []):
            for name, inner in block.items():
                if kind in ("resource", "data"):
                    found |= {f"{plain(name)}.{plain(key)}": body for key, body in inner.items()}
                else:
                    found[plain(name)] = inner
    return found


def text() -> str:
    parts = [path.read_text(encoding="utf-8") for path in sorted(PLACE.glob("*.tf"))]
    return re.sub(r"#.*", "", "\n".join(parts))


def test_variables_are_declared_and_used() -> None:
    assert set(re.findall(r"\bvar\.(\w+)", text())) == set(blocks("variable"))
    assert all(plain(body["description"]) for body in blocks("variable").values())


def test_references_are_there() -> None:
    resources, data = blocks("resource"), blocks("data")
    assert len(resources) > 10
    named = set(re.findall(r"(?<!data\.)\b(aws_\w+\.\w+)", text()))
    assert named <= set(resources), "a resource that nobody declares"
    assert set(re.findall(r"\bdata\.(aws_\w+\.\w+)", text())) == set(data)
    assert set(re.findall(r"\blocal\.(\w+)", text())) == {"subnets", "arm"}


def test_interfaces_of_the_instance() -> None:
    """The administration's first; of the others the addresses are not looked at."""
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
        assert plain(rule["protocol"]) == "115"
    assert plain(resources["aws_placement_group.this"]["strategy"]) == "cluster"


def rendered() -> dict[str, Any]:
    """As templatefile() does: ${name} is replaced, and nothing else stands in such brackets."""
    given = re.search(r'tftpl", \{(.*?)\n  \}\)', text(), re.DOTALL)
    assert given is not None
    assert set(re.findall(r"^\s+(\w+)\s+=", given[1], re.MULTILINE)) == set(GIVEN)
    assert set(re.findall(r"\$\{(\w+)\}", TEMPLATE)) == set(GIVEN)
    assert "%{" not in TEMPLATE
    whole = re.sub(r"\$\{(\w+)\}", lambda match: GIVEN[match[1]], TEMPLATE)
    assert whole.startswith("#cloud-config\n")
    found: dict[str, Any] = yamls.safe_load(whole)
    return found


def files() -> dict[str, Any]:
    return {item["path"]: item for item in rendered()["write_files"]}


def test_cloud_init() -> None:
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


def instance(root: Path) -> Path:
    """With three interfaces; the script with its paths below `root`."""
    for number, mac in enumerate(("02:00:00:00:00:00", GIVEN["network_mac"], GIVEN["rphy_mac"])):
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
        (programs / name).write_text(STAND_IN)
        (programs / name).chmod(0o755)
    stored = root / f".{KEPT}/vcmts.yaml"
    stored.parent.mkdir(parents=True)
    stored.write_bytes(base64.b64decode(files()[f"{KEPT}/vcmts.yaml"]["content"]))
    script = root / "script"
    script.write_text(
        re.sub(r"(?<![\w/])/(etc|sys|var)/", rf"{root}/\1/", files()[SCRIPT]["content"])
    )
    return script


def first_start(root: Path, fails: str = "nothing") -> tuple[bool, str]:
    """Whether it came to its end, and what it called."""
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
    """The example, as the first start makes it."""
    instance(root)
    assert first_start(root)[0]
    return root / "etc/vcmts/vcmts.yaml"


def test_the_example_is_filled_in(tmp_path: Path) -> None:
    path = configuration(tmp_path)
    filled = yamls.safe_load(path.read_text(encoding="utf-8"))
    assert "%" not in path.read_text().replace("between % are", "")
    assert filled["ports"]["network"]["device"] == "0000:00:06.0"
    assert filled["ports"]["rphy"]["device"] == "0000:00:07.0"
    assert filled["rphy"]["core_mac"] == GIVEN["rphy_mac"]
    assert filled["rphy"]["core_ip"] == GIVEN["rphy_address"]
    assert filled["rphy"]["rpd_mac"] == ROUTER_MAC


def test_the_router_is_asked_before_the_interface_is_taken(tmp_path: Path) -> None:
    instance(tmp_path)
    (tmp_path / "no-router").touch()
    done, log = first_start(tmp_path)
    assert not done, "no MAC address is made up"
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
def test_first_start_goes_on_where_it_ended(tmp_path: Path, step: str) -> None:
    """Without a restart before its end, and without the configuration while there is no plan."""
    instance(tmp_path)
    done, log = first_start(tmp_path, step)
    assert (done, log.splitlines()[-1].startswith(step)) == (False, True)
    assert (tmp_path / "etc/vcmts/vcmts.yaml").exists() is (step == "systemctl")
    fetched = (tmp_path / f".{KEPT}/vcmts.deb").exists()
    done, log = first_start(tmp_path)
    assert (done, "curl " in log) == (True, not fetched), "the link may have ended"
    assert first_start(tmp_path) == (True, ""), "nothing is done again"


@pytest.mark.replay
def test_the_example_is_valid(tmp_path: Path) -> None:
    done = subprocess.run(
        [CHECKOUT / "vcmts", "validate", configuration(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "good: 2 service groups" in done.stdout
