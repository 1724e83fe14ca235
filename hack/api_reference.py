#!/usr/bin/env python3
"""Writes docs/api.md from crds/: api_reference.py [--check]. With --check it only reports whether the page is current."""

import json
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/api.md"
# The kinds are in the order in which a user meets them.
KINDS = ["nodesmithproviders", "nodesmithpools", "nodesmithcontrolplanes", "nodesmithclaims", "nodesmithhosts"]

HEAD = """# API reference

Made from `crds/` by `hack/api_reference.py`; do not edit. `kubectl explain nodesmithpools.spec` shows fields,
descriptions and defaults in a cluster.
All kinds are namespaced, in `kubenodesmith.parawell.cloud/v1alpha1`, and in the category `kubenodesmith`.
"""


def type_of(schema):
    if schema.get("x-kubernetes-preserve-unknown-fields") and "type" not in schema:
        return "any"
    if schema.get("x-kubernetes-int-or-string"):
        return "number or text"
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {type_of(schema['items'])}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"map to {type_of(schema['additionalProperties'])}"
    return {"integer": "integer", "boolean": "boolean", "string": "text", "object": "object"}.get(kind, kind)


def bounds_of(schema):
    parts = []
    if "enum" in schema:
        parts.append("one of " + ", ".join(f"`{value}`" for value in schema["enum"]))
    if "minimum" in schema or "maximum" in schema:
        low, high = schema.get("minimum"), schema.get("maximum")
        parts.append(f"{low} to {high}" if None not in (low, high) else f"at least {low}" if high is None else f"at most {high}")
    parts += [rule["message"] for rule in schema.get("x-kubernetes-validations", []) if "message" in rule]
    return parts


def sentence(text):
    """The text with a full stop and a capital, except where it begins with the name of a field or device."""
    text = text.strip().rstrip(".")
    first = text.split(" ")[0].rstrip(":,")
    is_name = any(letter.isupper() or letter.isdigit() or letter in "._" for letter in first[1:])
    return (text if is_name else text[:1].upper() + text[1:]) + "."


def described_default(schema):
    """The sentence that ends the description of a field with such a default, for kubectl explain; "" if none has to."""
    default = schema.get("default")
    if default in (None, "") or isinstance(default, (dict, list)):
        return ""
    return f"Default: {json.dumps(default) if isinstance(default, bool) else default}."


def without_default(schema):
    """The description without that sentence, because the page has a column for defaults."""
    return schema.get("description", "").strip().removesuffix(described_default(schema)).strip()


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def rows(schema, prefix=""):
    """Returns a row for each field below `schema`, depth first."""
    required = set(schema.get("required", []))
    for name, field in schema.get("properties", {}).items():
        path = prefix + name
        kind = type_of(field) + (", required" if name in required else "")
        default = field.get("default")
        default = f"`{json.dumps(default)}`" if default not in (None, {}, []) else ""
        description = " ".join(sentence(part) for part in [without_default(field), *bounds_of(field)] if part)
        yield f"| `{path}` | {kind} | {cell(default)} | {cell(description)} |"
        inner = field["items"] if field.get("type") == "array" else field
        mark = "[]." if field.get("type") == "array" else "."
        yield from rows(inner, path + mark)


def section(crd):
    names = crd["spec"]["names"]
    version = crd["spec"]["versions"][0]
    schema = version["schema"]["openAPIV3Schema"]
    yield f"\n## {names['kind']} (`{names['shortNames'][0]}`)\n"
    yield " ".join(schema["description"].split()) + "\n"
    for part in ("spec", "status"):
        yield f"### {part} of {names['kind']}\n"
        rules = bounds_of(schema["properties"][part])
        if rules:
            yield "Rules: " + "; ".join(rules) + ".\n"
        yield "| field | type | default | |\n|---|---|---|---|"
        yield from rows(schema["properties"][part])
        yield ""


def page():
    crds = [yaml.safe_load((ROOT / "crds" / f"{kind}.yaml").read_text()) for kind in KINDS]
    return HEAD + "\n".join(line for crd in crds for line in section(crd)).rstrip() + "\n"


def main():
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text() != page():
            print("docs/api.md is not current: run hack/api_reference.py", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
