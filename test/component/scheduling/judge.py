"""Lets the real kube-scheduler judge plans. It puts one workload after the other into a cluster and watches the scheduler."""

import copy
import http.client
import json
import os
import ssl
import threading
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

from teller import Teller

NAMESPACES = ("default", "other")
PRIORITIES = (0, 1, 2)
THREADS = 4
STARTUP_SECONDS = 120
# The scheduler tries a refused pod again after 1 s, then after 2 s. On a busy machine set TEST_PATIENCE.
PATIENCE_SECONDS = 4 * float(os.environ.get("TEST_PATIENCE", "1"))
CACHES_SECONDS = 0.1  # time until the scheduler knows volumes, classes and attach limits, which it does not report
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
# Only probes can be placed on this node: it offers nothing else and is in no topology domain.
BARRIER = "barrier"
GATE = {"name": "test/not-yet"}
# A Node has this taint while its kubelet starts.
NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


class Api:
    """Sends requests as the administrator over persistent connections, one for each thread."""

    def __init__(self, cluster):
        self.address = urllib.parse.urlparse(cluster.server).netloc
        self.context = ssl.create_default_context(cafile=str(cluster.pki / "ca.crt"))
        self.context.load_cert_chain(cluster.pki / "admin.crt", cluster.pki / "admin.key")
        self.local = threading.local()

    def connect(self, timeout=60):
        return http.client.HTTPSConnection(self.address, context=self.context, timeout=timeout)

    def call(self, method, path, body=None, content_type="application/json", missing_ok=False):
        try:
            response, answer = self._exchange(method, path, body, content_type)
        except (http.client.HTTPException, OSError):  # the server closed a connection that was idle for long
            del self.local.connection
            response, answer = self._exchange(method, path, body, content_type)
        if missing_ok and response.status == http.client.NOT_FOUND:
            return None
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.get('message')}")
        return answer

    def _exchange(self, method, path, body, content_type):
        if not hasattr(self.local, "connection"):
            self.local.connection = self.connect()
        connection = self.local.connection
        connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": content_type})
        response = connection.getresponse()
        return response, json.loads(response.read())

    def post(self, path, body):
        return self.call("POST", path, body)

    def find(self, path):
        return self.call("GET", path, missing_ok=True)

    def merge(self, path, body):
        return self.call("PATCH", path, body, "application/merge-patch+json")


def watch(api, path, seen):
    """Calls seen(type, object) for each event from now on, in a separate thread."""
    def run():
        connection = api.connect(timeout=None)
        connection.request("GET", f"{path}?watch=true&allowWatchBookmarks=false&timeoutSeconds=3600")
        response = connection.getresponse()
        while line := response.readline():
            event = json.loads(line)
            seen(event["type"], event["object"])
    threading.Thread(target=run, daemon=True).start()


class Pods:
    """Knows all pods by name (tests never use a name twice)."""

    def __init__(self, api):
        self.changed = threading.Condition()
        self.known = {}
        self.listeners = []  # called with the names of pods that changed
        watch(api, "/api/v1/pods", self._seen)

    def _seen(self, kind, pod):
        with self.changed:
            name = pod["metadata"]["name"]
            if kind == "DELETED":
                self.known.pop(name, None)
            else:
                self.known[name] = pod
            self.changed.notify_all()
        for listener in self.listeners:
            listener(name)

    def wait(self, condition, seconds):
        """Waits until condition(known pods) holds. Returns False if it did not in time."""
        with self.changed:
            return self.changed.wait_for(lambda: condition(self.known), seconds)

    def node(self, name):
        return self.known.get(name, {}).get("spec", {}).get("nodeName")

    def refusal(self, name):
        """Returns the scheduler's message if it has tried the pod and found no node."""
        conditions = self.known.get(name, {}).get("status", {}).get("conditions", [])
        return next((c.get("message", "") for c in conditions if c["type"] == "PodScheduled" and c.get("reason") == "Unschedulable"), None)


class Provisioner:
    """Makes the volume of a claim for which the scheduler chose a node, as a storage driver would."""

    def __init__(self, api):
        self.api = api
        self.done = set()
        watch(api, "/api/v1/persistentvolumeclaims", self._seen)

    def _seen(self, kind, claim):
        metadata = claim["metadata"]
        if kind == "DELETED" or SELECTED_NODE not in metadata.get("annotations", {}) or metadata["uid"] in self.done:
            return
        self.done.add(metadata["uid"])
        name = f"made-for-{metadata['name']}"
        self.api.post("/api/v1/persistentvolumes", {
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
            "spec": {"accessModes": claim["spec"]["accessModes"], "capacity": claim["spec"]["resources"]["requests"],
                     "storageClassName": claim["spec"]["storageClassName"], "csi": {"driver": "csi.test", "volumeHandle": name},
                     "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "uid": metadata["uid"],
                                  "namespace": metadata["namespace"], "name": metadata["name"]}}})
        self.api.merge(f"/api/v1/namespaces/{metadata['namespace']}/persistentvolumeclaims/{metadata['name']}",
                       {"metadata": {"annotations": {BIND_COMPLETED: "yes"}}, "spec": {"volumeName": name}})


class Judge:
    def __init__(self, cluster):
        self.api = Api(cluster)
        self.cluster = cluster
        self.probes = 0
        self.threads = ThreadPoolExecutor(THREADS)
        self._prepare()
        self.pods = Pods(self.api)
        self.provisioner = Provisioner(self.api)
        self.teller = Teller(self.api, self.pods)

    def _prepare(self):
        for name in NAMESPACES[1:]:
            self.api.post("/api/v1/namespaces", {"metadata": {"name": name}})
        for value in PRIORITIES:
            self.api.post("/apis/scheduling.k8s.io/v1/priorityclasses", {
                "metadata": {"name": f"priority-{value}"}, "value": value, "preemptionPolicy": "Never"})
        deadline = time.monotonic() + STARTUP_SECONDS
        while any(self.cluster.find(f"/api/v1/namespaces/{name}/serviceaccounts/default") is None for name in NAMESPACES):
            assert time.monotonic() < deadline, "no default service account"
            time.sleep(0.05)
        # From here on only the scheduler acts: no taints by heartbeat, no DaemonSets' pods, no kubelets.
        for program in ("kube-controller-manager", "kwok"):
            self.cluster.kill(program)
        self._make_barrier()

    def judge(self, workload):
        """Returns what the scheduler did with our plan: steered, left alone, and with nominations for the new machines."""
        label = f"workload%3Dw{workload['seed']}"
        self._make_nodes(workload, ready=True)
        for storage_class in workload["classes"]:
            self.api.post("/apis/storage.k8s.io/v1/storageclasses", storage_class)
        verdict = {"seed": workload["seed"], "features": workload["features"]}
        self._steered(workload, verdict)
        self._left_alone(workload, verdict)
        self._told_together(workload, verdict)
        self._told_one_by_one(workload, verdict)
        # The scheduler learns of this, as of all changes of nodes, before the next workload's pods exist.
        self.api.call("DELETE", f"/api/v1/nodes?labelSelector={label}")
        self.api.call("DELETE", f"/apis/storage.k8s.io/v1/csinodes?labelSelector={label}")
        return verdict

    def _each(self, function, items):
        list(self.threads.map(function, items))

    def _make_nodes(self, workload, ready, joining=False):
        """Makes the ready nodes, or those that were launched or are coming. With `joining`, their kubelets still start."""
        entries = [entry for entry in workload["nodes"] if entry["ready"] == ready]
        self._each(lambda entry: self._make_node(workload["seed"], entry, [NOT_READY] if joining else []), entries)
        self._wait_until_nodes_are_known()

    def _make_barrier(self):
        self.api.post("/api/v1/nodes", {
            "metadata": {"name": BARRIER},
            "status": {"allocatable": {"pods": "1"}, "capacity": {"pods": "1"},
                       "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}]}})
        self.api.merge(f"/api/v1/nodes/{BARRIER}", {"spec": {"taints": [{"key": BARRIER, "effect": "NoSchedule"}]}})

    def _make_node(self, seed, entry, more_taints):
        node = copy.deepcopy(entry["node"])
        name = node["metadata"]["name"]
        node["metadata"]["labels"] |= {"workload": f"w{seed}", "test-ready": str(entry["ready"])}
        node["status"]["capacity"] = node["status"]["allocatable"]
        node["status"]["conditions"] = [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}]
        self.api.post("/api/v1/nodes", node)
        if "csi" in entry and not self.api.find(f"/apis/storage.k8s.io/v1/csinodes/{name}"):
            entry["csi"]["metadata"]["labels"] = {"workload": f"w{seed}"}
            for driver in entry["csi"]["spec"]["drivers"]:
                driver["nodeID"] = name
            self.api.post("/apis/storage.k8s.io/v1/csinodes", entry["csi"])
        # Admission adds node.kubernetes.io/not-ready.
        self.api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": node.get("spec", {}).get("taints", []) + more_taints}})

    # The scheduler sees changes of nodes in their order, and changes of pods likewise, but not nodes before pods. The last
    # change of nodes is therefore a label of the barrier. Once a pod that demands this label is placed, the scheduler knows
    # everything before it.
    def _wait_until_nodes_are_known(self):
        self.probes += 1
        number = str(self.probes)
        self.api.merge(f"/api/v1/nodes/{BARRIER}", {"metadata": {"labels": {BARRIER: number}}})
        name = f"probe-{number}"
        probe = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
                 "spec": {"nodeSelector": {BARRIER: number}, "tolerations": [{"operator": "Exists"}],
                          "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}}
        self.api.post("/api/v1/namespaces/default/pods", probe)
        assert self.pods.wait(lambda known: self.pods.node(name), STARTUP_SECONDS), f"{name}: {self.pods.refusal(name)}"
        self.api.call("DELETE", f"/api/v1/namespaces/default/pods/{name}?gracePeriodSeconds=0")
        assert self.pods.wait(lambda known: name not in known, STARTUP_SECONDS), f"{name} is not gone"

    def _begin(self, workload, prefix, joining=False):
        """Plays until the machines join: first what was there, then the pods that fit on ready nodes, then the machines.
        Returns the entries of the other pods, and the names of all pods with a planned place so far."""
        self._each(lambda volume: self._make_volume(prefix, volume), workload["volumes"])
        self._each(lambda claim: self._make_claim(prefix, claim), workload["claims"])
        ready = {entry["node"]["metadata"]["name"] for entry in workload["nodes"] if entry["ready"]}
        self._each(lambda pod: self._make_pod(prefix, pod), [pod for pod in workload["running"] if pod["spec"]["nodeName"] in ready])
        if workload["claims"] or any("csi" in entry for entry in workload["nodes"]):
            time.sleep(CACHES_SECONDS)
        now, entries = workload["pods"][:workload["now"]], workload["pods"][workload["now"]:]
        promised = self._steer(prefix, now)
        self._make_nodes(workload, ready=False, joining=joining)
        self._each(lambda pod: self._make_pod(prefix, pod), [pod for pod in workload["running"] if pod["spec"]["nodeName"] not in ready])
        return entries, promised

    def _steer(self, prefix, entries):
        """Lets the scheduler try the planned node first for each pod. The specs keep the demands of the pods.
        Returns the planned nodes by the pods' names.

        The pods come one after the other. The scheduler's queue would sort waiting pods by their creation, and it counts
        nominated pods as if they were on their node."""
        promised = dict(self.threads.map(lambda entry: self._make_held(prefix, entry), entries))
        for entry in entries:
            path = self._path(prefix, entry["pod"])
            self.api.merge(path + "/status", {"status": {"nominatedNodeName": entry["node"]}})
            self.api.merge(path, {"spec": {"schedulingGates": None}})
            self._settle([prefix + entry["pod"]["metadata"]["name"]])
        return promised

    def _make_held(self, prefix, entry):
        def hold(spec):
            spec["schedulingGates"] = [GATE]
            spec.pop("priorityClassName", None)  # our order is kept
        return self._make_pod(prefix, entry["pod"], hold), entry["node"]

    @staticmethod
    def _path(prefix, pod):
        return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{prefix}{pod['metadata']['name']}"

    def _settle(self, names):
        """Waits until the scheduler has answered for all pods."""
        self.pods.wait(lambda known: all(self.pods.node(name) or self.pods.refusal(name) for name in names), STARTUP_SECONDS)

    def _end(self):
        for namespace in NAMESPACES:
            self.api.call("DELETE", f"/api/v1/namespaces/{namespace}/pods?gracePeriodSeconds=0")
        assert self.pods.wait(lambda known: not known, STARTUP_SECONDS), "pods are not gone"
        self.api.call("DELETE", "/api/v1/nodes?labelSelector=test-ready%3DFalse")
        self._wait_until_nodes_are_known()

    def _make_volume(self, prefix, volume):
        volume = copy.deepcopy(volume)
        volume["metadata"]["name"] = prefix + volume["metadata"]["name"]
        volume["spec"]["claimRef"]["name"] = prefix + volume["spec"]["claimRef"]["name"]
        volume["spec"]["csi"]["volumeHandle"] = volume["metadata"]["name"]
        self.api.post("/api/v1/persistentvolumes", volume)

    def _make_claim(self, prefix, claim):
        claim = copy.deepcopy(claim)
        metadata = claim["metadata"]
        del metadata["uid"]
        metadata["name"] = prefix + metadata["name"]
        if claim["spec"].get("volumeName"):
            claim["spec"]["volumeName"] = prefix + claim["spec"]["volumeName"]
            metadata["annotations"] = {BIND_COMPLETED: "yes"}
        self.api.post(f"/api/v1/namespaces/{metadata['namespace']}/persistentvolumeclaims", claim)

    def _make_pod(self, prefix, pod, change=lambda spec: None):
        pod = copy.deepcopy(pod)
        pod["metadata"]["name"] = prefix + pod["metadata"]["name"]
        for volume in pod["spec"].get("volumes", []):
            volume["persistentVolumeClaim"]["claimName"] = prefix + volume["persistentVolumeClaim"]["claimName"]
        if "priority" in pod["spec"]:
            pod["spec"]["priorityClassName"] = f"priority-{pod['spec'].pop('priority')}"
        change(pod["spec"])
        self.api.post(f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods", pod)
        return pod["metadata"]["name"]

    def _steered(self, workload, verdict):
        """Makes each pod go to its planned place, in our order. The pods that we refused come last and may go anywhere."""
        prefix = f"s{workload['seed']}-"
        entries, promised = self._begin(workload, prefix)
        impossible = [entry for entry in entries if "node" not in entry]
        promised |= self._steer(prefix, [entry for entry in entries if "node" in entry])
        pods = self.pods
        late = [name for name in promised if not pods.node(name)]
        pods.wait(lambda known: all(pods.node(name) for name in promised), PATIENCE_SECONDS)
        refused = [self._make_pod(prefix, entry["pod"]) for entry in impossible]
        self._settle(refused)
        verdict["promised"] = len(promised)
        verdict["impossible"] = len(refused)
        verdict["refused"] = [f"{name} on {node}: {pods.refusal(name)}" for name, node in promised.items() if pods.node(name) != node]
        verdict["late"] = len(late) - len(verdict["refused"])
        verdict["wrongly_placed"] = [f"{name} is on {pods.node(name)}, we said {entry['reasons']}"
                                     for name, entry in zip(refused, impossible) if pods.node(name)]
        self._end()

    def _left_alone(self, workload, verdict):
        """Lets the pods with a planned machine come in the order of their arrival, and the scheduler choose freely."""
        prefix = f"u{workload['seed']}-"
        entries, _ = self._begin(workload, prefix)
        names = [self._make_pod(prefix, entry["pod"]) for entry in self._arrived(workload, entries)]
        verdict["left_over"] = self._left_over(names)

    def _told_together(self, workload, verdict):
        """Works as _left_alone, but nominates each pod for its node before the scheduler may try any of them."""
        prefix = f"t{workload['seed']}-"
        entries, _ = self._begin(workload, prefix)
        arrived = self._arrived(workload, entries)
        names = [self._make_pod(prefix, entry["pod"], lambda spec: spec.update(schedulingGates=[GATE])) for entry in arrived]
        for entry in arrived:
            self.api.merge(self._path(prefix, entry["pod"]) + "/status", {"status": {"nominatedNodeName": entry["node"]}})
        self.teller.begin(self._wishes(prefix, arrived))
        for entry in arrived:
            self.api.merge(self._path(prefix, entry["pod"]), {"spec": {"schedulingGates": None}})
        verdict["left_over_though_told"] = self._left_over(names)

    def _told_one_by_one(self, workload, verdict):
        """Nominates pods that were already refused, while the nodes are not ready yet. The nodes become ready one after the
        other. A pod that may not use its own node yet takes free room elsewhere."""
        prefix = f"o{workload['seed']}-"
        entries, _ = self._begin(workload, prefix, joining=True)
        arrived = self._arrived(workload, entries)
        names = [self._make_pod(prefix, entry["pod"]) for entry in arrived]
        self._settle(names)
        self.teller.begin(self._wishes(prefix, arrived))
        for entry in workload["nodes"]:
            if not entry["ready"]:
                name = entry["node"]["metadata"]["name"]
                self.api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": entry["node"].get("spec", {}).get("taints", [])}})
                self.teller.opened(name)
        verdict["left_over_one_by_one"] = self._left_over(names)

    @staticmethod
    def _arrived(workload, entries):
        waiting = {entry["pod"]["metadata"]["name"]: entry for entry in entries if "node" in entry}
        return [waiting[name] for name in workload["arrival"] if name in waiting]

    def _wishes(self, prefix, entries):
        return {prefix + entry["pod"]["metadata"]["name"]: (self._path(prefix, entry["pod"]), entry["node"]) for entry in entries}

    def _left_over(self, names):
        self.pods.wait(lambda known: all(self.pods.node(name) for name in names), PATIENCE_SECONDS)
        left_over = [f"{name}: {self.pods.refusal(name)}" for name in names if not self.pods.node(name)]
        self.teller.end()
        self._end()
        return left_over
