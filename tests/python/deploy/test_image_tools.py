# SPDX-License-Identifier: BSD-3-Clause
"""Tests the tools that build the container image: package files, omitted files, the SBOM and the
reproducible archive. Also tests the health check."""

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


def test_paths_are_those_of_merged_usr() -> None:
    assert (
        packages.merged("./lib/x86_64-linux-gnu/libc.so.6") == "usr/lib/x86_64-linux-gnu/libc.so.6"
    )
    assert packages.merged("./lib64/ld-linux-x86-64.so.2") == "usr/lib64/ld-linux-x86-64.so.2"
    assert packages.merged("./usr/bin/python3") == "usr/bin/python3"
    assert packages.merged("./library/one") == "library/one"
    assert packages.merged("/bin") == "usr/bin"


def test_package_may_have_links_of_merged_usr(tmp_path: Path) -> None:
    """base-files of Debian 13 has them."""
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


def test_files_are_omitted_by_name() -> None:
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


def test_package_url_has_source_and_architecture() -> None:
    assert sbom.purl(Package(CONTROL), "debian-12") == (
        "pkg:deb/debian/libexample1@1%3A2.0%2Bdfsg-1~deb12u1"
        "?arch=amd64&distro=debian-12&upstream=example%402.0"
    )
    assert sbom.depends(Package(CONTROL)) == {"libc6", "libfirst", "libother", "python3"}


def test_licences_are_read_from_machine_readable_files() -> None:
    notice = (
        "Format: https://example.org\n\nFiles: *\nLicense: GPL-2+\n text\n\nLicense: BSD-3-clause\n"
    )
    names = [entry["license"]["name"] for entry in sbom.licences(notice)]
    assert names == ["BSD-3-clause", "GPL-2+"]
    assert sbom.licences("This is free.\nLicense: any\n") == []


def test_sbom_is_reproducible() -> None:
    release = sbom.Release("1.0", "abc", 1_700_000_000)

    def bill(at: sbom.Release) -> str:
        package = Package(CONTROL)
        return sbom.make(at, [package], {"libexample1": ""}, ["libexample1"], CHECKOUT, "debian-12")

    assert bill(release) == bill(release)
    other = json.loads(bill(sbom.Release("1.0", "abe", 1_700_000_000)))
    assert other["serialNumber"] != json.loads(bill(release))["serialNumber"]
    assert other["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"


def tree(folder: Path) -> Unpacked:
    """Package `one` has a driver under two names and a link to it, `two` the copyright of both."""
    unpacked = Unpacked(folder / "tree")
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


def test_second_hard_link_becomes_symbolic_link(tmp_path: Path) -> None:
    choice = Choice(tree(tmp_path))
    choice.include("usr/lib/driver.so.1")
    choice.include("usr/lib/drivers/driver.so")
    assert "usr/lib/driver.so" in choice.paths  # the target of the link
    root.copy_chosen(choice, tmp_path / "root")
    names = ("usr/lib/driver.so", "usr/lib/drivers/driver.so")
    assert len({(tmp_path / "root" / name).resolve() for name in names}) == 1


def test_chosen_files_have_licences_and_database_entries(tmp_path: Path) -> None:
    only_driver = contents.Contents((), frozenset(), (), (), (), ("usr/lib/driver.so",), (), (), ())
    choice = choose(tree(tmp_path), only_driver, [])
    assert choice.paths == {"usr/lib/driver.so", "usr/share/doc/one", "usr/share/doc/two/copyright"}
    database.write(choice, tmp_path / "root")
    folder = tmp_path / "root/var/lib/dpkg"
    assert (
        folder / "info/one:amd64.list"
    ).read_text() == "/usr/lib/driver.so\n/usr/share/doc/one\n"
    status = (folder / "status").read_text(encoding="utf-8")
    assert status.startswith("Package: one\nStatus: install ok installed\n")
    assert status.count("\n\nPackage: ") == 1


def save_image(path: Path, container: str) -> None:
    """Writes an image archive as container engines do."""
    config = {"container": container, "config": {"Hostname": container[:4], "User": "1"}}
    parts: dict[str, Any] = {
        "layer": b"contents",
        "config": {**config, "rootfs": {"diff_ids": ["sha256:abcd"]}},
        "manifest.json": [{"Config": "config", "RepoTags": [container], "Layers": ["layer"]}],
    }
    with tarfile.open(path, "w") as file:
        for name, part in parts.items():
            content = part if isinstance(part, bytes) else json.dumps(part).encode()
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(content), len(container)
            file.addfile(member, io.BytesIO(content))


def test_archive_is_reproducible(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = []
    for container in ("first", "second one"):
        save_image(tmp_path / "saved", container)
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
def metrics_server(status: int, text: str, path: str = "/live") -> Iterator[int]:
    """A metrics server that answers only `path`."""

    class Live(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == path else 404)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Live) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def run_health(port: str, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-IS", HEALTH, *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={"VCMTS_METRICS_PORT": port},
    )
    assert done.stderr == ""
    return done.returncode, done.stdout.strip()


def test_health_prints_status_of_data_plane() -> None:
    with metrics_server(200, "live\n") as port:
        assert run_health(str(port)) == (0, "200 live")
    with metrics_server(503, "worker 2 made no round\nfor 7 s\n" + "x" * 100_000) as port:
        status, text = run_health(str(port))
    assert (status, text[:38]) == (1, "503 worker 2 made no round for 7 s xxx")


def test_health_prints_reason_of_readiness() -> None:
    with metrics_server(503, "group 2: its network port has no link\n", "/ready") as port:
        answer = (1, "503 group 2: its network port has no link")
        assert run_health(str(port), "/ready") == answer
        assert run_health(str(port))[1].startswith("404 ")


def test_health_fails_without_answer() -> None:
    assert run_health("1")[0] == 1
    assert run_health("none")[0] == 1
    with metrics_server(999, "") as port:
        assert run_health(str(port)) == (1, "999")
