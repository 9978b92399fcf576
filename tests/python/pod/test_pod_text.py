# SPDX-License-Identifier: BSD-3-Clause
"""Tests vcmts.pod.text: replaces variables and sets maps such as `threads`; other lines stay."""

import re

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from vcmts.pod import text
from vcmts.pod.variables import PodError, replace_references

CARDS = {"CARDS": "0000:3b:02.0, 0000:3b:02.1", "NONE": " ", "ONE": "a", "HOLES": "a,,b"}
FILE = """# a server
name: x
ports:
  network: {device: "${CARDS[0]}"}   # the first
  rphy:
    device: ${CARDS[1]}
threads:
  layout: combined
  # by layout

service_groups:
  - service_group: 1
    name: 'of ${ONE}'
    threads: {downstream: 1ds1t,
              main_core: "${ONE}"}
  - {service_group: 2}
  -
    service_group: 3
    name: |
      ${ONE}
      more
rate_limit: 10 Gbps
"""


def document(written: str = FILE) -> text.Document:
    return text.read("vcmts.yaml", written)


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("${CARDS[1]}", "0000:3b:02.1"),
        ("a${ONE}b${ONE}", "aaba"),
        ("${CARDS}", CARDS["CARDS"]),
        ("$${ONE}", "${ONE}"),
        ("$ONE {ONE}", "$ONE {ONE}"),
        ("net_af_packet0,iface=${ONE}", "net_af_packet0,iface=a"),
    ],
)
def test_references_are_replaced(reference: str, value: str) -> None:
    assert replace_references(reference, CARDS) == value


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("${GONE}", "found ${GONE}, but the variable GONE is not set: does the pod request"),
        ("${NONE}", "found ${NONE}, but the variable NONE is empty"),
        ("${CARDS[2]}", "found ${CARDS[2]}, allowed: 0 to 1, as CARDS has 2 items"),
        ("${HOLES[1]}", "that item of HOLES is empty"),
        ("${a-b}", "found ${a-b}, allowed: ${NAME} or ${NAME[0]}"),
        ("${}", "found ${}, allowed"),
        ("${ONE[-1]}", "allowed: ${NAME}"),
        ("${ONE[9999]}", "allowed: ${NAME}"),
    ],
)
def test_invalid_references_are_refused(reference: str, why: str) -> None:
    with pytest.raises(PodError) as error:
        replace_references(reference, CARDS)
    assert why in str(error.value)


def test_lines_and_comments_are_kept() -> None:
    doc = document()
    assert text.replace_variables(doc, CARDS) == []
    lines = doc.written().splitlines()
    assert len(lines) == len(FILE.splitlines())
    assert lines[3] == '  network: {device: "0000:3b:02.0"}   # the first'
    assert lines[5] == "    device: 0000:3b:02.1"
    read = yaml.safe_load(doc.written())
    assert read["service_groups"][0]["name"] == "of a"
    assert read["service_groups"][2]["name"] == "a\nmore\n"
    assert read["rate_limit"] == "10 Gbps"


def test_unset_variables_are_reported_with_lines() -> None:
    mistakes = text.replace_variables(document(), {"ONE": "1"})
    assert [mistake.split(": found")[0] for mistake in mistakes] == [
        "vcmts.yaml:4: ports.network.device",
        "vcmts.yaml:6: ports.rphy.device",
    ]


def test_value_with_yaml_syntax_is_one_scalar() -> None:
    doc = document('a: ${X}\nb: ["${X}", 1]\n')
    hostile = "1, c: 2}\n# \"'\u2028&*!|>%@`: - "
    assert text.replace_variables(doc, {"X": hostile}) == []
    assert yaml.safe_load(doc.written()) == {"a": hostile.strip(), "b": [hostile.strip(), 1]}


@example("-")
@example("- entry of a list")
@example("a: map")
@given(st.text(min_size=1, max_size=30).filter(lambda value: value.strip()))
def test_any_value_is_read_back(value: str) -> None:
    doc = document('a: ${X}\nb: {c: "${X}"}\n')
    try:
        value.encode()
        yaml.SafeLoader(value)  # raises if YAML does not allow its characters
    except (UnicodeEncodeError, yaml.YAMLError):
        return
    assert text.replace_variables(doc, {"X": value}) == []
    read = yaml.load(doc.written(), Loader=yaml.BaseLoader)
    assert read == {"a": value.strip(), "b": {"c": value.strip()}}


def test_map_is_set_in_any_style() -> None:
    doc = document()
    text.replace_variables(doc, CARDS)
    for number, item in enumerate(text.group_nodes(doc)):
        text.set_map(doc, item, "threads", f"{{main_core: {number}}}")
    text.set_map(doc, doc.root, "threads", "{layout: combined2}")
    read = yaml.safe_load(doc.written())
    groups = read["service_groups"]
    assert [group["threads"] for group in groups] == [{"main_core": n} for n in range(3)]
    assert [group["service_group"] for group in groups] == [1, 2, 3]
    assert read["threads"] == {"layout": "combined2"} and read["rate_limit"] == "10 Gbps"
    # One line is added: `threads` of the third group, a block map without it. original_line() maps
    # the others.
    lines = doc.written().splitlines()
    assert len(lines) == len(FILE.splitlines()) + 1
    for number, line in enumerate(lines, start=1):
        before = FILE.splitlines()[doc.original_line(number) - 1]
        key = re.match(r"[\s-]*(\w+):", line)
        if key and key[1] not in ("threads", "device", "name", "network"):
            assert f"{key[1]}:" in before, (number, line)


@pytest.mark.parametrize(
    ("written", "result"),
    [
        ("threads:\nb: 2\n", "threads: {main_core: 0}\nb: 2\n"),
        ("threads:  # main_core: 1\nb: 2\n", "threads: {main_core: 0}  # main_core: 1\nb: 2\n"),
        ("b: 2\nthreads:\n  # main_core: 1\n", "b: 2\nthreads: {main_core: 0}\n  # main_core: 1\n"),
        ("{threads: , b: 2}\n", "{threads:  {main_core: 0}, b: 2}\n"),
        ("{threads, b: 2}\n", "{threads: {main_core: 0}, b: 2}\n"),
        ("{b: 2, threads}\n", "{b: 2, threads: {main_core: 0}}\n"),
    ],
)
def test_map_is_set_instead_of_an_empty_value(written: str, result: str) -> None:
    doc = document(written)
    text.set_map(doc, doc.root, "threads", "{main_core: 0}")
    assert doc.written() == result
    assert yaml.safe_load(result) == {"b": 2, "threads": {"main_core": 0}}


def test_errors_of_vcmtsd_get_lines_of_the_file() -> None:
    doc = document("a: 1\nb: 2\n")
    text.set_map(doc, doc.root, "threads", "{}")
    assert doc.written() == "threads: {}\na: 1\nb: 2\n"
    error = doc.map_message("/run/trial", "/run/trial:3: b: found 2, allowed: 1")
    assert error == "vcmts.yaml:2: b: found 2, allowed: 1"
    error = doc.map_message("/run/trial", "/run/trial:1: threads: found {}")
    assert error == "vcmts.yaml:1: threads: found {}"
    other = "/etc/sg.yaml:3: b: found 2, allowed: 1"
    assert doc.map_message("/run/trial", other) == other


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("a: [1\n", "vcmts.yaml:2: "),
        ("- 1\n", "vcmts.yaml:1: the file has no `KEY: VALUE` lines; it needs a configuration"),
        ("", "vcmts.yaml:1: the file has no"),
        ("a: \0", "vcmts.yaml: "),
        ("a: 1\n---\nb: 2\n", "vcmts.yaml:2: "),
        ("a: *b\n", "vcmts.yaml:1: "),
    ],
)
def test_invalid_configuration_is_refused(written: str, why: str) -> None:
    with pytest.raises(PodError, match=re.escape(why)):
        document(written)


@pytest.mark.parametrize("nested", [64, 1100, 200_000])
@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ("{a: ", "}")])
def test_nesting_is_limited(nested: int, opens: str, closes: str) -> None:
    """64 levels with the root map are allowed. Each is a recursive call, of libyaml too: more would
    crash Python. `nested`: levels below the root map."""
    deep = f"a: ${{A}}\nb: {opens * nested}1{closes * nested}\n"
    why = "vcmts.yaml:2: maps and lists in more than 64 levels"
    with pytest.raises(PodError, match=re.escape(why)):
        document(deep)
    doc = document(f"a: ${{A}}\nb: {opens * 63}1{closes * 63}\n")
    assert text.replace_variables(doc, {"A": "x"}) == []


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("a: &x ${A}\nb: *x\n", "1 2"),
        ("a: &x '${A}' # so\nb: *x\n", "1 2"),
        ("a: &x |\n  ${A}\nb: *x\n", "1 2\n"),
        ("a: !!str ${N}\nb: '7'\n", "7"),
        ("a: &x !!str\n  ${N}\nb: *x\n", "7"),
        ("a: !!str &x ${N}\nb: *x\n", "7"),
        ("a: !!str\n  &x ${N}\nb: *x\n", "7"),
        ("a: &x # so\n  ${A}\nb: *x\n", "1 2"),
    ],
)
def test_anchors_and_tags_are_kept(written: str, value: str) -> None:
    doc = document(written)
    assert text.replace_variables(doc, {"A": "1 2", "N": "7"}) == []
    assert yaml.safe_load(doc.written()) == {"a": value, "b": value}
    assert doc.written().count("\n") == written.count("\n")


def test_map_is_not_set_below_scalar_or_instead_of_alias() -> None:
    for written, why in (
        ("service_groups: [1]\n", "not a map of keys"),
        ("t: &t {main_core: 1}\nthreads: *t\n", "vcmts.yaml:2: threads: an alias is not allowed"),
    ):
        doc = document(written)
        with pytest.raises(PodError, match=why):
            text.set_map(doc, text.group_nodes(doc)[0], "threads", "{}")
