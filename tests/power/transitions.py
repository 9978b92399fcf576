# SPDX-License-Identifier: BSD-3-Clause
"""transitions.py RESULTS LOG...: compares the P-state transitions of the virtual machine with the
expected ones.

RESULTS has the lines that guest/init.c prints. Each LOG has the bytes that one CPU wrote to its
P-state port: one byte per transition, a byte from 0x80 on at the start of a case, and 0xff at its
end. The exit status is 1 if a check failed, a CPU did not make the expected transitions, or the
last line is missing."""

import re
import sys
from pathlib import Path

MARK, MARK_END = 0x80, 0xFF
EXPECTED = re.compile(r"expected (\d+) (\d+): ?([\d ]*)")
CASE = re.compile(r"case (\d+): (.*)")
END = re.compile(r"end: \d+ cases, 0 failed")


def transitions_by_case(log: bytes) -> dict[int, list[int]]:
    """The transitions of each case, in hundreds of MHz. Transitions between cases reset the CPU and
    are ignored."""
    cases: dict[int, list[int]] = {}
    transitions: list[int] = []
    for byte in log:
        if byte == MARK_END:
            transitions = []
        elif byte >= MARK:
            transitions = cases[byte - MARK] = []
        else:
            transitions.append(byte)
    return cases


def wrong_transitions(lines: list[str], logs: list[bytes]) -> list[str]:
    names = {int(match[1]): match[2] for line in lines if (match := CASE.fullmatch(line))}
    expectations = [match for line in lines if (match := EXPECTED.fullmatch(line))]
    logged = [transitions_by_case(log) for log in logs]
    wrong = []
    for match in expectations:
        case, cpu = int(match[1]), int(match[2])
        expected = [int(speed) for speed in match[3].split()]
        made = logged[cpu].get(case)
        if made != expected:
            wrong.append(f"{names.get(case)}: CPU {cpu} set {made}, expected {expected}")
    if not expectations or len(expectations) != len(names) * len(logs):
        wrong.append(f"{len(expectations)} lines `expected` for {len(names)} cases")
    return wrong


def failures(lines: list[str], logs: list[bytes]) -> list[str]:
    failed = [line for line in lines if line.startswith("FAILED: ")]
    if not any(END.fullmatch(line) for line in lines):
        failed.append("cases failed, or the line `end` is missing")
    return failed + wrong_transitions(lines, logs)


def main() -> int:
    lines = Path(sys.argv[1]).read_text(encoding="utf-8", errors="replace").splitlines()
    failed = failures(lines, [Path(name).read_bytes() for name in sys.argv[2:]])
    passed = sum(line.startswith("ok: ") for line in lines)
    print("\n".join([*failed, f"{passed} checks passed, {len(failed)} failures"]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
