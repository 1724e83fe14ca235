"""The command line as a person uses it, against one cluster with an operator and one node."""

import json
import os
import re
import subprocess
import tarfile
import time
import urllib.request
from pathlib import Path

import pytest
import yaml

import documented
import manifests
from stack import BIN, SYSTEM, Stack, wait_for

SECRET_DATA = "S3CRET-OF-PROXMOX"


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        running.run_as_its_account()
        running.operator.start("--leader-elect", f"--leader-election-namespace={SYSTEM}").wait_ready()
        running.apply(*manifests.everything(running.proxmox, limits={"minNodes": 1}),
                      {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "other", "namespace": manifests.NAMESPACE},
                       "stringData": {"key": SECRET_DATA}})
        wait_for("a node", lambda: [c for c in running.claims() if c["status"].get("phase") == "Ready"])
        yield running


def ask(stack, *argv, kubeconfig=None, **options):
    return subprocess.run([BIN / "kubenodesmith", *argv, "--kubeconfig", kubeconfig or stack.cluster.kubeconfig],
                          capture_output=True, text=True, check=False, **options)


def program(stack, *argv, code=0, **options):
    """What a command prints, and on which exit code it has to end."""
    done = ask(stack, *argv, **options)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code != 2 else done.stderr


def document(stack, *argv, code=0):
    return json.loads(program(stack, *argv, "-o", "json", code=code))


def test_status_and_top_show_every_object(stack):
    (claim,) = stack.claims()
    text = program(stack, "status")
    assert text.startswith("All is well.\n") and claim["metadata"]["name"] in text and "kubenodesmith/proxmox" in text
    assert document(stack, "status", "-n", manifests.NAMESPACE)["claims"][0]["phase"] == "Ready"
    assert document(stack, "status", "-n", "default")["claims"] == []
    top = document(stack, "top")
    assert top["pools"][0]["nodes"] == 1 and top["pools"][0]["cpu"] > 0 and top["pools"][0]["price"] > 0
    assert sum(host["machines"] for host in top["hosts"]) >= 1
    assert yaml.safe_load(program(stack, "top", "-o", "yaml")) == top


def test_ui_serves_the_status_page_with_the_rights_of_its_user(stack):
    process = subprocess.Popen([BIN / "kubenodesmith", "ui", "--kubeconfig", stack.cluster.kubeconfig], stdout=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://127\.0\.0\.1:\d+/\w+/", process.stdout.readline())[0]
        with urllib.request.urlopen(url) as page:
            assert "script-src 'sha256-" in page.headers["Content-Security-Policy"]
        with urllib.request.urlopen(f"{url}?format=json") as answer:
            text = answer.read().decode()
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()
    seen = json.loads(text)
    assert [claim["name"] for claim in seen["claims"]] == [claim["metadata"]["name"] for claim in stack.claims()]
    assert seen["troubles"] == [] and seen["history"]["nodes"] == [1] and seen["decisions"] is None
    assert SECRET_DATA not in text


def test_objects_are_named_as_for_kubectl(stack):
    (claim,) = stack.claims()
    name = claim["metadata"]["name"]
    texts = {program(stack, "explain", *words) for words in (["claim", name], [f"nsclaims/{name}"], [f"NodeSmithClaim/{name}", "-n", manifests.NAMESPACE])}
    assert all("Pool workers: " in text for text in texts)
    for reference in (f"node/{claim['status']['nodeName']}", "nspool/workers", "nsprovider/proxmox", "nscp/" + stack.objects("nodesmithcontrolplanes")[0]["metadata"]["name"]):
        (item,) = document(stack, "explain", reference)["items"]
        assert item["sentences"] and item["name"] == reference.split("/")[1]
    assert "-n says default" in program(stack, "explain", f"claim/{manifests.NAMESPACE}/{name}", "-n", "default", code=2)


def test_the_namespace_of_the_context_is_that_of_pods(stack, tmp_path):
    stack.cluster.kubectl("run", "here", "--image=busybox", "-n", manifests.NAMESPACE)
    config = yaml.safe_load(Path(stack.cluster.kubeconfig).read_text())
    for context in config["contexts"]:
        context["context"]["namespace"] = manifests.NAMESPACE
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(yaml.safe_dump(config))
    assert f"Pod {manifests.NAMESPACE}/here" in program(stack, "explain", "pod/here", kubeconfig=kubeconfig)
    assert f"Pod {manifests.NAMESPACE}/here" in program(stack, "explain", "po", "here", "-A")
    assert "there is no pod default/here" in program(stack, "explain", "pods", "here", "-n", "default", code=2)
    stack.cluster.kubectl("delete", "pod", "here", "-n", manifests.NAMESPACE, "--grace-period=0", "--force")


def test_check_names_what_is_not_ready(stack):
    found = {finding["check"]: finding for finding in document(stack, "check", code=1)["findings"]}
    assert found["Kubernetes"]["verdict"] == "ok" and found["CRDs"]["verdict"] == "ok" and found["leader"]["verdict"] == "ok", found
    assert found["admission policies"]["verdict"] == "PROBLEM" and "config/admission" in found["admission policies"]["message"]
    assert found["objects"]["verdict"] == "ok"


def test_missing_rights_end_at_once_with_a_role_that_is_enough(stack, tmp_path):
    kubectl = stack.cluster.kubectl
    kubectl("create", "serviceaccount", "nobody", "-n", SYSTEM)
    kubeconfig = stack.cluster.service_account_kubeconfig(tmp_path / "nobody.kubeconfig", SYSTEM, "nobody")
    started = time.monotonic()
    said = program(stack, "plan", kubeconfig=kubeconfig, code=2)
    assert time.monotonic() - started < 15
    assert "list nodes\n" in said and "list daemonsets.apps\n" in said and "list nodesmithpools" in said and "warning" not in said.lower()
    role = said[said.index("apiVersion:"):]
    kubectl("apply", "-f", "-", stdin=role)
    wait_for("a plan with these rights and no others", lambda: ask(stack, "plan", kubeconfig=kubeconfig).returncode in (0, 1))
    # Impersonation asks the API server as the other user.
    kubectl("delete", "clusterrolebinding", "kubenodesmith-planner")
    account = f"system:serviceaccount:{SYSTEM}:nobody"
    wait_for("the refusal of the other user", lambda: f"does not let {account}" in ask(stack, "plan", f"--as={account}").stderr)


def test_nobody_waits_for_a_server_that_does_not_answer(stack, tmp_path):
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text("{current-context: a, contexts: [{name: a, context: {cluster: a}}], clusters: [{name: a, cluster: {server: 'https://192.0.2.1:6443'}}]}")
    started = time.monotonic()
    assert program(stack, "status", "--request-timeout=1s", kubeconfig=kubeconfig, code=2).startswith("status: ")
    assert time.monotonic() - started < 15


def test_output_that_cannot_be_written_is_a_failure(stack):
    for argv in (["status"], ["plan", "-o", "json"], ["--help"], ["version", "--client"], ["completion", "bash"], ["support-bundle", "-f", "-"]):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([BIN / "kubenodesmith", *argv], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                                  env={**os.environ, "KUBECONFIG": str(stack.cluster.kubeconfig)})
        assert done.returncode == 2 and "No space left on device" in done.stderr, (argv, done)


def test_version_names_client_and_server(stack):
    found = document(stack, "version")
    assert found["client"]["version"] and found["server"]["kubernetes"].startswith("v1.")
    assert "not reached" in program(stack, "version", kubeconfig="/nonexistent")


def test_a_support_bundle_holds_no_secret(stack, tmp_path):
    said = program(stack, "support-bundle", cwd=tmp_path)
    (file,) = tmp_path.glob("kubenodesmith-support-*.tar")
    assert file.name in said and file.stat().st_mode & 0o077 == 0
    with tarfile.open(file) as archive:
        files = {name: archive.extractfile(name).read().decode() for name in archive.getnames()}
    whole = "".join(files.values())
    credentials = json.loads(stack.cluster.kubectl("get", "secrets", "-A", "-o", "json"))["items"]
    values = [value for secret in credentials for value in secret.get("data", {}).values()]
    assert SECRET_DATA not in whole and not [value for value in values if len(value) > 12 and value in whole]
    assert "Could not be read" not in files["kubenodesmith-support/README.txt"], files["kubenodesmith-support/README.txt"]
    claims = list(yaml.safe_load_all(files["kubenodesmith-support/nodesmithclaims.yaml"]))
    assert [claim["metadata"]["name"] for claim in claims] == [claim["metadata"]["name"] for claim in stack.claims()]
    assert "All is well" in files["kubenodesmith-support/status.txt"] and files["kubenodesmith-support/events.yaml"]
    # An old file is never overwritten.
    assert "File exists" in program(stack, "support-bundle", "-f", str(file), code=2)


def test_hosts_of_a_range_are_ones_that_the_api_server_takes(stack):
    done = subprocess.run([BIN / "kubenodesmith", "host", "add", "rack1-[08-10]", "10.0.9.[18-20]", "--provider", "racks", "--label", "rack=1", "--maintenance"],
                          capture_output=True, text=True, check=True).stdout
    stack.cluster.kubectl("apply", "--dry-run=server", "-f", "-", stdin=done)
    hosts = list(yaml.safe_load_all(done))
    assert [host["metadata"]["name"] for host in hosts] == ["rack1-08", "rack1-09", "rack1-10"]
    assert hosts[2]["spec"]["bmc"]["address"] == "https://10.0.9.20"


def test_what_is_paused_creates_nothing_until_it_is_resumed(stack):
    def mode():
        return stack.objects("nodesmithcontrolplanes")[0]["spec"]["mode"]
    assert "now has mode Paused" in program(stack, "pause")
    assert mode() == "Paused" and "already" in program(stack, "pause")
    assert "now has mode Observe" in program(stack, "resume", "--observe")
    assert "now has mode Active" in program(stack, "resume") and mode() == "Active"
    assert "no such control plane" in program(stack, "pause", "nobody", code=2)


def test_the_commands_of_the_page_work(stack):
    folder = documented.workspace(stack.folder / "clone")
    (claim,) = stack.claims()
    links = stack.folder / "plugin"
    links.mkdir()
    (links / "kubectl-nodesmith").symlink_to(BIN / "kubenodesmith")
    documented.run("command-line", folder, (stack.cluster.program("kubectl").parent, links, BIN), stack.cluster.kubeconfig,
                   CLAIM=claim["metadata"]["name"], NAMESPACE=manifests.NAMESPACE)


def test_a_replaced_claim_makes_room_for_another(stack):
    (old,) = stack.claims()
    name = old["metadata"]["name"]
    assert "will be replaced" in program(stack, "replace", name)
    wait_for("the word of its claim", lambda: "a person asks for another machine" in program(stack, "explain", f"claim/{name}"))

    def is_replaced():
        claims = stack.claims()
        return [c for c in claims if c["metadata"]["name"] != name and c["status"].get("phase") == "Ready"] and name not in [c["metadata"]["name"] for c in claims]
    wait_for("another machine in its place", is_replaced, 240)
