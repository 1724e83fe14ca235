"""Tests bare metal that joins with boot data from the operator, through the virtual media of its BMC."""

import json
import urllib.error
import urllib.request

import pytest

import manifests
from cluster import free_ports
from redfish import all_ready, delete_rack, hosts
from stack import Stack, condition, is_true, running_pods, wait_for

CLOUD_INIT = {"method": "CloudInit", "delivery": "HTTP"}


@pytest.fixture(scope="module")
def flags():
    (port,) = free_ports(1)
    return f"--bootstrap-bind-address=127.0.0.1:{port}", f"--bootstrap-advertise-url=http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def stack(tmp_path_factory, flags):
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        running.run_as_its_account()
        running.operator.start(*flags).wait_ready()
        yield running
        assert not running.refused()


def test_boot_data_without_virtual_media_is_refused_with_what_would_be_right(stack, rack):
    stack.apply(*rack.manifests(CLOUD_INIT))
    wait_for("two examined hosts", lambda: all_ready(stack, 2))
    stack.apply(manifests.deployment("shop", 1, cpu="3"))
    (claim,) = wait_for("a claim that says why it waits", lambda: [
        c for c in stack.claims() if condition(c, "Launched").get("reason") == "BootDataMissing"])
    assert "boot.method VirtualMedia" in condition(claim, "Launched")["message"]
    assert set(rack.power_states().values()) == {"Off"}
    stack.cluster.kubectl("delete", "deployment", "shop", "--grace-period=1")
    delete_rack(stack)


def status_of(url):
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_a_server_that_boots_a_live_image_joins_with_the_boot_data_in_its_virtual_media(stack, rack, flags):
    image = rack.serve_image("live.iso")
    stack.apply(*rack.manifests(CLOUD_INIT, boot={"method": "VirtualMedia", "imageURL": image}))
    wait_for("two examined hosts", lambda: all_ready(stack, 2))
    stack.apply(manifests.deployment("shop", 1, cpu="3"))
    wait_for("the pod running on a woken server", lambda: len(running_pods(stack.pods())) == 1, 240)
    (claim,) = wait_for("a Ready claim", lambda: [c for c in stack.claims() if is_true(c, "Ready")])
    host = claim["status"]["host"]
    (node,) = stack.nodes()
    assert node["metadata"]["name"] == claim["metadata"]["name"], "the join was rendered for this claim"
    assert node["spec"]["providerID"] == f"redfish://rack/{host}"
    (seed,) = rack.seeds[host]
    wait_for("the end of the boot data of a Node that is registered", lambda: status_of(seed) == 404)
    assert not [name for name in stack.bootstrap_tokens() if name != rack.token_secret]

    # An operator that did not turn the server on itself need not doubt for a minute that it is off.
    assert stack.operator.stop() == 0
    stack.operator.start(*flags).wait_ready()
    stack.cluster.kubectl("delete", "deployment", "shop", "--grace-period=1")
    wait_for("every server off", lambda: not stack.claims() and set(rack.power_states().values()) == {"Off"}, 300)
    wait_for("the images to be ejected, once the host is off", lambda: rack.inserted() == [])
    events = stack.cluster.kubectl("get", "events", "-A", "-o", "json")
    told = stack.operator.log.read_text() + events + json.dumps(claim) + json.dumps(hosts(stack))
    assert seed.split("/")[-2] not in told
