"""Strangers who reach the operator's ports: thousands of silent connections, bodies, drips, wrong tokens.

Under each of them every probe is answered, memory stays bounded, the Lease is kept, and who may scrape does."""

import contextlib
import http.client
import resource
import secrets
import select
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from cluster import free_ports
from stack import BIN, NAMESPACE, Stack, wait_for

DESCRIPTORS = 1024  # of the operator
SILENT = 3000
MOST_RESIDENT_KIB = 128 * 1024
BODY = 15 * 1024 * 1024
LEASE = "12c57729.kubenodesmith.parawell.cloud"
PROBE_TIMEOUT = 10  # a kubelet's is 1 s; the longest that was seen is printed, as this machine may be busy


def token_of_a_scraper(cluster):
    cluster.kubectl("create", "serviceaccount", "scraper", "-n", NAMESPACE)
    cluster.kubectl("create", "clusterrole", "scraper", "--verb=get", "--non-resource-url=/metrics")
    cluster.kubectl("create", "clusterrolebinding", "scraper", "--clusterrole=scraper", f"--serviceaccount={NAMESPACE}:scraper")
    return cluster.kubectl("create", "token", "scraper", "-n", NAMESPACE).strip()


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        running.install_crds()
        operator = running.operator
        operator.token = token_of_a_scraper(running.cluster)
        operator.command = ["prlimit", f"--nofile={DESCRIPTORS}:{DESCRIPTORS}", BIN / "kubenodesmith"]
        operator.boot_port, = free_ports(1)
        operator.start("--leader-elect", f"--bootstrap-bind-address=127.0.0.1:{operator.boot_port}",
                       f"--bootstrap-advertise-url=http://127.0.0.1:{operator.boot_port}")
        operator.wait_ready()
        wait_for("the Lease", lambda: lease(running))
        yield running


class Probes:
    """/healthz, again and again, as a kubelet asks."""

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


def lease(stack):
    leases = stack.cluster.api("GET", "/apis/coordination.k8s.io/v1/leases")["items"]
    return next((item["spec"] for item in leases if item["metadata"]["name"] == LEASE), None)


@contextlib.contextmanager
def nobody_suffers(stack):
    """Around an attack: what must hold while it goes on and after it."""
    before = lease(stack)
    probes = Probes(stack.operator)
    probes.thread.start()
    yield probes
    wait_for("another renewal of the Lease", lambda: lease(stack)["renewTime"] > before["renewTime"], 60)
    wait_for("some probes", lambda: len(probes.seconds) >= 20, 60)
    probes.ended.set()
    probes.thread.join()
    assert not probes.failures
    after = lease(stack)
    assert (after["holderIdentity"], after["leaseTransitions"]) == (before["holderIdentity"], before["leaseTransitions"])
    resident = stack.operator.resident_kib()
    longest = stack.operator.metrics()["kubenodesmith_loop_longest_seconds"]
    print(f"\n{len(probes.seconds)} probes, the longest took {max(probes.seconds):.3f} s; {resident // 1024} MiB resident; "
          f"the loop was held for {longest * 1000:.1f} ms at most")
    assert resident < MOST_RESIDENT_KIB
    assert longest < 1


def ports(operator):
    return operator.health_port, operator.metrics_port, operator.boot_port


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=30)


@pytest.fixture
def many_descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = SILENT + 1000
    assert hard == resource.RLIM_INFINITY or hard >= wanted, f"this test needs {wanted} file descriptors of its own"
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_silent_connections(stack, many_descriptors):
    with contextlib.ExitStack() as open_sockets:
        with nobody_suffers(stack) as probes:
            for count in range(SILENT):
                open_sockets.enter_context(connect(ports(stack.operator)[count % 3]))
            asked = len(probes.seconds)
            wait_for("probes with all of them open", lambda: len(probes.seconds) >= asked + 20, 60)
            assert "kubenodesmith_build_info" in stack.operator.get("/metrics")
        assert stack.operator.metrics()["process_open_fds"] < DESCRIPTORS / 2


def send_body(port, framing):
    """How many bytes of a body the server took, and its status line."""
    with connect(port) as peer:
        peer.sendall(b"POST /healthz HTTP/1.1\r\nHost: operator\r\n" + framing + b"\r\n")
        sent, chunk = 0, b"x" * 65536
        with contextlib.suppress(OSError):
            while sent < BODY:
                if select.select([peer], [], [], 0)[0]:
                    break
                sent += peer.send(chunk)
        with contextlib.suppress(OSError):
            return sent, peer.recv(1000).split(b"\r\n")[0]
        return sent, b""


@pytest.mark.parametrize("framing", [b"Content-Length: %d\r\n" % BODY, b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % BODY], ids=["length", "chunked"])
def test_bodies(stack, framing):
    operator = stack.operator
    with nobody_suffers(stack), ThreadPoolExecutor(20) as threads:
        outcomes = list(threads.map(lambda number: send_body((operator.health_port, operator.boot_port)[number % 2], framing), range(100)))
    assert not [sent for sent, _ in outcomes if sent >= BODY]
    # Who goes on sending after the refusal may lose it.
    assert {status for _, status in outcomes} <= {b"HTTP/1.1 413 Payload Too Large", b""}
    assert b"HTTP/1.1 413 Payload Too Large" in {status for _, status in outcomes}


def test_requests_that_never_end(stack):
    """A byte now and then: the whole request has one deadline."""
    def drip(port):
        with connect(port) as peer:
            with contextlib.suppress(OSError):
                peer.sendall(b"GET /healthz HTTP/1.1\r\nX-Long: ")
                while not select.select([peer], [], [], 0.2)[0]:
                    peer.sendall(b"x")
            return True

    operator = stack.operator
    with nobody_suffers(stack), ThreadPoolExecutor(40) as threads:
        ended = [threads.submit(drip, (operator.health_port, operator.boot_port)[number % 2]) for number in range(40)]
        assert all(end.result(timeout=120) for end in ended)


def scrape(operator, token):
    request = urllib.request.Request(f"https://127.0.0.1:{operator.metrics_port}/metrics", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=60, context=ssl._create_unverified_context()) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_wrong_tokens(stack):
    operator = stack.operator
    ended = threading.Event()
    refused = []

    def stranger():
        while not ended.is_set():
            with contextlib.suppress(OSError):  # more of them than the server has connections
                refused.append(scrape(operator, secrets.token_hex(20)))

    with nobody_suffers(stack):
        strangers = [threading.Thread(target=stranger, daemon=True) for _ in range(40)]
        for thread in strangers:
            thread.start()
        wait_for("strangers to be refused", lambda: len(refused) >= 40, 60)
        assert [scrape(operator, operator.token) for _ in range(25)] == [200] * 25
        ended.set()
        for thread in strangers:
            thread.join(60)
    assert set(refused) == {401}
