# SPDX-License-Identifier: BSD-3-Clause
"""Tests that messages show strings that may be keys by their length only."""

import pytest
import yaml

from vcmts import yamls
from vcmts.pod.voice import Voice, write_termination_message
from vcmts.secret import hide_keys, yaml_error_text

KEY = "5ec4e7b01dface9f8a7d3b6c2e1f4058"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (KEY, "(32 characters, not shown)"),
        (f"key {KEY}, and", "key (32 characters, not shown), and"),
        (KEY[:16], "(16 characters, not shown)"),
        (KEY[:15], KEY[:15]),
        ("5ec4e7g01dgace9f", "(16 characters, not shown)"),
        ("5ec4g7g01dgace9f", "5ec4g7g01dgace9f"),
        (
            f"{KEY} or not {KEY[:20]}",
            "(32 characters, not shown) or not (20 characters, not shown)",
        ),
        (f"a {KEY}\n", "a (32 characters, not shown)\n"),
        ("0000:3b:02.0,0000:3b:02.1", "0000:3b:02.0,0000:3b:02.1"),
        ("2001:0db8:85a3:0000:0000:8a2e:0370:7334", "2001:0db8:85a3:0000:0000:8a2e:0370:7334"),
        ("02:01:00:00:00:01", "02:01:00:00:00:01"),
        ("", ""),
    ],
)
def test_hex_of_16_digits_is_not_shown(text: str, expected: str) -> None:
    assert hide_keys(text) == expected


@pytest.mark.parametrize("loader", [yamls.LOADER, yaml.SafeLoader, yaml.BaseLoader])
@pytest.mark.parametrize(
    "text",
    [f"a: *{KEY}", f"a: !{KEY} 1", f'a: "{KEY}', f"a: @{KEY}", f"a: {KEY}: b", f"a: \0{KEY}",
     f"{{a: [{KEY}", f"&{KEY} a: &{KEY} b"],
)  # fmt: skip
def test_yaml_errors_do_not_show_keys(text: str, loader: type[yaml.SafeLoader]) -> None:
    try:
        yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        assert KEY[:6] not in yaml_error_text(error)


def test_yaml_error_has_a_line() -> None:
    with pytest.raises(yaml.YAMLError) as error:
        yamls.safe_load("a: 1\nb: [1, 2\nc: 3\n")
    assert "line 3, column" in yaml_error_text(error.value)


def test_pod_messages_do_not_show_keys(
    tmp_path: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    for json in (True, False):
        Voice(json).say("error", f"found {KEY}")
        assert capsys.readouterr().err.count("(32 characters, not shown)") == 1
    message = f"{tmp_path}/message"
    write_termination_message(f"found {KEY}", {"VCMTS_TERMINATION_LOG": message})
    with open(message, encoding="utf-8") as file:
        assert file.read() == "found (32 characters, not shown)\n"
