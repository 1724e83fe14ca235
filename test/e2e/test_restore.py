"""Restores etcd from a backup while the operator goes on."""

import manifests
from stack import Operator, running_pods, wait_for

# Number of writes of others after the backup. etcd is that far from the versions that the operator's watches wait for.
WRITES = 3000


def write_often(stack):
    path = "/api/v1/namespaces/default/configmaps"
    stack.cluster.api("POST", path, {"metadata": {"name": "busy"}})
    for number in range(WRITES):
        stack.cluster.api("PATCH", f"{path}/busy", {"data": {"number": str(number)}}, "application/merge-patch+json")


def test_pods_that_wait_after_a_restore_get_their_machines(clean, tmp_path):
    stack = clean
    stack.operator.stop()
    # An API server that starts refuses rights that come from roles.
    operator = Operator(tmp_path, stack.cluster.user_kubeconfig(tmp_path / "leader.kubeconfig", "leader", ("system:masters",)))
    try:
        operator.start("--leader-elect", "--leader-election-namespace=default").wait_ready()
        stack.apply(*manifests.everything(stack.proxmox, limits={"maxNodes": 3}))
        pool = f"/apis/{manifests.API}/namespaces/{manifests.NAMESPACE}/nodesmithpools/workers"
        wait_for("the pool's status", lambda: stack.cluster.api("GET", pool)["status"]["conditions"])
        stack.cluster.back_up()
        write_often(stack)
        stack.cluster.restore()
        stack.apply(manifests.deployment("shop", 3, cpu="3"))
        wait_for("all pods running", lambda: len(running_pods(stack.pods())) == 3, 120)
        assert "was restored from a backup" in operator.log_text()
    finally:
        operator.stop()
        stack.operator.start().wait_ready()
