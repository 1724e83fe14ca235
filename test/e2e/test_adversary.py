"""Tests attacks S1, S2 and S12, which once worked: a person has rights in a namespace that the administrator does not trust
with machines. That person gets no machine, token or right, causes no connection to foreign servers, and holds up no pool of
others. The operator runs as its own ServiceAccount."""

import base64
import json
import socketserver
import threading

import pytest

import manifests
from stack import KINDS, ROOT, SYSTEM, USER, Stack, condition, wait_for

TENANT = "tenant"


class Trap:
    """A server of the attacker that counts connections."""

    def __init__(self):
        trap = self
        self.connections = 0

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                trap.connections += 1
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}/api2/json"


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        cluster = running.cluster
        running.run_as_its_account()
        cluster.kubectl("create", "namespace", TENANT)
        cluster.kubectl("create", "rolebinding", "mallory", "-n", TENANT, "--clusterrole=admin", "--user=mallory")
        cluster.kubectl("create", "rolebinding", "eve", "-n", manifests.NAMESPACE, "--clusterrole=kubenodesmith-editor", "--user=eve")
        running.mallory = cluster.user_kubeconfig(running.folder / "mallory.kubeconfig", "mallory")
        # An API server applies bindings a moment after their creation, and its own roles when they are aggregated.
        wait_for("mallory's rights", lambda: running.may("create", "secrets", "-n", TENANT, "--as=mallory"))
        wait_for("eve's rights", lambda: running.may("create", "nodesmithpools", "-n", manifests.NAMESPACE, "--as=eve"))
        running.eve = cluster.user_kubeconfig(running.folder / "eve.kubeconfig", "eve")
        running.operator.start(f"--namespaces={manifests.NAMESPACE},{SYSTEM}").wait_ready()
        yield running


def apply_as(stack, kubeconfig, *things):
    return stack.cluster.kubectl("apply", "-f", "-", stdin="\n---\n".join(map(json.dumps, things)), check=False, kubeconfig=kubeconfig)


def of_tenant(thing):
    return {**thing, "metadata": {**thing["metadata"], "namespace": TENANT}}


def attack(stack, trap):
    """Makes a provider that is a server of the attacker, a pool that wants a machine immediately, and one more claim by
    hand."""
    password = base64.b64encode(b"secret").decode()
    bmc = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bmc"}, "data": {"username": password, "password": password}}
    host = {"apiVersion": manifests.API, "kind": "NodeSmithHost", "metadata": {"name": "host"},
            "spec": {"providerRef": "rack", "bmc": {"address": trap.url.removesuffix("/api2/json"), "systemID": "1", "tls": {"insecureSkipVerify": True}}}}
    rack = {"apiVersion": manifests.API, "kind": "NodeSmithProvider", "metadata": {"name": "rack"},
            "spec": {"type": "redfish", "credentialsSecretRef": {"name": "bmc"}, "redfish": {}}}
    things = [manifests.secret(stack.proxmox), bmc, rack, host, manifests.provider(stack.proxmox, endpoint=trap.url, tls={"insecureSkipVerify": True}),
              manifests.pool(limits={"minNodes": 1}), manifests.control_plane(), manifests.claim("by-hand")]
    return [of_tenant(thing) for thing in things]


def test_an_admin_of_some_namespace_may_not_make_our_objects(stack):
    done = apply_as(stack, stack.mallory, *attack(stack, Trap()))
    assert done.returncode != 0
    refused = [line for line in done.stderr.splitlines() if "is forbidden" in line]
    assert len(refused) == 6, done.stderr
    assert not [thing for plural in KINDS for thing in stack.objects(plural, TENANT)]


def test_where_admins_may_make_them_they_do_nothing_and_say_so(stack):
    cluster, trap = stack.cluster, Trap()
    cluster.kubectl("apply", "-k", ROOT / "config/aggregated-roles")
    wait_for("the right to make them", lambda: apply_as(stack, stack.mallory, *attack(stack, trap)).returncode == 0)
    for plural in KINDS:
        def told(plural=plural):
            things = stack.objects(plural, TENANT)
            return things and all(condition(thing, "Ready").get("reason") == "NamespaceNotManaged" for thing in things)
        wait_for(f"{plural} to say why they do nothing", told)
    (pool,) = stack.objects("nodesmithpools", TENANT)
    message = condition(pool, "Ready")["message"]
    assert TENANT in message and "--namespaces" in message, message
    # A pod that would need her pool gets no Event about it, and no machine is made for it.
    cluster.kubectl("create", "deployment", "shop", "--image=registry.example/app:1", "-n", TENANT)
    wait_for("the pod", lambda: stack.pods(TENANT))
    # The operator works in order: once our pool has a machine, hers has had its time.
    stack.apply(*manifests.everything(stack.proxmox, limits={"minNodes": 1}))
    wait_for("a machine of ours", lambda: [c for c in stack.claims() if c.get("status", {}).get("phase") == "Ready"], 240)
    (claim,) = stack.objects("nodesmithclaims", TENANT)
    assert claim["metadata"]["name"] == "by-hand" and not claim["metadata"].get("finalizers") and not claim["status"].get("providerID")
    assert trap.connections == 0
    touched = [event for event in stack.audit() if event.get("objectRef", {}).get("namespace") == TENANT]
    done = {(event["verb"], event["objectRef"]["resource"], event["objectRef"].get("subresource", "")) for event in touched}
    # Her pods are equal to others where one of our pools serves them: they are nominated for their Node, and get nothing else.
    assert done <= {*(("list", plural, "") for plural in KINDS), *(("patch", plural, "status") for plural in KINDS), ("create", "events", ""),
                    ("patch", "pods", "status")}
    secrets = {event["objectRef"].get("namespace") for event in stack.audit() if event.get("objectRef", {}).get("resource") == "secrets"}
    assert secrets <= {manifests.NAMESPACE, "kube-system"}


def test_the_operator_itself_may_read_no_secret_elsewhere(stack):
    may = stack.cluster.kubectl("auth", "can-i", "get", "secrets", "-n", TENANT, f"--as={USER}", check=False)
    assert may.stdout.strip() == "no"
    assert stack.cluster.kubectl("auth", "can-i", "get", "secrets", "-n", manifests.NAMESPACE, f"--as={USER}", check=False).stdout.strip() == "yes"


def test_who_may_write_pools_gets_no_provider_and_no_status(stack):
    made = apply_as(stack, stack.eve, manifests.pool("eves"))
    assert made.returncode == 0, made.stderr
    for thing in (manifests.provider(stack.proxmox, "eves"), manifests.secret(stack.proxmox, "eves")):
        done = apply_as(stack, stack.eve, thing)
        assert done.returncode != 0 and "is forbidden" in done.stderr, done.stderr
    done = stack.cluster.kubectl("patch", "nodesmithpool", "eves", "-n", manifests.NAMESPACE, "--subresource=status", "--type=merge",
                                 "-p", json.dumps({"status": {"readyNodes": 7}}), check=False, kubeconfig=stack.eve)
    assert done.returncode != 0 and "is forbidden" in done.stderr, done.stderr
    stack.cluster.kubectl("delete", "nodesmithpool", "eves", "-n", manifests.NAMESPACE)


def test_a_pool_elsewhere_holds_up_no_pool_of_the_same_name(stack):
    assert apply_as(stack, stack.mallory, of_tenant(manifests.pool("gpu", provider_name="none"))).returncode == 0
    wait_for("hers to be seen", lambda: [p for p in stack.objects("nodesmithpools", TENANT) if p["metadata"]["name"] == "gpu" and condition(p, "Ready")])
    stack.apply(manifests.pool("gpu"))

    def verdict():
        (pool,) = [p for p in stack.objects("nodesmithpools") if p["metadata"]["name"] == "gpu"]
        return condition(pool, "Ready")
    wait_for("ours to be Ready", lambda: verdict().get("status") == "True")
