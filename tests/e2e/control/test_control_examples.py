# SPDX-License-Identifier: BSD-3-Clause
"""Runs the examples of the page on the control socket as it prints them, against a server."""

import json
import shlex
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from e2e.control.server import IDLE_SLEEP, config_folder
from e2e.control.test_events import group
from e2e.ports import serve
from e2e.running import vcmts, vcmtsd
from patience import TIMEOUT
from vcmts.control.client import Client
from vcmts.docs import control_page

# They need a second worker, which two cores do not have; a subscription does not end.
NOT_RUN = {"worker.drain", "worker.resume", "events.subscribe"}


def in_order(methods: dict[str, Any]) -> list[str]:
    """Methods that read, then those of the list in its order, then the others."""
    listed = list(yaml.safe_load(control_page.EXAMPLES.read_text()))
    assert set(listed) <= methods.keys()
    return [*(name for name in methods if name not in listed), *listed]


def test_examples_run_as_printed() -> None:
    document = json.loads(vcmtsd("describe", "--rpc").stdout)
    methods = {method["name"]: method for method in document["methods"]}
    with config_folder() as folder:
        (folder / "sg.yaml").write_text(
            json.dumps({"max_groups": 2} | {"service_groups": [group(1)]})
        )
        (folder / "sg5.yaml").write_text(json.dumps(group(5)))
        path = folder / "control.sock"
        files = ("--config", folder / "sg.yaml", "--control-socket", path)
        with serve(*files, *IDLE_SLEEP) as run, Client(path, TIMEOUT) as client:
            for name in in_order(methods):
                for shown in control_page.examples(methods[name]):
                    check_example(client, path, folder, methods[name], shown)
            assert run.stop().status == 0


def check_example(
    client: Client, path: Path, folder: Path, method: dict[str, Any], shown: dict[str, Any]
) -> None:
    """The command and the request have the result that the page shows."""
    text = "\n".join(control_page.example_lines(method, shown))
    assert '""' not in text and ": {}}" not in text.replace('"params": {}', "")
    blocks = [block.split("\n", 1)[1] for block in text.split("```")[1::2]]
    request, answer = blocks[1].strip().split("\n", 1)
    expected = json.loads(answer)["result"]
    assert json.loads(request)["params"] == shown["params"]
    if method["name"] in NOT_RUN:
        return
    words = shlex.split(blocks[0].replace("/etc/vcmts", str(folder)))
    assert words[:3] == ["./vcmts", "control", method["name"]]
    done = vcmts("control", *words[2:], "--socket", path, "--json")
    assert done.status == 0, (words, done.stderr)
    result = json.loads(done.stdout)
    jsonschema.validate(result, method["result"]["schema"])
    if "done" in expected:
        assert result["done"] == expected["done"].replace("/etc/vcmts", str(folder))
    assert client.call("group.list")["groups"]
