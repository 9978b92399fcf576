# SPDX-License-Identifier: BSD-3-Clause
"""Passes a key to every input that may have keys. No output may contain a part of it."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.changes.test_replay_change_files import replay, write_changes
from e2e.control.server import config_folder, config_text, connect_raw, receive_line, start_server
from e2e.deploy.test_pod import config_yaml as pod_text
from e2e.deploy.test_pod import folder as pod_folder
from e2e.deploy.test_pod import mount_files, start_pod
from e2e.running import run, vcmts, vcmtsd
from patience import TIMEOUT
from vcmts import cli
from vcmts.control.client import Client
from vcmts.paths import program

assert pod_folder is not None  # the fixture

Json = dict[str, Any]
KEY = "5ec4e7b01dface9f8a7d3b6c2e1f4058"
PART_SIZE = 6  # characters; longer matches are not accidental
IV = "00" * 16
# Values with a mistyped digit, another length, another type, or other characters.
VALUES: list[Any] = [
    KEY.replace("7", "g", 1),
    KEY[:-1],
    KEY + "0",
    KEY[:14],
    "0x" + KEY,
    KEY + "\0",
    " ".join((KEY[:16], KEY[16:])),
    "::".join(KEY[i : i + PART_SIZE] for i in range(0, 30, PART_SIZE)),
    [KEY],
    {KEY: KEY},
]
# Values that are hidden even where no key belongs: a key, or almost one, in one piece.
LIKE_KEYS = [value for value in VALUES if len(value) != 14 and "::" not in value]


def assert_no_key(*outputs: str | bytes) -> None:
    for output in outputs:
        text = output.decode(errors="replace") if isinstance(output, bytes) else output
        parts = [KEY[i : i + PART_SIZE] for i in range(len(KEY) - PART_SIZE + 1)]
        assert not [part for part in parts if part in text.lower()], text


def security(value: Any, name: str = "key") -> str:
    """The security settings as JSON, which is YAML of one line."""
    keys = {"said": 1, "key": IV, "iv": IV}
    return json.dumps(keys | {name: value})


def invalid_files() -> Iterator[str]:
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


INVALID_FILES = list(invalid_files())


def test_invalid_files_do_not_leak_keys(tmp_path: Path) -> None:
    path = tmp_path / "sg.yaml"
    for number, text in enumerate(INVALID_FILES):
        path.write_text(text)
        results = [vcmtsd("check", "--config", path)]
        if number < 3:
            results.append(vcmtsd("check", "--json", "--config", path))
            results.append(run([program("vcmts-traffic"), "--config", path, "--check"]))
            results.append(vcmts("validate", path))
            results.append(vcmts("show", path))
            results.append(vcmts("layout", "--config", path))
        for result in results:
            assert result.status != 0, text
            assert_no_key(result.stdout, result.stderr)


def params_with_key(method: Json) -> Iterator[Json]:
    """Parameters for the method: VALUES in place of keys, LIKE_KEYS as other values."""
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
            if param["name"] != "file":  # file names are not secret
                yield {param["name"]: value}
        yield {KEY: value}
        for name in ("said", "cipher", "key_sequence", "use_next_key", KEY):
            yield {"modem": {**modem, "security": good | {name: value}}}
        yield {"modem": {**modem, "filter_groups": [value]}}
        yield {"modem": {"mac": value}}
        yield {"modem": {**modem, KEY: value}}


def send_requests(path: Path, requests: list[bytes]) -> Iterator[bytes]:
    for request in requests:
        with connect_raw(path) as client:
            client.sendall(request)
            yield receive_line(client)


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


def test_requests_and_reloads_do_not_leak_keys() -> None:
    """Every method of the control socket, invalid JSON, the capture socket, and invalid files at a
    reload."""
    with config_folder() as folder, start_server(folder, "--log-level", "debug") as (server, path):
        with Client(path, TIMEOUT) as client:
            methods = client.call("rpc.discover")["methods"]
            for method in methods:
                for params in params_with_key(method):
                    request_ = {"jsonrpc": "2.0", "id": 1, "method": method["name"]}
                    client._socket.sendall(json.dumps(request_ | {"params": params}).encode())
                    assert_no_key(json.dumps(client._answer()))
            assert client.call("group.list")["groups"][0]["id"] == 1
        for answer in send_requests(path, syntax_errors()):
            assert_no_key(answer)
        capture = next(path.parent.glob("*-capture.sock"))
        for answer in send_requests(capture, [text + b"\n" for text in syntax_errors()]):
            assert_no_key(answer)
        with Client(path, TIMEOUT) as client:
            for text in INVALID_FILES:
                (folder / "sg.yaml").write_text(text)
                request = {"jsonrpc": "2.0", "id": 1, "method": "config.reload"}
                client._socket.sendall(json.dumps(request).encode())
                answer = client._answer()
                assert "error" in answer
                assert_no_key(json.dumps(answer))
        done = server.stop()
    assert done.status == 0
    assert_no_key(done.stdout, done.stderr)


def test_keys_are_returned_on_request_only() -> None:
    """Methods that read do not return a valid key, except config.get with `keys`."""
    with config_folder() as folder:
        file = folder / "sg.yaml"
        file.write_text(config_text().replace("00010203040506070809101112131411", KEY))
        with start_server(folder, "--log-level", "debug") as (server, path):
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
                    assert_no_key(json.dumps(client.call(method, **params)))
                assert KEY in json.dumps(client.call("config.get", keys=True))
            done = server.stop()
        assert_no_key(done.stdout, done.stderr)


@pytest.mark.replay
def test_replay_changes_do_not_leak_keys(tmp_path: Path) -> None:
    invalid = [
        json.dumps([{"at": "1 ms", "method": "key.install", "params": params}])
        for params in params_with_key({"params": [{"name": "group"}]})
    ]
    invalid += [f'[{{"at": "1 ms", "method": "{KEY}"}}]', f'[{{"at": "{KEY}", "method": 1}}]']
    invalid += [f'[{{"at": "1 ms", {KEY}}}]', f'["{KEY}', f"[{KEY[:15]}]", f'[{{"{KEY}": 1}}]']
    for text in invalid[::30] + invalid[-6:]:
        done = replay(tmp_path, "--changes", write_changes(tmp_path, text))
        assert_no_key(done.stdout, done.stderr)
        stats = tmp_path / "stats.json"
        assert_no_key(stats.read_text() if stats.exists() else "")


def test_pod_does_not_leak_keys(pod_folder: Path) -> None:
    """Log and termination message of `vcmts pod`, with invalid files and variables."""
    good = pod_text()
    secret_file = pod_folder / "secret" / "sg-2.yaml"
    for number, text in enumerate((INVALID_FILES[0], INVALID_FILES[17])):
        secret_file.write_text("".join(text.splitlines(keepends=True)[2:]))
        with start_pod(pod_folder) as pod:
            assert pod.wait() == 2
        assert_no_key((pod_folder / "log").read_text(), pod.termination())
        mount_files(pod_folder / "config", 10 + number, vcmts=good)
    secret_file.write_text("".join(config_text().splitlines(keepends=True)[2:]))
    invalid = (
        good.replace("name: lab", "name: ${SECRET[3]}"),
        good.replace("name: lab", "name: ${SECRET}x/"),
        good.replace("name: lab", f"name: ${{{KEY}}}"),
        good.replace("name: lab", f"name: ${{x {KEY}}}"),
        good.replace("name: lab", f"name: lab\n{KEY}: ${{NONE}}"),
        good.replace("name: lab", f"name: lab\nx: {KEY}: {KEY}"),
    )
    for number, text in enumerate(invalid):
        mount_files(pod_folder / "config", 20 + number, vcmts=text)
        with start_pod(pod_folder, SECRET=KEY) as pod:
            assert pod.wait() == 2, text
        assert_no_key((pod_folder / "log").read_text(), pod.termination())


TOOL_ARGUMENTS = (
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


def test_control_tool_does_not_leak_keys(capfd: pytest.CaptureFixture[str]) -> None:
    with config_folder() as folder, start_server(folder) as (_, path):
        (folder / "modem.yaml").write_text(f"mac: 1\nsecurity: {{key: {KEY}: {KEY}}}\n")
        for arguments in (*TOOL_ARGUMENTS, ("modem.add", f"modem=@{folder}/modem.yaml")):
            assert cli.main(["control", "--socket", str(path), *arguments]) in (1, 2), arguments
            assert_no_key(*capfd.readouterr())


def test_schema_marks_secrets() -> None:
    """x-secret tells other validators which values to hide."""
    done = subprocess.run([program("vcmtsd"), "schema"], check=True, capture_output=True)
    modem = json.loads(done.stdout)["properties"]["modems"]["items"]["properties"]
    keys = modem["security"]["properties"]
    secret = {name for name, schema in keys.items() if schema.get("x-secret")}
    assert secret == {"key", "iv", "next_key", "next_iv"}
