#!/usr/bin/env python3
"""A place to try things: `up` starts a control plane, a simulated Proxmox cluster and installs the CRDs; `down` ends all.

State: build/dev. Started twice it keeps what runs.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test/e2e"), str(ROOT / "test/controlplane")]
from cluster import Cluster  # noqa: E402
from processes import Processes  # noqa: E402

STATE = ROOT / "build/dev"
BIN = ROOT / "build/release/bin"


def start_proxmox(cluster):
    """The simulator, if it is built; says how to reach it."""
    if not (BIN / "proxmox-simulator").is_file():
        print("No Proxmox simulator: build/release/bin/proxmox-simulator is not built.")
        return
    from proxmox import ProxmoxSimulator
    simulator = ProxmoxSimulator(STATE / "proxmox", BIN, cluster).start()
    print(f"Proxmox (simulated): {simulator.url}/api2/json  fingerprint {simulator.fingerprint}\n"
          f"  token {simulator.token_id}={simulator.token_secret}  control interface {simulator.facts['control']}")


def up():
    cluster = Cluster(STATE / "cluster")
    if cluster.running():
        print("Running already.")
    else:
        down()
        cluster.start()
        if (ROOT / "crds/kustomization.yaml").exists():
            cluster.kubectl("apply", "--server-side", "-k", ROOT / "crds")
        start_proxmox(cluster)
    print(f"Logs: {STATE}/*/logs. End it with `make dev-down`; run the operator with `make run`.")
    print(f"export KUBECONFIG={cluster.kubeconfig}")


def down():
    for folder in ("proxmox", "cluster"):
        Processes(STATE / folder).stop()


if __name__ == "__main__":
    if sys.argv[1:] not in (["up"], ["down"]):
        sys.exit("usage: dev.py up|down")
    {"up": up, "down": down}[sys.argv[1]]()
