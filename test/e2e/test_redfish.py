"""Bare metal as a user sees it: pods wake servers, idle servers drain and power off."""

import pytest

import manifests
from redfish import NAMESPACE, Rack
from stack import condition, is_true, running_pods, wait_for


@pytest.fixture
def rack(stack, tmp_path):
    rack = Rack(tmp_path, stack.cluster).start()
    yield rack
    rack.stop()


def hosts(stack):
    return {h["metadata"]["name"]: h for h in stack.objects("nodesmithhosts")}


def all_ready(stack, count):
    found = hosts(stack)
    return len(found) == count and all(is_true(h, "Ready") for h in found.values())


def test_pods_wake_a_server_and_an_idle_server_powers_off(stack, rack):
    stack.apply(*rack.manifests())
    wait_for("two examined hosts", lambda: all_ready(stack, 2), 40)
    assert set(rack.power_states().values()) == {"Off"}

    stack.apply(manifests.deployment("shop", 2, cpu="3"))
    wait_for("the pods running on a woken server", lambda: len(running_pods(stack.pods())) == 2, 90)
    wait_for("a Ready claim", lambda: [c for c in stack.claims() if is_true(c, "Ready")], 20)
    (claim,) = stack.claims()
    host = claim["status"]["host"]
    assert rack.power_states()[host] == "On"
    assert sorted(rack.power_states().values()) == ["Off", "On"], "one server holds both pods"
    (node,) = stack.nodes()
    assert node["metadata"]["name"] == host == claim["status"]["nodeName"]
    assert node["spec"]["providerID"] == claim["status"]["providerID"] == f"redfish://rack/{host}"
    assert node["metadata"]["labels"]["kubenodesmith.io/host"] == host
    wait_for("a host in use", lambda: hosts(stack)[host]["status"]["phase"] == "InUse", 20)
    assert hosts(stack)[host]["status"]["claimRef"]["uid"] == claim["metadata"]["uid"]
    assert hosts(stack)[host]["status"]["wakeSeconds"] > 0

    stack.cluster.kubectl("delete", "deployment", "shop", "--grace-period=1")
    # A server that was turned on moments ago must stay off for a minute before it counts as off.
    wait_for("every server off", lambda: not stack.claims() and set(rack.power_states().values()) == {"Off"}, 180)
    assert not stack.nodes()
    wait_for("both hosts free again", lambda: all_ready(stack, 2), 30)
    log = stack.operator.log.read_text()
    assert rack.sushy.password not in log
    assert "claimRef" not in hosts(stack)[host]["status"]
    stack.cluster.kubectl("-n", NAMESPACE, "delete", "nodesmithpools,nodesmithhosts,nodesmithproviders", "--all", "--timeout=30s")


def test_a_host_listed_twice_is_refused(stack, rack):
    stack.apply(*rack.manifests())
    wait_for("two examined hosts", lambda: all_ready(stack, 2), 40)
    twin = hosts(stack)["host-1"]
    twin = {"apiVersion": twin["apiVersion"], "kind": twin["kind"], "spec": twin["spec"],
            "metadata": {"name": "host-1-again", "namespace": NAMESPACE}}
    stack.apply(twin)
    wait_for("the younger of the two refused", lambda: condition(hosts(stack)["host-1-again"], "IdentityVerified").get("reason")
             == "DuplicateHost", 30)
    assert "host-1" in condition(hosts(stack)["host-1-again"], "Ready")["message"]
    assert is_true(hosts(stack)["host-1"], "Ready")
    stack.cluster.kubectl("-n", NAMESPACE, "delete", "nodesmithpools,nodesmithhosts,nodesmithproviders", "--all", "--timeout=30s")
