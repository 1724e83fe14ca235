"""Strangers who reach the operator's ports: thousands of silent connections, bodies, drips, wrong tokens.

Under each of them every probe is answered, memory stays bounded, the Lease is kept, and who may scrape does."""

import contextlib
import resource
import secrets
import select
import socket
import ssl
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

import besieged
from besieged import nobody_suffers
from cluster import free_ports
from stack import Stack, wait_for

SILENT = 3000
BODY = 15 * 1024 * 1024


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        running.operator.boot_port, = free_ports(1)
        address = f"127.0.0.1:{running.operator.boot_port}"
        besieged.start(running, f"--bootstrap-bind-address={address}", f"--bootstrap-advertise-url=http://{address}")
        yield running


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
            wait_for("probes with all of them open", lambda: len(probes.seconds) >= asked + 20)
            assert "kubenodesmith_build_info" in stack.operator.get("/metrics")
        assert stack.operator.metrics()["process_open_fds"] < besieged.DESCRIPTORS / 2


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
        wait_for("strangers to be refused", lambda: len(refused) >= 40)
        assert [scrape(operator, operator.token) for _ in range(25)] == [200] * 25
        ended.set()
        for thread in strangers:
            thread.join(60)
    assert set(refused) == {401}
