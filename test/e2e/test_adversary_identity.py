"""Tests attack S5 without admission policies: a person who writes the status of claims cannot make the operator act on Nodes
of others. The operator runs as its own ServiceAccount with config/rbac, so that the audit log has all of its requests."""

import json

import pytest

import manifests
from stack import Stack, condition, is_true, wait_for

NAMESPACE = manifests.NAMESPACE
API = "kubenodesmith.parawell.cloud"
# One Node of the control plane and one that somebody made by hand, with the UUIDs of their machines.
VICTIMS = {"control-plane-1": "4c4c4544-0042-3510-8054-b4c04f4d3131", "worker-by-hand": "4c4c4544-0042-3510-8054-b4c04f4d3132"}


def victim_node(name, uuid):
    labels = {"node-role.kubernetes.io/control-plane": ""} if name.startswith("control-plane") else {}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "spec": {"providerID": f"proxmox://elsewhere/vms/{uuid[-3:]}", "taints": [{"key": "ours-alone", "effect": "NoSchedule"}]},
            "status": {"nodeInfo": {key: uuid if key == "systemUUID" else "x" for key in (
                "machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion", "kubeletVersion", "kubeProxyVersion",
                "operatingSystem", "architecture")}}}


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        kubectl = running.cluster.kubectl
        running.run_as_its_account()
        kubectl("create", "role", "everything-of-ours", "-n", NAMESPACE, "--verb=*", f"--resource=*.{API}")
        kubectl("create", "rolebinding", "mallory", "-n", NAMESPACE, "--role=everything-of-ours", "--user=mallory")
        running.mallory = running.cluster.user_kubeconfig(running.folder / "mallory.kubeconfig", "mallory")
        for name, uuid in VICTIMS.items():
            running.cluster.api("POST", "/api/v1/nodes", victim_node(name, uuid))
        running.apply(*manifests.everything(running.proxmox, limits={"minNodes": 1, "maxNodes": 6}, scaleDown={"policy": "Never"}))
        running.operator.start().wait_ready()
        wait_for("a claim in service", lambda: [c for c in running.claims() if is_true(c, "Ready")], 120)
        yield running


def status_naming(name):
    return {"systemUUID": VICTIMS[name], "providerID": f"proxmox://elsewhere/vms/{VICTIMS[name][-3:]}", "nodeName": name}


def forge(stack, claim, status):
    stack.cluster.kubectl("patch", "nodesmithclaim", claim, "-n", NAMESPACE, "--subresource=status", "--type=merge",
                          "-p", json.dumps({"status": status}), kubeconfig=stack.mallory)


def writes_to_victims(stack):
    """Returns the operator's requests, except reads, about the victims and what runs there."""
    return [(event["verb"], event["objectRef"]["name"]) for event in stack.audit()
            if event["verb"] not in ("get", "list", "watch") and event.get("objectRef", {}).get("resource") == "nodes"
            and event["objectRef"].get("name") in VICTIMS]


def spec_of_victims(stack):
    nodes = {node["metadata"]["name"]: node for node in stack.nodes()}
    return {name: (nodes[name]["metadata"]["uid"], nodes[name]["metadata"].get("labels", {}), nodes[name]["spec"].get("taints")) for name in VICTIMS}


def claim_named(stack, name):
    return next((claim for claim in stack.claims() if claim["metadata"]["name"] == name), None)


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_claim_in_service_whose_status_names_another_node_is_put_right(stack, victim):
    before = spec_of_victims(stack)
    (honest,) = [claim for claim in stack.claims() if is_true(claim, "Ready")]
    name = honest["metadata"]["name"]
    forge(stack, name, status_naming(victim))

    def healed():
        status = claim_named(stack, name)["status"]
        return all(status[key] == honest["status"][key] for key in ("systemUUID", "nodeName"))
    wait_for("the status as it was", healed, 60)
    wait_for("service as before", lambda: is_true(claim_named(stack, name), "Ready"), 60)
    assert spec_of_victims(stack) == before
    assert writes_to_victims(stack) == []


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_claim_that_was_never_launched_takes_no_node(stack, victim):
    before = spec_of_victims(stack)
    name = f"forged-{victim}"
    stack.cluster.kubectl("create", "-f", "-", stdin=json.dumps(manifests.claim(name)), kubeconfig=stack.mallory)
    true = [{"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
            for kind in ("Adopted", "Launched", "Registered", "Initialized", "Ready")]
    forge(stack, name, {**status_naming(victim), "providerRef": "proxmox", "launchAttempts": 1, "conditions": true})
    # The claim is deleted immediately with the Node that it names. Its finalizer asks for the removal of machine and Node. The
    # operator, which finds no such machine, may already have ended it.
    stack.cluster.kubectl("annotate", "nodesmithclaim", name, "-n", NAMESPACE, "kubenodesmith.io/machine-gone=true",
                          kubeconfig=stack.mallory, check=False)
    stack.cluster.kubectl("delete", "nodesmithclaim", name, "-n", NAMESPACE, "--wait=false", kubeconfig=stack.mallory, check=False)
    wait_for("its end", lambda: claim_named(stack, name) is None, 120)
    assert spec_of_victims(stack) == before
    assert writes_to_victims(stack) == []


def test_a_claim_that_says_it_was_adopted_takes_no_node(stack):
    before = spec_of_victims(stack)
    (served,) = [claim for claim in stack.claims() if is_true(claim, "Ready")]
    stack.cluster.kubectl("create", "-f", "-", stdin=json.dumps(manifests.claim("forged-adoption")), kubeconfig=stack.mallory)
    true = [{"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
            for kind in ("Adopted", "Launched", "Registered", "Initialized", "Ready")]
    # The machine is another claim's, as its mark says.
    forge(stack, "forged-adoption", {**status_naming("worker-by-hand"), "providerRef": "proxmox", "launchAttempts": 1, "conditions": true,
                                     "host": served["status"]["host"], "machineID": served["status"]["machineID"]})
    wait_for("that it is not believed", lambda: not is_true(claim_named(stack, "forged-adoption") or {"status": {}}, "Ready"), 60)
    stack.cluster.kubectl("delete", "nodesmithclaim", "forged-adoption", "-n", NAMESPACE, "--wait=false", "--ignore-not-found", kubeconfig=stack.mallory)

    def ends_or_says_why():
        claim = claim_named(stack, "forged-adoption")
        reasons = {condition(claim, kind).get("reason") for kind in ("Drained", "MachineDeleted")} if claim else {"gone"}
        return reasons & {"gone", "NodeIdentityMismatch", "OwnershipMismatch"}
    wait_for("its end, or a word of what stands against it", ends_or_says_why, 60)
    assert spec_of_victims(stack) == before
    assert writes_to_victims(stack) == []
    machine = next(m for m in stack.proxmox.machines() if str(m["vmid"]) == served["status"]["machineID"])
    assert machine["status"] == "running" and is_true(claim_named(stack, served["metadata"]["name"]), "Ready")
