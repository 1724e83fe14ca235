"""Argo CD's health check says of our objects what their conditions say."""

import json

import pytest
import yaml

from conftest import ROOT, objects, optional_tool, run

HEALTH = ROOT / "config/argocd/health.yaml"


def script():
    customizations = yaml.safe_load(yaml.safe_load(HEALTH.read_text())["data"]["resource.customizations"])
    return customizations["kubenodesmith.parawell.cloud/*"]["health.lua"]


def lua(value):
    """A value as a Lua expression."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{json.dumps(key)}] = {lua(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ", ".join(lua(member) for member in value) + "}"
    return json.dumps(value)


def health_of(thing):
    program = f"local obj = {lua(thing)}\nlocal function health()\n{script()}\nend\nprint(health().status)"
    return run(optional_tool("lua5.3"), "-", input=program).strip()


def kstatus_of(thing):
    """As kstatus (Flux, cli-utils) decides without knowing the kind."""
    metadata, status = thing["metadata"], thing.get("status", {})
    if "deletionTimestamp" in metadata:
        return "Terminating"
    if status.get("observedGeneration", metadata["generation"]) != metadata["generation"]:
        return "InProgress"
    conditions = status.get("conditions", [])
    for condition in conditions:
        if condition["status"] == "True" and condition["type"] in ("Reconciling", "Stalled"):
            return {"Reconciling": "InProgress", "Stalled": "Failed"}[condition["type"]]
    ready = [condition["status"] for condition in conditions if condition["type"] == "Ready"]
    return "Current" if ready in ([], ["True"]) else "InProgress"


COURSES = objects((ROOT / "test/adoption/courses.yaml").read_text())


@pytest.mark.parametrize("thing", COURSES, ids=[f"{thing['kind']} {thing['metadata']['name']}" for thing in COURSES])
def test_argo_cd_and_kstatus_agree_with_what_the_operator_says(thing):
    expected = thing["metadata"]["annotations"]
    assert kstatus_of(thing) == expected["kstatus"]
    assert health_of(thing) == expected["argo"]


def test_what_the_operator_has_not_seen_yet_is_progressing():
    assert health_of({"kind": "NodeSmithPool", "metadata": {"generation": 1}}) == "Progressing"


def test_the_application_deploys_what_this_repository_holds():
    (application,) = objects((ROOT / "config/argocd/application.yaml").read_text())
    assert (ROOT / application["spec"]["source"]["path"] / "kustomization.yaml").exists()
    assert "ServerSideApply=true" in application["spec"]["syncPolicy"]["syncOptions"]
