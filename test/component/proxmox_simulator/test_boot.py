"""Tests the boot of simulated machines. Their cloud-init data lets them join a real control plane, or not."""

import json
import sys
import time
import urllib.parse
from pathlib import Path

import pytest
from proxmoxer import ProxmoxAPI
from proxmoxer.tools import Tasks
from simulator import Simulator

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "controlplane"))
from cluster import Cluster  # noqa: E402
from guests import join_configuration, user_data  # noqa: E402

HOST = "alfaromeo"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="module")
def simulator(cluster, tmp_path_factory):
    """Provides a world whose snippets are the user-data of machines that will join."""
    def volume(name, token):
        data = user_data(join_configuration(cluster, token, name))
        return {"name": f"snippets/{name}.yaml", "content": "snippets", "format": "snippet", "data": data}
    snippets = [volume("boots", cluster.bootstrap_token()), volume("comes-back", cluster.bootstrap_token()),
                volume("stranger", "abcdef.0123456789abcdef")]
    world = {"storages": [{"id": "local", "content": ["images", "iso", "snippets"], "volumes": snippets}],
             "durations": {"boot": 0.2}}
    with Simulator(tmp_path_factory.mktemp("simulator"), world, "--testnode", str(cluster.program("testnode"))) as running:
        yield running


@pytest.fixture(scope="module")
def api(simulator):
    return ProxmoxAPI("127.0.0.1", port=simulator.port, user="automation@pve", token_name="kubenodesmith",
                      token_value="00000000-1111-4222-8333-444444444444", verify_ssl=simulator.ready["authority"])


def finish(api, upid):
    assert Tasks.blocking_status(api, upid, timeout=60, polling_interval=0.1)["exitstatus"] == "OK"


def wait_for(condition, seconds=120):
    """Returns the first true value of `condition`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise TimeoutError("the condition never held")


def start_machine(api, vmid, name, **options):
    machine = api.nodes(HOST).qemu
    finish(api, machine.create(vmid=vmid, name=name, cores=4, memory=8192, agent="1", **options))
    finish(api, machine(vmid).status.start.create())
    return machine(vmid)


def guest_state(simulator, vmid):
    return next((m.get("guest", "") for m in simulator.control("GET", "/machines") if m["vmid"] == vmid), "")


def node(cluster, name):
    return cluster.find(f"/api/v1/nodes/{name}")


def readiness(cluster, name):
    conditions = node(cluster, name)["status"].get("conditions", [])
    return next((c["status"] for c in conditions if c["type"] == "Ready"), "")


def test_a_machine_with_cloud_init_data_joins_with_its_own_hardware(cluster, simulator, api):
    uuid = "11111111-2222-4333-8444-000000000100"
    start_machine(api, 100, "boots", ide2="local:cloudinit", cicustom="user=local:snippets/boots.yaml", smbios1=f"uuid={uuid}")
    joined = wait_for(lambda: node(cluster, "boots"))
    assert joined["status"]["nodeInfo"]["systemUUID"].lower() == uuid
    assert joined["status"]["capacity"]["cpu"] == "4"
    wait_for(lambda: readiness(cluster, "boots") == "True")
    wait_for(lambda: guest_state(simulator, 100) == "joined")


def test_a_stopped_machine_goes_not_ready_and_comes_back_when_started(cluster, simulator, api):
    machine = start_machine(api, 101, "comes-back", ide2="local:cloudinit", cicustom="user=local:snippets/comes-back.yaml")
    wait_for(lambda: node(cluster, "comes-back") and readiness(cluster, "comes-back") == "True")
    finish(api, machine.status.stop.create())
    wait_for(lambda: readiness(cluster, "comes-back") == "Unknown")
    finish(api, machine.status.start.create())
    wait_for(lambda: readiness(cluster, "comes-back") == "True")
    finish(api, machine.status.stop.create())
    finish(api, machine.delete(purge=1))
    wait_for(lambda: not list((simulator.folder / "state" / "machines").glob("101-*")))


def test_a_machine_with_an_unknown_token_does_not_join(cluster, simulator, api):
    start_machine(api, 102, "stranger", ide2="local:cloudinit", cicustom="user=local:snippets/stranger.yaml")
    wait_for(lambda: guest_state(simulator, 102) == "booting")
    time.sleep(3)
    assert node(cluster, "stranger") is None
    finish(api, api.nodes(HOST).qemu(102).status.stop.create())
    wait_for(lambda: guest_state(simulator, 102) == "off")


def test_a_machine_without_boot_data_sits_idle(simulator, api):
    start_machine(api, 103, "idle")
    assert "idle" in wait_for(lambda: guest_state(simulator, 103) not in ("", "booting") and guest_state(simulator, 103))


def test_a_join_script_given_to_the_guest_agent_joins(cluster, simulator, api):
    machine = start_machine(api, 104, "by-agent")
    wait_for(lambda: "idle" in guest_state(simulator, 104))
    script = (f"#!/bin/sh\nset -e\nkubeadm join {cluster.server.removeprefix('https://')} --token {cluster.bootstrap_token()} "
              f"--discovery-token-ca-cert-hash {cluster.ca_hash}\n")
    pid = machine.agent.exec.create(command=["/bin/sh", "-s"], **{"input-data": script})["pid"]
    statuses = []
    wait_for(lambda: statuses.append(machine.agent("exec-status").get(pid=pid)) or statuses[-1]["exited"])
    status = statuses[-1]
    assert status["exitcode"] == 0, status
    assert node(cluster, "by-agent") is not None
    assert json.dumps(script) not in (simulator.folder / "requests.jsonl").read_text()
    assert urllib.parse.quote(script) not in (simulator.folder / "requests.jsonl").read_text()
