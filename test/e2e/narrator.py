"""Prints the changes in a stack in plain words, as they happen."""

import time

from stack import condition, is_true, running_pods


class Narrator:
    """Prints every fact once. Call watch(done) to print changes until done() is true."""

    def __init__(self, stack, out=print):
        self.stack = stack
        self.out = out
        self.start = time.monotonic()
        self.told = set()
        self.phases = {}
        self.machines = {}
        self.nodes = {}

    def say(self, text):
        self.out(f"[{time.monotonic() - self.start:5.1f} s] {text}")

    def once(self, key, text):
        if key not in self.told:
            self.told.add(key)
            self.say(text)

    def watch(self, done, timeout):
        """Returns False if done() did not become true in time."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            self.look()
            if done():
                self.look()
                return True
            time.sleep(0.1)
        return False

    def look(self):
        self._pods()
        self._claims()
        self._events()
        self._machines()
        self._nodes()

    def _pods(self):
        pods = self.stack.pods()
        for pod in pods:
            name = pod["metadata"]["name"]
            scheduled = condition(pod, "PodScheduled")
            if scheduled.get("reason") == "Unschedulable":
                self.once(("pending", name), f"pod {name} is pending: the scheduler found no node for it")
        for pod in running_pods(pods):
            self.once(("running", pod["metadata"]["name"]), f"pod {pod['metadata']['name']} runs on {pod['spec']['nodeName']}")

    def _claims(self):
        claims = {c["metadata"]["name"]: c for c in self.stack.claims()}
        for name, claim in claims.items():
            phase = claim.get("status", {}).get("phase", "Pending")
            if self.phases.get(name) != phase:
                self.phases[name] = phase
                self.say(f"claim {name} is {phase}{self._why(claim, phase)}")
        for name in [n for n in self.phases if n not in claims]:
            del self.phases[name]
            self.say(f"claim {name} is gone")

    def _why(self, claim, phase):
        if phase in ("Ready", "Pending"):
            return ""
        kinds = {"Launching": "Launched", "Registering": "Registered", "Initializing": "Initialized", "Failed": "Failed",
                 "Draining": "Drained", "Terminating": "MachineDeleted"}
        message = condition(claim, kinds.get(phase, "Ready")).get("message", "")
        return f": {message}" if message else ""

    def _events(self):
        for event in self.stack.events():
            about = event["involvedObject"]
            if about["kind"].startswith("NodeSmith"):
                key = (event["metadata"]["uid"], event["message"])
                kind = about["kind"].removeprefix("NodeSmith").lower()
                self.once(key, f"  event on {kind} {about['name']}: {event['reason']}: {event['message']}")

    def _machines(self):
        machines = {m["vmid"]: m for m in self.stack.proxmox.machines()}
        for vmid, machine in machines.items():
            if self.machines.get(vmid) != machine["status"]:
                self.machines[vmid] = machine["status"]
                self.say(f"Proxmox: VM {vmid} ({machine.get('name', '')}) on host {machine['node']} is {machine['status']}")
        for vmid in [v for v in self.machines if v not in machines]:
            del self.machines[vmid]
            self.say(f"Proxmox: VM {vmid} is gone")

    def _nodes(self):
        nodes = {n["metadata"]["name"]: n for n in self.stack.nodes()}
        for name, node in nodes.items():
            state = "ready" if is_true(node, "Ready") else "not ready"
            if self.nodes.get(name) != state:
                self.nodes[name] = state
                self.say(f"node {name} is {state}")
        for name in [n for n in self.nodes if n not in nodes]:
            del self.nodes[name]
            self.say(f"node {name} is gone")
