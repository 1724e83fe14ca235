"""Tests that new users find the answer to each mistake where they look first, in the words of docs/troubleshooting.md."""

import json
import re
import subprocess
from itertools import groupby

import manifests
import pytest
from stack import BIN, ROOT, Stack, condition, wait_for

FIRST_HOUR = re.search(r"## Mistakes of the first hour\n(.*?)\n## ", (ROOT / "docs/troubleshooting.md").read_text(), re.S).group(1)
ROWS = [re.fullmatch(r"\| (.*?) \| (.*?) \| `(.*)` \|", line).groups() for line in FIRST_HOUR.splitlines()
        if line.startswith("| ") and not line.startswith("| mistake")]
TOLD = {mistake: [(where.split(", "), words) for _, where, words in rows]
        for mistake, rows in groupby(sorted(ROWS, key=lambda row: row[0]), key=lambda row: row[0])}


def objects(proxmox, secret=None, provider=None, pool=None, control_plane=None, pod=None, limits=None, template=None):
    """Returns working objects, except for the changes."""
    pod = pod or {}
    return [manifests.secret(proxmox, **(secret or {})), manifests.provider(proxmox, **(provider or {})),
            manifests.pool(limits=limits, template=template, **(pool or {})),
            control_plane or manifests.control_plane(), manifests.deployment("shop", 1, **pod)]


def with_secret_named(proxmox, name):
    made = objects(proxmox)
    made[1]["spec"]["credentialsSecretRef"]["name"] = name
    return made


REFUSED = "the API server refuses the operator what it needs"
NO_RIGHTS = "the rights of joining machines are not installed"
MISTAKES = {
    "a key of the credentials' Secret is misspelt":
        lambda p: objects(p, secret={"PROXMOX_SECRET": None, "PROXMOX_TOKEN_SECRET": "x"}),
    "the Secret has another name": lambda p: with_secret_named(p, "pve"),
    "the token is wrong or has expired": lambda p: objects(p, secret={"PROXMOX_SECRET": "00000000-0000-0000-0000-000000000000"}),
    "`endpoint` has no path": lambda p: objects(p, provider={"endpoint": "pve.example.org:8006"}),
    "`endpoint` has a wrong port": lambda p: objects(p, provider={"endpoint": "https://127.0.0.1:1/api2/json"}),
    "Proxmox' own certificate, and no `tls`": lambda p: objects(p, provider={"tls": {}}),
    "the template does not exist": lambda p: objects(p, provider={"template": {"name": "debian"}}),
    "a storage does not exist": lambda p: objects(p, provider={"vmOptions": [{"name": "scsi0", "value": "local-zfs:8"}]}),
    "a bridge does not exist":
        lambda p: objects(p, provider={"networkInterfaces": [{"name": "net0", "model": "virtio", "bridge": "vmbr1"}]}),
    "the resource pool does not exist": lambda p: objects(p, provider={"resourcePool": "k8s"}),
    "`nodeWhitelist` names no host that exists": lambda p: objects(p, provider={"nodeWhitelist": ["alfa"]}),
    "`vmIDRange` is used up by other VMs": lambda p: objects(p, provider={"vmIDRange": {"lower": 5000, "upper": 5000}}),
    "the ControlPlane lists a pool that is not there": lambda p: objects(p, control_plane=manifests.control_plane("worker")),
    "no ControlPlane lists the pool": lambda p: objects(p, control_plane=manifests.control_plane("worker")),
    "the ControlPlane is paused": lambda p: objects(p, control_plane=manifests.control_plane(mode="Paused")),
    "the ControlPlane only observes": lambda p: objects(p, control_plane=manifests.control_plane(mode="Observe")),
    REFUSED: lambda p: objects(p),
    NO_RIGHTS: lambda p: objects(p, pool={"bootstrap": {"method": "CloudInit"}}),
    "`apiServerEndpoint` is one that machines cannot reach": lambda p: objects(p, pool={
        "bootstrap": {"method": "CloudInit", "apiServerEndpoint": "127.0.0.1:9"},
        "scaleUp": {"registrationTimeout": "8s", "maxLaunchAttempts": 1, "retry": {"initialBackoff": "10m"}}}),
    "limits are too small": lambda p: objects(p, limits={"cpuCores": 3}, pod={"cpu": "3500m"}),
    "a pod asks for more than any host has": lambda p: objects(p, pod={"cpu": "100"}),
    "a pod's nodeSelector fits no pool": lambda p: objects(p, pod={"nodeSelector": {"disk": "ssd"}}),
    "a pod does not tolerate the pool's taint":
        lambda p: objects(p, template={"taints": [{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]}),
    "a pool sets the zone label itself":
        lambda p: objects(p, template={"labels": {"topology.kubernetes.io/zone": "a"}},
                          pod={"nodeSelector": {"topology.kubernetes.io/zone": "a"}}),
    "minNodes is more than maxNodes": lambda p: objects(p, limits={"minNodes": 6}),
    "a negative number": lambda p: objects(p, limits={"cpuCores": -1}),
    "a field is misspelt": lambda p: objects(p, pool={"scaleDwon": {}}),
    "a field is in the wrong place": lambda p: objects(p, provider={"excludedNodes": ["porsche"]}),
    "the wrong version": lambda p: [{**manifests.pool(), "apiVersion": "kubenodesmith.parawell.cloud/v1beta1"}],
}
# Smaller machines, or machines for other pods, can be created.
STILL_AVAILABLE = {"limits are too small", "a pool sets the zone label itself"}


def refusal_of_tokens():
    """Returns the refusal without the Role for bootstrap tokens, because this operator has an administrator's rights."""
    rules = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"]}],
             "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}}}
    policy = {"matchConstraints": rules, "validations": [
        {"expression": "false", "message": "bootstrap tokens are not for kubenodesmith"}]}
    api = "admissionregistration.k8s.io/v1"
    return [{"apiVersion": api, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "tokens"}, "spec": policy},
            {"apiVersion": api, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "tokens"},
             "spec": {"policyName": "tokens", "validationActions": ["Deny"]}}]


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """Provides a foreign template that has VMID 5000."""
    world = {"machines": [{"vmid": 5000, "node": "porsche", "config": {"name": "other", "template": "1"}}]}
    with Stack(tmp_path_factory.mktemp("stack"), world) as running:
        running.install_crds()
        running.operator.start().wait_ready()
        yield running


def takes_tokens(stack):
    """Reports whether the API server would accept one more Secret. It applies policies some seconds after they are made or
    deleted."""
    return stack.cluster.kubectl("create", "secret", "generic", "x", "-n", "kube-system", "--dry-run=server", check=False).returncode == 0


def without_rights_of_joining(stack):
    """Starts the operator without the right. It asks for the rights of tokens when it starts, and rarely afterwards."""
    stack.operator.stop()
    stack.cluster.kubectl("delete", "-f", ROOT / "config/rbac/bootstrap.yaml")
    wait_for("the end of the rights", lambda: not stack.tokens_may_join())
    stack.operator.start().wait_ready()
    yield
    stack.operator.stop()
    stack.cluster.kubectl("apply", "--server-side", "-f", ROOT / "config/rbac/bootstrap.yaml")
    wait_for("the rights", stack.tokens_may_join)
    stack.operator.start().wait_ready()


@pytest.fixture
def surroundings(stack, mistake):
    """Sets up the faults of the cluster itself from the start, as opposed to those of our objects."""
    if mistake == NO_RIGHTS:
        yield from without_rights_of_joining(stack)
        return
    if mistake != REFUSED:
        yield
        return
    apply(stack, refusal_of_tokens())
    wait_for("the refusal of tokens", lambda: not takes_tokens(stack))
    yield
    for kind in ("validatingadmissionpolicybinding", "validatingadmissionpolicy"):
        stack.cluster.kubectl("delete", kind, "tokens")
    wait_for("the end of the refusal", lambda: takes_tokens(stack))


def describe(stack, kind, *name, namespace=manifests.NAMESPACE):
    """Describes an object. Returns nothing if it is gone before kubectl reads it, as a failed claim may be."""
    return stack.cluster.kubectl("describe", kind, *name, "-n", namespace, check=False).stdout


def explained(stack):
    pods = stack.pods()
    if not pods:
        return ""
    done = subprocess.run([BIN / "kubenodesmith", "explain", "pod", pods[0]["metadata"]["name"], "--kubeconfig",
                           stack.cluster.kubeconfig], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def decided(stack):
    """Returns what would be decided now, without the Events."""
    return explained(stack).split("Events of the operator:")[0]


SPEAKERS = {
    "provider": [lambda stack: describe(stack, "nsprovider", "proxmox")],
    "pool": [lambda stack: describe(stack, "nspool", "workers")],
    "control plane": [lambda stack: describe(stack, "nscp")],
    "claim": [lambda stack: describe(stack, "nsclaim")],
    "pod": [lambda stack: describe(stack, "pods", namespace="default"), decided],
    "explained pod": [decided],
}


# kubectl get shows each of them here, and this column is not True then.
ROWS_OF = {"provider": ("nsprovider", "READY"), "pool": ("nspool", "AVAILABLE"), "control plane": ("nscp", "READY"), "claim": ("nsclaim", "READY")}


def columns(stack, kind):
    """Returns the first row of kubectl get -o wide by the names of its columns. Blank or missing cells are empty."""
    header, row = (stack.cluster.kubectl("get", kind, "-n", manifests.NAMESPACE, "-o", "wide").splitlines() + ["", ""])[:2]
    names = [(found.group(), found.start()) for found in re.finditer(r"\S+(?: \S+)*", header)]
    ends = [start for _, start in names[1:]] + [None]
    return {name: row[start:end].strip() for (name, start), end in zip(names, ends)}


def is_seen_at_first_sight(stack, speaker, words):
    """Reports whether the row is not True, and its REASON is that of a condition with these words."""
    kind, state = ROWS_OF[speaker]
    found = json.loads(stack.cluster.kubectl("get", kind, "-n", manifests.NAMESPACE, "-o", "json"))["items"]
    reasons = {c["reason"] for c in found[0]["status"]["conditions"] if words in c["message"] and c["status"] != "True"} if found else ()
    if not reasons:
        return False
    row = columns(stack, kind)
    return row.get(state) in ("False", "Unknown") and row["REASON"] in reasons


def apply(stack, made):
    done = stack.cluster.kubectl("apply", "-f", "-", stdin="\n---\n".join(json.dumps(m) for m in made), check=False)
    return done.stdout + done.stderr


def test_every_mistake_of_the_documentation_is_made():
    assert set(TOLD) == set(MISTAKES)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_with_cause_and_remedy(clean, surroundings, mistake):
    stack = clean
    answer = apply(stack, MISTAKES[mistake](stack.proxmox))
    for speakers, words in TOLD[mistake]:
        if speakers == ["apply"]:
            assert words in answer
            continue
        for speaker in speakers:
            for say in SPEAKERS[speaker]:
                wait_for(f"{speaker} to say: {words}", lambda say=say, words=words: words in say(stack))
        for speaker in ROWS_OF.keys() & set(speakers):
            if mistake not in STILL_AVAILABLE:
                wait_for(f"kubectl get of the {speaker} to show it: {words}",
                         lambda speaker=speaker, words=words: is_seen_at_first_sight(stack, speaker, words))
    # These are the columns READY and REASON of kubectl get nsclaim -o wide.
    wait_for("a reason in each claim's columns", lambda: all(condition(claim, "Ready").get("reason") for claim in stack.claims()))
