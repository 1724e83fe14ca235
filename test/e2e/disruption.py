"""Pools with short windows, and what is seen of their nodes' leaving: kubectl describe, Events, claims."""

import json
from datetime import datetime

import manifests
from stack import NAMESPACE, condition, running_pods, wait_for

QUICK = {"stabilizationWindow": "0s", "emptyGracePeriod": "1s", "minNodeAge": "0s", "unneededDuration": "1s", "headroomPercent": 0,
         "delayAfterFailure": "1s", "drainTimeout": "1m"}
SIZES = {"flexible": None, "sizes": [{"name": "small", "cpuCores": 2, "memoryMiB": 4096},
                                     {"name": "large", "cpuCores": 8, "memoryMiB": 16384}]}
MEDIUM = {"sizes": [{"name": "m", "cpuCores": 4, "memoryMiB": 8192}]}


def apply_all(stack, scale_down=None, disruption=None, template=None, **changes):
    # Not before the test asks for it does a node go because it is hardly used.
    pool = manifests.pool(scaleDown={**QUICK, "policy": "WhenEmpty", **(scale_down or {})},
                          disruption={"budgets": [], **(disruption or {})}, template=template, **changes)
    if template:
        del pool["spec"]["machineTemplate"]["flexible"]
    stack.apply(manifests.secret(stack.proxmox), manifests.provider(stack.proxmox), pool, manifests.control_plane())


def patch(stack, kind, name, change, namespace=None):
    where = ("-n", namespace) if namespace else ()
    stack.cluster.kubectl(*where, "patch", kind, name, "--type=merge", "-p", json.dumps(change))


def patch_pool(stack, **spec):
    patch(stack, "nspool", "workers", {"spec": spec}, NAMESPACE)


def wait_running(stack, count, timeout=60):
    wait_for(f"{count} running pods", lambda: len(running_pods(stack.pods())) == count, timeout)


def keep_off_the_endpoint(stack):
    """The host that the operator talks to gets no machine, so that any host with one may go down."""
    patch(stack, "nsprovider", "proxmox", {"spec": {"proxmox": {"placement": {"excludedNodes": ["alfaromeo"]}}}}, NAMESPACE)


def claim_names(stack):
    return {c["metadata"]["name"] for c in stack.claims()}


def all_ready(stack, count):
    wait_for(f"{count} Ready claims", lambda: len(c := stack.claims()) == count and all(
        condition(x, "Initialized").get("status") == "True" for x in c), 60)
    return claim_names(stack)


def hardly_used_node(stack, deployment):
    """Name of a large node (SIZES) with nothing but the small pod of that deployment."""
    stack.apply(manifests.deployment("big", 1, cpu="6"))
    wait_running(stack, 1)
    stack.apply(deployment)
    wait_running(stack, 2)
    (name,) = all_ready(stack, 1)
    stack.cluster.kubectl("delete", "deployment", "big")
    wait_running(stack, 1)
    return name


def describe(stack, kind, name, namespace=None):
    return stack.cluster.kubectl(*(("-n", namespace) if namespace else ()), "describe", kind, name)


def assert_bound_soon(stack):
    """Evicted pods wait two minutes at most for their next node."""
    for pod in stack.pods():
        waited = datetime.fromisoformat(condition(pod, "PodScheduled")["lastTransitionTime"]) \
            - datetime.fromisoformat(pod["metadata"]["creationTimestamp"])
        assert condition(pod, "PodScheduled")["status"] == "True" and waited.total_seconds() <= 120, pod["metadata"]["name"]


def wait_replaced(stack, old, pods, timeout=90):
    """The node is gone, one other has its pods, and all is calm."""
    wait_for("the replacement", lambda: old not in claim_names(stack) and len(running_pods(stack.pods())) == pods
             and all(p["spec"].get("nodeName") != old for p in stack.pods()), timeout)
    assert old not in {m["name"] for m in stack.proxmox.machines()}
    assert old not in {n["metadata"]["name"] for n in stack.nodes()}
    assert len(stack.claims()) == 1
    assert_bound_soon(stack)


def wait_disrupted(stack, name, reason, timeout=40):
    def found():
        claim = next((c for c in stack.claims() if c["metadata"]["name"] == name), None)
        return claim and condition(claim, "Disrupted").get("reason") == reason
    wait_for(f"the decision {reason}", found, timeout)
    wait_for("the Event on the Node", lambda: "Disrupting" in (shown := describe(stack, "node", name)) and reason in shown, 20)
    assert "kubenodesmith.io/disrupted:NoSchedule" in wait_for(
        "the taint", lambda: (text := describe(stack, "node", name)) and "disrupted:NoSchedule" in text and text, 10)
    shown = describe(stack, "nsclaim", name, NAMESPACE)
    assert "Disrupted" in shown and reason in shown


def blocked(stack, node, text, timeout=20):
    """kubectl describe node says so, and so does /debug/state; the node stays in service."""
    wait_for(f'the Event "{text}"', lambda: text in describe(stack, "node", node), timeout)
    assert "DisruptionBlocked" in describe(stack, "node", node)
    wait_for(f'"{text}" in the state', lambda: any(
        text in stay["message"] for stay in json.loads(stack.operator.get("/debug/state"))["disruption"] if stay["node"] == node), timeout)
    assert "disrupted:NoSchedule" not in describe(stack, "node", node)
