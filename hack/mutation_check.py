#!/usr/bin/env python3
"""Breaks the operator on purpose, one way at a time, and shows that the simulation notices.

Works on a copy of the sources (build/mutation), never on yours. What each mutation (mutations.py) replaces must
be there exactly once, so that a mutation whose code has changed is noticed and not skipped. Then seeds run one
after the other until one is violated that the unchanged operator passes. Prints a table in Markdown
(docs/simulation.md) and exits with 1 if a mutation survives.

    hack/mutation_check.py [--only NAME]... [--seeds N] [--start S] [--jobs N] [--table FILE] [--texts]
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys

from mutations import MUTATIONS

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutation" / "source"
TREE = COPY / "build" / "release"  # the same paths, relative to the sources, as yours: so the compiler cache knows them
SOUND = ROOT / "build" / "mutation" / "simulation"  # built from the unchanged sources
MOST_CPU_SECONDS = 120  # for one seed: what takes longer never ends


def run(command, **options):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, check=False, **options)


def copy_sources():
    """The files that git tracks, as they are in the working tree; unchanged ones keep their time and are not rebuilt."""
    listed = run(["git", "-C", ROOT, "ls-files", "-z"]).stdout.split("\0")
    wanted = {name for name in listed if name and (ROOT / name).is_file()}
    for old in COPY.rglob("*"):
        if old.is_file() and old.relative_to(COPY).as_posix() not in wanted:
            old.unlink()
    for name in wanted:
        source, target = ROOT / name, COPY / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def build():
    if not (TREE / "build.ninja").exists():
        configured = run(["cmake", "--preset", "release"], cwd=COPY)
        if configured.returncode:
            sys.exit(configured.stdout + configured.stderr)
    return run(["ninja", "-C", TREE, "bin/simulation"])


def violation(program, seed):
    """The first invariant that this seed violates, in either variety of worlds, or None."""
    return violation_in(program, seed) or violation_in(program, seed, "--of-users")


def violation_in(program, seed, *variety):

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_SECONDS, MOST_CPU_SECONDS))

    ended = run([program, "--seeds", 1, "--start", seed, "--violations", 2, *variety], preexec_fn=limit)
    if ended.returncode == 0:
        return None
    found = re.search(r"^seed \d+: ([^:]+):", ended.stdout, re.M)
    if found:
        return found[1]
    if ended.returncode == -signal.SIGKILL:
        return "each seed ends"
    return "the program ended: " + (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1][:80]


def write(texts):
    for path, text in texts.items():
        path.write_text(text)


def build_mutated(mutation, program):
    """Leaves the mutated simulation at `program`; says why not if it cannot be built."""
    lost = mutation.lost_anchors(COPY)
    if lost:
        return "not exactly once in the sources: " + ", ".join(lost)
    mutated = mutation.mutated(COPY)
    originals = {path: path.read_text() for path in mutated}
    try:
        write(mutated)
        built = build()
    finally:
        write(originals)
    if built.returncode:
        return "does not compile: " + built.stdout[-600:]
    keep_program(program)
    return None


def keep_program(target):
    target.unlink(missing_ok=True)
    shutil.copy(TREE / "bin" / "simulation", target)


def judge(program, seeds, start):
    """What the simulation says of a mutated operator: (caught, by which invariant, how many seeds were needed)."""
    for seed in range(start, start + seeds):
        invariant = violation(program, seed)
        # A seed proves nothing if it finds fault with the unchanged operator too.
        if invariant and violation(SOUND, seed) is None:
            return True, invariant, seed - start + 1
    return False, "survived", seeds


def check(mutations, args):
    """Yields (mutation, caught, by what, seeds needed). Builds one mutation while the seeds of others run."""
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        futures = {}
        for number, mutation in enumerate(mutations):
            program = SOUND.with_name(f"simulation-{number}")
            obstacle = build_mutated(mutation, program)
            if obstacle:
                yield mutation, False, obstacle, 0
                continue
            futures[pool.submit(judge, program, args.seeds, args.start)] = mutation
            for future in [future for future in futures if future.done()]:
                yield futures.pop(future), *future.result()
        for future in concurrent.futures.as_completed(futures):
            yield futures[future], *future.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="mutations whose name contains this")
    parser.add_argument("--seeds", type=int, default=1500, help="at most so many for each mutation")
    parser.add_argument("--start", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="so many mutations run seeds at a time")
    parser.add_argument("--texts", action="store_true", help="only look whether what they replace is there")
    parser.add_argument("--table", type=pathlib.Path, help="write the table to this file as well")
    args = parser.parse_args()
    chosen = [m for m in MUTATIONS if not args.only or any(part in m.name for part in args.only)]
    if not chosen:
        sys.exit(f"no mutation has a name with {args.only}")
    if args.texts:
        lost = [anchor for mutation in chosen for anchor in mutation.lost_anchors(ROOT)]
        sys.exit("\n".join(["not exactly once in the sources:", *lost]) if lost else 0)
    copy_sources()
    built = build()
    if built.returncode:
        sys.exit("the unchanged sources do not build:\n" + built.stdout[-2000:])
    keep_program(SOUND)
    header = ["| mutation | what it breaks | caught by | seeds needed |", "|---|---|---|---|"]
    print("\n".join(header), flush=True)
    lines, survivors = {}, 0
    for mutation, caught, by, needed in check(chosen, args):
        survivors += not caught
        found = by if caught else f"**{by}**"
        lines[mutation.name] = f"| {mutation.name} | {mutation.harm} | {found} | {needed} |"
        print(lines[mutation.name], flush=True)
    if args.table:
        args.table.write_text("\n".join(header + [lines[mutation.name] for mutation in chosen]) + "\n")
    print(f"{len(chosen) - survivors} of {len(chosen)} caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
