"""Tests that foreign YAML ends no program. It is refused with its place, and its author gets a message."""

import subprocess

import pytest

import manifests
import proxmox_world
from stack import BIN, Stack, condition, wait_for

BOMB = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1},' * 10}]\n" for n in range(1, 10))
ATTACKS = {
    "alias within its anchor": ("a: &a [*a]\n", "the alias is part of the value that it refers to"),
    "alias bomb": (BOMB, "more than"),
    "bomb of merge keys": (BOMB.replace("[x]", "{k: x}").replace("[*", "{<<: [*").replace("]\n", "]}\n"), "more than"),
    "deep lists": ("[" * 50_000 + "]" * 50_000, "nested more than 100 deep"),
    "an anchor twice": ("a: &a 1\nb: &a 2\n", "appears twice"),
    "list without end": ("[" + "a," * 90_000, "a key must be a scalar"),
}


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack"), proxmox_world.world()) as running:
        running.install_crds()
        running.operator.start().wait_ready()
        yield running


@pytest.mark.parametrize("text, words", ATTACKS.values(), ids=ATTACKS)
@pytest.mark.parametrize("arguments", [["plan", "-f"], ["migrate", "kubenodesmith"], ["run", "--kubeconfig"]],
                         ids=["plan", "migrate", "kubeconfig"])
def test_a_file_is_refused_with_its_place(tmp_path, arguments, text, words):
    file = tmp_path / "attack.yaml"
    file.write_text(text)
    done = subprocess.run([BIN / "kubenodesmith", *arguments, file], capture_output=True, text=True, timeout=60, check=False,
                          env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    assert done.returncode in (1, 2), done
    assert "line " in done.stderr and "column " in done.stderr, done.stderr
    assert words in done.stderr, done.stderr


def test_user_data_in_a_secret_is_refused_with_its_place_and_the_operator_lives(clean):
    stack = clean
    provider = manifests.provider(stack.proxmox, template={"name": proxmox_world.SHARED_TEMPLATE},
                                  cloudInit={"userDataSecretRef": {"name": "own", "key": "user-data"}})
    del provider["spec"]["proxmox"]["networkInterfaces"]
    stack.apply(manifests.secret(stack.proxmox), provider, manifests.control_plane())
    process = stack.operator.process.pid
    for number, (text, words) in enumerate(ATTACKS.values()):
        own = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "own", "namespace": manifests.NAMESPACE},
               "stringData": {"user-data": "#cloud-config\n" + text}}
        stack.apply(own, manifests.pool(f"pool-{number}", limits={"minNodes": 1}))

        def told(words=words):
            found = [condition(claim, "Ready") for claim in stack.claims()]
            return [ready for ready in found if words in ready.get("message", "")]
        ready = wait_for("a claim that says what is wrong", told)[0]
        assert (ready["status"], ready["reason"]) == ("False", "BootDataMissing")
        assert "Secret kubenodesmith/own, key user-data: " in ready["message"] and "line " in ready["message"]
        assert stack.operator.ready() and stack.operator.process.pid == process and stack.operator.process.poll() is None
        stack.cluster.kubectl("delete", "nodesmithpools", "--all", "-n", manifests.NAMESPACE)
        wait_for("the end of the claims", lambda: not stack.claims())
