"""Tests the main job as a user sees it: pods become machines, and unneeded machines are removed."""

import json

import documented
import manifests
from stack import NAMESPACE, condition, is_true, running_pods, wait_for, wait_until

CLAIM_CONDITIONS = ("Launched", "Registered", "Initialized", "Ready")


def is_ready(claim):
    return all(is_true(claim, kind) for kind in CLAIM_CONDITIONS)


def ready_claims(stack):
    return [c for c in stack.claims() if is_ready(c)]


def wait_running(stack, count):
    wait_for(f"{count} running pods", lambda: len(running_pods(stack.pods())) == count)


def test_pending_pods_become_machines_that_join_and_leave_again(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    stack.apply(manifests.deployment("shop", 3))
    wait_running(stack, 3)
    claims = wait_until("every claim Ready", stack.claims, lambda found: found and all(map(is_ready, found)))

    machines = {m["name"]: m for m in stack.proxmox.machines()}
    nodes = {n["metadata"]["name"]: n for n in stack.nodes()}
    assert set(machines) == set(nodes) == {c["metadata"]["name"] for c in claims}
    for claim in claims:
        name, status = claim["metadata"]["name"], claim["status"]
        node, machine = nodes[name], machines[name]
        assert node["metadata"]["labels"]["topology.kubenodesmith.io/pool"] == "workers"
        assert node["metadata"]["labels"]["kubenodesmith.io/nodeclaim"] == name
        assert node["metadata"]["labels"]["kubenodesmith.io/host"] == machine["node"] == status["host"]
        assert node["status"]["nodeInfo"]["systemUUID"].lower() == status["systemUUID"]
        assert node["spec"]["providerID"] == status["providerID"]
        assert not [t for t in node["spec"].get("taints", []) if t["key"].startswith("kubenodesmith.io/")]
        assert json.dumps(claim["metadata"]["uid"]) in machine["config"]["description"]
    assert not stack.bootstrap_tokens(), "a token outlives the registration of its node"

    stack.cluster.kubectl("delete", "deployment", "shop")
    wait_for("the removal of all machines", lambda: not (stack.claims() or stack.proxmox.machines() or stack.nodes()))


def test_get_and_describe_tell_what_happens(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    stack.apply(manifests.deployment("shop", 1))
    wait_running(stack, 1)
    wait_for("a Ready claim", lambda: ready_claims(stack))
    table = stack.cluster.kubectl("-n", NAMESPACE, "get", "nsclaim", "-o", "wide")
    header, row = table.splitlines()[:2]
    for column in ("POOL", "SIZE", "HOST", "NODE", "PHASE", "READY", "AGE", "PROVIDERID"):
        assert column in header
    assert " Ready " in row and "workers" in row
    describe = lambda: stack.cluster.kubectl("-n", NAMESPACE, "describe", "nsclaim")
    description = wait_for("an Event that names the pod that the claim was created for", lambda: (text := describe()) and "shop-" in text and text)
    for kind in CLAIM_CONDITIONS:
        assert kind in description
    assert stack.proxmox.token_secret not in description + stack.operator.log.read_text()


def test_a_pod_that_fits_no_pool_gets_an_event_with_the_reason(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    stack.apply(manifests.deployment("giant", 1, cpu="100"))

    def reasons():
        return [e["message"] for e in stack.events("default") if e["involvedObject"]["kind"] == "Pod"
                and e["involvedObject"]["name"].startswith("giant-") and e["source"].get("component") == "kubenodesmith"]
    wait_until("an Event on the pod", reasons, lambda told: any("workers" in message and "CPU" in message for message in told))
    assert not stack.claims()


def test_as_much_as_the_limit_allows_is_launched(clean):
    """R9: three pods that need three nodes, with two allowed, get two."""
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox, limits={"maxNodes": 2}))
    stack.apply(manifests.deployment("large", 3, cpu="6"))
    wait_running(stack, 2)
    full = lambda: condition(stack.objects("nodesmithpools")[0], "Available")
    wait_for("a pool that says it is full", lambda: (full().get("status"), full().get("reason")) == ("False", "MaxNodesReached"))
    assert len(stack.proxmox.machines()) == 2


def test_min_nodes_are_launched_without_demand(clean):
    """Requirement R14."""
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox, limits={"minNodes": 2}))
    wait_for("two nodes", lambda: len(ready_claims(stack)) == 2)


def test_a_node_launched_for_a_pod_holds_it_beside_daemon_sets(clean):
    """R6 and R7: DaemonSet pods and the system's reserve are part of the size, so no useless machine is launched."""
    stack = clean
    daemon = manifests.deployment("agent", 1, cpu="200m", memory="128Mi", tolerations=[{"operator": "Exists"}])
    daemon["kind"] = "DaemonSet"
    del daemon["spec"]["replicas"]
    stack.apply(daemon, *manifests.everything(stack.proxmox))
    stack.apply(manifests.deployment("exact", 1, cpu="4", memory="4Gi"))
    wait_for("the pod and the agent running", lambda: len(running_pods(stack.pods())) == 2)
    assert len(stack.claims()) == 1


def test_deleting_a_pool_removes_its_machines(clean):
    """Requirement R2."""
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    stack.apply(manifests.deployment("shop", 2))
    wait_running(stack, 2)
    stack.cluster.kubectl("delete", "deployment", "shop", "--wait=false")
    stack.cluster.kubectl("-n", NAMESPACE, "delete", "nspool", "workers", "--timeout=240s")
    assert not stack.claims() and not stack.proxmox.machines()
    wait_for("no node", lambda: not stack.nodes())


def test_a_budget_without_slack_holds_the_drain_until_it_gives_way(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    stack.apply(manifests.deployment("shop", 1))
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "shop", "namespace": "default"},
              "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "shop"}}}}
    stack.apply(budget)
    wait_running(stack, 1)
    wait_for("a budget that counts the pod", lambda: stack.cluster.find(
        "/apis/policy/v1/namespaces/default/poddisruptionbudgets/shop")["status"].get("currentHealthy") == 1)
    claim, machine = stack.claims()[0]["metadata"]["name"], stack.proxmox.machines()[0]
    documented.run("replace-machine", stack.folder, (stack.cluster.program("kubectl").parent,), stack.cluster.kubeconfig,
                   CLAIM=claim, NAMESPACE=NAMESPACE)

    def drained():
        return condition(next(c for c in stack.claims() if c["metadata"]["name"] == claim), "Drained")
    wait_until("a drain blocked by the budget", drained, lambda c: c["reason"] == "BlockedByBudget" and "shop" in c["message"])
    # The pod fits nowhere else, so its next machine is launched before it has to leave this one.
    wait_for("a replacement that is Ready", lambda: [c for c in ready_claims(stack) if c["metadata"]["name"] != claim])
    assert [p["spec"]["nodeName"] for p in running_pods(stack.pods())] == [machine["name"]]
    assert machine["uuid"] in [m["uuid"] for m in stack.proxmox.machines() if m["status"] == "running"]
    assert len(stack.claims()) == 2
    stack.cluster.kubectl("delete", "pdb", "shop")
    wait_for("the removal of that claim", lambda: claim not in [c["metadata"]["name"] for c in stack.claims()])
    wait_running(stack, 1)
    wait_for("one machine, that of the pod", lambda: [m["name"] for m in stack.proxmox.machines()] == [
        p["spec"]["nodeName"] for p in running_pods(stack.pods())])
