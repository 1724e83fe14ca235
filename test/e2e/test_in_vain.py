"""Tests that the operator launches nothing that would not help, and says so. It also considers everything beyond the pod
that the scheduler considers."""

import subprocess
import time

import manifests
import pytest
from stack import BIN, condition, running_pods, wait_for

# This is long enough for an unwanted launch to happen.
WATCH_SECONDS = 6


@pytest.fixture
def cluster(clean):
    """Provides a pool that launches, and afterwards deletes everything else that a test made in the namespace."""
    clean.apply(*manifests.everything(clean.proxmox))
    wait_for("a ready pool", lambda: [p for p in clean.objects("nodesmithpools") if condition(p, "Ready").get("status") == "True"])
    yield clean
    clean.cluster.kubectl("delete", "limitranges,persistentvolumeclaims,resourceclaims,csistoragecapacities", "--all",
                          "-n", "default", "--wait=false", check=False)
    clean.cluster.kubectl("delete", "storageclasses,csidrivers,priorityclasses", "-l", "test=in-vain", check=False)


def made(kind, api_version, name, cluster_wide=False, **fields):
    metadata = {"name": name, "labels": {"test": "in-vain"}}
    if not cluster_wide:
        metadata["namespace"] = "default"
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def verdicts(stack, pod_prefix):
    """Returns what the operator said about the pods."""
    return [e["message"] for e in stack.events("default")
            if e["reason"] == "NoNodeForPod" and e["involvedObject"]["name"].startswith(pod_prefix)]


def nothing_is_launched_for(stack, prefix, why):
    wait_for(f"the verdict on {prefix}", lambda: [m for m in verdicts(stack, prefix) if why in m])
    end = time.monotonic() + WATCH_SECONDS
    while time.monotonic() < end:
        assert not stack.claims()
        time.sleep(0.5)


def runs(stack, app, count=1):
    return len([p for p in running_pods(stack.pods()) if p["metadata"]["labels"].get("app") == app]) == count


def test_devices_that_no_machine_is_known_to_have(cluster):
    claim = made("ResourceClaim", "resource.k8s.io/v1", "one-gpu", spec={
        "devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}})
    pod = manifests.deployment("trains", 1, resourceClaims=[{"name": "gpu", "resourceClaimName": "one-gpu"}])
    pod["spec"]["template"]["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
    cluster.apply(claim, pod)
    nothing_is_launched_for(cluster, "trains", "asks for devices through ResourceClaim one-gpu")


def test_storage_without_room_and_with_it(cluster):
    driver = made("CSIDriver", "storage.k8s.io/v1", "csi.example.com", True, spec={"storageCapacity": True})
    storage = made("StorageClass", "storage.k8s.io/v1", "local", True, provisioner="csi.example.com",
                   volumeBindingMode="WaitForFirstConsumer")
    volume = made("PersistentVolumeClaim", "v1", "data", spec={
        "accessModes": ["ReadWriteOnce"], "storageClassName": "local", "resources": {"requests": {"storage": "10Gi"}}})
    pod = manifests.deployment("db", 1, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
    room = made("CSIStorageCapacity", "storage.k8s.io/v1", "room", storageClassName="local", nodeTopology={},
                capacity="1Gi")
    cluster.apply(driver, storage, room, volume, pod)
    nothing_is_launched_for(cluster, "db", "storage class local has no room left for a volume of 10Gi")
    cluster.apply({**room, "capacity": "100Gi"})
    # Nobody makes the volume here, but the scheduler chooses the node.
    wait_for("the scheduler to choose a node for the volume", lambda: [
        c for c in cluster.cluster.api("GET", "/api/v1/namespaces/default/persistentvolumeclaims")["items"]
        if "volume.kubernetes.io/selected-node" in c["metadata"].get("annotations", {})])
    assert len(cluster.claims()) == 1


def test_daemon_sets_take_what_limit_ranges_give_them(cluster):
    limits = made("LimitRange", "v1", "defaults", spec={"limits": [{"type": "Container", "defaultRequest": {"cpu": "2"},
                                                                   "default": {"cpu": "3"}}]})
    agent = manifests.deployment("agent", 1)
    del agent["spec"]["replicas"]
    agent["kind"] = "DaemonSet"
    agent["spec"]["template"]["spec"]["containers"][0]["resources"] = {}
    cluster.apply(limits, agent)
    # A new operator knows everything that existed before.
    cluster.operator.stop()
    cluster.operator.start().wait_ready()
    cluster.apply(manifests.deployment("web", 1))
    wait_for("the pod and the agent beside it", lambda: runs(cluster, "web") and runs(cluster, "agent"))
    assert len(cluster.claims()) == 1


def test_what_pods_only_prefer_causes_no_machine(cluster):
    """Thirty pods prefer not to share a node, and thirty prefer to be spread. Two machines hold them."""
    alone = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 100, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname",
                                            "labelSelector": {"matchLabels": {"app": "alone"}}}}]}}
    cluster.apply(
        manifests.deployment("alone", 30, cpu="100m", memory="64Mi", affinity=alone),
        manifests.deployment("spread", 30, cpu="100m", memory="64Mi", topologySpreadConstraints=manifests.spread(
            "spread", "kubernetes.io/hostname", "ScheduleAnyway")))
    wait_for("all pods", lambda: runs(cluster, "alone", 30) and runs(cluster, "spread", 30))
    assert len(cluster.claims()) <= 2


def test_expendable_pods_wait_for_what_others_leave(cluster):
    cluster.apply(made("PriorityClass", "scheduling.k8s.io/v1", "filler", True, value=-20))
    cluster.apply(manifests.deployment("filler", 1, priorityClassName="filler"))
    nothing_is_launched_for(cluster, "filler", "its priority -20 is below ignorePodsBelowPriority (-10)")


def test_room_of_a_pod_that_ends_is_waited_for(cluster):
    old = manifests.deployment("old", 1, terminationGracePeriodSeconds=20)
    old["spec"]["template"]["metadata"]["annotations"] = {"test.kubenodesmith.io/stop-delay": "12s"}
    cluster.apply(old)
    wait_for("the pod", lambda: runs(cluster, "old"))
    size = cluster.claims()[0]["spec"]["requirements"]
    cluster.cluster.kubectl("scale", "deployment", "old", "--replicas=0")
    wait_for("the pod to be told to end", lambda: "deletionTimestamp" in cluster.pods()[0]["metadata"])
    cluster.apply(manifests.deployment("new", 1, cpu=str(size["cpuCores"] - 1)))
    wait_for("the pod that waited", lambda: runs(cluster, "new"))
    assert len(cluster.claims()) == 1


def program(stack, *argv):
    return subprocess.run([BIN / "kubenodesmith", "--kubeconfig", stack.cluster.kubeconfig, *argv],
                          capture_output=True, text=True, check=False).stdout


def test_three_machines_that_did_not_come_are_enough_and_everybody_says_so(cluster):
    # The machines run, but join at an address where nobody listens. A machine that never ran does not count.
    broken = manifests.pool(bootstrap={"method": "CloudInit", "apiServerEndpoint": "127.0.0.1:9"},
                            scaleUp={"maxLaunchAttempts": 1, "registrationTimeout": "5s", "retry": {"initialBackoff": "1s", "maxBackoff": "1s"}})
    cluster.apply(broken)
    cluster.apply(manifests.deployment("unlucky", 1))
    why = "3 machines were created for it within an hour"
    nothing_more = wait_for("the verdict", lambda: [m for m in verdicts(cluster, "unlucky") if why in m], 240)
    assert nothing_more
    pod = cluster.pods()[0]["metadata"]["name"]
    assert why in program(cluster, "explain", "pod", pod)
    plan = program(cluster, "plan")
    assert why in plan and "create a machine" not in plan, plan
