#!/usr/bin/env python3
"""Runs every benchmark at a small size and writes their results as one table.

build/venv/bin/python bench/table.py [--bin DIR] [--out FILE]     after make setup

The real sizes, and the commands for them, are in docs/performance.md. Ends with 1 if a benchmark fails."""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Arguments of programs that would take minutes otherwise.
SMALL = {
    "bench-claims": ["--claims", "100"],
    "bench-consolidation": ["--clusters", "5"],
    "bench-decode": ["2000"],
    "bench-scheduling": ["--pods", "5000"],
}
# These run together with another program, see below.
HELPERS = ("bench-api-server", "bench-informer", "bench-load")


def lines_of(command, **options):
    """Returns the lines that the command prints; raises RuntimeError if it fails."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, cwd=ROOT, **options)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()}")
    return [" ".join(line.split()) for line in done.stdout.splitlines() if line.strip()]


def informer_beside_generated_cluster(folder):
    """Runs the informers with a server that generates its objects and then changes them."""
    with tempfile.TemporaryDirectory() as state:
        kubeconfig = Path(state) / "kubeconfig"
        size = ["--pods", "2000", "--nodes", "100", "--updates", "5000"]
        server = subprocess.Popen([folder / "bench-api-server", *size, "--kubeconfig", kubeconfig], stdout=subprocess.PIPE, text=True)
        try:
            server.stdout.readline()
            return lines_of([folder / "bench-informer", "--kubeconfig", kubeconfig, "--updates", "5000", "--no-download"])
        finally:
            server.terminate()
            server.wait()


def informer_beside_api_server(folder):
    """Runs the informers with a real control plane."""
    with tempfile.TemporaryDirectory() as state:
        cluster = [sys.executable, ROOT / "test/controlplane/cluster.py", "--state", state]
        return lines_of([*cluster, "exec", "bench/informer/run.sh", folder])


def benchmarks(folder):
    """Yields each benchmark's name and a function that returns its lines."""
    for program in sorted(folder.glob("bench-*")):
        if program.name not in HELPERS and os.access(program, os.X_OK):
            arguments = SMALL.get(program.name, [])
            yield " ".join([program.name, *arguments]), lambda command=(program, *arguments): lines_of(command)
    yield "bench-informer, generated cluster", lambda: informer_beside_generated_cluster(folder)
    yield "bench-informer, kube-apiserver", lambda: informer_beside_api_server(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin", help="where the programs are")
    parser.add_argument("--out", type=Path, default=ROOT / "build/bench.md", help="where the table goes as well")
    options = parser.parse_args()
    failed = False
    with open(options.out, "w", encoding="utf-8") as out:

        def say(line):
            print(line, flush=True)
            print(line, file=out)

        say(f"{date.today()}, {platform.machine()}, {os.cpu_count()} CPUs\n\n| benchmark | result |\n|---|---|")
        for name, run in benchmarks(options.bin.resolve()):
            try:
                results = run()
            except RuntimeError as error:
                failed = True
                results = [f"FAILED: {error}"]
            for line in results:
                say(f"| {name} | {line} |")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
