"""Tests machines that cannot reach the API server: what is reported about them, and the one that is kept for inspection."""

import subprocess

import manifests
import proxmox_world
from stack import BIN, condition, is_true, wait_for

NOWHERE = "127.0.0.1:9"


def reason(claim, kind):
    return condition(claim, kind).get("reason", "")


def unreachable(stack, **scale_up):
    """Returns a pool whose machines join at an address where nobody listens."""
    wishes = {"registrationTimeout": "20s", "maxLaunchAttempts": 1, "retry": {"initialBackoff": "10m"}, **scale_up}
    provider = manifests.provider(stack.proxmox, vmOptions=[{"name": "agent", "value": "1"}])
    pool = manifests.pool(bootstrap={"method": "CloudInit", "apiServerEndpoint": NOWHERE}, scaleUp=wishes)
    return manifests.secret(stack.proxmox), provider, pool, manifests.control_plane()


def failed(stack):
    return next((c for c in stack.claims() if is_true(c, "Failed")), None)


def explained(stack, kind, name):
    return subprocess.run([BIN / "kubenodesmith", "--kubeconfig", stack.cluster.kubeconfig, "explain", kind, name],
                          capture_output=True, text=True, check=True).stdout


def test_a_machine_that_never_joins_leaves_evidence(clean):
    stack = clean
    stack.apply(*unreachable(stack))
    stack.apply(manifests.deployment("shop", 1))
    waiting = wait_for("a machine that runs", lambda: [c for c in stack.claims() if is_true(c, "Launched")])[0]
    name = waiting["metadata"]["name"]
    assert waiting["status"]["boot"]["apiServer"] == NOWHERE
    assert f"{NOWHERE} is a loopback address" in explained(stack, "claim", name)

    claim = wait_for("the claim to fail", lambda: failed(stack))
    told = claim["status"]["lastFailure"]["message"]
    machine = f"VM {claim['status']['machineID']} on host {claim['status']['host']}"
    for part in (f"It should have joined {NOWHERE} by an ISO image", "it has been running since", "its guest agent answered at", f"Look at the console of {machine}",
                 "/var/log/cloud-init-output.log", f"{NOWHERE} is a loopback address", "set bootstrap.apiServerEndpoint", "keepFailed: 1"):
        assert part in told, told
    assert told in condition(claim, "Failed")["message"]
    wait_for("the Event", lambda: any(e["reason"] == "RegistrationTimeout" and told in e["message"] for e in stack.events()))
    assert told in explained(stack, "claim", name)
    assert claim["status"]["boot"]["addresses"]

    wait_for("its machine to go", lambda: not stack.proxmox.machines())
    pool = wait_for("the pool to say that it waits", lambda: next(
        (p for p in stack.objects("nodesmithpools") if reason(p, "Available") == "BackingOff"), None))
    assert told in condition(pool, "Available")["message"]
    assert told in explained(stack, "pool", "workers")
    assert [c["metadata"]["name"] for c in stack.claims()] == [name], "no other machine is made at once"


def test_the_last_machine_that_never_joined_is_kept_for_a_look(clean):
    stack = clean
    stack.apply(*unreachable(stack, keepFailed=1))
    stack.apply(manifests.deployment("shop", 1))
    claim = wait_for("a machine that is kept", lambda: next(
        (c for c in stack.claims() if reason(c, "MachineDeleted") == "Kept"), None), 240)
    name = claim["metadata"]["name"]
    assert claim["status"]["phase"] == "Failed" and claim["status"]["keptSince"]
    machine = proxmox_world.machine_named(stack.proxmox, name)
    assert machine["status"] == "stopped" and "kubenodesmith-kept" in machine["config"]["tags"]
    assert not stack.bootstrap_tokens()

    def named():
        (pool,) = stack.objects("nodesmithpools")
        return pool if pool["status"].get("keptMachine") and pool["status"]["reserved"]["nodes"] == 0 else None
    pool = wait_for("the pool to name it", named)
    kept = pool["status"]["keptMachine"]
    assert (kept["claim"], kept["host"], kept["machineID"]) == (name, claim["status"]["host"], str(machine["vmid"]))
    assert NOWHERE in kept["message"]
    assert f"of claim {name}" in explained(stack, "pool", "workers")

    # The condition contains this command.
    command = condition(claim, "MachineDeleted")["message"].split("kubectl ")[1].split()
    assert command == ["delete", "nodesmithclaim", name, "-n", manifests.NAMESPACE]
    stack.cluster.kubectl(*command, "--wait=false")
    wait_for("the machine to go", lambda: not stack.proxmox.machines() and not stack.claims())
    wait_for("the pool to forget it", lambda: "keptMachine" not in stack.objects("nodesmithpools")[0]["status"])
