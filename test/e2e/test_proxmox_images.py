"""Tests templates that the operator makes: a disk image becomes one on each host, is renewed, and is removed with its
provider."""

import hashlib

import manifests
import pytest
from stack import Stack, is_true, running_pods, wait_for

HOSTS = {"alfaromeo", "porsche", "zagato"}
RELEASES = ("debian 12.8", "debian 12.9")


def url_of(release):
    return f"https://images.example/{release.replace(' ', '-')}.qcow2"


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    web = [{"url": url_of(release), "data": release, "diskGiB": 8} for release in RELEASES]
    with Stack(tmp_path_factory.mktemp("stack"), {"web": web, "durations": {"boot": 1}}) as running:
        running.install_crds()
        running.operator.start().wait_ready()
        yield running


def provider(stack, release):
    image = {"url": url_of(release), "checksum": f"sha256:{hashlib.sha256(release.encode()).hexdigest()}", "storage": "local"}
    return manifests.provider(stack.proxmox, template={"image": image}, placement={"strategy": "Spread"})


def shown(stack):
    return stack.objects("nodesmithproviders")[0]


def templates(stack):
    """Returns the host of each template that was made, by VMID."""
    return {m["vmid"]: m["node"] for m in stack.proxmox.control("GET", "/machines") if m["config"].get("template")}


def import_files(stack):
    return [v["volid"] for s in stack.proxmox.control("GET", "/world")["storages"] for v in s["volumes"] if ":import/" in v["volid"]]


def test_machines_are_cloned_from_templates_that_no_hand_made(stack):
    stack.apply(manifests.secret(stack.proxmox), provider(stack, RELEASES[0]), manifests.pool(), manifests.control_plane())
    wait_for("a Ready provider", lambda: is_true(shown(stack), "Ready"))
    wait_for("a template on each host", lambda: set(templates(stack).values()) == HOSTS and not import_files(stack))
    wait_for("hosts that may be used", lambda: all(h["online"] for h in shown(stack)["status"]["hosts"]))
    events = {e["reason"]: e["type"] for e in stack.events() if e["involvedObject"]["kind"] in ("NodeSmithProvider", "NodeSmithControlPlane")}
    assert events.get("ImagePreparing") == "Normal" and "Warning" not in events.values(), events
    assert {t["revision"].split("-")[0] for t in shown(stack)["status"]["templates"]} == {"image"}

    stack.apply(manifests.deployment("shop", 2))
    wait_for("2 running pods", lambda: len(running_pods(stack.pods())) == 2, 240)
    assert len(stack.claims()) == 1
    for claim in stack.claims():
        machine = next(m for m in stack.proxmox.machines() if m["name"] == claim["metadata"]["name"])
        assert "/base-" in machine["config"]["scsi0"] and "size=8G" in machine["config"]["scsi0"]


def test_a_new_image_makes_new_templates_and_the_old_ones_go_with_their_machines(stack):
    (linked,) = {m["node"] for m in stack.proxmox.machines()}
    old = {vmid for vmid, host in templates(stack).items() if host == linked}
    stack.apply(provider(stack, RELEASES[1]))
    wait_for("new templates, and the old one that a machine is linked to",
             lambda: sorted(templates(stack).values()) == sorted([*HOSTS, linked]) and old < set(templates(stack)))
    wait_for("a Ready provider", lambda: is_true(shown(stack), "Ready"))
    node = stack.claims()[0]["status"]["nodeName"]
    wait_for("a node that has drifted", lambda: [e for e in stack.events("default") if e["involvedObject"]["name"] == node
             and e["message"].startswith("Drifted")])

    stack.cluster.kubectl("delete", "deployment", "shop")
    wait_for("no claims", lambda: not stack.claims(), 240)
    # The provider looks at it again after a minute or two.
    wait_for("no old template", lambda: set(templates(stack).values()) == HOSTS and not old & set(templates(stack)), 240)


def test_templates_go_with_their_provider(stack):
    stack.cluster.kubectl("-n", manifests.NAMESPACE, "delete", "nspool", "workers")
    stack.cluster.kubectl("-n", manifests.NAMESPACE, "delete", "nsprovider", "proxmox", "--wait=false")
    wait_for("nothing left in Proxmox", lambda: not stack.proxmox.control("GET", "/machines") and not import_files(stack))
    wait_for("the provider's end", lambda: not stack.objects("nodesmithproviders"))
    assert not [e for e in stack.events() if e["reason"] == "TemplatesLeft"]
