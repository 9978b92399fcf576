# SPDX-License-Identifier: BSD-3-Clause
"""Runs `vcmts convert` on a text, and keeps its status and messages."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from python.chart.charts import SCHEMA
from vcmts import cli, yamls

Json = dict[str, Any]
VALUES = jsonschema.Draft7Validator(SCHEMA)


class Converter:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys
        self.status, self.messages = 0, ""

    def __call__(self, text: str, *arguments: str) -> str:
        (self.folder / "values.yaml").write_text(text, encoding="utf-8")
        self.status = cli.main(["convert", str(self.folder / "values.yaml"), *arguments])
        captured = self.capsys.readouterr()
        self.messages = captured.err.replace(f"{self.folder}/", "")
        return captured.out

    def values(self, text: str, *arguments: str) -> list[Json]:
        documents = yamls.safe_load_all(self(text, *arguments))
        assert self.status == 0, self.messages
        for one in documents:
            VALUES.validate(one)
        return documents

    def refused(self, text: str) -> str:
        """Returns the one line of the error."""
        assert self(text) == ""
        assert self.status == 2
        (line,) = self.messages.splitlines()
        return line.removeprefix("vcmts: ")


def ids(values: Json) -> list[int]:
    return [item["id"] for item in values["serviceGroups"]]
