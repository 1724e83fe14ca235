"""Tests that Argo CD's health check and kstatus report what the conditions of our objects say."""

import json

import pytest
import yaml

from conftest import ROOT, judge, kustomize, objects, run, tool

HEALTH = ROOT / "config/argocd/health.yaml"
PREFIX = "resource.customizations.health.kubenodesmith.parawell.cloud_"


def patched(data):
    """Returns the data of an argocd-cm after the documented command, which kubectl executes without a cluster."""
    (command,) = [line.split(": ", 1)[1] for line in HEALTH.read_text().splitlines() if "kubectl patch" in line]
    words = command.split()
    assert words[:4] == ["kubectl", "patch", "configmap", "argocd-cm"]
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm", "namespace": "argocd"}, "data": data}
    flags = [word for word in words[4:] if word not in ("-n", "argocd")]
    done = run(tool("kubectl"), "patch", "--local", "-f", "-", "-o", "json", *flags, input=json.dumps(config), cwd=ROOT)
    return json.loads(done)["data"]


def scripts():
    """Returns the health script of each kind, by kind."""
    data = yaml.safe_load(HEALTH.read_text())["data"]
    return {key.removeprefix(PREFIX): script for key, script in data.items()}


def lua(value):
    """Returns a value as a Lua expression."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{json.dumps(key)}] = {lua(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ", ".join(lua(member) for member in value) + "}"
    return json.dumps(value)


def health_of(thing):
    program = f"local obj = {lua(thing)}\nlocal function health()\n{scripts()[thing['kind']]}\nend\nprint(health().status)"
    return run("lua5.3", "-", input=program).strip()


def kstatus_of(thing):
    """Returns what kstatus says, by which Flux and other tools that know no custom resource decide whether an object is ready."""
    known = {"apiVersion": "kubenodesmith.parawell.cloud/v1alpha1", **thing}
    return run(judge("kstatus"), input=json.dumps([known])).strip()


COURSES = objects((ROOT / "test/adoption/courses.yaml").read_text())


@pytest.mark.parametrize("thing", COURSES, ids=[f"{thing['kind']} {thing['metadata']['name']}" for thing in COURSES])
def test_argo_cd_agrees_with_what_the_operator_says(thing):
    assert health_of(thing) == thing["metadata"]["annotations"]["argo"]


@pytest.mark.parametrize("thing", COURSES, ids=[f"{thing['kind']} {thing['metadata']['name']}" for thing in COURSES])
def test_kstatus_agrees_with_what_the_operator_says(thing):
    assert kstatus_of(thing) == thing["metadata"]["annotations"]["kstatus"]


def test_the_command_for_argo_cd_keeps_every_other_customization():
    others = {
        "resource.customizations": "cert-manager.io/Certificate:\n  health.lua: return {status = 'Healthy'}\n",
        "resource.customizations.health.apps_Deployment": "return {status = 'Healthy'}\n",
        "resource.customizations.ignoreDifferences.all": "managedFieldsManagers: [kube-controller-manager]\n",
        "url": "https://argocd.example.com"}
    after = patched(others)
    assert {key: after[key] for key in others} == others
    assert {key: value for key, value in after.items() if key not in others} == {PREFIX + kind: script for kind, script in scripts().items()}
    assert patched(after) == after


def test_each_kind_has_its_health_under_its_own_key():
    assert set(scripts()) == {d["spec"]["names"]["kind"] for d in kustomize("crds")}
    assert len(set(scripts().values())) == 1


def test_argo_cd_and_flux_keep_what_holds_the_objects_of_users():
    kept = [d for d in kustomize("config/default") if d["kind"] in ("Namespace", "CustomResourceDefinition")]
    assert {d["metadata"]["name"] for d in kept if d["kind"] == "Namespace"} == {"kubenodesmith", "kubenodesmith-system"}
    for each in kept:
        annotations = each["metadata"]["annotations"]
        assert annotations["argocd.argoproj.io/sync-options"] == "Prune=false,Delete=false", each["metadata"]["name"]
        assert annotations["kustomize.toolkit.fluxcd.io/prune"] == "disabled", each["metadata"]["name"]


UNSEEN = [{"kind": crd["spec"]["names"]["kind"], "metadata": {"generation": 1},
           "status": crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"].get("default")} for crd in kustomize("crds")]


@pytest.mark.parametrize("thing", UNSEEN, ids=[thing["kind"] for thing in UNSEEN])
def test_what_the_operator_has_not_seen_yet_is_progressing(thing):
    """As the API server stores it, with the default status of its CRD."""
    assert health_of(thing) == "Progressing"
    assert kstatus_of(thing) == "InProgress"


def test_what_was_stored_before_its_crd_had_a_default_status_is_progressing():
    assert health_of({"kind": "NodeSmithPool", "metadata": {"generation": 1}}) == "Progressing"


def test_the_application_deploys_what_this_repository_holds():
    (application,) = objects((ROOT / "config/argocd/application.yaml").read_text())
    assert (ROOT / application["spec"]["source"]["path"] / "kustomization.yaml").exists()
    assert "ServerSideApply=true" in application["spec"]["syncPolicy"]["syncOptions"]
