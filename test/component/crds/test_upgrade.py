"""Tests that objects of an earlier commit stay as they are under today's CRDs, and under those of that commit afterwards."""

import copy
import json
import re
import subprocess

import pytest
import yaml

from conftest import NAMESPACE, ROOT, wait_for

BEFORE = "d0258b80ec50787e6cd3888cd73005ff2af96dce"
GROUP = "kubenodesmith.parawell.cloud"


def at_that_commit(*argv):
    done = subprocess.run(["git", "-C", ROOT, *argv], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip("this clone has no history: " + done.stderr.strip())
    return done.stdout


def documents(folder):
    names = at_that_commit("ls-tree", "-r", "--name-only", BEFORE, f"{folder}/").split()
    texts = [at_that_commit("show", f"{BEFORE}:{name}") for name in names if name.endswith(".yaml")]
    return [document for text in texts for document in yaml.safe_load_all(text) if document]


def key(thing):
    return thing["kind"], thing["metadata"]["name"]


def samples():
    """Returns the samples of that commit, one for each kind and name."""
    ours = [thing for thing in documents("samples") if thing.get("apiVersion", "").startswith(GROUP + "/") and "spec" in thing]
    # Overlays of kustomize hold parts of objects.
    ours = [thing for thing in ours if thing["kind"] != "NodeSmithPool" or {"providerRef", "limits"} <= set(thing["spec"])]
    found = {}
    for thing in ours:
        thing["metadata"]["namespace"] = NAMESPACE
        found.setdefault(key(thing), thing)
    return list(found.values())


def example(schema):
    """Returns a value that the schema accepts, with every member that it knows; None: this test can think of none."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("x-kubernetes-int-or-string"):
        return 1
    kind = schema.get("type")
    if kind == "object":
        if isinstance(schema.get("additionalProperties"), dict):
            return {"a": example(schema["additionalProperties"])}
        members = {name: example(inner) for name, inner in schema.get("properties", {}).items()}
        known = {name: value for name, value in members.items() if value is not None}
        return known if set(schema.get("required", [])) <= set(known) else None
    if kind == "array":
        value = example(schema["items"])
        return None if value is None else [value]
    if kind == "integer":
        return max(1, schema.get("minimum", 1))
    if kind == "boolean":
        return True
    if schema.get("format") == "date-time":
        return "2026-01-31T12:00:00Z"
    if "x-kubernetes-validations" in schema:
        return None
    words = ["a" * max(1, schema.get("minLength", 1)), "Ready", "1", "10m"]
    return next((word for word in words if re.search(schema.get("pattern", ""), word)), None)


def without_traces(thing):
    """Returns the object without what the API server counts."""
    thing = copy.deepcopy(thing)
    for name in ("managedFields", "resourceVersion"):
        thing["metadata"].pop(name, None)
    return thing


def stored(cluster):
    items = json.loads(cluster.kubectl("get", "kubenodesmith", "-n", NAMESPACE, "-o", "json", "--show-managed-fields=false"))["items"]
    return {key(item): without_traces(item) for item in items}


def differences(before, after, place=""):
    """Yields the members of `before` that `after` has not. Members that are new in `after` are no difference."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name, value in before.items():
            if name in after:
                yield from differences(value, after[name], f"{place}.{name}")
            else:
                yield f"{place}.{name} is gone"
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (one, other) in enumerate(zip(before, after)):
            yield from differences(one, other, f"{place}[{i}]")
    elif before != after:
        yield f"{place}: {before} became {after}"


@pytest.fixture
def crds(clean):
    """Returns a function that installs CRDs and waits until the API server uses them."""
    def install(documents_of_crds, field, has_it):
        clean.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=yaml.safe_dump_all(documents_of_crds))
        path = f"/openapi/v3/apis/{GROUP}/v1alpha1"
        wait_for("the CRDs to be used", lambda: (field in clean.kubectl("get", "--raw", path)) == has_it)
    yield install
    clean.kubectl("apply", "--server-side", "--force-conflicts", "-k", ROOT / "crds")


def test_objects_of_an_earlier_commit_stay_what_they_are_there_and_back(clean, crds):
    old = [crd for crd in documents("crds") if crd.get("kind") == "CustomResourceDefinition"]
    new = [yaml.safe_load(file.read_text()) for file in sorted((ROOT / "crds").glob("nodesmith*.yaml"))]
    recent = "undeclaredTaints"  # a field that those CRDs had not
    crds(old, recent, False)
    schemas = {crd["spec"]["names"]["kind"]: crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] for crd in old}
    for thing in samples():
        clean.kubectl("create", "-f", "-", stdin=json.dumps(thing))
        status = json.dumps({"status": example(schemas[thing["kind"]]["status"])})
        clean.kubectl("patch", thing["kind"].lower(), thing["metadata"]["name"], "-n", NAMESPACE, "--type=merge", "--subresource=status", "-p", status)
    before = stored(clean)
    assert {kind for kind, _ in before} == set(schemas)

    crds(new, recent, True)
    after = stored(clean)
    assert {name: list(differences(thing, after[name])) for name, thing in before.items() if list(differences(thing, after[name]))} == {}
    for kind, name in before:
        # The operator's own writes: a finalizer, and a status.
        clean.kubectl("patch", kind.lower(), name, "-n", NAMESPACE, "--type=merge", "-p", '{"metadata": {"finalizers": ["example.org/a"]}}')
        clean.kubectl("patch", kind.lower(), name, "-n", NAMESPACE, "--type=merge", "--subresource=status", "-p", '{"status": {"observedGeneration": 7}}')
        clean.kubectl("patch", kind.lower(), name, "-n", NAMESPACE, "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
    assert {name: thing["metadata"]["generation"] for name, thing in stored(clean).items()} == {
        name: thing["metadata"]["generation"] for name, thing in before.items()}

    crds(old, recent, False)
    back = stored(clean)
    for name, thing in before.items():
        thing["status"]["observedGeneration"] = 7
        assert back[name] == thing, list(differences(thing, back[name]))
