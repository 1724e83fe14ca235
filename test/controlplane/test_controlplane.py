"""Tests the test control plane itself: it behaves as a kubeadm cluster with real machines does."""

import base64
import gzip
import json
import subprocess
import sys
import time
import urllib.error
from pathlib import Path

import pytest

from cluster import Cluster, wait_for, wait_until
from guests import Guest, join_configuration, user_data
from processes import start_time

POOL_LABEL = "topology.kubenodesmith.io/pool"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def guest(cluster, tmp_path):
    return Guest(cluster, tmp_path / "machine")


def node(cluster, name):
    return cluster.find(f"/api/v1/nodes/{name}")


def ready(cluster, name):
    conditions = node(cluster, name)["status"]["conditions"]
    return next(c["status"] for c in conditions if c["type"] == "Ready")


def join(cluster, guest, name, token=None, **options):
    return guest.boot(user_data(join_configuration(cluster, token or cluster.bootstrap_token(), name, **options)), timeout="60s")


def pod(name, node_name=None, **extra):
    spec = {"containers": [{"name": "main", "image": "example.com/app:1", "resources": {"requests": {"cpu": "500m"}}}],
            "terminationGracePeriodSeconds": 5}
    if node_name:
        spec["nodeSelector"] = {"kubernetes.io/hostname": node_name}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **extra}, "spec": spec}


PODS = "/api/v1/namespaces/default/pods"


def test_a_machine_with_cloud_init_data_joins_and_becomes_ready(cluster, guest):
    taint = {"key": "example.com/dedicated", "value": "batch", "effect": "NoSchedule"}
    done = join(cluster, guest, "joins", labels=f"{POOL_LABEL}=blue,example.com/disk=ssd", taints=[taint], provider_id="proxmox://c/pve/101")
    assert done.returncode == 0, done.stderr
    wait_for("Ready", lambda: ready(cluster, "joins") == "True")

    found = node(cluster, "joins")
    labels = found["metadata"]["labels"]
    assert labels["kubernetes.io/hostname"] == "joins"
    assert (labels[POOL_LABEL], labels["example.com/disk"]) == ("blue", "ssd")
    assert found["spec"]["providerID"] == "proxmox://c/pve/101"
    assert taint in found["spec"]["taints"]
    assert found["status"]["nodeInfo"]["systemUUID"] == guest.system_uuid
    assert found["status"]["nodeInfo"]["kubeletVersion"] == "v1.37.2"
    assert (found["status"]["capacity"]["cpu"], found["status"]["capacity"]["memory"]) == ("4", "8Gi")
    assert (found["status"]["allocatable"]["cpu"], found["status"]["allocatable"]["memory"]) == ("3900m", f"{8192 - 200}Mi")


def test_a_pending_pod_runs_on_the_node_that_joins_and_goes_when_deleted(cluster, guest):
    cluster.api("POST", PODS, pod("waits", "runs-pods"))

    def unschedulable():
        conditions = cluster.find(f"{PODS}/waits")["status"].get("conditions", [])
        return any(c["type"] == "PodScheduled" and c.get("reason") == "Unschedulable" for c in conditions)

    wait_for("the scheduler's verdict", unschedulable)
    assert join(cluster, guest, "runs-pods").returncode == 0
    wait_for("Running", lambda: cluster.find(f"{PODS}/waits")["status"]["phase"] == "Running")
    status = cluster.find(f"{PODS}/waits")["status"]
    assert {c["type"]: c["status"] for c in status["conditions"]}["Ready"] == "True"
    assert {c["type"]: c["status"] for c in status["conditions"]}["PodScheduled"] == "True"
    cluster.api("DELETE", f"{PODS}/waits")
    wait_for("the pod's end", lambda: cluster.find(f"{PODS}/waits") is None)


def test_a_job_completes(cluster, guest):
    assert join(cluster, guest, "runs-jobs").returncode == 0
    cluster.api("POST", "/apis/batch/v1/namespaces/default/jobs", {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "sum"},
        "spec": {"template": {"spec": {**pod("x", "runs-jobs")["spec"], "restartPolicy": "Never"}}}})
    wait_for("completion", lambda: cluster.find("/apis/batch/v1/namespaces/default/jobs/sum")["status"].get("succeeded") == 1)


def test_a_slow_pod_stops_as_slowly_as_its_annotation_says(cluster, guest):
    assert join(cluster, guest, "slow").returncode == 0
    cluster.api("POST", PODS, pod("slow", "slow", annotations={"test.kubenodesmith.io/stop-delay": "10s"}))
    wait_for("Running", lambda: cluster.find(f"{PODS}/slow")["status"]["phase"] == "Running")
    cluster.api("DELETE", f"{PODS}/slow")
    time.sleep(2)
    assert cluster.find(f"{PODS}/slow") is not None
    wait_for("the pod's end", lambda: cluster.find(f"{PODS}/slow") is None)


def wrong_secret(cluster):
    return cluster.bootstrap_token().split(".")[0] + ".0123456789abcdef"


@pytest.mark.parametrize("bad_token", [wrong_secret, lambda _: "zzzzzz.0123456789abcdef", lambda c: c.bootstrap_token(-60)],
                         ids=["wrong", "missing", "expired"])
def test_a_machine_with_a_bad_token_never_joins(cluster, guest, bad_token):
    data = user_data(join_configuration(cluster, bad_token(cluster), "intruder"))
    done = guest.boot(data, timeout="10s")
    assert done.returncode == 1
    assert "couldn't validate the identity of the API Server" in done.stderr
    assert node(cluster, "intruder") is None


def test_a_machine_that_pins_another_ca_never_joins(cluster, guest):
    done = join(cluster, guest, "pinned", ca_hash="sha256:" + "0" * 64)
    assert done.returncode == 1
    assert "do not match" in done.stderr or "not trusted" in done.stderr or "none of the public keys" in done.stderr, done.stderr
    assert node(cluster, "pinned") is None


def test_labels_that_a_kubelet_may_not_set_keep_the_machine_out(cluster, guest):
    done = join(cluster, guest, "labelled", labels="node-role.kubernetes.io/worker=")
    assert done.returncode == 1
    assert "unknown 'kubernetes.io' or 'k8s.io' labels" in done.stderr
    assert node(cluster, "labelled") is None


def test_kubeadm_refuses_the_name_of_a_ready_node(cluster, guest, tmp_path):
    assert join(cluster, guest, "twin").returncode == 0
    wait_for("Ready", lambda: ready(cluster, "twin") == "True")
    second = Guest(cluster, tmp_path / "second")
    done = join(cluster, second, "twin")
    assert done.returncode == 1
    assert "already exists in the cluster" in done.stderr
    assert node(cluster, "twin")["status"]["nodeInfo"]["systemUUID"] == guest.system_uuid


def test_user_data_without_a_join_boots_but_never_joins(cluster, guest):
    done = guest.boot("#cloud-config\npackages: [vim]\n")
    assert done.returncode == 1
    assert "never joins" in done.stderr


def test_an_image_joins_by_itself_with_a_bootstrap_kubeconfig(cluster, guest):
    config = guest.folder / "bootstrap.kubeconfig"
    cluster._write_kubeconfig(config, {"token": cluster.bootstrap_token()})
    done = guest.run(*guest.hardware, "--kubeconfig", config, "--name", "netboot", "--node-labels", "example.com/image=netboot")
    assert done.returncode == 0, done.stderr
    assert node(cluster, "netboot")["metadata"]["labels"]["example.com/image"] == "netboot"


def test_a_short_join_command_takes_the_host_name_of_the_cloud_init_data(cluster, guest):
    meta = guest.folder / "meta-data"
    meta.write_text("instance-id: i-1\nlocal-hostname: From-Meta-Data\n")
    endpoint = cluster.server.removeprefix("https://")
    script = f"echo hi && kubeadm join {endpoint} --token {cluster.bootstrap_token()} --discovery-token-ca-cert-hash {cluster.ca_hash}"
    done = guest.boot("#cloud-config\n" + json.dumps({"runcmd": [script]}), "--meta-data", meta)
    assert done.returncode == 0, done.stderr
    assert node(cluster, "from-meta-data")["metadata"]["labels"]["kubernetes.io/hostname"] == "from-meta-data"


def test_a_packed_join_configuration_is_unpacked(cluster, guest):
    join_file = join_configuration(cluster, cluster.bootstrap_token(), "packed")
    packed = base64.b64encode(gzip.compress(join_file.encode())).decode()
    done = guest.boot("#cloud-config\n" + json.dumps({
        "write_files": [{"path": "/run/join.yaml", "encoding": "gz+b64", "content": packed}],
        "runcmd": [["sh", "-c", "kubeadm join --config /run/join.yaml"]]}))
    assert done.returncode == 0, done.stderr
    assert node(cluster, "packed") is not None


def test_a_machine_that_is_switched_off_goes_not_ready_and_comes_back_after_power_on(cluster, guest):
    assert join(cluster, guest, "power").returncode == 0
    wait_for("Ready", lambda: ready(cluster, "power") == "True")
    time.sleep(7)  # longer than kwok's renewal interval: it keeps the Node alive
    assert ready(cluster, "power") == "True"
    assert guest.power_off().returncode == 0
    wait_for("NotReady", lambda: ready(cluster, "power") == "Unknown", interval=0.5)
    # The controller writes the taint after the condition.
    wait_for("the taint", lambda: any(t["key"] == "node.kubernetes.io/unreachable" for t in node(cluster, "power")["spec"].get("taints", [])))
    assert guest.boot().returncode == 0
    wait_for("Ready", lambda: ready(cluster, "power") == "True")


def test_a_deleted_node_stays_deleted_and_its_lease_goes(cluster, guest):
    assert join(cluster, guest, "deleted").returncode == 0
    wait_for("Ready", lambda: ready(cluster, "deleted") == "True")
    cluster.api("DELETE", "/api/v1/nodes/deleted")
    lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/deleted"
    wait_for("the lease's end", lambda: cluster.find(lease) is None, interval=0.5)
    time.sleep(6)
    assert cluster.find(lease) is None
    assert node(cluster, "deleted") is None
    assert guest.power_off().returncode == 0


def test_a_node_may_not_touch_another_node(cluster, guest):
    assert join(cluster, guest, "modest").returncode == 0
    patched = cluster.kubectl("label", "node", "joins", "a=b", check=False, kubeconfig=guest.folder / "disk/kubelet.conf")
    assert patched.returncode != 0 and "forbidden" in patched.stderr.lower()


def test_a_join_configuration_is_valid_to_kubeadm_itself(cluster, tmp_path):
    file = tmp_path / "join.yaml"
    file.write_text(join_configuration(cluster, cluster.bootstrap_token(), "checked"))
    checked = subprocess.run([cluster.program("kubeadm"), "config", "validate", "--config", file], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_requests_of_a_user_can_be_counted_in_the_audit_log(cluster, tmp_path):
    config = cluster.user_kubeconfig(tmp_path / "reader.kubeconfig", "reader", ["testers"])
    denied = cluster.kubectl("get", "--raw", "/api/v1/secrets", check=False, kubeconfig=config)
    assert denied.returncode != 0 and "forbidden" in denied.stderr
    cluster.api("POST", "/api/v1/namespaces/default/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}})
    robot = cluster.service_account_kubeconfig(tmp_path / "robot.kubeconfig", "default", "robot")
    assert "system:serviceaccount:default:robot" in cluster.kubectl("auth", "whoami", kubeconfig=robot)
    # An answered request is logged a moment later, and the last line may be incomplete.
    events = lambda: [json.loads(line) for line in cluster.audit_log.read_text().split("\n")[:-1]]
    mine = lambda: [e for e in events() if e["user"]["username"] == "reader" and e["requestURI"].startswith("/api/v1/secrets")]
    wait_until("the refusal in the log", lambda: [e["responseStatus"]["code"] for e in mine()], lambda codes: codes == [403])


def test_stop_leaves_no_process_and_a_second_start_works_in_the_same_folder(tmp_path):
    cluster = Cluster(tmp_path / "state")
    cluster.start()
    first = cluster.processes.recorded()
    assert sorted(p["name"] for p in first) == ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"]
    cluster.start()  # ends the old cluster first, as after a harness that was killed
    assert all(start_time(p["pid"]) is None for p in first)
    assert cluster.running()
    second = cluster.processes.recorded()
    cluster.stop()
    assert all(start_time(p["pid"]) is None for p in second)
    with pytest.raises((urllib.error.URLError, ConnectionError)):
        cluster.api("GET", "/readyz", parse=False)


def test_the_api_server_comes_back_with_all_objects_after_a_crash(cluster):
    cluster.api("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "survivor"}})
    cluster.kill("kube-apiserver")
    with pytest.raises(OSError):
        cluster.api("GET", "/readyz", parse=False)
    cluster.restart("kube-apiserver")
    assert cluster.find("/api/v1/namespaces/survivor") is not None


def test_exec_gives_a_command_its_own_cluster_and_its_exit_code(tmp_path):
    program = Path(__file__).parent / "cluster.py"
    code = "import os, pathlib, sys; sys.exit(7 if '127.0.0.1' in pathlib.Path(os.environ['KUBECONFIG']).read_text() else 1)"
    done = subprocess.run([program, "--state", tmp_path, "exec", sys.executable, "-c", code], check=False)
    assert done.returncode == 7
    assert subprocess.run([program, "--state", tmp_path, "status"], capture_output=True, check=False).returncode == 1


def test_processes_end_with_the_harness_that_asked_for_it(tmp_path):
    harness = ("import sys, pathlib; sys.path.insert(0, sys.argv[1]); from processes import Processes;"
               "Processes(pathlib.Path(sys.argv[2])).start('sleeper', ['sleep', '600'], die_with_parent=True)")
    subprocess.run([sys.executable, "-c", harness, Path(__file__).parent, tmp_path], check=True)
    sleeper = json.loads((tmp_path / "processes.json").read_text())[0]
    wait_for("the child's end", lambda: start_time(sleeper["pid"]) != sleeper["started"])
