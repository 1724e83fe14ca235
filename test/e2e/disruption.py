"""Provides pools with short windows, and reads what users see of a disruption: kubectl describe, Events, claims."""

import json
from datetime import datetime

import manifests
from stack import NAMESPACE, condition, running_pods, wait_for, wait_until

QUICK = {"stabilizationWindow": "0s", "emptyGracePeriod": "1s", "minNodeAge": "0s", "unneededDuration": "1s", "headroomPercent": 0,
         "delayAfterFailure": "1s", "drainTimeout": "1m"}
SIZES = {"flexible": None, "sizes": [{"name": "small", "cpuCores": 2, "memoryMiB": 4096},
                                     {"name": "large", "cpuCores": 8, "memoryMiB": 16384}]}
MEDIUM = {"sizes": [{"name": "m", "cpuCores": 4, "memoryMiB": 8192}]}


def apply_all(stack, scale_down=None, disruption=None, template=None, **changes):
    # No node is removed as hardly used before the test asks for it.
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


def wait_running(stack, count):
    wait_for(f"{count} running pods", lambda: len(running_pods(stack.pods())) == count)


def keep_off_the_endpoint(stack):
    """Keeps machines off the host that the operator talks to, so that any host with a machine may fail."""
    patch(stack, "nsprovider", "proxmox", {"spec": {"proxmox": {"placement": {"excludedNodes": ["alfaromeo"]}}}}, NAMESPACE)


def claim_names(stack):
    return {c["metadata"]["name"] for c in stack.claims()}


def all_ready(stack, count):
    claims = wait_until(f"{count} Ready claims", stack.claims, lambda found: len(found) == count and all(
        condition(claim, "Initialized").get("status") == "True" for claim in found))
    return {c["metadata"]["name"] for c in claims}


def hardly_used_node(stack, deployment):
    """Returns the name of a large node (SIZES) that has only the small pod of that deployment."""
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
    """Evicted pods wait at most two minutes for their next node."""
    for pod in running_pods(stack.pods()):
        waited = datetime.fromisoformat(condition(pod, "PodScheduled")["lastTransitionTime"]) \
            - datetime.fromisoformat(pod["metadata"]["creationTimestamp"])
        assert condition(pod, "PodScheduled")["status"] == "True" and waited.total_seconds() <= 120, pod["metadata"]["name"]


def wait_replaced(stack, old, pods):
    """Waits until the node is gone, one other node has its pods, and nothing changes."""
    wait_until("the replacement", lambda: claim_names(stack), lambda names: old not in names and len(running_pods(stack.pods())) == pods
               and all(p["spec"].get("nodeName") != old for p in stack.pods()), 240)
    assert old not in {m["name"] for m in stack.proxmox.machines()}
    assert old not in {n["metadata"]["name"] for n in stack.nodes()}
    wait_until("calm", lambda: claim_names(stack), lambda names: len(names) == 1)
    assert_bound_soon(stack)


def wait_disrupted(stack, name, reason, words=""):
    """Waits until claim, Node and Event say that the node is removed, and why. Each is recorded when it is seen, because all
    may be gone a moment later."""
    uid = stack.cluster.api("GET", f"/api/v1/nodes/{name}")["metadata"]["uid"]
    seen = set()

    def look():
        if any(c["metadata"]["name"] == name and condition(c, "Disrupted").get("reason") == reason for c in stack.claims()):
            seen.add("the claim's condition")
        if any(t["key"] == "kubenodesmith.io/disrupted" and t["effect"] == "NoSchedule"
               for n in stack.nodes() if n["metadata"]["uid"] == uid for t in n["spec"].get("taints", [])):
            seen.add("the Node's taint")
        if any(e["involvedObject"].get("uid") == uid and e["reason"] == "Disrupting" and e["message"].startswith(reason) and words in e["message"]
               for e in stack.events("default")):
            seen.add("the Event")
        return seen
    wait_until(f"the removal of {name} that is {reason}", look, lambda found: len(found) == 3)


def blocked(stack, node, text):
    """Checks that kubectl describe node and /debug/state say so, and that the node stays in service."""
    told = wait_until(f'the Event "{text}"', lambda: describe(stack, "node", node), lambda shown: text in shown, interval=0.2)
    assert "DisruptionBlocked" in told
    wait_for(f'"{text}" in the state', lambda: any(
        text in stay["message"] for stay in json.loads(stack.operator.get("/debug/state"))["disruption"] if stay["node"] == node))
    assert "disrupted:NoSchedule" not in describe(stack, "node", node)
