# SPDX-License-Identifier: BSD-3-Clause
"""A key with a mistake in it, planted wherever keys may come in: no output has a piece of it."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.changes.test_replay_change_files import changes, replay
from e2e.control.controlled import config_text, connection, controlled, heard, place
from e2e.deploy.test_pod import folder as pod_folder
from e2e.deploy.test_pod import mount, started
from e2e.deploy.test_pod import text as pod_text
from e2e.running import run, vcmts, vcmtsd
from patience import TIMEOUT
from vcmts import cli
from vcmts.control.client import Client
from vcmts.paths import program

assert pod_folder is not None  # the fixture

Json = dict[str, Any]
KEY = "5ec4e7b01dface9f8a7d3b6c2e1f4058"
PIECE = 6  # characters in a row that no output has by chance
IV = "00" * 16
# As a value: a mistyped digit, other lengths, other types, other signs around it.
VALUES: list[Any] = [
    KEY.replace("7", "g", 1),
    KEY[:-1],
    KEY + "0",
    KEY[:14],
    "0x" + KEY,
    KEY + "\0",
    " ".join((KEY[:16], KEY[16:])),
    "::".join(KEY[i : i + PIECE] for i in range(0, 30, PIECE)),
    [KEY],
    {KEY: KEY},
]
LIKE_KEYS = [value for value in VALUES if len(value) != 14 and "::" not in value]


def has_no_piece(*outputs: str | bytes) -> None:
    for output in outputs:
        told = output.decode(errors="replace") if isinstance(output, bytes) else output
        found = [KEY[i : i + PIECE] for i in range(len(KEY) - PIECE + 1)]
        assert not [piece for piece in found if piece in told.lower()], told


def security(value: Any, name: str = "key") -> str:
    """As YAML of one line, which JSON is."""
    keys = {"said": 1, "key": IV, "iv": IV}
    return json.dumps(keys | {name: value})


def wrong_files() -> Iterator[str]:
    good = config_text()
    line = next(line for line in good.splitlines() if "security:" in line)
    for value in VALUES:
        yield good.replace(line, f"    security: {security(value)}")
    for name in ("iv", "next_key", "said", "cipher", "key_sequence", KEY):
        yield good.replace(line, f"    security: {security(VALUES[0], name)}")
    for text in (KEY, f"{{said: 1, key {KEY}, iv: '{IV}'}}", f"{{said: 1, key: '{KEY}"):
        yield good.replace(line, f"    security: {text}")
    for text in (f"key: *{KEY}", f"key: !{KEY} 1", f'key: "{KEY}\\x"', f"key: %{KEY}"):
        yield good.replace(line, f"    security: {{said: 1, {text}}}")
    yield good + f"{KEY}: 1\n"
    yield good + f"  {KEY}\n"


FILES = list(wrong_files())


def test_a_file(tmp_path: Path) -> None:
    """Read by each program that reads one."""
    path = tmp_path / "sg.yaml"
    for number, text in enumerate(FILES):
        path.write_text(text)
        done = [vcmtsd("check", "--config", path)]
        if number < 3:
            done.append(vcmtsd("check", "--json", "--config", path))
            done.append(run([program("vcmts-traffic"), "--config", path, "--check"]))
            done.append(vcmts("validate", path))
            done.append(vcmts("show", path))
            done.append(vcmts("layout", "--config", path))
        for one in done:
            assert one.status != 0, text
            has_no_piece(one.stdout, one.stderr)


def planted(method: Json) -> Iterator[Json]:
    """In place of keys; and what looks like one wherever else something may stand."""
    modem = {"mac": "02:01:00:00:00:01"}
    good = {"said": 1, "key": IV, "iv": IV}
    for value in VALUES:
        yield {"key": value, "iv": IV, "said": 1}
        yield {"key": IV, "iv": value, "said": 1}
        yield {"modem": {**modem, "security": value}}
        for name in ("key", "iv", "next_key", "next_iv"):
            yield {"modem": {**modem, "security": good | {name: value}}}
    for value in LIKE_KEYS:
        for param in method["params"]:
            if param["name"] != "file":  # names of files are told as they are
                yield {param["name"]: value}
        yield {KEY: value}
        for name in ("said", "cipher", "key_sequence", "use_next_key", KEY):
            yield {"modem": {**modem, "security": good | {name: value}}}
        yield {"modem": {**modem, "filter_groups": [value]}}
        yield {"modem": {"mac": value}}
        yield {"modem": {**modem, KEY: value}}


def answers_to(path: Path, requests: list[bytes]) -> Iterator[bytes]:
    for request in requests:
        with connection(path) as made:
            made.sendall(request)
            yield heard(made)


def syntax_errors() -> list[bytes]:
    text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "key.install", "params": {"key": KEY}})
    good = text.encode()
    return [
        good.replace(b'"key": ', b'"key" '),
        good.replace(f'"{KEY}"'.encode(), KEY.encode()),
        good.replace(f'"{KEY}"'.encode(), f'"{KEY[:15]}"x'.encode()),
        good.replace(f'{KEY}"'.encode(), f'{KEY}\\z"'.encode()),
        good.replace(f'{KEY}"'.encode(), f'{KEY}\n"'.encode()),
        good.replace(b'{"key"', f'{{"{KEY[:16]}": 1, "{KEY[:16]}": 2, "key"'.encode()),
        good.replace(b'"key.install"', f'"{KEY}"'.encode()),
        good.replace(b'"2.0"', f'"{KEY}"'.encode()),
        KEY.encode(),
    ]


def test_requests_and_reloads() -> None:
    """Every method of the control socket, texts that are no JSON, the capture socket, and files
    that are read again."""
    with place() as folder, controlled(folder, "--log-level", "debug") as (served, path):
        with Client(path, TIMEOUT) as client:
            methods = client.call("rpc.discover")["methods"]
            for method in methods:
                for params in planted(method):
                    asked = {"jsonrpc": "2.0", "id": 1, "method": method["name"]}
                    client._socket.sendall(json.dumps(asked | {"params": params}).encode())
                    has_no_piece(json.dumps(client._answer()))
            assert client.call("group.list")["groups"][0]["id"] == 1
        for answer in answers_to(path, syntax_errors()):
            has_no_piece(answer)
        capture = next(path.parent.glob("*-capture.sock"))
        for answer in answers_to(capture, [text + b"\n" for text in syntax_errors()]):
            has_no_piece(answer)
        with Client(path, TIMEOUT) as client:
            for text in FILES:
                (folder / "sg.yaml").write_text(text)
                request = {"jsonrpc": "2.0", "id": 1, "method": "config.reload"}
                client._socket.sendall(json.dumps(request).encode())
                answer = client._answer()
                assert "error" in answer
                has_no_piece(json.dumps(answer))
        ended = served.stop()
    assert ended.status == 0
    has_no_piece(ended.stdout, ended.stderr)


def test_keys_go_out_where_they_are_asked_for_only() -> None:
    """A good key, by each method that reads."""
    with place() as folder:
        file = folder / "sg.yaml"
        file.write_text(config_text().replace("00010203040506070809101112131411", KEY))
        with controlled(folder, "--log-level", "debug") as (served, path):
            with Client(path, TIMEOUT) as client:
                modem = {"mac": "02:01:00:00:00:01", "security": {"key": KEY}}
                client.call("modem.set", modem={**modem, "cpe_limit": 7})
                client.call("key.install", said=1, key=KEY[::-1], iv=IV)
                for method, params in (
                    ("server.info", {}),
                    ("group.list", {}),
                    ("group.get", {}),
                    ("modem.list", {}),
                    ("modem.get", {"mac": "02:01:00:00:00:01"}),
                    ("metrics.get", {}),
                    ("config.get", {}),
                ):
                    has_no_piece(json.dumps(client.call(method, **params)))
                assert KEY in json.dumps(client.call("config.get", keys=True))
            ended = served.stop()
        has_no_piece(ended.stdout, ended.stderr)


@pytest.mark.replay
def test_changes_of_a_replay(tmp_path: Path) -> None:
    wrong = [
        json.dumps([{"at": "1 ms", "method": "key.install", "params": params}])
        for params in planted({"params": [{"name": "group"}]})
    ]
    wrong += [f'[{{"at": "1 ms", "method": "{KEY}"}}]', f'[{{"at": "{KEY}", "method": 1}}]']
    wrong += [f'[{{"at": "1 ms", {KEY}}}]', f'["{KEY}', f"[{KEY[:15]}]", f'[{{"{KEY}": 1}}]']
    for text in wrong[::30] + wrong[-6:]:
        done = replay(tmp_path, "--changes", changes(tmp_path, text))
        has_no_piece(done.stdout, done.stderr)
        stats = tmp_path / "stats.json"
        has_no_piece(stats.read_text() if stats.exists() else "")


def test_a_pod(pod_folder: Path) -> None:
    """What its log and its termination message say of files and variables."""
    good = pod_text()
    own = pod_folder / "secret" / "sg-2.yaml"
    for turn, text in enumerate((FILES[0], FILES[17])):
        own.write_text("".join(text.splitlines(keepends=True)[2:]))
        with started(pod_folder) as pod:
            assert pod.ended() == 2
        has_no_piece((pod_folder / "log").read_text(), pod.termination())
        mount(pod_folder / "config", 10 + turn, vcmts=good)
    own.write_text("".join(config_text().splitlines(keepends=True)[2:]))
    wrong = (
        good.replace("name: lab", "name: ${SECRET[3]}"),
        good.replace("name: lab", "name: ${SECRET}x/"),
        good.replace("name: lab", f"name: ${{{KEY}}}"),
        good.replace("name: lab", f"name: ${{x {KEY}}}"),
        good.replace("name: lab", f"name: lab\n{KEY}: ${{NONE}}"),
        good.replace("name: lab", f"name: lab\nx: {KEY}: {KEY}"),
    )
    for turn, text in enumerate(wrong):
        mount(pod_folder / "config", 20 + turn, vcmts=text)
        with started(pod_folder, SECRET=KEY) as pod:
            assert pod.ended() == 2, text
        has_no_piece((pod_folder / "log").read_text(), pod.termination())


CLIENT = (
    ("key.install", "said=1", "key", KEY),
    ("key.install", "said=1", KEY),
    ("key.install", "said=1", f"={KEY}"),
    ("key.install", "said=1", f"key=*{KEY}"),
    ("key.install", "said=1", f"key=@{KEY}"),
    ("key.install", "said=1", f"key={{{KEY}: [", "iv=1"),
    ("key.install", "said=1", f"key=!{KEY} '"),
    ("key.install", f"{KEY}=1", f"{KEY}=2"),
    ("key.install", f'{{"key": {KEY}}}'),
    ("key.install", f'{{"key": "{KEY}}}'),
    ("key.install", "said=1", f"key={VALUES[0]}", f"iv={IV}"),
    ("key.install", "said=1", f"key=[{KEY}]", f"iv={IV}"),
)


def test_the_client(capfd: pytest.CaptureFixture[str]) -> None:
    with place() as folder, controlled(folder) as (_, path):
        (folder / "modem.yaml").write_text(f"mac: 1\nsecurity: {{key: {KEY}: {KEY}}}\n")
        for words in (*CLIENT, ("modem.add", f"modem=@{folder}/modem.yaml")):
            assert cli.main(["control", "--socket", str(path), *words]) in (1, 2), words
            has_no_piece(*capfd.readouterr())


def test_the_schema_says_which_they_are() -> None:
    """So that a validator of somebody else's knows what not to show."""
    told = subprocess.run([program("vcmtsd"), "schema"], check=True, capture_output=True)
    modem = json.loads(told.stdout)["properties"]["modems"]["items"]["properties"]
    keys = modem["security"]["properties"]
    secret = {name for name, schema in keys.items() if schema.get("x-secret")}
    assert secret == {"key", "iv", "next_key", "next_iv"}
