# SPDX-License-Identifier: BSD-3-Clause
"""devtools/check-words on a small repository: retired words, their exceptions, long sentences."""

import subprocess
from pathlib import Path

import pytest

from vcmts.paths import CHECKOUT

CHECK = CHECKOUT / "devtools" / "check-words"
GLOSSARY = """| term | definition | replaces |
| --- | --- | --- |
| capacity | How many objects fit | room |
| slot | An element of a table | place |
"""
SETTINGS = """files = ["src/*"]
pages = ["docs/*.md"]
exempt = ["docs/glossary.md", "src/exempt.c"]
names_only = ["place"]
[[names]]
names = ["data_room", "roomName"]
why = "names of a library"
[[allowed]]
words = ["room"]
files = ["src/pool.c"]
why = "a term of a library"
"""


def check(folder: Path, name: str, text: str) -> tuple[int, str]:
    """Runs check-words in a repository with the file `name`. Returns its exit status and stdout."""
    files = {"docs/glossary.md": GLOSSARY, "devtools/words.toml": SETTINGS, name: text}
    for path, content in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(content)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    done = subprocess.run([CHECK], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("/* No room for more. */", "room"),
        ("int group_rooms;", "room"),
        ("int roomOf(void);", "room"),
        ("int place_of;", "place"),
        ("int room2;", "room"),
        ("int mydata_room;", "room"),  # data_room is allowed only between underscores
    ],
)
def test_retired_word_is_refused_with_its_term(tmp_path: Path, text: str, word: str) -> None:
    status, output = check(tmp_path, "src/a.c", f"\n{text}\n")
    term = {"room": "capacity", "place": "slot"}[word]
    assert (status, output) == (1, f"src/a.c:2: `{word}`: write {term} (docs/glossary.md)\n")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("src/a.c", "/* It takes place once. */"),  # an ordinary word in a sentence
        ("src/a.c", "int headroom, mushrooms;"),  # a part of another word
        ("src/pool.c", "int room_size;"),  # allowed there
        ("src/exempt.c", "int room;"),
        # names of a library, in a longer name and alone
        ("src/a.c", "int mbuf_data_room_size = roomName;"),
        ("tests/a.c", "int room;"),  # not among the files
    ],
)
def test_other_uses_pass(tmp_path: Path, name: str, text: str) -> None:
    assert check(tmp_path, name, text) == (0, "")


def test_long_sentence_of_a_page_is_refused(tmp_path: Path) -> None:
    words = " ".join(["word"] * 31)
    status, output = check(tmp_path, "docs/a.md", f"Short one. A {words}.\n\n```\n{words}\n```\n")
    assert status == 1 and output.startswith("docs/a.md: over 30 words in a sentence: A word")
    # A colon ends a part of a sentence: each has at most 30 words.
    assert check(tmp_path, "docs/a.md", f"One: {' '.join(['word'] * 30)}.\n") == (0, "")
