"""Tests README's own pool with its defaults, on hosts as users have them. Ordinary load runs, and pods that cannot run have
a reason."""

import re

import manifests
import pytest
import yaml
from documented import ROOT
from proxmox_world import template
from stack import Stack, condition, running_pods, wait_for

NAMES = ("alfaromeo", "porsche", "zagato")
CLUSTERS = {"three-of-16": (16, 16, 16), "three-of-4": (4, 4, 4), "unequal": (4, 8, 16)}


def world(cpus):
    hosts = [{"name": name, "cpus": count, "memoryMiB": 4096 * count} for name, count in zip(NAMES, cpus)]
    return {"hosts": hosts, "machines": [template(9000, NAMES[0], "k8s-debian", "shared")], "durations": {"boot": 1}}


@pytest.fixture(scope="module", params=CLUSTERS.values(), ids=CLUSTERS.keys())
def stack(request, tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack"), world(request.param)) as running:
        running.install_crds()
        running.operator.start().wait_ready()
        yield running


def readme_objects(proxmox):
    """Returns the objects that README says to apply, with this cluster's address and token."""
    block = re.search(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
    provider, pool, control_plane = yaml.safe_load_all(block)
    provider["spec"]["proxmox"].update(endpoint=f"{proxmox.url}/api2/json",
                                       tls={"fingerprintSHA256": proxmox.fingerprint})
    return manifests.secret(proxmox), provider, pool, control_plane


def events_about(stack, name):
    return [e["message"] for e in stack.events("default") if e["involvedObject"]["name"].startswith(name)]


def test_ordinary_load_runs_beside_a_pod_that_no_host_can_hold(stack):
    stack.apply(*readme_objects(stack.proxmox), manifests.deployment("huge", 1, cpu="20", memory="64Mi"),
                manifests.deployment("shop", 20, cpu="1", memory="256Mi"))

    def shops():
        pods = [p for p in stack.pods() if p["metadata"]["name"].startswith("shop")]
        return pods if len(running_pods(pods)) == 20 else None
    wait_for("20 running pods", shops, 240)
    largest = max(h["largestMachine"]["cpuCores"] for h in stack.objects("nodesmithproviders")[0]["status"]["hosts"])
    why = f"needs 20 CPUs, largest machine offers {largest - 0.1:g} after system reserve"
    wait_for(f"the Event on the pod that fits nowhere: {why}", lambda: any(why in m for m in events_about(stack, "huge")))
    assert all(c["spec"]["requirements"]["cpuCores"] <= largest for c in stack.claims())
    assert not [c for c in stack.claims() if condition(c, "Failed")]


def test_disk_space_launches_no_more_machines_than_it_needs(stack):
    """The operator once launched one machine for each pod, whatever the pod requested."""
    stack.cluster.kubectl("delete", "deployment", "huge", "--wait=false")
    stack.cluster.kubectl("-n", manifests.NAMESPACE, "patch", "nspool", "workers", "--type=merge",
                          "-p", '{"spec": {"limits": {"maxNodes": 20}}}')
    claims = {c["metadata"]["name"] for c in stack.claims()}
    pods = manifests.deployment("chart", 4, cpu="1", memory="64Mi")
    pods["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["ephemeral-storage"] = "50Mi"
    stack.apply(pods)
    wait_for("all pods", lambda: len(running_pods([p for p in stack.pods() if p["metadata"]["name"].startswith("chart")])) == 4, 240)
    more = [c for c in stack.claims() if c["metadata"]["name"] not in claims]
    assert sum(c["spec"]["requirements"]["cpuCores"] for c in more) <= 4 + len(more), more
