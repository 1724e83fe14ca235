#!/usr/bin/env python3
"""Fails on C++ that is not where its name says, or that is cut into too small or too wide pieces:

- header:     a .cpp has the header of its name, except programs, the file that compiles Asio, and the file that replaces the
              library's operator delete
- namespace:  a namespace is the one of its folder, or is nested in it or around it
- type:       a name of a type is defined in one file only, unless the type is nested in another one
- module:     a module of fewer than 130 lines has more than one user; else it belongs into its user
- parameters: a function has at most six parameters

hack/structure_exceptions.txt lists what broke a rule before the rule was there. The list may only shrink: an exception that is no
longer needed is a fault, too. Tests and benchmarks are free. --write writes the list anew.
"""
import collections
import pathlib
import re
import sys

from check_coroutines import end_of_block, without_noise
from check_layers import ALLOWED, INCLUDE

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXCEPTIONS = ROOT / "hack/structure_exceptions.txt"
HEADING = "# What breaks a rule of hack/check_structure.py and is not mended yet. Lines may go, but none may come.\n"
NO_HEADER = {"operator/main.cpp", "operator/wiped_memory.cpp", "base/asio_impl.cpp"}
SMALLEST_MODULE = 130
MOST_PARAMETERS = 6
NAMESPACES_OF_FOLDERS = {"operator": ["kubenodesmith"], "migrate": ["kubenodesmith", "migrate"]}

INCLUDED = re.compile(r"^\s*#[^\n]*", re.M)
NAMESPACE = re.compile(r"\bnamespace\b\s*([\w:]*)\s*\{")
FORWARD = re.compile(r"\b(?:template\s*<[^>]*>\s*)?(?:class|struct|enum class)\s+\w+(?:\s*:\s*[\w:]+)?\s*;")
TYPE = re.compile(r"\b(?:class|struct|union|enum(?:\s+class)?)\s+(\w+)\s*(?:final\s*)?(?::(?!:)[^;{}()]*)?\{")
NAME = re.compile(r"(\w+)\s*\(")
DECLARED = re.compile(r"\s*(const\b|noexcept\b|override\b|final\b|requires\b|->|[{;:]|=\s*(0|default|delete)\b)")
PARAMETER = re.compile(r"[\w>&*\])]\s+[&*.]*\w+\s*(=.*|\{.*)?$", re.S)


def opened_namespaces(text):
    """Returns the name and the offsets of the braces of each namespace that has more in it than declarations of types."""
    for match in NAMESPACE.finditer(text):
        begin = match.end() - 1
        end = end_of_block(text, begin)
        if FORWARD.sub("", text[begin + 1:end - 1]).strip():
            yield match.group(1), begin, end


def namespaces(text):
    """Returns the full names of the named namespaces."""
    spans = [span for span in opened_namespaces(text) if span[0]]
    return {"::".join([*(outer for outer, start, end in spans if start < begin < end), name]) for name, begin, _ in spans}


def types(text):
    """Returns the names of the types that are defined directly in a namespace."""
    spaces = {begin for _, begin, _ in opened_namespaces(text)}
    names, inside = set(), []
    starts = {match.end() - 1: match.group(1) for match in TYPE.finditer(text)}
    for at, char in enumerate(text):
        if char == "{":
            if at in starts and all(outer in spaces for outer in inside):
                names.add(starts[at])
            inside.append(at)
        elif char == "}" and inside:
            inside.pop()
    return names


def parts_of(text, begin):
    """Returns what the commas of the bracket at `begin` separate, and the offset just after the bracket's end."""
    parts, start, depth = [], begin + 1, 0
    for at in range(begin, len(text)):
        char = text[at]
        is_arrow = text[at - 1:at + 1] == "->"
        depth += (char in "([{<") - (char in ")]}>" and not is_arrow)
        if depth == 0:
            return [*parts, text[start:at].strip()], at + 1
        if char == "," and depth == 1:
            parts.append(text[start:at].strip())
            start = at + 1
    return parts, len(text)


def wide_functions(text):
    """Returns the names of the functions that are declared or defined with too many parameters."""
    for match in NAME.finditer(text):
        parameters, end = parts_of(text, match.end() - 1)
        if len(parameters) > MOST_PARAMETERS and DECLARED.match(text, end) and all(map(PARAMETER.search, parameters)):
            yield match.group(1)


def is_of_folder(namespace, folder):
    space = namespace.split("::")
    first, *rest = folder.split("/")
    path = [*NAMESPACES_OF_FOLDERS.get(first, [first]), *rest]
    common = min(len(space), len(path))
    return space[:common] == path[:common]


def faults_of_file(name, text):
    plain = INCLUDED.sub(lambda found: " " * len(found.group()), without_noise(text))
    for namespace in sorted(namespaces(plain)):
        if not is_of_folder(namespace, name.rpartition("/")[0]):
            yield f"namespace {name} {namespace}"
    for function in sorted(set(wide_functions(plain))):
        yield f"parameters {name} {function}"


def faults_of_modules(texts):
    users = collections.defaultdict(set)
    for name, text in texts.items():
        for included in INCLUDE.findall(text):
            users[included].add(name.rpartition(".")[0])
    for name in texts:
        stem, _, kind = name.rpartition(".")
        if kind == "cpp" and f"{stem}.hpp" not in texts and name not in NO_HEADER:
            yield f"header {name}"
        lines = sum(texts.get(f"{stem}.{end}", "").count("\n") for end in ("hpp", "cpp"))
        others = users[f"{stem}.hpp"] - {stem}
        if kind == "hpp" and lines < SMALLEST_MODULE and len(others) == 1:
            yield f"module {stem} {min(others)}"


def faults_of_types(texts):
    files = collections.defaultdict(list)
    for name, text in sorted(texts.items()):
        for one in types(without_noise(text)):
            files[one].append(name)
    return (f"type {one} {' '.join(names)}" for one, names in files.items() if len(names) > 1)


def faults(texts):
    """Returns the faults of the files, given by path: each as a line that can be an exception."""
    found = [fault for name, text in texts.items() for fault in faults_of_file(name, text)]
    return sorted({*found, *faults_of_modules(texts), *faults_of_types(texts)})


def sources(root):
    return {file.relative_to(root).as_posix(): file.read_text() for layer in ALLOWED for file in sorted((root / layer).rglob("*.[ch]pp"))}


def report(found, excepted):
    """Prints the new faults and the exceptions that are no longer needed. Returns whether there are none."""
    lines = [f"{fault}: see the rules in hack/check_structure.py" for fault in found if fault not in excepted]
    lines += [f"{fault}: is mended, so remove it from hack/{EXCEPTIONS.name}" for fault in excepted if fault not in found]
    print("\n".join(lines) if lines else f"structure: all as it should be, but for {len(excepted)} exceptions of old")
    return not lines


def main():
    found = faults(sources(ROOT))
    if sys.argv[1:] == ["--write"]:
        EXCEPTIONS.write_text(HEADING + "".join(f"{fault}\n" for fault in found))
    excepted = [line for line in EXCEPTIONS.read_text().splitlines() if not line.startswith("#")]
    return 0 if report(found, excepted) else 1


if __name__ == "__main__":
    sys.exit(main())
