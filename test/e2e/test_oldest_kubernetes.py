"""Tests a cluster of the oldest Kubernetes that the user guide supports: its own API server, controllers, scheduler and
kubeadm."""

import re
import subprocess

import manifests
import pytest
from stack import ROOT, Stack, is_true, running_pods, wait_for, wait_until


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack"), oldest=True) as running:
        running.run_as_its_account()
        running.operator.start().wait_ready()
        running.apply(*manifests.everything(running.proxmox))
        yield running


def version_of(stack):
    return stack.cluster.api("GET", "/version")["gitVersion"]


def test_it_is_the_version_of_the_user_guide(stack):
    promised = re.search(r"Kubernetes cluster \((1\.\d+) or newer\)", (ROOT / "docs/user-guide.md").read_text())[1]
    assert version_of(stack).startswith(f"v{promised}.")


def test_pods_become_machines_and_machines_leave(stack):
    stack.apply(manifests.deployment("shop", 3))
    wait_for("three running pods", lambda: len(running_pods(stack.pods())) == 3)
    claims = wait_until("every claim Ready", stack.claims, lambda found: found and all(is_true(c, "Ready") for c in found))
    assert {n["metadata"]["name"] for n in stack.nodes()} == {c["metadata"]["name"] for c in claims}
    stack.cluster.kubectl("delete", "deployment", "shop")
    wait_for("the removal of all machines", lambda: not (stack.claims() or stack.proxmox.machines() or stack.nodes()))
    assert not stack.bootstrap_tokens()


def test_the_scheduler_of_that_version_is_told_nothing(stack):
    assert not [event for event in stack.audit() if event["verb"] == "patch" and event["objectRef"]["resource"] == "pods"]
    assert "right to nominate new nodes" not in stack.operator.log.read_text()


def test_kubeadm_of_that_version_reads_what_a_machine_was_given(stack):
    stack.apply(manifests.claim("by-hand"))
    wait_for("a Ready claim", lambda: [c for c in stack.claims() if is_true(c, "Ready")])
    (given,) = stack.folder.rglob("kubenodesmith-join.yaml")
    tried = subprocess.run([stack.cluster.program("kubeadm"), "config", "validate", "--config", given], capture_output=True, text=True, check=False)
    assert tried.returncode == 0, tried.stderr
    stack.cluster.kubectl("-n", manifests.NAMESPACE, "delete", "nodesmithclaim", "by-hand", "--wait=false")
    wait_for("the removal of the machine", lambda: not stack.proxmox.machines())


def test_the_operator_asked_for_nothing_that_this_server_does_not_know(stack):
    refused = [(event["verb"], event["requestURI"], event["responseStatus"]["code"]) for event in stack.audit()
               if event.get("responseStatus", {}).get("code") in (400, 405, 415, 422)]
    assert not refused
