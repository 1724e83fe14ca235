"""Tests that `kubectl apply` refuses a wrong manifest with a message that says what would be right."""

import json
import re

import pytest
import yaml

from conftest import ROOT
from objects import ABSENT, PROXMOX, build

REDFISH = {"spec.type": "redfish", "spec.proxmox": ABSENT}
TEMPLATE = "spec.proxmox.template"
IMAGE = {"url": "https://images.example/debian-12.qcow2", "checksum": "sha256:" + "0f" * 32, "storage": "local-lvm"}
TLS = "spec.proxmox.tls"
NETWORK = "spec.proxmox.cloudInit.network"
MACHINE = "spec.machineTemplate"
BUDGETS = "spec.disruption.budgets"
DURATION = "must be a duration such as 30s, 5m or 1h30m"
POSITIVE = "must be a duration above 0"
INTERFACE = {"name": "net0", "model": "virtio", "bridge": "vmbr0"}


def interface(**changes):
    return {"spec.proxmox.networkInterfaces": [{**INTERFACE, **changes}]}


PLACES = ["node-role.kubernetes.io/control-plane", "node-restriction.kubernetes.io/kubenodesmith-operator"]
STATED = "node-restriction.kubernetes.io/kubenodesmith-claim"


PROVIDER = [
    ("an unknown type", {"spec.type": "vsphere"}, 'supported values: "proxmox", "redfish"'),
    ("no type", {"spec.type": ABSENT}, "spec.type: Required value"),
    ("type proxmox without its block", {"spec.proxmox": ABSENT}, "type proxmox needs the block spec.proxmox"),
    ("type redfish without its block", REDFISH, "type redfish needs the block spec.redfish"),
    ("both blocks", {"spec.redfish": {}}, "only the block that spec.type names may be set"),
    ("type proxmox without credentials", {"spec.credentialsSecretRef": ABSENT}, "type proxmox needs credentialsSecretRef"),
    ("credentials without a name", {"spec.credentialsSecretRef": {}}, "spec.credentialsSecretRef.name: Required value"),
    ("no endpoint", {"spec.proxmox": {}}, "spec.proxmox.endpoint: Required value"),
    ("an endpoint without a scheme", {"spec.proxmox.endpoint": "pve:8006/api2/json"}, "must be a URL such as https://pve.example.org:8006/api2/json"),
    ("an endpoint without the API's path", {"spec.proxmox.endpoint": "https://pve:8006"}, "must be a URL such as https://pve.example.org:8006/api2/json"),
    ("an endpoint with credentials", {"spec.proxmox.endpoint": "https://root:x@pve:8006/api2/json"}, "must be a URL such as"),
    ("a further endpoint that is none", {"spec.proxmox.endpoints": ["pve2"]}, "must be a URL such as"),
    ("a further endpoint twice", {"spec.proxmox.endpoints": [PROXMOX["endpoint"]] * 2}, "Duplicate value"),
    ("a CA bundle that is none", {f"{TLS}.caBundle": "hello"}, "must hold PEM certificates"),
    ("a fingerprint that is none", {f"{TLS}.fingerprintSHA256": "ab:cd"}, "must be 32 hexadecimal pairs separated by colons"),
    ("a fingerprint that is not to be checked", {f"{TLS}.fingerprintSHA256": ":".join(["AB"] * 32), f"{TLS}.insecureSkipVerify": True}, "insecureSkipVerify excludes caBundle and fingerprintSHA256"),
    ("a VMID below Proxmox' first", {"spec.proxmox.vmIDRange": {"lower": 99, "upper": 200}}, "should be greater than or equal to 100"),
    ("a VMID above Proxmox' last", {"spec.proxmox.vmIDRange": {"lower": 100, "upper": 1000000000}}, "should be less than or equal to 999999999"),
    ("a VMID range upside down", {"spec.proxmox.vmIDRange": {"lower": 200, "upper": 100}}, "upper must not be less than lower"),
    ("half a VMID range", {"spec.proxmox.vmIDRange": {"lower": 200}}, "spec.proxmox.vmIDRange.upper: Required value"),
    ("a tag that Proxmox refuses", {"spec.proxmox.managedNodeTag": "My Tag"}, "must be one Proxmox tag"),
    ("two tags in one", {"spec.proxmox.managedNodeTag": "a;b"}, "must be one Proxmox tag"),
    ("an empty tag", {"spec.proxmox.managedNodeTag": ""}, "must be one Proxmox tag"),
    ("a region that is no value of a label", {"spec.proxmox.region": "at home"}, "must be the value of a label, such as home-1"),
    ("providerIDs by region without a region", {"spec.proxmox.providerIDFormat": "Region"}, "providerIDFormat Region needs region"),
    ("an unknown format of providerIDs", {"spec.proxmox.providerIDFormat": "UUID"}, 'supported values: "Cluster", "Region"'),
    ("negative memory overhead", {"spec.proxmox.vmMemOverheadMiB": -1}, "should be greater than or equal to 0"),
    ("an interface without a bridge", {"spec.proxmox.networkInterfaces": [{"name": "net0", "model": "virtio"}]}, "bridge: Required value"),
    ("an interface that Proxmox does not have", interface(name="eth0"), "must be net0 to net31"),
    ("interface net32", interface(name="net32"), "must be net0 to net31"),
    ("the same interface twice", {"spec.proxmox.networkInterfaces": [INTERFACE, INTERFACE]}, "Duplicate value"),
    ("a VLAN tag out of range", interface(vlanTag=4095), "should be less than or equal to 4094"),
    ("a MAC prefix of six octets", interface(macPrefix="02:00:00:00:00:00"), "must be one to five hexadecimal octets"),
    ("the same VM option twice", {"spec.proxmox.vmOptions": [{"name": "cpu", "value": "host"}, {"name": "cpu", "value": "max"}]}, "Duplicate value"),
    ("a VM option without a value", {"spec.proxmox.vmOptions": [{"name": "cpu"}]}, "value: Required value"),
    ("an unknown strategy", {"spec.proxmox.placement.strategy": "Random"}, 'supported values: "Spread", "MaxMemory", "MaxCPU", "Balanced", "RoundRobin"'),
    ("a zone label that is none", {"spec.proxmox.placement.zoneLabel": "no spaces"}, 'must be a label key such as topology.kubernetes.io/zone, or ""'),
    ("no memory to allocate", {"spec.proxmox.placement.memoryAllocationPercent": 0}, "should be greater than or equal to 1"),
    ("no storage to allocate", {"spec.proxmox.placement.storageAllocationPercent": 0}, "should be greater than or equal to 1"),
    ("a storage that is all reserved", {"spec.proxmox.placement.storageReservedPercent": 91}, "should be less than or equal to 90"),
    ("a template without any name", {TEMPLATE: {}}, "exactly one of name, vmid, matchTags and image must be set"),
    ("a template with two names", {TEMPLATE: {"name": "debian", "vmid": 9000}}, "exactly one of name, vmid, matchTags and image must be set"),
    ("a template with a name and an image", {TEMPLATE: {"name": "debian", "image": IMAGE}}, "exactly one of name, vmid, matchTags and image must be set"),
    ("an image with local storage", {TEMPLATE: {"image": IMAGE, "localStorage": True}}, "leave localStorage out"),
    ("an image of no web page", {TEMPLATE: {"image": {**IMAGE, "url": "ftp://images.example/debian.qcow2"}}}, "must be an http or https URL of a file"),
    ("an image with a user in its URL", {TEMPLATE: {"image": {**IMAGE, "url": "https://me:secret@images.example/debian.qcow2"}}}, "without user, query and fragment"),
    ("an image with a query in its URL", {TEMPLATE: {"image": {**IMAGE, "url": "https://images.example/debian.qcow2?token=a.raw"}}}, "without user, query and fragment"),
    ("a compressed image", {TEMPLATE: {"image": {**IMAGE, "url": "https://images.example/debian.raw.xz"}}}, "must end with .qcow2, .raw, .vmdk or .img"),
    ("an image with a checksum of no kind", {TEMPLATE: {"image": {**IMAGE, "checksum": "ab" * 32}}}, "must be sha256:, sha384: or sha512:"),
    ("an image with half a checksum", {TEMPLATE: {"image": {**IMAGE, "checksum": "sha512:" + "ab" * 32}}}, "must be sha256:, sha384: or sha512:"),
    ("a linked clone on another storage", {TEMPLATE: {"name": "debian", "cloneMode": "Linked", "storage": "ceph"}}, "storage and format need a full clone"),
    ("an unknown disk format", {TEMPLATE: {"name": "debian", "format": "vdi"}}, 'supported values: "raw", "qcow2", "vmdk"'),
    ("a boot disk that is none", {TEMPLATE: {"name": "debian", "bootDisk": {"device": "sda"}}}, "must be a disk such as scsi0"),
    ("a user that is none", {"spec.proxmox.cloudInit.user": "Root User"}, "must be a Unix user name"),
    ("static addresses without any", {f"{NETWORK}.mode": "Static"}, "mode Static needs addresses"),
    ("addresses with DHCP", {f"{NETWORK}.addresses": ["10.0.4.50"]}, "addresses need mode Static"),
    ("an address that is none", {NETWORK: {"mode": "Static", "addresses": ["10.0.4.500"]}}, "must be an address such as 10.0.4.50 or a range such as 10.0.4.50-10.0.4.99"),
    ("a network instead of addresses", {NETWORK: {"mode": "Static", "addresses": ["10.0.4.0/24"]}}, "must be an address such as 10.0.4.50 or a range"),
    ("a gateway that is none", {f"{NETWORK}.gateway": "router"}, "must be an address such as 10.0.4.1"),
    ("a name server that is none", {f"{NETWORK}.nameservers": ["dns.example.org"]}, "must be an address such as 10.0.4.1"),
    ("a snippet that is none", {"spec.proxmox.cloudInit.custom": {"user": "/etc/user.yaml"}}, "must be a volume such as local:snippets/user.yaml"),
    ("user-data twice", {"spec.proxmox.cloudInit": {"custom": {"user": "local:snippets/u.yaml"}, "userDataSecretRef": {"name": "a", "key": "b"}}}, "userDataSecretRef and custom.user exclude each other"),
    ("a grace period without a unit", {"spec.orphanGracePeriod": "5"}, DURATION),
    ("a grace period in words", {"spec.orphanGracePeriod": "5 minutes"}, DURATION),
    ("a negative grace period", {"spec.orphanGracePeriod": "-5m"}, DURATION),
    ("waiting for no time", {"spec.proxmox.guestAgent.readyTimeout": "0s"}, POSITIVE),
    ("a member that does not exist", {"spec.proxmox.endpont": "x"}, 'unknown field "spec.proxmox.endpont"'),
    ("virtual media without an image", {**REDFISH, "spec.redfish.boot.method": "VirtualMedia"}, "method VirtualMedia needs imageURL"),
    ("UEFI HTTP boot without UEFI", {**REDFISH, "spec.redfish.boot": {"method": "UefiHttp", "mode": "Legacy"}}, "method UefiHttp needs mode UEFI"),
    ("spreading without a label", {**REDFISH, "spec.redfish.selection": "Spread"}, "selection Spread needs spreadLabel"),
    ("a bound per group without groups", {**REDFISH, "spec.redfish.concurrency.powerOnsPerGroup": 2}, "powerOnsPerGroup and groupLabel belong together"),
    ("an unknown operator", {**REDFISH, "spec.redfish.hostSelector.matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}, 'supported values: "In", "NotIn", "Exists", "DoesNotExist"'),
]
HOST = [
    ("no provider", {"spec.providerRef": ABSENT}, "spec.providerRef: Required value"),
    ("no address", {"spec.bmc": {}}, "spec.bmc.address: Required value"),
    ("an address without a scheme", {"spec.bmc.address": "10.0.0.17"}, "must be a URL without a path and without credentials"),
    ("an address with a password", {"spec.bmc.address": "https://admin:x@10.0.0.17"}, "must be a URL without a path and without credentials"),
    ("an address in clear text", {"spec.bmc.address": "http://10.0.0.17"}, "address must start with https:// (http:// is possible only with tls.insecureSkipVerify)"),
    ("a MAC address that is none", {"spec.bootMACAddress": "52-54-00-12-34-56"}, "must be a MAC address such as 52:54:00:12:34:56"),
    ("a UUID that is none", {"spec.systemUUID": "1234"}, "must be a UUID such as"),
    ("a quantity that is none", {"spec.capacity.extended": {"nvidia.com/gpu": "two"}}, "should match"),
    ("an unknown effect", {"spec.taints": [{"key": "a", "effect": "NoSchedul"}]}, 'supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'),
]
POOL = [
    ("no provider", {"spec.providerRef": ABSENT}, "spec.providerRef: Required value"),
    ("an empty provider", {"spec.providerRef": ""}, "spec.providerRef"),
    ("no limits", {"spec.limits": ABSENT}, "spec.limits: Required value"),
    ("fewer nodes than it must have", {"spec.limits": {"minNodes": 3, "maxNodes": 2}}, "maxNodes must be 0 (unlimited) or at least minNodes"),
    ("a negative limit", {"spec.limits": {"cpuCores": -1}}, "should be greater than or equal to 0"),
    ("machines that attach no volume", {"spec.machineTemplate.volumeLimits": {"csi.example": 0}}, "should be greater than or equal to 1"),
    ("a label key that is none", {"spec.poolLabelKey": "my pool"}, "must be a label key such as topology.kubenodesmith.io/pool"),
    ("storage without an amount", {f"{MACHINE}.storageCapacity": {"local": "much"}}, "should match"),
    ("storage below nothing", {f"{MACHINE}.storageCapacity": {"local": "-1Gi"}}, "should match"),
    ("an empty label key", {"spec.poolLabelKey": ""}, "must be a label key such as topology.kubenodesmith.io/pool"),
    *[(f"the label key {key}, which others set", {"spec.poolLabelKey": key}, "must be no key of kubernetes.io, k8s.io or kubenodesmith.io")
      for key in ("kubenodesmith.io/host", "kubenodesmith.io/nodeclaim", "kubernetes.io/hostname", "topology.kubernetes.io/zone",
                  "node-role.kubernetes.io/worker", "x.k8s.io/y")],
    *[(f"the label value {value!r}", {f"{MACHINE}.labels": {"tier": value}}, "must be a label value")
      for value in ("two words", "-web", "web-", "{{ .Fantasy }}", "v" * 64)],
    ("a weight above 100", {"spec.weight": 101}, "should be less than or equal to 100"),
    ("a name that is too long for its nodes", {"metadata.name": "p" * 58}, "the name of a pool may have at most 57 characters"),
    ("a node name prefix in capitals", {f"{MACHINE}.kubeNodeNamePrefix": "Worker"}, "must consist of lower case letters, digits, - and ."),
    ("a label that the operator sets", {f"{MACHINE}.labels": {"kubenodesmith.io/nodeclaim": "x"}}, "kubenodesmith.io/nodeclaim and kubenodesmith.io/host are set by the operator"),
    ("a label key that is none", {f"{MACHINE}.labels": {"my tier": "x"}}, "each key must be a label key such as example.org/rack"),
    ("a label key with a name that is too long", {f"{MACHINE}.labels": {"example.org/" + "a" * 64: "x"}}, "each key must be a label key"),
    ("a label key of two parts", {f"{MACHINE}.labels": {"a/b/c": "x"}}, "each key must be a label key"),
    *((f"the label {label}", {f"{MACHINE}.labels": {label: ""}}, "say where the operator itself may run") for label in PLACES),
    ("a person's label", {f"{MACHINE}.labels": {STATED: "web-1"}}, "a person says of a node whose machine it is"),
    ("sizes and flexible", {f"{MACHINE}.sizes": [{"name": "s", "cpuCores": 2, "memoryMiB": 2048}], f"{MACHINE}.flexible": {}}, "sizes and flexible exclude each other"),
    ("a size without memory", {f"{MACHINE}.sizes": [{"name": "s", "cpuCores": 2}]}, "memoryMiB: Required value"),
    ("a size twice", {f"{MACHINE}.sizes": [{"name": "s", "cpuCores": 2, "memoryMiB": 2048}] * 2}, "Duplicate value"),
    ("a flexible size upside down", {f"{MACHINE}.flexible.cpuCores": {"min": 8, "max": 4}}, "min must not be greater than max"),
    ("steps of nothing", {f"{MACHINE}.flexible.memoryMiB.step": 0}, "should be greater than or equal to 1"),
    ("an unknown architecture", {f"{MACHINE}.architecture": "x86"}, 'supported values: "amd64", "arm64"'),
    ("the same taint twice", {f"{MACHINE}.taints": [{"key": "a", "effect": "NoExecute"}] * 2}, "Duplicate value"),
    ("an unknown effect", {f"{MACHINE}.startupTaints": [{"key": "a", "effect": "Never"}]}, 'supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'),
    ("a price below nothing", {f"{MACHINE}.price": {"cpuCore": -1}}, "should be greater than or equal to 0"),
    ("a price that is no number", {f"{MACHINE}.price": {"memoryGiB": "cheap"}}, "should match '^[0-9]"),
    ("a price of nothing", {f"{MACHINE}.price": {"cpuCore": 0, "memoryGiB": "0.0"}}, "one of cpuCore, memoryGiB and machine must be more than 0"),
    ("a price that says nothing", {f"{MACHINE}.price": {}}, "should have at least 1 properties"),
    ("static addresses without any", {f"{MACHINE}.network.mode": "Static"}, "mode Static needs addresses"),
    ("an interface beside itself", {f"{MACHINE}.network": {"interfaces": [{"name": "net0"}]}}, "interfaces are those beside network.interface"),
    ("a network's name in capitals", {f"{MACHINE}.network": {"interfaces": [{"name": "net1", "networkName": "Storage"}]}}, "should match"),
    ("two default routes", {f"{MACHINE}.network": {"interfaces": [{"name": "net1", "ipv6": {"addresses": ["fd00::5"], "gateway": "fd00::1"}}]}},
     "only the interface named by network.interface has a default gateway"),
    ("a custom join without a command", {"spec.bootstrap": {"method": "CloudInit", "format": "Custom"}}, "format Custom needs commandSecretRef"),
    ("a command without a custom join", {"spec.bootstrap.commandSecretRef": {"name": "a", "key": "b"}}, "commandSecretRef needs format Custom"),
    ("an unknown method", {"spec.bootstrap.method": "Ansible"}, 'supported values: "None", "CloudInit", "GuestAgent"'),
    ("a field of the ControlPlane", {"spec.bootstrap.servingNetworks": ["10.0.4.0/24"]}, 'unknown field "spec.bootstrap.servingNetworks"'),
    ("a version of K3s that is none", {"spec.bootstrap.version": "latest"}, "must be a version such as v1.33.1+k3s1 or v1.33.1+rke2r1"),
    ("a version that a shell would run", {"spec.bootstrap.version": "v1.33.1+k3s1'; reboot; '"}, "must be a version such as v1.33.1+k3s1"),
    ("an unknown language of user-data", {"spec.bootstrap.userData": "Butane"}, 'supported values: "CloudConfig", "Ignition"'),
    ("fewer pods than none", {"spec.bootstrap.kubelet": {"maxPods": -1}}, "should be greater than or equal to 0"),
    ("an API server without a port", {"spec.bootstrap.apiServerEndpoint": "k8s.example.org"}, "must be host:port such as k8s.example.org:6443"),
    ("a token that is dead at once", {"spec.bootstrap.tokenTTL": "10s"}, "must be a duration between 1m and 6h"),
    ("a token that lives too long", {"spec.bootstrap.tokenTTL": "6h1s"}, "spec.bootstrap.tokenTTL must be at most 6h"),
    ("a token that lives for days", {"spec.bootstrap.tokenTTL": "48h"}, "must be a duration between 1m and 6h"),
    ("a window that is no duration", {"spec.scaleUp.stabilizationWindow": "2 min"}, DURATION),
    ("a timeout of nothing", {"spec.scaleUp.registrationTimeout": "0s"}, POSITIVE),
    ("a long patience with taints", {"spec.scaleUp.undeclaredTaintTimeout": "2h"}, "must be a duration of at most 1h"),
    ("no attempts", {"spec.scaleUp.maxLaunchAttempts": 0}, "should be greater than or equal to 1"),
    ("two machines kept", {"spec.scaleUp.keepFailed": 2}, "should be less than or equal to 1"),
    ("a share above 100", {"spec.scaleDown.utilizationThresholdPercent": 150}, "should be less than or equal to 100"),
    ("nothing at a time", {"spec.scaleDown.maxConcurrent": 0}, "should be greater than or equal to 1"),
    ("an unknown policy", {"spec.scaleDown.policy": "Always"}, 'supported values: "WhenEmptyOrUnderutilized", "WhenEmpty", "Never"'),
    ("an expiry of eleven years", {"spec.disruption.expireAfter": "96360h"}, "must be at most 87600h (ten years), or Never"),
    ("a window of eleven years", {"spec.scaleUp.stabilizationWindow": "96360h"}, "must be at most 87600h (ten years)"),
    ("an expiry that is neither", {"spec.disruption.expireAfter": "never"}, "must be Never or a duration such as 720h"),
    ("an expiry in days", {"spec.disruption.expireAfter": "30d"}, "must be Never or a duration such as 720h"),
    ("a budget in words", {BUDGETS: [{"nodes": "some"}]}, "nodes in body should match '^(100|[0-9]{1,2})%$'"),
    ("a budget above 100 %", {BUDGETS: [{"nodes": "101%"}]}, "nodes in body should match '^(100|[0-9]{1,2})%$'"),
    ("a negative budget", {BUDGETS: [{"nodes": -1}]}, "nodes in body should be greater than or equal to 0"),
    ("a schedule without a duration", {BUDGETS: [{"nodes": 0, "schedule": "0 9 * * 1-5"}]}, "schedule and duration belong together"),
    ("a schedule of four fields", {BUDGETS: [{"nodes": 0, "schedule": "0 9 * *", "duration": "8h"}]}, "must be a cron expression of five fields"),
    ("an unknown reason", {BUDGETS: [{"nodes": 0, "reasons": ["Boredom"]}]}, 'supported values: "Empty", "Underutilized"'),
    ("a member of the wrong type", {"spec.limits": {"maxNodes": "five"}}, 'must be of type integer: "string"'),
]
CLAIM = [
    ("no pool", {"spec.poolRef": ABSENT}, "spec.poolRef: Required value"),
    ("an empty pool", {"spec.poolRef": ""}, "spec.poolRef"),
    ("negative cores", {"spec.requirements": {"cpuCores": -1}}, "should be greater than or equal to 0"),
    ("an expiry in days", {"spec.expireAfter": "30d"}, "must be Never or a duration such as 720h"),
    ("a grace period in words", {"spec.terminationGracePeriod": "an hour"}, DURATION),
    ("a label key that is none", {"spec.labels": {"my tier": "x"}}, "each key must be a label key such as example.org/rack"),
    *((f"the label {label}", {"spec.labels": {label: ""}}, "say where the operator itself may run") for label in PLACES),
    ("a person's label", {"spec.labels": {STATED: "web-1"}}, "a person says of a node whose machine it is"),
    ("a name that is too long for its node", {"metadata.name": "c" * 64}, "the name of a claim may have at most 63 characters"),
]
CONTROL_PLANE = [
    ("all pools and one more", {"spec.pools": ["*", "general"]}, '"*" stands for all pools and must stand alone'),
    ("a pool twice", {"spec.pools": ["general", "general"]}, "Duplicate value"),
    ("an unknown mode", {"spec.mode": "Off"}, 'supported values: "Active", "Observe", "Paused"'),
    ("idling longer than the longest wait", {"spec.batching": {"idleDuration": "1m", "maxDuration": "10s"}}, "idleDuration must not be longer than maxDuration"),
    ("idling longer than the default of the longest wait", {"spec.batching": {"idleDuration": "1m"}}, "idleDuration must not be longer than maxDuration"),
    ("a share above 100", {"spec.health.maxUnreadyPercent": 101}, "should be less than or equal to 100"),
    ("an address as a network", {"spec.bootstrap": {"servingNetworks": ["10.0.4.1"]}}, "must be a network such as 10.0.4.0/24 or fd00:1::/64"),
    ("a network with too long a prefix", {"spec.bootstrap": {"servingNetworks": ["10.0.4.0/33"]}}, "must be a network such as 10.0.4.0/24"),
    ("an IPv6 network with too long a prefix", {"spec.bootstrap": {"servingNetworks": ["fd00:1::/129"]}}, "must be a network such as 10.0.4.0/24"),
    ("a network twice", {"spec.bootstrap": {"servingNetworks": ["10.0.4.0/24", "10.0.4.0/24"]}}, "Duplicate value"),
    ("a negative rate", {"spec.rateLimits.maxCreationsPerHour": -1}, "should be greater than or equal to 0"),
]
KINDS = {"NodeSmithProvider": PROVIDER, "NodeSmithHost": HOST, "NodeSmithPool": POOL, "NodeSmithClaim": CLAIM,
         "NodeSmithControlPlane": CONTROL_PLANE}
ROWS = [(kind, *row) for kind, rows in KINDS.items() for row in rows]


@pytest.fixture(scope="module")
def answers(cluster, tmp_path_factory):
    """Provides kubectl's answer to each row, by index. One kubectl sends them all, because its start takes longer than a
    request."""
    folder = tmp_path_factory.mktemp("manifests")
    for index, (kind, _, changes, _) in enumerate(ROWS):
        (folder / f"row-{index:03}.json").write_text(json.dumps(build(kind, f"row-{index:03}", changes)))
    done = cluster.kubectl("create", "--dry-run=server", "--validate=strict", "-f", folder, check=False)
    parts = re.split(r'(?m)^(?=Error from server|error: )', done.stderr)
    found = {}
    for part in parts:
        file = re.search(r"row-(\d+)\.json", part)
        if file:
            found[int(file.group(1))] = part.strip()
    return found


@pytest.mark.parametrize("index", range(len(ROWS)), ids=[f"{row[0]}: {row[1]}" for row in ROWS])
def test_it_is_refused_with_a_message_that_helps(answers, index):
    message = ROWS[index][3]
    assert message in answers.get(index, "(it was accepted)")


@pytest.mark.parametrize("kind", KINDS)
def test_the_object_that_the_rows_change_is_valid(cluster, kind):
    cluster.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(build(kind)))


@pytest.mark.parametrize("changes", [
    {"spec.poolLabelKey": "example.org/pool"}, {"spec.poolLabelKey": "topology.kubenodesmith.io/pool"}, {"spec.poolLabelKey": "pool"},
    {f"{MACHINE}.labels": {"a": "", "b": "v" * 63, "example.org/c": "{{ .Host }}-{{.Zone}}", "d": "x_{{ .Pool }}.{{.Claim}}-{{.Provider}}"}}])
def test_labels_that_a_node_can_have_are_accepted(cluster, changes):
    cluster.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", stdin=json.dumps(build("NodeSmithPool", "fine", changes)))


REDFISH_SPEC = {"type": "redfish", "redfish": {}, "proxmox": None}
CHANGES = [
    ("NodeSmithProvider", REDFISH_SPEC, "type is immutable: create another NodeSmithProvider"),
    ("NodeSmithHost", {"providerRef": "other"}, "providerRef is immutable: create another NodeSmithHost"),
    ("NodeSmithPool", {"providerRef": "other"}, "providerRef is immutable: create another NodeSmithPool"),
    ("NodeSmithPool", {"poolLabelKey": "example.org/pool"}, "poolLabelKey is immutable: create another NodeSmithPool"),
    ("NodeSmithClaim", {"requirements": {"cpuCores": 8}}, "the spec of a NodeSmithClaim is immutable: delete it and create another"),
    ("NodeSmithClaim", {"poolRef": "other"}, "the spec of a NodeSmithClaim is immutable"),
]


@pytest.mark.parametrize("kind,change,message", CHANGES, ids=[f"{c[0]} {list(c[1])[0]}" for c in CHANGES])
def test_what_is_immutable_cannot_be_changed(clean, kind, change, message):
    clean.kubectl("create", "-f", "-", stdin=json.dumps(build(kind)))
    done = clean.kubectl("patch", kind.lower(), "valid", "-n", "kubenodesmith", "--type=merge", "-p",
                         json.dumps({"spec": change}), check=False)
    assert done.returncode != 0
    assert message in done.stderr


@pytest.mark.parametrize("kind", ["NodeSmithPool", "NodeSmithControlPlane"])
def test_a_token_cannot_be_given_a_longer_life_later(clean, kind):
    clean.kubectl("create", "-f", "-", stdin=json.dumps(build(kind, changes={"spec.bootstrap.tokenTTL": "30m"})))
    done = clean.kubectl("patch", kind.lower(), "valid", "-n", "kubenodesmith", "--type=merge", "-p",
                         json.dumps({"spec": {"bootstrap": {"tokenTTL": "8h"}}}), check=False)
    assert done.returncode != 0
    assert "spec.bootstrap.tokenTTL must be at most 6h" in done.stderr


def test_a_claim_may_get_labels_finalizers_and_status_although_its_spec_is_immutable(clean):
    clean.kubectl("create", "-f", "-", stdin=json.dumps(build("NodeSmithClaim")))
    clean.kubectl("label", "nsclaim", "valid", "-n", "kubenodesmith", "a=b")
    status = {"status": {"phase": "Launching", "machineID": "105", "launchAttempts": 1, "conditions": [
        {"type": "Launched", "status": "False", "reason": "Launching", "lastTransitionTime": "2026-01-31T12:00:00Z"}]}}
    clean.kubectl("patch", "nsclaim", "valid", "-n", "kubenodesmith", "--type=merge", "--subresource=status", "-p", json.dumps(status))
    claim = json.loads(clean.kubectl("get", "nsclaim", "valid", "-n", "kubenodesmith", "-o", "json"))
    assert claim["status"]["machineID"] == "105"
    assert claim["metadata"]["generation"] == 1


def messages(schema):
    """Returns every message of a CEL rule in a schema."""
    if isinstance(schema, dict):
        for rule in schema.get("x-kubernetes-validations", []):
            yield rule["message"]
        for value in schema.values():
            yield from messages(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from messages(value)


@pytest.mark.parametrize("kind", KINDS)
def test_every_rule_of_the_crds_has_a_row(kind):
    crd = yaml.safe_load((ROOT / f"crds/{kind.lower()}s.yaml").read_text())
    expected = [row[2] for row in KINDS[kind]] + [change[2] for change in CHANGES if change[0] == kind]
    # Parts that several kinds share are tested with one of these kinds.
    expected += [row[2] for rows in KINDS.values() for row in rows]
    untested = {m for m in messages(crd["spec"]["versions"][0]["schema"]) if not any(e in m for e in expected)}
    assert not untested
