"""A release has all its artifacts, which can be verified and are the same each time."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from datetime import datetime, timezone
from pathlib import Path

import pytest
import yaml

from conftest import ROOT, judge, objects, run, tool

sys.path.insert(0, str(ROOT / "hack"))
import sbom  # noqa: E402

PROGRAM = Path(os.environ.get("KUBENODESMITH_BIN") or ROOT / "build/release/bin") / "kubenodesmith"
VERSION = yaml.safe_load((ROOT / "charts/kubenodesmith/Chart.yaml").read_text())["version"]
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
DATED = {**os.environ, "SOURCE_DATE_EPOCH": "1790000000"}


def release(*argv, check=True, environment=None):
    command = [sys.executable, ROOT / "hack/release.py", "--kubectl", tool("kubectl"), *argv]
    return subprocess.run(command, env=environment or DATED, check=check, capture_output=True, text=True)


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release") / "first"
    release("--image", "registry.example.com:5000/kubenodesmith:latest", "--out", folder, PROGRAM)
    return folder


def test_it_has_every_artifact_and_sums_over_all(dist):
    names = {file.name for file in dist.iterdir()}
    assert names == {f"kubectl-nodesmith_{VERSION}_linux_{ARCHITECTURE}.tar.gz", f"kubenodesmith_{VERSION}_linux_{ARCHITECTURE}.oci.tar",
                     f"kubenodesmith_{VERSION}_linux_{ARCHITECTURE}.spdx.json", f"kubenodesmith-{VERSION}.tgz", f"kubenodesmith-crds-{VERSION}.tgz",
                     "install.yaml", "nodesmith.yaml", "SHA256SUMS"}
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=dist)
    assert {line.split()[1] for line in (dist / "SHA256SUMS").read_text().splitlines()} == names - {"SHA256SUMS"}


def test_the_same_sources_make_the_same_bytes_and_architectures_join(dist, tmp_path):
    release("--image", "registry.example.com:5000/kubenodesmith", "--out", tmp_path / "second", PROGRAM)
    assert (tmp_path / "second/SHA256SUMS").read_text() == (dist / "SHA256SUMS").read_text()
    for file in list((tmp_path / "second").glob(f"*_{ARCHITECTURE}.*")):
        file.rename(file.with_name(file.name.replace(ARCHITECTURE, "other")))
    release("--out", tmp_path / "joined", "--join", dist, tmp_path / "second")
    krew = yaml.safe_load((tmp_path / "joined/nodesmith.yaml").read_text())
    assert {p["selector"]["matchLabels"]["arch"] for p in krew["spec"]["platforms"]} == {ARCHITECTURE, "other"}
    (tmp_path / "second/install.yaml").write_text("")
    refused = release("--out", tmp_path / "differ", "--join", dist, tmp_path / "second", check=False)
    assert refused.returncode != 0 and "differs from the one of another architecture" in refused.stderr


def times_in(folder):
    """Returns the times at which image, bill of materials and charts say that they were made."""
    with tarfile.open(folder / f"kubenodesmith_{VERSION}_linux_{ARCHITECTURE}.oci.tar") as tar:
        def blob(name):
            return json.load(tar.extractfile(name))
        manifest = blob("blobs/" + blob("index.json")["manifests"][0]["digest"].replace(":", "/"))
        config = blob("blobs/" + manifest["config"]["digest"].replace(":", "/"))
    materials = json.loads((folder / f"kubenodesmith_{VERSION}_linux_{ARCHITECTURE}.spdx.json").read_text())
    with tarfile.open(folder / f"kubenodesmith-{VERSION}.tgz") as tar:
        (charts,) = {member.mtime for member in tar.getmembers()}
    return [config["created"], config["history"][0]["created"], materials["creationInfo"]["created"],
            datetime.fromtimestamp(charts, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")]


def test_all_artifacts_have_one_time_that_of_the_commit_or_the_given_one(dist, tmp_path):
    assert times_in(dist) == ["2026-09-21T14:13:20Z"] * 4
    undated = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    release("--image", "registry.example.com:5000/kubenodesmith", "--out", tmp_path / "undated", PROGRAM, environment=undated)
    commit = datetime.fromtimestamp(int(run("git", "-C", ROOT, "log", "-1", "--format=%ct")), timezone.utc)
    assert times_in(tmp_path / "undated") == [commit.strftime("%Y-%m-%dT%H:%M:%SZ")] * 4


def images(documents):
    return {c["image"] for d in documents if d["kind"] == "Deployment" for c in d["spec"]["template"]["spec"]["containers"]}


def test_helm_takes_its_charts_and_kubectl_its_manifest(dist):
    for name, kind in (("kubenodesmith", "Deployment"), ("kubenodesmith-crds", "CustomResourceDefinition")):
        archive = dist / f"{name}-{VERSION}.tgz"
        assert run(tool("helm"), "show", "readme", archive).startswith("# ")
        rendered = objects(run(tool("helm"), "template", "kns", archive, "--kube-version=v1.36.0"))
        assert kind in {d["kind"] for d in rendered}
        assert images(rendered) <= {f"registry.example.com:5000/kubenodesmith:{VERSION}"}
    documents = objects((dist / "install.yaml").read_text())
    assert images(documents) == {f"registry.example.com:5000/kubenodesmith:{VERSION}"}
    assert sum(d["kind"] == "CustomResourceDefinition" for d in documents) == 5


def test_its_plugin_runs_and_krew_finds_it(dist, tmp_path):
    manifest = yaml.safe_load((dist / "nodesmith.yaml").read_text())
    (platform,) = manifest["spec"]["platforms"]
    archive = dist / platform["uri"].rsplit("/", 1)[1]
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == platform["sha256"]
    with tarfile.open(archive) as tar:
        assert {entry["from"] for entry in platform["files"]} == set(tar.getnames())
        tar.extractall(tmp_path, filter="data")
    assert VERSION in run(tmp_path / platform["bin"], "version")


def test_the_program_needs_no_newer_libraries_than_the_documentation_says():
    needed = {}
    for name, number in re.findall(r"\b(GLIBC|GLIBCXX|OPENSSL)_([0-9.]+)", run("objdump", "-T", PROGRAM)):
        needed[name] = max(needed.get(name, (0,)), tuple(int(part) for part in number.split(".")))
    (row,) = [line for line in (ROOT / "docs/compatibility.md").read_text().splitlines() if line.startswith("| plugin of kubectl |")]
    stated = dict(zip(("GLIBC", "GLIBCXX", "OPENSSL"), re.findall(r"(?:glibc|libstdc\+\+|OpenSSL) ([0-9.]+)", row)))
    for name, number in needed.items():
        assert number <= (*(int(part) for part in stated[name].split(".")), 0), (name, number)


def test_its_bill_of_materials_has_the_minimum_elements_of_ntia(dist):
    """Author and time of the document; supplier, name, version, unique identifier and relationship of each part."""
    document = json.loads((dist / f"kubenodesmith_{VERSION}_linux_{ARCHITECTURE}.spdx.json").read_text())
    assert document["creationInfo"]["created"] == "2026-09-21T14:13:20Z"
    assert any(creator.startswith("Organization: ") for creator in document["creationInfo"]["creators"])
    related = {link[end] for link in document["relationships"] for end in ("spdxElementId", "relatedSpdxElement")}
    for package in document["packages"]:
        assert package["name"] and package["versionInfo"] and package["supplier"].startswith("Organization: "), package
        assert {ref["referenceType"] for ref in package["externalRefs"]} == {"purl"}, package
        assert package["SPDXID"] in related
    assert "DESCRIBES" in {link["relationshipType"] for link in document["relationships"]}


def test_its_bill_of_materials_has_the_licence_of_each_part_and_the_source_of_static_ones(dist):
    document = json.loads((dist / f"kubenodesmith_{VERSION}_linux_{ARCHITECTURE}.spdx.json").read_text())
    static = {link["relatedSpdxElement"] for link in document["relationships"] if link["relationshipType"] == "STATIC_LINK"}
    assert static
    for package in document["packages"]:
        assert package["licenseDeclared"] in {*sbom.LICENSES.values(), "MIT"}, package
        purls = [ref["referenceLocator"] for ref in package["externalRefs"]]
        assert all(re.fullmatch(r"pkg:(deb/debian|generic)/[\w.%-]+@[\w.~:%-]+(\?arch=\w+&distro=\w+)?", text) for text in purls), purls
        assert any("arch=source" in text for text in purls) == (package["SPDXID"] in static), purls


def test_debian_declares_the_licences_of_the_bill_of_materials(dist):
    words = {"BSL-1.0": "BSL-1.0", "MPL-2.0": "MPL-2.0", "GPL-2.0-or-later": r"GPL-2\+", "BSD-3-Clause": "BSD-3-clause", "MIT": "Expat|X11",
             "GPL-3.0-or-later": "GNU General Public License.*version 3", "GCC-exception-3.1": "GCC RUNTIME LIBRARY EXCEPTION",
             "LGPL-2.1-or-later": "GNU Lesser General Public.*version 2.1", "Apache-2.0": "Apache-2.0"}
    document = json.loads((dist / f"kubenodesmith_{VERSION}_linux_{ARCHITECTURE}.spdx.json").read_text())
    parts = [package for package in document["packages"] if package["supplier"] == "Organization: Debian"]
    assert {sbom.license_key(package["sourceInfo"].split()[3]) for package in parts} == set(sbom.LICENSES)
    for package in parts:
        text = Path(f"/usr/share/doc/{package['name']}/copyright").read_text()
        for licence in re.split(r" (?:AND|WITH) ", package["licenseDeclared"]):
            assert re.search(words[licence], text, re.DOTALL), (package["name"], licence)


def test_every_file_has_a_licence():
    stated = tomllib.loads((ROOT / "REUSE.toml").read_text())
    assert stated["version"] == 1
    (everything,) = stated["annotations"]
    assert everything["path"] == "**" and everything["SPDX-License-Identifier"] == "MIT"
    assert (ROOT / "LICENSES/MIT.txt").read_text() == (ROOT / "LICENSE").read_text()
    assert everything["SPDX-FileCopyrightText"] in (ROOT / "LICENSE").read_text()


def test_workflows_have_no_findings():
    run(judge("actionlint"), "-color=false", *sorted((ROOT / ".github/workflows").glob("*.yaml")))


def test_workflows_name_actions_by_their_commit():
    uses = [(file.name, use) for file in (ROOT / ".github/workflows").glob("*.yaml") for use in re.findall(r"uses: (.*)", file.read_text())]
    assert len(uses) > 5
    assert [use for use in uses if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}  # v[0-9.]+", use[1])] == []


def test_the_release_workflow_publishes_and_signs_each_kind_of_artifact():
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yaml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    text = "\n".join([step.get("run", "") + step.get("uses", "") for step in steps])
    for word in ("make release", "skopeo copy", "imagetools create", "helm push", "cosign sign --yes --recursive", "cosign sign-blob",
                 "attest-build-provenance", "attest-sbom", "gh release create"):
        assert word in text, word
    assert workflow["permissions"] == {"contents": "read"}
    assert {m["architecture"] for m in workflow["jobs"]["build"]["strategy"]["matrix"]["include"]} == {"amd64", "arm64"}


def test_the_forms_of_the_repository_are_there():
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", ".github/CODEOWNERS", ".github/PULL_REQUEST_TEMPLATE.md"):
        assert (ROOT / name).read_text().strip(), name
    for form in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"):
        content = yaml.safe_load(form.read_text())
        assert "contact_links" in content or {"name", "description", "body"} <= set(content), form
    owned = [line.split() for line in (ROOT / ".github/CODEOWNERS").read_text().splitlines() if line and not line.startswith("#")]
    assert all(len(words) > 1 and (words[0] == "*" or (ROOT / words[0].strip("/")).exists()) for words in owned)
