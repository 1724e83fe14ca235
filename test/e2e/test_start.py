"""Tests the operator's start when the cluster is not ready for it."""

from pathlib import Path

import manifests
from stack import Operator, Stack, running_pods, wait_for


def core_limit(pid):
    limits = Path(f"/proc/{pid}/limits").read_text().splitlines()
    return next(line for line in limits if line.startswith("Max core file size")).split()[5]


def test_without_crds_the_operator_waits_and_says_what_to_install(tmp_path):
    with Stack(tmp_path) as stack:
        stack.operator.start()
        wait_for("the end of core dumps, which would hold credentials", lambda: core_limit(stack.operator.process.pid) == "0")
        wait_for("a log line about the CRDs", lambda: "make install" in stack.operator.log_text())
        assert not stack.operator.ready()
        stack.install_crds()
        stack.operator.wait_ready()
        wait_for("the warning that nothing keeps two from acting", lambda: "Leader election is off" in stack.operator.log_text())
        stack.apply(*manifests.everything(stack.proxmox))
        assert stack.operator.stop() == 0


def test_an_unreachable_api_server_is_waited_for(tmp_path):
    with Stack(tmp_path) as stack:
        stack.cluster.stop()
        waiting = Operator(tmp_path, stack.cluster.kubeconfig).start()
        try:
            wait_for("a log line about the API server", lambda: "API server" in waiting.log_text())
            assert waiting.process.poll() is None
        finally:
            waiting.kill()


LEASE = "12c57729.kubenodesmith.parawell.cloud"
LEADS = f'leader_election_master_status{{name="{LEASE}"}}'


def lease_of_a_tenant():
    """Makes a Lease that is newer than each true one, in a namespace that no operator manages. It decides nothing."""
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": LEASE, "namespace": "default"},
            "spec": {"holderIdentity": "a-tenant", "leaseDurationSeconds": 3600, "renewTime": "2099-01-01T00:00:00.000000Z"}}


def test_an_operator_started_by_hand_acts_only_when_that_of_the_cluster_has_gone(tmp_path):
    with Stack(tmp_path) as stack:
        stack.install_crds()
        stack.cluster.kubectl("create", "namespace", "autoscaling")
        stack.operator.start("--leader-elect", "--leader-election-namespace=autoscaling").wait_ready()
        wait_for("the lead", lambda: stack.operator.metrics().get(LEADS) == 1)
        stack.apply(lease_of_a_tenant())
        (tmp_path / "by-hand").mkdir()
        by_hand = Operator(tmp_path / "by-hand", stack.cluster.kubeconfig)
        by_hand.start("--leader-elect", "--namespaces=kubenodesmith,autoscaling").wait_ready()
        try:
            wait_for("a look at the Lease", lambda: "lease=autoscaling/" in by_hand.log_text())
            stack.apply(*manifests.everything(stack.proxmox), manifests.deployment("shop", 1))
            wait_for("a machine", lambda: running_pods(stack.pods()))
            assert by_hand.metrics()[LEADS] == 0 and "Leading" not in by_hand.log_text()
            assert stack.operator.stop() == 0
            wait_for("the lead of the other", lambda: by_hand.metrics().get(LEADS) == 1)
        finally:
            by_hand.stop()
