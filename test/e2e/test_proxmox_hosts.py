"""Tests where machines are placed, and what happens when hosts, endpoints and credentials change."""

import manifests
import proxmox_world
import pytest
from stack import Stack, condition, is_true, wait_for, wait_until

# Two guests start with their host: half of alfaromeo's memory and most of porsche's CPUs are promised to them.
WORLD = proxmox_world.world()
WORLD["machines"] += [
    {"vmid": 500, "node": "alfaromeo", "config": {"name": "database", "memory": 32768, "cores": 2, "onboot": 1}},
    {"vmid": 501, "node": "porsche", "config": {"name": "build", "memory": 4096, "cores": 16, "sockets": 3, "onboot": 1}}]
OTHERS = {"database", "build"}


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack"), WORLD) as running:
        all_machines = running.proxmox.machines
        running.proxmox.machines = lambda: [m for m in all_machines() if m["name"] not in OTHERS]
        running.install_crds()
        running.operator.start().wait_ready()
        yield running


def hosts_of(stack, count):
    """Returns the hosts of the launched claims, oldest first."""
    def hosts():
        claims = sorted((c for c in stack.claims() if is_true(c, "Launched")), key=lambda c: int(c["status"]["machineID"]))
        return [c["status"]["host"] for c in claims] if len(claims) == count else None
    return wait_for(f"{count} launched machines", hosts)


def trigger_round(stack):
    """Triggers the rounds for each provider. They come every few minutes, and after each change of its spec."""
    stack.cluster.kubectl("-n", manifests.NAMESPACE, "patch", "nsprovider", "proxmox", "--type=merge", "-p",
                          f'{{"spec": {{"orphanGracePeriod": "{trigger_round.minutes}m"}}}}')
    trigger_round.minutes += 1


trigger_round.minutes = 6

PLACED = [
    ("Spread", {"alfaromeo": 1, "porsche": 1, "zagato": 1}),
    ("MaxMemory", {"porsche": 1, "zagato": 2}),
    ("MaxCPU", {"alfaromeo": 1, "zagato": 2}),
    ("Balanced", {"zagato": 3}),
    ("RoundRobin", {"alfaromeo": 1, "porsche": 1, "zagato": 1}),
]


@pytest.mark.parametrize("strategy, expected", PLACED)
def test_machines_go_where_the_strategy_says(clean, strategy, expected):
    stack = clean
    stack.apply(manifests.secret(stack.proxmox), manifests.provider(stack.proxmox, placement={"strategy": strategy}),
                manifests.pool(limits={"minNodes": 3}, bootstrap={"method": "None"},
                               template={"sizes": [{"name": "one", "cpuCores": 2, "memoryMiB": 4096}], "flexible": None}),
                manifests.control_plane())
    hosts = hosts_of(stack, 3)
    assert {host: hosts.count(host) for host in hosts} == expected


def test_what_excludes_a_host_is_never_relaxed(clean):
    stack = clean
    placement = {"excludedNodes": ["zagato"], "minAvailable": {"cpuCores": 0, "memoryMiB": 200000}}
    stack.apply(manifests.secret(stack.proxmox), manifests.provider(stack.proxmox, placement=placement),
                manifests.pool(bootstrap={"method": "None"}), manifests.control_plane(),
                manifests.claim("by-hand"))
    wait_until("a claim without a host", lambda: condition(stack.claims()[0], "Launched"), lambda c: c["reason"] == "InsufficientCapacity"
               and "zagato: in placement.excludedNodes" in c["message"] and "alfaromeo: less free memory" in c["message"])
    assert not stack.proxmox.machines()


def test_a_revoked_token_stops_launches_and_a_restored_one_resumes_them(clean):
    stack = clean
    token = f"/tokens/{stack.proxmox.token_id}"
    stack.apply(*manifests.everything(stack.proxmox))
    wait_for("a ready provider", lambda: is_true(stack.objects("nodesmithproviders")[0], "Ready"))
    try:
        stack.proxmox.control("POST", f"{token}/revoke")
        stack.apply(manifests.deployment("shop", 1))
        trigger_round(stack)
        failed = wait_until("the provider's condition", lambda: condition(stack.objects("nodesmithproviders")[0], "Ready"),
                            lambda c: c["reason"] == "AuthenticationFailed")
        assert "PROXMOX_SECRET" in failed["message"] and stack.proxmox.token_secret not in failed["message"]
        assert not stack.proxmox.machines()
    finally:
        stack.proxmox.control("POST", f"{token}/restore")
    wait_for("a machine after all", lambda: [c for c in stack.claims() if is_true(c, "Ready")], 240)


def test_a_node_follows_its_machine_to_another_host(clean):
    stack = clean
    labels = {"example.com/host": "{{ .Host }}", "example.com/of": "{{ .Pool }}-{{ .Provider }}"}
    stack.apply(*manifests.everything(stack.proxmox, limits={"minNodes": 1}, template={"labels": labels}))
    claim = wait_for("a Ready claim", lambda: [c for c in stack.claims() if is_true(c, "Ready")])[0]
    name, host, vmid = claim["metadata"]["name"], claim["status"]["host"], claim["status"]["machineID"]
    assert stack.nodes()[0]["metadata"]["labels"]["example.com/of"] == "workers-proxmox"
    wait_for("the boot image's end", lambda: not proxmox_world.volumes(stack.proxmox))
    other = next(h for h in proxmox_world.HOSTS if h != host)
    proxmox_world.api(stack.proxmox, "POST", f"/nodes/{host}/qemu/{vmid}/migrate", target=other, online=1)
    wait_for("the migration", lambda: proxmox_world.machine_named(stack.proxmox, name)["node"] == other)

    def labelled():
        trigger_round(stack)
        found = stack.nodes()[0]["metadata"]["labels"]
        return {found["kubenodesmith.io/host"], found["topology.kubernetes.io/zone"], found["example.com/host"]} == {other}
    wait_for("the Node's labels", labelled, interval=3)
    mine = lambda: next(c for c in stack.claims() if c["metadata"]["name"] == name)
    wait_for("its host in the claim's status", lambda: mine()["status"]["host"] == other)
    wait_for("service there", lambda: is_true(mine(), "Ready"))


def test_a_claim_whose_machine_vanished_is_replaced(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox, limits={"minNodes": 1}))
    claim = wait_for("a Ready claim", lambda: [c for c in stack.claims() if is_true(c, "Ready")])[0]
    host, vmid = claim["status"]["host"], claim["status"]["machineID"]
    proxmox_world.api(stack.proxmox, "POST", f"/nodes/{host}/qemu/{vmid}/status/stop")
    wait_for("its end", lambda: next(m for m in stack.proxmox.machines() if str(m["vmid"]) == vmid)["status"] == "stopped")
    proxmox_world.api(stack.proxmox, "DELETE", f"/nodes/{host}/qemu/{vmid}?purge=1")
    wait_for("a machine that is gone", lambda: not [m for m in stack.proxmox.machines() if str(m["vmid"]) == vmid])

    def replaced():
        trigger_round(stack)
        return [c for c in stack.claims() if is_true(c, "Ready") and c["metadata"]["uid"] != claim["metadata"]["uid"]]
    wait_for("another Ready claim", replaced, 240, interval=5)
    wait_for("the old Node's end", lambda: len(stack.nodes()) == 1)


def test_a_machine_costs_at_most_fourteen_requests_and_a_proof_of_the_cluster_for_each_change(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    wait_for("a ready provider", lambda: is_true(stack.objects("nodesmithproviders")[0], "Ready"))
    before = len(proxmox_world.requests_to_make_machines(stack.proxmox))
    stack.apply(manifests.deployment("shop", 5, cpu="6"))
    hosts_of(stack, 5)
    requests = [(r["method"], r["path"]) for r in proxmox_world.requests_to_make_machines(stack.proxmox)[before:]]
    proofs = [path for _, path in requests if path == "/nodes/localhost/certificates/info"]
    changes = [path for method, path in requests if method != "GET"]
    per_machine = (len(requests) - len(proofs)) / 5
    print(f"{per_machine:.1f} requests per machine beside those that follow tasks, "
          f"{len(proofs)} proofs of the cluster for {len(changes)} changes")
    # Nine are for the machine itself; the rest are looks at the cluster that these five share.
    assert per_machine <= 14, requests
    # A proof for reads is also needed, but at most every five seconds.
    assert len(proofs) <= 1.5 * len(changes), requests
