# SPDX-License-Identifier: BSD-3-Clause
"""Hooks of mkdocs: add pages that are not in docs/, and adapt links.

README.md becomes the start page. pages.py generates reference pages, pictures.py draws pictures. A
file of the checkout that a page links to becomes a page below source/: the site is complete.
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
    """The file to show for a path: README.md for a folder that has one."""
    readme = path / "README.md"
    return readme if (CHECKOUT / readme).exists() else path


def page_path(path: PurePosixPath) -> str:
    """The path in the site of a file or folder of the checkout."""
    path = source(path)
    if path == PurePosixPath("README.md"):
        return "index.md"
    inside = path.is_relative_to("docs")
    page = path.relative_to("docs") if inside else "source" / path
    if (CHECKOUT / path).is_dir():
        return str(page / "index.md")
    return str(page) if inside or path.suffix == ".md" else f"{page}.md"


def target(link: str, origin: PurePosixPath) -> PurePosixPath:
    """The path in the checkout of a link in the file `origin`."""
    return PurePosixPath(os.path.normpath(origin.parent / link))


def links(text: str, origin: PurePosixPath) -> Iterator[PurePosixPath]:
    """Files and folders of the checkout that a page links to."""
    for link in LINK.findall(text):
        yield target(link, origin)


def rewrite(text: str, origin: PurePosixPath) -> str:
    """Adapts a page to the site: changes links, and removes tags of code blocks but the
    language."""
    start = str(PurePosixPath(page_path(origin)).parent)

    def changed(link: re.Match[str]) -> str:
        return os.path.relpath(page_path(target(link[1], origin)), start)

    # a word after the language is for tests of the documentation
    return re.sub(r"^(```\w+) .*$", r"\1", LINK.sub(changed, text), flags=re.MULTILINE)


def title(path: Path) -> str:
    """The first heading of a page."""
    found = re.search(r"^# (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else path.name


def listing(folder: PurePosixPath) -> str:
    """A page that lists a folder, with links to its pages."""
    lines = [f"# {folder}\n"]
    for path in sorted((CHECKOUT / folder).iterdir()):
        page = path.suffix == ".md"
        lines.append(
            f"- [{title(path)}]({folder.name}/{path.name})" if page else f"- `{path.name}`"
        )
    return "\n".join(lines) + "\n"


def source_page(path: PurePosixPath) -> str:
    """A page that shows a file with line numbers."""
    text = (CHECKOUT / path).read_text(encoding="utf-8")
    language = LANGUAGES.get(path.suffix, "text")
    fence = "`" * (1 + max(map(len, re.findall("`{3,}", text)), default=2))
    return f'{UNSEARCHED}# {path}\n\n{fence} {language} linenums="1"\n{text}\n{fence}\n'


def page_text(path: PurePosixPath) -> str:
    """The page of a file or folder that is not in docs/."""
    if (CHECKOUT / path).is_dir():
        return rewrite(listing(path), path)
    if path.suffix == ".md":
        return rewrite((CHECKOUT / path).read_text(encoding="utf-8"), path)
    return source_page(path)


def linked_files(files: Files) -> Iterator[PurePosixPath]:
    """Files and folders outside of docs/ that pages link to, directly or indirectly."""
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
    """Adds generated pages, pictures and linked files."""
    for name, text in pages.reference().items():
        files.append(File.generated(config, str(name), content=text))
    for asset in (*pictures.drawn(), *ASSETS):
        files.append(File.generated(config, asset.name, abs_src_path=str(asset)))
    for path in list(linked_files(files)):
        files.append(File.generated(config, page_path(path), content=page_text(path)))
    return files


def on_page_markdown(
    markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files
) -> str | None:
    """Adapts pages of docs/. Those of page_text() are adapted already."""
    name = PurePosixPath(page.file.src_uri)
    ready = name == PurePosixPath("index.md") or name.is_relative_to("source")
    return None if ready else rewrite(markdown, "docs" / name)
