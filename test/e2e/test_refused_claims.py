"""Tests claims and Nodes that a quota, a policy or a webhook refuses: who gets a message, what goes on, and how it ends."""

import time

import manifests
import pytest
from stack import NAMESPACE, Stack, condition, running_pods, seconds_since, wait_for

ADMISSION = "admissionregistration.k8s.io/v1"
CLAIMS = {"apiGroups": ["kubenodesmith.parawell.cloud"], "apiVersions": ["*"], "operations": ["CREATE"],
          "resources": ["nodesmithclaims"]}
SIZES = {"flexible": None, "sizes": [{"name": "small", "cpuCores": 2, "memoryMiB": 8192},
                                     {"name": "large", "cpuCores": 4, "memoryMiB": 16384}]}


def policy(name, expression, message):
    return [{"apiVersion": ADMISSION, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
             "spec": {"failurePolicy": "Fail", "matchConstraints": {"resourceRules": [CLAIMS]},
                      "validations": [{"expression": expression, "message": message}]}},
            {"apiVersion": ADMISSION, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
             "spec": {"policyName": name, "validationActions": ["Deny"]}}]


@pytest.fixture
def stack(tmp_path):
    with Stack(tmp_path) as running:
        running.install_crds()
        running.operator.start().wait_ready()
        yield running


def pool(stack, name):
    return next(p for p in stack.objects("nodesmithpools") if p["metadata"]["name"] == name)


def is_refused(stack, name, words):
    available = condition(pool(stack, name), "Available")
    return available.get("reason") == "ClaimsRefused" and words in available["message"]


def is_told(stack, pod, words):
    return any(e["reason"] == "NoNodeForPod" and e["involvedObject"]["name"].startswith(pod) and words in e["message"]
               for e in stack.events("default"))


def run(stack, name, count):
    running = [p for p in running_pods(stack.pods()) if p["metadata"]["name"].startswith(name)]
    return len(running) == count


def test_a_quota_on_claims_is_said_and_its_end_is_noticed(stack):
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "objects", "namespace": NAMESPACE},
             "spec": {"hard": {"count/nodesmithclaims.kubenodesmith.parawell.cloud": "0"}}}
    stack.apply(quota)
    stack.apply(*manifests.everything(stack.proxmox), manifests.deployment("web", 2, cpu="3"))
    wait_for("the pool's condition", lambda: is_refused(stack, "workers", "quota: objects"), timeout=30)
    wait_for("the pods' Event", lambda: is_told(stack, "web", "quota: objects"), timeout=15)
    wait_for("the end of the reservation", lambda: pool(stack, "workers")["status"]["reserved"]["nodes"] == 0, timeout=15)
    stack.cluster.kubectl("delete", "resourcequota", "objects", "-n", NAMESPACE)
    wait_for("the pods", lambda: run(stack, "web", 2), timeout=120)
    wait_for("the pool's recovery", lambda: condition(pool(stack, "workers"), "Available")["reason"] != "ClaimsRefused")


def test_a_policy_on_one_pool_holds_up_no_other(stack):
    stack.apply(*policy("frozen", "object.spec.poolRef != 'a'", "pool a is frozen by the cost team"))
    pools = [manifests.pool(name, template={"labels": {"team": name}}) for name in ("a", "b")]
    stack.apply(manifests.secret(stack.proxmox), manifests.provider(stack.proxmox), *pools, manifests.control_plane())
    time.sleep(5)  # the API server applies policies some seconds after they are made
    stack.apply(*[manifests.deployment(f"w{team}", 1, nodeSelector={"team": team}) for team in ("a", "b")])
    wait_for("the pod of b", lambda: run(stack, "wb", 1), timeout=60)
    wait_for("the condition of a", lambda: is_refused(stack, "a", "pool a is frozen by the cost team"))
    wait_for("the Event of a's pod", lambda: is_told(stack, "wa", "pool a is frozen by the cost team"))


def test_a_policy_on_one_size_leaves_the_others(stack):
    stack.apply(*policy("small", "object.spec.requirements.cpuCores < 4", "machines of 4 cores are closed"))
    objects = manifests.everything(stack.proxmox, template=SIZES)
    stack.apply(*objects)
    time.sleep(5)
    start = time.monotonic()
    stack.apply(manifests.deployment("big", 2, cpu="3"), manifests.deployment("little", 1, cpu="1"))
    wait_for("the small pod", lambda: run(stack, "little", 1), timeout=60)
    wait_for("the large pods' Event", lambda: is_told(stack, "big", "machines of 4 cores are closed"))
    assert is_refused(stack, "workers", "machines of 4 cores are closed")
    tries = stack.operator.log_text().count("A claim was refused")
    assert tries <= 16, f"{tries} in {seconds_since(start):.0f} s"


def test_a_webhook_for_nodes_that_is_down_is_named(stack):
    """The webhook covers only the operator's own requests, because otherwise kubelets could not join."""
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["nodes"]}]
    webhook = {"name": "nodes.example.org", "rules": rules, "failurePolicy": "Fail", "sideEffects": "None",
               "admissionReviewVersions": ["v1"], "timeoutSeconds": 2,
               "clientConfig": {"url": "https://127.0.0.1:1/nodes"},
               "matchConditions": [{"name": "operator", "expression": "!request.userInfo.username.startsWith('system:node:') "
                                                                      "&& request.userInfo.username != 'system:kube-controller-manager'"}]}
    stack.apply({"apiVersion": ADMISSION, "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "nodes"},
                 "webhooks": [webhook]})
    stack.apply(*manifests.everything(stack.proxmox), manifests.deployment("web", 1))

    def is_named():
        return any("failed calling webhook" in c.get("message", "") for claim in stack.claims()
                   for c in claim.get("status", {}).get("conditions", []))
    wait_for("the claim's condition", is_named, timeout=90)
    stack.cluster.kubectl("delete", "validatingwebhookconfiguration", "nodes")
    wait_for("the pod", lambda: run(stack, "web", 1), timeout=120)
