"""Tests strangers who reach the operator's ports. They open thousands of silent connections, and send bodies, slow bytes, wrong
tokens and parts of requests that never end. They also do not read answers.

During each attack every probe is answered, memory stays bounded, the Lease is kept, and authorized scrapers get their
metrics."""

import collections
import contextlib
import multiprocessing
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

import besieged
from besieged import nobody_suffers
from cluster import free_ports
from stack import Stack, wait_for

SILENT = 3000
BODY = 15 * 1024 * 1024
CONNECTS = 5000  # per second


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
    """Returns how many bytes of a body the server took, and its status line."""
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
    # A client that goes on sending after the refusal may lose it.
    assert {status for _, status in outcomes} <= {b"HTTP/1.1 413 Payload Too Large", b""}
    assert b"HTTP/1.1 413 Payload Too Large" in {status for _, status in outcomes}


def test_requests_that_never_end(stack):
    """Sends a byte from time to time. The whole request has one deadline."""
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


HEAD = b"GET / HTTP/1.1\r\nHost: operator\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
ENDLESS = {  # each part of a request that has no length, and its filler
    "target": (b"GET /", b"a"),
    "header": (HEAD + b"X: ", b"a"),
    "size": (CHUNKED, b"0"),
    "extension": (CHUNKED + b"0;", b"a"),
    "trailer": (CHUNKED + b"0\r\nX: ", b"a"),
}


def send_endlessly(operator, port, begin, filler):
    """Returns how many bytes the server took, at most 100 MiB."""
    sent, piece = 0, filler * 65536
    with contextlib.ExitStack() as peers, contextlib.suppress(OSError):
        peer = peers.enter_context(connect(port))
        peer.settimeout(30)
        if port == operator.metrics_port:
            peer = peers.enter_context(ssl._create_unverified_context().wrap_socket(peer))
        peer.sendall(begin)
        while sent < 100 * 1024 * 1024:
            sent += peer.send(piece)
    return sent


@pytest.mark.parametrize("part", ENDLESS)
def test_parts_of_requests_that_never_end(stack, part):
    operator = stack.operator
    with nobody_suffers(stack), ThreadPoolExecutor(20) as threads:
        taken = list(threads.map(lambda number: send_endlessly(operator, ports(operator)[number % 3], *ENDLESS[part]), range(60)))
    assert max(taken) < 8 * 1024 * 1024  # includes the kernel's buffers of both sides


def push_requests(peers, requests):
    """Sends as many requests as each connection takes now."""
    for peer in peers:
        with contextlib.suppress(OSError):
            peer.send(requests)


def reader_of_nothing(port):
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    peer.settimeout(30)
    peer.connect(("127.0.0.1", port))
    peer.setblocking(False)
    return peer


def test_answers_that_nobody_reads(stack):
    """Sends thousands of requests on each of many connections, and reads a few bytes of their answers."""
    operator = stack.operator
    requests = b"GET /healthz HTTP/1.1\r\nHost: operator\r\n\r\n" * 3000
    with contextlib.ExitStack() as open_sockets, nobody_suffers(stack) as probes:
        peers = [open_sockets.enter_context(reader_of_nothing(port)) for port in (operator.health_port, operator.boot_port) for _ in range(300)]
        for _ in range(30):
            push_requests(peers, requests)
            asked = len(probes.seconds)
            wait_for("another probe", lambda: len(probes.seconds) > asked)


def connect_for_ever(port, connected, per_second):
    """Connects so many times per second, as far as this machine can, and sends nothing."""
    peers = collections.deque()
    begin = time.monotonic()
    while True:
        if connected.value > (time.monotonic() - begin) * per_second:
            time.sleep(0.001)
            continue
        connected.value += 1
        peer = socket.socket()
        peer.setblocking(False)
        with contextlib.suppress(OSError):
            peer.connect_ex(("127.0.0.1", port))
            peers.append(peer)
        if len(peers) > 500:
            peers.popleft().close()


def test_everything_at_once(stack):
    operator = stack.operator
    requests = b"GET /healthz HTTP/1.1\r\nHost: operator\r\n\r\n" * 3000
    before = operator.resident_kib()
    connected = [multiprocessing.Value("l") for _ in ports(operator)]
    strangers = [multiprocessing.Process(target=connect_for_ever, args=(port, count, CONNECTS / 3), daemon=True)
                 for port, count in zip(ports(operator), connected)]
    begin = time.monotonic()
    with contextlib.ExitStack() as open_sockets, nobody_suffers(stack) as probes, ThreadPoolExecutor(12) as threads:
        for stranger in strangers:
            stranger.start()
        try:
            peers = [open_sockets.enter_context(reader_of_nothing(port)) for port in ports(operator) for _ in range(70)]
            endless = [threads.submit(send_endlessly, operator, port, *part) for port in ports(operator) for part in ENDLESS.values()]
            for _ in range(20):
                push_requests(peers, requests)
                asked = len(probes.seconds)
                wait_for("another probe", lambda: len(probes.seconds) > asked)
            assert max(sent.result() for sent in endless) < 8 * 1024 * 1024
            more = operator.resident_kib() - before
        finally:
            for stranger in strangers:
                stranger.terminate()
                stranger.join()
    print(f"{more // 1024} MiB more, {sum(count.value for count in connected) / (time.monotonic() - begin):.0f} connects a second")
    assert more < 64 * 1024


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
            with contextlib.suppress(OSError):  # there are more of them than the server has connections
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
