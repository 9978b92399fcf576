# SPDX-License-Identifier: BSD-3-Clause
"""differences.py FIRST SECOND: prints the differences of two image layers, one file per line."""

import sys
import tarfile

FIELDS = ("type", "mode", "uid", "gid", "mtime", "size", "linkname")


def read_layer(path: str) -> dict[str, tuple[object, ...]]:
    with tarfile.open(path) as layer:
        return {
            member.name: (
                *(getattr(member, field) for field in FIELDS),
                content.read()
                if member.isreg() and (content := layer.extractfile(member))
                else b"",
            )
            for member in layer
        }


def main(one: str, other: str) -> None:
    first, second = read_layer(one), read_layer(other)
    if list(first) != list(second):
        print("the lists of files, or their orders, differ")
    for name in sorted(first.keys() | second.keys()):
        a, b = first.get(name), second.get(name)
        if a is None or b is None:
            print(f"{name}: only in {one if b is None else other}")
        elif a != b:
            names = zip((*FIELDS, "content"), a, b, strict=True)
            print(f"{name}: {', '.join(field for field, x, y in names if x != y)}")


main(*sys.argv[1:])
