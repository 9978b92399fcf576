# SPDX-License-Identifier: BSD-3-Clause
"""Renders the chart with Helm's own packages (devtools/helm), and reads the rendered objects."""

import base64
import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from vcmts import yamls
from vcmts.docs import chart_values, configdoc
from vcmts.paths import CHECKOUT

CHART = CHECKOUT / "deploy" / "helm" / "vcmts"
PROGRAM = CHECKOUT / "build-chart" / "render"
ASSEMBLE = CHECKOUT / "devtools" / "helm" / "assemble"
SCHEMA = chart_values.schema_of(configdoc.read_schema())
CI = sorted((CHART / "ci").glob("*.yaml"))
NO_RENDERER = "the chart cannot be rendered: run devtools/install-deps chart"
needs_renderer = pytest.mark.skipif(not PROGRAM.exists(), reason=NO_RENDERER)

Json = dict[str, Any]
ONE_GROUP: Json = {
    "serviceGroups": [{"id": 1}],
    "defaults": {"profile": "1ofdm-0sc-qam_1cms_aes", "ports": {}},
}
PORTS = {"network": {"device": "net_null0"}, "rphy": {"device": "net_null1"}}


class RefusedError(Exception):
    """Helm's error for values that it does not render."""


@dataclass
class Rendered:
    objects: list[Json]
    notes: str

    def all_of(self, kind: str) -> list[Json]:
        return [one for one in self.objects if one["kind"] == kind]

    def one(self, kind: str) -> Json:
        (actual,) = self.all_of(kind)
        return actual

    def pod(self) -> Json:
        spec: Json = self.one("StatefulSet")["spec"]["template"]["spec"]
        return spec

    def container(self) -> Json:
        (actual,) = self.pod()["containers"]
        container: Json = actual
        return container

    def configurations(self) -> dict[str, Json]:
        """By file name; each pod has its own."""
        data = next(one["data"] for one in self.all_of("ConfigMap") if is_configuration(one))
        return {name: yamls.safe_load(text) for name, text in data.items()}

    def configuration(self) -> Json:
        (actual,) = self.configurations().values()
        return actual

    def secret(self) -> dict[str, str]:
        data = self.one("Secret")["data"]
        return {name: base64.b64decode(text).decode() for name, text in data.items()}


def is_configuration(config_map: Json) -> bool:
    return all(name.endswith(".yaml") for name in config_map["data"])


def objects_of(files: dict[str, str]) -> list[Json]:
    texts = (text for name, text in files.items() if name.endswith(".yaml"))
    return [one for text in texts for one in yamls.safe_load_all(text) if one]


class Renderer:
    """A process that renders the chart many times."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def __call__(self, values: Json | None = None, *files: Path, **more: Any) -> Rendered:
        """Renders the chart with `values` and, below these, with files of values.

        `more`: other keys of a request of devtools/helm: release, namespace, upgrade, api. Raises
        RefusedError."""
        assert self.process.stdin is not None and self.process.stdout is not None
        request = {"set": values or {}, "values": [str(path) for path in files], **more}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RefusedError(answer["error"])
        notes = next(text for name, text in answer["files"].items() if name.endswith("NOTES.txt"))
        return Rendered(objects_of(answer["files"]), notes)

    def refused(self, values: Json) -> str:
        """Helm's error for values that must not be rendered."""
        with pytest.raises(RefusedError) as refusal:
            self(values)
        return str(refusal.value)


def assemble(folder: Path) -> Path:
    """Assembles the chart as it is packed, with schema, dashboards and alerts."""
    subprocess.run([ASSEMBLE, folder], check=True)
    return folder / "vcmts"


@contextmanager
def renderer() -> Iterator[Renderer]:
    """A renderer of the assembled chart."""
    with tempfile.TemporaryDirectory() as folder, renderer_of(assemble(Path(folder))) as ready:
        yield ready


@contextmanager
def renderer_of(chart: Path) -> Iterator[Renderer]:
    with subprocess.Popen(
        [PROGRAM, chart],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        yield Renderer(process)
        assert process.stdin is not None
        process.stdin.close()


def merge(base: Json, over: Json) -> Json:
    """Merges values as Helm does: maps key by key, other values as a whole."""
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        result[key] = merge(old, value) if both and old is not None else value
    return result


def one_group(**over: Any) -> Json:
    """Values of one group on null ports, merged with `over`."""
    return merge(merge(ONE_GROUP, {"defaults": {"ports": PORTS}}), over)
