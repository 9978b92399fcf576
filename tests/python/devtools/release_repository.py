# SPDX-License-Identifier: BSD-3-Clause
"""A small git repository with the files that name a version."""

import os
import subprocess
from pathlib import Path

from python.devtools.own_checks import write

# Neither the user's settings nor the time of the test has an effect.
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_NAME": "A. Developer" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "dev@example.org" for who in ("AUTHOR", "COMMITTER")},
}
FIRST_TIME = 1_800_000_000  # 2027-01-15 08:00:00 UTC


class Repository:
    """Commits have times a minute apart."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.commits = folder, 0
        folder.mkdir(exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.set_version("0.1.0")

    def git(self, *arguments: str) -> str:
        when = f"{FIRST_TIME + 60 * self.commits} +0000"
        environment = ENVIRONMENT | {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        write(self.folder, name, text)

    def set_version(self, version: str) -> None:
        self.write("meson.build", f"project('openvcmts', 'c',\n  version: '{version}',\n)\n")
        self.write("debian/changelog", f"openvcmts ({version}) unstable; urgency=medium\n")
        self.write(
            "deploy/helm/vcmts/Chart.yaml", f'name: vcmts\nversion: {version}\nkeywords: ""\n'
        )

    def commit(self, title: str, *options: str) -> str:
        """Commits all changes and returns the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", title, *options)
        self.commits += 1
        return self.git("rev-parse", "HEAD")

    def tag(self, name: str) -> None:
        self.git("tag", "--annotate", name, "--message", name)
