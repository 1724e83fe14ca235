"""Provides bare metal for end-to-end tests: sushy-tools' emulator as the BMC, and testnode as the system that boots at power
on.

The program (redfish.py FOLDER CLUSTER) runs such a rack until it is ended, with the objects of its hosts in
FOLDER/objects.yaml."""

import json
import signal
import sys
import threading
import urllib.request
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "component/redfish"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "controlplane"))
from cluster import Cluster  # noqa: E402
from guests import Guest, join_configuration, user_data  # noqa: E402
import iso  # noqa: E402
from stack import is_true  # noqa: E402
from sushy import Sushy, system  # noqa: E402

API = "kubenodesmith.parawell.cloud/v1alpha1"
NAMESPACE = "kubenodesmith"
TOKEN = "abcdef.0123456789abcdef"
SLOTS = ("Cd", "Floppy")  # the latter takes USB sticks


def read_in_blocks(url, size=16 * 1024):
    """Reads an image as BMCs stream virtual media: its length first, then a block at a time."""
    with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=60) as answer:
        length = int(answer.headers["Content-Length"])
    blocks = []
    for at in range(0, length, size):
        request = urllib.request.Request(url, headers={"Range": f"bytes={at}-{at + size - 1}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 206
            blocks.append(answer.read())
    return b"".join(blocks)


class Rack:
    """Hosts that join the cluster when they are turned on. They use the boot data in their virtual media if there are any.
    Otherwise they join by themselves, as an installed system does."""

    def __init__(self, folder, cluster, hosts=2, cpus=8, memory_mib=16384):
        self.folder = Path(folder)
        self.cluster = cluster
        self.capacity = {"cpuCores": cpus, "memoryMiB": memory_mib}
        self.listener = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        url = f"http://127.0.0.1:{self.listener.server_port}"
        self.systems = [system(i, notifies=True) for i in range(1, hosts + 1)]
        self.sushy = Sushy(self.folder / "sushy", self.systems, url)
        self.guests = {}
        for each in self.systems:
            guest = Guest(cluster, self.folder / each["name"], cpus, memory_mib)
            guest.system_uuid = each["uuid"]
            guest.boots = 0
            self.guests[each["uuid"]] = guest
        self.states = {}
        self.seeds = {}  # URLs of the boot data with which each host booted, by its name
        self.lock = threading.Lock()

    @property
    def token_secret(self):
        return f"bootstrap-token-{TOKEN.split('.')[0]}"

    def start(self):
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()
        self.sushy.start(die_with_parent=True)
        # These are installed systems of a cluster. The operator does not know their tokens.
        token_id, secret = TOKEN.split(".")
        fields = {"token-id": token_id, "token-secret": secret, "usage-bootstrap-authentication": "true",
                  "usage-bootstrap-signing": "true", "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token"}
        if self.cluster.find(f"/api/v1/namespaces/kube-system/secrets/{self.token_secret}"):
            return self
        self.cluster.api("POST", "/api/v1/namespaces/kube-system/secrets", {
            "apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token",
            "metadata": {"name": self.token_secret, "namespace": "kube-system"},
            "stringData": fields})
        return self

    def stop(self):
        self.sushy.stop()
        self.listener.shutdown()

    def power_states(self):
        return {each["name"]: self.sushy.power_state(each["uuid"]) for each in self.systems}

    def serve_image(self, name):
        """Returns the URL of an image that BMCs can insert."""
        return f"http://127.0.0.1:{self.listener.server_port}/{name}"

    def inserted(self):
        """Returns the images in all slots of all hosts."""
        slots = [self._slot(each["uuid"], slot) for each in self.systems for slot in SLOTS]
        return [slot["Image"] for slot in slots if slot["Inserted"]]

    def _slot(self, uuid, slot):
        return self.sushy.get(f"/redfish/v1/Systems/{uuid}/VirtualMedia/{slot}")

    def _handler(rack):  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                self.send_response(200)
                self.send_header("Content-Length", "4096")
                self.end_headers()
                self.wfile.write(b"\0" * 4096)

            def do_PUT(self):  # noqa: N802
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                rack._changed(body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()
            do_POST = do_PUT

            def log_message(self, *_):
                pass
        return Handler

    def _changed(self, told):
        uuid, state = told["uuid"], told["power_state"]
        with self.lock:
            if self.states.get(uuid) == state:
                return
            self.states[uuid] = state
        threading.Thread(target=self._boot if state == "On" else self._halt, args=(uuid,), daemon=True).start()

    def _boot(self, uuid):
        guest = self.guests[uuid]
        guest.boots += 1
        name = next(each["name"] for each in self.systems if each["uuid"] == uuid)
        seed = self._seed_url(uuid)
        if seed:
            self.seeds.setdefault(name, []).append(seed)
            guest.boot(iso.files(read_in_blocks(seed))["USER_DATA"].decode())
        else:
            guest.boot(user_data(join_configuration(self.cluster, TOKEN, name)))

    def _seed_url(self, uuid):
        for slot in SLOTS:
            image = self._slot(uuid, slot)["Image"]
            if image and image.endswith("/seed.iso"):
                return image
        return None

    def _halt(self, uuid):
        self.guests[uuid].power_off()

    # --- what a user writes ---

    def manifests(self, bootstrap=None, **redfish):
        def thing(kind, name, spec):
            return {"apiVersion": API, "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}
        data = {"username": self.sushy.user, "password": self.sushy.password}
        encoded = {key: b64encode(value.encode()).decode() for key, value in data.items()}
        yield {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bmc", "namespace": NAMESPACE}, "data": encoded}
        yield thing("NodeSmithProvider", "rack", {
            "type": "redfish", "credentialsSecretRef": {"name": "bmc"}, "redfish": redfish})
        for each in self.systems:
            yield thing("NodeSmithHost", each["name"], {
                "providerRef": "rack", "capacity": self.capacity, "nodeName": each["name"],
                "bmc": {"address": self.sushy.url, "systemID": each["uuid"],
                        "tls": {"caBundle": self.sushy.ca_file.read_text()}}})
        yield thing("NodeSmithPool", "metal", {
            "providerRef": "rack", "limits": {"maxNodes": 4}, **({"bootstrap": bootstrap} if bootstrap else {}),
            "scaleDown": {"stabilizationWindow": "1s", "emptyGracePeriod": "2s", "minNodeAge": "1s"}})
        yield thing("NodeSmithControlPlane", "kubenodesmith", {
            "pools": ["*"], "batching": {"idleDuration": "200ms", "maxDuration": "1s"}})


def hosts(stack):
    return {h["metadata"]["name"]: h for h in stack.objects("nodesmithhosts")}


def all_ready(stack, count):
    found = hosts(stack)
    return len(found) == count and all(is_true(h, "Ready") for h in found.values())


def delete_rack(stack):
    stack.cluster.kubectl("-n", NAMESPACE, "delete", "nodesmithpools,nodesmithhosts,nodesmithproviders", "--all", "--timeout=120s")


def main(folder, state):
    rack = Rack(folder, Cluster(state)).start()
    try:
        # The reader has a control plane already, and the windows are the defaults.
        objects = [o for o in rack.manifests() if o["kind"] != "NodeSmithControlPlane"]
        for pool in (o["spec"] for o in objects if o["kind"] == "NodeSmithPool"):
            del pool["scaleDown"]
        draft = rack.folder / "objects.tmp"
        # Older kubectl reads a file that begins with JSON completely as JSON.
        draft.write_text(yaml.safe_dump_all(objects, explicit_start=True, sort_keys=False))
        draft.replace(rack.folder / "objects.yaml")
        signal.sigwait({signal.SIGTERM, signal.SIGINT})
    finally:
        rack.stop()


if __name__ == "__main__":
    # The signals are blocked before any thread begins, so that no thread takes them.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    main(*sys.argv[1:])
