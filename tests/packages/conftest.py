# SPDX-License-Identifier: BSD-3-Clause
"""Boots root filesystems in which the packages are installed. devtools/deb-test runs the tests."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from packages.booted import (
    BASE,
    PACKAGES,
    ROOTS,
    Root,
    booted,
    configure,
    control,
    copy_packages,
    install,
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not BASE.is_dir() or not PACKAGES.is_dir():
        pytest.exit("no root filesystem or packages: use make deb-test", returncode=2)


@pytest.fixture(scope="session")
def with_packages() -> Iterator[Path]:
    """A root with the packages as files in /packages; not booted, and not to be changed."""
    folder = Path(tempfile.mkdtemp(dir=ROOTS))
    try:
        control("start", folder, BASE)
        copy_packages(Root(folder))
        control("stop", folder)
        yield folder
    finally:
        control("remove", folder)


@pytest.fixture(scope="session")
def with_service(with_packages: Path) -> Iterator[Path]:
    """A root in which the packages are installed and vcmtsd has served; not booted, and not to be
    changed."""
    folder = Path(tempfile.mkdtemp(dir=ROOTS))
    try:
        control("start", folder, with_packages)
        root = Root(folder)
        install(root)
        configure(root)
        root.run("systemctl", "start", "vcmtsd")
        root.wait_until_served()
        control("stop", folder)
        yield folder
    finally:
        control("remove", folder)


@pytest.fixture
def empty(with_packages: Path) -> Iterator[Root]:
    """A booted root without the packages, whose files are in /packages."""
    with booted(with_packages) as root:
        yield root


@pytest.fixture
def root(with_service: Path) -> Iterator[Root]:
    """A booted root in which vcmtsd serves."""
    with booted(with_service) as root:
        root.wait_until_served()
        yield root
