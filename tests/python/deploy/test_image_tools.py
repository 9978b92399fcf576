# SPDX-License-Identifier: BSD-3-Clause
"""What puts the container image together, in parts: names of packages, which files are left out,
the list of parts, an archive that depends on its contents alone; and the health check."""

import argparse
import http.server
import io
import json
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from container import archive, contents, database, packages, root, sbom
from container.choose import Choice, choose
from container.packages import Package, Unpacked
from vcmts.paths import CHECKOUT

HEALTH = CHECKOUT / "deploy/container/health"
LIST = contents.read(CHECKOUT / "deploy/container/contents.toml")
CONTROL = """Package: libexample1
Source: example (2.0)
Version: 1:2.0+dfsg-1~deb12u1
Architecture: amd64
Multi-Arch: same
Maintainer: Some One <some@example.org>
Depends: libc6 (>= 2.34), libfirst | libother:any, python3:any
Description: an example
"""


def test_a_path_is_that_of_a_merged_system() -> None:
    assert (
        packages.merged("./lib/x86_64-linux-gnu/libc.so.6") == "usr/lib/x86_64-linux-gnu/libc.so.6"
    )
    assert packages.merged("./lib64/ld-linux-x86-64.so.2") == "usr/lib64/ld-linux-x86-64.so.2"
    assert packages.merged("./usr/bin/python3") == "usr/bin/python3"
    assert packages.merged("./library/one") == "library/one"
    assert packages.merged("/bin") == "usr/bin"


def test_a_package_may_bring_the_links_of_a_merged_system(tmp_path: Path) -> None:
    """As base-files of Debian 13 does."""
    package = tmp_path / "package"
    (package / "DEBIAN").mkdir(parents=True)
    (package / "DEBIAN/control").write_text(CONTROL, encoding="utf-8")
    (package / "usr/lib").mkdir(parents=True)
    (package / "usr/lib/one").write_text("one", encoding="utf-8")
    (package / "lib").symlink_to("usr/lib")
    made = tmp_path / "made.deb"
    subprocess.run(["dpkg-deb", "--build", package, made], check=True, capture_output=True)
    unpacked = packages.unpack([made], tmp_path / "tree")
    assert (tmp_path / "tree/usr/lib/one").read_text(encoding="utf-8") == "one"
    assert list(unpacked.owner) == ["usr/lib/one"]


def test_modules_are_left_out_by_their_names() -> None:
    for name in (
        "usr/lib/python3.11/sqlite3/dbapi2.py",
        "usr/lib/python3.13/idlelib/run.py",
        "usr/lib/python3.11/lib-dynload/_curses.cpython-311-x86_64-linux-gnu.so",
        "usr/lib/python3.11/turtle.py",
        "usr/bin/pydoc3.11",
    ):
        assert contents.is_left_out(name, LIST), name
    for name in (
        "usr/lib/python3.11/json/decoder.py",
        "usr/lib/python3.11/test_like_name.py",
        "usr/lib/python3/dist-packages/rich/console.py",
        "usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so",
    ):
        assert not contents.is_left_out(name, LIST), name


def test_a_package_url_names_source_and_architecture() -> None:
    assert sbom.purl(Package(CONTROL), "debian-12") == (
        "pkg:deb/debian/libexample1@1%3A2.0%2Bdfsg-1~deb12u1"
        "?arch=amd64&distro=debian-12&upstream=example%402.0"
    )
    assert sbom.depends(Package(CONTROL)) == {"libc6", "libfirst", "libother", "python3"}


def test_licences_are_those_of_a_file_that_programs_can_read() -> None:
    paper = (
        "Format: https://example.org\n\nFiles: *\nLicense: GPL-2+\n text\n\nLicense: BSD-3-clause\n"
    )
    names = [entry["license"]["name"] for entry in sbom.licences(paper)]
    assert names == ["BSD-3-clause", "GPL-2+"]
    assert sbom.licences("This is free.\nLicense: any\n") == []


def test_the_same_parts_are_the_same_list() -> None:
    release = sbom.Release("1.0", "abc", 1_700_000_000)

    def made(of: sbom.Release) -> str:
        package = Package(CONTROL)
        return sbom.make(of, [package], {"libexample1": ""}, ["libexample1"], CHECKOUT, "debian-12")

    assert made(release) == made(release)
    other = json.loads(made(sbom.Release("1.0", "abe", 1_700_000_000)))
    assert other["serialNumber"] != json.loads(made(release))["serialNumber"]
    assert other["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"


def tree(place: Path) -> Unpacked:
    """A package with a driver by two names, a link, and papers that are another package's."""
    unpacked = Unpacked(place / "tree")
    unpacked.packages = {
        name: Package(CONTROL.replace("libexample1", name)) for name in ("one", "two")
    }
    files = {
        "usr/lib/drivers/driver.so": "one",
        "usr/lib/driver.so": "one",
        "usr/lib/driver.so.1": "one",
        "usr/share/doc/one": "one",
        "usr/share/doc/two/copyright": "two",
    }
    unpacked.owner = dict(files)
    for path in files:
        (unpacked.tree / path).parent.mkdir(parents=True, exist_ok=True)
    (unpacked.tree / "usr/lib/driver.so").write_text("driver", encoding="utf-8")
    (unpacked.tree / "usr/lib/drivers/driver.so").hardlink_to(unpacked.tree / "usr/lib/driver.so")
    (unpacked.tree / "usr/lib/driver.so.1").symlink_to("/lib/driver.so")
    (unpacked.tree / "usr/share/doc/one").symlink_to("two")
    (unpacked.tree / "usr/share/doc/two/copyright").write_text("free", encoding="utf-8")
    return unpacked


def test_one_file_by_two_names_stays_one(tmp_path: Path) -> None:
    choice = Choice(tree(tmp_path))
    choice.take("usr/lib/driver.so.1")
    choice.take("usr/lib/drivers/driver.so")
    assert "usr/lib/driver.so" in choice.paths  # where the link leads to
    root.copy_chosen(choice, tmp_path / "root")
    names = ("usr/lib/driver.so", "usr/lib/drivers/driver.so")
    assert len({(tmp_path / "root" / name).resolve() for name in names}) == 1


def test_what_is_taken_has_its_licence_and_its_place_in_the_database(tmp_path: Path) -> None:
    nothing = contents.Contents((), frozenset(), (), (), (), ("usr/lib/driver.so",), (), (), ())
    choice = choose(tree(tmp_path), nothing, [])
    assert choice.paths == {"usr/lib/driver.so", "usr/share/doc/one", "usr/share/doc/two/copyright"}
    database.write(choice, tmp_path / "root")
    folder = tmp_path / "root/var/lib/dpkg"
    assert (
        folder / "info/one:amd64.list"
    ).read_text() == "/usr/lib/driver.so\n/usr/share/doc/one\n"
    status = (folder / "status").read_text(encoding="utf-8")
    assert status.startswith("Package: one\nStatus: install ok installed\n")
    assert status.count("\n\nPackage: ") == 1


def saved(path: Path, container: str) -> None:
    """As engines write it."""
    told = {"container": container, "config": {"Hostname": container[:4], "User": "1"}}
    parts: dict[str, Any] = {
        "layer": b"contents",
        "config": {**told, "rootfs": {"diff_ids": ["sha256:abcd"]}},
        "manifest.json": [{"Config": "config", "RepoTags": [container], "Layers": ["layer"]}],
    }
    with tarfile.open(path, "w") as file:
        for name, part in parts.items():
            content = part if isinstance(part, bytes) else json.dumps(part).encode()
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(content), len(container)
            file.addfile(member, io.BytesIO(content))


def test_an_archive_depends_on_contents_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = []
    for container in ("first", "second one"):
        saved(tmp_path / "saved", container)
        to = tmp_path / container
        archive.rewrite(argparse.Namespace(saved=tmp_path / "saved", to=to, names=["vcmts:1"]))
        written.append(to.read_bytes())
    assert written[0] == written[1]
    with tarfile.open(tmp_path / "first") as file:
        assert file.getnames()[0] == "abcd.tar"
        assert f"sha256:{file.getnames()[1].removesuffix('.json')}" in capsys.readouterr().out
        manifest = file.extractfile("manifest.json")
        assert manifest and json.load(manifest)[0]["RepoTags"] == ["vcmts:1"]


@contextmanager
def answering(status: int, text: str, path: str = "/live") -> Iterator[int]:
    """A metrics port; it knows nothing but `path`."""

    class Live(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == path else 404)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *words: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Live) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def healthy(port: str, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-IS", HEALTH, *words],
        check=False,
        capture_output=True,
        text=True,
        env={"VCMTS_METRICS_PORT": port},
    )
    assert done.stderr == ""
    return done.returncode, done.stdout.strip()


def test_health_is_what_the_data_plane_says_of_itself() -> None:
    with answering(200, "live\n") as port:
        assert healthy(str(port)) == (0, "200 live")
    with answering(503, "worker 2 made no round\nfor 7 s\n" + "x" * 100_000) as port:
        status, said = healthy(str(port))
    assert (status, said[:38]) == (1, "503 worker 2 made no round for 7 s xxx")


def test_health_says_why_no_packets_can_come() -> None:
    with answering(503, "group 2: its network port has no link\n", "/ready") as port:
        said = (1, "503 group 2: its network port has no link")
        assert healthy(str(port), "/ready") == said
        assert healthy(str(port))[1].startswith("404 ")


def test_health_without_anybody_who_answers_is_none() -> None:
    assert healthy("1")[0] == 1
    assert healthy("none")[0] == 1
    with answering(999, "") as port:
        assert healthy(str(port)) == (1, "999")
