#!/usr/bin/env python3
"""Builds trees of CMake presets, runs the tests of each (the preset says which), and ends with one summary.

hack/test.py [--jobs N] release asan tsan
"""

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def build(tree, jobs):
    if not (ROOT / "build" / tree / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", tree], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", "--preset", tree, "--parallel", str(jobs)], cwd=ROOT, check=True)


def test(tree, jobs):
    """Runs a tree's tests; returns (how many passed, names of failed ones, names of skipped ones)."""
    report = ROOT / "build" / tree / "tests.xml"
    report.unlink(missing_ok=True)
    # One more than there are cores: the long tests mostly wait for machines that boot.
    ended = subprocess.run(["ctest", "--preset", tree, "--parallel", str(jobs + 1), "--output-junit", report], cwd=ROOT, check=False)
    if not report.exists():
        return 0, [f"ctest (exit code {ended.returncode})"], []
    cases = xml.parse(report).getroot().findall("testcase")
    failed = [case.get("name") for case in cases if case.get("status") == "fail"]
    skipped = [case.get("name") for case in cases if case.get("status") in ("notrun", "disabled")]
    if ended.returncode and not failed:
        failed = [f"ctest (exit code {ended.returncode})"]
    return len(cases) - len(failed) - len(skipped), failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("trees", nargs="+", metavar="PRESET")
    arguments = parser.parse_args()
    lines, total = [], [0, 0, 0]
    for tree in arguments.trees:
        begin = time.monotonic()
        build(tree, arguments.jobs)
        built = time.monotonic()
        passed, failed, skipped = test(tree, arguments.jobs)
        tested = time.monotonic()
        total = [total[0] + passed, total[1] + len(failed), total[2] + len(skipped)]
        line = f"{tree}: {passed} passed, {len(failed)} failed, {len(skipped)} skipped"
        lines.append(f"{line} (build {built - begin:.0f} s, tests {tested - built:.0f} s)")
        lines += [f"  FAILED  {name}" for name in failed] + [f"  skipped {name}" for name in skipped]
    print("\n" + "\n".join(lines))
    print(f"total: {total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
