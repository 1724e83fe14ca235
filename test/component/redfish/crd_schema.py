"""Checks objects against the schema of their CRD, as an API server does before it stores them."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


def schema_of(plural):
    versions = yaml.safe_load((ROOT / f"crds/{plural}.yaml").read_text())["spec"]["versions"]
    return next(version for version in versions if version["storage"])["schema"]["openAPIV3Schema"]


def faults(value, schema, at=""):
    """Returns everything that the server would answer with 422, each with its place."""
    kind = schema.get("type")
    is_wrong = kind and (not isinstance(value, KINDS[kind]) or (isinstance(value, bool) and kind != "boolean"))
    if is_wrong:
        return [f"{at}: {value!r} is no {kind}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at}: {value!r} is not among {schema['enum']}")
    if isinstance(value, str):
        found += text_faults(value, schema, at)
    elif isinstance(value, (int, float)) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        found.append(f"{at}: {value} is out of bounds")
    elif isinstance(value, list):
        found += list_faults(value, schema, at)
    elif isinstance(value, dict):
        properties = schema.get("properties", {})
        found += [f"{at}.{name}: is missing" for name in schema.get("required", []) if name not in value]
        for name, each in value.items():
            known = properties.get(name, schema.get("additionalProperties"))
            if isinstance(known, dict):
                found += faults(each, known, f"{at}.{name}")
            elif properties and name not in ("apiVersion", "kind", "metadata"):
                found.append(f"{at}.{name}: no such field")
    return found


def text_faults(value, schema, at):
    found = []
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        found.append(f"{at}: {len(value)} characters")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{at}: {value!r} does not match {schema['pattern']}")
    return found


def list_faults(value, schema, at):
    found = [fault for i, each in enumerate(value) for fault in faults(each, schema.get("items", {}), f"{at}[{i}]")]
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        found.append(f"{at}: {len(value)} items")
    kind = schema.get("x-kubernetes-list-type")
    keys = schema.get("x-kubernetes-list-map-keys", [])
    identities = [tuple(each.get(key) for key in keys) if kind == "map" else str(each) for each in value]
    if kind in ("set", "map") and len(set(identities)) < len(identities):
        found.append(f"{at}: an entry twice in {value}")
    return found
