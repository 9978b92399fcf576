# SPDX-License-Identifier: BSD-3-Clause
"""Tests the commands of the shell: made from the methods of vcmtsd, with arguments and help."""

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcmts.paths import MistakeError, program
from vcmts.shell import arguments, grammar, session
from vcmts.shell import help as help_texts
from vcmts.shell.grammar import Method
from vcmts.shell.words import split

Json = dict[str, Any]
MAC = "02:01:00:00:00:01"
KEY = "000102030405060708090a0b0c0d0e0f"


@cache
def known() -> list[Method]:
    """The methods of the built vcmtsd."""
    printed = subprocess.check_output([program("vcmtsd"), "describe", "--rpc"], text=True)
    return grammar.methods(json.loads(printed))


def request(line: str, group: int | None = None) -> tuple[str, Json]:
    """The method and parameters that a line stands for."""
    method, rest = grammar.find(known(), split(line).words)
    return method.name, arguments.parse(method, rest, group)


@pytest.mark.parametrize("method", known(), ids=lambda method: method.name)
def test_each_method_has_a_command(method: Method) -> None:
    """Also a method that is added later. Its name is a command, too."""
    for words in (list(method.words), [method.name]):
        assert grammar.find(known(), words) == (method, [])
        assert grammar.find(known(), [*words, "7"]) == (method, ["7"])


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("modem.list", "show modems"),
        ("modem.get", "show modem"),
        ("modem.flows", "show modem flows"),
        ("flow.get", "show flow"),
        ("server.info", "show server"),
        ("modem.add", "add modem"),
        ("measure.set", "set measure"),
        ("config.reload", "reload config"),
    ],
)
def test_commands_are_verb_and_noun(name: str, command: str) -> None:
    assert [m.command for m in known() if m.name == name] == [command]


@pytest.mark.parametrize(
    ("line", "method", "params"),
    [
        ("show modems", "modem.list", {}),
        ("show flow 12", "flow.get", {"id": "12"}),
        ("sh fl 12", "flow.get", {"id": "12"}),
        ("show flow id 12 group 2", "flow.get", {"id": "12", "group": "2"}),
        ("show flow id=12", "flow.get", {"id": "12"}),
        ("flow.get id=12", "flow.get", {"id": "12"}),
        ('flow.get {"id": 12}', "flow.get", {"id": "12"}),
        (f"show modem {MAC}", "modem.get", {"mac": MAC}),
        (f"show modem flows {MAC}", "modem.flows", {"mac": MAC}),
        ("show group 2", "group.get", {"group": "2"}),
        ("drain worker 3 to 4", "worker.drain", {"core": "3", "to": "4"}),
        ("drain worker 3 4", "worker.drain", {"core": "3", "to": "4"}),
        ("set measure latency=true", "measure.set", {"latency": "true"}),
        ("set group rate_limit=5Gbps", "group.set", {"values": {"rate_limit": "5Gbps"}}),
        (
            "set group 2 cpe_timeout '1 s'",
            "group.set",
            {"group": "2", "values": {"cpe_timeout": "1 s"}},
        ),
        ("show metrics names=vcmts_", "metrics.get", {"names": ["vcmts_"]}),
        ("show metrics names=[a, b]", "metrics.get", {"names": ["a", "b"]}),
        (f"set modem {MAC} cpe_limit=4", "modem.set", {"modem": {"mac": MAC, "cpe_limit": "4"}}),
        (
            f"set modem cpe_limit 4 mac {MAC} group 2",
            "modem.set",
            {"modem": {"mac": MAC, "cpe_limit": "4"}, "group": "2"},
        ),
        (
            f"set modem {MAC} service_flows.1.priority=5 service_flows.2.priority=6",
            "modem.set",
            {
                "modem": {
                    "mac": MAC,
                    "service_flows": {"1": {"priority": "5"}, "2": {"priority": "6"}},
                }
            },
        ),
        (
            "add channel {id: 3, rate: 1 Gbps}",
            "channel.add",
            {"channel": {"id": "3", "rate": "1 Gbps"}},
        ),
        ('channel.add {"channel": {"id": 3}}', "channel.add", {"channel": {"id": "3"}}),
        (
            f"install key 1 {KEY} iv={KEY}",
            "key.install",
            {"said": "1", "key": KEY, "iv": KEY},
        ),
        (
            f'add modem {MAC} addresses=[10.0.0.1, "2001:db8::1"] security={{said: 1, iv: x}}',
            "modem.add",
            {
                "modem": {
                    "mac": MAC,
                    "addresses": ["10.0.0.1", "2001:db8::1"],
                    "security": {"said": "1", "iv": "x"},
                }
            },
        ),
    ],
)
def test_lines_become_requests(line: str, method: str, params: Json) -> None:
    assert request(line) == (method, params)


def test_remove_names_an_object() -> None:
    """Whether the method takes the name alone or a map with it."""
    method, params = request(f"remove modem {MAC}")
    assert method == "modem.remove" and params in ({"mac": MAC}, {"modem": {"mac": MAC}})


def test_files_are_values(tmp_path: Path) -> None:
    (tmp_path / "modem.yaml").write_text(f'mac: "{MAC}"\ncpe_limit: 4\n')
    wanted = {"modem": {"mac": MAC, "cpe_limit": "4"}}
    assert request(f"add modem @{tmp_path}/modem.yaml") == ("modem.add", wanted)


def test_selected_group_is_the_default() -> None:
    assert request("show modems", 3) == ("modem.list", {"group": 3})
    assert request("show modems group=2", 3) == ("modem.list", {"group": "2"})
    assert request("show workers", 3) == ("worker.list", {})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("show", "show: add one of: server, groups, "),
        ("bogus", 'unknown command "bogus"; allowed: show, '),
        ("shov modems", 'unknown command "shov"; did you mean "show"?'),
        ("show modme", 'unknown command "show modme"; did you mean "modem"?'),
        ("show mod", '"show mod" begins several: modems, modem'),
        ("show flow", "show flow ID: add id, service flow ID"),
        ("set modem", "set modem MAC KEY=VALUE...: add mac and the keys to set"),
        ("set group", "set group [GROUP] KEY=VALUE...: add KEY=VALUE"),
        ("show flow 1 groub=2", 'show flow: unknown parameter "groub"; did you mean "group"?'),
        ("show server x=2", 'show server: unknown parameter "x"; it has none'),
        ("show flow 1 2", 'show flow: unexpected "2"; write KEY=VALUE, or: show flow ID'),
        ("show flow 1 id=2", "id: given twice"),
        (f"set modem {MAC} cpe_limit=4 cpe_limit=5", "cpe_limit: given twice"),
        ("show flow id=[", "id: "),
        (f"show {KEY}", 'unknown command "show (32 characters, not shown)"'),
        (f"show flow 1 {KEY}", 'show flow: unexpected "(32 characters, not shown)"'),
        (f"show flow {KEY}=1", 'show flow: unknown parameter "(32 characters, not shown)"'),
    ],
)
def test_mistakes_say_what_to_do(line: str, message: str) -> None:
    with pytest.raises(MistakeError) as error:
        request(line)
    assert str(error.value).startswith(message)


def test_nested_key_of_a_value_is_refused() -> None:
    with pytest.raises(MistakeError, match="given twice"):
        request(f"set modem {MAC} security=none security.said=1")


@pytest.mark.parametrize(
    ("line", "words", "last"),
    [
        ("", (), ""),
        ("  show   modems ", ("show", "modems"), ""),
        ("show mod", ("show", "mod"), "mod"),
        ("show # modems", ("show",), ""),
        ("# show", (), ""),
        ("a=b#c", ("a=b#c",), "a=b#c"),
        ("a=[1, 2] b={c: 'd ] e'} 'x y'", ("a=[1, 2]", "b={c: 'd ] e'}", "'x y'"), "'x y'"),
    ],
)
def test_lines_are_split(line: str, words: tuple[str, ...], last: str) -> None:
    found = split(line)
    assert (found.words, found.last, found.is_open) == (words, last, False)


@pytest.mark.parametrize("line", ["a=[1,", "a={b: [1]", "a='x", "a=\"x'", "[["])
def test_open_lines_go_on(line: str) -> None:
    assert split(line).is_open


@given(st.lists(st.from_regex(r"[a-z0-9.:=]+", fullmatch=True), max_size=5))
def test_words_survive_splitting(words: list[str]) -> None:
    assert split(" ".join(words)).words == tuple(words)


def test_help_fits_a_terminal() -> None:
    """All commands are listed, and each is described, in 80 columns of ASCII."""
    lines = [*help_texts.overview(known())]
    text = "\n".join(lines)
    for method in known():
        assert f"  {arguments.usage(method)}" in text
        described = [*help_texts.description(method)]
        assert f"(method {method.name})" in described[0]
        for name in method.params.keys() - {method.map_param}:
            assert any(line.startswith(f"  {name} ") for line in described)
        lines += "\n".join(described).splitlines()
    assert max(map(len, lines)) <= 80 and all(map(str.isascii, lines))


def test_help_describes_keys_of_objects() -> None:
    method, _ = grammar.find(known(), ["set", "modem"])
    text = "\n".join(help_texts.description(method))
    assert "\n  cpe_limit " in text and "(default: 16)" in text
    method, _ = grammar.find(known(), ["set", "group"])
    assert {*arguments.members(method)} == {"rate_limit", "cpe_timeout"}


class Pages:
    """Stands for a Client: each answer has two of five modems."""

    def __init__(self) -> None:
        self.requests: list[Json] = []

    def call(self, _method: str, **params: Any) -> Json:
        self.requests.append(params)
        first = params.get("first", 0)
        page: Json = {"group": 1, "modems": [*range(first, min(first + 2, 5))]}
        return page | ({"next": first + 2} if first + 2 < 5 else {})


@pytest.mark.parametrize(
    ("params", "modems"), [({"group": 1}, [0, 1, 2, 3, 4]), ({"first": 2}, [2, 3])]
)
def test_pages_are_joined_unless_asked_for(params: Json, modems: list[int]) -> None:
    method, _ = grammar.find(known(), ["modem.list"])
    client = Pages()
    answer = client.call("modem.list", **params)
    for part in session.more_pages(client.call, method, params, answer):
        session.add_lists(answer, part)
    assert answer["modems"] == modems
    assert ("next" in answer) == ("first" in params)
    assert all(request.items() >= params.items() for request in client.requests)


def test_pages_without_progress_end() -> None:
    """A `next` that does not increase does not make an endless loop."""
    method, _ = grammar.find(known(), ["modem.list"])
    stuck: Json = {"modems": [], "next": 2}
    assert len([*session.more_pages(lambda _method, **_params: stuck, method, {}, stuck)]) == 1
