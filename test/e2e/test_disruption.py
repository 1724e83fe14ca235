"""Tests that nodes are removed as carefully as they are created, once for each reason."""

import json

import manifests
from disruption import (MEDIUM, SIZES, all_ready, apply_all, assert_bound_soon, blocked, claim_names, describe,
                        hardly_used_node, keep_off_the_endpoint, patch, patch_pool, wait_disrupted, wait_replaced, wait_running)
from stack import NAMESPACE, running_pods, wait_for


# ---- each reason for a removal


def test_a_hardly_used_node_goes_when_its_pods_fit_elsewhere(clean):
    stack = clean
    apply_all(stack, template=MEDIUM)
    stack.apply(manifests.deployment("big", 2, cpu="2500m"))
    wait_running(stack, 2)
    launched = all_ready(stack, 2)
    stack.apply(manifests.deployment("small", 2, cpu="500m", topologySpreadConstraints=manifests.spread(
        "small", "kubernetes.io/hostname", "ScheduleAnyway")))
    wait_running(stack, 4)
    stack.cluster.kubectl("delete", "deployment", "big")
    wait_running(stack, 2)
    assert len({p["spec"]["nodeName"] for p in running_pods(stack.pods())}) == 2
    patch_pool(stack, scaleDown={"policy": "WhenEmptyOrUnderutilized"})
    wait_for("one node", lambda: len(stack.claims()) == 1 and len(running_pods(stack.pods())) == 2)
    assert len(stack.proxmox.machines()) == 1
    assert claim_names(stack) < launched
    assert_bound_soon(stack)
    wait_for("the Event", lambda: any(e["reason"] == "Disrupting" and e["message"].startswith("Underutilized")
                                      for e in stack.events("default")))


def resize(stack, pod, cpu):
    """Gives the pod's container other CPUs in place. The test plays the kubelet, too, which reports what the container has."""
    def write(subresource, content):
        stack.cluster.kubectl("patch", "pod", pod["metadata"]["name"], f"--subresource={subresource}", "--patch", json.dumps(content))

    container = pod["spec"]["containers"][0]
    wanted = {**container["resources"]["requests"], "cpu": cpu}
    for has in (container["resources"]["requests"], wanted):
        status = {"name": container["name"], "resources": {"requests": has}, "allocatedResources": has}
        write("status", {"status": {"containerStatuses": [status]}})
        write("resize", {"spec": {"containers": [{"name": container["name"], "resources": {"requests": wanted}}]}})


def test_pods_that_were_shrunk_keep_the_machines_that_they_need_when_they_come_back(clean):
    stack = clean
    apply_all(stack, template=MEDIUM)
    stack.apply(manifests.deployment("java", 4, cpu="1900m"))
    wait_running(stack, 4)
    launched = all_ready(stack, 2)
    stack.apply(manifests.deployment("guest", 1, cpu="2500m"))
    wait_running(stack, 5)
    all_ready(stack, 3)
    java = [pod for pod in running_pods(stack.pods()) if pod["metadata"]["name"].startswith("java")]
    for pod in java:
        resize(stack, pod, "300m")  # so that two as they were and two as they are need more than a node
    patch_pool(stack, scaleDown={"policy": "WhenEmptyOrUnderutilized"})
    stack.cluster.kubectl("delete", "deployment", "guest")
    wait_for("the guest's node to go", lambda: len(stack.claims()) == 2)
    assert claim_names(stack) == launched
    assert {p["metadata"]["uid"] for p in running_pods(stack.pods())} == {p["metadata"]["uid"] for p in java}


def test_a_large_node_is_replaced_by_a_small_one(clean):
    stack = clean
    apply_all(stack, template=SIZES)
    large = hardly_used_node(stack, manifests.deployment("small", 1, cpu="1"))
    patch_pool(stack, scaleDown={"policy": "WhenEmptyOrUnderutilized"})
    wait_disrupted(stack, large, "Underutilized")
    wait_replaced(stack, large, 1)
    table = stack.cluster.kubectl("-n", NAMESPACE, "get", "nsclaim")
    assert "2c/4Gi" in table and "8c/16Gi" not in table


def test_pods_with_an_empty_dir_move_as_soon_as_their_pool_lets_them(clean):
    stack = clean
    apply_all(stack, template=SIZES, disruption={"emptyDir": "Keep"})
    pods = manifests.deployment("small", 1, cpu="1", volumes=[{"name": "cache", "emptyDir": {}}])
    large = hardly_used_node(stack, pods)
    patch_pool(stack, scaleDown={"policy": "WhenEmptyOrUnderutilized"})
    blocked(stack, large, "has data in the emptyDir cache")
    # Without the field, a pool evicts such pods.
    patch_pool(stack, disruption={"emptyDir": None})
    wait_disrupted(stack, large, "Underutilized")
    wait_replaced(stack, large, 1)


def test_a_drifted_node_is_replaced_first_and_an_old_one_too(clean):
    stack = clean
    apply_all(stack)
    stack.apply(manifests.deployment("shop", 1))
    wait_running(stack, 1)
    (first,) = all_ready(stack, 1)
    patch_pool(stack, machineTemplate={"labels": {"tier": "new"}})
    wait_disrupted(stack, first, "Drifted", "from which this machine was created have changed")
    wait_replaced(stack, first, 1)
    (second,) = all_ready(stack, 1)
    node = stack.cluster.api("GET", f"/api/v1/nodes/{second}")
    assert node["metadata"]["labels"]["tier"] == "new"

    # The time is long enough for its successor not to be old immediately.
    patch_pool(stack, disruption={"expireAfter": "40s"})
    wait_disrupted(stack, second, "Expired")
    wait_replaced(stack, second, 1)


def test_a_host_in_maintenance_is_evacuated(clean):
    stack = clean
    apply_all(stack)
    stack.apply(manifests.deployment("shop", 1))
    wait_running(stack, 1)
    (name,) = all_ready(stack, 1)
    host = stack.claims()[0]["status"]["host"]
    # An administrator would write this. The next look at the cluster shows a host in maintenance.
    patch(stack, "nsprovider", "proxmox", {"spec": {"proxmox": {"placement": {"evacuateNodes": [host]}}}}, NAMESPACE)
    wait_disrupted(stack, name, "Evacuation")
    wait_replaced(stack, name, 1)
    (claim,) = stack.claims()
    assert claim["status"]["host"] != host


def test_a_node_that_is_not_ready_is_replaced(clean):
    stack = clean
    apply_all(stack, scale_down={"drainTimeout": "5s"}, disruption={"repair": {"notReadyFor": "1s", "maxUnhealthyPercent": 100}})
    keep_off_the_endpoint(stack)
    stack.apply(manifests.deployment("shop", 1))
    wait_running(stack, 1)
    stack.apply(manifests.stateful_set("db", 1, cpu="100m", memory="64Mi"))
    wait_running(stack, 2)
    (name,) = all_ready(stack, 1)
    host = stack.claims()[0]["status"]["host"]
    database = stack.cluster.api("GET", "/api/v1/namespaces/default/pods/db-0")["metadata"]["uid"]
    stack.proxmox.control("POST", f"/hosts/{host}/power-off")
    try:
        wait_disrupted(stack, name, "Unhealthy")
        wait_for("the pod on another machine", lambda: any(p["spec"].get("nodeName") != name for p in running_pods(stack.pods())))
        # Its machine cannot be verified gone before its host is back, so no pod starts that must not run twice.
        wait_for("the removal of the claim", lambda: any("deletionTimestamp" in c["metadata"] for c in stack.claims()))
        assert name in claim_names(stack) and name in {n["metadata"]["name"] for n in stack.nodes()}
        assert stack.cluster.api("GET", "/api/v1/namespaces/default/pods/db-0")["metadata"]["uid"] == database
    finally:
        stack.proxmox.control("POST", f"/hosts/{host}/power-on")
    wait_for("the end of the dead machine's claim", lambda: name not in claim_names(stack), 300)


def test_an_aborted_drain_puts_the_node_back_in_service(clean):
    stack = clean
    apply_all(stack, template=SIZES, scale_down={"drainTimeout": "3s", "delayAfterFailure": "1h"})
    name = hardly_used_node(stack, manifests.deployment("slow", 1, cpu="1", terminationGracePeriodSeconds=2))
    # A foreign finalizer keeps the pod ending, like a process that does not end.
    pod = next(p["metadata"]["name"] for p in stack.pods() if p["metadata"]["name"].startswith("slow"))
    patch(stack, "pod", pod, {"metadata": {"finalizers": ["example.com/wait"]}}, "default")
    patch_pool(stack, scaleDown={"policy": "WhenEmptyOrUnderutilized"})
    wait_disrupted(stack, name, "Underutilized")
    wait_for("the abort", lambda: "RemovalUndone" in describe(stack, "node", name))
    wait_for("the node back in service", lambda: "disrupted:NoSchedule" not in describe(stack, "node", name))
    assert name in claim_names(stack)
    patch(stack, "pod", pod, {"metadata": {"finalizers": None}}, "default")
    blocked(stack, name, "its drain was given up less than 1h")


def test_a_drain_that_the_pods_grace_periods_would_outlast_is_not_begun(clean):
    stack = clean
    apply_all(stack, template=SIZES, scale_down={"drainTimeout": "3s"})
    name = hardly_used_node(stack, manifests.deployment("slow", 1, cpu="1", terminationGracePeriodSeconds=60))
    (pod,) = (p["metadata"]["uid"] for p in stack.pods() if p["metadata"]["name"].startswith("slow"))
    patch_pool(stack, scaleDown={"policy": "WhenEmptyOrUnderutilized"})
    blocked(stack, name, "raise scaleDown.drainTimeout above")
    assert pod in {p["metadata"]["uid"] for p in stack.pods()}
    patch_pool(stack, scaleDown={"drainTimeout": "2m"})
    wait_disrupted(stack, name, "Underutilized")
