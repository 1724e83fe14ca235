"""Tests that common workloads get hardly more machines than can hold them, as the real scheduler judges."""

import math

import manifests
import pytest
from proxmox_world import template
from stack import Stack, condition, running_pods, wait_for

NAMES = ("alfaromeo", "porsche", "zagato")
CORES = 4
# A core's tenth is for the system, so eight of these fill a machine.
CPU, MEMORY = 450, "512Mi"


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    world = {"hosts": [{"name": name, "cpus": 128, "memoryMiB": 1024 * 1024} for name in NAMES],
             "machines": [template(9000, NAMES[0], "k8s-debian", "shared")], "durations": {"boot": 1}}
    with Stack(tmp_path_factory.mktemp("stack"), world) as running:
        running.install_crds()
        running.operator.start().wait_ready()
        running.apply(manifests.secret(running.proxmox), manifests.provider(running.proxmox), manifests.control_plane(batching={}))
        yield running


def preferred_apart(app):
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]}}


# The kinds differ in the constraints between their pods.
KINDS = {
    "plain": lambda app: {},
    "spread": lambda app: {"topologySpreadConstraints": manifests.spread(app, "kubernetes.io/hostname")},
    "anyway": lambda app: {"topologySpreadConstraints": manifests.spread(app, "kubernetes.io/hostname", "ScheduleAnyway")},
    "apart": lambda app: {"affinity": preferred_apart(app)},
}


def machines_for(stack, name, deployments):
    """Returns how many machines a separate pool gets for pods that all run in the end, and how many cores these request."""
    label = {"for": name}
    made = [manifests.deployment(f"{name}-{kind}", count, cpu=f"{cpu}m", memory=MEMORY, nodeSelector=label, **KINDS[kind](f"{name}-{kind}"))
            for kind, count, cpu in deployments]
    stack.apply(*made)
    total = sum(count for _, count, _ in deployments)

    def ours():
        return [p for p in stack.pods() if p["metadata"]["labels"]["app"].startswith(f"{name}-")]
    # All pods exist before anything is created for them. On a busy machine they would otherwise arrive over minutes, and not
    # for one decision.
    wait_for(f"{total} pods of {name} to wait", lambda: sum(condition(p, "PodScheduled").get("status") == "False" for p in ours()) == total, 420)
    stack.apply(manifests.pool(name, limits={"maxNodes": 600}, template={
        "labels": label, "flexible": {"cpuCores": {"min": 1, "max": CORES}, "memoryMiB": {"min": 1024, "max": 16384}}},
        scaleDown={"policy": "Never"}))
    wait_for(f"{total} pods of {name} to run", lambda: len(running_pods(ours())) == total, 420)
    claims = [c for c in stack.claims() if c["spec"]["poolRef"] == name]
    assert not [c for c in claims if condition(c, "Failed")]
    stack.cluster.kubectl("-n", manifests.NAMESPACE, "delete", "nspool", name, "--wait=false")
    stack.cluster.kubectl("delete", "deployment", *[d["metadata"]["name"] for d in made], "--wait=false")
    return len(claims), sum(count * cpu for _, count, cpu in deployments) / 1000


@pytest.mark.parametrize("kind, pods, most", [("spread", 40, 8), ("apart", 30, 6), ("anyway", 30, 6)])
def test_pods_that_shall_be_apart_get_no_machine_each(stack, kind, pods, most):
    machines, _ = machines_for(stack, kind, [(kind, pods, CPU)])
    assert machines <= most


# The mix has no pods that require a spread over nodes. The scheduler fills nodes with others before them, in its own order.
# Then only a new node may take one more of them.
def test_a_mix_of_small_pods_gets_hardly_more_machines_than_hold_it(stack):
    machines, cores = machines_for(stack, "mix", [("plain", 440, 200), ("anyway", 330, 220), ("apart", 330, 250)])
    assert machines <= 75
    assert machines <= 1.2 * math.ceil(cores / (CORES - 0.1))
