"""The main job as a user sees it: pods become machines, machines leave when they are no longer needed."""

import json

import documented
import manifests
from stack import NAMESPACE, condition, is_true, running_pods, wait_for

CLAIM_CONDITIONS = ("Launched", "Registered", "Initialized", "Ready")


def ready_claims(stack):
    return [c for c in stack.claims() if all(is_true(c, kind) for kind in CLAIM_CONDITIONS)]


def wait_running(stack, count, timeout=60):
    wait_for(f"{count} running pods", lambda: len(running_pods(stack.pods())) == count, timeout)


def test_pending_pods_become_machines_that_join_and_leave_again(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    stack.apply(manifests.deployment("shop", 3))
    wait_running(stack, 3)
    claims = wait_for("every claim Ready", lambda: (c := ready_claims(stack)) and len(c) == len(stack.claims()) and c)

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
    wait_for("the removal of all machines", lambda: not (stack.claims() or stack.proxmox.machines() or stack.nodes()), 60)


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
    description = wait_for("an Event that names the pod that the claim was bought for", lambda: (text := describe()) and "shop-" in text and text, 20)
    for kind in CLAIM_CONDITIONS:
        assert kind in description
    assert stack.proxmox.token_secret not in description + stack.operator.log.read_text()


def test_a_pod_that_fits_no_pool_gets_an_event_with_the_reason(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    stack.apply(manifests.deployment("giant", 1, cpu="100"))

    def reasons():
        return [e["message"] for e in stack.events("default") if e["involvedObject"]["kind"] == "Pod"
                and e["source"].get("component") == "kubenodesmith"]
    message = wait_for("an Event on the pod", reasons, 20)[0]
    assert "workers" in message and "CPU" in message
    assert not stack.claims()


def test_as_much_as_the_limit_allows_is_bought(clean):
    """R9: three pods that need three nodes, with two allowed, get two."""
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox, limits={"maxNodes": 2}))
    stack.apply(manifests.deployment("large", 3, cpu="6"))
    wait_running(stack, 2)
    full = lambda: condition(stack.objects("nodesmithpools")[0], "Available")
    wait_for("a pool that says it is full", lambda: (full().get("status"), full().get("reason")) == ("False", "MaxNodesReached"), 20)
    assert len(stack.proxmox.machines()) == 2


def test_min_nodes_are_bought_without_demand(clean):
    """R14."""
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox, limits={"minNodes": 2}))
    wait_for("two nodes", lambda: len(ready_claims(stack)) == 2, 60)


def test_a_node_bought_for_a_pod_holds_it_beside_daemon_sets(clean):
    """R6 and R7: DaemonSet pods and the system's reserve are part of the size, so no useless machine is bought."""
    stack = clean
    daemon = manifests.deployment("agent", 1, cpu="200m", memory="128Mi", tolerations=[{"operator": "Exists"}])
    daemon["kind"] = "DaemonSet"
    del daemon["spec"]["replicas"]
    stack.apply(daemon, *manifests.everything(stack.proxmox))
    stack.apply(manifests.deployment("exact", 1, cpu="4", memory="4Gi"))
    wait_for("the pod and the agent running", lambda: len(running_pods(stack.pods())) == 2, 60)
    assert len(stack.claims()) == 1


def test_deleting_a_pool_removes_its_machines(clean):
    """R2."""
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    stack.apply(manifests.deployment("shop", 2))
    wait_running(stack, 2)
    stack.cluster.kubectl("delete", "deployment", "shop", "--wait=false")
    stack.cluster.kubectl("-n", NAMESPACE, "delete", "nspool", "workers", "--timeout=60s")
    assert not stack.claims() and not stack.proxmox.machines()
    wait_for("no node", lambda: not stack.nodes(), 30)


def test_a_budget_without_slack_holds_the_drain_until_it_gives_way(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    stack.apply(manifests.deployment("shop", 1))
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "shop", "namespace": "default"},
              "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "shop"}}}}
    stack.apply(budget)
    wait_running(stack, 1)
    wait_for("a budget that counts the pod", lambda: stack.cluster.find(
        "/apis/policy/v1/namespaces/default/poddisruptionbudgets/shop")["status"].get("currentHealthy") == 1, 20)
    claim, machine = stack.claims()[0]["metadata"]["name"], stack.proxmox.machines()[0]
    documented.run("replace-machine", stack.folder, (stack.cluster.program("kubectl").parent,), stack.cluster.kubeconfig,
                   CLAIM=claim, NAMESPACE=NAMESPACE)

    def drained():
        return condition(next(c for c in stack.claims() if c["metadata"]["name"] == claim), "Drained")
    wait_for("a drain blocked by the budget", lambda: drained().get("reason") == "BlockedByBudget", 20)
    assert "shop" in drained()["message"]
    # The pod fits nowhere else, so its next machine is bought before it has to leave this one.
    wait_for("a replacement that is Ready", lambda: [c for c in ready_claims(stack) if c["metadata"]["name"] != claim], 60)
    assert [p["spec"]["nodeName"] for p in running_pods(stack.pods())] == [machine["name"]]
    assert machine["uuid"] in [m["uuid"] for m in stack.proxmox.machines() if m["status"] == "running"]
    assert len(stack.claims()) == 2
    stack.cluster.kubectl("delete", "pdb", "shop")
    wait_for("the removal of that claim", lambda: claim not in [c["metadata"]["name"] for c in stack.claims()], 60)
    wait_running(stack, 1)
    assert [m["name"] for m in stack.proxmox.machines()] == [p["spec"]["nodeName"] for p in running_pods(stack.pods())]
