# SPDX-License-Identifier: BSD-3-Clause
"""Tests the shell's completion, its history, and the values that it reads from vcmtsd."""

import stat
import time
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from python.control.test_shell import KEY, MAC, known
from vcmts.shell import completion, live, prompt

Json = dict[str, Any]
VALUES = {("mac", "modem"): [MAC, "02:01:00:00:00:02"], ("group", ""): ["1", "2"]}


def values_of(name: str, noun: str) -> list[str]:
    return VALUES.get((name, noun), [])


def offers(text: str) -> list[str]:
    return [one.text for one in completion.candidates(known(), text, values_of)]


def test_words_of_commands_are_offered() -> None:
    verbs = list(dict.fromkeys(method.words[0] for method in known()))
    assert offers("") == ["help", "group", "quit", *verbs]
    assert offers("sho") == ["show"]
    assert offers("show modem") == ["modems", "modem"]
    assert offers("sh wor") == ["workers"]
    assert offers("help show wor") == ["workers"]
    assert offers("group ") == ["1", "2"]
    for text in ("nonsense ", "show [", "# sho", "show nonsense x"):
        assert offers(text) == []


def test_arguments_are_offered() -> None:
    assert offers("show modem ") == ["flows", MAC, "02:01:00:00:00:02", "group=", "mac="]
    assert offers(f"show modem {MAC} ") == ["group="]
    assert offers("show modem mac ") == VALUES["mac", "modem"]
    assert offers("show modem mac=02") == [f"mac={mac}" for mac in VALUES["mac", "modem"]]
    assert offers("modem.get ma") == ["mac="]
    assert offers("set power policy=") == [
        f"policy={name}" for name in ("none", "performance", "balanced", "saving")
    ]
    assert offers("set measure latency ") == ["true", "false"]


def test_keys_of_objects_are_offered() -> None:
    keys = offers(f"set modem {MAC} ")
    assert {"cpe_limit=", "service_flows=", "group="} <= {*keys}
    assert not {"mac=", "modem="} & {*keys}
    assert "cpe_limit=" not in offers(f"set modem {MAC} cpe_limit=4 ")
    assert offers("set group rate") == ["rate_limit="]
    about = {one.text: one.about for one in completion.candidates(known(), "sh", values_of)}
    assert "modems" in about["show"]


def test_values_come_from_lists_of_vcmtsd() -> None:
    sources = live.find_sources(known())
    named = {
        what: (sources[what].method, sources[what].key) for what in ("modem", "group", "worker")
    }
    assert named["modem"] == ("modem.list", "mac") and named["group"] == ("group.list", "id")
    assert sources["channel"].method in ("group.get", "scheduler.get")
    asked: list[tuple[str, Json]] = []

    def ask(method: str, params: Json) -> Json:
        asked.append((method, params))
        return {"modems": [{"mac": MAC}], "groups": [{"id": 1}, {"id": 2}], "channels": []}

    values = live.Values(sources, ask)
    assert values.of("mac", "modem", 2) == [MAC]
    assert values.of("modem", "metrics", 2) == [MAC]  # from the same answer
    assert values.of("group", "channel", 2) == ["1", "2"]
    assert values.of("id", "channel", None) == values.of("id", "nothing", None) == []
    assert asked[:2] == [("modem.list", {"count": 1000, "group": 2}), ("group.list", {})]
    assert len(asked) == 3


def test_values_are_empty_without_an_answer() -> None:
    values = live.Values(live.find_sources(known()), lambda method, params: None)
    assert values.of("mac", "modem", None) == []


def test_values_are_read_again_when_old(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([{"modems": [{"mac": "a"}]}, {"modems": [{"mac": "b"}]}])
    clock = iter([100.0, 100.0, 104.0, 106.0, 106.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    values = live.Values(live.find_sources(known()), lambda method, params: next(answers))
    read = [values.of("mac", "modem", None) for _ in range(3)]
    assert read == [["a"], ["a"], ["b"]]


def type_keys(keys: str) -> str:
    """What the user enters by these keys."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        read = prompt.reader(lambda text: completion.candidates(known(), text, values_of))
        pipe.send_text(keys)
        return read("> ")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "vcmts" / "shell-history"


def test_history_is_private_and_without_keys(state: Path) -> None:
    line = f"set modem {MAC} cpe_limit=4"
    for entered in (line, f"install key 1 {KEY} {KEY}"):
        assert type_keys(f"{entered}\r") == entered
    text = state.read_text()
    assert f"+{line}\n" in text and KEY not in text
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert type_keys("\x1b[A\r") == line  # arrow up


def test_history_needs_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null")
    assert isinstance(prompt.history(), InMemoryHistory)


def test_completer_replaces_the_last_word() -> None:
    completer = prompt.LineCompleter(lambda text: completion.candidates(known(), text, values_of))
    document = Document("show modem mac=02:01:00:00:00:02")
    [found] = completer.get_completions(document, CompleteEvent())
    assert (found.text, found.start_position) == ("mac=02:01:00:00:00:02 ", -len("mac=" + MAC))
