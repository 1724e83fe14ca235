"""Tests attacks S5 and S10 with admission policies, by a person who may write status, or who has the operator's token. The
operator runs as its own ServiceAccount with config/rbac; the policies are added half-way."""

import json

import pytest

import manifests
from stack import ROOT, Stack, is_true, wait_for, wait_until

NAMESPACE = manifests.NAMESPACE


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        kubectl = running.cluster.kubectl
        running.run_as_its_account()
        # One of our roles once gave all of this: every verb on each of our resources, including status, in one namespace.
        kubectl("create", "role", "everything-of-ours", "-n", NAMESPACE, "--verb=*", "--resource=*.kubenodesmith.parawell.cloud")
        kubectl("create", "rolebinding", "mallory", "-n", NAMESPACE, "--role=everything-of-ours", "--user=mallory")
        running.mallory = running.cluster.user_kubeconfig(running.folder / "mallory.kubeconfig", "mallory")
        running.operator.start().wait_ready()
        yield running


def forge(stack, plural, name, status):
    return stack.cluster.kubectl("patch", plural, name, "-n", NAMESPACE, "--subresource=status", "--type=merge",
                                 "-p", json.dumps({"status": status}), kubeconfig=stack.mallory, check=False)


def in_service(stack, name):
    return [claim for claim in stack.claims() if claim["metadata"]["name"] == name and is_true(claim, "Ready")]


def policies_hold(stack, value):
    return stack.operator.metrics().get("kubenodesmith_admission_policies_installed") == value


def test_without_policies_the_operator_says_so(stack):
    wait_for("the metric", lambda: policies_hold(stack, 0))
    assert stack.operator.log.read_text().count("The admission policies do not protect this operator") == 1


def test_with_the_policies_nobody_else_writes_status(stack):
    stack.apply(*manifests.everything(stack.proxmox, scaleDown={"policy": "Never"}))
    stack.apply(manifests.claim("first"))
    wait_for("a claim in service", lambda: in_service(stack, "first"), 240)
    stack.cluster.kubectl("apply", "-k", ROOT / "config/admission")

    # An API server applies a policy some seconds after its creation. This one applies to all kinds.
    wait_until("the policy to hold", lambda: forge(stack, "nodesmithclaim", "first", {"zone": "elsewhere"}),
               lambda done: done.returncode != 0 and "only KubeNodeSmith writes the status" in done.stderr)
    for plural, name, status in (("nodesmithclaim", "first", {"systemUUID": "11111111-2222-4333-8444-555555555555", "nodeName": "victim"}),
                                 ("nodesmithpool", "workers", {"readyNodes": 7}), ("nodesmithprovider", "proxmox", {"machines": 7}),
                                 ("nodesmithcontrolplane", "kubenodesmith", {"nodes": 7})):
        done = forge(stack, plural, name, status)
        assert done.returncode != 0 and "only KubeNodeSmith writes the status" in done.stderr, (plural, done.stderr)
    # An administrator, who may act as any ServiceAccount, can.
    stack.cluster.kubectl("patch", "nodesmithclaim", "first", "-n", NAMESPACE, "--subresource=status", "--type=merge",
                          "-p", json.dumps({"status": {"unneededSince": None}}))


def service_account_token(name):
    return {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token", "metadata": {
        "name": name, "namespace": "kube-system", "labels": {"kubenodesmith.io/claim-uid": "x"},
        "annotations": {"kubernetes.io/service-account.name": "clusterrole-aggregation-controller"}}}


def test_the_operators_token_makes_no_token_of_another_account(stack):
    tried = lambda: stack.cluster.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(service_account_token("stolen")), check=False,
                                          kubeconfig=stack.operator.kubeconfig)
    wait_until("the policy to hold", tried, lambda done: done.returncode != 0 and "no other Secrets" in done.stderr)
    for name in ("stolen", "bootstrap-token-abcdef"):
        done = stack.cluster.kubectl("create", "-f", "-", stdin=json.dumps(service_account_token(name)), check=False,
                                     kubeconfig=stack.operator.kubeconfig)
        assert done.returncode != 0 and "bootstrap tokens of its claims and no other Secrets" in done.stderr
        assert not stack.cluster.find(f"/api/v1/namespaces/kube-system/secrets/{name}")
    # It also deletes no token that is not a claim's.
    token = stack.cluster.bootstrap_token()
    secret = f"bootstrap-token-{token.split('.')[0]}"
    done = stack.cluster.kubectl("delete", "secret", secret, "-n", "kube-system", check=False, kubeconfig=stack.operator.kubeconfig)
    assert done.returncode != 0 and "no other Secrets" in done.stderr
    stack.cluster.kubectl("delete", "secret", secret, "-n", "kube-system")


def test_the_operator_works_under_the_policies(stack):
    stack.operator.stop()
    stack.operator.start().wait_ready()
    wait_for("the metric", lambda: policies_hold(stack, 1))
    stack.apply(manifests.claim("second"))
    wait_for("a claim in service", lambda: in_service(stack, "second"), 240)
    stack.cluster.kubectl("delete", "nodesmithclaims", "--all", "-n", NAMESPACE, "--wait=false")
    wait_for("the end of all", lambda: not (stack.claims() or stack.nodes() or stack.proxmox.machines() or stack.bootstrap_tokens()), 240)
