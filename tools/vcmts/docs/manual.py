# SPDX-License-Identifier: BSD-3-Clause
"""Writes manual pages and shell completion; the build calls it."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from vcmts.docs.configdoc import allowed, default, nested_maps, read_schema, sentence, shared_keys
from vcmts.jsons import Json
from vcmts.manual import pages
from vcmts.manual.commands import Command
from vcmts.manual.completion import SHELLS
from vcmts.manual.programs import programs
from vcmts.paths import HOME, data

NAMES = {"bash": "{}", "zsh": "_{}", "fish": "{}.fish"}  # names of completion files


def keys(schema: Json, path: str) -> Iterator[str]:
    """A heading and the keys of a map, then those of nested maps."""
    yield f".SS {pages.plain(path) if path else 'Top level of the file'}"
    if path:
        yield f"{pages.words(sentence(schema['description']))}."
    needed = set(schema.get("required", schema.get("else", {}).get("required", ())))
    for name, value in schema["properties"].items():
        if "$ref" in value:  # a key of the top of the file
            continue
        text = f"{sentence(value['description'])}. Allowed: {allowed(value)}."
        text += f" Default: {default(value)}." if default(value) else ""
        text += " Required." if name in needed else ""
        yield pages.entry(f"\\fB{pages.plain(name)}\\fR", pages.words(text))
    if shared_keys(schema):
        yield f".PP\n{pages.words(shared_keys(schema))}"
    for value, key_path in nested_maps(schema, path):
        yield from keys(value, key_path)


def configuration_page(version: str) -> str:
    """The page vcmts.yaml(5)."""
    example = data("config/example.yaml").read_text(encoding="utf-8")
    shown = [*pages.head("vcmts.yaml", 5, "configuration of the OpenVCMTS data plane", version)]
    about = "A YAML file of one service group, or of a server of several. `vcmts profile` writes "
    about += "a published test configuration. `vcmts validate` reports mistakes."
    shown += [".SH DESCRIPTION", pages.words(about), ".SH KEYS", *keys(read_schema(), "")]
    shown += [".SH EXAMPLE", pages.lines(example)]
    shown += [".SH SEE ALSO", "\\fBvcmtsd\\fR(1),\n\\fBvcmts\\-validate\\fR(1)"]
    return "\n".join(shown) + "\n"


def page_texts(roots: dict[str, Command], version: str) -> dict[str, str]:
    """Returns manual pages by file name."""
    written = {"vcmts.1": pages.overview(version), "vcmts.yaml.5": configuration_page(version)}
    for part in (*roots["vcmts"].parts, *(roots[name] for name in pages.OTHERS)):
        written[f"{pages.name_of(part)}.1"] = pages.command_page(part, version)
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
    texts = page_texts(roots, given.version)
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
