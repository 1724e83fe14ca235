#!/usr/bin/env python3
"""Measures the operator's time until it leads with synced caches on an empty cluster, and its memory and CPU time.

build/venv/bin/python bench/start.py [--runs N]     after make setup
"""

import argparse
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/controlplane"))
from cluster import Cluster, wait_for  # noqa: E402

PROGRAM = ROOT / "build/release/bin/kubenodesmith"


def run_once(kubeconfig):
    """Returns seconds until it leads, CPU seconds, KiB of resident memory."""
    begin = time.monotonic()
    process = subprocess.Popen([PROGRAM, "run", "--kubeconfig", kubeconfig, "--leader-elect", "--leader-election-namespace=default",
                                "--health-probe-bind-address=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        synced = False
        for line in process.stdout:
            synced = synced or "Caches are synced" in line
            if "Leading" in line:
                break
        took = time.monotonic() - begin
        assert synced, "it ended before it led"
        resident = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1]
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return took, (int(fields[11]) + int(fields[12])) / 100, int(resident)
    finally:
        process.send_signal(signal.SIGTERM)  # it releases its lease, so the next run need not wait for it
        process.communicate(timeout=60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder, Cluster(Path(folder) / "cluster") as cluster:
        cluster.kubectl("apply", "--server-side", "-k", ROOT / "crds")
        cluster.kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd", "--all")
        wait_for("our kinds to be served", lambda: cluster.kubectl("get", "kubenodesmith", "-A", check=False).returncode == 0)
        results = [run_once(cluster.kubeconfig) for _ in range(runs)]
    for name, unit, values in zip(("start to leading and synced", "CPU time", "resident memory"), ("s", "s", "KiB"), zip(*results)):
        print(f"{name}: median {statistics.median(values):.3g} {unit}, worst {max(values):.3g} {unit} of {runs} runs")


if __name__ == "__main__":
    main()
