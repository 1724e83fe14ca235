"""Tests a clock of the operator's host that is wrong, or jumps."""

import manifests
import proxmox_world
import pytest
from stack import BIN, Stack, is_true, running_pods, wait_for

PODS = 2
AHEAD = 20 * 60


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """Provides machines that boot for so long that the clock jumps meanwhile, and an operator whose clock can be set."""
    with Stack(tmp_path_factory.mktemp("stack"), proxmox_world.world(boot=15)) as running:
        running.run_as_its_account()
        running.clock = running.folder / "clock"
        running.clock.write_text("0")
        running.operator.environment = {"LD_PRELOAD": str(BIN / "wrong_clock.so"), "WRONG_CLOCK": str(running.clock)}
        running.operator.start().wait_ready()
        yield running


def set_clock(stack, seconds):
    draft = stack.clock.with_suffix(".tmp")
    draft.write_text(str(seconds))
    draft.replace(stack.clock)


def test_a_jump_while_machines_boot_makes_nothing_due(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    stack.apply(manifests.deployment("shop", PODS, cpu="3"))
    booting = wait_for("machines that boot", lambda: (claims := stack.claims()) and all(is_true(c, "Launched") for c in claims) and claims)
    set_clock(stack, AHEAD)
    wait_for("all pods running", lambda: len(running_pods(stack.pods())) == PODS, 120)
    assert {c["metadata"]["uid"] for c in stack.claims()} == {c["metadata"]["uid"] for c in booting}
    assert all(c["status"]["launchAttempts"] == 1 for c in stack.claims())
    lead = wait_for("the difference of the clocks", lambda: stack.operator.metrics()["kubenodesmith_clock_lead_seconds"])
    assert abs(lead - AHEAD) <= 2
    assert "the API server's" in stack.operator.get("/readyz?verbose", stack.operator.health_port)
