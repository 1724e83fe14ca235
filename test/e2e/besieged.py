"""Runs an operator that is attacked, and checks it meanwhile: probes are answered, memory is bounded, the Lease is kept.

    with Stack(folder) as stack:
        start(stack)
        with nobody_suffers(stack):
            attack()
"""

import contextlib
import http.client
import threading
import time
import urllib.request

from stack import BIN, NAMESPACE, wait_for

DESCRIPTORS = 1024  # limit of the operator
MOST_RESIDENT_KIB = 128 * 1024
MOST_LOOP_SECONDS = 1  # CPU time for one step; the test prints the real figure
LEASE = "12c57729.kubenodesmith.parawell.cloud"
PROBE_TIMEOUT = 10  # a kubelet's is 1 s; the test prints the longest time, because this machine may be busy


def token_of_a_scraper(cluster):
    cluster.kubectl("create", "serviceaccount", "scraper", "-n", NAMESPACE)
    cluster.kubectl("create", "clusterrole", "scraper", "--verb=get", "--non-resource-url=/metrics")
    cluster.kubectl("create", "clusterrolebinding", "scraper", "--clusterrole=scraper", f"--serviceaccount={NAMESPACE}:scraper")
    return cluster.kubectl("create", "token", "scraper", "-n", NAMESPACE).strip()


def start(stack, *flags):
    """Starts the operator as it runs in a cluster: with few file descriptors, secured metrics and leader election."""
    stack.install_crds()
    operator = stack.operator
    operator.token = token_of_a_scraper(stack.cluster)
    operator.command = ["prlimit", f"--nofile={DESCRIPTORS}:{DESCRIPTORS}", BIN / "kubenodesmith"]
    operator.start("--leader-elect", *flags).wait_ready()
    wait_for("the Lease", lambda: lease(stack))


def lease(stack):
    leases = stack.cluster.api("GET", "/apis/coordination.k8s.io/v1/leases")["items"]
    return next((item["spec"] for item in leases if item["metadata"]["name"] == LEASE), None)


class Probes:
    """Requests /healthz again and again, as a kubelet does."""

    def __init__(self, operator):
        self.operator = operator
        self.failures, self.seconds = [], []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self.ended.wait(0.05):
            begin = time.monotonic()
            try:
                url = f"http://127.0.0.1:{self.operator.health_port}/healthz"
                with urllib.request.urlopen(url, timeout=PROBE_TIMEOUT) as answer:
                    assert answer.read() == b"ok\n"
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
            self.seconds.append(time.monotonic() - begin)


@contextlib.contextmanager
def nobody_suffers(stack):
    """Checks during an attack and after it what must hold."""
    before = lease(stack)
    probes = Probes(stack.operator)
    probes.thread.start()
    yield probes
    wait_for("another renewal of the Lease", lambda: lease(stack)["renewTime"] > before["renewTime"])
    wait_for("some probes", lambda: len(probes.seconds) >= 20)
    probes.ended.set()
    probes.thread.join()
    assert not probes.failures
    after = lease(stack)
    assert (after["holderIdentity"], after["leaseTransitions"]) == (before["holderIdentity"], before["leaseTransitions"])
    peak = stack.operator.peak_resident_kib()
    longest = stack.operator.metrics()["kubenodesmith_loop_longest_seconds"]
    print(f"\n{len(probes.seconds)} probes, the longest took {max(probes.seconds):.3f} s; {peak // 1024} MiB resident at most; "
          f"the loop was held for {longest * 1000:.1f} ms at most")
    assert peak < MOST_RESIDENT_KIB
    assert longest < MOST_LOOP_SECONDS
