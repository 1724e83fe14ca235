#!/usr/bin/env python3
"""Fails on an #include that points up: the folder tree is the architecture.

Each folder may include itself and what is listed for it. Tests and benchmarks may include anything.
"""
import pathlib
import re
import sys

ALLOWED = {
    "base": set(),
    "api": {"base"},
    "kube": {"api", "base"},
    "bootstrap": {"api", "base"},
    "scheduling": {"api", "base"},
    "providers": {"api", "base"},
    "controllers": {"kube", "scheduling", "bootstrap", "providers", "api", "base"},
    "operator": {"controllers", "kube", "scheduling", "bootstrap", "providers", "api", "base"},
}
# Backends see the interface, never each other; controllers see the interface, never a backend.
BACKENDS = {"providers/proxmox", "providers/redfish"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def backend_of(path):
    return next((b for b in BACKENDS if path.startswith(b + "/")), None)


def violations(root, folder):
    allowed = ALLOWED[folder] | {folder}
    for file in sorted((root / folder).rglob("*.[ch]pp")):
        name = file.relative_to(root).as_posix()
        for included in INCLUDE.findall(file.read_text()):
            top = included.split("/")[0]
            if top not in allowed:
                yield f'{name}: includes "{included}", but {folder}/ may only use {sorted(allowed)}'
            backend = backend_of(included)
            if backend and backend_of(name) != backend and name != "providers/registry.cpp":
                yield f'{name}: includes "{included}", but only providers/registry.cpp knows the backends'
            if not (root / included).exists():
                yield f'{name}: includes "{included}", which is not there (paths start at the root)'


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    found = [line for folder in ALLOWED for line in violations(root, folder)]
    print("\n".join(found) if found else "layers: every include points down")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
