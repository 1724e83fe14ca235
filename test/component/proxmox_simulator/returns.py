"""Checks values against the `returns` schemas of Proxmox' API definition."""

import re

INTEGER = re.compile(r"[+-]?\d+")
NUMBER = re.compile(r"[+-]?(\d+\.\d+|\d+\.|\.\d+|\d+)([eE][+-]?\d+)?")


def problems(schema, value, path="data"):
    """Returns the faults as texts. Numbers may be strings, because Proxmox itself sends them so."""
    if value is None:
        # Proxmox sends null for some absent values (parent, clipboard).
        return []
    kind = schema.get("type")
    if kind == "object":
        return _object_problems(schema, value, path)
    if kind == "array":
        if not isinstance(value, list):
            return [f"{path}: {value!r} is no array"]
        return [text for number, item in enumerate(value) for text in problems(schema.get("items", {}), item, f"{path}[{number}]")]
    if kind == "null":
        return [f"{path}: {value!r} is not null"]
    return _scalar_problems(schema, kind, value, path)


def _object_problems(schema, value, path):
    if not isinstance(value, dict):
        return [f"{path}: {value!r} is no object"]
    properties = schema.get("properties", {})
    found = [f"{path}.{name}: missing" for name, property_ in properties.items()
             if not property_.get("optional") and "[n]" not in name and name not in value]
    if schema.get("additionalProperties") is False:
        found += [f"{path}.{name}: unknown" for name in value if name not in properties]
    return found + [text for name, property_ in properties.items() if name in value
                    for text in problems(property_, value[name], f"{path}.{name}")]


def _scalar_problems(schema, kind, value, path):
    if isinstance(value, (dict, list)):
        return [f"{path}: {value!r} is no {kind}"] if kind else []
    text = {True: "1", False: "0"}.get(value, str(value)) if isinstance(value, bool) else str(value)
    if kind == "boolean" and text not in ("0", "1"):
        return [f"{path}: {value!r} is no boolean"]
    if kind == "integer" and not INTEGER.fullmatch(text):
        return [f"{path}: {value!r} is no integer"]
    if kind == "number" and not NUMBER.fullmatch(text):
        return [f"{path}: {value!r} is no number"]
    if "enum" in schema and text not in schema["enum"]:
        return [f"{path}: {value!r} is none of {schema['enum']}"]
    for limit, wrong in (("minimum", lambda bound: float(text) < bound), ("maximum", lambda bound: float(text) > bound)):
        if limit in schema and NUMBER.fullmatch(text) and wrong(schema[limit]):
            return [f"{path}: {value!r} is beyond the {limit} {schema[limit]}"]
    return []
