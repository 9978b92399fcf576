# SPDX-License-Identifier: BSD-3-Clause
"""The unit on a machine that is not perfect: crashes, mistakes, addresses that come late."""

import re
import sys

import pytest

from packages.booted import CONFIG, PROFILE, SERVICE, Root, configure, install_traffic
from vcmts.paths import CHECKOUT

sys.path.insert(0, str(CHECKOUT / "devtools"))
from blocks import operating

METRICS = """
import sys, urllib.request
print(urllib.request.urlopen(f"http://{sys.argv[1]}/metrics", timeout=5).status)
"""
# Occupies an address until it is stopped.
LISTENER = """
import signal, socket
with socket.create_server(("127.0.0.1", 9464)):
    signal.pause()
"""


def answers(root: Root, address: str) -> bool:
    """Whether metrics can be read at this address."""
    done = root.call("python3", "-c", METRICS, address)
    return done.returncode == 0 and done.stdout.strip() == "200"


def test_serves_after_boot(root: Root) -> None:
    assert root.get("UnitFileState") == "enabled"
    root.reboot()
    root.wait_until_served()
    assert root.get("NRestarts") == "0"


def test_traffic_through_the_service(root: Root) -> None:
    options = root.sh("sed -n 's/^VCMTS_OPTIONS=//p' /etc/vcmts/vcmtsd.env").strip('"')
    devices = re.sub("role=server", "role=client", options.split(" --idle")[0])
    install_traffic(root)
    done = root.call(
        *("vcmts-traffic", "--config", CONFIG, "--rate", "20Mbps", "--upstream-rate", "5Mbps"),
        *("--duration", "2s", "--core", "0", *devices.split()),
    )
    # Other processes on its core may have cost packets.
    assert done.returncode == 0 or operating.excused(done.stdout), done.stdout


def test_comes_back_after_six_kills(root: Root) -> None:
    pids = {root.pid()}
    for _ in range(6):
        root.run("systemctl", "kill", "--signal", "KILL", "--kill-who", "main", SERVICE)
        root.wait(lambda: root.pid() not in {0, *pids}, "a new process of the service")
        pids.add(root.pid())
    root.wait_until_served()
    assert len(pids) == 7


def test_refused_reload_is_reported(root: Root) -> None:
    before = root.pid()
    root.run("sed", "-i.good", "s/^rate_limit: .*/rate_limit: 10 parsecs/", CONFIG)
    done = root.call("systemctl", "reload", SERVICE)
    status = root.get("StatusText")
    assert done.returncode != 0 or "refused" in status
    assert "rate_limit" in root.journal()
    assert root.pid() == before
    assert root.serves()
    root.run("mv", f"{CONFIG}.good", CONFIG)
    root.run("systemctl", "reload", SERVICE)
    root.wait(lambda: "refused" not in root.get("StatusText"), "a status without refusal")
    assert root.pid() == before


def test_mistake_in_the_file_is_not_retried(root: Root) -> None:
    """Status 2 is final: a restart does not correct a file."""
    root.run("sed", "-i.good", "s/^rate_limit: .*/rate_limit: 10 parsecs/", CONFIG)
    assert root.call("systemctl", "restart", SERVICE).returncode != 0
    root.wait(lambda: root.get("ActiveState") == "failed", "a failed unit")
    assert root.get("ExecMainStatus") == "2"
    root.run("mv", f"{CONFIG}.good", CONFIG)
    root.run("systemctl", "start", SERVICE)
    root.wait_until_served()


def test_metrics_address_that_comes_later(root: Root) -> None:
    configure(root, "--metrics 192.0.2.7:9464")
    root.run("systemctl", "restart", SERVICE)
    root.wait_until_served()
    before = root.pid()
    root.run("ip", "address", "add", "192.0.2.7/32", "dev", "lo")
    root.wait(lambda: answers(root, "192.0.2.7:9464"), "metrics")
    assert root.pid() == before


def test_metrics_port_that_is_taken(root: Root) -> None:
    configure(root, "--metrics 127.0.0.1:9464")
    root.run("systemctl", "stop", SERVICE)
    root.run("systemd-run", "--unit", "listener", "python3", "-c", LISTENER)
    root.wait(lambda: ":9464" in root.run("ss", "--listening", "--tcp", "-n"), "the other listener")
    root.run("systemctl", "start", SERVICE)
    root.wait_until_served()
    before = root.pid()
    root.run("systemctl", "stop", "listener")
    root.wait(lambda: answers(root, "127.0.0.1:9464"), "metrics")
    assert root.pid() == before


def install_block() -> list[str]:
    """The commands of the page Operating that install a configuration."""
    page = (CHECKOUT / "docs" / "operating.md").read_text(encoding="utf-8")
    section = page.split("\n## Configure\n")[1]
    block = section.split("```sh\n")[1].split("```")[0]
    assert "/etc/vcmts/vcmts.yaml" in block
    return block.splitlines()


def test_instructions_serve_under_a_strict_umask(root: Root) -> None:
    root.run("systemctl", "stop", SERVICE)
    root.run("rm", CONFIG)
    script = "\n".join(["umask 027", "cd /root", *install_block()])
    assert PROFILE in script
    root.sh(script)
    root.run("systemctl", "start", SERVICE)
    root.wait_until_served()


@pytest.mark.parametrize("command", ["vcmts validate", "vcmtsd check --config"])
def test_unreadable_file_is_reported_to_root(root: Root, command: str) -> None:
    """root can read a file that the service's user cannot."""
    words = command.split()
    done = root.call(*words, CONFIG)
    assert done.returncode == 0
    assert "read" not in done.stderr
    root.run("chown", "root:root", CONFIG)
    done = root.call(*words, CONFIG)
    assert re.search(r"vcmts.*cannot read|cannot read.*vcmts", done.stdout + done.stderr)
