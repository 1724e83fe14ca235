#!/usr/bin/env python3
"""Fails if 5 % or more of an area's C++ comments begin as a fragment, such as "What ...", "Of ..." or "Whose ...".

A comment is a full sentence with a subject and a verb. The check counts blocks: consecutive lines that hold only a // comment.
It looks at the first word of each block; blocks with an empty first line do not count, nor do comments behind code. The areas are
the product, test/ and bench/. If an area has too many fragments, the check lists all of them with file and line.

    hack/check_comments.py [FOLDER]...        judges these folders instead
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT_PERCENT = 5
AREAS = (".", "test", "bench")
# These folders below an area are not part of it.
LEFT_OUT = {"test", "bench", "build", "vendor", "fake"}
FIRST_WORDS = set(
    "Also And As At Beside Besides But By Else For From In None Nor Not Of Only Or Since Than That Then Those To Until What When "
    "Where Which Who Whoever Whom Whose With Without".split())
COMMENT = re.compile(r"\s*// ?(.*)")


def blocks(text):
    """Yields (line, text) of the first line of each block of comments."""
    is_inside = False
    for number, line in enumerate(text.split("\n"), 1):
        found = COMMENT.match(line)
        if found and not is_inside and found[1].strip():
            yield number, found[1]
        is_inside = found is not None


def first_word(text):
    return re.match(r"[A-Za-z]*", text)[0]


def sources(area):
    """Yields the C++ files below the folder, sorted by path."""
    for entry in sorted(area.iterdir()):
        if entry.is_dir() and entry.name not in LEFT_OUT and entry.name != ".git":
            yield from sources(entry)
        elif entry.suffix in (".cpp", ".hpp"):
            yield entry


def count(area):
    """Returns the number of blocks below the folder, and (file, line, text) of each fragment."""
    number, fragments = 0, []
    for file in sources(area):
        for line, text in blocks(file.read_text(errors="replace")):
            number += 1
            if first_word(text) in FIRST_WORDS:
                fragments.append((file, line, text))
    return number, fragments


def name_of(path):
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


def report(area):
    """Prints the share of fragments below the folder. Returns whether it is below the limit."""
    number, fragments = count(area)
    percent = 100 * len(fragments) / max(number, 1)
    is_good = percent < LIMIT_PERCENT
    if not is_good:
        for file, line, text in fragments:
            print(f"{name_of(file)}:{line}: begins as a fragment: {text}")
    print(f"comments: {len(fragments)} of {number} blocks in {name_of(area)} begin as a fragment: {percent:.1f} %, "
          f"which must stay below {LIMIT_PERCENT} %")
    return is_good


def main():
    areas = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or [ROOT / name for name in AREAS]
    return 0 if all([report(area) for area in areas]) else 1


if __name__ == "__main__":
    sys.exit(main())
