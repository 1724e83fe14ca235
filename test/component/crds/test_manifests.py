"""Tests that objects of users are accepted and shown as documented."""

import json
from pathlib import Path

import pytest
import yaml

from conftest import NAMESPACE, ROOT
from objects import build

SAMPLES = ROOT / "samples"
GO_PROJECT = Path(__file__).resolve().parent / "go_project"
KINDS = {"nsprovider": "nodesmithproviders", "nshost": "nodesmithhosts", "nspool": "nodesmithpools",
         "nsclaim": "nodesmithclaims", "nscp": "nodesmithcontrolplanes"}


@pytest.mark.parametrize("folder", ["homelab", "netboot", "bare-metal", "demo", "dual-stack"])
@pytest.mark.parametrize("how", ["client-side", "server-side"])
def test_samples_apply_and_apply_again_without_a_change(clean, folder, how):
    flags = ["--server-side"] if how == "server-side" else []
    clean.kubectl("apply", *flags, "--validate=strict", "-k", SAMPLES / folder)
    # The first change after the creation also stores the default status, unless an operator has written one by then.
    clean.kubectl("apply", *flags, "-k", SAMPLES / folder)
    versions = lambda: clean.kubectl("get", "kubenodesmith", "-n", NAMESPACE, "-o", "jsonpath={.items[*].metadata.resourceVersion}")
    before = versions()
    clean.kubectl("apply", *flags, "-k", SAMPLES / folder)
    assert before and versions() == before


def test_a_claim_by_hand_and_the_workloads_apply(clean):
    clean.kubectl("apply", "--validate=strict", "-f", SAMPLES / "claim.yaml")
    clean.kubectl("apply", "--validate=strict", "--dry-run=server", "-f", SAMPLES / "workloads")
    clean.kubectl("apply", "--validate=strict", "--dry-run=server", "-f", SAMPLES / "formats")


def test_the_commands_of_the_go_project_apply_our_samples(clean):
    clean.kubectl("apply", "--validate=strict", "-k", ROOT / "config/samples")
    assert clean.kubectl("get", "nsprovider,nspool,nscp", "-n", NAMESPACE, "-o", "name").split()
    clean.kubectl("apply", "--validate=strict", "--dry-run=server", "-f", ROOT / "config/samples/test-workloads/echoserver.yaml")


def test_what_git_holds_for_argo_cd_and_flux_applies(clean):
    """But for the External Secrets, whose kind another project has; test/adoption/test_gitops_samples.py reads those."""
    made = clean.kubectl("kustomize", SAMPLES / "gitops/objects")
    ours = [d for d in yaml.safe_load_all(made) if d["kind"] != "ExternalSecret"]
    clean.kubectl("apply", "--server-side", "--validate=strict", "-f", "-", stdin="\n---\n".join(map(json.dumps, ours)))


def test_every_sample_is_covered_by_these_tests():
    covered = {"homelab", "netboot", "bare-metal", "demo", "dual-stack", "formats", "workloads", "claim.yaml", "gitops"}
    assert {path.name for path in SAMPLES.iterdir()} == covered


@pytest.mark.parametrize("file", ["provider.yaml", "pool.yaml", "control-plane.yaml", "claim.yaml"])
def test_manifests_of_the_go_project_apply_unchanged(clean, file):
    wanted = yaml.safe_load((GO_PROJECT / file).read_text())
    clean.kubectl("apply", "--validate=strict", "-f", GO_PROJECT / file)
    kind, name = wanted["kind"], wanted["metadata"]["name"]
    got = json.loads(clean.kubectl("get", kind, name, "-n", NAMESPACE, "-o", "json"))
    assert holds(got["spec"], wanted["spec"])
    clean.kubectl("patch", kind, name, "-n", NAMESPACE, "--type=merge", "-p", '{"metadata": {"finalizers": null}}')


def holds(whole, part):
    """Reports whether `whole` contains everything in `part`."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and holds(whole[key], value) for key, value in part.items())
    return whole == part


def test_the_status_of_the_go_project_is_accepted(clean):
    clean.kubectl("apply", "-f", GO_PROJECT / "claim.yaml")
    condition = {"status": "True", "lastTransitionTime": "2026-01-31T12:00:00Z", "message": ""}
    status = {"providerID": "proxmox://proxmox-small-000007", "nodeName": "proxmox-small-000007", "launchAttempts": 0,
              "conditions": [{"type": kind, "reason": kind, **condition} for kind in ("Launched", "Registered", "Ready")]}
    clean.kubectl("patch", "nsclaim", "proxmox-small-000007", "-n", NAMESPACE, "--subresource=status", "--type=merge",
                  "-p", json.dumps({"status": status, "metadata": {"finalizers": None}}))
    got = json.loads(clean.kubectl("get", "nsclaim", "proxmox-small-000007", "-n", NAMESPACE, "-o", "json"))
    assert got["status"] == {"observedGeneration": -1, **status}
    clean.kubectl("patch", "nsclaim", "proxmox-small-000007", "-n", NAMESPACE, "--type=merge", "-p", '{"metadata": {"finalizers": null}}')


@pytest.mark.parametrize("short,plural", KINDS.items())
def test_crds_are_established_under_their_names(cluster, short, plural):
    crd = json.loads(cluster.kubectl("get", "crd", f"{plural}.kubenodesmith.parawell.cloud", "-o", "json"))
    conditions = {c["type"]: c["status"] for c in crd["status"]["conditions"]}
    assert conditions["Established"] == conditions["NamesAccepted"] == "True"
    assert conditions.get("NonStructuralSchema", "False") == "False"
    assert crd["spec"]["names"]["shortNames"] == [short]
    cluster.kubectl("get", short, "-n", NAMESPACE)


def test_crds_may_be_applied_client_side_and_the_annotation_fits(cluster):
    cluster.kubectl("apply", "-k", ROOT / "crds")


COLUMNS = {
    "NodeSmithProvider": ("TYPE ENDPOINT READY MACHINES AGE", "VERSION REASON"),
    "NodeSmithHost": ("PROVIDER STATUS POWER HEALTH CLAIM CPU MEMORY AGE", "ADDRESS UUID DISKS PORTS PHASE"),
    "NodeSmithPool": ("PROVIDER NODES READY PENDING MIN MAX CPU MEMORY AVAILABLE AGE", "WEIGHT FAILED REASON"),
    "NodeSmithClaim": ("POOL SIZE HOST NODE PHASE READY AGE", "PROVIDERID ATTEMPTS REASON"),
    "NodeSmithControlPlane": ("POOLS NODES PENDING READY MODE AGE", "CLAIMS REASON LAST SYNC"),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_kubectl_get_shows_the_documented_columns(clean, kind):
    clean.kubectl("create", "-f", "-", stdin=json.dumps(build(kind)))
    usual, wide = COLUMNS[kind]
    assert clean.kubectl("get", kind, "-n", NAMESPACE).splitlines()[0].split() == ["NAME", *usual.split()]
    assert set(clean.kubectl("get", kind, "-n", NAMESPACE, "-o", "wide").splitlines()[0].split()) == {
        "NAME", *usual.split(), *wide.split()}


def test_columns_show_what_the_status_says(clean):
    clean.kubectl("create", "-f", "-", stdin=json.dumps(build("NodeSmithClaim")))
    condition = {"type": "Ready", "status": "True", "reason": "Ready", "lastTransitionTime": "2026-01-31T12:00:00Z"}
    status = {"phase": "Ready", "size": "4c/8Gi", "host": "porsche", "nodeName": "general-abcde", "launchAttempts": 1,
              "providerID": "proxmox://c/vms/1251", "conditions": [condition]}
    clean.kubectl("patch", "nsclaim", "valid", "-n", NAMESPACE, "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
    line = clean.kubectl("get", "nsclaim", "-n", NAMESPACE, "-o", "wide").splitlines()[1].split()
    assert line[:7] == ["valid", "general", "4c/8Gi", "porsche", "general-abcde", "Ready", "True"]
    assert {"proxmox://c/vms/1251", "1"} <= set(line)


@pytest.mark.parametrize("kind", COLUMNS)
def test_kubectl_explain_describes_every_field(cluster, kind):
    text = cluster.kubectl("explain", "--recursive", kind)
    assert "spec" in text and "status" in text
    for part in ("spec", "status"):
        assert "<no description>" not in cluster.kubectl("explain", f"{kind}.{part}").replace("<empty>", "<no description>")
