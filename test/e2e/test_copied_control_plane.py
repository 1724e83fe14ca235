"""Tests a disaster drill with its network attached: a second control plane from a copy of etcd, with an operator of the same
machines."""

import manifests
import pytest
from cluster import Cluster
from stack import SYSTEM, Operator, condition, is_true, wait_for, wait_until

ELECTION = ("--leader-elect", f"--leader-election-namespace={SYSTEM}")
ENDED = "kubenodesmith.io/other-operator-ended"
CLAIMS = f"/apis/{manifests.API}/namespaces/{manifests.NAMESPACE}/nodesmithclaims"
PROVIDER = f"/apis/{manifests.API}/namespaces/{manifests.NAMESPACE}/nodesmithproviders/proxmox"
# A leader removes nothing for two minutes, and orphans that a test left are collected in rounds of three.
PATIENCE = 400


@pytest.fixture
def copy(tmp_path):
    cluster = Cluster(tmp_path / "copy")
    yield cluster
    cluster.stop()


def vmids(stack):
    return sorted(m["vmid"] for m in stack.proxmox.machines())


def ready_claims(stack):
    return sorted(c["metadata"]["name"] for c in stack.claims() if is_true(c, "Ready"))


def found(cluster):
    """Returns the message about the other operator, or an empty text."""
    return condition(cluster.api("GET", PROVIDER), "OtherOperatorFound").get("message", "")


def delete_claim(cluster, name):
    cluster.kubectl("delete", "nodesmithclaim", name, "-n", manifests.NAMESPACE, "--wait=false")


def is_held(cluster, name):
    return condition(cluster.api("GET", f"{CLAIMS}/{name}"), "MachineDeleted").get("reason") == "RemovalHeld"


def test_neither_operator_of_a_copied_control_plane_removes_machines_until_a_person_decides(clean, copy, tmp_path):
    stack = clean
    stack.operator.stop()
    stack.operator.start(*ELECTION).wait_ready()
    stack.apply(manifests.secret(stack.proxmox), manifests.provider(stack.proxmox), manifests.pool(limits={"minNodes": 2}),
                manifests.control_plane())
    names = wait_until("2 Ready claims", lambda: ready_claims(stack), lambda claims: len(claims) == 2, 240)
    before = vmids(stack)

    copy.start_as_copy_of(stack.cluster)
    stack.operator.wait_ready()
    # No machine is created there, so that none is left.
    copy.kubectl("patch", "nodesmithpool", "workers", "-n", manifests.NAMESPACE, "--type=merge", "-p", '{"spec": {"limits": {"minNodes": 0}}}')
    delete_claim(copy, names[0])
    other = Operator(tmp_path, copy.kubeconfig)
    try:
        other.start(*ELECTION).wait_ready()
        wait_for("the copy's operator to hold the removal", lambda: is_held(copy, names[0]), PATIENCE)
        ours = wait_until("the report of the original", lambda: found(stack.cluster), bool, PATIENCE)
        theirs = wait_until("the report of the copy", lambda: found(copy), bool, PATIENCE)
    finally:
        other.stop()
    epoch = ours.split("with epoch ")[1].split()[0]
    assert f"this one with epoch {epoch}," in theirs
    assert vmids(stack) == before

    stack.cluster.kubectl("patch", "nodesmithpool", "workers", "-n", manifests.NAMESPACE, "--type=merge", "-p", '{"spec": {"limits": {"minNodes": 1}}}')
    delete_claim(stack.cluster, names[1])
    wait_for("the original to hold the removal", lambda: is_held(stack.cluster, names[1]), PATIENCE)
    assert vmids(stack) == before

    stack.cluster.kubectl("annotate", "nodesmithprovider", "proxmox", "-n", manifests.NAMESPACE, f"{ENDED}={epoch}")
    wait_for("the removal", lambda: len(vmids(stack)) == 1 and ready_claims(stack) == [names[0]], PATIENCE)
    assert not found(stack.cluster)
    assert ENDED not in stack.cluster.api("GET", PROVIDER)["metadata"].get("annotations", {})
