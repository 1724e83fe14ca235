"""Tests that the operator nominates pods for a new Node (status.nominatedNodeName), and that the scheduler gives them its
room. The operator runs as its own ServiceAccount under the admission policies."""

import collections
import json
import urllib.error

import manifests
import pytest
from stack import ROOT, USER, Stack, running_pods, wait_for, wait_until


STARTUP_TAINT = "example.com/not-yet"
OK, CONFLICT = 200, 409


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        running.run_as_its_account()
        running.cluster.kubectl("apply", "-k", ROOT / "config/admission")
        running.operator.start().wait_ready()
        running.apply(*manifests.everything(running.proxmox, limits={"maxNodes": 0}, template={
            "flexible": {"cpuCores": {"min": 1, "max": 4}, "memoryMiB": {"min": 1024, "max": 16384}},
            "startupTaints": [{"key": STARTUP_TAINT, "effect": "NoSchedule"}]}))
        yield running


def told(stack):
    """Returns the names of pods whose status the operator wrote, with the answer to each write."""
    writes = []
    for event in stack.audit():
        if event["verb"] == "patch" and event["objectRef"]["resource"] == "pods":
            assert event["objectRef"]["subresource"] == "status"
            writes.append((event["objectRef"]["name"], event["responseStatus"]["code"]))
    return writes


def pods_of(stack, app):
    return [pod for pod in stack.pods() if pod["metadata"].get("labels", {}).get("app") == app]


def patch_status(stack, pod, patch):
    """Returns the API server's complaint about a patch by the operator's account; "" if it accepts the patch."""
    try:
        stack.cluster.api("PATCH", f"/api/v1/namespaces/default/pods/{pod}/status", patch, "application/merge-patch+json", user=USER)
        return ""
    except urllib.error.HTTPError as error:
        return json.loads(error.read())["message"]


def take_startup_taints(stack):
    for node in stack.nodes():
        stack.cluster.kubectl("taint", "node", node["metadata"]["name"], f"{STARTUP_TAINT}-", check=False)


def test_pods_are_told_of_their_node_and_bound_there(stack):
    stack.apply(manifests.deployment("shop", 6, cpu="1", memory="512Mi"))

    def nominated():
        return {pod["metadata"]["name"]: pod["status"].get("nominatedNodeName") for pod in pods_of(stack, "shop")}
    promised = wait_until("six pods that are told of a Node", nominated, lambda names: len(names) == 6 and all(names.values()), 240)
    assert len(set(promised.values())) > 1

    def all_run():
        take_startup_taints(stack)
        return len(running_pods(pods_of(stack, "shop"))) == 6
    wait_for("six running pods", all_run, 240)
    # Equal pods may change places, because the scheduler forgets a nomination with each failed attempt. But no Node gets more
    # pods than were nominated for it.
    assert collections.Counter(pod["spec"]["nodeName"] for pod in pods_of(stack, "shop")) == collections.Counter(promised.values())
    # The operator nominates again after each failed attempt of the scheduler: at most eight times before the Node is open to
    # pods, and eight times afterwards.
    written = collections.Counter(name for name, code in told(stack) if code == OK)
    assert set(written) == set(promised) and max(written.values()) <= 16
    assert {code for _, code in told(stack)} <= {OK, CONFLICT}
    launched_for = {uid for claim in stack.claims() for uid in claim["metadata"]["annotations"]["kubenodesmith.io/launched-for"].split(",")}
    assert {pod["metadata"]["uid"] for pod in pods_of(stack, "shop")} <= launched_for
    assert not [pod for pod in pods_of(stack, "shop") if "nominatedNodeName" in pod["status"]]


def test_the_policies_leave_the_operator_that_field_of_pods_that_wait(stack):
    stack.apply(manifests.deployment("never", 1, nodeSelector={"no": "such"}))
    (pod,) = wait_until("the pod", lambda: pods_of(stack, "never"), lambda pods: len(pods) == 1)
    name = pod["metadata"]["name"]
    only = "only nominatedNodeName"
    wait_until("the policy to hold", lambda: patch_status(stack, name, {"status": {"phase": "Failed"}}), lambda why: only in why)
    for status in ({"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}, {"message": "x"}, {"reason": "x"},
                   {"conditions": [{"type": "Ready", "status": "True"}]}):
        assert only in patch_status(stack, name, {"status": status}), status
    assert only in patch_status(stack, name, {"metadata": {"labels": {"app": "stolen"}}})
    running = pods_of(stack, "shop")[0]["metadata"]["name"]
    assert only in patch_status(stack, running, {"status": {"reason": "x"}})
    assert patch_status(stack, name, {"status": {"nominatedNodeName": "somewhere"}}) == ""


def test_nobody_is_told_where_it_is_not_wanted(stack):
    stack.apply(manifests.control_plane(nominate=False))
    before = len(told(stack))
    stack.apply(manifests.deployment("quiet", 2, cpu="3", memory="512Mi"))

    def all_run():
        take_startup_taints(stack)
        return len(running_pods(pods_of(stack, "quiet"))) == 2
    wait_for("two running pods", all_run, 240)
    assert len(told(stack)) == before
