"""Provides everything that a user has: a real control plane, a Proxmox cluster (simulated) and the operator's binary.

    with Stack(folder) as stack:
        stack.install_crds()
        stack.start_operator()
        stack.cluster.kubectl("apply", ...)
"""

import json
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/controlplane"))
sys.path.insert(0, str(ROOT / "test/e2e"))
from cluster import Cluster, free_ports, wait_for, wait_until  # noqa: E402
from processes import Processes  # noqa: E402
from proxmox import ProxmoxSimulator  # noqa: E402

BIN = Path(os.environ.get("KUBENODESMITH_BIN") or ROOT / "build/release/bin")
NAMESPACE = "kubenodesmith"
SYSTEM = "kubenodesmith-system"
USER = f"system:serviceaccount:{SYSTEM}:kubenodesmith"  # the operator's own account, where it has one
KINDS = ("nodesmithproviders", "nodesmithhosts", "nodesmithpools", "nodesmithclaims", "nodesmithcontrolplanes")


class Operator:
    """Runs the operator's binary again and again, with the flags that a user would give."""

    def __init__(self, folder, kubeconfig):
        self.folder = Path(folder)
        self.kubeconfig = Path(kubeconfig)
        self.command = [BIN / "kubenodesmith"]
        self.log = self.folder / "operator.log"
        self.process = None
        self.environment = {}  # additions to the environment of this process
        self.health_port, self.metrics_port = free_ports(2)
        self.token = None  # if set, metrics are served over HTTPS, and requested with this token

    def start(self, *flags):
        """Starts without leader election unless the flags ask for it: the successor of a killed process would wait for its
        lease."""
        if not any(flag.startswith("--leader-elect") for flag in flags):
            flags = ("--leader-elect=false", *flags)
        argv = [*self.command, "run", "--kubeconfig", self.kubeconfig,
                f"--health-probe-bind-address=127.0.0.1:{self.health_port}",
                f"--metrics-bind-address=127.0.0.1:{self.metrics_port}", f"--metrics-secure={json.dumps(self.token is not None)}", *flags]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                            env={**os.environ, **self.environment})
        return self

    def wait_ready(self):
        wait_for("the operator's readiness", self.ready)
        return self

    def ready(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"the operator ended with {self.process.returncode}:\n{self.log_tail()}")
        try:
            return self.get("/readyz", self.health_port) == "ok\n"
        except OSError:  # refused, reset, timed out, or an HTTP error
            return False

    def get(self, path, port=None):
        if port is None and self.token is not None:
            return self.get_securely(path, self.token)
        with urllib.request.urlopen(f"http://127.0.0.1:{port or self.metrics_port}{path}", timeout=30) as answer:
            return answer.read().decode()

    def get_securely(self, path, token):
        """Requests a path over HTTPS, with that token or without one. Does not verify the certificate. Raises HTTPError."""
        request = urllib.request.Request(f"https://127.0.0.1:{self.metrics_port}{path}",
                                         headers={"Authorization": f"Bearer {token}"} if token else {})
        with urllib.request.urlopen(request, timeout=30, context=ssl._create_unverified_context()) as answer:
            return answer.read().decode()

    def metrics(self):
        """Returns samples by series, as Prometheus would scrape them."""
        lines = (line for line in self.get("/metrics").splitlines() if line and not line.startswith("#"))
        return {series: float(value) for series, value in (line.rsplit(" ", 1) for line in lines)}

    def resident_kib(self):
        return self._memory("VmRSS")

    def peak_resident_kib(self):
        return self._memory("VmHWM")

    def _memory(self, field):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(field))

    def stop(self, timeout=40):
        """Sends SIGTERM as the kubelet does, and returns the exit code."""
        return self._end(signal.SIGTERM, timeout)

    def kill(self):
        return self._end(signal.SIGKILL, 10)

    def _end(self, signal_number, timeout):
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        code = self.process.wait(timeout)
        self.process = None
        return code

    def log_tail(self, lines=30):
        return "\n".join(self.log_text().splitlines()[-lines:])

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""


class Stack:
    def __init__(self, folder, world=None, netboot=False, guest="testnode", oldest=False):
        """Builds a stack.

        `world` is the initial content of the Proxmox cluster, as in its simulator's world_file.hpp.
        `netboot` gives machines that boot from the network an image that joins by itself.
        `guest` is the program of the test control plane that machines boot.
        `oldest` selects the oldest Kubernetes that the user guide supports."""
        self.folder = Path(folder)
        self.world = None
        if world is not None:
            self.world = self.folder / "world.json"
            self.world.write_text(json.dumps(world))
        self.cluster = Cluster(self.folder / "cluster", oldest=oldest)
        self.netboot = netboot
        self.guest = guest
        self.proxmox = None
        self.operator = None

    def __enter__(self):
        self.cluster.start(die_with_parent=True)
        try:
            image = self.cluster.bootstrap_kubeconfig(self.folder / "netboot.kubeconfig") if self.netboot else None
            self.proxmox = ProxmoxSimulator(self.folder / "proxmox", BIN, self.cluster, self.world, image, self.guest).start(die_with_parent=True)
        except BaseException:
            self.cluster.stop()
            raise
        self.operator = Operator(self.folder, self.cluster.kubeconfig)
        return self

    def __exit__(self, *_):
        self.operator.kill()
        self.proxmox.stop()
        self.cluster.stop()

    def install_crds(self):
        self.cluster.kubectl("apply", "--server-side", "-k", ROOT / "crds")
        self.cluster.kubectl("wait", "--for=condition=Established", "--timeout=120s", "crd", "--all")
        self.cluster.kubectl("apply", "--server-side", "-f", ROOT / "config/rbac/bootstrap.yaml")
        self.cluster.kubectl("create", "namespace", NAMESPACE)
        wait_for("the rights of joining machines", self.tokens_may_join)
        # A new CRD gets 429 until its storage is ready, even after it is Established.
        wait_for("the API server to serve our kinds", lambda: [self.objects(plural) for plural in KINDS])

    def run_as_its_account(self):
        """Gives the operator, before its start, the rights of config/rbac and no others."""
        self.install_crds()
        self.cluster.kubectl("create", "namespace", SYSTEM)
        self.cluster.kubectl("apply", "-k", ROOT / "config/rbac")
        self.wait_for_rights()
        self.operator = Operator(self.folder, self.account_kubeconfig())

    def wait_for_rights(self):
        """Waits for the roles, which an API server applies a moment after their creation. The operator should not be refused
        anything."""
        rights = (("list", "nodesmithclaims", "-A"), ("create", "secrets", "-n", "kube-system"), ("patch", "leases", "-n", SYSTEM))
        wait_for("the rights of the operator's account", lambda: all(self.may(*right, f"--as={USER}") for right in rights))

    def may(self, *question):
        """Returns the answer of `kubectl auth can-i`."""
        return self.cluster.kubectl("auth", "can-i", *question, check=False).stdout.strip() == "yes"

    def tokens_may(self, *question):
        """Reports whether the bootstrap tokens of machines have the right. The operator asks so when it starts, and rarely
        afterwards."""
        groups = ("system:bootstrappers", "system:bootstrappers:kubenodesmith", "system:authenticated")
        return self.may(*question, "--as=system:bootstrap:000000", *(f"--as-group={group}" for group in groups))

    def tokens_may_join(self):
        return self.tokens_may("create", "certificatesigningrequests")

    def account_kubeconfig(self):
        return self.cluster.service_account_kubeconfig(self.folder / "operator.kubeconfig", SYSTEM, "kubenodesmith")

    def refused(self):
        """Returns the requests that the rights of the operator's own account did not allow."""
        return sorted({(event["verb"], event["requestURI"]) for event in self.audit()
                       if event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid"})

    def audit(self):
        """Returns what the operator requested from the API server with its own account."""
        return [e for e in read_log(self.cluster.audit_log) if e["user"].get("username") == USER]

    # --- what is there ---

    def objects(self, plural, namespace=NAMESPACE):
        path = f"/apis/kubenodesmith.parawell.cloud/v1alpha1/namespaces/{namespace}/{plural}"
        return self.cluster.api("GET", path)["items"]

    def claims(self):
        return self.objects("nodesmithclaims")

    def nodes(self):
        return self.cluster.api("GET", "/api/v1/nodes")["items"]

    def pods(self, namespace="default"):
        return self.cluster.api("GET", f"/api/v1/namespaces/{namespace}/pods")["items"]

    def events(self, namespace=NAMESPACE):
        return self.cluster.api("GET", f"/api/v1/namespaces/{namespace}/events")["items"]

    def bootstrap_tokens(self):
        secrets = self.cluster.api("GET", "/api/v1/namespaces/kube-system/secrets")["items"]
        return [s["metadata"]["name"] for s in secrets if s["type"] == "bootstrap.kubernetes.io/token"]

    # --- what a user does ---

    def apply(self, *manifests):
        """Applies manifests given as dictionaries with kubectl."""
        return self.cluster.kubectl("apply", "-f", "-", stdin="\n---\n".join(json.dumps(m) for m in manifests))


def read_log(path):
    """Returns the JSON objects of a log, one per line. The last line may be incomplete."""
    lines = path.read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


def make_certificate(folder, name):
    """Makes a self-signed certificate: tls.crt and tls.key."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                    "-keyout", folder / "tls.key", "-out", folder / "tls.crt"], check=True, capture_output=True)


def condition(item, kind):
    """Returns the condition of that type, or an empty dictionary."""
    found = [c for c in item.get("status", {}).get("conditions", []) if c["type"] == kind]
    return found[0] if found else {}


def is_true(item, kind):
    return condition(item, kind).get("status") == "True"


def running_pods(pods):
    return [p for p in pods if p["status"].get("phase") == "Running" and "deletionTimestamp" not in p["metadata"]]


def seconds_since(start):
    return time.monotonic() - start
