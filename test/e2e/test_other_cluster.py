"""Tests a provider that gets the values of another Proxmox cluster, as when they were copied, and later its own again."""

import json
import time

import manifests
import pytest
from proxmox import ProxmoxSimulator
from stack import BIN, condition, is_true, wait_for, wait_until

# This is long enough for an unwanted removal of a claim, a Node or a machine.
WATCH_SECONDS = 15


@pytest.fixture
def other(stack, tmp_path):
    """Provides another Proxmox cluster that accepts the same token."""
    world = tmp_path / "world.json"
    world.write_text(json.dumps({"cluster": "other"}))
    simulator = ProxmoxSimulator(tmp_path / "other", BIN, stack.cluster, world).start(die_with_parent=True)
    yield simulator
    simulator.stop()


def provider(stack):
    return stack.objects("nodesmithproviders")[0]


def cluster_of(stack):
    return provider(stack)["status"]["cluster"]["name"]


def fleet(stack):
    """Returns what must not change while the endpoint is another cluster's."""
    return (sorted(c["metadata"]["uid"] for c in stack.claims()), sorted(n["metadata"]["uid"] for n in stack.nodes()),
            sorted(m["vmid"] for m in stack.proxmox.machines()))


def test_another_cluster_behind_the_provider_costs_nothing_and_a_person_confirms_a_move(clean, other):
    stack = clean
    stack.apply(manifests.secret(stack.proxmox), manifests.provider(stack.proxmox), manifests.pool(limits={"minNodes": 2}),
                manifests.control_plane())
    wait_for("2 Ready claims", lambda: len([c for c in stack.claims() if is_true(c, "Ready")]) == 2, 240)
    assert cluster_of(stack) == "lab"
    before = fleet(stack)

    stack.apply(manifests.provider(other))
    refused = wait_until("the refusal", lambda: condition(provider(stack), "Ready"), lambda c: c.get("reason") == "OtherCluster")
    assert "cluster other" in refused["message"] and "cluster lab" in refused["message"]
    end = time.monotonic() + WATCH_SECONDS
    while time.monotonic() < end:
        assert fleet(stack) == before
        assert not other.machines()
        time.sleep(0.5)

    stack.apply(manifests.provider(stack.proxmox))
    wait_for("the provider to be Ready", lambda: is_true(provider(stack), "Ready"))
    assert fleet(stack) == before

    stack.apply(manifests.provider(other))
    wait_until("the refusal", lambda: condition(provider(stack), "Ready"), lambda c: c.get("reason") == "OtherCluster")
    stack.cluster.kubectl("annotate", "nodesmithprovider", "proxmox", "-n", manifests.NAMESPACE, "kubenodesmith.io/accept-cluster=other")
    wait_for("the move to be recorded", lambda: cluster_of(stack) == "other")
    wait_for("the provider to be Ready", lambda: is_true(provider(stack), "Ready"))
    assert "kubenodesmith.io/accept-cluster" not in provider(stack)["metadata"].get("annotations", {})
    assert fleet(stack)[:2] == before[:2]

    stack.apply(manifests.provider(stack.proxmox))
    stack.cluster.kubectl("annotate", "nodesmithprovider", "proxmox", "-n", manifests.NAMESPACE, "kubenodesmith.io/accept-cluster=lab")
    wait_for("the provider to be Ready", lambda: cluster_of(stack) == "lab" and is_true(provider(stack), "Ready"))
    assert fleet(stack) == before
