#!/usr/bin/env python3
"""Fails on sentences of the documentation that are too long, begin as a fragment, or hold a word that we do not use.

A sentence has at most 30 words; text in backticks counts as one. Tables and code blocks may be longer, but hold none of the words
either. docs/api.md is made of the CRDs, and what a comment `<!-- ...: written by ... -->` begins is made by a test.

    hack/check_prose.py [PAGE]...
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST = 30
OWN = re.compile(r"\bof (?:its|their|his) own(?=[,.;:)]|$)")
FRAGMENTS = ("What", "Whoever", "Whose", "Of", "By", "As", "To", "Nor")
WORDS = ("shall", "in vain", "any more", "is told", "are told", "was told", "were told", "tells of", "at once", "of ours",
         "of theirs", "is to be", "are to be", "stands in", "stand in", "whoever", "whose word", "is bought", "are bought", "buys",
         "bought", "purchase", "purchases", "essence", "course", "outlook", "ails", "grave", "to be had")
# Parts that a program writes, from this line to the next one that is neither empty nor a row of a table.
GENERATED = re.compile(r"<!-- [\w ]+: written by \S+ -->\n(?:\n|\|[^\n]*\n)*")


def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md",
            *sorted(page for page in (ROOT / "docs").rglob("*.md") if page.name != "api.md")]


def plain(text):
    """A text with code, links and emphasis reduced to words."""
    text = re.sub(r"`[^`]*`", "`", text)
    text = re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"<[^>]*>|\*", "", text)


def blocks(text):
    """(line, kind, text) of each paragraph, item of a list and row of a table."""
    text = GENERATED.sub(lambda found: "\n" * found[0].count("\n"), text)
    found, in_code, quiet = [], False, False
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped.startswith("```"):
            in_code = not in_code
            found.append(None)
        elif in_code or stripped.startswith(("<!--", "#", "---")) or not stripped or set(stripped) <= set("|-: "):
            found.append(None)
        elif stripped.startswith("|"):
            found.append((number, "row", stripped))
        elif re.match(r"([-*]|\d+\.) ", stripped) or not found or not found[-1] or found[-1][1] != "text":
            found.append((number, "text", re.sub(r"^([-*]|\d+\.) ", "", stripped)))
        else:
            found[-1] = (found[-1][0], "text", found[-1][2] + " " + stripped)
    return [block for block in found if block]


def sentences(text):
    return [part for part in re.split(r"(?<=[.!?:])[)\"]?\s+(?=[A-Z0-9`\"(*])", plain(text)) if part.strip()]


def faults(page, text):
    for line, kind, block in blocks(text):
        words = plain(block).lower()
        for word in WORDS:
            if re.search(rf"\b{re.escape(word)}\b", words):
                yield f'{page}:{line}: "{word}": {block[:90]}'
        if OWN.search(words):
            yield f'{page}:{line}: "of its own": {block[:90]}'
        if kind == "row":
            continue
        for sentence in sentences(block):
            length = len(sentence.split())
            if length > LONGEST:
                yield f"{page}:{line}: {length} words: {sentence[:90]}"
            first = re.match(r"[A-Za-z]+", sentence)
            if first and first[0] in FRAGMENTS and not sentence.rstrip().endswith("?"):
                yield f"{page}:{line}: begins with {first[0]}: {sentence[:90]}"


def main():
    chosen = [pathlib.Path(page).resolve() for page in sys.argv[1:]] or pages()
    found = [fault for page in chosen for fault in faults(page.relative_to(ROOT), page.read_text())]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
