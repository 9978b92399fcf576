# SPDX-License-Identifier: BSD-3-Clause
"""Hooks of mkdocs: pages of the site that docs/ does not hold, and links between all of them.

README.md is the start. Reference pages are generated (pages.py), pictures drawn before
(pictures.py). A file of the checkout that a page links to becomes a page itself, below source/: the
site needs no other place.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from vcmts.docs import pages, pictures
from vcmts.paths import CHECKOUT

LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(?=[)#])")
LANGUAGES = {".c": "c", ".h": "c", ".def": "c", ".json": "json", ".yaml": "yaml", ".yml": "yaml"}
ASSETS = [Path(__file__).with_name(name) for name in ("iframe-worker.js", "site.css")]
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n"


def source(path: PurePosixPath) -> PurePosixPath:
    """The file that stands for it: README.md for a folder that has one."""
    readme = path / "README.md"
    return readme if (CHECKOUT / readme).exists() else path


def place_of(path: PurePosixPath) -> str:
    """The page, by its name in the site, of a file or folder of the checkout."""
    path = source(path)
    if path == PurePosixPath("README.md"):
        return "index.md"
    inside = path.is_relative_to("docs")
    shown = path.relative_to("docs") if inside else "source" / path
    if (CHECKOUT / path).is_dir():
        return str(shown / "index.md")
    return str(shown) if inside or path.suffix == ".md" else f"{shown}.md"


def target(link: str, origin: PurePosixPath) -> PurePosixPath:
    """What `link` leads to in the checkout, from the file `origin` of it."""
    return PurePosixPath(os.path.normpath(origin.parent / link))


def links(text: str, origin: PurePosixPath) -> Iterator[PurePosixPath]:
    """Files and folders of the checkout that a page links to."""
    for link in LINK.findall(text):
        yield target(link, origin)


def rewritten(text: str, origin: PurePosixPath) -> str:
    """A page as the site has it: links to its pages, and blocks of code with a language alone."""
    start = str(PurePosixPath(place_of(origin)).parent)

    def changed(link: re.Match[str]) -> str:
        return os.path.relpath(place_of(target(link[1], origin)), start)

    # A word behind the language tells our tests what a block is for.
    return re.sub(r"^(```\w+) .*$", r"\1", LINK.sub(changed, text), flags=re.MULTILINE)


def title(path: Path) -> str:
    """The first heading of a page."""
    found = re.search(r"^# (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else path.name


def listing(folder: PurePosixPath) -> str:
    """A folder as a page: its pages as links, other names as they are."""
    lines = [f"# {folder}\n"]
    for path in sorted((CHECKOUT / folder).iterdir()):
        page = path.suffix == ".md"
        lines.append(
            f"- [{title(path)}]({folder.name}/{path.name})" if page else f"- `{path.name}`"
        )
    return "\n".join(lines) + "\n"


def shown(path: PurePosixPath) -> str:
    """A file of the checkout as a page, with the numbers of its lines."""
    text = (CHECKOUT / path).read_text(encoding="utf-8")
    language = LANGUAGES.get(path.suffix, "text")
    fence = "`" * (1 + max(map(len, re.findall("`{3,}", text)), default=2))
    return f'{UNSEARCHED}# {path}\n\n{fence} {language} linenums="1"\n{text}\n{fence}\n'


def page_of(path: PurePosixPath) -> str:
    """What the site has of a file or folder that is not in docs/."""
    if (CHECKOUT / path).is_dir():
        return rewritten(listing(path), path)
    if path.suffix == ".md":
        return rewritten((CHECKOUT / path).read_text(encoding="utf-8"), path)
    return shown(path)


def reached(files: Files) -> Iterator[PurePosixPath]:
    """Files and folders that pages lead to, and that are no pages of docs/; each once."""
    waiting = [PurePosixPath("README.md")]
    for file in files.documentation_pages():
        waiting += links(file.content_string, PurePosixPath("docs", file.src_uri))
    seen = set()
    while waiting:
        path = source(waiting.pop())
        whole = CHECKOUT / path
        if path in seen or not whole.exists() or (path.is_relative_to("docs") and whole.is_file()):
            continue
        seen.add(path)
        yield path
        if path.suffix == ".md":
            waiting += links(whole.read_text(encoding="utf-8"), path)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds generated pages, pictures, and what pages lead to."""
    for name, text in pages.reference().items():
        files.append(File.generated(config, str(name), content=text))
    for asset in (*pictures.drawn(), *ASSETS):
        files.append(File.generated(config, asset.name, abs_src_path=str(asset)))
    for path in list(reached(files)):
        files.append(File.generated(config, place_of(path), content=page_of(path)))
    return files


def on_page_markdown(
    markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files
) -> str | None:
    """Pages of docs/ are rewritten when they are read; those of page_of() are already."""
    name = PurePosixPath(page.file.src_uri)
    ready = name == PurePosixPath("index.md") or name.is_relative_to("source")
    return None if ready else rewritten(markdown, "docs" / name)
