"""The operator is killed at random moments of the whole life of its machines: the end is the same, nothing is leaked."""

import random
import threading
import time

import manifests
from stack import running_pods, wait_for

KILLS = 10
PODS = 4
SEED = 20260101


class Census:
    """Counts the machines all the time, because one too many for a moment is one too many."""

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


def test_killed_ten_times_the_operator_loses_nothing_and_buys_nothing_twice(clean):
    stack = clean
    generator = random.Random(SEED)
    stack.apply(*manifests.everything(stack.proxmox, limits={"maxNodes": PODS}))
    stack.operator.wait_ready()
    with Census(stack) as census:
        stack.apply(manifests.deployment("shop", PODS, cpu="6"))
        kill_at_random(stack, generator, KILLS // 2, 1.5)
        wait_for("all pods running", lambda: len(running_pods(stack.pods())) == PODS, 90)
        assert len(stack.claims()) == PODS
        stack.cluster.kubectl("delete", "deployment", "shop", "--wait=false")
        kill_at_random(stack, generator, KILLS - KILLS // 2, 1.5)
        wait_for("the removal of everything",
                 lambda: not (stack.claims() or stack.proxmox.machines() or stack.nodes() or stack.bootstrap_tokens()), 90)
    stack.operator.wait_ready()
    assert census.most <= PODS, f"{census.most} machines at a time for {PODS} pods"
    assert not census.duplicates
