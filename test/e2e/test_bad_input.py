"""Tests that a condition or an exit message answers each mistake of a user and says what to do."""

import json
import subprocess

import manifests
import pytest
from stack import BIN, condition, wait_until


def run_operator(*flags, **environment):
    return subprocess.run([BIN / "kubenodesmith", "run", *flags], capture_output=True, text=True, timeout=120, check=False,
                          env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **environment})


def test_a_missing_kubeconfig_file_ends_with_its_name():
    done = run_operator("--kubeconfig=/nonexistent/config")
    assert done.returncode == 2
    assert "/nonexistent/config" in done.stderr


def test_no_cluster_at_all_ends_with_what_to_give():
    done = run_operator()
    assert done.returncode == 2
    assert "--kubeconfig" in done.stderr


def test_a_kubeconfig_that_is_no_yaml_ends_with_its_name(tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("clusters: [\n")
    done = run_operator(f"--kubeconfig={broken}")
    assert done.returncode == 2
    assert str(broken) in done.stderr


def test_an_unknown_flag_and_a_wrong_address_end_with_the_flag():
    assert "--frobnicate" in run_operator("--frobnicate").stderr
    done = run_operator("--metrics-bind-address=everywhere")
    assert done.returncode == 2
    assert "--metrics-bind-address" in done.stderr and ":8081" in done.stderr


@pytest.mark.parametrize("changes, kind, words", [
    ({"secret": None}, "CredentialsResolved", ["proxmox", "Secret"]),
    ({"secret": {"PROXMOX_SECRET": None}}, "CredentialsResolved", ["PROXMOX_SECRET"]),
    ({"secret": {"PROXMOX_SECRET": "00000000-0000-0000-0000-000000000000"}}, "CredentialsResolved", ["token"]),
    ({"provider": {"endpoint": "https://127.0.0.1:1/api2/json"}}, "Reachable", ["127.0.0.1:1", "spec.proxmox.endpoint"]),
    ({"provider": {"tls": {"fingerprintSHA256": ":".join(["00"] * 32)}}}, "Reachable", ["set spec.proxmox.tls.fingerprintSHA256 to"]),
    ({"provider": {"tls": {}}}, "Reachable", ["certificate", "set spec.proxmox.tls.fingerprintSHA256 to"]),
    ({"provider": {"resourcePool": "k8s"}}, "ConfigurationValid", ["resource pool k8s does not exist", "create it"]),
], ids=["no secret", "no key", "wrong token", "wrong endpoint", "wrong fingerprint", "unknown authority", "no pool"])
def test_a_provider_that_cannot_work_says_why(clean, changes, kind, words):
    stack = clean
    secret = changes.get("secret", {})
    if secret is not None:
        stack.apply(manifests.secret(stack.proxmox, **secret))
    stack.apply(manifests.provider(stack.proxmox, **changes.get("provider", {})), manifests.pool(), manifests.control_plane())
    # The operator may see the provider before its Secret, and then reports that the Secret is missing.
    told = wait_until(f"{kind}=False that names {' and '.join(words)}", lambda: stack.objects("nodesmithproviders")[0], lambda p: condition(p, kind)["status"] == "False"
                      and all(word.lower() in condition(p, kind)["message"].lower() for word in words))
    assert condition(told, "Ready")["status"] == "False"
    assert stack.operator.ready()


def test_a_wrong_token_is_mended_by_a_new_secret(clean):
    stack = clean
    stack.apply(manifests.secret(stack.proxmox, PROXMOX_SECRET="wrong"), manifests.provider(stack.proxmox))
    provider = lambda: stack.objects("nodesmithproviders")[0]
    wait_until("a provider that is refused", provider, lambda p: condition(p, "CredentialsResolved")["status"] == "False"
               and "token" in condition(p, "CredentialsResolved")["message"].lower())
    stack.apply(manifests.secret(stack.proxmox))
    wait_until("a ready provider", provider, lambda p: condition(p, "Ready")["status"] == "True")


def test_a_provider_type_without_its_block_is_refused_by_apply(stack):
    wrong = manifests.provider(stack.proxmox)
    wrong["spec"]["type"] = "redfish"
    done = stack.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(wrong), check=False)
    assert done.returncode != 0
    assert "redfish" in done.stderr


def test_a_control_plane_that_names_a_missing_pool_says_so(clean):
    stack = clean
    stack.apply(manifests.control_plane("nowhere"))
    wait_until("Ready=False", lambda: condition(stack.objects("nodesmithcontrolplanes")[0], "Ready"),
               lambda c: (c["status"], c["reason"]) == ("False", "PoolMissing") and "nowhere" in c["message"])
