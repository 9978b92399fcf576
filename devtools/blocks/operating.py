# SPDX-License-Identifier: BSD-3-Clause
"""Follows docs/operating.md: runs the commands of its blocks, in order, in a booted root.

Each command runs as root under umask 027 in root's home folder. Blocks `sh` must succeed, a command
of `sh refused` must fail, `sh traffic` may lose packets on a busy machine (CONTRIBUTING.md), and
`sh reboot` boots the root again instead. Blocks `text` do not run. After a section, checks that the
page does not have run as well.
"""

import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from blocks.pages import CHECKOUT, block_commands

PAGE = CHECKOUT / "docs" / "operating.md"
BOOTED_ROOT = CHECKOUT / "devtools" / "booted-root"
PART = re.compile(r"^## ([^\n]*)$|^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
REFUSED, TRAFFIC, REBOOT = "sh refused", "sh traffic", "sh reboot"
KINDS = ("sh", REFUSED, TRAFFIC, REBOOT)
ATTEMPTS = 3  # of a command that counts packets in real time
BUSY_US = 5000  # an interruption of the traffic program that excuses lost packets
LIMIT_S = 300  # per command

SERVED = (
    "systemctl is-active --quiet vcmtsd",
    "vcmts control --socket /run/vcmts/control.sock group.list | grep -q 300",
)
RESTARTED = (
    "timeout 60 sh -c 'until systemctl show --property=NRestarts --property=SubState vcmtsd | "
    "paste -sd, | grep -q NRestarts=1,SubState=running; do sleep 0.2; done'"
)
SAME_PROCESS = ('test "$(systemctl show --property=MainPID --value vcmtsd)" = "$(cat process)"',)
# Checks before and after a section, by its heading.
BEFORE: Mapping[str, Sequence[str]] = {
    "Upgrade": ("systemctl show --property=MainPID --value vcmtsd >process",),
    "Reload": ("systemctl show --property=MainPID --value vcmtsd >process",),
}
AFTER: Mapping[str, Sequence[str]] = {
    "Install": (
        "systemctl is-enabled --quiet vcmtsd",
        'test "$(systemctl is-active vcmtsd)" = inactive',
        'test "$(stat -c "%a %U %G" /etc/vcmts)" = "750 root vcmts"',
    ),
    "Configure": ('test "$(stat -c "%a %U %G" /etc/vcmts/vcmts.yaml)" = "640 root vcmts"',),
    "Serve": SERVED,
    "Order at boot": SERVED,
    "Failures and restarts": (RESTARTED, *SERVED),
    "Reload": (*SERVED, *SAME_PROCESS),
    "Back up": ("tar --list --file backup.tar | grep -qx etc/vcmts/vcmts.yaml",),
    "Upgrade": (*SERVED, "dpkg-query --show vcmts | grep -q next"),
    "Standby": SERVED,
    "Downgrade": (*SERVED, "! dpkg-query --show vcmts | grep -q next"),
    "Remove": (
        "! pidof vcmtsd",
        "! dpkg-query --show vcmts vcmts-traffic 2>/dev/null",
        "test ! -e /etc/vcmts",
        "test ! -e /run/vcmts",
        "! systemctl cat vcmtsd 2>/dev/null || { systemctl cat vcmtsd; false; }",
    ),
}
# Checks after a command, by its beginning.
AFTER_COMMAND: Mapping[str, Sequence[str]] = {
    "apt-get install --yes ./next/": SAME_PROCESS,
}

Run = Callable[[str], tuple[int, str]]


@dataclass(frozen=True)
class Step:
    """A command of the page. `kind`: the text after the ``` of its block."""

    section: str
    kind: str
    command: str


class FailedError(Exception):
    """A command of the page, or a check, has another result than the page says."""


def steps(text: str) -> list[Step]:
    """The commands of the blocks that run, in order, with the section that has them."""
    found, section = [], ""
    for heading, kind, block in PART.findall(text):
        if heading:
            section = heading
        elif kind in KINDS:
            found += [Step(section, kind, command) for command in block_commands(block)]
    return found


def missing_checked(text: str) -> list[str]:
    """Sections and commands with checks that the page lacks, and sections of which none runs."""
    found = steps(text)
    sections = {step.section for step in found}
    lacking = [name for name in (*BEFORE, *AFTER) if name not in sections]
    for begin in AFTER_COMMAND:
        if not any(step.command.startswith(begin) for step in found):
            lacking.append(begin)
    return lacking


def excused(output: str) -> bool:
    """Whether packets of a run were proven in both directions, and those that were not are lost or
    late only because other processes used its core."""
    longest = max(
        map(int, re.findall(r"^descheduled .* at most (\d+) us", output, re.M)), default=0
    )
    proven = re.findall(r"^proven +([1-9]\d*) ", output, re.M)
    faults = re.findall(r"^corrupted +(\d+) ", output, re.M)
    return longest >= BUSY_US and len(proven) == 2 and faults == ["0", "0"]


class Follower:
    """`run` returns exit status and output of a command in the root; `reboot` boots it again."""

    def __init__(self, run: Run, reboot: Callable[[], None]) -> None:
        self.run = run
        self.reboot = reboot

    def check(self, commands: Sequence[str], section: str) -> None:
        for command in commands:
            status, output = self.run(command)
            if status != 0:
                raise FailedError(f"{section}: check failed: {command}\n{output}")

    def follow(self, step: Step) -> None:
        if step.kind == REBOOT:
            self.reboot()
            return
        for _ in range(ATTEMPTS if step.kind == TRAFFIC else 1):
            status, output = self.run(step.command)
            if (status != 0) == (step.kind == REFUSED):
                return
            if step.kind == TRAFFIC:
                time.sleep(1)  # modems restart their segment numbers
        if step.kind == TRAFFIC and excused(output):
            print("      packets were lost, as other processes used the core", flush=True)
            return
        raise FailedError(f"{step.section}: status {status}: {step.command}\n{output}")

    def follow_page(self, text: str) -> None:
        for section, commands in groupby(steps(text), key=lambda step: step.section):
            begin = time.monotonic()
            self.check(BEFORE.get(section, ()), section)
            for step in commands:
                print(f"    {step.command}", flush=True)
                self.follow(step)
                for words, checks in AFTER_COMMAND.items():
                    if step.command.startswith(words):
                        self.check(checks, section)
            self.check(AFTER.get(section, ()), section)
            print(f"{time.monotonic() - begin:6.1f} s  {section}", flush=True)


def in_root(root: str, command: str) -> tuple[int, str]:
    words = ["bash", "-uc", f"umask 027; cd; {command}"]
    done = subprocess.run(
        [BOOTED_ROOT, "run", root, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LIMIT_S,
        text=True,
        errors="replace",
    )
    return done.returncode, done.stdout


def boot_again(root: str, base: str) -> None:
    """Without the machine's network: the packages are installed, and their ports are memifs."""
    subprocess.run([BOOTED_ROOT, "stop", root], check=True)
    subprocess.run([BOOTED_ROOT, "start", root, base], check=True)


def main(root: str, base: str) -> int:
    text = PAGE.read_text(encoding="utf-8")
    if missing := missing_checked(text):
        print(
            f"docs/operating.md: lacks the sections or commands {', '.join(missing)}",
            file=sys.stderr,
        )
        return 2

    def run(command: str) -> tuple[int, str]:
        return in_root(root, command)

    try:
        Follower(run, lambda: boot_again(root, base)).follow_page(text)
    except FailedError as fault:
        print(f"FAILED: {fault}")
        print(run("systemctl status --no-pager vcmtsd; journalctl --no-pager -u vcmtsd -n 30")[1])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
