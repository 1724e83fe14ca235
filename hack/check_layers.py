#!/usr/bin/env python3
"""Fails on an #include that points up: the folder tree is the architecture.

Each layer (a folder at the root) may include itself and the layers listed for it. No two folders, including the rooms inside
a layer, may include each other, directly or in a circle. Tests and benchmarks may include anything.
"""
import pathlib
import re
import sys

ALLOWED = {
    "base": set(),
    "api": {"base"},
    "kube": {"api", "base"},
    "bootstrap": {"api", "base"},
    "migrate": {"bootstrap", "api", "base"},
    "scheduling": {"api", "base"},
    "providers": {"api", "base"},
    "controllers": {"kube", "scheduling", "bootstrap", "providers", "api", "base"},
    "report": {"controllers", "kube", "api", "base"},
    "operator": {"report", "controllers", "migrate", "kube", "scheduling", "bootstrap", "providers", "api", "base"},
}
# Backends see the interface and never each other. Controllers see the interface and never a backend.
BACKENDS = {"providers/proxmox", "providers/redfish"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def backend_of(path):
    return next((b for b in BACKENDS if path.startswith(b + "/")), None)


def includes(root, folder):
    """Returns the path and the includes of each file below the folder."""
    for file in sorted((root / folder).rglob("*.[ch]pp")):
        yield file.relative_to(root).as_posix(), INCLUDE.findall(file.read_text())


def violations(root, folder):
    allowed = ALLOWED[folder] | {folder}
    for name, all_included in includes(root, folder):
        for included in all_included:
            top = included.split("/")[0]
            if top not in allowed:
                yield f'{name}: includes "{included}", but {folder}/ may only use {sorted(allowed)}'
            backend = backend_of(included)
            if backend and backend_of(name) != backend and name != "providers/registry/registry.cpp":
                yield f'{name}: includes "{included}", but only providers/registry/registry.cpp knows the backends'
            if not (root / included).exists():
                yield f'{name}: includes "{included}", which is not there (paths start at the root)'


def room_graph(root):
    """Returns for each folder the folders that its files include, each with one include as evidence."""
    graph = {}
    for layer in ALLOWED:
        for name, all_included in includes(root, layer):
            room = name.rpartition("/")[0]
            for included in all_included:
                other = included.rpartition("/")[0]
                if other != room:
                    graph.setdefault(room, {}).setdefault(other, f'{name} includes "{included}"')
    return graph


def circle_from(graph, start):
    """Returns the shortest way from a folder back to itself; None if there is none."""
    paths = [[start]]
    seen = set()
    for path in paths:
        for other in graph.get(path[-1], {}):
            if other == start:
                return path
            if other not in seen:
                seen.add(other)
                paths.append([*path, other])
    return None


def circles(root):
    graph = room_graph(root)
    told = set()
    for room in sorted(graph):
        circle = circle_from(graph, room)
        if circle and frozenset(circle) not in told:
            told.add(frozenset(circle))
            evidence = "; ".join(graph[a][b] for a, b in zip(circle, [*circle[1:], circle[0]]))
            yield f"a circle of folders: {' -> '.join([*circle, circle[0]])} ({evidence})"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    found = [line for folder in ALLOWED for line in violations(root, folder)] + list(circles(root))
    print("\n".join(found) if found else "layers: every include points down, and no folders include each other")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
