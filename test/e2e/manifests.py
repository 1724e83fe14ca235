"""The manifests of the end-to-end tests, as a user would write them, with short windows."""

import base64

API = "kubenodesmith.parawell.cloud/v1alpha1"
NAMESPACE = "kubenodesmith"
DHCP_NETWORK = "10.98.0.0/16"  # network of the simulated machines without a static address


def _object(kind, name, spec):
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}


def secret(proxmox, name="proxmox", **overrides):
    data = {"PROXMOX_TOKEN_ID": proxmox.token_id, "PROXMOX_SECRET": proxmox.token_secret, **overrides}
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items() if value is not None}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": NAMESPACE}, "data": encoded}


def provider(proxmox, name="proxmox", **changes):
    settings = {"endpoint": f"{proxmox.url}/api2/json", "tls": {"fingerprintSHA256": proxmox.fingerprint},
                "vmIDRange": {"lower": 1000, "upper": 1999},
                "networkInterfaces": [{"name": "net0", "model": "virtio", "bridge": "vmbr0"}]}
    settings.update(changes)
    return _object("NodeSmithProvider", name, {"type": "proxmox", "credentialsSecretRef": {"name": "proxmox"},
                                               "proxmox": settings})


def pool(name="workers", provider_name="proxmox", limits=None, template=None, **changes):
    spec = {"providerRef": provider_name,
            "limits": {"minNodes": 0, "maxNodes": 5, "cpuCores": 0, "memoryMiB": 0, **(limits or {})},
            "machineTemplate": {"flexible": {"cpuCores": {"min": 1, "max": 8}, "memoryMiB": {"min": 1024, "max": 16384}},
                                **(template or {})},
            "bootstrap": {"method": "CloudInit"},
            "scaleDown": {"stabilizationWindow": "1s", "emptyGracePeriod": "2s", "minNodeAge": "1s"}}
    spec.update(changes)
    return _object("NodeSmithPool", name, spec)


def claim(name, pool_name="workers", cpu_cores=2, memory_mib=4096):
    """Returns a claim as a user applies it by hand."""
    return _object("NodeSmithClaim", name, {"poolRef": pool_name,
                                            "requirements": {"cpuCores": cpu_cores, "memoryMiB": memory_mib}})


def control_plane(*pools, **changes):
    spec = {"pools": list(pools) or ["*"], "batching": {"idleDuration": "200ms", "maxDuration": "1s"}, **changes}
    return _object("NodeSmithControlPlane", "kubenodesmith", spec)


def deployment(name, replicas, cpu="1500m", memory="1Gi", **pod_spec):
    container = {"name": "app", "image": "registry.example/app:1", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "default"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}},
                                  "spec": {"containers": [container], "terminationGracePeriodSeconds": 1, **pod_spec}}}}


def spread(app, topology_key, when_unsatisfiable="DoNotSchedule"):
    """Returns topologySpreadConstraints that spread a deployment's pods evenly over the values of that label."""
    return [{"maxSkew": 1, "topologyKey": topology_key, "whenUnsatisfiable": when_unsatisfiable,
             "labelSelector": {"matchLabels": {"app": app}}}]


def stateful_set(name, replicas, **options):
    made = deployment(name, replicas, **options)
    return {**made, "kind": "StatefulSet", "spec": {**made["spec"], "serviceName": name}}


def everything(proxmox, **pool_changes):
    """Returns a working Secret, provider, pool and control plane."""
    return [secret(proxmox), provider(proxmox), pool(**pool_changes), control_plane()]
