"""An operator with nothing to do is small and silent."""

import json
import time

import manifests
from stack import running_pods, wait_for

QUIET_SECONDS = 60
RESIDENT_KIB = 25 * 1024
WRITES = ("create", "patch", "update", "delete", "deletecollection")


def requests_of(stack, agent, offset):
    with open(stack.cluster.audit_log, encoding="utf-8") as log:
        log.seek(offset)
        events = [json.loads(line) for line in log]
    return [e for e in events if agent in e.get("userAgent", "")]


def writes_since(stack, offset):
    return [(e["verb"], e["objectRef"]["resource"])
            for e in requests_of(stack, "kubenodesmith", offset)
            if e["verb"] in WRITES and e["objectRef"]["resource"] != "leases"]


def wait_until_settled(stack):
    """The last status writes of the scale-up; a node bought before its pod was seen may be removed again, too."""
    deadline = time.monotonic() + 180
    while True:
        offset = stack.cluster.audit_log.stat().st_size
        time.sleep(15)
        writes = writes_since(stack, offset)
        if not writes:
            return
        assert time.monotonic() < deadline, writes


def test_an_idle_operator_only_watches_and_renews_its_lease(clean):
    stack = clean
    stack.operator.stop()
    stack.operator.start("--leader-elect", "--leader-election-namespace=default").wait_ready()
    stack.apply(*manifests.everything(stack.proxmox, limits={"minNodes": 1}))
    stack.apply(manifests.deployment("shop", 1))
    wait_for("the pod running", lambda: len(running_pods(stack.pods())) == 1, 60)
    wait_for("every claim Ready", lambda: all(c.get("status", {}).get("phase") == "Ready" for c in stack.claims()), 30)
    wait_until_settled(stack)

    offset = stack.cluster.audit_log.stat().st_size
    proxmox_before = len(stack.proxmox.requests())
    time.sleep(QUIET_SECONDS)
    seen = requests_of(stack, "kubenodesmith", offset)
    assert not writes_since(stack, offset)
    reads = [(e["verb"], e["objectRef"]["resource"]) for e in seen if e["verb"] in ("get", "list")]
    assert {resource for _, resource in reads} <= {"leases"}, reads
    proxmox_requests = len(stack.proxmox.requests()) - proxmox_before
    print(f"idle {QUIET_SECONDS} s: {len(seen)} API requests, {proxmox_requests} Proxmox requests, "
          f"{stack.operator.resident_kib()} KiB resident")
    assert proxmox_requests <= QUIET_SECONDS / 10
    assert stack.operator.resident_kib() < RESIDENT_KIB
    assert stack.operator.stop() == 0
    stack.operator.start().wait_ready()
