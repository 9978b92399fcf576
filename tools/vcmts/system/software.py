# SPDX-License-Identifier: BSD-3-Clause
"""Reads versions of the programs, their compiler and libraries, and of the system."""

import json
import platform
import re
from pathlib import Path

from vcmts.jsons import Json
from vcmts.paths import CHECKOUT, build_directory, build_facts
from vcmts.system.files import NOT_KNOWN, Files

LIBRARY_FOLDERS = ("usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/lib", "usr/local/lib")
COMMIT = r"[0-9a-f]{40,64}"
SHARED = re.compile(r"libIPSec_MB\.so\.(\d+\.\d+\.\d+)")


def meson_introspection(build: Path, name: str) -> list[Json]:
    """Reads an introspection file of a meson build directory."""
    try:
        found = json.loads(
            (build / "meson-info" / f"intro-{name}.json").read_text(encoding="utf-8")
        )
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def built(files: Files, build: Path) -> Json:
    """Facts of a build. Without one, the DPDK version is that of pkg-config."""
    versions = {
        item.get("name"): item.get("version") for item in meson_introspection(build, "dependencies")
    }
    options = {
        item.get("name"): item.get("value") for item in meson_introspection(build, "buildoptions")
    }
    compiler = ""
    for target in meson_introspection(build, "targets"):
        for source in target.get("target_sources", []):
            compiler = compiler or " ".join(source.get("compiler", [])[-1:])
    return {
        "dpdk": versions.get("libdpdk")
        or files.first_line("pkg-config", "--modversion", "libdpdk")
        or NOT_KNOWN,
        "compiler": files.first_line(compiler or "cc", "--version") or NOT_KNOWN,
        "march": options.get("march", NOT_KNOWN),
        "optimization": options.get("optimization", NOT_KNOWN),
        "profile_guided": options.get("b_pgo", NOT_KNOWN),
        "sanitize": options.get("b_sanitize", NOT_KNOWN),
    }


def ipsec_mb(files: Files) -> str:
    for folder in LIBRARY_FOLDERS:
        for name in files.names(folder, SHARED.pattern):
            found = SHARED.fullmatch(name)
            if found:
                return found[1]
    return NOT_KNOWN


def hdr_histogram() -> str:
    """The version of the bundled library, from its README."""
    readme = CHECKOUT / "subprojects" / "hdr_histogram" / "README.md"
    try:
        found = re.search(r"at commit ([0-9a-f]{12})", readme.read_text(encoding="utf-8"))
    except OSError:
        return NOT_KNOWN
    return f"commit {found[1]}" if found else NOT_KNOWN


def system(files: Files) -> str:
    for line in files.text("etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return NOT_KNOWN


def revision(files: Files, checkout: Path) -> Json:
    """The commit of the checkout. `dirty`: tracked files were changed. Without git it is that of an
    archive (devtools/revision)."""
    git = ("git", "-C", str(checkout))
    commit = files.first_line(*git, "rev-parse", "HEAD")
    if not re.fullmatch(COMMIT, commit):
        archived = files.first_line(str(checkout / "devtools" / "revision"))
        found = re.fullmatch(rf"({COMMIT})(-dirty)?", archived)
        if found is None:
            return {"commit": NOT_KNOWN, "dirty": NOT_KNOWN}
        return {"commit": found[1], "dirty": found[2] is not None}
    changed = files.first_line(*git, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": changed != ""}


def of_build(files: Files, build: Path) -> Json:
    """Facts of checkout and build, which `meson install` stores (docs/note.py)."""
    return {
        **revision(files, CHECKOUT),
        **built(files, build),
        "hdr_histogram": hdr_histogram(),
    }


def facts(files: Files, build: Path | None = None) -> Json:
    libc, version = platform.libc_ver()
    installed = build_facts()
    return {
        **(of_build(files, build or build_directory()) if installed is None else installed),
        "intel_ipsec_mb": ipsec_mb(files),
        "libc": f"{libc} {version}".strip() or NOT_KNOWN,
        "system": system(files),
        "python": platform.python_version(),
    }
