import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import manifests  # noqa: E402
from redfish import Rack  # noqa: E402
from stack import Stack, wait_for  # noqa: E402


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """Provides a control plane with our CRDs, a Proxmox cluster and a running operator with the shipped rights, shared by
    the tests of a file."""
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        running.run_as_its_account()
        running.operator.start().wait_ready()
        yield running
        assert not running.refused()


@pytest.fixture
def rack(stack, tmp_path):
    """Provides two servers behind one BMC that join the stack's cluster when they are turned on."""
    rack = Rack(tmp_path, stack.cluster).start()
    yield rack
    rack.stop()


def bury_lost_pods(stack):
    """Deletes pods whose Node is gone. The cluster's garbage collector would do it too, after 40 to 80 s."""
    nodes = {n["metadata"]["name"] for n in stack.nodes()}
    for pod in stack.pods():
        if pod["spec"].get("nodeName", "") not in nodes | {""}:
            stack.cluster.kubectl("delete", "pod", pod["metadata"]["name"], "--grace-period=0", "--force", "--ignore-not-found")


def all_gone(stack):
    bury_lost_pods(stack)
    return not (stack.claims() or stack.proxmox.machines() or stack.pods() or stack.objects("nodesmithpools"))


@pytest.fixture
def clean(stack):
    """Deletes workloads and our objects after the test, and waits until everything that they caused is gone."""
    yield stack
    kubectl = stack.cluster.kubectl
    kubectl("delete", "deployments,statefulsets,daemonsets,pods,pdb", "--all", "-n", "default", "--wait=false",
            "--grace-period=1")
    kubectl("delete", "nodesmithpools,nodesmithclaims", "--all", "-n", manifests.NAMESPACE, "--wait=false")
    wait_for("the removal of all claims and machines", lambda: all_gone(stack), 300)
    kubectl("delete", "nodesmithcontrolplanes,nodesmithproviders,secrets,events", "--all", "-n", manifests.NAMESPACE)
    assert not stack.nodes()
    assert not stack.bootstrap_tokens()


def pytest_runtest_makereport(item, call):
    """Shows the end of the operator's log after a failed test."""
    if call.when == "call" and call.excinfo is not None and "stack" in item.funcargs:
        item.add_report_section("call", "operator", item.funcargs["stack"].operator.log_tail(60))
