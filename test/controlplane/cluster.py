#!/usr/bin/env python3
"""Runs a real Kubernetes control plane on 127.0.0.1: etcd, kube-apiserver, controller-manager, scheduler, and kwok as the
kubelets.

By hand:    cluster.py --state DIR up                   prints the path of admin.kubeconfig; runs on until `down`
            cluster.py --state DIR down                 ends exactly the processes that `up` started; keeps the logs
            cluster.py --state DIR status               exit code 0 if it runs
            cluster.py --state DIR exec COMMAND...      a cluster for one command (with KUBECONFIG), which gives the exit code
            cluster.py --state DIR token [--ttl SEC]    makes a bootstrap token as `kubeadm token create` does
            cluster.py --state DIR kubeconfig --user NAME [--group G]... --out FILE
            cluster.py --state DIR kill|restart PROGRAM e.g. kube-apiserver, to see how others bear it
            cluster.py --state DIR compact              etcd forgets its history; the API server's cache needs a restart
In pytest:  with Cluster(state) as cluster: cluster.kubectl("get", "nodes")

Programs come from --bin (default: $CONTROLPLANE_BIN), and missing ones from build/controlplane/bin of this repository.
State: DIR/admin.kubeconfig, DIR/pki, DIR/logs/*.log, DIR/logs/audit.log (one JSON event per request, level Metadata).
"""

import argparse
import base64
import json
import os
import secrets
import shutil
import socket
import string
import subprocess
import sys
import time
import urllib.error
import urllib.request
from datetime import datetime, timedelta, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import fixtures  # noqa: E402
import pki  # noqa: E402
from api_client import ApiClient  # noqa: E402
from processes import Processes  # noqa: E402

HERE = Path(__file__).resolve().parent
OWN_BIN = HERE.parent.parent / "build/controlplane/bin"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kubectl")
OF_EACH_VERSION = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubeadm")
# Waits end as soon as their condition holds, so a long limit only costs time in a failure.
PATIENCE_SECONDS = 120.0
# A look that comes too early or too late may meet these: the object has no status yet, or is gone by now.
NOT_NOW = (LookupError, StopIteration, TypeError, ValueError, OSError)
PORT_ATTEMPTS = 3
# A machine's Lease is renewed every quarter of this time. The Node goes NotReady if no renewal is seen for the grace period.
LEASE_SECONDS = 20
NODE_GRACE_PERIOD = "20s"
POWERED_ON = "machine.test/power=on"  # the same as in cmd/testnode/power.go
AUDIT_POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}


def free_ports(count: int):
    """Returns ports that are free now. They are below Linux' range of ephemeral ports, so no connection of another program
    gets them while a server restarts."""
    ports = set()
    while len(ports) < count:
        port = 10240 + secrets.randbelow(20000)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        ports.add(port)
    return list(ports)


def wait_until(what, look, holds, timeout=PATIENCE_SECONDS, interval=0.05):
    """Polls look() until holds(its value), and returns that value. Raises TimeoutError with `what` and the last value seen.

    A short interval grows to a quarter of a second: looks at a slow thing take processor time from what makes it happen.
    A look that meets one of NOT_NOW has seen nothing yet. The last such error is the cause of the TimeoutError.
    TEST_PATIENCE in the environment multiplies all timeouts, for busy machines."""
    timeout *= float(os.environ.get("TEST_PATIENCE", "1"))
    deadline = time.monotonic() + timeout
    longest = max(interval, 0.25)
    while True:
        value, met = None, None
        try:
            value = look()
            if holds(value):
                return value
        except NOT_NOW as error:
            met = error
        if time.monotonic() > deadline:
            seen = f": {met!r}" if met else f"; in the end there was {value!r}" if value else ""
            raise TimeoutError(f"{what} did not happen within {timeout:g} s{seen}") from met
        time.sleep(interval)
        interval = min(1.25 * interval, longest)


def wait_for(what, condition, timeout=PATIENCE_SECONDS, interval=0.05):
    """Works as wait_until() with a condition that is its own value: a true value ends the wait."""
    return wait_until(what, condition, bool, timeout, interval)


class Cluster:
    """One cluster in one state folder. `with` calls start() and stop(). `oldest` selects the oldest Kubernetes that the user
    guide supports. Otherwise KUBERNETES_RELEASE=previous selects the minor version before the newest."""

    def __init__(self, state, bin_dir=None, oldest=False):
        self.state = Path(state).resolve()
        given = bin_dir or os.environ.get("CONTROLPLANE_BIN")
        self.folders = [Path(given).resolve(), OWN_BIN] if given else [OWN_BIN]
        self.pki = self.state / "pki"
        self.kubeconfig = self.state / "admin.kubeconfig"
        self.audit_log = self.state / "logs" / "audit.log"
        self.processes = Processes(self.state)
        self._client = None
        release = "oldest" if oldest else os.environ.get("KUBERNETES_RELEASE")
        self._suffix = f"-{release}" if release else ""

    def __enter__(self):
        self.start(die_with_parent=True)
        return self

    def __exit__(self, *_):
        self.stop()

    # --- start and stop ---

    def start(self, die_with_parent=False):
        """Starts everything. Returns when pods can be made and machines can join. First ends a cluster that a killed harness
        left in the folder."""
        for name in PROGRAMS:
            self.program(name)
        for attempt in range(PORT_ATTEMPTS):
            self.stop()
            self._clean()
            try:
                return self._start(die_with_parent)
            except RuntimeError as error:
                self.stop()
                # Another process may have taken a port between the probe and the server's start.
                if "address already in use" not in str(error) or attempt == PORT_ATTEMPTS - 1:
                    raise
            except BaseException:
                self.stop()
                raise

    def _start(self, die_with_parent):
        self.state.mkdir(parents=True, exist_ok=True)
        etcd_port, peer_port, api_port = free_ports(3)
        self._write_identities(f"https://127.0.0.1:{api_port}")
        self._start_storage(etcd_port, peer_port, die_with_parent)
        self._start_api_server(etcd_port, api_port, die_with_parent)
        self._wait("the API server's start", self._ready)
        self._start_controllers(die_with_parent)
        self._make_fixtures()
        self._wait("the default service account", lambda: self.find("/api/v1/namespaces/default/serviceaccounts/default"))

    def start_as_copy_of(self, original):
        """Starts etcd and an API server with the data and the CA of another cluster, as for a disaster drill. No controllers
        run, so its Nodes stay as they were. The original's etcd stops for a moment."""
        self.stop()
        self._clean()
        self.state.mkdir(parents=True, exist_ok=True)
        original.back_up()
        (original.state / "backup").rename(self.state / "etcd")
        shutil.copytree(original.pki, self.pki)
        etcd_port, peer_port, api_port = free_ports(3)
        (self.state / "server").write_text(f"https://127.0.0.1:{api_port}")
        self._opener = None
        self.user_kubeconfig(self.kubeconfig, "admin", ["system:masters"])
        self._start_storage(etcd_port, peer_port, die_with_parent=True)
        self._start_api_server(etcd_port, api_port, die_with_parent=True)
        self._wait("the API server's start", self._ready)

    def stop(self):
        self.processes.stop()

    def program(self, name) -> Path:
        """Returns the path of the binary. Raises FileNotFoundError that says what to do if it is missing."""
        if name in OF_EACH_VERSION:
            name += self._suffix
        for folder in self.folders:
            if (folder / name).is_file():
                return folder / name
        raise FileNotFoundError(f"{name} is not in {' or '.join(map(str, self.folders))}: run `make setup` or set CONTROLPLANE_BIN")

    def running(self) -> bool:
        return bool(self.processes.alive()) and self._ready()

    def _clean(self):
        for name in ("etcd", "pki", "logs"):
            shutil.rmtree(self.state / name, ignore_errors=True)
        for path in self.state.glob("*.kubeconfig"):
            path.unlink()

    def _write_identities(self, server):
        self._client = None
        (self.state / "server").write_text(server)
        pki.new_ca(self.pki)
        pki.new_certificate(self.pki, "apiserver", "kube-apiserver", server=True)
        self.user_kubeconfig(self.kubeconfig, "admin", ["system:masters"])
        self.user_kubeconfig(self.state / "controller-manager.kubeconfig", "system:kube-controller-manager")
        self.user_kubeconfig(self.state / "scheduler.kubeconfig", "system:kube-scheduler")
        self.user_kubeconfig(self.state / "kwok.kubeconfig", "kwok", ["system:masters"])

    def _start_storage(self, port, peer_port, die_with_parent):
        url, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
        (self.state / "storage").write_text(url)
        self.processes.start("etcd", [
            self.program("etcd"), "--data-dir", self.state / "etcd", "--unsafe-no-fsync", "--log-level", "error",
            "--listen-client-urls", url, "--advertise-client-urls", url, "--listen-peer-urls", peer,
            "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"], die_with_parent)

    def _start_api_server(self, etcd_port, port, die_with_parent):
        policy = self.state / "audit-policy.json"
        policy.write_text(json.dumps(AUDIT_POLICY))
        self.processes.start("kube-apiserver", [
            self.program("kube-apiserver"), f"--etcd-servers=http://127.0.0.1:{etcd_port}", "--bind-address=127.0.0.1",
            f"--secure-port={port}", "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.96.0.0/16",
            f"--tls-cert-file={self.pki}/apiserver.crt", f"--tls-private-key-file={self.pki}/apiserver.key",
            f"--client-ca-file={self.pki}/ca.crt", f"--service-account-key-file={self.pki}/sa.pub",
            f"--service-account-signing-key-file={self.pki}/sa.key",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local", "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction", "--enable-bootstrap-token-auth", "--allow-privileged",
            "--profiling=false", "--max-requests-inflight=2000", "--max-mutating-requests-inflight=1000",
            f"--audit-policy-file={policy}", f"--audit-log-path={self.audit_log}"], die_with_parent)

    def _start_controllers(self, die_with_parent):
        client = ["--leader-elect=false", "--kube-api-qps=1000", "--kube-api-burst=2000", "--secure-port=0"]
        self.processes.start("kube-controller-manager", [
            self.program("kube-controller-manager"), f"--kubeconfig={self.state}/controller-manager.kubeconfig", *client,
            f"--root-ca-file={self.pki}/ca.crt", f"--service-account-private-key-file={self.pki}/sa.key",
            f"--cluster-signing-cert-file={self.pki}/ca.crt", f"--cluster-signing-key-file={self.pki}/ca.key",
            "--use-service-account-credentials", "--controllers=*,bootstrapsigner,tokencleaner",
            "--node-monitor-period=2s", f"--node-monitor-grace-period={NODE_GRACE_PERIOD}"], die_with_parent)
        self.processes.start("kube-scheduler", [
            self.program("kube-scheduler"), f"--kubeconfig={self.state}/scheduler.kubeconfig", *client], die_with_parent)
        self.processes.start("kwok", [
            self.program("kwok"), f"--kubeconfig={self.state}/kwok.kubeconfig", f"--config={HERE}/kwok-stages.yaml",
            f"--manage-nodes-with-label-selector={POWERED_ON}", f"--node-lease-duration-seconds={LEASE_SECONDS}",
            "--cidr=10.244.0.1/16", "--node-ip=10.0.0.1", "--enable-crds="], die_with_parent)

    def _make_fixtures(self):
        for collection, item in fixtures.objects(self.server, self.ca):
            self.api("POST", collection, item)

    def _ready(self) -> bool:
        try:
            return self.api("GET", "/readyz", parse=False) == b"ok"
        except OSError:  # refused, reset, timed out, or an HTTP error while it starts
            return False

    def _wait(self, what, condition):
        def checked():
            self.processes.check()
            return condition()
        return wait_for(what, checked)

    # --- faults ---

    def kill(self, program):
        """Kills one of the servers."""
        self.processes.kill(program)

    def restart(self, program):
        """Restarts a server with its former command line. Returns when the API server is ready again."""
        self.processes.kill(program)
        self.processes.revive(program)
        self._wait("the API server's readiness", self._ready)

    def back_up(self):
        """Copies the data of etcd, which is stopped meanwhile. The servers that would end without renewing their leases are
        stopped as well."""
        self._without(("etcd", "kube-controller-manager", "kube-scheduler"),
                      lambda: shutil.copytree(self.state / "etcd", self.state / "backup"))

    def restore(self):
        """Replaces etcd's data by the backup and restarts the control plane, as administrators do."""
        def replace():
            shutil.rmtree(self.state / "etcd")
            (self.state / "backup").rename(self.state / "etcd")
        self._without(("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"), replace)

    def _without(self, programs, act):
        """Acts while these servers, named in the order of their start, do not run."""
        for program in reversed(programs):
            self.processes.kill(program)
        act()
        for program in programs:
            if program.startswith("kube-") and program != "kube-apiserver":
                wait_for("the API server's readiness", self._ready)  # some of the servers are still down
            self.processes.revive(program)

    def compact(self):
        """Makes etcd forget all old revisions, so that old resourceVersions get 410."""
        revision = self._storage("kv/range", {"key": "AA=="})["header"]["revision"]
        self._storage("kv/compaction", {"revision": revision, "physical": True})

    def _storage(self, call, body):
        request = urllib.request.Request(f"{(self.state / 'storage').read_text()}/v3/{call}", data=json.dumps(body).encode())
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as response:
            return json.loads(response.read())

    # --- use ---

    @property
    def server(self) -> str:
        return (self.state / "server").read_text()

    @property
    def ca(self) -> bytes:
        return (self.pki / "ca.crt").read_bytes()

    @property
    def ca_hash(self) -> str:
        return pki.ca_hash(self.pki)

    def kubectl(self, *args, stdin=None, check=True, kubeconfig=None):
        """Runs kubectl as the administrator. Returns its standard output, or with check=False the finished process."""
        done = subprocess.run([self.program("kubectl"), "--kubeconfig", kubeconfig or self.kubeconfig, *args],
                              input=stdin, capture_output=True, text=True, check=False)
        if not check:
            return done
        if done.returncode != 0:
            raise RuntimeError(f"kubectl {' '.join(map(str, args))}: {done.stderr.strip()}")
        return done.stdout

    def api(self, method, path, body=None, content_type="application/json", parse=True, user=None):
        """Sends one request as the administrator, or as the user that he impersonates. For its errors see ApiClient."""
        if self._client is None:
            self._client = ApiClient(self.server, self.pki / "ca.crt", self.pki / "admin.crt", self.pki / "admin.key")
        answer = self._client.request(method, path, None if body is None else json.dumps(body).encode(), content_type, user)
        return json.loads(answer) if parse else answer

    def find(self, path, parse=True):
        """Returns the object at path, or None if there is none."""
        try:
            return self.api("GET", path, parse=parse)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def user_kubeconfig(self, path, user, groups=()):
        """Writes a kubeconfig for a user with a client certificate of the cluster's CA."""
        path = Path(path)
        name = path.stem
        pki.new_certificate(self.pki, name, user, groups)
        self._write_kubeconfig(path, {
            "client-certificate-data": base64.b64encode((self.pki / f"{name}.crt").read_bytes()).decode(),
            "client-key-data": base64.b64encode((self.pki / f"{name}.key").read_bytes()).decode()})
        return path

    def service_account_kubeconfig(self, path, namespace, name, seconds=86400):
        """Writes a kubeconfig with a token of an existing service account, as a pod of the operator would have."""
        answer = self.api("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": seconds}})
        self._write_kubeconfig(Path(path), {"token": answer["status"]["token"]})
        return Path(path)

    def bootstrap_kubeconfig(self, path):
        """Writes a kubeconfig with a new bootstrap token, as in an image that joins by itself."""
        self._write_kubeconfig(Path(path), {"token": self.bootstrap_token()})
        return Path(path)

    def _write_kubeconfig(self, path, credentials):
        path.touch(mode=0o600)
        path.write_text(json.dumps(fixtures.kubeconfig(self.server, self.ca, credentials), indent=1))

    def bootstrap_token(self, seconds=1800) -> str:
        """Makes a bootstrap token with the usages and the group of `kubeadm token create`. A negative time makes an expired
        one."""
        alphabet = string.ascii_lowercase + string.digits
        token_id, secret = ("".join(secrets.choice(alphabet) for _ in range(n)) for n in (6, 16))
        expiration = datetime.now(timezone.utc) + timedelta(seconds=seconds)
        self.api("POST", "/api/v1/namespaces/kube-system/secrets", {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"bootstrap-token-{token_id}"},
            "type": "bootstrap.kubernetes.io/token", "stringData": {
                "token-id": token_id, "token-secret": secret, "expiration": expiration.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
                "auth-extra-groups": fixtures.BOOTSTRAPPERS}})
        return f"{token_id}.{secret}"


def execute(cluster, command) -> int:
    """Runs a command beside a separate cluster. The cluster ends with the command, or with this process if that is killed."""
    with cluster:
        environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig), "CLUSTER_STATE": str(cluster.state)}
        return subprocess.run(command, env=environment, check=False).returncode


def status(cluster) -> int:
    for process in cluster.processes.alive():
        print(process["name"], process["pid"])
    return 0 if cluster.running() else 1


def up(cluster):
    if not cluster.running():
        cluster.start()
    print(cluster.kubeconfig)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", required=True, help="folder of all state")
    parser.add_argument("--bin", help="folder of binaries that win over those that this repository built")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("up", "down", "status", "compact"):
        commands.add_parser(name)
    commands.add_parser("exec").add_argument("argv", nargs=argparse.REMAINDER, metavar="COMMAND")
    commands.add_parser("token").add_argument("--ttl", type=int, default=1800, help="seconds until it expires")
    user = commands.add_parser("kubeconfig")
    user.add_argument("--user", required=True)
    user.add_argument("--group", action="append", default=[])
    user.add_argument("--out", required=True)
    for name in ("kill", "restart"):
        commands.add_parser(name).add_argument("program")
    return parser.parse_args()


def main() -> int:
    args = parse_arguments()
    cluster = Cluster(args.state, args.bin)
    actions = {
        "up": lambda: up(cluster), "down": cluster.stop, "status": lambda: status(cluster),
        "exec": lambda: execute(cluster, args.argv), "token": lambda: print(cluster.bootstrap_token(args.ttl)),
        "kubeconfig": lambda: print(cluster.user_kubeconfig(args.out, args.user, args.group)),
        "compact": cluster.compact, "kill": lambda: cluster.kill(args.program), "restart": lambda: cluster.restart(args.program)}
    return actions[args.command]() or 0


if __name__ == "__main__":
    sys.exit(main())
