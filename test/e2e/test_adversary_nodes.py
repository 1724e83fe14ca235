"""Tests that a kubelet that lies once harms nobody afterwards, and that a BMC that lies gets no Node of others."""

import json

import manifests
from redfish import all_ready, delete_rack
from stack import condition, is_true, running_pods, wait_for
from test_adversary_identity import victim_node

NAMESPACE = manifests.NAMESPACE


def patch_status(stack, node, status):
    """Patches a Node's status as its own kubelet may do."""
    stack.cluster.api("PATCH", f"/api/v1/nodes/{node}/status", {"status": status}, "application/merge-patch+json")


def test_a_kubelet_that_once_offers_nothing_stops_no_pool(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox, limits={"minNodes": 1}, scaleDown={"policy": "Never"},
                                      template={"flexible": None, "sizes": [{"name": "one", "cpuCores": 4, "memoryMiB": 8192}]}))
    claim = wait_for("a claim in service", lambda: next((c for c in stack.claims() if is_true(c, "Ready")), None), 120)
    name = claim["status"]["nodeName"]
    truth = {key: stack.cluster.api("GET", f"/api/v1/nodes/{name}")["status"]["allocatable"][key] for key in ("cpu", "memory")}
    patch_status(stack, name, {"allocatable": {"cpu": "1m", "memory": "1Ki"}})
    # The operator believes a reserve that one Node shows up to a quarter of its machine above the expected one.
    reserved = lambda: stack.objects("nodesmithpools")[0]["status"].get("learnedReserved", {})
    wait_for("what the pool believes of it", lambda: reserved().get("cpuMillicores", 0) > 500, 60)
    assert reserved()["cpuMillicores"] < 2000
    patch_status(stack, name, {"allocatable": truth})

    stack.apply(manifests.deployment("shop", 3, cpu="2", memory="2Gi"))
    wait_for("machines for everybody's pods", lambda: len(running_pods(stack.pods())) == 3, 240)
    assert condition(stack.objects("nodesmithpools")[0], "Available").get("reason") != "NothingOffered"


def test_a_bmc_that_names_the_machine_of_others_gets_no_node_when_that_reboots(stack, rack):
    """The BMC of the first host reports the UUID of a foreign Node, whose machine boots again while a claim waits."""
    liar = rack.systems[0]
    for guest in rack.guests.values():
        guest.boot = lambda *_: None  # a host that is turned on joins nothing
    victim = victim_node("worker-by-hand", liar["uuid"])
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    stack.cluster.api("POST", "/api/v1/nodes", victim)
    patch_status(stack, "worker-by-hand", {"conditions": [ready]})
    labels = lambda: stack.cluster.api("GET", "/api/v1/nodes/worker-by-hand")["metadata"].get("labels", {})
    before = labels()

    given = [each for each in rack.manifests() if each["kind"] != "NodeSmithHost" or each["metadata"]["name"] == liar["name"]]
    for each in given:
        each["spec"].pop("nodeName", None) if each["kind"] == "NodeSmithHost" else None
    stack.apply(*given)
    wait_for("an examined host", lambda: all_ready(stack, 1))
    stack.apply(manifests.claim("taker", "metal", 8, 16384))
    claim = lambda: next((c for c in stack.claims() if c["metadata"]["name"] == "taker"), None)
    why = lambda: condition(claim(), "Registered")
    wait_for("the claim to say why it takes no Node", lambda: why().get("reason") == "NodeIdentityMismatch", 240)

    for status, at in (("False", "2099-01-01T00:00:00Z"), ("True", "2099-01-01T00:00:10Z")):
        patch_status(stack, "worker-by-hand", {"conditions": [{**ready, "status": status, "lastTransitionTime": at}]})
    patched = json.dumps({"metadata": {"annotations": {"kubenodesmith.io/test": "look again"}}})
    stack.cluster.kubectl("patch", "nodesmithclaim", "taker", "-n", NAMESPACE, "--type=merge", "-p", patched)
    assert why()["status"] != "True" and "nodeName" not in claim()["status"]

    # The deletion of the claim deletes nothing of that Node. The claim asks for a person who knows whose the Node is.
    stack.cluster.kubectl("delete", "nodesmithclaim", "taker", "-n", NAMESPACE, "--wait=false")
    wait_for("the claim to ask a person", lambda: "machine-gone=true" in json.dumps(claim()["status"]["conditions"]), 120)
    assert labels() == before
    writes = [(e["verb"], e["objectRef"].get("subresource")) for e in stack.audit() if e["verb"] not in ("get", "list", "watch")
              and e.get("objectRef", {}).get("resource") == "nodes" and e["objectRef"].get("name") == "worker-by-hand"]
    assert not writes
    stack.cluster.api("DELETE", "/api/v1/nodes/worker-by-hand")
    wait_for("the end of the claim", lambda: claim() is None, 300)
    delete_rack(stack)
