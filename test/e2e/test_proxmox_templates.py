"""Tests machines from templates, with cloud-init and with the guest agent, with static addresses."""

import base64
import json
import re
import urllib.error
import urllib.request

import manifests
import proxmox_world
import pytest
from cluster import free_ports
from stack import Stack, condition, is_true, running_pods, wait_for, wait_until


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack"), proxmox_world.world()) as running:
        (port,) = free_ports(1)
        running.boot_data = [f"--bootstrap-bind-address=127.0.0.1:{port}", f"--bootstrap-advertise-url=http://127.0.0.1:{port}"]
        running.install_crds()
        running.operator.start(*running.boot_data).wait_ready()
        yield running


def provider(stack, template=None, **changes):
    settings = {"template": {"name": proxmox_world.SHARED_TEMPLATE, **(template or {})}, "networkInterfaces": None}
    settings.update(changes)
    made = manifests.provider(stack.proxmox, **settings)
    made["spec"]["proxmox"] = {key: value for key, value in made["spec"]["proxmox"].items() if value is not None}
    return made


def ready(stack, count):
    def claims():
        found = [c for c in stack.claims() if is_true(c, "Ready")]
        return found if len(found) == count else None
    return wait_for(f"{count} Ready claims", claims, 240)


def launched(stack, count):
    def claims():
        found = [c for c in stack.claims() if is_true(c, "Launched")]
        return found if len(found) == count else None
    return wait_for(f"{count} launched claims", claims)


def apply(stack, *changed):
    stack.apply(manifests.secret(stack.proxmox), *changed, manifests.control_plane())


def test_clones_join_by_cloud_init_and_leave_nothing_behind(clean):
    stack = clean
    apply(stack, provider(stack, {"bootDisk": {"sizeGiB": 20}}, cloudInit={"user": "ops"}), manifests.pool())
    stack.apply(manifests.deployment("shop", 2))
    wait_for("2 running pods", lambda: len(running_pods(stack.pods())) == 2)
    for claim in wait_until("Ready claims", stack.claims, lambda found: found and all(is_true(c, "Ready") for c in found)):
        # The template's cloud-init drive would be a second source of boot data. The first one is removed a step after the claim
        # is Ready.
        machine = wait_until("no source of boot data", lambda claim=claim: proxmox_world.machine_named(stack.proxmox, claim["metadata"]["name"]),
                             lambda found: "ide2" not in found["config"])
        assert "base-9000" in machine["config"]["scsi0"] and "size=20G" in machine["config"]["scsi0"]
        assert machine["uuid"] == claim["status"]["systemUUID"]
        assert claim["metadata"]["uid"] in machine["config"]["description"]
    provider_now = stack.objects("nodesmithproviders")[0]
    assert is_true(provider_now, "TemplateResolved")
    stack.cluster.kubectl("delete", "deployment", "shop")
    wait_for("the removal of all machines", lambda: not (stack.claims() or stack.proxmox.machines()))
    wait_for("no volume left", lambda: not proxmox_world.volumes(stack.proxmox))


def test_linked_clones_come_from_the_template_on_their_own_host(clean):
    stack = clean
    apply(stack, provider(stack, {"name": proxmox_world.LOCAL_TEMPLATE, "cloneMode": "Linked", "localStorage": True}), manifests.pool())
    stack.apply(manifests.deployment("shop", 3, topologySpreadConstraints=manifests.spread("shop", "kubenodesmith.io/host")))
    wait_for("3 running pods", lambda: len(running_pods(stack.pods())) == 3, 240)
    claims = ready(stack, 3)
    assert {c["status"]["host"] for c in claims} == set(proxmox_world.HOSTS)
    for claim in claims:
        machine = proxmox_world.machine_named(stack.proxmox, claim["metadata"]["name"])
        template = 9001 + proxmox_world.HOSTS.index(machine["node"])
        assert machine["config"]["scsi0"].startswith(f"local:{template}/base-{template}-disk-0"), machine["config"]["scsi0"]


STATIC = {"mode": "Static", "addresses": ["10.0.4.50-10.0.4.51"], "prefixLength": 24, "gateway": "10.0.4.1",
          "nameservers": ["10.0.4.2"]}
KEYS = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0a3b4c5d6e7f8g9h0i1j2k3l4m5n6o7p8q9r0s1t2u first key",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0a3b4c5d6e7f8g9h0i1j2k3l4m5n6o7p8q9r0s1t2v second key"]


def test_machines_with_static_addresses_join_by_the_guest_agent(clean):
    """An address is assigned once, a lack of addresses is reported, and an address is free again once its machine is gone."""
    stack = clean
    agent = {"method": "GuestAgent", "readyCommand": ["true"]}
    apply(stack, provider(stack, cloudInit={"user": "ops", "sshAuthorizedKeys": KEYS, "network": STATIC}),
          manifests.pool(limits={"minNodes": 3}, bootstrap=agent))
    claims = ready(stack, 2)
    told = lambda: [condition(c, "Launched")["message"] for c in stack.claims() if condition(c, "Launched").get("reason") == "AddressesExhausted"]
    wait_until("a claim that waits for an address", told, lambda found: any("no address of network.addresses is free (of 2)" in text for text in found))
    addresses = {c["metadata"]["name"]: c["status"]["addresses"][0] for c in claims}
    assert set(addresses.values()) == {"10.0.4.50", "10.0.4.51"}
    for name, address in addresses.items():
        machine = proxmox_world.machine_named(stack.proxmox, name)
        assert machine["config"]["ipconfig0"] == f"ip={address}/24,gw=10.0.4.1"
        user_data = proxmox_world.api(stack.proxmox, "GET", f"/nodes/{machine['node']}/qemu/{machine['vmid']}/cloudinit/dump?type=user")
        assert all(key in user_data for key in KEYS) and "ops" in user_data
    assert not stack.bootstrap_tokens()
    log = stack.operator.log.read_text() + stack.proxmox.request_log.read_text() + json.dumps(stack.claims())
    assert not re.search(r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b", log), "a bootstrap token was written somewhere"

    first = claims[0]["metadata"]["name"]
    stack.cluster.kubectl("-n", manifests.NAMESPACE, "delete", "nsclaim", first, "--wait=false")
    wait_for("the address at another claim", lambda: [c for c in stack.claims() if c["metadata"]["name"] != first
             and c.get("status", {}).get("addresses") == [addresses[first]]])
    assert not proxmox_world.machine_named(stack.proxmox, first)


def boot_url(machine):
    """Returns the URL of the machine's boot data."""
    serial = re.search(r"serial=([^,]+)", machine["config"]["smbios1"]).group(1)
    told = re.fullmatch(r"ds=nocloud;dsmode=net;s=(http://.*/)", base64.b64decode(serial).decode())
    return told.group(1)


def fetch(url):
    """Returns status and body."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


BY_HTTP = {"method": "CloudInit", "delivery": "HTTP"}


@pytest.mark.parametrize("network", [{"mode": "DHCP"}, STATIC], ids=["dhcp", "static"])
def test_machines_fetch_their_boot_data_and_join(clean, network):
    stack = clean
    apply(stack, provider(stack, cloudInit={"user": "ops", "network": network}),
          manifests.pool(limits={"minNodes": 2}, bootstrap=BY_HTTP))
    claims = ready(stack, 2)
    assert not stack.bootstrap_tokens()
    log = stack.operator.log.read_text() + stack.proxmox.request_log.read_text() + json.dumps(claims)
    for claim in claims:
        machine = proxmox_world.machine_named(stack.proxmox, claim["metadata"]["name"])
        assert machine["uuid"] == claim["status"]["systemUUID"] and "ide2" not in machine["config"]
        url = boot_url(machine)
        wait_for("the end of the boot data of a Node that is registered", lambda url=url: fetch(url + "user-data")[0] == 404)
        assert url.split("/")[-2] not in log
    assert not any("iso" in volume for volume in proxmox_world.volumes(stack.proxmox))


def join_script(command, labels=None):
    """Returns the Secret of pools with format Custom. The label says that machines may get it."""
    labels = {"kubenodesmith.io/boot-data": "true"} if labels is None else labels
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "join", "namespace": manifests.NAMESPACE, "labels": labels},
            "stringData": {"command": command}}


def somebody_elses_lease():
    name = "12c57729.kubenodesmith.parawell.cloud"
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name, "namespace": manifests.NAMESPACE},
            "spec": {"holderIdentity": "another", "leaseDurationSeconds": 3600, "renewTime": "2999-01-01T00:00:00.000000Z"}}


def test_boot_data_is_there_after_a_restart_and_at_a_replica_that_does_not_lead(clean):
    """The data is there as long as the machine has not joined, and no longer than its claim lives."""
    stack = clean
    secret = join_script("echo joins nothing with {{ .Token }}\n")
    bootstrap = {**BY_HTTP, "format": "Custom", "commandSecretRef": {"name": "join", "key": "command"}}
    apply(stack, secret, provider(stack, cloudInit={"network": STATIC}), manifests.pool(limits={"minNodes": 1}, bootstrap=bootstrap))
    claim = launched(stack, 1)[0]
    url = boot_url(proxmox_world.machine_named(stack.proxmox, claim["metadata"]["name"]))
    files = {name: fetch(url + name) for name in ("user-data", "meta-data", "vendor-data", "network-config")}
    assert {status for status, _ in files.values()} == {200}
    assert "joins nothing with" in files["user-data"][1] and claim["status"]["addresses"][0] in files["network-config"][1]
    assert claim["metadata"]["uid"] in files["meta-data"][1]
    assert fetch(url[:-2] + ("0" if url[-2] != "0" else "1") + "/user-data")[0] == 404

    stack.operator.kill()
    stack.apply(somebody_elses_lease())
    fetched = lambda: {name: fetch(url + name) for name in files}
    stack.operator.start(*stack.boot_data, "--leader-elect", f"--leader-election-namespace={manifests.NAMESPACE}").wait_ready()
    wait_until("the same boot data at a replica that does not lead", fetched, lambda found: found == files)
    stack.operator.stop()
    stack.operator.start(*stack.boot_data).wait_ready()
    wait_until("the same boot data after a restart", fetched, lambda found: found == files)
    stack.cluster.kubectl("-n", manifests.NAMESPACE, "delete", "nspool,nsclaim", "--all", "--wait=false")
    wait_for("the end of the boot data", lambda: fetch(url + "user-data")[0] == 404)


def test_a_command_of_the_user_joins_by_either_way(clean):
    stack = clean
    command = "kubeadm join {{ .Endpoint }} --token {{ .Token }} --discovery-token-ca-cert-hash {{ .CACertHash }} --node-name {{ .NodeName }}\n"
    secret = join_script(command)
    custom = {"format": "Custom", "commandSecretRef": {"name": "join", "key": "command"}}
    apply(stack, secret, provider(stack),
          manifests.pool("by-agent", limits={"minNodes": 1}, bootstrap={"method": "GuestAgent", "readyCommand": ["true"], **custom}),
          manifests.pool("by-cloud-init", limits={"minNodes": 1}, bootstrap={"method": "CloudInit", **custom}, template={"network": STATIC}))
    claims = ready(stack, 2)
    assert {tuple(c["status"].get("addresses", [])) for c in claims if c["spec"]["poolRef"] == "by-cloud-init"} == {("10.0.4.50",)}
    names = {c["metadata"]["name"] for c in claims}
    assert names == {n["metadata"]["name"] for n in stack.nodes()}


def test_a_pool_hands_out_no_secret_whose_owner_did_not_say_so(clean):
    """Otherwise a user who may write pools, but not read Secrets, could read them in a machine."""
    stack = clean
    custom = {"method": "CloudInit", "format": "Custom", "commandSecretRef": {"name": "proxmox", "key": "PROXMOX_SECRET"}}
    apply(stack, provider(stack), manifests.pool(limits={"minNodes": 1}, bootstrap=custom))
    refused = lambda: [c for c in stack.claims() for condition in c.get("status", {}).get("conditions", [])
                       if condition["reason"] == "BootDataMissing" and "kubenodesmith.io/boot-data=true" in condition["message"]]
    wait_for("the claim to say why it waits", refused)
    assert not any("iso" in volume for volume in proxmox_world.volumes(stack.proxmox)), "no machine is given boot data"
    custom["commandSecretRef"] = {"name": "join", "key": "command"}
    apply(stack, join_script("echo\n"), manifests.pool(limits={"minNodes": 1}, bootstrap=custom))
    launched(stack, 1)


def test_a_join_that_fails_in_the_guest_is_told_with_its_output(clean):
    stack = clean
    secret = join_script("echo joins nothing with {{ .Token }}\n")
    bootstrap = {"method": "GuestAgent", "readyCommand": [], "format": "Custom",
                 "commandSecretRef": {"name": "join", "key": "command"}}
    apply(stack, secret, provider(stack), manifests.pool(limits={"minNodes": 1}, bootstrap=bootstrap))
    failure = wait_for("a failed join", lambda: next((c["status"]["lastFailure"] for c in stack.claims()
                       if c.get("status", {}).get("lastFailure", {}).get("reason") == "JoinFailed"), None))
    assert "the join script ended with" in failure["message"]


def test_a_template_that_is_not_there_is_a_condition(clean):
    stack = clean
    apply(stack, provider(stack, {"name": "no-such-template"}), manifests.pool(limits={"minNodes": 1}))
    wait_until("the provider's condition", lambda: stack.objects("nodesmithproviders")[0], lambda p: condition(
        p, "TemplateResolved")["reason"] == "TemplateNotFound" and "no-such-template" in condition(p, "Ready")["message"])
    assert not stack.proxmox.machines()
    apply(stack, provider(stack))
    launched(stack, 1)
