# SPDX-License-Identifier: BSD-3-Clause
"""Tests devtools/blocks/operating.py, which follows docs/operating.md in a booted root."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from vcmts.paths import CHECKOUT

sys.path.insert(0, str(CHECKOUT / "devtools"))
from blocks import operating, pages
from blocks.operating import FailedError, Follower, Step

PAGE = operating.PAGE.read_text(encoding="utf-8")
TEXT = """# Title
## One
```sh
first --a \\
    --b   # a comment
second
```
```text
not run
```
```sh refused
third
```
## Two
```sh reboot
systemctl reboot
```
```sh traffic
fourth
```
"""


class Root:
    """Records commands. Those in `failing` have status 1 as often as it says."""

    def __init__(self, **failing: int) -> None:
        self.ran: list[str] = []
        self.failing = failing

    def run(self, command: str) -> tuple[int, str]:
        self.ran.append(command)
        left = self.failing.get(command, 0)
        self.failing[command] = left - 1
        return (1 if left > 0 else 0), f"output of {command}"

    def reboot(self) -> None:
        self.ran.append("REBOOT")


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(operating, "BEFORE", {"Two": ["before"]})
    monkeypatch.setattr(operating, "AFTER", {"One": ["after"]})
    monkeypatch.setattr(operating, "AFTER_COMMAND", {"first": ["after first"]})


def follow(root: Root) -> list[str]:
    Follower(root.run, root.reboot).follow_page(TEXT)
    return root.ran


def test_commands_run_in_order_with_checks() -> None:
    ran = follow(Root(third=1))
    one = ["first --a --b", "after first", "second", "third", "after"]
    assert ran == [*one, "before", "REBOOT", "fourth"]


def test_failed_command_ends_the_walk() -> None:
    root = Root(second=1, third=1)
    with pytest.raises(FailedError, match="One: status 1: second\noutput of second"):
        follow(root)
    assert root.ran == ["first --a --b", "after first", "second"]


def test_refused_command_must_fail() -> None:
    with pytest.raises(FailedError, match="One: status 0: third"):
        follow(Root())


@pytest.mark.parametrize("check", ["after", "after first", "before"])
def test_failed_check_ends_the_walk(check: str) -> None:
    with pytest.raises(FailedError, match=f"check failed: {check}"):
        follow(Root(third=1, **{check: 1}))


def test_traffic_is_repeated() -> None:
    ran = follow(Root(third=1, fourth=operating.ATTEMPTS - 1))
    assert ran.count("fourth") == operating.ATTEMPTS
    with pytest.raises(FailedError, match="Two: status 1: fourth"):
        follow(Root(third=1, fourth=operating.ATTEMPTS))


def traffic(longest_us: int, *, corrupted: int = 0, proven: int = 9) -> str:
    """The output of a run of the traffic program, once per direction."""
    return 2 * (
        f"proven  {proven}  95.1 %\nlost  2  4.9 %\ncorrupted  {corrupted}  0.0 %\n"
        f"descheduled  3 times for more than 1 ms, at most {longest_us} us: other threads\n"
    )


def test_only_lost_packets_of_a_busy_machine_are_excused() -> None:
    assert operating.excused(traffic(operating.BUSY_US))
    assert not operating.excused(traffic(operating.BUSY_US - 1))
    assert not operating.excused(traffic(operating.BUSY_US, corrupted=1))
    assert not operating.excused(traffic(operating.BUSY_US, proven=0))
    assert not operating.excused("vcmts-traffic: no server")


def test_excused_traffic_is_followed_by_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operating, "excused", lambda output: output == "output of fourth")
    assert follow(Root(third=1, fourth=9))[-operating.ATTEMPTS :] == ["fourth"] * operating.ATTEMPTS


def test_sections_with_checks_have_commands() -> None:
    assert operating.missing_checked(TEXT) == []
    assert operating.missing_checked("## Two\n```sh\nfourth\n```\n") == ["One", "first"]


def test_page_has_sections_of_all_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert operating.missing_checked(PAGE) == []


def test_every_block_of_the_page_has_a_known_kind() -> None:
    kinds = [kind for kind, _ in pages.FENCE.findall(PAGE)]
    assert {*operating.KINDS, "text"} == set(kinds)


@pytest.mark.parametrize("step", operating.steps(PAGE), ids=lambda step: step.command[:40])
def test_commands_of_the_page_are_shell(step: Step) -> None:
    subprocess.run(["bash", "-nc", step.command], check=True)
    assert not re.match("sudo ", step.command), "the page runs as root"


@pytest.mark.parametrize("file", ["install.md", "deploy.md"])
def test_other_pages_link_to_the_commands(file: str) -> None:
    """One step has one way: its commands are on one page."""
    other = (CHECKOUT / "docs" / file).read_text(encoding="utf-8")
    assert "(operating.md" in other
    blocks = [block for _, block in pages.FENCE.findall(other)]
    assert not re.search(r"apt(-get)? install .*deb\b|/etc/vcmts/vcmts\.yaml", "".join(blocks))


def test_packages_need_programs(tmp_path: Path) -> None:
    words = [CHECKOUT / "devtools" / "deb-from-build", tmp_path, tmp_path / "packages"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2
    assert "no programs in" in done.stderr and "make build" in done.stderr
