# SPDX-License-Identifier: BSD-3-Clause
"""What `vcmts convert` makes of a text, and says of it."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from python.chart.charts import SCHEMA
from vcmts import cli, yamls

Json = dict[str, Any]
VALUES = jsonschema.Draft7Validator(SCHEMA)


class Converted:
    def __init__(self, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.place, self.capsys = place, capsys
        self.status, self.said = 0, ""

    def __call__(self, text: str, *words: str) -> str:
        (self.place / "values.yaml").write_text(text, encoding="utf-8")
        self.status = cli.main(["convert", str(self.place / "values.yaml"), *words])
        captured = self.capsys.readouterr()
        self.said = captured.err.replace(f"{self.place}/", "")
        return captured.out

    def values(self, text: str, *words: str) -> list[Json]:
        found = yamls.safe_load_all(self(text, *words))
        assert self.status == 0, self.said
        for one in found:
            VALUES.validate(one)
        return found

    def refused(self, text: str) -> str:
        assert self(text) == ""
        assert self.status == 2
        (line,) = self.said.splitlines()
        return line.removeprefix("vcmts: ")


def ids(values: Json) -> list[int]:
    return [item["id"] for item in values["serviceGroups"]]
