"""Tests trouble on demand through the control interface, the request log, and several API endpoints."""

import http.client
import json
import ssl
import time
import urllib.error
import urllib.parse

import pytest
from simulator import Simulator

TOKEN = "PVEAPIToken=automation@pve!kubenodesmith=00000000-1111-4222-8333-444444444444"


class Client:
    """Sends plain requests to one endpoint."""

    def __init__(self, simulator, host="alfaromeo"):
        self.address = simulator.ready["endpoints"][host].removeprefix("https://")
        self.context = ssl.create_default_context(cafile=simulator.ready["authority"])

    def __call__(self, method, path, token=TOKEN, **parameters):
        """Returns status, reason and data."""
        connection = http.client.HTTPSConnection(self.address, context=self.context, timeout=40)
        query = urllib.parse.urlencode(parameters)
        body = query if method in ("POST", "PUT") else None
        connection.request(method, "/api2/json" + path + ("?" + query if query and body is None else ""), body,
                           {"Authorization": token, "Content-Type": "application/x-www-form-urlencoded"} if body is not None
                           else {"Authorization": token})
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, response.reason, json.loads(text)["data"] if text.startswith(b"{") else None

    def finish(self, answer):
        """Returns the exit status of the task that a request started."""
        status, reason, upid = answer
        assert status == 200, reason
        path = f"/nodes/{upid.split(':')[1]}/tasks/{urllib.parse.quote(upid, safe='')}/status"
        while True:
            task = self("GET", path)[2]
            if task["status"] == "stopped":
                return task["exitstatus"]
            time.sleep(0.02)


@pytest.fixture
def simulator(tmp_path):
    with Simulator(tmp_path, None, "--speed", "20", "--listen", "alfaromeo=127.0.0.1:0", "--listen", "porsche=127.0.0.1:0") as running:
        yield running


@pytest.fixture
def client(simulator):
    return Client(simulator)


def test_a_host_without_power_is_unreachable_through_the_others(simulator, client):
    assert client("GET", "/nodes/zagato/status")[0] == 200
    simulator.control("POST", "/hosts/zagato/power-off")
    assert client("GET", "/nodes/zagato/status")[:2] == (595, "No route to host")
    simulator.control("POST", "/hosts/zagato/power-on")
    assert client("GET", "/nodes/zagato/status")[0] == 200


def test_the_endpoint_of_a_host_without_power_hangs_up(simulator, client):
    simulator.control("POST", "/hosts/porsche/power-off")
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        Client(simulator, "porsche")("GET", "/version")
    assert client("GET", "/version")[0] == 200


def test_a_revoked_token_works_again_when_restored(simulator, client):
    simulator.control("POST", "/tokens/automation@pve!kubenodesmith/revoke")
    assert client("GET", "/version")[:2] == (401, "Authentication failed!")
    simulator.control("POST", "/tokens/automation@pve!kubenodesmith/restore")
    assert client("GET", "/version")[0] == 200


def test_a_fault_before_the_effect_leaves_nothing_behind(simulator, client):
    simulator.control("POST", "/faults", method="POST", path="/nodes/alfaromeo/qemu", status=596, reason="Broken pipe")
    assert client("POST", "/nodes/alfaromeo/qemu", vmid=100)[:2] == (596, "Broken pipe")
    assert client("GET", "/nodes/alfaromeo/qemu/100/config")[0] == 500


def test_a_connection_lost_after_the_effect_leaves_the_machine(simulator, client):
    simulator.control("POST", "/faults", method="POST", path="/nodes/alfaromeo/qemu", moment="after", loseConnection=True)
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        client("POST", "/nodes/alfaromeo/qemu", vmid=100)
    assert client("GET", "/nodes/alfaromeo/qemu/100/config")[0] == 200


def test_the_next_task_fails_on_request(simulator, client):
    assert client.finish(client("POST", "/nodes/alfaromeo/qemu", vmid=100)) == "OK"
    simulator.control("POST", "/task-faults", type="qmstart", text="start failed: QEMU exited with code 1")
    assert client.finish(client("POST", "/nodes/alfaromeo/qemu/100/status/start")) == "start failed: QEMU exited with code 1"
    assert client.finish(client("POST", "/nodes/alfaromeo/qemu/100/status/start")) == "OK"


def test_a_worker_that_dies_leaves_its_lock(simulator, client):
    simulator.control("POST", "/task-faults", type="qmcreate", trouble="die")
    assert client.finish(client("POST", "/nodes/alfaromeo/qemu", vmid=100)) == "unexpected status"
    assert client("GET", "/nodes/alfaromeo/qemu/100/config")[2]["lock"] == "create"
    assert client.finish(client("DELETE", "/nodes/alfaromeo/qemu/100")) == "VM is locked (create)"


def test_a_full_storage_takes_no_more(simulator, client):
    simulator.control("POST", "/storages/shared/fill", availGiB=0)
    _, _, status = client("GET", "/nodes/alfaromeo/storage/shared/status")
    assert status["avail"] == 0
    end = client.finish(client("POST", "/nodes/alfaromeo/qemu", vmid=100, scsi0="shared:8"))
    assert end.startswith("unable to create VM 100 - ") and end.endswith("failed: exit code 1")
    assert client("GET", "/nodes/alfaromeo/qemu/100/config")[0] == 500


def test_the_request_log_masks_secrets_and_can_be_reset(simulator, client):
    client("POST", "/nodes/alfaromeo/qemu", vmid=100, name="w", cipassword="hunter2")
    entry = simulator.requests()[-1]
    assert entry["path"] == "/nodes/alfaromeo/qemu" and entry["user"] == "automation@pve!kubenodesmith"
    assert entry["parameters"]["cipassword"] == "********" and entry["status"] == 200
    assert "hunter2" not in (simulator.folder / "requests.jsonl").read_text()
    simulator.control("POST", "/request-log/reset")
    assert simulator.requests() == []


def test_wrong_orders_are_refused_with_a_reason(simulator):
    for path, body, status in (("/hosts/nowhere/power-off", {}, 404), ("/task-faults", {"trouble": "x"}, 400)):
        with pytest.raises(urllib.error.HTTPError) as caught:
            simulator.control("POST", path, **body)
        assert caught.value.code == status and json.load(caught.value)["error"]
