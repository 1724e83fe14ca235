#!/usr/bin/env python3
"""Builds trees of CMake presets, runs the tests of each (the preset says which), and ends with one summary.

Where asan is among the trees, the unit tests are built and run there only, because each tree takes minutes to compile them.
While one tree is tested, which is mostly waiting, the next is built with what it leaves of the processors. Beside the tests of
release each file that this tree compiles together with others is compiled by itself (hack/compile_each.py).

hack/test.py [--jobs N] release asan tsan
"""

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def build(tree, jobs, units):
    """Builds the tree's programs. Without `units` it leaves out the unit tests of release; other presets name their targets."""
    if not (ROOT / "build" / tree / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", tree], cwd=ROOT, check=True)
    targets = [] if units else ["--target", "beside-units"]
    subprocess.run(["cmake", "--build", "--preset", tree, "--parallel", str(jobs), *targets], cwd=ROOT, check=True)


def yield_to_tests():
    os.nice(19)
    # Linux shares time between sessions first, if it groups processes by them.
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text("19", encoding="ascii")


@contextlib.contextmanager
def beside(name, command):
    """Runs the command, if there is one, beside the tests in its body. Yields its exit code, known once the body has ended, as a list."""
    code = []
    if not command:
        yield code
        return
    with log_of(name).open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output, start_new_session=True, preexec_fn=yield_to_tests)
    try:
        yield code
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        raise
    finally:
        code.append(process.wait())


def log_of(name):
    return ROOT / "build" / f"{name}.log"


def building(tree, jobs):
    """Builds the tree (None: nothing) beside tests. The build that follows reports a failure."""
    return beside(tree, tree and [sys.executable, __file__, "--jobs", str(jobs), "--only-build", tree])


def compiling_each(tree):
    """Compiles beside the tests of release what only this tree's batches of files have compiled; on one processor, as a tree is built too."""
    return beside("each", tree == "release" and ["hack/compile_each.py", "--jobs", "1", "--but", tree, "debug"])


def said_of_each(code):
    """How many failed, and the lines to print about it."""
    if not code:
        return 0, []
    lines = log_of("each").read_text(encoding="utf-8", errors="replace").splitlines()
    if code == [0]:
        return 0, [f"  {line}" for line in lines[-1:]]
    errors = [line for line in lines if "error:" in line] or lines[-10:]
    return 1, [f"  FAILED  {line}" for line in errors[:10] + lines[-1:]]


def reasons(case):
    """What a failed test said: the lines by which pytest, Catch2, the simulation and sanitizers tell failures."""
    lines = (case.findtext("system-out") or "").splitlines()
    telling = [line for line in lines if re.match(r"E  |FAILED |.*: FAILED:|.*violat|.*ERROR: |.*runtime error:", line)]
    return [f"          {line.strip()[:300]}" for line in (telling or lines[-10:])[:10]]


def passes_alone(tree, name):
    """Whether it passes with the machine to itself. Only for tests of whole clusters, whose programs are not ours to time."""
    if not name.startswith("e2e-"):
        return False
    return subprocess.run(["ctest", "--preset", tree, "--tests-regex", f"^{name}$"], cwd=ROOT, check=False).returncode == 0


def test(tree, jobs, units):
    """Runs a tree's tests, with or without the unit tests. Returns how many passed, and what to say of those that failed, that passed
    only alone, and that were skipped."""
    report = ROOT / "build" / tree / "tests.xml"
    report.unlink(missing_ok=True)
    # Two more than there are cores: the long tests mostly wait for machines that boot.
    left_out = [] if units else ["--exclude-regex", "^unit-"]
    command = ["ctest", "--preset", tree, "--parallel", str(jobs + 2), "--output-junit", report, *left_out]
    ended = subprocess.run(command, cwd=ROOT, check=False)
    if not report.exists():
        return 0, [f"ctest (exit code {ended.returncode})"], [], []
    cases = xml.parse(report).getroot().findall("testcase")
    failed, unsteady = [], []
    for case in (case for case in cases if case.get("status") == "fail"):
        said = "\n".join([case.get("name"), *reasons(case)])
        (unsteady if passes_alone(tree, case.get("name")) else failed).append(said)
    skipped = [case.get("name") for case in cases if case.get("status") in ("notrun", "disabled")]
    if ended.returncode and not failed and not unsteady:
        failed = [f"ctest (exit code {ended.returncode})"]
    return len(cases) - len(failed) - len(skipped), failed, unsteady, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only-build", action="store_true", help="build the first tree and run nothing")
    parser.add_argument("trees", nargs="+", metavar="PRESET")
    arguments = parser.parse_args()
    units = {tree: tree != "release" or "asan" not in arguments.trees for tree in arguments.trees}
    if arguments.only_build:
        build(arguments.trees[0], arguments.jobs, units[arguments.trees[0]])
        return 0
    lines, total = [], [0, 0, 0]
    for tree, following in zip(arguments.trees, [*arguments.trees[1:], None]):
        begin = time.monotonic()
        build(tree, arguments.jobs, units[tree])
        built = time.monotonic()
        with building(following, arguments.jobs), compiling_each(tree) as code:
            passed, failed, unsteady, skipped = test(tree, arguments.jobs, units[tree])
            tested = time.monotonic()
        broken, findings = said_of_each(code)
        total = [total[0] + passed, total[1] + len(failed) + broken, total[2] + len(skipped)]
        line = f"{tree}: {passed} passed, {len(failed)} failed, {len(skipped)} skipped"
        lines.append(f"{line} (build {built - begin:.0f} s, tests {tested - built:.0f} s)")
        lines += [f"  FAILED  {said}" for said in failed] + [f"  skipped {name}" for name in skipped]
        lines += [f"  UNSTEADY, failed beside the others and passed alone: {said}" for said in unsteady]
        lines += findings
    print("\n" + "\n".join(lines))
    print(f"total: {total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
