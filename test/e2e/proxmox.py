"""Runs the simulated Proxmox cluster as a process, and knows its address, credentials, machines and request log."""

import json
import sys
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "controlplane"))
from cluster import wait_for  # noqa: E402
from processes import Processes  # noqa: E402


class ProxmoxSimulator:
    """Starts proxmox-simulator. Its machines boot with the program `guest` and join the given cluster."""

    def __init__(self, folder, bin_dir, cluster, world=None, netboot_kubeconfig=None, guest="testnode"):
        self.folder = Path(folder)
        self.program = Path(bin_dir) / "proxmox-simulator"
        self.cluster = cluster
        self.world = world
        self.netboot_kubeconfig = netboot_kubeconfig
        self.guest = guest
        self.processes = Processes(self.folder)
        self.request_log = self.folder / "requests.jsonl"
        self.facts = {}

    def start(self, die_with_parent=False):
        self.folder.mkdir(parents=True, exist_ok=True)
        ready = self.folder / "ready.json"
        ready.unlink(missing_ok=True)
        argv = [self.program, "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--state", self.folder,
                "--testnode", self.cluster.program(self.guest),
                "--request-log", self.request_log, "--ready-file", ready]
        if self.world:
            argv += ["--world", self.world]
        if self.netboot_kubeconfig:
            argv += ["--netboot-kubeconfig", self.netboot_kubeconfig]
        self.processes.start("proxmox-simulator", argv, die_with_parent)

        def started():
            self.processes.check()
            return json.loads(ready.read_text())
        self.facts = wait_for("the Proxmox simulator's start", started)
        return self

    def stop(self):
        self.processes.stop()

    @property
    def url(self):
        return self.facts["url"]

    @property
    def fingerprint(self):
        return self.facts["fingerprint"]

    # This is the token of the simulator's world, unless the test has another one.
    token_id = "automation@pve!kubenodesmith"
    token_secret = "00000000-1111-4222-8333-444444444444"

    def control(self, method, path, body=None):
        """Sends one request to the control interface, with which a test changes the world behind the API."""
        request = urllib.request.Request(self.facts["control"] + path, method=method,
                                         data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def machines(self):
        """Returns every VM that is no template: vmid, name, node, uuid, status, and its configuration under config."""
        machines = [m for m in self.control("GET", "/machines") if not m["config"].get("template")]
        return [{**m, "status": "running" if m["running"] else "stopped"} for m in machines]

    def requests(self):
        """Returns the requests served so far, oldest first."""
        if not self.request_log.exists():
            return []
        # The last line may be incomplete.
        return [json.loads(line) for line in self.request_log.read_text().split("\n")[:-1]]
