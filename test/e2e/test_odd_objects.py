"""Tests that one odd object stops nothing: neither its kind, nor the others, nor anything after it is gone.

The tests try everything that the API server stores for a user of one namespace, or for a program with rights on Nodes."""

import itertools
import json
import os
import urllib.error

import manifests
import pytest
from disruption import all_ready, apply_all, claim_names, wait_running
from stack import NAMESPACE, ROOT, Stack, condition, running_pods, wait_for, wait_until

TENANT = "tenant"
CUSTOM = "/apis/kubenodesmith.parawell.cloud/v1alpha1"
CONTAINER = {"name": "a", "image": "registry.example/app:1"}
# A user with the ClusterRole edit and one who may edit our kinds can write these: path of the API, resource and a valid object.
KINDS = [
    ("/api/v1", "Pod", "pods", {"spec": {"nodeSelector": {"never": "here"}, "containers": [CONTAINER]}}),
    ("/apis/apps/v1", "DaemonSet", "daemonsets", {"spec": {"selector": {"matchLabels": {"app": "a"}}, "template": {
        "metadata": {"labels": {"app": "a"}}, "spec": {"nodeSelector": {"never": "here"}, "containers": [CONTAINER]}}}}),
    ("/api/v1", "PersistentVolumeClaim", "persistentvolumeclaims",
     {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}),
    ("/apis/policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", {"spec": {"selector": {"matchLabels": {"app": "a"}}}}),
    (CUSTOM, "NodeSmithPool", "nodesmithpools", {"spec": manifests.pool()["spec"]}),
    (CUSTOM, "NodeSmithClaim", "nodesmithclaims", {"spec": manifests.claim("a")["spec"]}),
    (CUSTOM, "NodeSmithControlPlane", "nodesmithcontrolplanes", {"spec": {"pools": ["none"]}}),
    (CUSTOM, "NodeSmithProvider", "nodesmithproviders", {"spec": {"type": "proxmox", "proxmox": {
        "endpoint": "https://127.0.0.1:1/api2/json", "networkInterfaces": [{"name": "net0", "model": "virtio", "bridge": "vmbr0"}]}}}),
    (CUSTOM, "NodeSmithHost", "nodesmithhosts", {"spec": {"providerRef": "rack", "bmc": {"address": "https://127.0.0.1:1"}}}),
]
LARGE = 2**63 - 1
# `make leaves` visits all of them, `make test` one of six.
STRIDE = 1 if os.environ.get("KUBENODESMITH_ALL_LEAVES") else 6


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """Provides an operator that manages all namespaces, but may read no Secrets of the tenant, whose objects name many."""
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        running.run_as_its_account()
        running.operator.start().wait_ready()
        yield running


def extremes(schema):
    """Returns values of a leaf at and beyond the edges of its type."""
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string" or "Quantity" in schema.get("$ref", ""):
        return [LARGE, "1e1.5", "9" * 60, "100%"]
    kind = schema.get("type")
    if kind == "integer":
        return [LARGE, -LARGE - 1, 2**31 - 1]
    if kind == "number":
        return [1e308, LARGE]
    if kind == "boolean":
        return [True]
    if schema.get("format") == "date-time":
        return ["9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "2026-02-31t00:00:00z"]
    if kind == "string":
        return ["Dreaming", "9999999h", "x" * 300, ""]
    return []


def resolved(schema, definitions):
    """Returns the referenced schema; amounts and "number or text" stay leaves."""
    name = schema.get("$ref") or next((each["$ref"] for each in schema.get("allOf", []) if "$ref" in each), None)
    if not name:
        return schema
    if any(text in name for text in ("Quantity", "IntOrString")):
        return {"x-kubernetes-int-or-string": True}
    return definitions[name.rsplit("/", 1)[1]]


def leaves(schema, definitions, place=(), depth=12):
    """Yields (place, schema) of every leaf except those of metadata and status. Lists and maps have one element."""
    schema = resolved(schema, definitions)
    if depth == 0:
        return
    if "properties" in schema:
        for name, inner in schema["properties"].items():
            if place == () and name in ("apiVersion", "kind", "metadata", "status"):
                continue
            yield from leaves(inner, definitions, (*place, name), depth - 1)
    elif "items" in schema:
        yield from leaves(schema["items"], definitions, (*place, 0), depth - 1)
    elif isinstance(schema.get("additionalProperties"), dict):
        yield from leaves(schema["additionalProperties"], definitions, (*place, "example.org/key"), depth - 1)
    else:
        yield place, schema


def least(schema, definitions):
    """Returns the smallest value that the schema accepts."""
    schema = resolved(schema, definitions)
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("x-kubernetes-int-or-string"):
        return 1
    kind = schema.get("type")
    if "properties" in schema or kind == "object":
        return {name: least(schema["properties"][name], definitions) for name in schema.get("required", [])}
    return {"array": [], "integer": 1, "number": 1, "boolean": True}.get(kind, "a")


def with_value(node, place, value, schema, definitions):
    """Returns a copy of the object in which the place has the value. Missing parents are made with their required fields,
    and existing values stay."""
    if not place:
        return value
    schema = resolved(schema, definitions)
    first, rest = place[0], place[1:]
    if first == 0:
        items = list(node) if node else [least(schema["items"], definitions)]
        return [with_value(items[0], rest, value, schema["items"], definitions), *items[1:]]
    members = dict(node) if node is not None else least(schema, definitions)
    inner = schema["properties"][first] if "properties" in schema else schema["additionalProperties"]
    members[first] = with_value(members.get(first), rest, value, inner, definitions)
    return members


class Editor:
    """Sends requests as a user who may edit one namespace."""

    def __init__(self, stack):
        self.cluster = stack.cluster
        stack.cluster.kubectl("delete", "namespace", TENANT, "--ignore-not-found")
        stack.cluster.kubectl("create", "namespace", TENANT)
        stack.cluster.kubectl("create", "rolebinding", "edit", "-n", TENANT, "--clusterrole=edit", "--user=mallory")
        stack.cluster.kubectl("create", "role", "ours", "-n", TENANT, "--verb=*", "--resource=*.kubenodesmith.parawell.cloud")
        stack.cluster.kubectl("create", "rolebinding", "ours", "-n", TENANT, "--role=ours", "--user=mallory")
        self.kubeconfig = stack.cluster.user_kubeconfig(stack.folder / "mallory.kubeconfig", "mallory")

    def kubectl(self, *arguments, **options):
        return self.cluster.kubectl("-n", TENANT, *arguments, kubeconfig=self.kubeconfig, **options)

    def store_all(self, group, kind, objects):
        """Returns how many of the objects the API server stores."""
        version = group.removeprefix("/apis/").removeprefix("/api/")
        text = "\n---\n".join(json.dumps({"apiVersion": version, "kind": kind, **each}) for each in objects)
        done = self.kubectl("create", "--validate=false", "-f", "-", stdin=text, check=False)
        return done.stdout.count("created")


def failures(stack):
    return {series: value for series, value in stack.operator.metrics().items() if series.startswith("kubenodesmith_informer_failures_total")}


def undecodable(stack):
    return {series: value for series, value in stack.operator.metrics().items() if series.startswith("kubenodesmith_undecodable_objects") and value}


def sees_new_objects(stack, marker):
    """Checks that the operator goes on: it sees a pod that was made after all the others."""
    stack.apply(manifests.deployment(marker, 1, nodeSelector={"never": "here"}))
    wait_for(f"an Event about a pod of {marker}", lambda: any(
        event["reason"] == "NoNodeForPod" and event["involvedObject"]["name"].startswith(marker) for event in stack.events("default")))
    stack.cluster.kubectl("delete", "deployment", marker)


def test_the_extremes_of_each_leaf_stop_no_informer(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    editor = Editor(stack)
    before = failures(stack)
    visited = stored = sent = 0
    for group, kind, plural, valid in KINDS:
        document = stack.cluster.api("GET", f"/openapi/v3{group}")
        definitions = document["components"]["schemas"]
        root = next(schema for schema in definitions.values() if any(
            gvk["kind"] == kind for gvk in schema.get("x-kubernetes-group-version-kind", [])))
        objects = []
        for place, schema in itertools.islice(leaves(root, definitions), 0, None, STRIDE):
            visited += 1
            for value in extremes(schema):
                made = with_value(valid, place, value, root, definitions)
                objects.append({"metadata": {"name": f"odd-{len(objects)}"}, **made})
        sent += len(objects)
        for start in range(0, len(objects), 200):
            stored += editor.store_all(group, kind, objects[start:start + 200])
        assert failures(stack) == before, f"{kind}: {stack.operator.log_tail()}"
        editor.kubectl("delete", plural, "--all", "--force", "--grace-period=0", "--wait=false", check=False)
    sees_new_objects(stack, "after-all")
    assert failures(stack) == before, stack.operator.log_tail()
    print(f"{visited} leaves visited, {sent} objects sent, {stored} stored, undecodable now: {undecodable(stack)}")
    assert visited > 1000 / STRIDE
    assert stored > 300 / STRIDE


def test_a_daemon_set_of_a_tenant_does_not_keep_a_new_operator_from_starting(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    editor = Editor(stack)
    template = {"metadata": {"labels": {"app": "a"}, "creationTimestamp": "2300-01-01T00:00:00Z"},
                "spec": {"nodeSelector": {"never": "here"}, "containers": [CONTAINER]}}
    assert editor.store_all("/apis/apps/v1", "DaemonSet", [
        {"metadata": {"name": "calendar"}, "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template}}]) == 1
    stack.operator.kill()
    stack.operator.start().wait_ready()
    stack.apply(manifests.deployment("shop", 1))
    wait_for("the pod to run", lambda: running_pods(stack.pods()))


def test_a_pod_that_ends_in_centuries_stops_nothing(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    editor = Editor(stack)
    # No kubelet ends the pod there.
    stack.cluster.api("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "elsewhere"}})
    patient = {"spec": {"nodeName": "elsewhere", "terminationGracePeriodSeconds": 8000000000, "containers": [CONTAINER],
                        "tolerations": [{"operator": "Exists"}]}}
    assert editor.store_all("/api/v1", "Pod", [{"metadata": {"name": "patient"}, **patient}]) == 1
    editor.kubectl("delete", "pod", "patient", "--wait=false")
    ends = stack.cluster.api("GET", f"/api/v1/namespaces/{TENANT}/pods/patient")["metadata"]["deletionTimestamp"]
    assert int(ends[:4]) > 2200
    stack.apply(manifests.deployment("shop", 1))
    wait_for("the pod to run", lambda: running_pods(stack.pods()))
    assert not any(failures(stack).values())
    editor.kubectl("delete", "pod", "patient", "--force", "--grace-period=0")
    stack.cluster.api("DELETE", "/api/v1/nodes/elsewhere")


def test_an_odd_node_of_three_seconds_stops_nothing(clean):
    stack = clean
    stack.apply(*manifests.everything(stack.proxmox))
    stack.cluster.api("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "odd"}})
    odd = {"status": {"conditions": [{"type": "Disk", "status": "true"}]}}
    stack.cluster.api("PATCH", "/api/v1/nodes/odd/status", odd, "application/strategic-merge-patch+json")
    stack.cluster.api("DELETE", "/api/v1/nodes/odd")
    stack.apply(manifests.deployment("shop", 1))
    wait_for("the pod to run", lambda: running_pods(stack.pods()))
    assert not any(failures(stack).values())


def test_a_node_with_more_resources_than_a_status_holds_is_removed_when_it_is_empty(clean):
    """A device plugin can offer each serial port as a resource of its own."""
    stack = clean
    apply_all(stack)
    stack.apply(manifests.deployment("shop", 1))
    wait_running(stack, 1)
    (name,) = all_ready(stack, 1)
    ports = {f"devices.example.org/ttyS{port}": "1" for port in range(80)}
    stack.cluster.api("PATCH", f"/api/v1/nodes/{name}/status", {"status": {"capacity": ports, "allocatable": ports}},
                      "application/strategic-merge-patch+json")
    stack.cluster.kubectl("delete", "deployment", "shop")
    wait_for("the end of the claim", lambda: not claim_names(stack), 60)


def test_objects_of_a_newer_version_are_left_alone_and_all_others_are_served(clean):
    """The CRDs have values that this operator does not know, and objects use them."""
    stack = clean
    newer = {"nodesmithpools": [("drift", "Rebase")], "nodesmithclaims": [("deletionPolicy", "Hibernate")]}
    for plural, values in newer.items():
        crd = stack.cluster.kubectl("get", "crd", f"{plural}.kubenodesmith.parawell.cloud", "-o", "json")
        document = json.loads(crd)
        for field, value in values:
            add_value(document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"], field, value)
        stack.cluster.kubectl("replace", "-f", "-", stdin=json.dumps(document))
    try:
        stack.apply(*manifests.everything(stack.proxmox))
        wait_for("a pool of another namespace", lambda: stores(stack, {**manifests.pool("other", disruption={"drift": "Rebase"}),
                                                                       "metadata": {"name": "other", "namespace": "default"}}))
        claim = manifests.claim("strange")
        claim["spec"]["deletionPolicy"] = "Hibernate"
        wait_for("a strange claim", lambda: stores(stack, claim))
        stack.operator.kill()
        stack.operator.start().wait_ready()
        stack.apply(manifests.deployment("shop", 1))
        wait_for("the pod to run", lambda: running_pods(stack.pods()))
        strange = wait_until("the strange claim to say so", lambda: stack.cluster.api(
            "GET", f"{CUSTOM}/namespaces/{NAMESPACE}/nodesmithclaims/strange"), lambda found: condition(found, "Accepted"))
        assert condition(strange, "Accepted")["reason"] == "UnknownValue"
        assert 'spec.deletionPolicy has the value "Hibernate"' in condition(strange, "Accepted")["message"]
        assert "machineID" not in strange["status"]
    finally:
        stack.cluster.kubectl("delete", "nodesmithclaim", "strange", "-n", NAMESPACE, "--ignore-not-found", "--wait=false")
        stack.cluster.kubectl("delete", "nodesmithpool", "other", "-n", "default", "--ignore-not-found", "--wait=false")
        stack.cluster.kubectl("apply", "--server-side", "--force-conflicts", "-k", ROOT / "crds")


def stores(stack, manifest):
    try:
        stack.apply(manifest)
        return True
    except (RuntimeError, urllib.error.HTTPError):
        return False


def add_value(schema, field, value):
    """Adds a value to the enumeration of that field, wherever it is."""
    for name, inner in schema.get("properties", {}).items():
        if name == field and "enum" in inner:
            inner["enum"].append(value)
        add_value(inner, field, value)
