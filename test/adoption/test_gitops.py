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


def pool(*conditions, kind="NodeSmithPool", observed=3, **metadata):
    keys = ("type", "status", "reason", "message")
    return {"kind": kind, "metadata": {"generation": 3, **metadata},
            "status": {"observedGeneration": observed, "conditions": [dict(zip(keys, (*c, "text"))) for c in conditions]}}


@pytest.mark.parametrize("thing,health", [
    (pool(("Ready", "True", "Ready")), "Healthy"),
    (pool(("Ready", "False", "ProviderMissing")), "Degraded"),
    (pool(("Ready", "False", "NotSelected")), "Suspended"),
    (pool(("Ready", "Unknown", "Waiting")), "Progressing"),
    (pool(("Ready", "True", "Ready"), observed=2), "Progressing"),
    (pool(("Ready", "True", "Ready"), deletionTimestamp="2026-01-01T00:00:00Z"), "Progressing"),
    (pool(("Ready", "False", "Waiting"), kind="NodeSmithClaim"), "Progressing"),
    (pool(("Failed", "True", "LaunchAttemptsExceeded"), ("Ready", "False", "x"), kind="NodeSmithClaim"), "Degraded"),
    ({"kind": "NodeSmithPool", "metadata": {"generation": 1}}, "Progressing"),
])
def test_health(thing, health):
    assert health_of(thing) == health


def test_the_application_deploys_what_this_repository_holds():
    (application,) = objects((ROOT / "config/argocd/application.yaml").read_text())
    assert (ROOT / application["spec"]["source"]["path"] / "kustomization.yaml").exists()
    assert "ServerSideApply=true" in application["spec"]["syncPolicy"]["syncOptions"]
