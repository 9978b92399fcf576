# SPDX-License-Identifier: BSD-3-Clause
"""vcmts size --cloud: its option, and the question it asks."""

import argparse
from collections.abc import Callable

from planning.size import cloud as size_cloud
from planning.size import cloud_types
from planning.size.cloud_show import show
from planning.size.load import Question
from planning.size.show import SCHEMA
from vcmts.jsons import Json

__all__ = ["add_arguments", "answer", "show"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cloud",
        nargs="*",
        metavar="TYPE",
        help="instead of a server published instance types, or families of them (default: all "
        f"that are known), with the cycles of {size_cloud.DEFAULT_MACHINE} if no other",
    )


def answer(
    arguments: argparse.Namespace,
    question_of: Callable[[argparse.Namespace], tuple[Question, str]],
) -> Json:
    cloud = cloud_types.load()
    names = cloud.named(arguments.cloud)
    size_cloud.refuse(arguments)
    arguments.groups = arguments.groups or ["6ofdm"]
    arguments.machine = arguments.machine or [size_cloud.DEFAULT_MACHINE]
    arguments.rules = arguments.rules or size_cloud.DEFAULT_RULES
    arguments.cores_per_socket = 1  # of no meaning: each type has its own
    question, rules = question_of(arguments)
    machine = question.kinds[0].costs.machine
    outside = [text for kind in question.kinds for text in kind.costs.downstream.outside]
    return {
        "schema": SCHEMA,
        "kind": "size-cloud",
        "machine": machine,
        "in_cloud": machine == size_cloud.DEFAULT_MACHINE,
        "rules": rules,
        "types": size_cloud.answers(cloud, names, question),
        "outside": list(dict.fromkeys(outside)),
    }
