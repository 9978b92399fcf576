# SPDX-License-Identifier: BSD-3-Clause
"""Tests devtools/image with a stub of podman."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from vcmts.paths import CHECKOUT

# Prints the arguments, so that the build fails.
PODMAN = "#!/bin/sh\nprintf '%s\\n' \"$@\" >arguments\nexit 1\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A committed checkout with devtools/image."""
    folder = tmp_path / "checkout"
    (folder / "devtools").mkdir(parents=True)
    for script in ("copy-checkout", "image", "revision"):
        shutil.copy(CHECKOUT / "devtools" / script, folder / "devtools")
    shutil.copy(CHECKOUT / "meson.build", folder)
    (folder / ".gitignore").write_text("build*/\narguments\n")
    (tmp_path / "podman").write_text(PODMAN)
    (tmp_path / "podman").chmod(0o755)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *command], cwd=folder, check=True)
    return folder


def revision_of(checkout: Path) -> str:
    """The revision that devtools/image passes to podman."""
    variables = {
        "PATH": f"{checkout.parent}:{os.environ['PATH']}",
        "VCMTS_ROOT_MOUNTED": "1",
        "IMAGE_BASE": "base",
    }
    done = subprocess.run(
        ["devtools/image"], cwd=checkout, env=os.environ | variables, capture_output=True, text=True
    )
    assert "the build failed" in done.stderr
    arguments = (checkout / "arguments").read_text().splitlines()
    return next(a for a in arguments if a.startswith("REVISION=")).removeprefix("REVISION=")


def test_image_of_clean_checkout_has_its_commit(checkout: Path) -> None:
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=checkout, capture_output=True, text=True
    )
    assert revision_of(checkout) == head.stdout.strip()


@pytest.mark.parametrize("file", ["meson.build", "new.py"])
def test_image_of_changed_checkout_is_dirty(file: str, checkout: Path) -> None:
    """Untracked files are in the image, too."""
    with (checkout / file).open("a") as opened:
        opened.write("# changed\n")
    assert revision_of(checkout).endswith("-dirty")
