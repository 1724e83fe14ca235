#!/usr/bin/env python3
"""Shows which of the usual protections a program has: hardening.py PROGRAM. The exit code is 1 if a required one is missing.

It reads the linker's output (readelf), not the compiler's options. docs/releasing.md has the list for the release."""

import platform
import re
import subprocess
import sys

# Our own code is compiled for it, but the linker marks a program only if all of its parts are.
TRACKED = "indirect branches and returns tracked"


def readelf(program, *flags):
    return subprocess.run(["readelf", "-W", *flags, program], check=True, capture_output=True, text=True).stdout


def protections(program):
    """Returns (name, whether the program has it, the evidence)."""
    dynamic, segments, symbols = readelf(program, "-d"), readelf(program, "-l"), readelf(program, "--dyn-syms")
    header, notes = readelf(program, "-h"), readelf(program, "-n")
    stack = re.search(r"GNU_STACK(?:\s+0x\w+){5}\s+([RWE ]+?)\s+0", segments)
    yield "position independent", "DYN" in header and "PIE" in dynamic, "type DYN, flag PIE"
    yield "relocations read-only, bound at start", "GNU_RELRO" in segments and "NOW" in dynamic, "segment GNU_RELRO, flag NOW"
    yield "stack not executable", bool(stack) and "E" not in stack[1], "segment GNU_STACK without E"
    yield "stack protector", "__stack_chk_fail" in symbols, "__stack_chk_fail is linked"
    yield "checked copies (FORTIFY_SOURCE)", bool(re.search(r"__\w+_chk(@|$|\s)", symbols.replace("__stack_chk_fail", ""))), "a function *_chk is linked"
    yield "checked containers (_GLIBCXX_ASSERTIONS)", "__glibcxx_assert_fail" in symbols, "__glibcxx_assert_fail is linked"
    if platform.machine() == "x86_64":
        yield TRACKED, "IBT" in notes and "SHSTK" in notes, "property IBT, SHSTK; not where a static library lacks it, as Debian 12's do"
    yield "no path to libraries of its own", "RPATH" not in dynamic and "RUNPATH" not in dynamic, "no RPATH, no RUNPATH"
    yield "no text relocations", "TEXTREL" not in dynamic, "no TEXTREL"


def main(program):
    found = list(protections(program))
    print("| protection | there | seen by |\n|---|---|---|")
    for name, is_there, evidence in found:
        print(f"| {name} | {'yes' if is_there else 'no'} | {evidence} |")
    return 0 if all(is_there for name, is_there, _ in found if name != TRACKED) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
