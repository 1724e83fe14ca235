#!/usr/bin/env python3
"""Fails on a statement about security that names no test, and on a test that does not exist.

Each paragraph, item of a list and row of a table in PAGES names in backticks at least one test:

    test_adversary.py                             a file of tests
    test_adversary.py::test_something             one of its tests
    certificates_test.cpp: "a title"              one case of a file in C++; or the file alone
    unit-kube, component-ports, e2e-start         all that ctest runs by that name
    hack/check_claims.py                          a check of make lint

A text that states nothing, such as advice, has a comment `<!-- no statement: WHY -->` before it, alone on its line. The comment
applies to a paragraph or a whole list. A heading and the head of a table state nothing.

    hack/check_claims.py [PAGE]...
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("docs/security.md", "docs/attacks.md")
EXCUSE = re.compile(r"<!-- no statement: \S.* -->")
# In a Markdown text a title may go on in the next line.
NAMED = re.compile(r"`([\w./-]*\btest_\w+\.py)(?:::(\w+))?`"
                   r'|`([\w./-]*\w+_test\.cpp)(?:: "([^`]+)")?`'
                   r"|`((?:unit|component|e2e|ring)-[\w-]+)`"
                   r"|`(hack/\w+\.py)`")
CASE = re.compile(r'\b(?:TEST_CASE|TEST_CASE_METHOD)\((?:\s*[\w:]+\s*,)?((?:\s*"(?:[^"\\]|\\.)*")+)')


def blocks(text):
    """Returns (line, text) of each paragraph, item and row that has to name a test."""
    lines = text.split("\n")
    found, excused, in_code = [], False, False
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if stripped.startswith("```"):
            in_code = not in_code
        elif in_code:
            continue
        elif EXCUSE.fullmatch(stripped):
            excused = True
        elif stripped.startswith(("<!--", "#")) or set(stripped) <= set("|-: "):
            found.append(None)
            if set(stripped) <= set("|-: ") and stripped and len(found) > 1:
                found[-2] = None  # the entry above it is the head of a table
        elif found and found[-1] == "excused":
            continue  # an excuse applies to all items of a list
        elif re.match(r"([-*]|\d+\.) |\|", stripped) or not found or found[-1] is None:
            found.append(None if excused else (number, stripped))
            if excused:
                found.append("excused")
            excused = False
        else:
            found[-1] = (found[-1][0], found[-1][1] + " " + stripped)
    return [block for block in found if block and block != "excused"]


def files(pattern, root=ROOT / "test"):
    return sorted(root.rglob(pattern))


def file_named(name, known):
    """Returns the only one of the files whose path ends with that name, or None."""
    found = [path for path in known if path.as_posix().endswith("/" + name)]
    return found[0] if len(found) == 1 else None


def titles(path):
    """Returns the titles of a file's cases, each as one text."""
    return {"".join(re.findall(r'"((?:[^"\\]|\\.)*)"', case)).replace('\\"', '"') for case in CASE.findall(path.read_text())}


def ctest_names():
    """Returns the tests that CMake's files name, and those that they derive from folders and files."""
    names = {f"e2e-{path.stem.removeprefix('test_')}" for path in (ROOT / "test/e2e").glob("test_*.py")}
    names |= {f"{ring}-{folder.name}" for ring in ("unit", "component") for folder in (ROOT / "test" / ring).iterdir() if folder.is_dir()}
    for file in (ROOT / "test").rglob("CMakeLists.txt"):
        names |= set(re.findall(r"project_(?:test|pytest)\((\S+)", file.read_text()))
    return names


def fault_of(match, python, cpp, ctest):
    """Returns the fault of one name of a test, or None."""
    file, function, source, title, program, check = match.groups()
    if file:
        path = file_named(file, python)
        if not path:
            return f"there is no {file}, or more than one"
        if function and not re.search(rf"^def {function}\(", path.read_text(), re.M):
            return f"{file} has no {function}"
    elif source:
        path = file_named(source, cpp)
        if not path:
            return f"there is no {source}, or more than one"
        if title and title not in titles(path):
            return f'{source} has no case "{title}"'
    elif program and program not in ctest:
        return f"ctest has no {program}"
    elif check and not (ROOT / check).is_file():
        return f"there is no {check}"
    return None


def faults(page, text):
    python, cpp, ctest = files("test_*.py"), files("*_test.cpp"), ctest_names()
    for line, block in blocks(text):
        found = list(NAMED.finditer(block))
        if not found:
            yield f"{page}:{line}: names no test: {block[:100]}"
        for match in found:
            if fault := fault_of(match, python, cpp, ctest):
                yield f"{page}:{line}: {fault}"


def main():
    found = [fault for page in sys.argv[1:] or PAGES for fault in faults(page, (ROOT / page).read_text())]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
