#!/usr/bin/env python3
"""Compiles each file by itself, as a preset does, without generating code: all errors and warnings show without it.

Trees that compile the files of a library together hide what a file does not include or declare itself.

hack/compile_each.py [--jobs N] [--but TREE] PRESET [FILE...]
"""

import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def commands(tree):
    """Returns the compile command of each file of the project, by the file's path in it."""
    entries = json.loads((ROOT / "build" / tree / "compile_commands.json").read_text(encoding="utf-8"))
    found = {Path(entry["file"]).relative_to(ROOT): shlex.split(entry["command"]) for entry in entries}
    return {file: command for file, command in found.items() if file.parts[0] != "build"}


def without_code(command):
    """Returns the command without its launcher and output. The launcher is a cache of what compilers generate."""
    compiler = next(at for at, word in enumerate(command) if Path(word).name.startswith("clang++"))
    output = command.index("-o")
    kept = [*command[compiler:output], *command[output + 2:]]
    return [*(word for word in kept if word != "-c"), "-fsyntax-only"]


def precompiled(command):
    """Returns the precompiled headers that a command names."""
    return {word for word in command if word.endswith(".pch")}


def precompile(tree, headers):
    if headers:
        targets = sorted(str(Path(header).relative_to(ROOT / "build" / tree)) for header in headers)
        subprocess.run(["ninja", "-C", ROOT / "build" / tree, *targets], check=True, stdout=subprocess.DEVNULL)


def compile_file(tree, command):
    """Returns the compiler's messages about the file, or ""."""
    done = subprocess.run(command, cwd=ROOT / "build" / tree, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode or done.stderr else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--but", metavar="TREE", help="leave out what that tree, which must be configured, compiles by itself")
    parser.add_argument("preset", metavar="PRESET")
    parser.add_argument("files", nargs="*", metavar="FILE", help="relative to the project; default: all")
    arguments = parser.parse_args()
    tree = arguments.preset
    subprocess.run(["cmake", "--preset", tree], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    chosen = commands(tree)
    if arguments.but:
        chosen = {file: command for file, command in chosen.items() if file not in commands(arguments.but)}
    if arguments.files:
        chosen = {file: command for file, command in chosen.items() if str(file) in arguments.files}
    precompile(tree, set().union(*map(precompiled, chosen.values())))
    with ThreadPoolExecutor(arguments.jobs) as pool:
        said = [text for text in pool.map(lambda command: compile_file(tree, without_code(command)), chosen.values()) if text]
    print("\n".join(said), end="")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"compiled {len(chosen)} files each by itself as preset {tree} does: {len(said)} with errors ({used.ru_utime + used.ru_stime:.0f} s of CPU time)")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
