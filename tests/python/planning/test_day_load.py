# SPDX-License-Identifier: BSD-3-Clause
"""Tests files with the load of a day: their meaning, one line per error, and mutated files."""

import re
from pathlib import Path
from random import Random

import pytest

from planning.day import load
from vcmts.paths import MistakeError
from vcmts.run.planner import PUBLISHED_DAY


def read(folder: Path, text: str | bytes) -> load.Day:
    path = folder / "day.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load.read(path)


def pairs(points: load.Points) -> list[tuple[float, float]]:
    """Points as (hour, share of the peak)."""
    return [(point.hour, round(point.share, 9)) for point in points]


def test_file_has_hours_and_shares(tmp_path: Path) -> None:
    day = read(tmp_path, "# mine\n\n 0:00 20%  # night\r\n6.5h\t10%\n18:30, 100%\n")
    assert day.name == "day.txt"
    assert pairs(day.downstream) == [(0, 0.2), (6.5, 0.1), (18.5, 1.0), (24, 0.2)]
    assert day.upstream == day.downstream
    assert load.share(day.downstream, 12.5) == pytest.approx(0.55)
    # by hand: means of 15 % for 6.5 h, 55 % for 12 h, 60 % for 5.5 h
    assert load.mean(day.downstream) == pytest.approx((6.5 * 0.15 + 12 * 0.55 + 5.5 * 0.6) / 24)


def test_rates_become_shares_of_the_highest(tmp_path: Path) -> None:
    day = read(tmp_path, "0:00 50Gbps,2Gbps\n12:00 200Gbps,500Mbps\n24:00 0,0\n")
    assert pairs(day.downstream) == [(0, 0.25), (12, 1), (24, 0)]
    assert pairs(day.upstream) == [(0, 1), (12, 0.25), (24, 0)]
    assert day.of("upstream") is day.upstream


def test_step_and_silent_start(tmp_path: Path) -> None:
    day = read(tmp_path, "0:00 0%\n5:00 0%\n7:00 0%\n7:00 80%\n24:00 80%\n")
    assert [load.share(day.downstream, hour) for hour in (6.9, 7, 24)] == [0, 0.8, 0.8]
    assert day.silent_hours() == 7
    assert read(tmp_path, "0:00 0% 1%\n24:00 5% 1%\n").silent_hours() == 0, (
        "the upstream begins at 0:00"
    )
    assert read(tmp_path, "0:00 0%\n3:00 0%\n9:00 5%\n24:00 0%\n").silent_hours() == 3


def test_published_day() -> None:
    """Peak, lowest load and mean are those of the paper."""
    day = load.read(PUBLISHED_DAY)
    shares = [point.share for point in day.downstream]
    assert min(shares) == pytest.approx(10 / 258, abs=5e-4)
    assert max(shares) == 1
    highest = max(day.downstream, key=lambda point: point.share)
    assert 19 <= highest.hour <= 22
    assert load.mean(day.downstream) == pytest.approx(0.48, abs=0.005)


def test_written_day_has_the_points_of_the_file(tmp_path: Path) -> None:
    day = read(tmp_path, "0:00 12.345678%\n6.123456h 0.000001%\n18:01 100%\n")
    load.write(day.downstream, tmp_path / "written.day")
    lines = (tmp_path / "written.day").read_text().splitlines()
    assert lines[:2] == ["0ms 12.345678%", "22044442ms 0.000001%"]
    assert lines[2:] == ["64860000ms 100.000000%", "86400000ms 12.345678%"]


WRONG: dict[str, tuple[str | bytes, str]] = {
    "nothing": ("", "found 0 lines, allowed: 2 to 2000"),
    "comments": ("# 0:00 10%\n\n", "found 0 lines"),
    "one line": ("0:00 10%", "found 1 lines"),
    "too many": ("0:00 1%\n" * 2001, "found 2001 lines"),
    "no load": ("0:00\n1:00 5%", 'day.txt:1: found "0:00", allowed: an hour and a load'),
    "four words": ("0:00 1% 2% 3%\n1:00 5%", ":1: found"),
    "hour 25": ("0:00 1%\n25:00 5%", ':2: found "25:00 5%", allowed: an hour'),
    "24:01": ("0:00 1%\n24:01 5%", ":2: found"),
    "minute 60": ("0:00 1%\n1:60 5%", ":2: found"),
    "words": ("0:00 1%\nnoon 5%", ":2: found"),
    "negative hour": ("0:00 1%\n-1:00 5%", ":2: found"),
    "no first hour": ("1:00 1%\n2:00 5%", ":1: found"),
    "back": (
        "0:00 1%\n3:00 5%\n2:00 5%",
        ':3: found "2:00 5%", allowed: hours in ascending order from 0:00',
    ),
    "three of an hour": ("0:00 1%\n3:00 5%\n3:00 6%\n3:00 7%", ":4: found"),
    "negative": ("0:00 -1%\n1:00 5%", ":1: found"),
    "beyond the peak": ("0:00 1%\n1:00 101%", ":2: found"),
    "not a number": ("0:00 nan%\n1:00 5%", ":1: found"),
    "infinite": ("0:00 1Gbps\n1:00 " + "9" * 400 + "Tbps", ":2: found"),
    "digits of others": ("0:00 1%\n1:00 \u0665%", ":2: found"),
    "no unit": ("0:00 1\n1:00 5", ":1: found"),
    "both units": ("0:00 1%\n1:00 5Gbps", ":2: found"),
    "both units in a line": ("0:00 1% 1Gbps\n1:00 5% 1Gbps", ":1: found"),
    "an empty column": ("0:00,,1%\n1:00,5%,1%", ":1: found"),
    "another column": ("0:00 1% 1%\n1:00 5%", ':2: found "1:00 5%", allowed: 2 loads'),
    "silence": ("0:00 0%\n24:00 0%", "a direction has no load"),
    "silence upstream": ("0:00 1% 0\n24:00 1% 0", "a direction has no load"),
    "zero bytes": (b"0:00 1%\n1:00\x005%\n", ":2: found"),
    "no text": (b"\xff\xfe0\x00", "not text"),
    "escapes": ("0:00 1%\n\x1b[2J 5%", ':2: found "?[2J 5%"'),
    "a long line": ("0:00 1%\n" + "x" * 5000, ':2: found "' + "x" * 40 + '...", '),
    "large": ("#" * (load.MAX_BYTES + 1), "larger than 1,048,576 bytes"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=list(WRONG))
def test_invalid_files_are_refused(text: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(MistakeError) as raised:
        read(tmp_path, text)
    error = str(raised.value)
    assert message in error
    assert "\n" not in error and error.isprintable() and len(error) < 400


@pytest.mark.parametrize("name", ["missing", "."])
def test_missing_file_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(MistakeError, match="--day"):
        load.read(tmp_path / name)


def test_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    """A mutated file is refused in one line, or can be written for vcmts-traffic."""
    good = b"0:00 20% 1%\n6:30,10%,5%\n18.25h 100% 100%\n18:30 0% 0%\n"
    random, days = Random(16), 0
    for _ in range(400):
        text = bytearray(good)
        for _ in range(random.randint(1, 2)):
            position = random.randrange(len(text))
            text[position : position + random.randint(0, 2)] = random.choice(
                [b"", b"0", b"9", b"%", b",", b":", b"h", b"\n", b"\x00", b"\xc3", b"Gbps", b" "]
            )
        try:
            day = read(tmp_path, bytes(text))
        except MistakeError as mistake:
            assert "\n" not in str(mistake)
            continue
        days += 1
        for points in (day.downstream, day.upstream):
            assert points[0].hour == 0 and points[-1].hour == 24
            assert all(0 <= point.share <= 1 for point in points)
            load.write(points, tmp_path / "written")
            lines = (tmp_path / "written").read_text()
            assert re.fullmatch(r"(\d+ms \d{1,3}\.\d{6}%\n)+", lines)
    assert days >= 10
