"""Tests that a name proves nothing, nor does anything that a Node's own kubelet can write: its labels and its system UUID."""

import json

import manifests
import proxmox_world
from stack import condition, is_true, wait_for
from test_adversary_csr import Asker, forget_requests, silent_machine
from test_adversary_identity import victim_node

CLAIM_LABEL = "kubenodesmith.io/nodeclaim"
VICTIM = "control-plane-1"
VICTIM_UUID = "4c4c4544-0042-3510-8054-b4c04f4d3131"


def claim_named(stack, name):
    return next((claim for claim in stack.claims() if claim["metadata"]["name"] == name), None)


def node_named(stack, name):
    return stack.cluster.api("GET", f"/api/v1/nodes/{name}")


def reason_of(stack, name, kind):
    claim = claim_named(stack, name)
    return condition(claim, kind).get("reason") if claim else None


def test_a_claim_with_the_name_of_a_node_gets_no_machine_and_no_token(clean):
    stack = clean
    stack.cluster.api("POST", "/api/v1/nodes", victim_node(VICTIM, VICTIM_UUID))
    stack.apply(*manifests.everything(stack.proxmox), manifests.claim(VICTIM))
    wait_for("the claim to say why", lambda: reason_of(stack, VICTIM, "Launched") == "NameTaken")
    assert not stack.bootstrap_tokens() and not stack.proxmox.machines()
    # The owner removes the Node that has the name.
    stack.cluster.api("DELETE", f"/api/v1/nodes/{VICTIM}")
    wait_for("a machine", lambda: is_true(claim_named(stack, VICTIM), "Launched"), 120)


def test_no_certificate_is_approved_for_a_name_that_a_node_has_got_meanwhile(clean, tmp_path):
    stack = clean
    name = silent_machine(stack)
    thief = Asker.with_token(stack, tmp_path)
    stack.cluster.api("POST", "/api/v1/nodes", victim_node(name, VICTIM_UUID))
    assert thief.verdict("taken", name)[:2] == ("Denied", "NameTaken")
    assert not claim_named(stack, name)["status"].get("bootstrapKeySHA256")
    stack.cluster.api("DELETE", f"/api/v1/nodes/{name}")
    forget_requests(stack)


def test_a_kubelet_that_says_it_runs_on_a_claims_machine_gets_nothing(clean):
    stack = clean
    stack.cluster.api("POST", "/api/v1/nodes", victim_node("worker-by-hand", VICTIM_UUID))
    name = silent_machine(stack)
    stack.cluster.kubectl("patch", "nodesmithpool", "workers", "-n", manifests.NAMESPACE, "--type=merge",
                          "-p", json.dumps({"spec": {"machineTemplate": {"labels": {"node-restriction.kubernetes.io/team": "a"}}}}))
    uuid = claim_named(stack, name)["status"]["systemUUID"]
    # NodeRestriction lets each kubelet do this with its own Node.
    stack.cluster.kubectl("label", "node", "worker-by-hand", f"{CLAIM_LABEL}={name}", "--as=system:node:worker-by-hand", "--as-group=system:nodes")
    stack.cluster.api("PATCH", "/api/v1/nodes/worker-by-hand/status", {"status": {"nodeInfo": {"systemUUID": uuid}}}, "application/merge-patch+json")
    wait_for("the claim to say why", lambda: reason_of(stack, name, "Registered") == "NodeIdentityMismatch")
    assert f"can only join as Node {name}" in condition(claim_named(stack, name), "Registered")["message"]
    labels = node_named(stack, "worker-by-hand")["metadata"]["labels"]
    assert labels == {CLAIM_LABEL: name}
    assert stack.bootstrap_tokens()
    stack.cluster.api("DELETE", "/api/v1/nodes/worker-by-hand")


def test_a_name_that_got_a_certificate_is_not_used_again(clean, tmp_path):
    stack = clean
    name = silent_machine(stack)
    machine = proxmox_world.machine_named(stack.proxmox, name)["vmid"]
    thief = Asker.with_token(stack, tmp_path)
    assert thief.verdict("stolen", name)[:2] == ("Approved", "TokenOfThisNode")
    stack.cluster.kubectl("patch", "nodesmithpool", "workers", "-n", manifests.NAMESPACE, "--type=merge",
                          "-p", json.dumps({"spec": {"scaleUp": {"registrationTimeout": "1s"}}}))
    wait_for("the end of the claim", lambda: reason_of(stack, name, "Failed") == "CertificateIssued", 120)
    assert "create one with another name" in condition(claim_named(stack, name), "Failed")["message"]
    wait_for("the end of its machine", lambda: machine not in [m["vmid"] for m in stack.proxmox.machines()], 120)
    wait_for("a claim with another name", lambda: [c for c in stack.claims() if c["metadata"]["name"] != name], 120)
    assert claim_named(stack, name)["status"]["launchAttempts"] == 1
    assert name not in [m["name"] for m in stack.proxmox.machines()]
    forget_requests(stack)
