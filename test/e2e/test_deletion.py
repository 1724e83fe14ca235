"""Tests that everything that is deleted ends, in any order: the objects of a folder, and the namespace that holds them. The
operator runs as its own ServiceAccount with the shipped roles and admission policies, and no machine may be left."""

import json
import random

import pytest

import manifests
from stack import ROOT, SYSTEM, Stack, is_true, wait_for

NAMESPACE = manifests.NAMESPACE
FINALIZER = "kubenodesmith.io/credentials-in-use"
IN_USE = "kubenodesmith-credentials-in-use"
TWO_MINUTES = 120  # in seconds


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        running.run_as_its_account()
        running.cluster.kubectl("apply", "-k", ROOT / "config/admission")
        running.operator.start().wait_ready()
        yield running


def set_up(stack):
    """Makes two machines in service with pods, and one that is still being made."""
    stack.cluster.kubectl("apply", "-f", ROOT / "config/rbac/managed_namespaces.yaml")
    wait_for("the right to read Secrets", lambda: stack.may("get", "secrets", "-n", NAMESPACE, f"--as=system:serviceaccount:{SYSTEM}:kubenodesmith"))
    stack.apply(*manifests.everything(stack.proxmox, scaleDown={"policy": "Never"}), manifests.deployment("app", 2))
    stack.apply(manifests.claim("first"), manifests.claim("second"))
    wait_for("two claims in service", lambda: sum(is_true(claim, "Ready") for claim in stack.claims()) >= 2, 240)
    stack.apply(manifests.claim("late"))
    wait_for("a third machine", lambda: len(stack.proxmox.machines()) >= 3)


def secret(stack, name="proxmox"):
    return stack.cluster.find(f"/api/v1/namespaces/{NAMESPACE}/secrets/{name}")


def finalizers(item):
    return (item or {"metadata": {}})["metadata"].get("finalizers", [])


def nothing_is_left(stack):
    return not (stack.proxmox.machines() or secret(stack) or any(stack.objects(plural) for plural in (
        "nodesmithproviders", "nodesmithpools", "nodesmithclaims", "nodesmithcontrolplanes")))


def patched_by_the_operator(stack, *patch):
    return stack.cluster.kubectl("patch", "secret", "proxmox", "-n", NAMESPACE, "--type=json", "-p", json.dumps(patch), check=False,
                                 kubeconfig=stack.operator.kubeconfig)


def test_secrets_are_protected_and_the_operator_changes_nothing_else_of_them(stack):
    set_up(stack)
    stack.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "of-others", "namespace": NAMESPACE}})
    before = secret(stack, "of-others")
    assert finalizers(secret(stack)) == [FINALIZER]
    binding = stack.cluster.find(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/rolebindings/{IN_USE}")
    assert finalizers(binding) == [FINALIZER]
    assert [(s["kind"], s["namespace"], s["name"]) for s in binding["subjects"]] == [("ServiceAccount", SYSTEM, "kubenodesmith")]
    for patch in ({"op": "add", "path": "/data/x", "value": "eA=="}, {"op": "add", "path": "/metadata/labels", "value": {"x": "y"}},
                  {"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/other"}):
        done = patched_by_the_operator(stack, patch)
        assert done.returncode != 0 and "nothing of a Secret but its own finalizer" in done.stderr, done.stderr
    # It also does not give its rights to anybody else.
    done = stack.cluster.kubectl("patch", "rolebinding", IN_USE, "-n", NAMESPACE, "--type=json", "-p",
                                 json.dumps([{"op": "replace", "path": "/subjects/0/name", "value": "default"}]), check=False,
                                 kubeconfig=stack.operator.kubeconfig)
    assert done.returncode != 0 and "its own ServiceAccount only" in done.stderr, done.stderr
    assert secret(stack, "of-others") == before


def test_objects_that_are_deleted_at_once_end_in_any_order(stack):
    documents = [("secret", "proxmox"), ("nodesmithprovider", "proxmox"), ("nodesmithpool", "workers"), ("nodesmithcontrolplane", "kubenodesmith")]
    random.Random(1).shuffle(documents)
    for kind, name in [("secret", "proxmox"), *documents]:  # the Secret first, as in the observed case
        stack.cluster.kubectl("delete", kind, name, "-n", NAMESPACE, "--wait=false", "--ignore-not-found")
    # The people who made claims have to delete them.
    stack.cluster.kubectl("delete", "nodesmithclaims", "--all", "-n", NAMESPACE, "--wait=false")
    wait_for("the end of everything", lambda: nothing_is_left(stack), TWO_MINUTES)
    assert not stack.cluster.find(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/rolebindings/{IN_USE}")
    assert not stack.nodes()


def test_a_namespace_ends_with_its_machines_also_across_a_restart(stack):
    set_up(stack)
    stack.cluster.kubectl("delete", "namespace", NAMESPACE, "--wait=false")
    wait_for("the installed RoleBinding to be gone", lambda: not stack.cluster.find(
        f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/rolebindings/kubenodesmith-credentials"))
    stack.operator.kill()
    stack.operator.start().wait_ready()
    wait_for("the end of the namespace", lambda: not stack.cluster.find(f"/api/v1/namespaces/{NAMESPACE}"), TWO_MINUTES)
    assert not stack.proxmox.machines()
    assert not stack.nodes()
