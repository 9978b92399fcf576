# SPDX-License-Identifier: BSD-3-Clause
"""Writes manual pages and shell completion; the build calls it."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from vcmts import cli
from vcmts.docs.manual import pages
from vcmts.docs.manual.commands import Command
from vcmts.docs.manual.completion import SHELLS
from vcmts.docs.manual.programs import programs
from vcmts.paths import HOME, data

NAMES = {"bash": "{}", "zsh": "_{}", "fish": "{}.fish"}  # names of completion files
OTHERS = {
    "vcmtsd": "OpenVCMTS, the data plane of a DOCSIS 3.1 CMTS",
    "vcmts-traffic": "core network, R-PHY device and cable modems around OpenVCMTS",
}


def page_texts(roots: dict[str, Command], schema: str, version: str) -> dict[str, str]:
    """Returns manual pages by file name."""
    parser = cli.make_parser([])
    written = {
        "vcmts.1": pages.overview(
            str(parser.description), cli.COMMANDS, str(parser.epilog), version
        ),
        "vcmts.yaml.5": pages.configuration(
            json.loads(schema), data("config/example.yaml").read_text(encoding="utf-8"), version
        ),
    }
    for part in roots["vcmts"].parts:
        about = cli.COMMANDS[part.name.split()[1]]
        see = ("vcmts(1)", "vcmtsd(1)", "vcmts.yaml(5)")
        written[f"{pages.name_of(part)}.1"] = pages.page(part, about, version, see)
    for name, about in OTHERS.items():
        others = [f"{other}(1)" for other in ("vcmts", *OTHERS) if other != name]
        written[f"{name}.1"] = pages.page(roots[name], about, version, [*others, "vcmts.yaml(5)"])
    return written


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--vcmtsd", type=Path, required=True)
    parser.add_argument("--traffic", type=Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--share", required=True, help="installed folder of data files")
    parser.add_argument("--read", type=Path, help="dependency file to write for ninja")
    parser.add_argument("outputs", type=Path, nargs="+")
    given = parser.parse_args()
    roots = programs(given.vcmtsd, given.traffic)
    schema = subprocess.check_output([given.vcmtsd, "schema"], text=True)
    texts = page_texts(roots, schema, given.version)
    for name, root in roots.items():
        texts |= {NAMES[shell].format(name): write(root) for shell, write in SHELLS.items()}
    for output in given.outputs:
        text = texts[output.name].replace(pages.plain(str(HOME)), pages.plain(given.share))
        output.write_text(text.replace("./vcmts", "vcmts"), encoding="utf-8")
    if given.read is not None:
        given.read.write_text(f"{given.outputs[0]}: {' '.join(modules())}\n", encoding="utf-8")
    return 0


def modules() -> list[str]:
    """The imported files of the tool, on which the output depends."""
    files = (getattr(module, "__file__", None) for module in sys.modules.values())
    return sorted(file for file in files if file and file.startswith(str(HOME)))


if __name__ == "__main__":
    sys.exit(main())
