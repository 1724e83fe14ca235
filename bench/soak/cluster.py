#!/usr/bin/env python3
"""An hour of churn on a real control plane: pods are created and deleted, so nodes come and go on a simulated Proxmox.

Prints a line per minute: the memory and files of the operator's process, and the length of its queues. Exit code 1: its memory
or its open files have grown, a queue was never empty, or the operator ended.

build/venv/bin/python bench/soak/cluster.py [--minutes 60] [--pods-per-second 20]      after make setup
"""

import argparse
import concurrent.futures
import http.client
import json
import math
import ssl
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/e2e"))
import manifests  # noqa: E402
from stack import Stack  # noqa: E402

PODS = "/api/v1/namespaces/default/pods"
# A pod's life swings between these (seconds, with the period SWING), and with it the number of pods and nodes.
SHORTEST_LIFE, LONGEST_LIFE, SWING = 5, 25, 360
CONNECTIONS = 4
# The times are short, so that nodes are removed in each trough.
SCALE_DOWN = {"stabilizationWindow": "10s", "emptyGracePeriod": "10s", "minNodeAge": "30s", "unneededDuration": "30s",
              "maxConcurrent": 2, "drainTimeout": "1m", "delayAfterFailure": "10s"}
# The warm-up is not compared, as caches fill and the allocator has not reached its level.
WARM_UP_SHARE = 0.25
MOST_GROWTH = 0.05
MOST_NEW_FILES = 8


class Api:
    """Sends requests as the administrator, with one connection for each thread."""

    def __init__(self, cluster):
        self.context = ssl.create_default_context(cafile=str(cluster.pki / "ca.crt"))
        self.context.load_cert_chain(cluster.pki / "admin.crt", cluster.pki / "admin.key")
        self.host = cluster.server.removeprefix("https://")
        self.of_thread = threading.local()

    def request(self, method, path, body=None):
        """Returns the status of the answer; 0: no answer."""
        if not hasattr(self.of_thread, "connection"):
            self.of_thread.connection = http.client.HTTPSConnection(self.host, context=self.context, timeout=30)
        connection = self.of_thread.connection
        try:
            connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except (OSError, http.client.HTTPException):
            connection.close()
            return 0


def pod(name, owner):
    """Returns a pod that this program controls. A pod without a controller would prevent the removal of its node."""
    container = {"name": "app", "image": "registry.example/app:1", "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}}}
    return {"metadata": {"name": name, "ownerReferences": [{**owner, "controller": True}]},
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 0}}


class Churn:
    """Creates pods at a steady rate and deletes each at the end of its life."""

    def __init__(self, api, owner, per_second):
        self.api = api
        self.owner = owner
        self.interval = 1 / per_second
        self.start = self.due = time.monotonic()
        self.ends = []  # (when, name), in the order of creation
        self.created = self.deleted = self.failed = 0
        self.workers = concurrent.futures.ThreadPoolExecutor(CONNECTIONS)

    def life(self, now):
        swing = (1 - math.cos(2 * math.pi * (now - self.start) / SWING)) / 2
        return SHORTEST_LIFE + (LONGEST_LIFE - SHORTEST_LIFE) * swing

    def run_until(self, deadline):
        while time.monotonic() < deadline:
            now = time.monotonic()
            if now >= self.due:
                self.create(now)
                self.due = max(self.due + self.interval, now - 1)  # pods that a stall delayed are not created later
            expired = [name for when, name in self.ends if when <= now]
            for name in expired:
                self.send("DELETE", f"{PODS}/{name}", None, ok=(200, 202, 404))
                self.deleted += 1
            if expired:
                self.ends = [end for end in self.ends if end[0] > now]
            time.sleep(max(0.0, min(self.due, deadline) - time.monotonic()))

    def create(self, now):
        name = f"churn-{self.created}"
        self.send("POST", PODS, pod(name, self.owner), ok=(201,))
        self.ends.append((now + self.life(now), name))
        self.created += 1

    def send(self, method, path, body, ok):
        def done(answer):
            self.failed += answer.result() not in ok
        self.workers.submit(self.api.request, method, path, body).add_done_callback(done)


def sample(stack, churn):
    """Returns the figures to compare. It is called between two bursts of work."""
    metrics = stack.operator.metrics()
    files = len(list(Path(f"/proc/{stack.operator.process.pid}/fd").iterdir()))
    fields = Path(f"/proc/{stack.operator.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return {"pods": len(churn.ends), "nodes": len(stack.nodes()), "claims": len(stack.claims()),
            "rss_kib": stack.operator.resident_kib(), "files": files,
            "queued": int(sum(value for series, value in metrics.items() if series.startswith("workqueue_depth"))),
            "cpu_s": (int(fields[11]) + int(fields[12])) / 100, "created": churn.created, "deleted": churn.deleted,
            "failed_requests": churn.failed, "claims_created": int(sum(
                value for series, value in metrics.items() if series.startswith("kubenodesmith_claims_created_total")))}


def verdict(samples):
    """Returns what has grown; empty: nothing."""
    kept = samples[int(len(samples) * WARM_UP_SHARE):]
    third = max(1, len(kept) // 3)
    early, late = kept[:third], kept[-third:]
    problems = []

    def median(part, what):
        return statistics.median(each[what] for each in part)
    rss = median(early, "rss_kib"), median(late, "rss_kib")
    if rss[1] > rss[0] * (1 + MOST_GROWTH):
        problems.append(f"memory grew from {rss[0]:.0f} to {rss[1]:.0f} KiB")
    if median(late, "files") > median(early, "files") + MOST_NEW_FILES:
        problems.append(f"open files grew from {median(early, 'files')} to {median(late, 'files')}")
    if min(each["queued"] for each in late) > 0:
        problems.append("a queue was never empty in the last third")
    print(f"memory: median {rss[0]:.0f} KiB in the first third after the warm-up, {rss[1]:.0f} KiB in the last")
    return problems


def run(stack, minutes, per_second):
    stack.install_crds()
    stack.operator.start().wait_ready()
    stack.apply(*manifests.everything(stack.proxmox, limits={"maxNodes": 40}, scaleDown=SCALE_DOWN,
                                      disruption={"budgets": [{"nodes": "50%"}]}))
    made = stack.cluster.api("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "churn"}})
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "churn", "uid": made["metadata"]["uid"]}
    churn = Churn(Api(stack.cluster), owner, per_second)
    samples = []
    for minute in range(1, minutes + 1):
        churn.run_until(churn.start + 60 * minute)
        samples.append(sample(stack, churn))
        print(f"minute={minute} " + " ".join(f"{name}={value}" for name, value in samples[-1].items()), flush=True)
    return verdict(samples)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--pods-per-second", type=float, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Stack(folder) as stack:
        problems = run(stack, arguments.minutes, arguments.pods_per_second)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
