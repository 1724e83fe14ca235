"""Tests what the installation's own manifests deny the operator's account, machines, and people with one of our roles."""

import datetime
import json

import pytest
import yaml

import manifests
from cluster import fixtures
from stack import ROOT, SYSTEM, Stack, wait_for, wait_until

NAMESPACE = manifests.NAMESPACE
OURS = "system:bootstrappers:kubenodesmith"
UID = "0f0e0d0c-0b0a-4908-8706-050403020100"
PLACES = ("node-role.kubernetes.io/control-plane", "node-restriction.kubernetes.io/kubenodesmith-operator")


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        kubectl = running.cluster.kubectl
        running.run_as_its_account()
        kubectl("apply", "-k", ROOT / "config/admission")
        running.people = {}
        for role in ("editor", "admin"):
            kubectl("create", "rolebinding", role, "-n", NAMESPACE, f"--clusterrole=kubenodesmith-{role}", f"--user={role}")
            running.people[role] = running.cluster.user_kubeconfig(running.folder / f"{role}.kubeconfig", role)
        yield running


def create(stack, thing, kubeconfig, dry_run=True):
    flags = ["--dry-run=server"] if dry_run else []
    return stack.cluster.kubectl("create", "-f", "-", *flags, stdin=json.dumps(thing), kubeconfig=kubeconfig, check=False)


def token(hours=1.0, group=OURS, uid=UID):
    expiration = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=hours)
    data = {"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
            "expiration": expiration.strftime("%Y-%m-%dT%H:%M:%SZ")}
    if group:
        data["auth-extra-groups"] = group
    return {"apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token", "stringData": data,
            "metadata": {"name": "bootstrap-token-abcdef", "namespace": "kube-system", "labels": {"kubenodesmith.io/claim-uid": uid}}}


def without_expiration():
    secret = token()
    del secret["stringData"]["expiration"]
    return secret


def test_the_operators_account_makes_only_short_tokens_for_one_node(stack):
    made = lambda secret: create(stack, secret, stack.operator.kubeconfig)
    wait_until("the policies to hold", lambda: made(token(hours=999)), lambda done: done.returncode != 0 and "within 6 hours" in done.stderr)
    for fine in (token(), token(hours=6)):
        done = made(fine)
        assert done.returncode == 0, done.stderr
    refused = {"within 6 hours": [token(hours=6.2), token(hours=24), without_expiration()],
               "config/cluster-approval": [token(group=""), token(group=fixtures.BOOTSTRAPPERS), token(group="system:bootstrappers:nodes"),
                                           token(group=f"{OURS},{fixtures.BOOTSTRAPPERS}")],
               "bootstrap tokens of its claims": [token(uid="x"), token(uid="")]}
    for message, secrets in refused.items():
        for secret in secrets:
            done = made(secret)
            assert done.returncode != 0 and message in done.stderr, (message, secret, done.stderr)
    # An administrator grants this for pools with bootstrap.approval Cluster.
    stack.cluster.kubectl("apply", "-k", ROOT / "config/cluster-approval")
    wait_until("the right", lambda: made(token(group=fixtures.BOOTSTRAPPERS)), lambda done: done.returncode == 0)
    stack.cluster.kubectl("delete", "-k", ROOT / "config/cluster-approval")


def pool(bootstrap, name="workers"):
    return manifests.pool(name, bootstrap={"method": "CloudInit", "apiServerEndpoint": "10.0.0.1:6443", **bootstrap})


def control_plane(bootstrap):
    plane = manifests.control_plane()
    plane["spec"]["bootstrap"] = {"method": "CloudInit", "apiServerEndpoint": "10.0.0.1:6443", **bootstrap}
    return plane


FOR_ANY_NODE = [{"format": "K3s"}, {"format": "RKE2"}, {"format": "K0s"}, {"approval": "Cluster"}]


def test_only_who_may_write_providers_asks_for_tokens_that_are_good_for_any_node(stack):
    editor, admin = stack.people["editor"], stack.people["admin"]
    wait_until("the policies to hold", lambda: create(stack, pool({"format": "K3s"}), editor),
               lambda done: done.returncode != 0 and "good for any Node" in done.stderr)
    for bootstrap in FOR_ANY_NODE:
        for thing in (pool(bootstrap), control_plane(bootstrap)):
            refused = create(stack, thing, editor)
            assert refused.returncode != 0 and "good for any Node" in refused.stderr, (thing, refused.stderr)
            allowed = create(stack, thing, admin)
            assert allowed.returncode == 0, allowed.stderr
    for thing in (pool({}), control_plane({})):
        allowed = create(stack, thing, editor)
        assert allowed.returncode == 0, allowed.stderr


def test_only_who_may_write_providers_names_networks_for_serving_certificates(stack):
    editor, admin = stack.people["editor"], stack.people["admin"]
    networks = control_plane({"servingNetworks": ["10.0.4.0/24"]})
    wait_until("the policies to hold", lambda: create(stack, networks, editor),
               lambda done: done.returncode != 0 and "addresses a machine may name" in done.stderr)
    made = create(stack, networks, admin, dry_run=False)
    assert made.returncode == 0, made.stderr
    patch = lambda spec: stack.cluster.kubectl("patch", "nodesmithcontrolplane", networks["metadata"]["name"], "-n", NAMESPACE,
                                               "--type=merge", "-p", json.dumps({"spec": spec}), kubeconfig=editor, check=False)
    done = patch({"bootstrap": {"servingNetworks": ["0.0.0.0/0"]}})
    assert done.returncode != 0 and "addresses a machine may name" in done.stderr, done.stderr
    for spec in ({"mode": "Observe"}, {"bootstrap": {"servingNetworks": None}}):
        done = patch(spec)
        assert done.returncode == 0, done.stderr
    stack.cluster.kubectl("delete", "nodesmithcontrolplanes", "--all", "-n", NAMESPACE)


def test_who_may_write_pools_changes_all_else_of_such_a_pool(stack):
    editor = stack.people["editor"]
    patch = lambda name, spec: stack.cluster.kubectl("patch", "nodesmithpool", name, "-n", NAMESPACE, "--type=merge", "-p",
                                                     json.dumps({"spec": spec}), kubeconfig=editor, check=False)
    for thing in (pool({"format": "K3s"}, "of-k3s"), pool({}, "of-kubeadm")):
        made = create(stack, thing, stack.people["admin"], dry_run=False)
        assert made.returncode == 0, made.stderr
    done = patch("of-k3s", {"limits": {"maxNodes": 3}})
    assert done.returncode == 0, done.stderr
    for name, bootstrap in (("of-k3s", {"format": "K0s"}), ("of-kubeadm", {"approval": "Cluster"}), ("of-kubeadm", {"format": "RKE2"})):
        done = patch(name, {"bootstrap": bootstrap})
        assert done.returncode != 0 and "good for any Node" in done.stderr, (name, bootstrap, done.stderr)
    stack.cluster.kubectl("delete", "nodesmithpools", "--all", "-n", NAMESPACE)


def test_the_operators_account_gives_no_pod_another_owner(stack):
    stack.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone", "namespace": "default"},
                 "spec": {"schedulerName": "nobody", "containers": [{"name": "app", "image": "registry.example/app:1"}]}})
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "gone", "uid": UID}

    # kubectl itself reads the object that it patches, which the operator may not.
    stack.cluster.kubectl("create", "clusterrole", "reads-pods", "--verb=get", "--resource=pods,pods/status")
    stack.cluster.kubectl("create", "clusterrolebinding", "reads-pods", "--clusterrole=reads-pods", f"--serviceaccount={SYSTEM}:kubenodesmith")

    def patch(change):
        return stack.cluster.kubectl("patch", "pod", "alone", "--subresource=status", "--type=merge", "-p", json.dumps(change),
                                     kubeconfig=stack.operator.kubeconfig, check=False)

    wait_until("the right to read pods", lambda: patch({}), lambda done: done.returncode == 0)

    # An API server ignores the owners of a pod in a patch of its status. The policy would refuse what it did not ignore.
    patch({"metadata": {"ownerReferences": [owner]}})
    assert "ownerReferences" not in stack.cluster.api("GET", "/api/v1/namespaces/default/pods/alone")["metadata"]
    done = patch({"metadata": {"labels": {"app": "shop"}}})
    assert done.returncode != 0 and "only nominatedNodeName" in done.stderr, done.stderr
    done = patch({"status": {"nominatedNodeName": "somewhere"}})
    assert done.returncode == 0, done.stderr
    stack.cluster.kubectl("delete", "pod", "alone", "--wait=false")


def test_the_operators_account_binds_its_rights_to_nobody_else(stack):
    def bound_to(*subjects):
        binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                   "metadata": {"name": "kubenodesmith-credentials-in-use", "namespace": NAMESPACE},
                   "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kubenodesmith-credentials"},
                   "subjects": list(subjects)}
        return stack.cluster.kubectl("apply", "--server-side", "--dry-run=server", "--field-manager=kubenodesmith", "-f", "-",
                                     stdin=json.dumps(binding), kubeconfig=stack.operator.kubeconfig, check=False)

    itself = {"kind": "ServiceAccount", "name": "kubenodesmith", "namespace": SYSTEM}
    wait_until("the policies to hold", lambda: bound_to({"kind": "User", "name": "mallory"}),
               lambda done: done.returncode != 0 and "its own ServiceAccount only" in done.stderr)
    for others in ([], [itself, {"kind": "User", "name": "mallory"}], [{**itself, "namespace": "default"}], [{"kind": "Group", "name": "system:nodes"}]):
        done = bound_to(*others)
        assert done.returncode != 0 and "its own ServiceAccount only" in done.stderr, (others, done.stderr)
    done = bound_to(itself)
    assert done.returncode == 0, done.stderr


def machine(name, labels=()):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", **dict(labels)}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}], "capacity": {"cpu": "8", "memory": "16Gi", "pods": "110"},
                       "allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}}


def test_the_operators_pod_runs_on_no_node_whose_kubelet_would_like_to_have_it(stack):
    """Root on that Node would have the operator's rights. The kubelet may remove our labels from its Node, and may set no
    protected one."""
    kubectl = stack.cluster.kubectl
    for name in ("taken-over", "of-the-control-plane", "labelled"):
        stack.cluster.api("POST", "/api/v1/nodes", machine(name))
    kubelet = stack.cluster.user_kubeconfig(stack.folder / "kubelet.kubeconfig", "system:node:taken-over", groups=("system:nodes",))
    for label in PLACES:
        done = kubectl("label", "node", "taken-over", f"{label}=", kubeconfig=kubelet, check=False)
        assert done.returncode != 0 and label in done.stderr, done.stderr
    deployment = next(document for document in kustomized(stack, "config/manager") if document["kind"] == "Deployment")
    deployment["spec"]["template"]["spec"].pop("priorityClassName")
    stack.apply(deployment)
    pods = lambda: stack.pods(SYSTEM)
    condition = lambda pod: next((c for c in pod.get("status", {}).get("conditions", []) if c["type"] == "PodScheduled"), {})
    wait_for("the scheduler to find no place", lambda: pods() and all(condition(pod).get("reason") == "Unschedulable" for pod in pods()))
    for name, label in zip(("of-the-control-plane", "labelled"), PLACES):
        kubectl("label", "node", name, f"{label}=")
    wait_for("places", lambda: all(pod["spec"].get("nodeName") for pod in pods()))
    assert {pod["spec"]["nodeName"] for pod in pods()} <= {"of-the-control-plane", "labelled"}
    kubectl("delete", "deployment", "kubenodesmith", "-n", SYSTEM)
    kubectl("delete", "nodes", "--all")


def kustomized(stack, folder):
    return list(yaml.safe_load_all(stack.cluster.kubectl("kustomize", ROOT / folder)))


def test_an_optional_part_that_is_deleted_takes_nothing_else_along(stack):
    kubectl = stack.cluster.kubectl
    everything = lambda: kubectl("get", "crds,clusterroles,clusterrolebindings,validatingadmissionpolicies,namespaces", "-o", "name").split()
    before = everything()
    for folder in ("config/aggregated-roles", "config/cluster-approval"):
        kubectl("apply", "-k", ROOT / folder)
        assert set(everything()) > set(before)
        kubectl("delete", "-k", ROOT / folder)
        assert everything() == before, folder
