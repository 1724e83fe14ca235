"""Measures the time from the scheduler's refusal to the request at the hypervisor. The test reports it, and bench/ judges
the figure. It also tests that the operator launches what is certain while pods still arrive."""

import json
import statistics
import subprocess
import threading
import time

import manifests
from stack import NAMESPACE, wait_for

PODS = 20
IDLE_SECONDS = 0.2
GOAL_SECONDS = 0.1


class Verdicts:
    """Records when each pod was seen as unschedulable, by a separate watch."""

    def __init__(self, stack):
        argv = [stack.cluster.program("kubectl"), "--kubeconfig", stack.cluster.kubeconfig, "get", "pods", "--watch",
                "-o", "json", "--output-watch-events"]
        self.seen = {}
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def _read(self):
        decoder, text = json.JSONDecoder(), ""
        for line in self.process.stdout:
            now = time.time()
            text += line
            try:
                event, _ = decoder.raw_decode(text)
            except json.JSONDecodeError:
                continue
            text = ""
            pod = event["object"]
            reasons = [c.get("reason") for c in pod.get("status", {}).get("conditions", []) if c["type"] == "PodScheduled"]
            if "Unschedulable" in reasons:
                self.seen.setdefault(pod["metadata"]["name"], now)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.thread.join()


def creations(stack):
    return [r for r in stack.proxmox.requests() if r["method"] == "POST" and r["path"].endswith("/qemu")]


def test_from_unschedulable_to_the_creation_request(clean):
    stack = clean
    # No machine joins. Otherwise a later pod would at times take the node of an earlier one before anybody judged it.
    stack.apply(*manifests.everything(stack.proxmox, limits={"maxNodes": 0}, bootstrap={"method": "None"}))
    wait_for("a ready pool", lambda: any(c["type"] == "Ready" and c["status"] == "True" for p in
                                         stack.objects("nodesmithpools") for c in p.get("status", {}).get("conditions", [])))
    delays = []
    verdicts = Verdicts(stack)
    try:
        for number in range(PODS):
            before = len(creations(stack))
            stack.apply(manifests.deployment(f"one-{number}", 1, cpu="7"))
            created = wait_for("a creation request", lambda: creations(stack)[before:])[0]
            name = wait_for("the verdict", lambda: [p for p in verdicts.seen if p.startswith(f"one-{number}-")])[0]
            delays.append(created["time"] - verdicts.seen[name] - IDLE_SECONDS)
    finally:
        verdicts.stop()
    median = statistics.median(delays)
    print(f"unschedulable to creation request beyond the batching window: median {median * 1000:.0f} ms, "
          f"largest {max(delays) * 1000:.0f} ms, {PODS} pods")
    assert len(delays) == PODS


def test_machines_that_are_full_are_launched_while_pods_keep_coming(clean):
    """Without looks in between, nothing would be launched before the longest time of a batch has passed."""
    stack = clean
    control_plane = manifests.control_plane(batching={"idleDuration": "1s", "maxDuration": "10m"})
    stack.apply(manifests.secret(stack.proxmox), manifests.provider(stack.proxmox), manifests.pool(limits={"maxNodes": 0}),
                control_plane)
    wait_for("a ready pool", lambda: any(c["type"] == "Ready" and c["status"] == "True" for p in
                                         stack.objects("nodesmithpools") for c in p.get("status", {}).get("conditions", [])))
    stack.apply(manifests.deployment("stream", 1))
    came = 1
    # The pods arrive more often than the idle duration, so that the batch never closes.
    while not stack.claims():
        came += 1
        assert came < 200, "the batch is still open and nothing is launched"
        stack.cluster.kubectl("scale", "deployment", "stream", f"--replicas={came}")
        time.sleep(0.3)
    launched = sum(c["spec"]["requirements"]["cpuCores"] for c in stack.claims())
    print(f"{launched} CPUs launched while pod {came} came")
    stack.cluster.kubectl("scale", "deployment", "stream", "--replicas=1")
