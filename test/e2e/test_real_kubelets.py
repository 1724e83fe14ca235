"""Tests machines that real programs make Nodes: kubeadm joins them with the operator's data, and Kubernetes' own kubelet
runs them."""

import base64
import functools
import json
import os
import subprocess
from datetime import datetime, timedelta, timezone
from pathlib import Path

import manifests
import proxmox_world
import pytest
from cluster import free_ports
from pki import openssl
from stack import USER, Stack, is_true, read_log, running_pods, wait_for, wait_until

# Each takes 20 s of processor time; `make judges` runs 20 of them.
MACHINES = int(os.environ.get("REAL_KUBELETS") or 6)
REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
CLIENT, SERVING = "kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"
CONTROLLER_MANAGER = "system:serviceaccount:kube-system:certificate-controller"
# Administrators who want signed serving certificates give this to `kubeadm init --config`.
INIT = [{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "serverTLSBootstrap": True, "cgroupDriver": "cgroupfs",
         "failCgroupV1": False}]


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack"), guest="hollownode") as running:
        program = running.cluster.program("hollownode")
        tried = subprocess.run([program, "--probe"], capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            pytest.skip(tried.stderr)
        running.run_as_its_account()
        upload_configuration(running)
        (port,) = free_ports(1)
        running.operator.start(f"--bootstrap-bind-address=127.0.0.1:{port}", f"--bootstrap-advertise-url=http://127.0.0.1:{port}").wait_ready()
        yield running


def upload_configuration(stack):
    """Uploads what `kubeadm init` leaves for joining machines."""
    cluster = {"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration", "kubernetesVersion": server_version(stack),
               "controlPlaneEndpoint": stack.cluster.server.removeprefix("https://")}
    file = stack.folder / "init.yaml"
    file.write_text("\n---\n".join(json.dumps(document) for document in [cluster, *INIT]))
    for phase in ("kubeadm", "kubelet"):
        subprocess.run([stack.cluster.program("kubeadm"), "init", "phase", "upload-config", phase, "--config", file,
                        "--kubeconfig", stack.cluster.kubeconfig], check=True, capture_output=True, text=True)


def server_version(stack):
    return stack.cluster.api("GET", "/version")["gitVersion"]


def requests(stack):
    return stack.cluster.api("GET", REQUESTS)["items"]


def requests_of(stack, node, signer, requester=None):
    """Returns requests of that Node's kubelet; with `requester` only those made under a name with that prefix."""
    return [r for r in requests(stack) if r["spec"]["signerName"] == signer and subject_of(r["spec"]["request"]) == f"system:node:{node}"
            and r["spec"]["username"].startswith(requester or "")]


@functools.cache
def subject_of(pem):
    """Returns the CN of a request for a certificate, base64 as in the API."""
    return openssl("req", "-noout", "-subject", "-nameopt", "multiline", stdin=base64.b64decode(pem)).decode().rpartition("commonName")[2].strip(" =\n")


def signed(request):
    return any(c["type"] == "Approved" for c in request["status"].get("conditions", [])) and "certificate" in request["status"]


def approvals(stack):
    """Returns who approved which request, by the API server's own record."""
    found = {}
    for event in read_log(stack.cluster.audit_log):
        what = event.get("objectRef", {})
        if (what.get("resource"), what.get("subresource")) == ("certificatesigningrequests", "approval") and event["responseStatus"]["code"] == 200:
            found[what["name"]] = event["user"]["username"]
    return found


def approvers(stack, approved):
    """Returns who approved these requests. An answered request is logged a moment later."""
    names = [request["metadata"]["name"] for request in approved]
    return set(wait_until("their approval in the log", lambda: [approvals(stack).get(name) for name in names], all))


class Machine:
    """One machine of the simulated Proxmox cluster, as a person at its console sees it."""

    def __init__(self, stack, node):
        self.stack, self.node = stack, node
        found = next(m for m in stack.proxmox.machines() if m["name"] == node)
        self.uuid, self.path = found["uuid"], f"/nodes/{found['node']}/qemu/{found['vmid']}"
        self.disk = stack.proxmox.folder / "machines" / f"{found['vmid']}-{self.uuid}" / "disk"

    def address(self):
        """Returns the address that its guest agent reports."""
        told = proxmox_world.api(self.stack.proxmox, "GET", f"{self.path}/agent/network-get-interfaces")
        return next(a["ip-address"] for i in told["result"] if i["name"] != "lo" for a in i["ip-addresses"])

    def certificate(self):
        """Returns the file of the kubelet's present certificate and key as a client. Links are the machine's own paths."""
        folder = self.disk / "rootfs/var/lib/kubelet/pki"
        return folder / Path(os.readlink(folder / "kubelet-client-current.pem")).name

    def systemctl(self, command):
        subprocess.run([self.stack.cluster.program("hollownode"), "--state-dir", self.disk, "--system-uuid", self.uuid, "--systemctl", command],
                       check=True, capture_output=True)

    def wait_for_heartbeat(self):
        """Waits until a kubelet that lives now has renewed the Node's Lease and says that it is Ready."""
        start = datetime.now(timezone.utc).isoformat()
        lease = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{self.node}"
        wait_for("a heartbeat", lambda: self.stack.cluster.api("GET", lease)["spec"]["renewTime"] > start[:26])
        wait_for("a Ready Node", lambda: is_true(self.stack.cluster.api("GET", f"/api/v1/nodes/{self.node}"), "Ready"))

    def starts(self):
        """Returns how often a kubelet was started."""
        return (self.disk / "machine.log").read_text().count('"Kubelet version"')

    def containers(self):
        """Returns since when the containers of its pods run."""
        return [c["state"]["running"]["startedAt"] for p in running_pods(self.stack.pods()) if p["spec"]["nodeName"] == self.node
                for c in p["status"]["containerStatuses"]]

    def lives(self):
        pid = self.disk / "machine.pid"
        return pid.exists() and Path(f"/proc/{pid.read_text()}").exists()


def apart(replicas):
    """Returns one pod for each Node."""
    alone = {"labelSelector": {"matchLabels": {"app": "shop"}}, "topologyKey": "kubernetes.io/hostname"}
    return manifests.deployment("shop", replicas, cpu="500m", memory="512Mi",
                                affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [alone]}})


def settled(stack, count):
    claims = stack.claims()
    return len(claims) == count and all(is_true(c, "Ready") for c in claims)


def test_real_programs_join_and_run_pods(stack):
    stack.apply(manifests.secret(stack.proxmox), manifests.provider(stack.proxmox, vmOptions=[{"name": "agent", "value": "1"}]),
                manifests.pool(limits={"maxNodes": MACHINES}), manifests.control_plane(bootstrap={"servingNetworks": [manifests.DHCP_NETWORK]}),
                apart(MACHINES))
    wait_for(f"{MACHINES} Ready claims", lambda: settled(stack, MACHINES), 600)
    wait_for("a pod on each", lambda: len({p["spec"]["nodeName"] for p in running_pods(stack.pods())}) == MACHINES, 300)
    wait_for("the end of all tokens", lambda: not stack.bootstrap_tokens())

    nodes = {n["metadata"]["name"]: n for n in stack.nodes()}
    for name, node in nodes.items():
        assert node["status"]["nodeInfo"]["kubeletVersion"] == server_version(stack)
        assert node["status"]["nodeInfo"]["systemUUID"] == Machine(stack, name).uuid
        assert [a["address"] for a in node["status"]["addresses"] if a["type"] == "InternalIP"] == [Machine(stack, name).address()]
        assert not node["spec"].get("taints")


def test_the_operator_alone_approved_what_they_asked_for(stack):
    for name in [n["metadata"]["name"] for n in stack.nodes()]:
        wait_for("its serving certificate", lambda name=name: [r for r in requests_of(stack, name, SERVING) if signed(r)])
        assert [r for r in requests_of(stack, name, CLIENT, "system:bootstrap:") if signed(r)]
        assert Machine(stack, name).certificate().exists()
    wait_for("a decision on each request", lambda: all(map(signed, requests(stack))))
    assert approvers(stack, requests(stack)) == {USER}
    assert not [e for e in stack.events() if e["reason"] == "CertificateDenied"]


def test_a_kubelet_that_restarts_needs_no_second_certificate(stack):
    machine = Machine(stack, stack.nodes()[0]["metadata"]["name"])
    before, starts, containers = {r["metadata"]["name"] for r in requests(stack)}, machine.starts(), machine.containers()
    machine.systemctl("restart kubelet")
    machine.wait_for_heartbeat()
    assert machine.starts() == starts + 1
    assert containers and machine.containers() == containers
    assert {r["metadata"]["name"] for r in requests(stack)} == before
    assert settled(stack, MACHINES)


def test_a_machine_that_is_reset_comes_back_as_the_same_node(stack):
    machine = Machine(stack, stack.nodes()[0]["metadata"]["name"])
    before, starts, containers = {r["metadata"]["name"] for r in requests(stack)}, machine.starts(), machine.containers()
    proxmox_world.api(stack.proxmox, "POST", f"{machine.path}/status/reset")
    wait_for("its kubelet", lambda: machine.starts() == starts + 1)
    machine.wait_for_heartbeat()
    # A container runtime that restarts has lost its containers.
    wait_for("its pod's new container", lambda: machine.containers() and max(machine.containers()) > max(containers))
    assert {r["metadata"]["name"] for r in requests(stack)} == before
    wait_for("Ready claims", lambda: settled(stack, MACHINES))


AUTHORITY = """
[ca]
default_ca = cluster
[cluster]
database = {folder}/index
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
organizationName = supplied
commonName = supplied
"""


def age(stack, machine, folder):
    """Replaces the kubelet's client certificate by one for the same key that ends in five minutes."""
    current = machine.certificate()
    (folder / "index").write_text("")
    (folder / "ca.conf").write_text(AUTHORITY.format(folder=folder))
    request = folder / "request.pem"
    request.write_bytes(openssl("req", "-new", "-key", current, "-subj", f"/O=system:nodes/CN=system:node:{machine.node}"))
    ca, now = stack.cluster.pki, datetime.now(timezone.utc)
    start, end = ((now + timedelta(minutes=minutes)).strftime("%Y%m%d%H%M%SZ") for minutes in (-1000, 5))
    aged = openssl("ca", "-batch", "-notext", "-config", folder / "ca.conf", "-cert", ca / "ca.crt", "-keyfile", ca / "ca.key",
                   "-startdate", start, "-enddate", end, "-in", request)
    current.write_bytes(aged + openssl("pkey", "-in", current))
    return current


def test_a_certificate_that_ends_is_renewed(stack, tmp_path):
    name = stack.nodes()[0]["metadata"]["name"]
    machine = Machine(stack, name)
    machine.systemctl("stop kubelet")
    aged = age(stack, machine, tmp_path)
    machine.systemctl("start kubelet")
    (renewal,) = wait_for("a renewed certificate", lambda: [r for r in requests_of(stack, name, CLIENT, "system:node:") if signed(r)])
    # Any Node may renew its own certificate: kubeadm lets the cluster approve that.
    assert approvers(stack, [renewal]) == {CONTROLLER_MANAGER}
    wait_for("it on the disk", lambda: machine.certificate() != aged)
    machine.wait_for_heartbeat()
    assert settled(stack, MACHINES)


def test_a_machine_that_goes_leaves_nothing_pending(stack):
    machines = [Machine(stack, n["metadata"]["name"]) for n in stack.nodes()]
    stack.apply(apart(MACHINES - 1))
    wait_for("one machine less", lambda: settled(stack, MACHINES - 1) and len(stack.nodes()) == MACHINES - 1)
    names = {n["metadata"]["name"] for n in stack.nodes()}
    wait_for("its end", lambda: [m.lives() for m in machines] == [m.node in names for m in machines])
    assert all(map(signed, requests(stack)))
    assert not stack.bootstrap_tokens()


OTHER_WAYS = {
    "by-http": {"bootstrap": {"method": "CloudInit", "delivery": "HTTP"}},
    "by-agent": {"bootstrap": {"method": "GuestAgent", "readyCommand": ["true"]}},
    "static": {"template": {"network": {"mode": "Static", "addresses": ["10.97.1.1-10.97.1.9"]}}},
}


def test_other_ways_to_hand_out_end_in_the_same_join(stack):
    before = {c["metadata"]["name"] for c in stack.claims()}
    stack.apply(*(manifests.pool(name, limits={"minNodes": 1}, **changes) for name, changes in OTHER_WAYS.items()))
    wait_for("their claims", lambda: settled(stack, len(before) + len(OTHER_WAYS)))
    claims = {c["spec"]["poolRef"]: c for c in stack.claims() if c["metadata"]["name"] not in before}
    assert set(claims) == set(OTHER_WAYS)
    for claim in claims.values():
        name = claim["metadata"]["name"]
        wait_for("its serving certificate", lambda name=name: [r for r in requests_of(stack, name, SERVING) if signed(r)])
        assert approvers(stack, requests_of(stack, name, CLIENT) + requests_of(stack, name, SERVING)) == {USER}
    node = stack.cluster.api("GET", f"/api/v1/nodes/{claims['static']['metadata']['name']}")
    assert [a["address"] for a in node["status"]["addresses"] if a["type"] == "InternalIP"] == claims["static"]["status"]["addresses"]
    wait_for("the end of all tokens", lambda: not stack.bootstrap_tokens())
