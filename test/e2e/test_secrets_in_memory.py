"""Tests that a former secret is not in the operator's memory once it is no longer used. These are a revoked bootstrap token,
in every form in which it was written and sent, and replaced credentials of a provider."""

import base64
import re

import manifests
from stack import condition, is_true, wait_for
from test_adversary_csr import silent_machine


def forms_of(secret):
    """Returns the secret as it is in boot data, and as the API server receives and returns it."""
    return (secret.encode(), base64.b64encode(secret.encode()))


def is_in_memory(process, secret):
    with open(f"/proc/{process.pid}/maps") as maps:
        ranges = [re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line) for line in maps]
    with open(f"/proc/{process.pid}/mem", "rb") as memory:
        for found in filter(None, ranges):
            start, end = (int(text, 16) for text in found.groups())
            try:
                memory.seek(start)
                content = memory.read(end - start)
            except (OSError, ValueError, OverflowError):  # unmapped meanwhile, or not readable
                continue
            if any(form in content for form in forms_of(secret)):
                return True
    return False


def token_secrets(stack):
    names = stack.bootstrap_tokens()
    found = [stack.cluster.api("GET", f"/api/v1/namespaces/kube-system/secrets/{name}")["data"] for name in names]
    return [base64.b64decode(data["token-secret"]).decode() for data in found]


def test_a_revoked_token_is_not_in_memory(clean):
    stack = clean
    silent_machine(stack)
    (secret,) = token_secrets(stack)
    stack.cluster.kubectl("delete", "nodesmithpools", "--all", "-n", manifests.NAMESPACE)
    wait_for("the end of the token", lambda: not stack.bootstrap_tokens(), 120)
    wait_for("memory without the token", lambda: not is_in_memory(stack.operator.process, secret), 120)


def test_credentials_that_were_replaced_are_not_in_memory(clean):
    stack = clean
    wrong = "a-secret-that-was-mistyped-0123456789"
    stack.apply(manifests.secret(stack.proxmox, PROXMOX_SECRET=wrong), manifests.provider(stack.proxmox))

    def ready():
        (provider,) = stack.objects("nodesmithproviders")
        return condition(provider, "Ready")
    wait_for("the refusal", lambda: ready().get("status") == "False", 120)
    assert is_in_memory(stack.operator.process, wrong)
    stack.apply(manifests.secret(stack.proxmox))
    wait_for("a provider that is ready", lambda: is_true(stack.objects("nodesmithproviders")[0], "Ready"), 300)
    wait_for("memory without what was wrong", lambda: not is_in_memory(stack.operator.process, wrong), 120)
