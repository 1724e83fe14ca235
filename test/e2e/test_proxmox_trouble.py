"""Tests hosts that die and storages that fill up while machines are made, and machines that another operator made."""

import json
import ssl
import urllib.error
import urllib.parse
import urllib.request

import documented
import manifests
import proxmox_world
import pytest
from stack import Stack, condition, is_true, running_pods, wait_for, wait_until

ROOT_PASSWORD = "an administrator's"
WORLD = proxmox_world.world()
WORLD["users"] = [{"id": "root@pam", "password": ROOT_PASSWORD}, {"id": "automation@pve"}]
ANSWERING = "alfaromeo"  # the host that serves the operator's endpoint


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack"), WORLD) as running:
        running.install_crds()
        running.operator.start().wait_ready()
        yield running


def as_root(proxmox, method, path):
    """Acts as a person at the host's shell, because a token may not break a lock."""
    context = ssl._create_unverified_context()  # a simulator on loopback, with its own certificate
    login = urllib.parse.urlencode({"username": "root@pam", "password": ROOT_PASSWORD}).encode()
    with urllib.request.urlopen(f"{proxmox.url}/api2/json/access/ticket", login, context=context, timeout=30) as answer:
        ticket = json.load(answer)["data"]
    request = urllib.request.Request(f"{proxmox.url}/api2/json{path}", method=method, headers={
        "Cookie": "PVEAuthCookie=" + urllib.parse.quote(ticket["ticket"], safe=""), "CSRFPreventionToken": ticket["CSRFPreventionToken"]})
    with urllib.request.urlopen(request, context=context, timeout=30) as answer:
        return json.load(answer)["data"]


def from_local_templates(stack, **placement):
    """Makes full clones of the template on the machine's own host, without machines on the host that answers."""
    template = {"name": proxmox_world.LOCAL_TEMPLATE, "localStorage": True, "cloneMode": "Full"}
    return manifests.provider(stack.proxmox, template=template, cloudInit={"user": "ops"},
                              placement={"excludedNodes": [ANSWERING], **placement})


def reason(claim, kind):
    return condition(claim, kind).get("reason", "")


def events_about(stack, name):
    return [f"{e['reason']}: {e['message']}" for e in stack.events() if e["involvedObject"]["name"] == name]


def two_ready(stack):
    found = [c for c in stack.claims() if is_true(c, "Ready")]
    return found if len(found) == 2 else None


def source_of(machine):
    """Returns the VMID of the template on the machine's host."""
    return 9001 + proxmox_world.HOSTS.index(machine["node"])


def cloning_claim(stack):
    """Returns a claim whose VM already exists. A host that dies before that has made nothing, and nothing failed."""
    made = {str(machine["vmid"]) for machine in stack.proxmox.machines()}
    claims = (c for c in stack.claims() if "qmclone" in c.get("status", {}).get("taskRef", ""))
    return next((c for c in claims if c["status"]["machineID"] in made), None)


def test_a_host_that_dies_while_it_clones_costs_the_pods_nothing_but_time(clean):
    stack = clean
    stack.proxmox.control("POST", "/durations", {"tasks": {"qmclone-full": 600}})
    stack.apply(manifests.secret(stack.proxmox), from_local_templates(stack), manifests.pool(), manifests.control_plane())
    stack.apply(manifests.deployment("shop", 1))
    cloning = wait_for("a clone under way", lambda: cloning_claim(stack))
    name, dead, vmid = (cloning["metadata"]["name"], cloning["status"]["host"], cloning["status"]["machineID"])
    stack.proxmox.control("POST", "/durations", {"tasks": {"qmclone-full": 1}})
    stack.proxmox.control("POST", f"/hosts/{dead}/power-off")
    try:
        wait_for("a running pod", lambda: running_pods(stack.pods()), 240)
        mine = lambda: next(c for c in stack.claims() if c["metadata"]["name"] == name)
        wait_until("the failure to be told", lambda: mine()["status"]["lastFailure"], lambda why: why["reason"] == "HostDown" and dead in why["message"])
        wait_for("what is left there to be told", lambda: reason(mine(), "MachineDeleted") == "HostUnreachable")
        wait_for("the Event", lambda: any("HostDown" in text for text in events_about(stack, name)))
        others = wait_for("a Ready claim", lambda: [c for c in stack.claims() if is_true(c, "Ready")])
        assert [c["status"]["host"] for c in others] == [h for h in proxmox_world.HOSTS if h not in (ANSWERING, dead)]
    finally:
        stack.proxmox.control("POST", f"/hosts/{dead}/power-on")
    # The clone's worker died with its host and left a lock that only root can break. The operator does nothing until then.
    locked = wait_until("the lock to be told", lambda: condition(mine(), "MachineDeleted"), lambda c: c["reason"] == "Locked", 240)
    assert f"qm unlock {vmid} && qm destroy {vmid}" in locked["message"]
    as_root(stack.proxmox, "DELETE", f"/nodes/{dead}/qemu/{vmid}?skiplock=1&purge=1&destroy-unreferenced-disks=1")


def test_a_storage_that_is_full_sends_the_machine_to_another_host(clean):
    stack = clean
    full = "porsche"
    stack.proxmox.control("POST", "/storages/local/fill", {"host": full, "availGiB": 0})
    try:
        stack.apply(manifests.secret(stack.proxmox), from_local_templates(stack, strategy="Spread"),
                    manifests.pool(limits={"minNodes": 2}), manifests.control_plane())
        ready = wait_for("2 Ready claims", lambda: two_ready(stack), 240)
    finally:
        stack.proxmox.control("POST", "/storages/local/fill", {"host": full, "availGiB": 400})
    assert {c["status"]["host"] for c in ready} == {"zagato"}
    failed = [c for c in ready if c["status"].get("lastFailure")]
    assert failed and all(c["status"]["lastFailure"]["reason"] == "CloneFailed" for c in failed)
    assert "No space left" in failed[0]["status"]["lastFailure"]["message"]
    wait_for("the Event", lambda: any("CloneFailed" in text for text in events_about(stack, failed[0]["metadata"]["name"])))
    assert len(stack.proxmox.machines()) == 2, "nothing is left of the attempts that failed"
    disks = [v for v in proxmox_world.volumes(stack.proxmox) if "disk" in v]
    assert len(disks) == 2
    for machine in stack.proxmox.machines():
        assert str(machine["vmid"]) in machine["config"]["scsi0"] and "local:" in machine["config"]["scsi0"]
        clones = [r["path"] for r in stack.proxmox.requests() if r["method"] == "POST" and r["path"].endswith("/clone")]
        assert f"/nodes/{machine['node']}/qemu/{source_of(machine)}/clone" in clones[-3:]


def test_a_machine_that_its_user_keeps_loses_our_mark_and_nothing_else(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox, limits={"minNodes": 1}, deletionPolicy="Retain"))
    name = wait_for("a Ready claim", lambda: [c for c in stack.claims() if is_true(c, "Ready")])[0]["metadata"]["name"]
    stack.cluster.kubectl("-n", manifests.NAMESPACE, "delete", "nspool", "workers", "--wait=false")
    wait_for("the end of the claim", lambda: not stack.claims())
    kept = proxmox_world.machine_named(stack.proxmox, name)
    assert kept["status"] == "running" and "kubenodesmith" not in json.dumps(kept["config"].get("tags", "") + kept["config"].get("description", ""))
    (node,) = stack.nodes()
    assert node["metadata"]["name"] == name and "kubenodesmith.io/nodeclaim" not in node["metadata"]["labels"]
    proxmox_world.destroy_by_hand(stack.proxmox, kept)
    stack.cluster.kubectl("delete", "node", name)


def legacy_machine(stack, vmid, name, tag):
    """Makes a machine as the Go operator leaves it: named and tagged, joined, and without a mark."""
    proxmox, host = stack.proxmox, "zagato"
    proxmox_world.api(proxmox, "POST", f"/nodes/{host}/qemu", vmid=vmid, name=name, tags=tag, cores=2, memory=4096, agent=1)
    wait_for("its creation", lambda: "lock" not in proxmox_world.machine_named(proxmox, name)["config"])
    proxmox_world.api(proxmox, "POST", f"/nodes/{host}/qemu/{vmid}/status/start")
    join = (f"kubeadm join {stack.cluster.server.removeprefix('https://')} --token {stack.cluster.bootstrap_token()} "
            f"--discovery-token-ca-cert-hash {stack.cluster.ca_hash} --node-name {name}\n")

    def started():
        try:
            return proxmox_world.api(proxmox, "POST", f"/nodes/{host}/qemu/{vmid}/agent/exec", **{"command": "sh", "input-data": join})
        except urllib.error.HTTPError:
            return None  # the guest agent does not answer yet
    wait_for("the guest to take a command", started)
    wait_for("its Node", lambda: [n for n in stack.nodes() if n["metadata"]["name"] == name])


def legacy_claim(stack, name):
    """Makes a claim with the status that the Go operator wrote. The operator sees it only with that status."""
    stack.apply(manifests.claim(name))
    now = "2025-01-01T00:00:00Z"
    done = [{"type": t, "status": "True", "reason": t, "message": "", "lastTransitionTime": now}
            for t in ("Launched", "Registered", "Initialized", "Ready")]
    status = {"providerID": f"proxmox://{name}", "nodeName": name, "providerRef": "proxmox", "conditions": done}
    stack.cluster.kubectl("-n", manifests.NAMESPACE, "patch", "nsclaim", name, "--subresource=status", "--type=merge", "-p",
                          json.dumps({"status": status}))


def test_machines_of_the_go_operator_are_taken_over_if_they_prove_to_be_the_claims(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    stack.operator.stop()
    legacy_machine(stack, 1500, "workers-000001", "kubenodesmith-managed")
    legacy_machine(stack, 1501, "workers-000002", "somebody-elses")
    names = ("workers-000001", "workers-000002")
    for name in names:
        legacy_claim(stack, name)
    proxmox_world.wait_listed(stack.proxmox, *names)
    stack.operator.start().wait_ready()
    claims = lambda: {c["metadata"]["name"]: c for c in stack.claims()}
    # A claim that is not proven at the first look is examined again a minute later.
    wait_for("an adopted claim", lambda: is_true(claims()["workers-000001"], "Adopted"), 300)
    refused = wait_until("a verdict on the other", lambda: condition(claims()["workers-000002"], "Adopted"),
                         lambda c: "kubenodesmith-managed" in c["message"], 300)
    assert refused["status"] == "False"
    adopted = claims()["workers-000001"]
    assert (adopted["status"]["host"], adopted["status"]["machineID"]) == ("zagato", "1500")
    assert adopted["metadata"]["uid"] in proxmox_world.machine_named(stack.proxmox, "workers-000001")["config"]["description"]
    wait_for("the Node's labels", lambda: any(n["metadata"]["labels"].get("kubenodesmith.io/nodeclaim") == "workers-000001"
                                              for n in stack.nodes()))

    stack.cluster.kubectl("-n", manifests.NAMESPACE, "delete", "nsclaim", "--all", "--wait=false")
    wait_for("the adopted machine's end", lambda: not proxmox_world.machine_named(stack.proxmox, "workers-000001"))
    wait_for("the other claim to wait", lambda: reason(claims()["workers-000002"], "MachineDeleted") == "NotAdopted", 300)
    left_alone = proxmox_world.machine_named(stack.proxmox, "workers-000002")
    assert left_alone["status"] == "running"
    proxmox_world.destroy_by_hand(stack.proxmox, left_alone)
    documented.run("machine-gone", stack.folder, (stack.cluster.program("kubectl").parent,), stack.cluster.kubeconfig,
                   CLAIM="workers-000002", NAMESPACE=manifests.NAMESPACE)
    wait_for("the end of both claims", lambda: not stack.claims(), 300)
    stack.cluster.kubectl("delete", "nodes", "--all")
    for token in stack.bootstrap_tokens():  # tokens that the guests joined with
        stack.cluster.kubectl("-n", "kube-system", "delete", "secret", token)
