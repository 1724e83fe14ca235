"""Tests objects, Nodes and machines of the Go project's operator that ours takes over. Proven machines become ours, others
are left alone, and nothing is launched or removed meanwhile."""

import pytest

import manifests
import proxmox_world
from stack import Stack, condition, is_true, running_pods, wait_for, wait_until

GO_TAG = "kubenodesmith-managed"
POOL_LABEL = "topology.kubenodesmith.io/pool"
PROVEN, UNTAGGED = "workers-000001", "workers-000002"


def make_machine(stack, vmid, name, tags):
    """Calls the API as the Go operator's Proxmox backend does: a blank VM that boots from the network, without a chosen
    UUID."""
    proxmox_world.api(stack.proxmox, "POST", "/nodes/alfaromeo/qemu", vmid=vmid, name=name, cores=2, memory=4096, tags=tags,
                      net0="virtio,bridge=vmbr0", boot="order=net0")
    # A locked machine cannot start.
    wait_for("the machine", lambda: "lock" not in proxmox_world.machine_named(stack.proxmox, name)["config"])
    proxmox_world.api(stack.proxmox, "POST", f"/nodes/alfaromeo/qemu/{vmid}/status/start", timeout=30)
    wait_for("its Node", lambda: [n for n in stack.nodes() if n["metadata"]["name"] == name])
    # The Go operator patches only this at registration: no providerID, no taint.
    stack.cluster.kubectl("label", "node", name, f"{POOL_LABEL}=workers", f"kubenodesmith.io/nodeclaim={name}")


def make_claim(stack, name):
    """Makes a claim and the status that its reconciler wrote last."""
    pool = next(p for p in stack.objects("nodesmithpools") if p["metadata"]["name"] == "workers")
    claim = manifests.claim(name)
    claim["metadata"] |= {"labels": {POOL_LABEL: "workers"}, "finalizers": ["kubenodesmith.io/nodesmithclaim"], "ownerReferences": [{
        "apiVersion": manifests.API, "kind": "NodeSmithPool", "name": "workers", "uid": pool["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}]}
    claim["spec"]["idempotencyKey"] = "7f3c1c53-0c0e-4a3e-9d1f-6f3a6f3f7f01"
    stack.apply(claim)
    done = [{"type": kind, "status": "True", "reason": reason, "message": "", "lastTransitionTime": "2026-01-05T08:00:00Z"} for kind, reason in
            (("Launched", "MachineProvisioned"), ("Registered", "NodeRegistered"), ("Initialized", "NodeReady"), ("Ready", "NodeReady"))]
    status = {"providerID": f"proxmox://{name}", "nodeName": name, "launchAttempts": 0, "conditions": done}
    stack.cluster.api("PATCH", f"/apis/{manifests.API}/namespaces/{manifests.NAMESPACE}/nodesmithclaims/{name}/status", {"status": status}, "application/merge-patch+json")


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack"), netboot=True) as running:
        running.install_crds()
        # minNodes is what it had. Expiry and consolidation are off, so that only the take-over can change anything.
        running.apply(*manifests.everything(running.proxmox, limits={"minNodes": 2, "maxNodes": 3}, bootstrap={"method": "None"}, scaleDown={"policy": "Never"}))
        for vmid, name, tag in ((1000, PROVEN, GO_TAG), (1001, UNTAGGED, "by-hand")):
            make_machine(running, vmid, name, tag)
            make_claim(running, name)
        running.apply(manifests.deployment("shop", 2))
        wait_for("pods on the old nodes", lambda: len(running_pods(running.pods())) == 2)
        proxmox_world.wait_listed(running.proxmox, PROVEN, UNTAGGED)
        running.before = {n["metadata"]["name"]: n["metadata"]["uid"] for n in running.nodes()}
        running.pods_before = {p["metadata"]["uid"] for p in running.pods()}
        running.requests_before = len(running.proxmox.requests())
        running.operator.start().wait_ready()
        yield running


def claim_named(stack, name):
    return next(c for c in stack.claims() if c["metadata"]["name"] == name)


def changes_since(stack):
    """Returns the changes that were requested from Proxmox since our operator runs."""
    return [(r["method"], r["path"]) for r in stack.proxmox.requests()[stack.requests_before:] if r["method"] != "GET"]


def test_what_is_proven_is_adopted_and_what_is_not_says_why(stack):
    wait_for("the adoption", lambda: is_true(claim_named(stack, PROVEN), "Adopted"), 300)
    # The operator may first report something else, because it knows too little of a Proxmox or a Node.
    verdict = lambda: condition(claim_named(stack, UNTAGGED), "Adopted")
    refused = wait_until("the refusal", verdict, lambda c: f"it has no tag {GO_TAG}" in c["message"], 300)
    assert refused["status"] == "False"
    adopted = claim_named(stack, PROVEN)
    assert adopted["status"]["machineID"] == "1000" and adopted["status"]["host"] == "alfaromeo"
    assert adopted["status"]["providerID"].startswith("proxmox://") and adopted["status"]["providerID"].endswith("/vms/1000")
    wait_for("service as before", lambda: is_true(claim_named(stack, PROVEN), "Ready"))
    assert adopted["metadata"]["uid"] in proxmox_world.machine_named(stack.proxmox, PROVEN)["config"]["description"]
    assert "description" not in proxmox_world.machine_named(stack.proxmox, UNTAGGED)["config"]


def test_nothing_was_launched_or_removed_on_the_way(stack):
    wait_for("the pool's numbers", lambda: stack.objects("nodesmithpools")[0]["status"].get("nodes") == 2)
    assert {c["metadata"]["name"] for c in stack.claims()} == {PROVEN, UNTAGGED}
    assert {n["metadata"]["name"]: n["metadata"]["uid"] for n in stack.nodes()} == stack.before
    assert {p["metadata"]["uid"] for p in stack.pods()} == stack.pods_before
    # The operator wrote only the mark of the proven machine.
    assert {path.split("/qemu/")[1] for _, path in changes_since(stack)} == {"1000/config"}


def test_a_claim_without_proof_ends_only_when_the_user_says_that_its_machine_is_gone(stack):
    stack.cluster.kubectl("delete", "nsclaim", UNTAGGED, "-n", manifests.NAMESPACE, "--wait=false")
    wait_for("what stands against it", lambda: condition(claim_named(stack, UNTAGGED), "MachineDeleted").get("reason") == "NotAdopted", 240)
    assert proxmox_world.machine_named(stack.proxmox, UNTAGGED)["status"] == "running"
    stack.cluster.kubectl("annotate", "nodesmithclaim", UNTAGGED, "-n", manifests.NAMESPACE, "kubenodesmith.io/machine-gone=true")
    wait_for("its end", lambda: UNTAGGED not in {c["metadata"]["name"] for c in stack.claims()})
    assert proxmox_world.machine_named(stack.proxmox, UNTAGGED)["status"] == "running"


def test_an_adopted_machine_is_removed_like_any_other(stack):
    stack.cluster.kubectl("delete", "deployment", "shop", "-n", "default")
    stack.cluster.kubectl("delete", "nspool", "workers", "-n", manifests.NAMESPACE, "--wait=false")
    wait_for("the machine's end", lambda: not proxmox_world.machine_named(stack.proxmox, PROVEN), 240)
    wait_for("the Node's end", lambda: PROVEN not in {n["metadata"]["name"] for n in stack.nodes()})
    wait_for("the pool's end", lambda: not stack.claims() and not stack.objects("nodesmithpools"))
    assert proxmox_world.machine_named(stack.proxmox, UNTAGGED), "a machine that was never ours"
