"""Nodes leave as carefully as they came: each reason once, each thing that holds a node once, as kubectl shows it."""

import json
from datetime import datetime

import manifests
from stack import NAMESPACE, condition, running_pods, wait_for

QUICK = {"stabilizationWindow": "0s", "emptyGracePeriod": "1s", "minNodeAge": "0s", "unneededDuration": "1s", "headroomPercent": 0,
         "delayAfterFailure": "1s", "drainTimeout": "1m"}
SIZES = {"flexible": None, "sizes": [{"name": "small", "cpuCores": 2, "memoryMiB": 4096},
                                     {"name": "large", "cpuCores": 8, "memoryMiB": 16384}]}


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


def claim_names(stack):
    return {c["metadata"]["name"] for c in stack.claims()}


def all_ready(stack, count):
    wait_for(f"{count} Ready claims", lambda: len(c := stack.claims()) == count and all(
        condition(x, "Initialized").get("status") == "True" for x in c), 60)
    return claim_names(stack)


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
    events = describe(stack, "node", name)
    assert "Disrupting" in events and reason in events
    assert "kubenodesmith.io/disrupted:NoSchedule" in wait_for(
        "the taint", lambda: (text := describe(stack, "node", name)) and "disrupted:NoSchedule" in text and text, 10)
    shown = describe(stack, "nsclaim", name, NAMESPACE)
    assert "Disrupted" in shown and reason in shown


# ---- each reason to leave


def test_a_hardly_used_node_goes_when_its_pods_fit_elsewhere(clean):
    stack = clean
    apply_all(stack, template={"sizes": [{"name": "m", "cpuCores": 4, "memoryMiB": 8192}]})
    stack.apply(manifests.deployment("big", 2, cpu="2500m"))
    wait_running(stack, 2)
    bought = all_ready(stack, 2)
    stack.apply(manifests.deployment("small", 2, cpu="500m", topologySpreadConstraints=[
        {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
         "labelSelector": {"matchLabels": {"app": "small"}}}]))
    wait_running(stack, 4)
    stack.cluster.kubectl("delete", "deployment", "big")
    wait_running(stack, 2)
    assert len({p["spec"]["nodeName"] for p in stack.pods()}) == 2
    patch_pool(stack, scaleDown={"policy": "WhenEmptyOrUnderutilized"})
    wait_for("one node", lambda: len(stack.claims()) == 1 and len(running_pods(stack.pods())) == 2, 60)
    assert len(stack.proxmox.machines()) == 1
    assert claim_names(stack) < bought
    assert_bound_soon(stack)
    assert any(e["reason"] == "Disrupting" and e["message"].startswith("Underutilized") for e in stack.events("default"))


def test_a_large_node_is_replaced_by_a_small_one(clean):
    stack = clean
    apply_all(stack, template=SIZES)
    stack.apply(manifests.deployment("big", 1, cpu="6"))
    wait_running(stack, 1)
    stack.apply(manifests.deployment("small", 1, cpu="1"))
    wait_running(stack, 2)
    (large,) = all_ready(stack, 1)
    stack.cluster.kubectl("delete", "deployment", "big")
    patch_pool(stack, scaleDown={"policy": "WhenEmptyOrUnderutilized"})
    wait_disrupted(stack, large, "Underutilized")
    wait_replaced(stack, large, 1)
    table = stack.cluster.kubectl("-n", NAMESPACE, "get", "nsclaim")
    assert "2c/4Gi" in table and "8c/16Gi" not in table


def test_a_drifted_node_is_replaced_first_and_an_old_one_too(clean):
    stack = clean
    apply_all(stack)
    stack.apply(manifests.deployment("shop", 1))
    wait_running(stack, 1)
    (first,) = all_ready(stack, 1)
    patch_pool(stack, machineTemplate={"labels": {"tier": "new"}})
    wait_disrupted(stack, first, "Drifted")
    assert "settings that shape the machine" in describe(stack, "node", first)
    wait_replaced(stack, first, 1)
    (second,) = all_ready(stack, 1)
    node = stack.cluster.api("GET", f"/api/v1/nodes/{second}")
    assert node["metadata"]["labels"]["tier"] == "new"

    # Long enough for its successor not to be old at once.
    patch_pool(stack, disruption={"expireAfter": "40s"})
    wait_disrupted(stack, second, "Expired")
    wait_replaced(stack, second, 1, 60)


def test_a_host_in_maintenance_is_evacuated(clean):
    stack = clean
    apply_all(stack)
    stack.apply(manifests.deployment("shop", 1))
    wait_running(stack, 1)
    (name,) = all_ready(stack, 1)
    host = stack.claims()[0]["status"]["host"]
    # As an administrator would write it; a host in maintenance is seen with the next look at the cluster.
    patch(stack, "nsprovider", "proxmox", {"spec": {"proxmox": {"placement": {"evacuateNodes": [host]}}}}, NAMESPACE)
    wait_disrupted(stack, name, "Evacuation")
    wait_replaced(stack, name, 1)
    assert stack.claims()[0]["status"]["host"] != host


def test_a_node_that_is_not_ready_is_replaced(clean):
    stack = clean
    apply_all(stack, scale_down={"drainTimeout": "5s"}, disruption={"repair": {"notReadyFor": "1s", "maxUnhealthyPercent": 100}})
    # The host that the operator talks to stays on.
    patch(stack, "nsprovider", "proxmox", {"spec": {"proxmox": {"placement": {"excludedNodes": ["alfaromeo"]}}}}, NAMESPACE)
    stack.apply(manifests.deployment("shop", 1))
    wait_running(stack, 1)
    stack.apply(manifests.stateful_set("db", 1, cpu="100m", memory="64Mi"))
    wait_running(stack, 2)
    (name,) = all_ready(stack, 1)
    host = stack.claims()[0]["status"]["host"]
    database = stack.cluster.api("GET", "/api/v1/namespaces/default/pods/db-0")["metadata"]["uid"]
    stack.proxmox.control("POST", f"/hosts/{host}/power-off")
    try:
        wait_disrupted(stack, name, "Unhealthy", 60)
        wait_for("the pod on another machine", lambda: any(p["spec"].get("nodeName") != name for p in running_pods(stack.pods())), 60)
        # Its machine cannot be verified gone before its host is back, so nothing starts that must not run twice.
        wait_for("the removal of the claim", lambda: any("deletionTimestamp" in c["metadata"] for c in stack.claims()), 30)
        assert name in claim_names(stack) and name in {n["metadata"]["name"] for n in stack.nodes()}
        assert stack.cluster.api("GET", "/api/v1/namespaces/default/pods/db-0")["metadata"]["uid"] == database
    finally:
        stack.proxmox.control("POST", f"/hosts/{host}/power-on")
    wait_for("the end of the dead machine's claim", lambda: name not in claim_names(stack), 150)


# ---- each thing that holds a node


def blocked(stack, node, text, timeout=20):
    """kubectl describe node says so, and so does /debug/state; the node stays in service."""
    wait_for(f'the Event "{text}"', lambda: text in describe(stack, "node", node), timeout)
    assert "DisruptionBlocked" in describe(stack, "node", node)
    state = json.loads(stack.operator.get("/debug/state"))
    assert any(text in stay["message"] for stay in state["disruption"] if stay["node"] == node)
    assert "disrupted:NoSchedule" not in describe(stack, "node", node)


# What is done to hold the node, what is said, and how it is taken back.
def on_pool(**spec):
    return lambda stack, node: patch_pool(stack, **spec)


def on_node(annotation, value):
    return lambda stack, node: patch(stack, "node", node, {"metadata": {"annotations": {annotation: value}}})


def on_pods(**metadata_and_spec):
    def change(stack, node):
        patch(stack, "deployment", "web", {"spec": {"template": metadata_and_spec}}, "default")
        stack.cluster.kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    return change


def cordon(stack, node):
    stack.cluster.kubectl("cordon", node)


def uncordon(stack, node):
    stack.cluster.kubectl("uncordon", node)


def mode(value):
    return lambda stack, node: patch(stack, "nscp", "kubenodesmith", {"spec": {"mode": value}}, NAMESPACE)


def make_budget(stack, node):
    stack.apply({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "default"},
                 "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "web"}}}})


def delete_budget(stack, node):
    stack.cluster.kubectl("delete", "pdb", "web")


def make_bare_pod(stack, node):
    pod = manifests.deployment("bare", 1, cpu="100m")["spec"]["template"]
    stack.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare", "namespace": "default"},
                 "spec": {**pod["spec"], "nodeName": node}})


def delete_bare_pod(stack, node):
    stack.cluster.kubectl("delete", "pod", "bare", "--grace-period=1")


DO_NOT_DISRUPT = "kubenodesmith.io/do-not-disrupt"
HOLDS = {
    "annotated node": (on_node(DO_NOT_DISRUPT, "true"), f"annotation {DO_NOT_DISRUPT}=true", on_node(DO_NOT_DISRUPT, None)),
    "cordoned": (cordon, "cordoned by a user", uncordon),
    "budget of pods": (make_budget, "PodDisruptionBudget default/web, which can never allow", delete_budget),
    "bare pod": (make_bare_pod, "pod default/bare has no controller", delete_bare_pod),
    "paused": (mode("Paused"), "control plane kubenodesmith is paused", mode("Active")),
    "not managed": (lambda stack, node: patch(stack, "nscp", "kubenodesmith", {"spec": {"pools": ["other"]}}, NAMESPACE),
                    "no NodeSmithControlPlane lists the pool",
                    lambda stack, node: patch(stack, "nscp", "kubenodesmith", {"spec": {"pools": ["*"]}}, NAMESPACE)),
    "budget": (on_pool(disruption={"budgets": [{"nodes": 0}]}), "disruption.budgets allows 0 nodes", on_pool(disruption={"budgets": []})),
    "young node": (on_pool(scaleDown={"minNodeAge": "1h"}), "younger than 1h", on_pool(scaleDown={"minNodeAge": "0s"})),
    "recent scale-up": (on_pool(scaleDown={"stabilizationWindow": "1h"}), "scaled up less than 1h",
                        on_pool(scaleDown={"stabilizationWindow": "0s"})),
    "no place for its pods": (on_pool(limits={"maxNodes": 1}), "fits no other node", on_pool(limits={"maxNodes": 5})),
    "annotated pod": (on_pods(metadata={"annotations": {DO_NOT_DISRUPT: "true"}}), "is annotated not to be disrupted",
                      on_pods(metadata={"annotations": {DO_NOT_DISRUPT: None}})),
    "local storage": (on_pods(spec={"volumes": [{"name": "data", "emptyDir": {}}]}), "has data in an emptyDir or hostPath",
                      on_pods(spec={"volumes": []})),
}


def test_each_thing_that_holds_a_node_is_said_on_it(clean):
    stack = clean
    apply_all(stack, template=SIZES)
    stack.apply(manifests.deployment("big", 1, cpu="6"))
    wait_running(stack, 1)
    stack.apply(manifests.deployment("web", 1, cpu="1"))
    wait_running(stack, 2)
    (node,) = all_ready(stack, 1)
    stack.cluster.kubectl("delete", "deployment", "big")
    wait_running(stack, 1)
    # From here on it would be replaced by a small one, if nothing held it.
    let_go = on_pool(scaleDown={"policy": "WhenEmptyOrUnderutilized"})
    for hold, text, release in HOLDS.values():
        hold(stack, node)
        let_go(stack, node)
        blocked(stack, node, text)
        let_go = release
    patch_pool(stack, limits={"minNodes": 1})
    stack.cluster.kubectl("delete", "deployment", "web")
    blocked(stack, node, "the pool keeps at least 1 nodes")
    patch_pool(stack, limits={"minNodes": 0})
    wait_for("the removal of the node", lambda: not stack.claims(), 60)


def test_an_aborted_drain_puts_the_node_back_in_service(clean):
    stack = clean
    apply_all(stack, template=SIZES, scale_down={"drainTimeout": "3s", "delayAfterFailure": "1h"})
    stack.apply(manifests.deployment("big", 1, cpu="6"))
    wait_running(stack, 1)
    stack.apply(manifests.deployment("slow", 1, cpu="1", terminationGracePeriodSeconds=60))
    wait_running(stack, 2)
    (name,) = all_ready(stack, 1)
    # A finalizer of somebody else keeps the pod ending, as a process that does not end would.
    pod = next(p["metadata"]["name"] for p in stack.pods() if p["metadata"]["name"].startswith("slow"))
    patch(stack, "pod", pod, {"metadata": {"finalizers": ["example.com/wait"]}}, "default")
    stack.cluster.kubectl("delete", "deployment", "big")
    patch_pool(stack, scaleDown={"policy": "WhenEmptyOrUnderutilized"})
    wait_disrupted(stack, name, "Underutilized")
    wait_for("the abort", lambda: "RemovalUndone" in describe(stack, "node", name), 60)
    wait_for("the node back in service", lambda: "disrupted:NoSchedule" not in describe(stack, "node", name), 10)
    assert name in claim_names(stack)
    patch(stack, "pod", pod, {"metadata": {"finalizers": None}}, "default")
    blocked(stack, name, "a removal in the pool failed less than 1h")
