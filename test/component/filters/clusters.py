"""Draws random clusters whose pods have the shapes of widespread charts: databases, ingress, storage, monitoring, service meshes,
CI runners and training jobs. A cluster is a list of objects as the API server stores them, and the machines that its pools offer."""

import copy
import random

ZONES = ("rack-a", "rack-b", "rack-c")  # also the names of the hosts
CSI, LIMIT = "csi.example.org", 3  # the driver, and the volumes that each node can attach
REPORTING = "reporting.example.org"  # a driver that reports its room
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
OURS = "kubenodesmith.parawell.cloud/v1alpha1"
RESERVED = {"cpuMillicores": 100, "memoryMiB": 256}
NAMESPACES = ("shop", "data", "infra")
ATTACHED = "ReadWriteOnce"
FEATURE = "RestartAllContainersOnContainerExits"  # a feature that kubelets declare from Kubernetes 1.36 on
RESTARTS_ALL = {"restartPolicy": "Never", "restartPolicyRules": [
    {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}]}  # a container that requires it


def hostname_is(name):
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [name]}]}]}


def zone_in(*zones):
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": list(zones)}]}]}


def node(name, zone, cpu, memory_mib, labels=(), taints=(), unschedulable=False, extended=(), disk="100Gi"):
    """Returns a Node that reserves for its system what the pools state."""
    capacity = {"cpu": str(cpu), "memory": f"{memory_mib}Mi", "pods": "110", "ephemeral-storage": disk, **dict(extended)}
    allocatable = {**capacity, "cpu": f"{cpu * 1000 - RESERVED['cpuMillicores']}m", "memory": f"{memory_mib - RESERVED['memoryMiB']}Mi"}
    standard = {HOSTNAME: name, ZONE: zone, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
                "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux"}
    taints = list(taints) + ([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}] if unschedulable else [])
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": f"uid-{name}", "labels": {**standard, **dict(labels)}},
            "spec": {**({"taints": taints} if taints else {}), **({"unschedulable": True} if unschedulable else {})},
            "status": {"capacity": capacity, "allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}}


def csi_node(name):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name, "uid": f"uid-csi-{name}"},
            "spec": {"drivers": [{"name": CSI, "nodeID": name, "topologyKeys": [ZONE], "allocatable": {"count": LIMIT}}]}}


class Cluster:
    """A random cluster. The same seed gives the same cluster."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.objects, self.pools, self.nodes, self.pending = [], [], [], []
        self.number = 0
        self._add_basics()
        self._add_pools()
        self._add_nodes()
        self._add_daemon_sets()
        for shape in self.random.choices(SHAPES, k=self.random.randint(2, 6)):
            shape(self)

    # What a pool would create, as the Nodes that the machines would be.

    def machine(self, name, pool, zone, cpu, memory_mib):
        template = self._pool(pool)["spec"]["machineTemplate"]
        # The operator does not know the disks of a pool's first machine, and takes them to be large enough.
        made = node(name, zone, cpu, memory_mib, disk="10Ti", extended=template["extendedResources"].items(), taints=template["taints"],
                    labels={**template["labels"], "topology.kubenodesmith.io/pool": pool, "kubenodesmith.io/nodeclaim": name})
        # Nor does it know what their kubelets declare.
        made["status"]["declaredFeatures"] = [FEATURE]
        return {"node": made, "csiNode": csi_node(name)}

    def room_of_new_machines(self):
        """Returns what the driver that reports its room would report on new machines, if it has reported nothing before."""
        if any(made["kind"] == "CSIStorageCapacity" for made in self.objects):
            return []
        return [{"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "storageClassName": "reported", "capacity": "50Gi",
                 "metadata": {"name": "room-new", "namespace": "infra", "uid": "uid-room-new"},
                 "nodeTopology": {"matchExpressions": [{"key": "kubenodesmith.io/nodeclaim", "operator": "Exists"}]}}]

    def templates(self):
        """Returns the largest machine of each pool in each zone."""
        for pool in self.pools:
            for zone in ZONES:
                yield self.largest_machine(pool["metadata"]["name"], zone)

    def largest_machine(self, pool, zone):
        sizes = self._pool(pool)["spec"]["machineTemplate"].get("sizes")
        cpu, memory = (sizes[-1]["cpuCores"], sizes[-1]["memoryMiB"]) if sizes else (16, 32768)
        return self.machine(f"new-{pool}-{zone}", pool, zone, cpu, memory)

    def _pool(self, name):
        return next(pool for pool in self.pools if pool["metadata"]["name"] == name)

    # The parts of the cluster.

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def _add_basics(self):
        self.objects += [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "uid": f"uid-{name}", "labels": {
            "kubernetes.io/metadata.name": name, "team": "core" if name == "infra" else "apps"}}} for name in (*NAMESPACES, "ours")]
        hosts = [{"name": zone, "online": True, "cpuCores": 512, "memoryMiB": 4194304, "freeCPUCores": 512, "freeMemoryMiB": 4194304}
                 for zone in ZONES]
        self.objects += [
            {"apiVersion": OURS, "kind": "NodeSmithProvider", "metadata": {"name": "lab", "namespace": "ours", "uid": "uid-lab"},
             "spec": {"type": "proxmox", "credentialsSecretRef": {"name": "token"}, "proxmox": {"endpoint": "https://lab.example.org:8006/api2/json"}},
             "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Ready"}], "hosts": hosts}},
            {"apiVersion": OURS, "kind": "NodeSmithControlPlane", "metadata": {"name": "main", "namespace": "ours", "uid": "uid-main"},
             "spec": {"pools": ["*"]}},
            {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": CSI, "uid": "uid-driver"}, "spec": {"attachRequired": True}}]
        for name, mode, topologies in (("late", "WaitForFirstConsumer", None), ("late-rack-a", "WaitForFirstConsumer", ["rack-a"]),
                                       ("at-once", "Immediate", None), ("reported", "WaitForFirstConsumer", None)):
            self.objects.append({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name, "uid": f"uid-{name}"},
                                 "provisioner": REPORTING if name == "reported" else CSI, "volumeBindingMode": mode, "reclaimPolicy": "Delete",
                                 **({"allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": topologies}]}]} if topologies else {})})
        self.objects.append({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": REPORTING, "uid": "uid-reporting"},
                             "spec": {"attachRequired": False, "storageCapacity": True}})
        is_reported = self.chance(80)
        for zone in ZONES if is_reported else ():
            if self.chance(70):
                self.objects.append({"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "storageClassName": "reported",
                                     "metadata": {"name": f"room-{zone}", "namespace": "infra", "uid": f"uid-room-{zone}"},
                                     "nodeTopology": {"matchLabels": {ZONE: zone}}, "capacity": self.random.choice(("5Gi", "50Gi"))})
        self.objects.append({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "local", "uid": "uid-local"},
                             "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer", "reclaimPolicy": "Delete"})

    def _add_pools(self):
        kinds = [("general", {}, [], {}), ("storage", {"role": "storage"}, [{"key": "role", "value": "storage", "effect": "NoSchedule"}], {}),
                 ("gpu", {"accelerator": "nvidia"}, [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}], {"nvidia.com/gpu": "2"}),
                 ("runners", {"role": "ci"}, [], {})]
        for name, labels, taints, extended in kinds[:1] + self.random.sample(kinds[1:], self.random.randint(0, 3)):
            template = {"labels": labels, "taints": taints, "extendedResources": extended, "systemReserved": RESERVED, "volumeLimits": {CSI: LIMIT}}
            if self.chance(50):
                template["sizes"] = [{"name": "s", "cpuCores": 4, "memoryMiB": 8192}, {"name": "l", "cpuCores": 16, "memoryMiB": 32768}]
            else:
                template["flexible"] = {"cpuCores": {"min": 1, "max": 16, "step": 1}, "memoryMiB": {"min": 1024, "max": 32768, "step": 512}}
            self.pools.append({"apiVersion": OURS, "kind": "NodeSmithPool", "metadata": {"name": name, "namespace": "ours", "uid": f"uid-pool-{name}"},
                               "spec": {"providerRef": "lab", "weight": self.random.randint(0, 2), "machineTemplate": template}})
        self.objects += self.pools

    def _add_nodes(self):
        for i in range(self.random.randint(0, 7)):
            labels, taints, extended = {}, [], {}
            if self.chance(15):
                labels, taints = {"role": "storage"}, [{"key": "role", "value": "storage", "effect": "NoSchedule"}]
            elif self.chance(15):
                labels, taints = {"node-role.kubernetes.io/control-plane": ""}, [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]
            elif self.chance(10):
                labels, extended = {"accelerator": "nvidia"}, {"nvidia.com/gpu": "1"}
            if self.chance(5):
                taints = [*taints, {"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}]
            cpu = self.random.choice((2, 4, 8))
            if self.chance(5):
                taints = [*taints, {"key": "maintenance", "value": "soon", "effect": "PreferNoSchedule"}]
            made = node(f"node-{i}", self.random.choice(ZONES[:2]), cpu, cpu * 2048, labels, taints, self.chance(8), extended.items())
            if self.chance(8):
                del made["metadata"]["labels"][ZONE]
            if self.chance(6):
                made["spec"]["taints"] = [*made["spec"].get("taints", []), {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
                                          {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]
                made["status"]["conditions"][0]["status"] = "False"
            if self.chance(8):
                made["status"]["allocatable"]["pods"] = made["status"]["capacity"]["pods"] = "5"
            if self.chance(60):
                made["status"]["declaredFeatures"] = [FEATURE]
            self.nodes.append(made)
            self.objects += [made, csi_node(made["metadata"]["name"])]
            for number in range(self.random.choice((0, 0, 0, 1, LIMIT))):
                self._attach(f"left-{i}-{number}", made["metadata"]["name"])

    def _add_daemon_sets(self):
        exporter = {"tolerations": [{"operator": "Exists"}], "hostNetwork": True, "containers": [container("50m", "64Mi", ports=[9100])]}
        agent = {"containers": [container("100m", "128Mi")]}
        gpu = {"nodeSelector": {"accelerator": "nvidia"}, "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
               "containers": [container("50m", "64Mi")]}
        # It leaves hardly any room on the smallest machines.
        heavy = {"tolerations": [{"operator": "Exists"}], "containers": [container("3500m", "2Gi")]}
        for name, spec, percent in (("node-exporter", exporter, 60), ("log-agent", agent, 60), ("gpu-plugin", gpu, 60), ("storage", heavy, 15)):
            if not self.chance(percent):
                continue
            spec["containers"][0]["name"] = name
            labels = {"app": name}
            self.objects.append({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": "infra", "uid": f"uid-{name}"},
                                 "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}})
            for on in self.nodes:
                if daemon_runs(spec, on) and fits(spec, on, self.pods_on(on)):
                    self._add_pod(f"{name}-{on['metadata']['name']}", "infra", labels, dict(spec), on["metadata"]["name"], ("DaemonSet", name))

    def _add_pod(self, name, namespace, labels, spec, on=None, owner=("ReplicaSet", "some")):
        self.number += 1
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": name, "namespace": namespace, "uid": f"pod-{self.number}", "labels": labels, "creationTimestamp": "2026-03-01T11:00:00Z",
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": owner[0], "name": owner[1], "uid": f"uid-{owner[1]}", "controller": True}]},
            "spec": copy.deepcopy({**spec, **({"nodeName": on} if on else {})})}
        merge_label_keys(pod)
        pod["status"] = {"phase": "Running", "startTime": "2026-03-01T11:00:00Z"} if on else {"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0 nodes are available"}]}
        if not on:
            self.pending.append(f"{namespace}/{name}")
        self.objects.append(pod)

    def _add_claim(self, name, namespace, storage_class, size="10Gi", modes=(ATTACHED,), volume=None):
        self.objects.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {
            "name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}",
            **({"annotations": {"pv.kubernetes.io/bind-completed": "yes"}} if volume else {})},
            "spec": {"accessModes": list(modes), "storageClassName": storage_class, "volumeMode": "Filesystem",
                     "resources": {"requests": {"storage": size}}, **({"volumeName": volume} if volume else {})},
            "status": {"phase": "Bound" if volume else "Pending"}})

    def _add_volume(self, name, storage_class, claim=None, affinity=None, labels=(), size="10Gi", modes=(ATTACHED,)):
        source = {"local": {"path": "/srv"}} if storage_class == "local" else {"csi": {"driver": CSI, "volumeHandle": name}}
        reference = {"claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": claim[0], "name": claim[1],
                                  "uid": f"uid-{claim[0]}-{claim[1]}"}} if claim else {}
        self.objects.append({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name, "uid": f"uid-{name}", "labels": dict(labels)},
                             "spec": {"capacity": {"storage": size}, "accessModes": list(modes), "storageClassName": storage_class,
                                      "volumeMode": "Filesystem", "persistentVolumeReclaimPolicy": "Delete", **source, **reference,
                                      **({"nodeAffinity": {"required": affinity}} if affinity else {})},
                             "status": {"phase": "Bound" if claim else "Available"}})

    def _attach(self, volume, on):
        """Adds a volume whose detachment from the Node hangs, long after its pod and claim are gone."""
        self._add_volume(volume, "late", ("data", f"claim-of-{volume}"))
        self.objects[-1]["status"]["phase"] = "Released"
        self.objects.append({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {
            "name": volume, "uid": f"uid-va-{volume}", "deletionTimestamp": "2026-03-01T11:00:00Z", "finalizers": ["external-attacher/csi-example-org"]},
                             "spec": {"attacher": CSI, "nodeName": on, "source": {"persistentVolumeName": volume}}, "status": {"attached": True}})

    def name(self, kind):
        self.number += 1
        return f"{kind}-{self.number}"

    def replicas(self, name, namespace, labels, spec_of, most, owner="ReplicaSet"):
        """Adds replicas. Some of them run already, where that looks possible; the others wait."""
        for i in range(self.random.randint(1, most)):
            spec = spec_of(i)
            on = self._place_for(spec) if self.chance(35) else None
            self._add_pod(f"{name}-{i}", namespace, {**labels, **({"apps.kubernetes.io/pod-index": str(i)} if owner == "StatefulSet" else {})},
                          spec, on, (owner, name))

    def pods_on(self, on):
        return [pod for pod in self.objects if pod["kind"] == "Pod" and pod["spec"].get("nodeName") == on["metadata"]["name"]]

    def is_crowded(self, machine, pods):
        """Reports whether these pods and all DaemonSets that would run on a machine do not fit on it together."""
        specs = [o["spec"]["template"]["spec"] for o in self.objects if o["kind"] == "DaemonSet"]
        wanted = pods + [{"spec": spec} for spec in specs if daemon_runs(spec, machine["node"])]
        return not fits({"containers": []}, machine["node"], wanted)

    def _place_for(self, spec):
        """Returns a Node for a running pod. Rules between pods may be broken: pods are not moved when rules change."""
        if spec.get("volumes") or spec.get("resourceClaims"):
            return None
        for on in self.random.sample(self.nodes, len(self.nodes)):
            if daemon_runs(spec, on) and not on["spec"].get("unschedulable") and fits(spec, on, self.pods_on(on)):
                return on["metadata"]["name"]
        return None


def container(cpu, memory, ports=(), **more):
    requests = {"cpu": cpu, "memory": memory, **more}
    return {"name": "main", "image": "registry.example.org/image:1", "resources": {"requests": requests},
            **({"ports": [{"containerPort": port, "hostPort": port, "protocol": "TCP"} for port in ports]} if ports else {})}


def merge_label_keys(pod):
    """Adds the label keys of rules between pods to their selectors, as the API server does when it stores the pod."""
    affinity, labels = pod["spec"].get("affinity", {}), pod["metadata"]["labels"]
    terms = [term for kind in ("podAffinity", "podAntiAffinity")
             for term in affinity.get(kind, {}).get("requiredDuringSchedulingIgnoredDuringExecution", [])]
    for rule in terms + pod["spec"].get("topologySpreadConstraints", []):
        for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
            rule["labelSelector"].setdefault("matchExpressions", []).extend(
                {"key": key, "operator": operator, "values": [labels[key]]} for key in rule.get(field, []) if key in labels)


def daemon_runs(spec, on):
    """Reports whether selector and taints allow the pod there."""
    labels = on["metadata"]["labels"]
    if any(labels.get(key) != value for key, value in spec.get("nodeSelector", {}).items()):
        return False
    tolerated = [(t.get("key"), t.get("value")) for t in spec.get("tolerations", [])]
    return all((None, None) in tolerated or (taint["key"], None) in tolerated or (taint["key"], taint.get("value")) in tolerated
               for taint in on["spec"].get("taints", []) if taint["effect"] != "PreferNoSchedule")


def milli(text):
    return int(text[:-1]) if text.endswith("m") else int(float(text) * 1000)


def mib(text):
    return int(text[:-2]) * {"Mi": 1, "Gi": 1024}[text[-2:]]


def requested(spec, resource, read):
    """Returns what the scheduler counts for a pod: its own request or that of its containers, and its overhead."""
    def of(requests):
        return read(requests.get(resource, "0Mi" if read is mib else "0"))

    own = spec.get("resources", {}).get("requests", {})
    if resource in own:
        return of(own) + of(spec.get("overhead", {}))
    sidecars = most = 0
    for init in spec.get("initContainers", []):
        if init.get("restartPolicy") == "Always":
            sidecars += of(init["resources"]["requests"])
            most = max(most, sidecars)
        else:
            most = max(most, sidecars + of(init["resources"]["requests"]))
    together = sidecars + sum(of(c["resources"]["requests"]) for c in spec["containers"])
    return max(most, together) + of(spec.get("overhead", {}))


def ports_of(spec):
    return {port["hostPort"] for c in spec["containers"] for port in c.get("ports", [])}


def fits(spec, on, pods):
    allocatable = on["status"]["allocatable"]
    for resource, read in (("cpu", milli), ("memory", mib), ("nvidia.com/gpu", milli)):
        wanted = requested(spec, resource, read)
        used = sum(requested(pod["spec"], resource, read) for pod in pods)
        if wanted + used > read(allocatable.get(resource, "0Mi" if read is mib else "0")):
            return False
    if len(pods) >= int(allocatable["pods"]):
        return False
    return not any(ports_of(spec) & ports_of(pod["spec"]) for pod in pods)


def apart(labels, key=HOSTNAME, **more):
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": labels}, "topologyKey": key, **more}]}}


def near(labels, key, **more):
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": labels}, "topologyKey": key, **more}]}}


def spread(labels, key, skew=1, **more):
    return [{"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": labels}, **more}]


# The shapes. Each adds one workload.


def database(c):
    """A StatefulSet with a volume per replica, apart by hostname or zone."""
    name, namespace = c.name("postgres"), "data"
    labels = {"app": name}
    key = c.random.choice((HOSTNAME, HOSTNAME, ZONE))
    storage_class = c.random.choice(("late", "late", "late-rack-a", "local", "at-once", "reported"))
    cpu, memory = c.random.choice((("500m", "1Gi"), ("2", "4Gi"), ("6", "12Gi")))

    def spec_of(i):
        claim, volume = f"data-{name}-{i}", f"pv-{name}-{i}"
        if storage_class == "local":
            if c.nodes and c.chance(70):
                c._add_volume(volume, "local", affinity=hostname_is(c.random.choice(c.nodes)["metadata"]["name"]))
            c._add_claim(claim, namespace, "local")
        elif storage_class == "at-once" or c.chance(30):
            zone = c.random.choice(ZONES)
            labelled = c.chance(70)
            c._add_volume(volume, storage_class, (namespace, claim), None if labelled else zone_in(zone), {ZONE: zone} if labelled else ())
            c._add_claim(claim, namespace, storage_class, volume=volume)
        else:
            c._add_claim(claim, namespace, storage_class)
        return {"affinity": apart(labels, key), "containers": [container(cpu, memory)],
                "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]}
    c.replicas(name, namespace, labels, spec_of, 3, "StatefulSet")


def ingress(c):
    """An ingress controller on host ports, spread over zones or hostnames."""
    name = c.name("ingress")
    labels = {"app": name}
    rules = spread(labels, c.random.choice((ZONE, HOSTNAME)), c.random.choice((1, 1, 2)))
    if c.chance(40):
        rules[0]["minDomains"] = c.random.randint(2, 3)
    if c.chance(40):
        rules[0]["nodeTaintsPolicy"] = c.random.choice(("Honor", "Ignore"))
    if c.chance(20):
        rules[0]["nodeAffinityPolicy"] = c.random.choice(("Honor", "Ignore"))
    ports = c.random.choice(([80, 443], [80], []))
    c.replicas(name, "infra", labels, lambda i: {"topologySpreadConstraints": rules, "containers": [container("200m", "256Mi", ports)]}, 4)


def storage(c):
    """Storage daemons on nodes of their own role, one on each, with a volume for one pod only."""
    name = c.name("osd")
    labels = {"app": name}
    claim, alone = f"config-{name}", c.chance(50)
    if alone:
        volume = f"pv-{name}"
        c._add_volume(volume, "at-once", ("infra", claim), modes=["ReadWriteOncePod"])
        c._add_claim(claim, "infra", "at-once", modes=["ReadWriteOncePod"], volume=volume)
        if c.nodes:
            holder = c.random.choice(c.nodes)["metadata"]["name"]
            c._add_pod(f"{name}-holder", "infra", {"app": "holder"}, {"containers": [container("10m", "16Mi")], "tolerations": [{"operator": "Exists"}],
                       "volumes": [{"name": "config", "persistentVolumeClaim": {"claimName": claim}}]}, holder)

    def spec_of(_):
        volumes = [{"name": "disk", "hostPath": {"path": "/dev"}}]
        if alone:
            volumes.append({"name": "config", "persistentVolumeClaim": {"claimName": claim}})
        return {"nodeSelector": {"role": "storage"}, "affinity": apart(labels), "containers": [container("1", "2Gi")], "volumes": volumes,
                "tolerations": [{"key": "role", "operator": "Equal", "value": "storage", "effect": "NoSchedule"}] if c.chance(80) else []}
    c.replicas(name, "infra", labels, spec_of, 3)


def monitoring(c):
    """Two large replicas, apart from each other, near nothing, with several volumes each."""
    name = c.name("prometheus")
    labels = {"app": name}

    def spec_of(i):
        volumes = []
        for k in range(c.random.choice((1, 2, 4))):
            claim = f"db-{name}-{i}-{k}"
            c._add_claim(claim, "infra", "late")
            volumes.append({"name": f"db-{k}", "persistentVolumeClaim": {"claimName": claim}})
        return {"affinity": apart(labels, c.random.choice((HOSTNAME, ZONE))), "volumes": volumes,
                "containers": [container(c.random.choice(("500m", "3", "20")), c.random.choice(("2Gi", "8Gi", "40Gi")))]}
    c.replicas(name, "infra", labels, spec_of, 2, "StatefulSet")


def mesh(c):
    """A web service with sidecars, near its cache, and a cache that avoids other teams' pods."""
    name = c.name("web")
    labels, cache = {"app": name}, {"app": f"{name}-cache"}
    sidecar = {**container("100m", "128Mi"), "name": "proxy", "restartPolicy": "Always"}
    key = c.random.choice((ZONE, HOSTNAME))
    selector = c.random.choice(({}, {"namespaces": ["shop", "data"]}, {"namespaceSelector": {"matchLabels": {"team": "apps"}}}))
    c.replicas(f"{name}-cache", c.random.choice(NAMESPACES), cache, lambda i: {"containers": [container("250m", "512Mi")]}, 2)
    affinity = near(cache, key, **selector)
    if c.chance(30):
        affinity = near(labels, key)  # near itself: the first one may be anywhere
    if c.chance(30):
        affinity.update(apart(labels))
    spec = {"affinity": affinity, "initContainers": [sidecar], "containers": [container("300m", "256Mi")]}
    c.replicas(name, "shop", labels, lambda i: spec, 4)


def web(c):
    """A web service with several rules at once, whose versions are told apart by pod-template-hash."""
    name = c.name("api")
    rules = []
    for key in c.random.sample((ZONE, HOSTNAME, "kubernetes.io/os", "role"), c.random.randint(1, 2)):
        rules += spread({"app": name}, key, c.random.randint(1, 2))
        if c.chance(30):
            rules[-1]["matchLabelKeys"] = ["pod-template-hash"]
        if c.chance(20):
            rules[-1]["whenUnsatisfiable"] = "ScheduleAnyway"
        if c.chance(20):
            rules[-1]["nodeTaintsPolicy"] = "Honor"
    affinity = {}
    if c.chance(30):
        affinity = apart({"team": "web"}, c.random.choice((ZONE, HOSTNAME)), namespaceSelector={},
                         **({"mismatchLabelKeys": ["app"]} if c.chance(50) else {}))
    if c.chance(30):
        terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [c.random.choice(ZONES)]}]},
                 {"matchExpressions": [{"key": "role", "operator": "In", "values": ["ci", "storage"]}]}]
        if c.nodes and c.chance(40):
            terms = [{"matchFields": [{"key": "metadata.name", "operator": c.random.choice(("In", "NotIn")),
                                       "values": [c.random.choice(c.nodes)["metadata"]["name"]]}]}]
        affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    setup = {**container(c.random.choice(("100m", "3")), "64Mi"), "name": "setup"}
    main = container("400m", "512Mi") | (RESTARTS_ALL if c.chance(40) else {})
    old = c.random.randint(0, 2)

    def spec_of(_):
        return {"affinity": affinity, "topologySpreadConstraints": rules, "initContainers": [setup], "containers": [main]}
    for version, most in (("old", old), ("new", 4)):
        if most:
            c.replicas(f"{name}-{version}", "shop", {"app": name, "team": "web", "pod-template-hash": version}, spec_of, most)


def files(c):
    """Pods that share a volume, or have one of their own that ends with them."""
    name = c.name("files")
    claim = f"shared-{name}"
    kind = c.random.choice(("shared", "ephemeral", "missing", "no class", "selector"))
    if kind == "shared":
        c._add_claim(claim, "data", "at-once", modes=["ReadWriteMany"], volume=f"pv-{name}")
        c._add_volume(f"pv-{name}", "at-once", ("data", claim), c.random.choice((None, zone_in("rack-b"), zone_in("rack-a", "rack-c"))), modes=["ReadWriteMany"])
    elif kind == "no class":
        c._add_claim(claim, "data", "none-of-this-name")
    elif kind == "selector":
        c._add_claim(claim, "data", "local")
        c.objects[-1]["spec"]["selector"] = {"matchLabels": {"disk": "ssd"}}
        for i, on in enumerate(c.nodes[:2]):
            c._add_volume(f"pv-{name}-{i}", "local", affinity=hostname_is(on["metadata"]["name"]), labels={"disk": c.random.choice(("ssd", "hdd"))},
                          size=c.random.choice(("5Gi", "20Gi")))

    def spec_of(i):
        volume = {"persistentVolumeClaim": {"claimName": claim}}
        if kind == "ephemeral":
            owned = f"{name}-{i}-scratch"
            volume = {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": [ATTACHED], "storageClassName": "late", "volumeMode": "Filesystem",
                                                                     "resources": {"requests": {"storage": "1Gi"}}}}}}
            c._add_claim(owned, "data", "late", "1Gi")
            c.objects[-1]["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": f"{name}-{i}", "uid": f"pod-{c.number + 1}",
                                                             "controller": True}]
        return {"containers": [container("300m", "256Mi")], "volumes": [{"name": "scratch", **volume}]}
    c.replicas(name, "data", {"app": name}, spec_of, 3)


def gateway(c):
    """Pods on ports of single addresses and protocols."""
    name = c.name("gateway")
    number = c.random.choice((53, 53, 9100))
    port = {"containerPort": number, "hostPort": number, "protocol": c.random.choice(("TCP", "UDP")), **({"hostIP": "10.0.0.1"} if c.chance(40) else {})}
    spec = {"containers": [{**container("100m", "64Mi"), "ports": [port]}], "hostNetwork": c.chance(30)}
    if c.chance(30):
        spec["priority"] = c.random.choice((-5, 1000, 2000000000))
    if c.chance(30):
        spec["tolerations"] = [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}]
    c.replicas(name, "infra", {"app": name}, lambda i: spec, 3)


def runners(c):
    """CI jobs: large, on their own nodes or of an architecture, some with host ports for a debugger."""
    name = c.name("ci")
    selector = c.random.choice(({}, {"role": "ci"}, {"kubernetes.io/arch": "amd64"}, {"kubernetes.io/arch": "arm64"}, {"kubernetes.io/os": "linux"}))
    cpu = c.random.choice(("1", "3", "7", "15", "24"))
    wanted = {"ephemeral-storage": c.random.choice(("5Gi", "30Gi"))} if c.chance(50) else {}
    spec = {"nodeSelector": selector, "containers": [container(cpu, "2Gi", **wanted)]}
    if c.chance(40):
        expressions = [{"key": ZONE, "operator": c.random.choice(("In", "NotIn")), "values": [c.random.choice((*ZONES, "rack-x"))]}]
        if c.chance(30):
            expressions.append({"key": "role", "operator": c.random.choice(("Exists", "DoesNotExist"))})
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}}
    if c.chance(25):
        spec["containers"][0] |= RESTARTS_ALL
    if c.chance(20):
        spec["overhead"] = {"cpu": "250m", "memory": "160Mi"}
    if c.chance(20):
        spec["resources"] = {"requests": {"cpu": str(int(cpu) + 1), "memory": "3Gi"}}  # for the whole pod, more than its containers ask for
    if c.chance(30):
        term = {"weight": 10, "preference": {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [c.random.choice(ZONES)]}]}}
        spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})["preferredDuringSchedulingIgnoredDuringExecution"] = [term]
    c.replicas(name, "shop", {"app": name}, lambda i: dict(spec), 4, "Job")


def training(c):
    """Training with GPUs, by an extended resource or by a claim for a device of which there is none."""
    name = c.name("train")
    spec = {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}] if c.chance(80) else [],
            "containers": [container("1", "2Gi", **{"nvidia.com/gpu": c.random.choice(("1", "2", "4"))})]}
    if c.chance(40):
        spec["containers"] = [container("1", "2Gi")]
        spec["containers"][0]["resources"]["claims"] = [{"name": "device"}]
        spec["resourceClaims"] = [{"name": "device", "resourceClaimName": f"device-{name}"}]
        c.objects += [
            {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": f"class-{name}", "uid": f"uid-class-{name}"},
             "spec": {"selectors": [{"cel": {"expression": "device.driver == 'none.example.org'"}}]}},
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": f"device-{name}", "namespace": "data", "uid": f"uid-device-{name}"},
             "spec": {"devices": {"requests": [{"name": "one", "exactly": {"deviceClassName": f"class-{name}", "allocationMode": "ExactCount", "count": 1}}]}}}]
    c.replicas(name, "data", {"app": name}, lambda i: dict(spec), 2, "Job")


SHAPES = (database, ingress, storage, monitoring, mesh, web, web, files, gateway, runners, training)
