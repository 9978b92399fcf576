# SPDX-License-Identifier: BSD-3-Clause
"""Tests the page of the control socket, generated from described methods."""

from typing import Any

from vcmts.docs import control_page

INTEGER = {"type": "integer", "description": "a number", "x-allowed": "a number, 1 to 9"}
RATE = 'a rate such as "1 kbps"'
FLOW = {
    "type": "object",
    "description": "a flow",
    "required": ["id"],
    "properties": {
        "id": INTEGER | {"examples": [5]},
        "state": {"enum": ["active", "provisioned"], "description": "whether", "x-allowed": "two"},
        "rate": {"type": ["integer", "string"], "description": "a|b", "x-allowed": RATE},
    },
}
COUNTS = {"type": "object", "description": "by name", "additionalProperties": INTEGER}
LIST = {"type": "array", "description": "all", "x-allowed": "a list of 0 to 9 maps", "items": FLOW}
DOCUMENT: dict[str, Any] = {
    "methods": [
        {
            "name": "flow.add",
            "summary": "adds JSON to it",
            "params": [
                {"name": "wait", "required": False, "schema": INTEGER | {"default": 1}},
                {"name": "flow", "required": True, "schema": FLOW},
            ],
            "result": {
                "schema": {
                    "type": "object",
                    "required": ["list"],
                    "properties": {"list": LIST, "counts": COUNTS},
                }
            },
            "errors": [{"code": -32000, "message": "there is one"}],
        },
        {
            "name": "flow.none",
            "summary": "nothing",
            "params": [],
            "result": {"schema": {"type": "object", "properties": {}}},
            "errors": [],
        },
    ]
}


def test_page_describes_methods() -> None:
    page = control_page.render(DOCUMENT)
    section = page[page.index("### `flow.add`") : page.index("### `flow.none`")]
    for row in (
        "| **`flow`** | map | a flow |  |  |",
        "| **`flow.id`** | integer | a number | a number, 1 to 9 |  |",
        '| `flow.rate` | integer or text | a\\|b | a rate such as "1 kbps" |  |',
        "| `wait` | integer | a number | a number, 1 to 9 | `1` |",
        "| **`list`** | list of maps | all |",
        "| `list[].state` | text | whether |",
        "| **`counts.NAME`** | integer | a number |",
    ):
        assert row in section, row
    assert "Error -32000: there is one." in section
    assert '"params": {"flow": {"id": 5, "state": "active", "rate": "1 kbps"}}' in section
    assert "./vcmts control flow.add flow='{" in section
    assert "| [`flow.none`](#flownone) | nothing |" in page
    assert "This method has no parameters." in page


def test_examples_have_the_type() -> None:
    assert control_page.example(LIST | {"items": INTEGER | {"default": 3}}) == [3]
    assert control_page.example(COUNTS | {"additionalProperties": {"examples": [4]}}) == {
        "received": 4
    }
    assert control_page.example({"enum": ["b", "a"]}) == "b"
