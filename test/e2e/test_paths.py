"""The pages of docs/start lead to a node. Each page's commands prepare Proxmox, and its manifests are applied. Only the addresses
and the image are replaced by those of the simulated site, and the join of K3s by that of kubeadm."""

import hashlib
import re
import shlex
import subprocess

import pytest
import yaml

from stack import BIN, ROOT, Stack, is_true, running_pods, wait_for

START = ROOT / "docs/start"
HERE_DOCUMENT = re.compile(r"<<'?EOF'?\n(.*?)^EOF$", re.MULTILINE | re.DOTALL)
IMAGE, URL = "debian", "https://images.example/debian.qcow2"
CHECKSUM = hashlib.sha512(IMAGE.encode()).hexdigest()
PASSWORD = "of-the-administrator"


def filled(text):
    """Puts values for the page's variables."""
    for variable, value in {"$IMAGES/$RELEASE/$FILE": URL, "$CHECKSUM": CHECKSUM, "$FINGERPRINT": ":".join(["AB"] * 32)}.items():
        text = text.replace(variable, value)
    return text


def objects(page):
    """All manifests that a page applies or has its reader save, with the page's variables replaced."""
    text = (START / page).read_text()
    sources = [block for block in HERE_DOCUMENT.findall(text) if "kind:" in block and "$NAME" not in block]
    sources += re.findall(r"<!-- save: \S+ machines/\S+ -->\n```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for source in sources:
        yield from yaml.safe_load_all(filled(source))


def of_kind(found, *kinds):
    return [item for item in found if item["kind"] in kinds]


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    contents = re.search(r"^pvesm set local --content (\S+)$", (START / "homelab.md").read_text(), re.MULTILINE)[1]
    world = {"hosts": [{"name": "pve1", "cpus": 32, "memoryMiB": 131072}],
             "storages": [{"id": "local", "content": contents.split(",")},
                          {"id": "local-lvm", "type": "lvmthin", "content": ["images"], "totalGiB": 1000}],
             "users": [{"id": "root@pam", "password": PASSWORD}], "tokens": [], "pools": [], "roles": {}, "acl": [],
             "web": [{"url": URL, "data": IMAGE, "diskGiB": 3}], "durations": {"boot": 1}}
    with Stack(tmp_path_factory.mktemp("stack"), world) as running:
        running.install_crds()
        yield running


@pytest.fixture(scope="module")
def prepared(stack):
    """Runs the homelab page's command that prepares Proxmox. Returns the manifests that it would apply."""
    (command,) = re.findall(r"^build/release/bin/(kubenodesmith setup proxmox (?:.*\\\n)*.*)$", (START / "homelab.md").read_text(), re.MULTILINE)
    program, *argv = [word for word in shlex.split(filled(command).replace("\\\n", " ")) if word != "--apply"]
    argv[argv.index("--endpoint") + 1] = stack.proxmox.url
    done = subprocess.run([BIN / program, *argv, "--yes", "--password-stdin", "--fingerprint", stack.proxmox.fingerprint],
                          input=PASSWORD, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


@pytest.mark.parametrize("page", ["homelab.md", "company.md", "bare-metal.md"])
def test_an_api_server_takes_the_manifests_of_the_page(stack, page, prepared):
    found = [*objects(page), *(prepared if page == "homelab.md" else [])]
    ours = [item for item in found if item["apiVersion"].startswith("kubenodesmith")]
    assert {item["kind"] for item in ours} == {"NodeSmithProvider", "NodeSmithPool", "NodeSmithControlPlane"}
    stack.cluster.kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-", stdin=yaml.safe_dump_all(ours))


def test_the_script_of_the_bare_metal_page_writes_a_host_for_each_line(stack, tmp_path):
    script = re.search(r"^cat > hosts.txt.*?> hosts.yaml$", (START / "bare-metal.md").read_text(), re.MULTILINE | re.DOTALL)[0]
    subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, check=True)
    hosts = list(yaml.safe_load_all((tmp_path / "hosts.yaml").read_text()))
    assert [host["spec"]["bmc"]["address"] for host in hosts] == ["https://10.0.9.17", "https://10.0.9.19"]
    stack.cluster.kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", tmp_path / "hosts.yaml")


def test_the_homelab_page_leads_to_a_node_from_a_plain_image(stack, prepared):
    stack.operator.start().wait_ready()
    found = [*objects("homelab.md"), *prepared]
    (pool,) = of_kind(found, "NodeSmithPool")
    assert pool["spec"]["bootstrap"].pop("format") == "K3s" and pool["spec"]["bootstrap"].pop("apiServerEndpoint")
    stack.apply(*of_kind(found, "Secret", "NodeSmithProvider", "NodeSmithPool", "NodeSmithControlPlane"))
    wait_for("a Ready provider", lambda: is_true(stack.objects("nodesmithproviders")[0], "Ready"))
    stack.apply(*of_kind(found, "Pod"))
    wait_for("a running pod", lambda: running_pods(stack.pods()), 240)
    assert [e["message"] for e in stack.events() if e["type"] == "Warning"] == []
