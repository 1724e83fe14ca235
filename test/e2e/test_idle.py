"""Tests that an operator with nothing to do is small and silent."""

import time

import manifests
from stack import SYSTEM, read_log, running_pods, wait_for

QUIET_SECONDS = 60
RESIDENT_KIB = 32 * 1024
WRITES = ("create", "patch", "update", "delete", "deletecollection")


def audited(stack):
    """Returns how many requests the API server has logged."""
    return len(read_log(stack.cluster.audit_log))


def requests_of(stack, agent, since):
    return [e for e in read_log(stack.cluster.audit_log)[since:] if agent in e.get("userAgent", "")]


def writes_since(stack, since):
    return [(e["verb"], e["objectRef"]["resource"])
            for e in requests_of(stack, "kubenodesmith", since)
            if e["verb"] in WRITES and e["objectRef"]["resource"] != "leases"]


def wait_until_settled(stack):
    """Waits for the last status writes of the scale-up. A node that was launched before its pod was seen may also be removed
    again."""
    deadline = time.monotonic() + 300
    while True:
        since = audited(stack)
        time.sleep(15)
        writes = writes_since(stack, since)
        if not writes:
            return
        assert time.monotonic() < deadline, writes


def test_an_idle_operator_only_watches_and_renews_its_lease(clean):
    stack = clean
    stack.operator.stop()
    stack.operator.start("--leader-elect", f"--leader-election-namespace={SYSTEM}").wait_ready()
    stack.apply(*manifests.everything(stack.proxmox, limits={"minNodes": 1}))
    stack.apply(manifests.deployment("shop", 1))
    wait_for("the pod running", lambda: len(running_pods(stack.pods())) == 1)
    wait_for("every claim Ready", lambda: all(c.get("status", {}).get("phase") == "Ready" for c in stack.claims()))
    wait_until_settled(stack)

    since = audited(stack)
    proxmox_before = len(stack.proxmox.requests())
    time.sleep(QUIET_SECONDS)
    seen = requests_of(stack, "kubenodesmith", since)
    assert not writes_since(stack, since)
    reads = [(e["verb"], e["objectRef"]["resource"]) for e in seen if e["verb"] in ("get", "list")]
    assert {resource for _, resource in reads} <= {"leases"}, reads
    proxmox_requests = len(stack.proxmox.requests()) - proxmox_before
    print(f"idle {QUIET_SECONDS} s: {len(seen)} API requests, {proxmox_requests} Proxmox requests, "
          f"{stack.operator.resident_kib()} KiB resident")
    # Each minute the operator looks at the provider, and four requests tell whether another operator owns the same machines.
    assert proxmox_requests <= QUIET_SECONDS / 6
    assert stack.operator.resident_kib() < RESIDENT_KIB
    assert stack.operator.stop() == 0
    stack.operator.start().wait_ready()
