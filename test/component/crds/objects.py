"""Builds the smallest valid object of each kind, and changes of it."""

import copy

API = "kubenodesmith.parawell.cloud/v1alpha1"
ABSENT = object()

PROXMOX = {"endpoint": "https://pve.example.org:8006/api2/json"}
VALID = {
    "NodeSmithProvider": {"type": "proxmox", "credentialsSecretRef": {"name": "api"}, "proxmox": PROXMOX},
    "NodeSmithHost": {"providerRef": "rack", "bmc": {"address": "https://10.0.0.17"}},
    "NodeSmithPool": {"providerRef": "homelab", "limits": {}},
    "NodeSmithClaim": {"poolRef": "general"},
    "NodeSmithControlPlane": {},
}


def build(kind, name="valid", changes=None):
    """Builds an object. `changes` maps places ("spec.limits.maxNodes") to values; ABSENT removes the member."""
    document = {"apiVersion": API, "kind": kind, "metadata": {"name": name, "namespace": "kubenodesmith"},
                "spec": copy.deepcopy(VALID[kind])}
    for place, value in (changes or {}).items():
        *parents, last = place.split(".")
        target = document
        for parent in parents:
            target = target.setdefault(parent, {})
        if value is ABSENT:
            del target[last]
        else:
            target[last] = value
    return document
