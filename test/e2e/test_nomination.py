"""The scheduler is told which pods a new Node was bought for (status.nominatedNodeName), and gives them its room. The operator runs as
its own ServiceAccount under the admission policies."""

import json

import manifests
import pytest
from stack import ROOT, Stack, is_true, running_pods, wait_for, wait_until


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        running.run_as_its_account()
        running.cluster.kubectl("apply", "-k", ROOT / "config/admission")
        running.operator.start().wait_ready()
        running.apply(*manifests.everything(running.proxmox, limits={"maxNodes": 0}))
        yield running


def told(stack):
    """Names of pods whose status the operator wrote, with the answer to each write."""
    writes = []
    for event in stack.audit():
        if event["verb"] == "patch" and event["objectRef"]["resource"] == "pods":
            assert event["objectRef"]["subresource"] == "status"
            writes.append((event["objectRef"]["name"], event["responseStatus"]["code"]))
    return writes


def pods_of(stack, app):
    return [pod for pod in stack.pods() if pod["metadata"].get("labels", {}).get("app") == app]


def patch_status(stack, pod, status):
    return stack.cluster.kubectl("patch", "pod", pod, "-n", "default", "--subresource=status", "--type=merge",
                                 "-p", json.dumps({"status": status}), kubeconfig=stack.operator.kubeconfig, check=False)


def test_pods_are_told_of_their_node_and_bound_there(stack):
    seen = {}
    stack.apply(manifests.deployment("shop", 6, cpu="1", memory="512Mi"))

    def all_run():
        for pod in pods_of(stack, "shop"):
            if node := pod["status"].get("nominatedNodeName"):
                seen[pod["metadata"]["name"]] = node
        return len(running_pods(pods_of(stack, "shop"))) == 6
    wait_for("six running pods", all_run, 240)
    written = told(stack)
    assert {name for name, code in written} == {pod["metadata"]["name"] for pod in pods_of(stack, "shop")}
    assert [code for _, code in written] == [200] * 6
    where = {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in pods_of(stack, "shop")}
    assert all(where[name] == node for name, node in seen.items())
    claims = {claim["metadata"]["name"]: claim for claim in stack.claims()}
    for pod in pods_of(stack, "shop"):
        bought_for = claims[pod["spec"]["nodeName"]]["metadata"]["annotations"]["kubenodesmith.io/bought-for"].split(",")
        assert pod["metadata"]["uid"] in bought_for
        assert "nominatedNodeName" not in pod["status"]


def test_the_policies_leave_the_operator_that_field_of_pods_that_wait(stack):
    stack.apply(manifests.deployment("never", 1, nodeSelector={"no": "such"}))
    (pod,) = wait_until("the pod", lambda: pods_of(stack, "never"), lambda pods: len(pods) == 1)
    name = pod["metadata"]["name"]
    forged = wait_until("the policy to hold", lambda: patch_status(stack, name, {"phase": "Failed"}), lambda done: done.returncode != 0)
    assert "only nominatedNodeName" in forged.stderr
    for status in ({"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}, {"message": "x"}, {"reason": "x"},
                   {"conditions": [{"type": "Ready", "status": "True"}]}):
        done = patch_status(stack, name, status)
        assert done.returncode != 0 and "only nominatedNodeName" in done.stderr, status
    label = stack.cluster.kubectl("patch", "pod", name, "-n", "default", "--subresource=status", "--type=merge",
                                  "-p", json.dumps({"metadata": {"labels": {"app": "stolen"}}}),
                                  kubeconfig=stack.operator.kubeconfig, check=False)
    assert label.returncode != 0 and "only nominatedNodeName" in label.stderr
    running = pods_of(stack, "shop")[0]["metadata"]["name"]
    done = patch_status(stack, running, {"nominatedNodeName": "elsewhere"})
    assert done.returncode != 0 and "only nominatedNodeName" in done.stderr
    done = patch_status(stack, name, {"nominatedNodeName": "somewhere"})
    assert done.returncode == 0, done.stderr


def test_nobody_is_told_where_it_is_not_wanted(stack):
    stack.apply(manifests.control_plane(nominate=False))
    before = len(told(stack))
    stack.apply(manifests.deployment("quiet", 2, cpu="7", memory="512Mi"))
    wait_for("two running pods", lambda: len(running_pods(pods_of(stack, "quiet"))) == 2, 240)
    assert len(told(stack)) == before
    assert all(is_true(claim, "Ready") for claim in stack.claims())
