"""The pages of docs/start lead to a node. Each page's commands grant the rights, and its manifests are applied. Only the addresses
and the image are replaced by those of the simulated site, and the join of K3s by that of kubeadm."""

import hashlib
import re
import subprocess

import pytest
import yaml

import manifests
from proxmox_world import documented_world
from stack import ROOT, Stack, is_true, running_pods, wait_for

START = ROOT / "docs/start"
HERE_DOCUMENT = re.compile(r"<<'?EOF'?\n(.*?)^EOF$", re.MULTILINE | re.DOTALL)
IMAGE, URL = "debian", "https://images.example/debian.qcow2"


def objects(page):
    """All manifests that a page applies or has its reader save, with the page's variables replaced."""
    text = (START / page).read_text()
    sources = [block for block in HERE_DOCUMENT.findall(text) if "kind:" in block and "$NAME" not in block]
    sources += re.findall(r"<!-- save: \S+ machines/\S+ -->\n```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    checksum = hashlib.sha512(IMAGE.encode()).hexdigest()
    for source in sources:
        for variable, value in {"$IMAGES/$RELEASE/$FILE": URL, "$CHECKSUM": checksum, "$FINGERPRINT": ":".join(["AB"] * 32)}.items():
            source = source.replace(variable, value)
        yield from yaml.safe_load_all(source)


def of_kind(found, *kinds):
    return [item for item in found if item["kind"] in kinds]


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    world = documented_world(START / "homelab.md")
    world["web"] = [{"url": URL, "data": IMAGE, "diskGiB": 3}]
    with Stack(tmp_path_factory.mktemp("stack"), world) as running:
        running.install_crds()
        yield running


@pytest.mark.parametrize("page", ["homelab.md", "company.md", "bare-metal.md"])
def test_an_api_server_takes_the_manifests_of_the_page(stack, page):
    ours = [item for item in objects(page) if item["apiVersion"].startswith("kubenodesmith")]
    assert {item["kind"] for item in ours} == {"NodeSmithProvider", "NodeSmithPool", "NodeSmithControlPlane"}
    stack.cluster.kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-", stdin=yaml.safe_dump_all(ours))


def test_the_script_of_the_bare_metal_page_writes_a_host_for_each_line(stack, tmp_path):
    script = re.search(r"^cat > hosts.txt.*?> hosts.yaml$", (START / "bare-metal.md").read_text(), re.MULTILINE | re.DOTALL)[0]
    subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, check=True)
    hosts = list(yaml.safe_load_all((tmp_path / "hosts.yaml").read_text()))
    assert [host["spec"]["bmc"]["address"] for host in hosts] == ["https://10.0.9.17", "https://10.0.9.19"]
    stack.cluster.kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", tmp_path / "hosts.yaml")


def test_the_homelab_page_leads_to_a_node_from_a_plain_image(stack):
    stack.operator.start().wait_ready()
    found = list(objects("homelab.md"))
    provider, pool = of_kind(found, "NodeSmithProvider")[0], of_kind(found, "NodeSmithPool")[0]
    provider["spec"]["proxmox"].update(endpoint=f"{stack.proxmox.url}/api2/json", tls={"fingerprintSHA256": stack.proxmox.fingerprint})
    assert pool["spec"]["bootstrap"].pop("format") == "K3s" and pool["spec"]["bootstrap"].pop("apiServerEndpoint")
    stack.apply(manifests.secret(stack.proxmox), *of_kind(found, "Secret", "NodeSmithProvider", "NodeSmithPool", "NodeSmithControlPlane"))
    wait_for("a Ready provider", lambda: is_true(stack.objects("nodesmithproviders")[0], "Ready"))
    stack.apply(*of_kind(found, "Pod"))
    wait_for("a running pod", lambda: running_pods(stack.pods()), 240)
    assert [e["message"] for e in stack.events() if e["type"] == "Warning"] == []
