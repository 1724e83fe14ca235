"""Tests that fields which a manifest leaves out get their documented defaults."""

import json

import pytest

from conftest import NAMESPACE
from objects import build


def created(cluster, kind, changes=None):
    return json.loads(cluster.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-",
                                      stdin=json.dumps(build(kind, changes=changes))))["spec"]


@pytest.mark.parametrize("kind", ["NodeSmithProvider", "NodeSmithHost", "NodeSmithPool", "NodeSmithControlPlane", "NodeSmithClaim"])
def test_what_no_operator_has_seen_says_so_to_tools_that_wait_for_it(clean, kind):
    """kstatus (Flux, kpt) takes an object for current whose status says nothing."""
    created = json.loads(clean.kubectl("create", "-o", "json", "-f", "-", stdin=json.dumps(build(kind))))
    name = created["metadata"]["name"]
    seen = json.loads(clean.kubectl("get", kind, name, "-n", NAMESPACE, "-o", "json"))
    assert created["status"]["observedGeneration"] == seen["status"]["observedGeneration"] == -1
    assert "conditions" not in seen["status"] and seen["metadata"]["generation"] == 1


def test_a_pool(cluster):
    assert created(cluster, "NodeSmithPool") == {
        "providerRef": "homelab",
        "poolLabelKey": "topology.kubenodesmith.io/pool",
        "deletionPolicy": "Delete",
        "weight": 0,
        "limits": {"minNodes": 0, "maxNodes": 0, "cpuCores": 0, "memoryMiB": 0},
        "machineTemplate": {"architecture": "amd64", "systemReserved": {"cpuMillicores": 100, "memoryMiB": 256}},
        "scaleUp": {
            "stabilizationWindow": "0s", "batchSize": 0, "maxConcurrent": 0, "provisionTimeout": "10m",
            "registrationTimeout": "15m", "initializationTimeout": "15m", "maxLaunchAttempts": 3, "keepFailed": 0,
            "undeclaredTaintTimeout": "5m",
            "retry": {"initialBackoff": "10s", "maxBackoff": "30m"},
            "headroom": {"cpuCores": 0, "memoryMiB": 0, "nodes": 0}},
        "scaleDown": {
            "policy": "WhenEmptyOrUnderutilized", "stabilizationWindow": "5m", "unneededDuration": "10m",
            "emptyGracePeriod": "2m", "minNodeAge": "10m", "utilizationThresholdPercent": 50, "priceThresholdPercent": 0, "headroomPercent": 20,
            "maxConcurrent": 1, "drainTimeout": "10m", "drainTimeoutAction": "Abort", "volumeDetachTimeout": "2m",
            "delayAfterDelete": "0s", "delayAfterFailure": "10m"},
        "disruption": {
            "drift": "Replace", "expireAfter": "Never", "localVolumes": "Keep", "emptyDir": "Evict",
            "repair": {"notReadyFor": "10m", "maxUnhealthyPercent": 20, "action": "Replace"},
            "budgets": [{"nodes": "10%"}]},
    }


def test_a_pool_with_optional_parts(cluster):
    room = {"local": "50Gi", "fast": 0}
    spec = created(cluster, "NodeSmithPool", {"spec.bootstrap": {}, "spec.machineTemplate.flexible": {},
                                              "spec.machineTemplate.storageCapacity": room, "spec.disruption.budgets": [{}]})
    assert spec["machineTemplate"]["storageCapacity"] == room
    assert spec["bootstrap"] == {
        "method": "None", "format": "Kubeadm", "delivery": "ISO", "tokenTTL": "30m", "approval": "Operator", "userData": "CloudConfig",
        "readyCommand": ["systemctl", "is-system-running", "--wait"], "acceptDegraded": True, "execTimeout": "5m"}
    assert spec["machineTemplate"]["flexible"] == {"cpuCores": {"min": 1, "max": 64, "step": 1},
                                                   "memoryMiB": {"min": 1024, "max": 262144, "step": 512}}
    assert spec["disruption"]["budgets"] == [{"nodes": "10%"}]


def test_a_control_plane_with_networks(cluster):
    networks = ["10.0.4.0/24", "0.0.0.0/0", "fd00:1::/64"]
    spec = created(cluster, "NodeSmithControlPlane", {"spec.bootstrap": {"servingNetworks": networks}})
    assert spec["bootstrap"]["servingNetworks"] == networks
    assert "servingNetworks" not in created(cluster, "NodeSmithControlPlane", {"spec.bootstrap": {}})["bootstrap"]


def test_a_pool_that_tells_its_kubelets_something(cluster):
    spec = created(cluster, "NodeSmithPool", {"spec.bootstrap": {"kubelet": {}}})
    assert spec["bootstrap"]["kubelet"] == {"maxPods": 0, "cloudProviderExternal": False}


def test_a_proxmox_provider(cluster):
    spec = created(cluster, "NodeSmithProvider", {"spec.proxmox.template": {"name": "debian"}, "spec.proxmox.cloudInit": {}})
    assert spec["orphanGracePeriod"] == "5m"
    proxmox = spec["proxmox"]
    assert proxmox["managedNodeTag"] == "kubenodesmith-managed"
    assert proxmox["vmMemOverheadMiB"] == 0
    assert proxmox["providerIDFormat"] == "Cluster"
    assert proxmox["tls"] == {"insecureSkipVerify": False}
    assert proxmox["placement"] == {
        "strategy": "Spread", "minAvailable": {"cpuCores": 0, "memoryMiB": 0}, "cpuAllocationPercent": 400,
        "memoryAllocationPercent": 100, "storageAllocationPercent": 100, "storageReservedPercent": 5,
        "hostReserved": {"cpuCores": 1, "memoryMiB": 2048},
        "maxConcurrentClonesPerNode": 2, "zoneLabel": "topology.kubernetes.io/zone"}
    assert proxmox["template"] == {"name": "debian", "cloneMode": "Auto", "localStorage": False, "bootDisk": {"device": "scsi0"}}
    assert proxmox["cloudInit"] == {"upgradePackages": False, "network": {"mode": "DHCP", "prefixLength": 24, "interface": "net0"}}
    assert proxmox["guestAgent"] == {"readyTimeout": "5m", "pollInterval": "2s"}


def test_a_redfish_provider(cluster):
    spec = created(cluster, "NodeSmithProvider", {"spec": {"type": "redfish", "redfish": {}}})
    assert spec["redfish"] == {
        "boot": {"method": "Disk", "mode": "UEFI"},
        "powerOff": {"mode": "GracefulThenForce", "gracefulTimeout": "3m", "ejectMedia": True, "wipe": "None"},
        "timeouts": {"connect": "10s", "request": "60s", "power": "2m"},
        "selection": "BestFit",
        "concurrency": {"global": 64, "perBMC": 1, "powerOns": 16},
        "polling": {"idle": "10m", "active": "2m"}, "hostLock": {"field": "None"}}


def test_a_host(cluster):
    spec = created(cluster, "NodeSmithHost", {"spec.capacity": {}})
    assert spec["priority"] == 0
    assert spec["maintenance"] is False
    assert spec["capacity"] == {"cpuCores": 0, "memoryMiB": 0}


def test_a_claim(cluster):
    assert created(cluster, "NodeSmithClaim") == {
        "poolRef": "general", "requirements": {"cpuCores": 0, "memoryMiB": 0}, "deletionPolicy": "Delete"}


def test_a_control_plane(cluster):
    assert created(cluster, "NodeSmithControlPlane") == {
        "mode": "Active", "ignorePodsBelowPriority": -10, "nominate": True, "preferences": "WhereFree",
        "rateLimits": {"maxCreationsPerHour": 0, "maxRemovalsPerHour": 0},
        "batching": {"idleDuration": "1s", "maxDuration": "10s"},
        "limits": {"maxNodes": 0, "cpuCores": 0, "memoryMiB": 0},
        "health": {"maxUnreadyPercent": 45, "okUnreadyCount": 3}}
