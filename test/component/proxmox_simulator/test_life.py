"""Lets proxmoxer, an independent client, create, use and remove machines."""

import io
import time

import pytest
from proxmoxer import ProxmoxAPI, ResourceException
from proxmoxer.tools import Tasks
from simulator import Simulator

TOKEN = "00000000-1111-4222-8333-444444444444"  # token of the simulator's own world
HOST = "alfaromeo"


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with Simulator(tmp_path_factory.mktemp("life"), None, "--speed", "10") as running:
        yield running


@pytest.fixture(scope="module")
def api(simulator):
    return ProxmoxAPI("127.0.0.1", port=simulator.port, user="automation@pve", token_name="kubenodesmith", token_value=TOKEN,
                      verify_ssl=simulator.ready["authority"], timeout=30)


def finish(api, upid):
    """Waits for a task and returns its exit status."""
    return Tasks.blocking_status(api, upid, timeout=30, polling_interval=0.05)["exitstatus"]


def test_the_cluster_is_seen(api):
    assert {node["node"] for node in api.nodes.get()} == {"alfaromeo", "porsche", "zagato"}
    assert api.version.get()["release"].startswith("9.")
    assert api.cluster.status.get()[0]["quorate"] == 1
    assert "VM.Allocate" in api.access.permissions.get()["/"]


def test_a_machine_lives_and_goes(api):
    host = api.nodes(HOST)
    image = io.BytesIO(b"not a real image" * 512)
    image.name = "seed-105.iso"
    assert finish(api, host.storage("local").upload.create(content="iso", filename=image)) == "OK"
    assert finish(api, host.qemu.create(
        vmid=105, name="worker-1", cores=4, memory=8192, tags="kubenodesmith;pool_a", net0="virtio,bridge=vmbr0",
        scsi0="local:20", ide2="local:iso/seed-105.iso,media=cdrom", boot="order=scsi0;ide2",
        smbios1="uuid=11111111-2222-4333-8444-555555555555", description='{"claim": "a"}', agent=1)) == "OK"
    machine = host.qemu(105)
    config = machine.config.get()
    assert config["tags"] == "kubenodesmith;pool_a" and config["cores"] == 4 and config["memory"] == "8192"
    assert finish(api, machine.status.start.create()) == "OK"
    machine.config.put(description='{"claim": "b"}', digest=machine.config.get()["digest"])
    assert machine.status.current.get()["status"] == "running"
    assert finish(api, machine.status.stop.create(**{"overrule-shutdown": 1})) == "OK"
    assert finish(api, machine.delete(purge=1, **{"destroy-unreferenced-disks": 1})) == "OK"
    assert finish(api, host.storage("local").content("local:iso/seed-105.iso").delete()) == "OK"
    assert all(vm["vmid"] != 105 for vm in api.cluster.resources.get(type="vm"))
    assert host.storage("local").content.get(vmid=105) == []


def test_a_template_is_cloned_configured_and_asked(api):
    host = api.nodes(HOST)
    assert finish(api, host.qemu.create(vmid=9000, name="debian", scsi0="shared:8", ide2="shared:cloudinit", agent="1",
                                        net0="virtio,bridge=vmbr0", boot="order=scsi0")) == "OK"
    assert finish(api, host.qemu(9000).template.create()) == "OK"
    assert finish(api, host.qemu(9000).clone.create(newid=200, name="worker-2", target="porsche", full=0, pool="kubernetes")) == "OK"
    machine = api.nodes("porsche").qemu(200)
    machine.config.put(cores=2, memory=4096, ipconfig0="ip=10.0.0.7/24,gw=10.0.0.1", tags="kubenodesmith")
    assert finish(api, machine.resize.put(disk="scsi0", size="+12G")) == "OK"
    assert "10.0.0.7" in machine.cloudinit.dump.get(type="network")
    assert finish(api, machine.status.start.create()) == "OK"
    interfaces = wait_for_agent(machine)
    addresses = [a["ip-address"] for i in interfaces for a in i["ip-addresses"] if i["name"] == "eth0"]
    assert addresses == ["10.0.0.7"]
    pid = machine.agent.exec.create(command=["/bin/sh", "-s"], **{"input-data": "true"})["pid"]
    assert wait_for_exit(machine, pid)["exitcode"] == 0
    with pytest.raises(ResourceException, match="VM 200 is running - destroy failed"):
        machine.delete()
    assert finish(api, machine.status.shutdown.create(timeout=30)) == "OK"
    assert finish(api, machine.delete(purge=1)) == "OK"
    assert api.pools.get(poolid="kubernetes")[0]["members"] == []


def poll(what, ask, seconds=120):
    """Asks until the answer is not None. The simulated guest needs some time, and more of it on a busy machine."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = ask()
        if answer is not None:
            return answer
        time.sleep(0.05)
    raise TimeoutError(f"{what} did not come within {seconds} s")


def wait_for_agent(machine):
    def interfaces():
        try:
            return machine.agent("network-get-interfaces").get()["result"]
        except ResourceException as error:
            assert "QEMU guest agent is not running" in str(error)
    return poll("the guest agent's answer", interfaces)


def wait_for_exit(machine, pid):
    def ended():
        status = machine.agent("exec-status").get(pid=pid)
        return status if status["exited"] else None
    return poll("the command's end", ended)


def test_tickets_work_as_well(simulator):
    api = ProxmoxAPI("127.0.0.1", port=simulator.port, user="automation@pve", password="automation",
                     verify_ssl=simulator.ready["authority"])
    api.nodes(HOST).qemu.create(vmid=300, name="by-ticket")
    assert api.cluster.nextid.get() == "100"


def test_errors_carry_the_reason(api):
    with pytest.raises(ResourceException) as caught:
        api.nodes(HOST).qemu(12345).config.get()
    assert caught.value.status_code == 500
    assert "Configuration file 'nodes/alfaromeo/qemu-server/12345.conf' does not exist" in str(caught.value)
    with pytest.raises(ResourceException) as caught:
        api.nodes(HOST).qemu.create(vmid=301, net0="virtio,bridge=", cores="many")
    assert caught.value.status_code == 400 and set(caught.value.errors) == {"net0", "cores"}


def test_a_machine_sleeps_on_a_disk_and_wakes(api):
    host = api.nodes(HOST)
    assert finish(api, host.qemu.create(vmid=130, memory=1024, scsi0="local:2")) == "OK"
    machine = host.qemu(130)
    assert finish(api, machine.status.start.create()) == "OK"
    assert finish(api, machine.status.suspend.create()) == "OK"
    assert machine.status.current.get()["qmpstatus"] == "paused"
    assert finish(api, machine.status.resume.create()) == "OK"
    assert finish(api, machine.status.suspend.create(todisk=1)) == "OK"
    asleep = machine.status.current.get()
    assert asleep["status"] == "stopped" and asleep["lock"] == "suspended"
    state = next(volume for volume in host.storage("local").content.get(vmid=130) if "state-suspend" in volume["volid"])
    assert state["size"] == (2 * 1024 + 500) * 2 ** 20
    with pytest.raises(ResourceException, match=r"VM is locked \(suspended\)"):
        machine.config.put(cores=2)
    assert finish(api, machine.status.start.create()) == "OK"
    assert "lock" not in machine.config.get()
    assert not any("state-suspend" in volume["volid"] for volume in host.storage("local").content.get(vmid=130))
    assert finish(api, machine.status.suspend.create(todisk=1)) == "OK"
    assert finish(api, machine.delete()) == "OK"
    assert host.storage("local").content.get(vmid=130) == []

