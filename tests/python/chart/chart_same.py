# SPDX-License-Identifier: BSD-3-Clause
"""chart_same VALUES RENDERED: compares Helm's output RENDERED with that of build-chart/render."""

import sys
from pathlib import Path

from python.chart.charts import renderer
from vcmts import yamls


def main() -> int:
    values, rendered = map(Path, sys.argv[1:])
    helm_objects = [one for one in yamls.safe_load_all(rendered.read_text(encoding="utf-8")) if one]
    with renderer() as render:
        own_objects = render(None, values).objects

    def by_name(one: dict[str, dict[str, str]]) -> str:
        return f"{one['kind']}/{one['metadata']['name']}"

    if sorted(helm_objects, key=by_name) == sorted(own_objects, key=by_name):
        return 0
    print(f"{values}: helm renders something else than build-chart/render", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
