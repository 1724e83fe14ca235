"""Tests drains of nodes on which an eviction is refused, fails or gets no answer, and what disruption budgets permit."""

import base64
import http.server
import json
import ssl
import threading
import time

import manifests
import pytest
from disruption import MEDIUM, all_ready, apply_all, claim_names, patch, patch_pool, wait_running
from pki import openssl
from stack import NAMESPACE, condition, wait_for, wait_until

NOBODY_LISTENS = "https://127.0.0.1:9/evict"


def webhook(url, authority=b"", **selection):
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/eviction"]}
    client = {"url": url, "caBundle": base64.b64encode(authority).decode()} if authority else {"url": url}
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "evictions"},
            "webhooks": [{"name": "evictions.hook.example", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                          "failurePolicy": "Fail", "timeoutSeconds": 4, "rules": [rule], "clientConfig": client, **selection}]}


class Answers(http.server.BaseHTTPRequestHandler):
    """Denies evictions of brokers, or does not answer them, and allows all others."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
        response = {"uid": request["uid"], "allowed": not request["name"].startswith("akafka-")}
        if not response["allowed"]:
            response["status"] = {"code": self.server.code, "message": "the broker moves its partitions first"}
            time.sleep(self.server.seconds)
        body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def evictions(clean, tmp_path):
    """Provides a function of code and seconds that adds a webhook for evictions."""
    certificate, key = tmp_path / "hook.crt", tmp_path / "hook.key"
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=evictions",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def ask(code=403, seconds=0):
        server.code, server.seconds = code, seconds
        clean.apply(webhook(f"https://127.0.0.1:{server.server_address[1]}/", certificate.read_bytes()))
    yield ask
    clean.cluster.kubectl("delete", "validatingwebhookconfiguration", "evictions", "--ignore-not-found")
    server.shutdown()


def is_asked(stack, pod, namespace="default"):
    """Reports whether the API server asks the webhook about evictions of this pod yet, because a configuration takes effect
    late."""
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
    return stack.cluster.kubectl("create", "--raw", f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction?dryRun=All", "-f", "-",
                                 stdin=json.dumps(eviction), check=False).returncode != 0


def one_node_with(stack, *deployments):
    apply_all(stack, template=MEDIUM)
    stack.apply(*deployments)
    (name,) = all_ready(stack, 1)
    wait_for("running pods", lambda: sum(d["spec"]["replicas"] for d in deployments) == len(on_node(stack, name)))
    return name


def on_node(stack, node):
    """Returns the names of the pods on the node."""
    return sorted(p["metadata"]["name"] for namespace in ("default", "policed") for p in stack.pods(namespace)
                  if p["spec"].get("nodeName") == node and "deletionTimestamp" not in p["metadata"])


def drain(stack, node):
    stack.cluster.kubectl("-n", NAMESPACE, "delete", "nodesmithclaim", node, "--wait=false")


def drained(stack, node):
    return condition(next(c for c in stack.claims() if c["metadata"]["name"] == node), "Drained")


def wait_said(stack, node, *words):
    said = wait_until("the reason in the condition", lambda: drained(stack, node),
                      lambda c: c and c["reason"] == "EvictionFailed" and all(word in c["message"] for word in words))
    assert said["status"] == "False"
    wait_for("an Event on the claim", lambda: [e for e in stack.events() if e["involvedObject"]["name"] == node
                                               and e["reason"] == "EvictionFailed" and e["type"] == "Warning"])


def test_a_webhook_that_is_down_for_one_namespace_keeps_no_other_pod(clean):
    stack = clean
    stack.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "policed", "labels": {"policed": "yes"}}})
    policed = manifests.deployment("policed", 1, cpu="200m")
    policed["metadata"]["namespace"] = "policed"
    node = one_node_with(stack, policed, manifests.deployment("free", 3, cpu="200m"))
    stack.apply(webhook(NOBODY_LISTENS, namespaceSelector={"matchLabels": {"policed": "yes"}}))
    (kept,) = [name for name in on_node(stack, node) if name.startswith("policed-")]
    wait_for("a webhook that is asked", lambda: is_asked(stack, kept, "policed"))
    drain(stack, node)
    wait_until("the other pods gone", lambda: on_node(stack, node), lambda names: names == [kept], 60)
    wait_said(stack, node, f"policed/{kept}: eviction failed: ", "failed calling webhook", "connection refused")
    stack.cluster.kubectl("delete", "validatingwebhookconfiguration", "evictions")
    wait_for("the end of the claim", lambda: node not in claim_names(stack))
    stack.cluster.kubectl("delete", "namespace", "policed")


@pytest.mark.parametrize("code, seconds, words", [
    (403, 0, "the broker moves its partitions first"), (404, 0, "the broker moves its partitions first"),
    (409, 0, "the broker moves its partitions first"), (429, 0, "the broker moves its partitions first"),
    (403, 10, "failed calling webhook")])
def test_a_pod_that_a_webhook_holds_keeps_no_other_pod(clean, evictions, code, seconds, words):
    stack = clean
    node = one_node_with(stack, manifests.deployment("akafka", 1, cpu="200m"), manifests.deployment("web", 3, cpu="200m"))
    (broker,) = [name for name in on_node(stack, node) if name.startswith("akafka-")]
    evictions(code, seconds)
    wait_for("a webhook that is asked", lambda: is_asked(stack, broker))
    drain(stack, node)
    wait_until("the other pods gone", lambda: on_node(stack, node), lambda names: names == [broker], 60)
    wait_said(stack, node, f"default/{broker}: eviction failed: ", words)
    stack.cluster.kubectl("delete", "validatingwebhookconfiguration", "evictions")
    wait_for("the end of the claim", lambda: node not in claim_names(stack))


def budget(name, app, **spec):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name, "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": app}}, **spec}}


def test_a_webhook_that_is_down_is_named_and_a_pod_with_two_budgets_keeps_no_other(clean):
    stack = clean
    node = one_node_with(stack, *(manifests.deployment(name, count, cpu="200m") for name, count in (("aweb", 1), ("mid", 3), ("zapp", 2))))
    pods = on_node(stack, node)
    kept = pods[0]
    stack.apply(budget("first", "aweb", maxUnavailable=1), budget("second", "aweb", maxUnavailable=1), webhook(NOBODY_LISTENS))
    wait_for("a webhook that is asked", lambda: is_asked(stack, pods[-1]))
    drain(stack, node)
    wait_said(stack, node, "failed calling webhook", "connection refused")
    assert on_node(stack, node) == pods
    stack.cluster.kubectl("delete", "validatingwebhookconfiguration", "evictions")
    wait_until("the other pods gone", lambda: on_node(stack, node), lambda names: names == [kept])
    wait_until("the reason in the condition", lambda: drained(stack, node), lambda c: all(
        words in c["message"] for words in (f"default/{kept}", "more than one PodDisruptionBudget")))
    stack.cluster.kubectl("delete", "poddisruptionbudget", "second")
    wait_for("the end of the claim", lambda: node not in claim_names(stack))


@pytest.mark.parametrize("policy, least", [("AlwaysAllow", 3), ("IfHealthyBudget", 2)])
def test_an_unready_pod_leaves_its_drifted_node_if_its_budget_lets_it_go(clean, policy, least):
    stack = clean
    apply_all(stack, scale_down={"policy": "Never"}, disruption={"budgets": [{"nodes": "100%"}]}, template=MEDIUM)
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": {"app": "crash"}}, "topologyKey": "kubernetes.io/hostname"}]}}
    stack.apply(manifests.deployment("crash", 3, cpu="1", affinity=apart),
                budget("crash", "crash", minAvailable=least, unhealthyPodEvictionPolicy=policy))
    wait_running(stack, 3)
    nodes = all_ready(stack, 3)
    sick = stack.pods()[0]
    unready = [{"type": kind, "status": "False"} for kind in ("Ready", "ContainersReady")]
    stack.cluster.api("PATCH", f"/api/v1/namespaces/default/pods/{sick['metadata']['name']}/status", {"status": {"conditions": unready}},
                      "application/strategic-merge-patch+json")
    wait_until("a budget without slack", lambda: stack.cluster.api("GET", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/crash"),
               lambda found: found["status"].get("currentHealthy") == 2 and found["status"]["disruptionsAllowed"] == 0)
    patch_pool(stack, machineTemplate={"labels": {"tier": "new"}})
    left = sick["spec"]["nodeName"]
    names = wait_until("the end of its node", lambda: claim_names(stack), lambda found: left not in found, 240)
    assert nodes - {left} <= names
    wait_running(stack, 3)
    assert not [e for e in stack.events("default") if "can never allow" in e["message"] and e["involvedObject"]["name"] == left]


def test_an_unready_pod_leaves_a_host_that_is_evacuated_if_its_budget_lets_it_go(clean):
    stack = clean
    apply_all(stack, template=MEDIUM)
    stack.apply(manifests.deployment("web", 1, cpu="200m"),
                budget("web", "web", minAvailable=1, unhealthyPodEvictionPolicy="AlwaysAllow"))
    wait_running(stack, 1)
    (node,) = all_ready(stack, 1)
    (pod,) = stack.pods()
    unready = [{"type": kind, "status": "False"} for kind in ("Ready", "ContainersReady")]
    stack.cluster.api("PATCH", f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}/status", {"status": {"conditions": unready}},
                      "application/strategic-merge-patch+json")
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web"
    wait_until("a budget without slack", lambda: stack.cluster.api("GET", path)["status"], lambda status: status.get("currentHealthy") == 0)
    host = stack.claims()[0]["status"]["host"]
    patch(stack, "nsprovider", "proxmox", {"spec": {"proxmox": {"placement": {"evacuateNodes": [host]}}}}, NAMESPACE)
    wait_until("the end of the node", lambda: claim_names(stack), lambda names: node not in names, 240)
    wait_running(stack, 1)
    assert all(c["status"]["host"] != host for c in stack.claims())
    assert not [e for e in stack.events("default") if "can never allow" in e["message"] and "default/web" in e["message"]]


def test_a_pod_that_comes_back_to_the_node_that_is_drained_is_evicted_once(clean):
    """Like the operators of several network plugins, the pod tolerates every taint, and the node that is drained has most room."""
    stack = clean
    node = one_node_with(stack, manifests.deployment("anywhere", 1, cpu="200m", tolerations=[{"operator": "Exists"}]),
                         manifests.deployment("web", 2, cpu="200m"))
    before = accepted_evictions(stack)
    drain(stack, node)
    wait_for("the end of the claim", lambda: node not in claim_names(stack), 90)
    # Clocks differ by a second, so the first successor may count as older than the drain.
    assert 3 <= accepted_evictions(stack) - before <= 4


def accepted_evictions(stack):
    return stack.operator.metrics().get('kubenodesmith_evictions_total{action="evict",result="accepted"}', 0)
