"""Tests each thing that blocks a disruption once, as kubectl shows it."""

import manifests
import proxmox_world
from disruption import (MEDIUM, SIZES, all_ready, apply_all, blocked, claim_names, describe, hardly_used_node,
                        keep_off_the_endpoint, patch, patch_pool, wait_running)
from stack import NAMESPACE, condition, is_true, wait_for, wait_until


# Each entry says how to block the node, what is reported, and how to undo it.
def on_pool(**spec):
    return lambda stack, node: patch_pool(stack, **spec)


def on_node(annotation, value):
    return lambda stack, node: patch(stack, "node", node, {"metadata": {"annotations": {annotation: value}}})


def on_pods(**metadata_and_spec):
    def change(stack, node):
        patch(stack, "deployment", "web", {"spec": {"template": metadata_and_spec}}, "default")
        stack.cluster.kubectl("rollout", "status", "deployment/web", "--timeout=120s")
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


def make_volume(stack, node):
    """Makes a volume as a provisioner of local paths does for a StatefulSet that was scaled to zero later."""
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": "local-path"}
    stack.apply({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "lp0"}, "spec": {
        **claim, "capacity": {"storage": "5Gi"}, "claimRef": {"namespace": "default", "name": "data-db-0"},
        "hostPath": {"path": "/var/lib/volumes/x"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]}}}})
    stack.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data-db-0", "namespace": "default"},
                 "spec": {**claim, "volumeName": "lp0", "resources": {"requests": {"storage": "5Gi"}}}})


def delete_volume(stack, node):
    stack.cluster.kubectl("delete", "pvc", "data-db-0", "-n", "default")
    stack.cluster.kubectl("delete", "pv", "lp0")


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
    "path of the node": (on_pods(spec={"volumes": [{"name": "data", "hostPath": {"path": "/srv"}}]}), "has the hostPath volume data",
                         on_pods(spec={"volumes": []})),
    "volume on its disk": (make_volume, "volume lp0 (PersistentVolumeClaim default/data-db-0) can be used on this node only", delete_volume),
    "slow end": (on_pods(spec={"terminationGracePeriodSeconds": 600}), "pods may take their terminationGracePeriodSeconds to end",
                 on_pods(spec={"terminationGracePeriodSeconds": 1})),
}


def test_each_thing_that_holds_a_node_is_said_on_it(clean):
    stack = clean
    apply_all(stack, template=SIZES)
    node = hardly_used_node(stack, manifests.deployment("web", 1, cpu="1"))
    # From here on it would be replaced by a small one, if nothing blocked it.
    let_go = on_pool(scaleDown={"policy": "WhenEmptyOrUnderutilized"})
    for hold, text, release in HOLDS.values():
        hold(stack, node)
        let_go(stack, node)
        blocked(stack, node, text)
        let_go = release
    patch_pool(stack, limits={"minNodes": 1})
    stack.cluster.kubectl("delete", "deployment", "web")
    blocked(stack, node, "the pool keeps at least 1 node ")
    patch_pool(stack, limits={"minNodes": 0})
    wait_for("the removal of the node", lambda: not stack.claims())


def empty_node(stack):
    """Returns the one Node that has none of our pods; None if there is none or several."""
    idle = claim_names(stack) - {p["spec"].get("nodeName") for p in stack.pods()}
    return next(iter(idle)) if len(idle) == 1 else None


def scale(stack, replicas):
    stack.cluster.kubectl("scale", "deployment", "web", f"--replicas={replicas}")


def test_what_its_pool_has_just_done_holds_a_node(clean):
    stack = clean
    apply_all(stack, template=MEDIUM, scale_down={"delayAfterDelete": "1h"})
    # The operator remembers removals only after a rate is set.
    patch(stack, "nscp", "kubenodesmith", {"spec": {"rateLimits": {"maxRemovalsPerHour": 1}}}, NAMESPACE)
    stack.apply(manifests.deployment("web", 3, cpu="2500m"))
    wait_running(stack, 3)
    all_ready(stack, 3)
    scale(stack, 2)
    wait_for("the removal of the empty node", lambda: len(stack.claims()) == 2)
    scale(stack, 1)
    node = wait_for("an empty node", lambda: empty_node(stack))
    blocked(stack, node, "the pool removed a node less than 1h")
    patch_pool(stack, scaleDown={"delayAfterDelete": "0s"})
    blocked(stack, node, "1 node may be removed in an hour")

    patch_pool(stack, scaleDown={"stabilizationWindow": "30s"})
    scale(stack, 3)
    wait_running(stack, 3)
    all_ready(stack, 3)
    scale(stack, 2)
    node = wait_for("an empty node", lambda: empty_node(stack))
    blocked(stack, node, "the pool created a node shortly after it had removed one")
    patch_pool(stack, scaleDown={"stabilizationWindow": "0s"})
    patch(stack, "nscp", "kubenodesmith", {"spec": {"rateLimits": {"maxRemovalsPerHour": 0}}}, NAMESPACE)
    wait_for("the removal of the empty node", lambda: node not in claim_names(stack))


def test_a_node_that_is_not_ready_stays_where_repair_must_not_touch_it(clean):
    stack = clean
    apply_all(stack, disruption={"repair": {"action": "None"}}, scale_down={"policy": "Never"},
              template=MEDIUM)
    keep_off_the_endpoint(stack)
    stack.apply(manifests.deployment("web", 2, cpu="2500m", topologySpreadConstraints=manifests.spread("web", "kubenodesmith.io/host")))
    wait_running(stack, 2)
    all_ready(stack, 2)
    stack.cluster.kubectl("delete", "deployment", "web")
    wait_for("the end of the pods", lambda: not stack.pods())  # a dead kubelet would not end them
    hosts = {c["metadata"]["name"]: c["status"]["host"] for c in stack.claims()}
    dead, alive = sorted(hosts, key=hosts.get)
    stack.proxmox.control("POST", f"/hosts/{hosts[dead]}/power-off")
    try:
        wait_for("the Node to be not Ready", lambda: not is_true(stack.cluster.api("GET", f"/api/v1/nodes/{dead}"), "Ready"), 240)
        on_node(DO_NOT_DISRUPT, "true")(stack, alive)
        patch_pool(stack, disruption={"expireAfter": "1s"})
        blocked(stack, dead, "the node is not Ready")
        patch_pool(stack, disruption={"expireAfter": "Never"}, scaleDown={"policy": "WhenEmpty"})
        patch(stack, "nscp", "kubenodesmith", {"spec": {"health": {"okUnreadyCount": 0, "maxUnreadyPercent": 1}}}, NAMESPACE)
        on_node(DO_NOT_DISRUPT, None)(stack, alive)
        blocked(stack, alive, "too many nodes are not Ready")
        patch_pool(stack, disruption={"repair": {"action": "Replace", "notReadyFor": "1s", "maxUnhealthyPercent": 0}})
        patch(stack, "nscp", "kubenodesmith", {"spec": {"health": None}}, NAMESPACE)
        blocked(stack, dead, "more than 0 % of the pool's nodes are not Ready")
        wait_for("the empty node to leave", lambda: alive not in claim_names(stack))
    finally:
        stack.proxmox.control("POST", f"/hosts/{hosts[dead]}/power-on")
    stack.cluster.kubectl("-n", NAMESPACE, "delete", "nspool", "workers", "--wait=false")
    wait_for("the end of the dead machine's claim", lambda: not stack.claims(), 300)


def test_a_removal_that_cannot_end_holds_the_nodes_after_it(clean):
    stack = clean
    apply_all(stack, template=MEDIUM, scale_down={"policy": "Never"})
    stack.apply(manifests.deployment("web", 2, cpu="2500m"))
    wait_running(stack, 2)
    names = all_ready(stack, 2)
    stack.cluster.kubectl("delete", "deployment", "web")

    def protect(value):
        for machine in stack.proxmox.machines():
            proxmox_world.api(stack.proxmox, "PUT", f"/nodes/{machine['node']}/qemu/{machine['vmid']}/config", protection=value)
    protect(1)
    patch_pool(stack, scaleDown={"policy": "WhenEmpty"})
    leaving = wait_for("the removal of one claim", lambda: next(
        (c["metadata"]["name"] for c in stack.claims() if condition(c, "MachineDeleted").get("reason") == "ProtectionEnabled"), None))
    (other,) = names - {leaving}
    blocked(stack, other, "the removals under way are stuck: see their claims")
    # This is reported instead while the removal is tried again.
    wait_until("the reason on the claim", lambda: describe(stack, "nsclaim", leaving, NAMESPACE), lambda shown: "is protected against removal" in shown)
    protect(0)
    wait_for("the removal of both", lambda: not stack.claims(), 240)


def test_who_deletes_a_claim_is_told_which_protected_pods_are_evicted(clean):
    stack = clean
    apply_all(stack, scale_down={"policy": "Never"})
    stack.apply(manifests.deployment("web", 1, cpu="500m"))
    wait_running(stack, 1)
    (node,) = all_ready(stack, 1)
    make_bare_pod(stack, node)
    wait_running(stack, 2)
    stack.cluster.kubectl("-n", NAMESPACE, "delete", "nsclaim", node, "--wait=false")

    def warnings(namespace, name):
        return [e["message"] for e in stack.events(namespace) if e["reason"] == "EvictingProtectedPod"
                and e["involvedObject"]["name"] == name]
    wait_until("the warning on the pod", lambda: warnings("default", "bare"), lambda told: any("has no controller" in text for text in told))
    wait_until("the warning on the claim", lambda: warnings(NAMESPACE, node), lambda told: any("default/bare" in text for text in told))
    wait_for("the end of the bare pod and of its node", lambda: node not in claim_names(stack) and "bare" not in {
        p["metadata"]["name"] for p in stack.pods()}, 240)


def test_a_machine_that_a_user_asked_for_or_keeps_is_not_taken_for_being_empty(clean):
    stack = clean
    apply_all(stack, deletionPolicy="Retain")
    stack.apply(manifests.claim("mine"))
    all_ready(stack, 1)
    blocked(stack, "mine", "a user created its claim")
    stack.cluster.kubectl("-n", NAMESPACE, "delete", "nsclaim", "mine", "--wait=false")
    wait_for("the end of the user's claim", lambda: not stack.claims())

    stack.apply(manifests.deployment("web", 1))
    wait_running(stack, 1)
    (node,) = all_ready(stack, 1)
    stack.cluster.kubectl("delete", "deployment", "web")
    blocked(stack, node, "its machine would be kept (deletionPolicy: Retain)")
    stack.cluster.kubectl("-n", NAMESPACE, "delete", "nspool", "workers", "--wait=false")
    wait_for("the end of the claim", lambda: not stack.claims())
    proxmox_world.destroy_by_hand(stack.proxmox, proxmox_world.machine_named(stack.proxmox, node))
    stack.cluster.kubectl("delete", "node", node)
