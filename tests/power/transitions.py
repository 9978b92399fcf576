# SPDX-License-Identifier: BSD-3-Clause
"""transitions.py RESULTS LOG...: what the cases in the virtual machine said and did.

RESULTS has the lines of guest/init.c, each LOG what one CPU wrote to the port of its P-states: a
byte a transition, and one from 0x80 on where a case begins or, 0xff, ends. Ends with 1 where a
check failed, where a CPU did not make the transitions that its case expects, or where the end is
missing.
"""

import re
import sys
from pathlib import Path

MARK, MARK_END = 0x80, 0xFF
EXPECTED = re.compile(r"expected (\d+) (\d+): ?([\d ]*)")
CASE = re.compile(r"case (\d+): (.*)")
END = re.compile(r"end: \d+ cases, 0 failed")


def by_case(log: bytes) -> dict[int, list[int]]:
    """The transitions of each case, in hundreds of MHz; those between cases set the CPU back."""
    found: dict[int, list[int]] = {}
    made: list[int] = []
    for byte in log:
        if byte == MARK_END:
            made = []
        elif byte >= MARK:
            made = found[byte - MARK] = []
        else:
            made.append(byte)
    return found


def other_transitions(lines: list[str], logs: list[bytes]) -> list[str]:
    names = {int(match[1]): match[2] for line in lines if (match := CASE.fullmatch(line))}
    expectations = [match for line in lines if (match := EXPECTED.fullmatch(line))]
    made = [by_case(log) for log in logs]
    wrong = []
    for match in expectations:
        case, cpu = int(match[1]), int(match[2])
        expected = [int(speed) for speed in match[3].split()]
        if made[cpu].get(case) != expected:
            wrong.append(
                f"{names.get(case)}: CPU {cpu} went to {made[cpu].get(case)} and not to {expected}"
            )
    if not expectations or len(expectations) != len(names) * len(logs):
        wrong.append(f"{len(expectations)} expectations of {len(names)} cases")
    return wrong


def failures(lines: list[str], logs: list[bytes]) -> list[str]:
    said = [line for line in lines if line.startswith("FAILED: ")]
    if not any(END.fullmatch(line) for line in lines):
        said.append("the cases did not come to an end, or some failed")
    return said + other_transitions(lines, logs)


def main() -> int:
    lines = Path(sys.argv[1]).read_text(encoding="utf-8", errors="replace").splitlines()
    found = failures(lines, [Path(name).read_bytes() for name in sys.argv[2:]])
    held = sum(line.startswith("ok: ") for line in lines)
    print("\n".join([*found, f"{held} checks held, {len(found)} failures"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
