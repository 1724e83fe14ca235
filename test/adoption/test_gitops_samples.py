"""The examples for Argo CD and Flux name what this repository holds, with values that the charts take."""

import json

import pytest
import yaml

from charts import helm, only
from conftest import ROOT, kustomize, objects

GITOPS = ROOT / "samples/gitops"
APPLICATIONS = {d["metadata"]["name"]: d for file in sorted((GITOPS / "argocd").glob("*.yaml")) for d in objects(file.read_text())}
SYNC = {(d["kind"], d["metadata"]["name"]): d for d in objects((GITOPS / "flux/sync.yaml").read_text())}
RELEASES = {d["metadata"]["name"]: d["spec"] for d in kustomize("samples/gitops/flux/operator")}
OBJECTS = kustomize("samples/gitops/objects")
KEPT = {"argocd.argoproj.io/sync-options": "Prune=false,Delete=false", "kustomize.toolkit.fluxcd.io/prune": "disabled"}


def rendered(path, values, *flags):
    done = helm(ROOT / path, *(word for key, value in values.items() for word in ("--set-json", f"{key}={json.dumps(value)}")), *flags, release="kubenodesmith")
    assert done.returncode == 0, done.stderr
    return objects(done.stdout)


def test_the_charts_take_the_values_of_the_examples():
    of_argo = APPLICATIONS["kubenodesmith"]["spec"]["source"]
    of_flux = RELEASES["kubenodesmith"]
    for path, values in ((of_argo["path"], of_argo["helm"]["valuesObject"]), (of_flux["chart"]["spec"]["chart"], of_flux["values"])):
        image = only(rendered(path, values), "Deployment")["spec"]["template"]["spec"]["containers"][0]["image"]
        assert image == "registry.example.com/kubenodesmith:0.1.0"
    assert len(rendered(RELEASES["kubenodesmith-crds"]["chart"]["spec"]["chart"], {})) == 5


def test_the_crds_come_once_and_before_the_operator():
    assert [d["name"] for d in RELEASES["kubenodesmith"]["dependsOn"]] == ["kubenodesmith-crds"]
    assert RELEASES["kubenodesmith"]["install"]["crds"] == RELEASES["kubenodesmith"]["upgrade"]["crds"] == "Skip"
    assert {release["targetNamespace"] for release in RELEASES.values()} == {"kubenodesmith-system"}
    assert all(release["releaseName"] == name for name, release in RELEASES.items()), "else objects are called after both namespace and name"


def test_paths_and_sources_of_the_examples_exist():
    for application in APPLICATIONS.values():
        assert (ROOT / application["spec"]["source"]["path"]).is_dir()
    source = {"kind": "GitRepository", "name": "kubenodesmith"}
    assert (source["kind"], source["name"]) in SYNC
    for (kind, _), each in SYNC.items():
        if kind == "Kustomization":
            assert (ROOT / each["spec"]["path"] / "kustomization.yaml").is_file() and each["spec"]["sourceRef"] == source
            assert each["spec"]["wait"] and each["spec"]["prune"]
    assert all(release["chart"]["spec"]["sourceRef"] == source for release in RELEASES.values())
    assert SYNC[("Kustomization", "kubenodesmith-objects")]["spec"]["dependsOn"] == [{"name": "kubenodesmith-operator"}]


def wave(thing):
    return int(thing["metadata"].get("annotations", {}).get("argocd.argoproj.io/sync-wave", 0))


def test_argo_cd_applies_secrets_before_providers_and_these_before_what_names_them():
    waves = {kind: {wave(d) for d in OBJECTS if d["kind"] == kind} for kind in ("ExternalSecret", "NodeSmithProvider", "NodeSmithPool", "NodeSmithControlPlane")}
    assert waves == {"ExternalSecret": {0}, "NodeSmithProvider": {1}, "NodeSmithPool": {2}, "NodeSmithControlPlane": {3}}


def test_external_secrets_make_the_secrets_that_providers_and_pools_name():
    secrets = {d["spec"]["target"]["name"]: d for d in OBJECTS if d["kind"] == "ExternalSecret"}
    (provider,) = (d for d in OBJECTS if d["kind"] == "NodeSmithProvider")
    credentials = secrets[provider["spec"]["credentialsSecretRef"]["name"]]
    assert {d["secretKey"] for d in credentials["spec"]["data"]} == {"PROXMOX_TOKEN_ID", "PROXMOX_SECRET"}
    assert all(d["spec"]["target"]["deletionPolicy"] == "Retain" for d in secrets.values())
    assert secrets["join-command"]["spec"]["target"]["template"]["metadata"]["labels"] == {"kubenodesmith.io/boot-data": "true"}
    assert all(d["metadata"]["namespace"] == "kubenodesmith" for d in OBJECTS if d["kind"] != "Namespace")


@pytest.mark.parametrize("folder", ["samples/homelab", "samples/gitops/objects", "config/default"])
def test_no_cascade_takes_a_namespace(folder):
    namespaces = [d for d in kustomize(folder) if d["kind"] == "Namespace"]
    assert namespaces
    for each in namespaces:
        assert KEPT.items() <= each["metadata"]["annotations"].items()


def test_a_cascade_of_the_operators_application_takes_nothing_by_default():
    assert "finalizers" not in APPLICATIONS["kubenodesmith"]["metadata"]
    documents = rendered("charts/kubenodesmith", {}, "--include-crds")
    for each in (d for d in documents if d["kind"] in ("CustomResourceDefinition", "Namespace")):
        assert KEPT.items() <= each["metadata"]["annotations"].items(), each["metadata"]["name"]
    assert yaml.safe_dump(documents).count("kind: Secret\n") == 0, "the chart holds no Secret that a cascade could take"
