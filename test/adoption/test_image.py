"""Tests that the image is small, holds only the program and its libraries, and runs from its own root."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from conftest import ROOT, run

PROGRAM = Path(os.environ.get("KUBENODESMITH_BIN") or ROOT / "build/release/bin") / "kubenodesmith"
LARGEST = 30_000_000


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("image") / "root"
    run(ROOT / "hack/image_root.sh", PROGRAM, folder)
    return folder


def files_of(root):
    return {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file() and not path.is_symlink()}


def test_what_it_is_built_from_has_a_digest():
    images = [line.split()[1] for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("FROM ")]
    assert images and all("@sha256:" in image for image in images if image != "scratch"), images


def test_the_program_in_it_is_told_its_commit(tmp_path):
    build = (ROOT / "Dockerfile").read_text().split("FROM ")[1]
    (configured,) = re.findall(r"^ARG REVISION\nRUN cmake --preset release -D(\w+)=\"\$REVISION\" ", build, re.MULTILINE)
    assert f"set({configured} " in (ROOT / "operator/CMakeLists.txt").read_text()
    assert "--build-arg REVISION=" in (ROOT / "Makefile").read_text()
    for commit, written in (("1a2b3c", "1a2b3c"), ("", "")):  # without .git, as in the image
        run("cmake", "-D", f"SOURCE={tmp_path}", "-D", f"OUTPUT={tmp_path}/commit.cpp", "-D", f"COMMIT={commit}", "-P", ROOT / "cmake/source_commit.cmake")
        assert f'kSourceCommit = "{written}";' in (tmp_path / "commit.cpp").read_text()


def test_it_holds_one_program_and_no_shell(root):
    files = files_of(root)
    programs = {name for name, path in files.items() if os.access(path, os.X_OK) and ".so" not in path.name}
    assert programs == {"usr/bin/kubenodesmith"}
    rest = {name for name in set(files) - programs if ".so" not in name and not name.startswith(("var/lib/dpkg/status.d/", "usr/share/doc/"))}
    assert rest == {"etc/passwd", "etc/os-release", "etc/ssl/openssl.cnf", "etc/ssl/certs/ca-certificates.crt"}
    assert sum(path.stat().st_size for path in files.values()) < LARGEST


def test_scanners_recognise_its_packages_and_each_has_its_licence(root):
    assert "ID=debian" in (root / "etc/os-release").read_text()
    packages = dict(line.split()[::-1] for line in run(sys.executable, ROOT / "hack/sbom.py", "--packages", PROGRAM).splitlines())
    installed = {file.name: file.read_text() for file in (root / "var/lib/dpkg/status.d").iterdir()}
    assert set(installed) == {name for name, kind in packages.items() if kind == "shared"} and "libssl3" in installed
    for name, status in installed.items():
        assert f"Package: {name}\n" in status and "\nVersion: " in status and "Status: install ok installed" in status
    for name in [*packages, "kubenodesmith"]:
        assert (root / "usr/share/doc" / name / "copyright").stat().st_size > 0


def test_it_runs_from_its_own_root(root):
    in_root = ["unshare", "--user", "--map-root-user", f"--root={root}"]
    if subprocess.run(["unshare", "--user", "--map-root-user", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("user namespaces are not allowed here")
    version = run(*in_root, "/usr/bin/kubenodesmith", "version").strip()
    assert version.startswith("kubenodesmith ")
    # The program finds its certificates and its configuration, and reports that a cluster is missing.
    done = subprocess.run([*in_root, "/usr/bin/kubenodesmith", "run"], capture_output=True, text=True, check=False, env={"HOME": "/", "PATH": os.environ["PATH"]})
    assert done.returncode == 2 and "Wrong cluster configuration" in done.stderr


def blob(archive, descriptor):
    data = archive.extractfile("blobs/" + descriptor["digest"].replace(":", "/")).read()
    assert len(data) == descriptor["size"] and "sha256:" + hashlib.sha256(data).hexdigest() == descriptor["digest"]
    return data


def test_the_archive_is_an_image_and_the_same_each_time(root, tmp_path):
    first, second = tmp_path / "1.tar", tmp_path / "2.tar"
    for target in (first, second):
        run(sys.executable, ROOT / "hack/oci_image.py", root, "1.2.3", target)
    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as archive:
        index = json.load(archive.extractfile("index.json"))
        manifest = json.loads(blob(archive, index["manifests"][0]))
        config = json.loads(blob(archive, manifest["config"]))
        blob(archive, manifest["layers"][0])
    assert config["config"]["User"] == "65532:65532"
    labels = config["config"]["Labels"]
    assert labels["org.opencontainers.image.version"] == "1.2.3" and labels["org.opencontainers.image.source"].startswith("https://")


def test_the_bill_of_materials_names_every_library():
    document = json.loads(run(sys.executable, ROOT / "hack/sbom.py", PROGRAM, "1.2.3"))
    names = {package["name"] for package in document["packages"]}
    assert {"kubenodesmith", "libc6", "libssl3", "libstdc++6", "libboost-json1.81-dev"} <= names
    known = {package["SPDXID"] for package in document["packages"]} | {document["SPDXID"]}
    assert {link["relatedSpdxElement"] for link in document["relationships"]} <= known


def test_the_program_has_the_protections_that_the_release_documentation_lists():
    listed = (ROOT / "docs/releasing.md").read_text()
    table = run(sys.executable, ROOT / "hack/hardening.py", PROGRAM)
    assert table.count("| yes |") >= 8
    assert table in listed, table
