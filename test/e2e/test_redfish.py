"""Tests bare metal as a user sees it: pods wake servers, idle servers are drained and power off."""

import json
import time
from datetime import datetime

import manifests
from redfish import NAMESPACE, all_ready, delete_rack, hosts
from stack import condition, is_true, running_pods, wait_for, wait_until

GPU = "example.org/gpu"


def test_a_host_without_its_secret_says_so_at_first_sight(stack, rack):
    stack.apply(*(each for each in rack.manifests() if each["kind"] not in ("Secret", "NodeSmithPool")))

    def first_status():
        lines = stack.cluster.kubectl("get", "nshost", "-n", NAMESPACE, "--no-headers").splitlines()
        return [line.split()[2] for line in lines]
    wait_for("the reason in the first column after name and provider", lambda: first_status() == ["SecretMissing"] * 2)
    stack.cluster.kubectl("-n", NAMESPACE, "delete", "nodesmithhosts,nodesmithproviders", "--all", "--timeout=120s")


def test_pods_wake_a_server_and_an_idle_server_powers_off(stack, rack):
    stack.apply(*rack.manifests())
    wait_for("two examined hosts", lambda: all_ready(stack, 2))
    assert set(rack.power_states().values()) == {"Off"}

    stack.apply(manifests.deployment("shop", 2, cpu="3"))
    wait_for("the pods running on a woken server", lambda: len(running_pods(stack.pods())) == 2, 240)
    wait_for("a Ready claim", lambda: [c for c in stack.claims() if is_true(c, "Ready")])
    (claim,) = stack.claims()
    host = claim["status"]["host"]
    assert rack.power_states()[host] == "On"
    assert sorted(rack.power_states().values()) == ["Off", "On"], "one server holds both pods"
    (node,) = stack.nodes()
    assert node["metadata"]["name"] == host == claim["status"]["nodeName"]
    assert node["spec"]["providerID"] == claim["status"]["providerID"] == f"redfish://rack/{host}"
    assert node["metadata"]["labels"]["kubenodesmith.io/host"] == host
    status = lambda: hosts(stack)[host]["status"]
    wait_for("a host in use", lambda: status()["phase"] == "InUse" and status().get("wakeSeconds", 0) > 0)
    assert status()["claimRef"]["uid"] == claim["metadata"]["uid"]

    # A device plugin starts later, and the host's GPUs appear with it.
    gpus = {"status": {"capacity": {GPU: "2"}, "allocatable": {GPU: "2"}}}
    stack.cluster.kubectl("patch", "node", host, "--subresource=status", "--type=merge", "-p", json.dumps(gpus))
    known = lambda: hosts(stack)[host]["status"]["capacity"].get("extended")
    wait_for("the host's GPUs", lambda: known() == {GPU: "2"})

    stack.cluster.kubectl("delete", "deployment", "shop", "--grace-period=1")
    # A server that was turned on a moment ago must stay off for a minute before it counts as off.
    wait_for("every server off", lambda: not stack.claims() and set(rack.power_states().values()) == {"Off"}, 300)
    assert not stack.nodes()
    wait_for("both hosts free again", lambda: all_ready(stack, 2) and "claimRef" not in status())
    log = stack.operator.log.read_text()
    assert rack.sushy.password not in log
    assert known() == {GPU: "2"}, "the next claim finds what the host has, although nothing runs there now"
    delete_rack(stack)


def test_a_host_listed_twice_is_refused(stack, rack):
    stack.apply(*rack.manifests())
    wait_for("two examined hosts", lambda: all_ready(stack, 2))
    twin = hosts(stack)["host-1"]
    # Ages are shown in whole seconds.
    wait_for("the next second", lambda: time.time() >= datetime.fromisoformat(twin["metadata"]["creationTimestamp"]).timestamp() + 1)
    twin = {"apiVersion": twin["apiVersion"], "kind": twin["kind"], "spec": twin["spec"],
            "metadata": {"name": "host-1-again", "namespace": NAMESPACE}}
    stack.apply(twin)
    wait_until("the younger of the two refused", lambda: hosts(stack)["host-1-again"], lambda h: condition(
        h, "IdentityVerified")["reason"] == "DuplicateHost" and "host-1" in condition(h, "Ready")["message"])
    assert is_true(hosts(stack)["host-1"], "Ready")
    delete_rack(stack)
