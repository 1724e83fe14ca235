"""Kills the operator at random moments of the whole life of its machines. The result is the same, and no machine is leaked."""

import datetime
import random
import signal
import threading
import time

import manifests
from stack import Operator, read_log, running_pods, wait_for

KILLS = 10
PODS = 4
SEED = 20260101
STANDSTILL = 28  # seconds; a lease lasts 15
WRITES = ("create", "patch", "update", "delete", "deletecollection")


class Census:
    """Counts the machines all the time, because one too many for a moment is already wrong."""

    def __init__(self, stack):
        self.stack = stack
        self.most = 0
        self.duplicates = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._count)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def _count(self):
        while not self.ended.wait(0.05):
            machines = self.stack.proxmox.machines()
            self.most = max(self.most, len(machines))
            names = [m["name"] for m in machines if m.get("name")]
            self.duplicates += [n for n in set(names) if names.count(n) > 1]


def kill_at_random(stack, generator, kills, window_seconds):
    for _ in range(kills):
        time.sleep(generator.uniform(0.05, window_seconds))
        stack.operator.kill()
        stack.operator.start()


def test_killed_ten_times_the_operator_loses_nothing_and_launches_nothing_twice(clean):
    stack = clean
    generator = random.Random(SEED)
    stack.apply(*manifests.everything(stack.proxmox, limits={"maxNodes": PODS}))
    stack.operator.wait_ready()
    with Census(stack) as census:
        stack.apply(manifests.deployment("shop", PODS, cpu="6"))
        kill_at_random(stack, generator, KILLS // 2, 1.5)
        wait_for("all pods running", lambda: len(running_pods(stack.pods())) == PODS, 240)
        assert len(stack.claims()) == PODS
        stack.cluster.kubectl("delete", "deployment", "shop", "--wait=false")
        kill_at_random(stack, generator, KILLS - KILLS // 2, 1.5)
        wait_for("the removal of everything",
                 lambda: not (stack.claims() or stack.proxmox.machines() or stack.nodes() or stack.bootstrap_tokens()), 240)
    stack.operator.wait_ready()
    assert census.most <= PODS, f"{census.most} machines at a time for {PODS} pods"
    assert not census.duplicates


def writes_of(stack, user, since):
    """Returns the user's requests that the API server received later. It leaves out the Lease, and reviews, which change
    nothing."""
    return [(e["requestReceivedTimestamp"], e["verb"], e["requestURI"]) for e in read_log(stack.cluster.audit_log)
            if e["user"]["username"] == user and e["requestReceivedTimestamp"] > since
            and e["verb"] in WRITES and e["objectRef"]["resource"] != "leases"
            and e["objectRef"].get("apiGroup") not in ("authentication.k8s.io", "authorization.k8s.io")]


def server_time():
    """Returns the time in the API server's log; control plane and test share a clock."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def test_a_leader_that_stood_still_for_longer_than_its_lease_writes_nothing_any_more(clean, tmp_path):
    stack = clean
    stack.operator.stop()
    users = ("first-operator", "second-operator")
    processes = []
    for user in users:
        (tmp_path / user).mkdir()
        kubeconfig = stack.cluster.user_kubeconfig(tmp_path / f"{user}.kubeconfig", user, ("system:masters",))
        processes.append(Operator(tmp_path / user, kubeconfig))
    first, second = processes
    election = ("--leader-elect", "--leader-election-namespace=default")
    try:
        first.start(*election).wait_ready()
        stack.apply(*manifests.everything(stack.proxmox, limits={"maxNodes": PODS}))
        wait_for("the first one's lead", lambda: writes_of(stack, users[0], ""))
        second.start(*election).wait_ready()
        # The operator is in the middle of its work, and much of it is left.
        stack.apply(manifests.deployment("shop", PODS, cpu="6"))
        wait_for("claims", stack.claims)
        first.process.send_signal(signal.SIGSTOP)
        time.sleep(STANDSTILL)
        resumed = server_time()
        first.process.send_signal(signal.SIGCONT)
        assert first.process.wait(60) != 0, "it lost its lease"
        assert not writes_of(stack, users[0], resumed)
        wait_for("all pods running", lambda: len(running_pods(stack.pods())) == PODS, 240)
        assert len(stack.claims()) == PODS
        assert writes_of(stack, users[1], "")
    finally:
        for process in processes:
            process.kill()
        stack.operator.start().wait_ready()


def test_after_a_death_between_reservation_and_claims_the_next_launch_needs_no_minute(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox, limits={"maxNodes": 3 * PODS}))
    stack.operator.wait_ready()
    pool = f"/apis/{manifests.API}/namespaces/{manifests.NAMESPACE}/nodesmithpools/workers"
    wait_for("the pool's status", lambda: stack.cluster.api("GET", pool)["status"]["conditions"])
    stack.operator.kill()
    # The status looks like this when a process dies right after it has reserved.
    reserved = {"nodes": PODS, "cpuCores": 8 * PODS, "memoryMiB": 8192 * PODS, "time": server_time().split(".")[0] + "Z"}
    stack.cluster.api("PATCH", f"{pool}/status", {"status": {"reserved": reserved, "nextClaimSequence": PODS + 1}}, "application/merge-patch+json")
    stack.apply(manifests.deployment("shop", PODS, cpu="6"))
    stack.operator.start().wait_ready()
    started = time.monotonic()
    # Otherwise it would wait for a minute after the time of the reservation.
    wait_for("the claims", lambda: len(stack.claims()) == PODS, 45)
    print(f"launched {time.monotonic() - started:.1f} s after the start")
    wait_for("all pods running", lambda: len(running_pods(stack.pods())) == PODS, 240)
    assert len(stack.claims()) == PODS


def test_a_creation_that_hangs_is_stopped_and_its_pods_run_elsewhere(clean):
    stack = clean
    stack.operator.wait_ready()
    stack.proxmox.control("POST", "/task-faults", {"type": "qmcreate", "trouble": "hang"})
    stack.apply(*manifests.everything(stack.proxmox, scaleUp={"provisionTimeout": "20s", "retry": {"initialBackoff": "1s"}}))
    stack.apply(manifests.deployment("shop", 1))
    wait_for("the pod running", lambda: running_pods(stack.pods()), 300)
    stops = {r["path"] for r in stack.proxmox.requests() if r["method"] == "DELETE" and "/tasks/" in r["path"]}
    assert len(stops) == 1, stops
    wait_for("one machine", lambda: len(stack.proxmox.machines()) == 1)
