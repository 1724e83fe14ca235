"""Compares the simulator's own table of endpoints with Proxmox' API definition. Also compares its judgements with those of a
validator that was made from that definition alone."""

import importlib.util
import json
import os
import random
import re
import subprocess
from pathlib import Path

import pytest
import requests_of_all_kinds

# These are intentionally served with fewer parameters than Proxmox has.
SUBSETS = {"PUT /cluster/options": "only what a node autoscaler's tests set",
           "PUT /nodes/{node}/config": "what concerns neither certificates nor places"}
# These are written in another way that accepts the same values.
SAME_LANGUAGE = {"userid", "host", "cputype", "device-id", "sub-device-id", "sub-vendor-id", "vendor-id"}
# The definition holds only a part of Proxmox' endpoints. These are declared as in pve-manager.
NODE = {"node": {"type": "string", "format": "pve-node"}}
CHECK_NODE = {"check-node": {"type": "string", "format": "pve-node", "optional": 1}}
MAPPING = {"id": {"type": "string", "format": "pve-configid"}}
DEVICE_ID = "(0x)?[0-9A-Fa-f]{4}:(0x)?[0-9A-Fa-f]{4}"
MAPPED = {"property-string": {
    "node": {"type": "string", "format": "pve-node"}, "path": {"type": "string"}, "id": {"type": "string", "pattern": DEVICE_ID},
    "subsystem-id": {"type": "string", "pattern": DEVICE_ID, "optional": 1},
    "iommugroup": {"type": "integer", "minimum": 0, "optional": 1}, "description": {"type": "string", "optional": 1}}}
ABOUT_MAPPING = {"description": {"type": "string", "maxLength": 4096, "optional": 1}, "mdev": {"type": "boolean", "optional": 1},
                 "live-migration-capable": {"type": "boolean", "optional": 1}}
HARDWARE = {"proxyto": "node", "protected": 1, "permissions": {"check": ["perm", "/", ["Sys.Audit", "Sys.Modify"], "any", 1]}}
BEYOND_THE_DEFINITION = {
    "GET /nodes/{node}/certificates/info": {
        "parameters": {"properties": NODE}, "proxyto": "node", "permissions": {"user": "all"}},
    "GET /cluster/mapping/pci": {"parameters": {"properties": CHECK_NODE}, "permissions": {"user": "all"}},
    "GET /cluster/mapping/usb": {"parameters": {"properties": CHECK_NODE}, "permissions": {"user": "all"}},
    "GET /cluster/mapping/pci/{id}": {"parameters": {"properties": MAPPING}, "permissions": {"user": "all"}},
    "POST /cluster/mapping/pci": {
        "parameters": {"properties": MAPPING | ABOUT_MAPPING | {"map": {"type": "array", "format": MAPPED}}},
        "protected": 1, "permissions": {"check": ["perm", "/mapping/pci", ["Mapping.Modify"]]}},
    "PUT /cluster/mapping/pci/{id}": {
        "parameters": {"properties": MAPPING | ABOUT_MAPPING | {
            "map": {"type": "array", "format": MAPPED, "optional": 1},
            "delete": {"type": "string", "format": "pve-configid-list", "optional": 1},
            "digest": {"type": "string", "maxLength": 64, "optional": 1}}},
        "protected": 1, "permissions": {"check": ["perm", "/mapping/pci/{id}", ["Mapping.Modify"]]}},
    "DELETE /cluster/mapping/pci/{id}": {
        "parameters": {"properties": MAPPING}, "protected": 1,
        "permissions": {"check": ["perm", "/mapping/pci/{id}", ["Mapping.Modify"]]}},
    "GET /nodes/{node}/hardware/pci": HARDWARE | {"parameters": {"properties": NODE}},
    "GET /nodes/{node}/hardware/pci/{pci-id-or-mapping}/mdev": HARDWARE | {
        "parameters": {"properties": NODE | {"pci-id-or-mapping": {"type": "string"}}}},
    "GET /cluster/ha/groups": {"parameters": {"properties": {}}, "permissions": {"check": ["perm", "/", ["Sys.Audit"]]}}}
OF_ONE_TYPE = {"POST /cluster/ha/rules": "a rule's parameters depend on its type"}
# Proxmox states these rights as an expression, and the handlers check them.
CHECKED_INSIDE = {"PUT /access/acl", "POST /access/users", "DELETE /access/users/{userid}",
                  "GET /access/users/{userid}/token", "GET /access/users/{userid}/token/{tokenid}",
                  "POST /access/users/{userid}/token/{tokenid}", "DELETE /access/users/{userid}/token/{tokenid}",
                  "POST /nodes/{node}/qemu/{vmid}/clone", "POST /nodes/{node}/storage/{storage}/download-url",
                  "GET /cluster/options"}


def program():
    return Path(os.environ["KUBENODESMITH_BIN"]) / "proxmox-simulator"


@pytest.fixture(scope="module")
def definition(reference):
    return json.loads((reference / "data" / "proxmox-api.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def table():
    return json.loads(subprocess.check_output([program(), "--describe"]))


def group_of(definition, property_):
    """Returns the keys of a property string, or None."""
    form = property_.get("format")
    if isinstance(form, dict):
        return form.get("property-string")
    known = definition["formats"].get(form, {})
    return known.get("properties") if known.get("kind") == "property-string" else None


def declared(definition, property_):
    """Returns a declaration of Proxmox in the notation of the simulator's own declarations."""
    if "alias" in property_:
        return {key: property_[key] for key in ("alias", "keyAlias") if key in property_}
    result = {key: property_[key] for key in ("type", "pattern", "enum", "minimum", "maximum", "minLength", "maxLength",
                                              "requires", "index", "default_key") if key in property_}
    result.setdefault("type", "string")
    result["required"] = not property_.get("optional")
    group = group_of(definition, property_)
    if group is not None:
        result["properties"] = {key: declared(definition, value) for key, value in group.items()}
    elif "format" in property_:
        result["format"] = property_["format"]
    return result


def normal(declaration, name=""):
    """Removes parts that say the same in another way."""
    result = dict(declaration)
    result.setdefault("required", False)
    if "alias" in result:
        return {key: result[key] for key in ("alias", "keyAlias") if key in result}
    if name in SAME_LANGUAGE:
        result.pop("pattern", None)
    if "enum" in result:
        result["enum"] = sorted(result["enum"])
    if "pattern" in result:
        result["pattern"] = re.sub(r"^\(\?:(.*)\)$", r"\1", result["pattern"]).replace("\\/", "/").strip("^$")
    for key in ("minimum", "maximum"):
        if key in result:
            result[key] = float(result[key])
    if "properties" in result:
        result["properties"] = {key: normal(value, key) for key, value in result["properties"].items()}
    return result


def differences(theirs, ours, path):
    if theirs == ours:
        return []
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return [text for key in sorted(set(theirs) | set(ours))
                for text in differences(theirs.get(key), ours.get(key), f"{path}.{key}")]
    return [f"{path}: Proxmox has {theirs!r}, the simulator {ours!r}"]


def test_every_endpoint_is_declared_as_in_proxmox(definition, table):
    known = BEYOND_THE_DEFINITION | {f"{e['method']} {e['path']}": e for e in definition["endpoints"]}
    found = []
    for endpoint in table:
        name = f"{endpoint['method']} {endpoint['path']}"
        if name not in known:
            found.append(f"{name}: Proxmox has no such endpoint")
            continue
        theirs = known[name]
        if name in OF_ONE_TYPE:
            found += [f"{name}: {text}" for text in route_differences(name, theirs, endpoint)]
            continue
        parameters = theirs["parameters"].get("properties", {})
        for key in sorted(set(parameters) | set(endpoint["parameters"])):
            if key not in endpoint["parameters"] and name in SUBSETS:
                continue
            mine = endpoint["parameters"].get(key)
            real = parameters.get(key)
            if real is None or mine is None:
                found.append(f"{name} {key}: declared by {'Proxmox' if real else 'the simulator'} only")
                continue
            found += differences(normal(declared(definition, real), key), normal(mine, key), f"{name} {key}")
        found += [f"{name}: {text}" for text in route_differences(name, theirs, endpoint)]
    assert not found, "\n".join(found)


def route_differences(name, theirs, ours):
    if bool(theirs.get("protected")) != ours["daemon"]:
        yield f"protected is {bool(theirs.get('protected'))}"
    if (theirs.get("proxyto") == "node") != ours["node"]:
        yield f"proxyto is {theirs.get('proxyto')}"
    if theirs.get("allowtoken", True) != ours["tokens"]:
        yield f"allowtoken is {theirs.get('allowtoken')}"
    permissions = theirs.get("permissions") or {}
    if permissions.get("user") == "world" and ours["access"] != "world":
        yield "is open to the world"
    check = permissions.get("check")
    if name in CHECKED_INSIDE or not check:
        return
    if ours["access"] != "privilege" or check[:2] != ["perm", ours["permissionPath"]] or set(check[2]) != set(ours["privileges"]):
        yield f"permission is {check}, not {ours['permissionPath']} {ours['privileges']}"


@pytest.fixture(scope="module")
def validator(reference):
    """Provides the reference validator, which knows only Proxmox' definition."""
    path = reference / "tools" / "proxmox-scenarios" / "schema_check.py"
    spec = importlib.util.spec_from_file_location("schema_check", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.S(str(reference / "data" / "proxmox-api.json"))


# Proxmox checks these with code that the reference validator does not have.
BEYOND_THE_VALIDATOR = {"email"}


def test_requests_are_judged_as_by_proxmox_definition(definition, table, validator):
    """Both find the same parameters wrong in thousands of right and wrong requests."""
    generator = requests_of_all_kinds.Generator(definition, random.Random(1))
    served = [e for e in definition["endpoints"]
              if any(e["method"] == t["method"] and e["path"] == t["path"] for t in table)
              and f"{e['method']} {e['path']}" not in SUBSETS | OF_ONE_TYPE]
    questions = [generator.request(endpoint) for endpoint in served for _ in range(60)]
    answers = subprocess.run([program(), "--check-requests"], input="\n".join(map(json.dumps, questions)) + "\n",
                             capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(answers) == len(questions)
    wrong, refused = [], 0
    for question, answer in zip(questions, answers):
        expected = set(validator.check(question["method"], question["path"], question["params"]))
        got = set(json.loads(answer)["errors"])
        refused += bool(expected)
        if expected - BEYOND_THE_VALIDATOR != got - BEYOND_THE_VALIDATOR:
            wrong.append(f"{question}: Proxmox complains of {sorted(expected)}, the simulator of {json.loads(answer)['errors']}")
    assert refused > len(questions) / 5
    assert not wrong, f"{len(wrong)} of {len(questions)}:\n" + "\n".join(wrong[:20])
