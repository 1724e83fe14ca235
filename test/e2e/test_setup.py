"""An administrator lets `setup proxmox` prepare a Proxmox cluster. The token that it makes is enough for a provider."""

import base64
import hashlib
import json
import os
import pty
import re
import select
import ssl
import subprocess
import time
import urllib.parse
import urllib.request

import pytest
import yaml

import manifests
from stack import BIN, Stack, is_true, wait_for

PASSWORD, CODE, KEY = "correct horse battery", "314159", "aaaa-bbbb-cccc-dddd"
URL, IMAGE = "https://images.example/debian.qcow2", "debian"
CHECKSUM = "sha512:" + hashlib.sha512(IMAGE.encode()).hexdigest()
USER = "kubenodesmith@pve"
TOKEN = f"{USER}!operator"


def world():
    admins = [{"id": "root@pam", "password": PASSWORD},
              {"id": "coded@pve", "password": PASSWORD, "totp": CODE, "recoveryKeys": [KEY]},
              {"id": "keyed@pve", "password": PASSWORD, "webauthn": True},
              {"id": "helper@pve", "password": PASSWORD}]
    return {"hosts": [{"name": "pve1", "cpus": 32, "memoryMiB": 131072}],
            "storages": [{"id": "local", "content": ["iso", "import", "snippets"]},
                         {"id": "local-lvm", "type": "lvmthin", "content": ["images"], "totalGiB": 1000}],
            "roles": {"Helper": ["Sys.Audit", "VM.Audit", "Datastore.Audit", "SDN.Audit"]}, "users": admins, "tokens": [], "pools": [],
            "acl": [{"path": "/", "user": admin["id"], "role": "Administrator"} for admin in admins[1:3]]
            + [{"path": "/", "user": "helper@pve", "role": "Helper"}],
            "web": [{"url": URL, "data": IMAGE, "diskGiB": 3}], "durations": {"boot": 1}}


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack"), world()) as running:
        running.install_crds()
        yield running


def command(stack, *argv):
    made_of = ["--image", URL, "--checksum", CHECKSUM]
    return [BIN / "kubenodesmith", "setup", "proxmox", "--endpoint", stack.proxmox.url, *made_of, *argv]


def setup(stack, *argv, answers=(PASSWORD,), pinned=True, code=0):
    """Runs the command without a terminal. The answers are the lines of standard input."""
    pin = ["--fingerprint", stack.proxmox.fingerprint] if pinned else []
    done = subprocess.run(command(stack, "--password-stdin", *pin, *argv), input="".join(f"{line}\n" for line in answers),
                          capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    for secret in (PASSWORD, CODE, KEY):
        assert secret not in done.stdout + done.stderr
    return done


def api(stack, path):
    """Reads as root, with a ticket."""
    context = ssl._create_unverified_context()  # a simulator on loopback, with its own certificate
    login = urllib.parse.urlencode({"username": "root@pam", "password": PASSWORD}).encode()
    with urllib.request.urlopen(f"{stack.proxmox.url}/api2/json/access/ticket", login, context=context) as answer:
        ticket = json.load(answer)["data"]["ticket"]
    request = urllib.request.Request(f"{stack.proxmox.url}/api2/json{path}",
                                     headers={"Cookie": f"PVEAuthCookie={urllib.parse.quote(ticket)}"})
    with urllib.request.urlopen(request, context=context) as answer:
        return json.load(answer)["data"]


def changes(stack):
    return [f"{r['method']} {r['path']}" for r in stack.proxmox.requests() if r["method"] != "GET" and r["path"] != "/access/ticket"]


def rights(stack):
    return {(e["path"], e["ugid"], e["roleid"]) for e in api(stack, "/access/acl")}


def documents(text):
    return {item["kind"]: item for item in yaml.safe_load_all(text)}


def test_an_unknown_certificate_is_named_and_never_trusted_unasked(stack):
    said = setup(stack, "--yes", pinned=False, code=2).stderr
    assert "certificate was refused" in said and f"--fingerprint {stack.proxmox.fingerprint}" in said
    wrong = setup(stack, "--yes", "--fingerprint", ":".join(["AB"] * 32), pinned=False, code=2).stderr
    assert "not the one configured" in wrong
    # Before the certificate is trusted, nobody sends a password.
    assert stack.proxmox.requests() == []


def test_nothing_changes_without_consent_and_print_shows_the_commands(stack):
    said = setup(stack, code=2).stderr
    assert "local-lvm" in said and "pve1" in said and "vmbr0" in said and "give --yes" in said
    printed = setup(stack, "--print").stdout
    assert f"pveum user add {USER}\n" in printed and printed.endswith(f"pveum user token add {USER} operator --privsep 0\n")
    assert "acl modify / " not in printed and "Sys.Modify" not in printed
    assert changes(stack) == []


def test_a_login_that_fails_says_why(stack):
    assert "authentication failure" in setup(stack, "--yes", answers=("wrong",), code=2).stderr
    for administrator, answers, why in (("coded@pve", (PASSWORD,), "a TOTP code or a recovery key"),
                                        ("coded@pve", (PASSWORD, "000000"), "authentication failure"),
                                        ("keyed@pve", (PASSWORD, CODE), "needs a browser"),
                                        ("root", (PASSWORD,), "names no realm")):
        said = setup(stack, "--yes", "--admin", administrator, answers=answers, code=2).stderr
        assert why in said, said
    said = setup(stack, "--yes", "--admin", "helper@pve", code=2).stderr
    assert "helper@pve lacks" in said and "Sys.Modify on /access" in said and "nothing was changed" in said
    assert changes(stack) == []


@pytest.mark.parametrize("factor", [CODE, KEY])
def test_a_second_factor_is_the_second_line(stack, factor):
    assert "pveum user add" in setup(stack, "--print", "--admin", "coded@pve", answers=(PASSWORD, factor)).stdout


def test_the_choices_are_listed_where_there_are_several(stack):
    said = setup(stack, "--storage", "local-lmv", "--yes", code=2).stderr
    assert "there are local-lvm" in said and "did you mean local-lvm" in said
    assert "no online host has it" in setup(stack, "--bridge", "vmbr7", "--yes", code=2).stderr
    without = [BIN / "kubenodesmith", "setup", "proxmox", "--endpoint", stack.proxmox.url, "--fingerprint", stack.proxmox.fingerprint, "--password-stdin"]
    done = subprocess.run(without, input=PASSWORD + "\n", capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "give --template VMID" in done.stderr
    assert changes(stack) == []


def test_the_token_and_the_manifests_lead_to_a_ready_provider_and_a_second_time_nothing_happens(stack):
    before = rights(stack)
    done = setup(stack, "--yes", "--format", "Kubeadm")
    made = documents(done.stdout)
    assert set(made) == {"Secret", "NodeSmithProvider", "NodeSmithPool"}
    secret = made["Secret"]["stringData"]
    assert secret["PROXMOX_TOKEN_ID"] == TOKEN and secret["PROXMOX_SECRET"] not in done.stderr
    # The cluster's CA also holds after a renewal of the host's certificate.
    assert set(made["NodeSmithProvider"]["spec"]["proxmox"]["tls"]) == {"caBundle"}
    assert before < rights(stack) and {who for _, who, _ in rights(stack) - before} == {USER}

    stack.apply(*made.values(), manifests.control_plane("workers"))
    stack.operator.start().wait_ready()
    wait_for("a Ready provider", lambda: is_true(stack.objects("nodesmithproviders")[0], "Ready"), 180)

    so_far = changes(stack)
    again = setup(stack, "--yes")
    assert "Nothing is missing in Proxmox" in again.stderr and "--new-token" in again.stderr
    assert set(documents(again.stdout)) == {"NodeSmithProvider", "NodeSmithPool"}
    mine = [change for change in changes(stack)[len(so_far):] if change.split()[1].startswith(("/access", "/pools"))]
    assert mine == []


def test_another_token_replaces_the_one_in_the_secret_and_takes_none_away(stack):
    kubeconfig = ["--kubeconfig", str(stack.cluster.kubeconfig)]
    assert "exists and is kept as it is" in setup(stack, "--yes", "--apply", *kubeconfig).stderr
    said = setup(stack, "--yes", "--new-token", "--apply", *kubeconfig).stderr
    assert f"Secret {manifests.NAMESPACE}/proxmox updated" in said and f"pveum user token remove {USER} operator" in said
    tokens = {token["tokenid"] for token in api(stack, f"/access/users/{USER}/token")}
    assert tokens == {"operator", "operator-2"}
    stored = stack.cluster.kubectl("get", "secret", "proxmox", "-n", manifests.NAMESPACE, "-o", "jsonpath={.data.PROXMOX_TOKEN_ID}")
    assert base64.b64decode(stored).decode() == f"{TOKEN}-2"
    wait_for("a provider that stays Ready", lambda: is_true(stack.objects("nodesmithproviders")[0], "Ready"))


def test_a_file_with_the_secret_is_private_and_new(stack, tmp_path):
    file = tmp_path / "proxmox.yaml"
    setup(stack, "--yes", "--token", "filed", "--file", str(file))
    assert file.stat().st_mode & 0o077 == 0 and "PROXMOX_SECRET" in file.read_text()
    assert "File exists" in setup(stack, "--yes", "--token", "filed", "--new-token", "--file", str(file), code=2).stderr
    other = tmp_path / "other.yaml"
    setup(stack, "--yes", "--file", str(other), answers=("wrong",), code=2)
    assert not other.exists()


def test_a_person_at_a_terminal_is_asked_and_the_password_is_not_shown(stack):
    master, terminal = pty.openpty()
    process = subprocess.Popen(command(stack, "--token", "typed"), stdin=terminal, stderr=terminal, stdout=subprocess.PIPE, text=True)
    os.close(terminal)
    shown = ""
    answers = [(r"Is it the same\? \[y/N\] $", "y\n"), (r"Password of root@pam at \S+: $", "x\x15" + PASSWORD + "!\x7f\n"), (r"Make these changes\? \[y/N\] $", "y\n")]
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if not select.select([master], [], [], 1)[0]:
            continue
        try:
            shown += os.read(master, 4096).decode().replace("\r\n", "\n")
        except OSError:  # the program has ended
            break
        if answers and re.search(answers[0][0], shown):
            os.write(master, answers.pop(0)[1].encode())
    written = process.stdout.read()
    assert process.wait(20) == 0, shown
    assert not answers and stack.proxmox.fingerprint in shown and PASSWORD not in shown
    assert documents(written)["Secret"]["stringData"]["PROXMOX_TOKEN_ID"] == f"{USER}!typed"
