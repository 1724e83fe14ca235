#!/usr/bin/env python3
"""Provides a place to try things. `up` starts a control plane, a simulated Proxmox host and two simulated BMCs, and installs
the CRDs. `down` ends all of them.

The state is in build/dev, or in the folder KUBENODESMITH_DEV. A second `up` keeps the running programs.
"""

import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test/e2e"), str(ROOT / "test/controlplane")]
from cluster import Cluster, wait_for  # noqa: E402
from processes import Processes  # noqa: E402

STATE = Path(os.environ.get("KUBENODESMITH_DEV") or ROOT / "build/dev").resolve()
BIN = ROOT / "build/release/bin"
HOSTS = STATE / "bare-metal.yaml"


def start_proxmox(cluster):
    """Starts the simulator, if it is built, in the state in which docs/proxmox.md leaves a host. Prints how to reach it."""
    if not (BIN / "proxmox-simulator").is_file():
        print("No Proxmox simulator: build/release/bin/proxmox-simulator is not built.")
        return
    from proxmox import ProxmoxSimulator
    from proxmox_world import documented_world
    world = STATE / "world.json"
    world.write_text(json.dumps(documented_world(ROOT / "docs/proxmox.md")))
    simulator = ProxmoxSimulator(STATE / "proxmox", BIN, cluster, world).start()
    (STATE / "token.txt").write_text(simulator.token_secret)
    print(f"Proxmox (simulated): use {simulator.url.removeprefix('https://')} instead of pve1.example.com:8006\n"
          f"  certificate {simulator.fingerprint}\n"
          f"  token {simulator.token_id}, its secret is in {STATE}/token.txt\n"
          f"  control interface {simulator.facts['control']}")


def start_rack():
    """Starts two BMCs if `make setup` has installed their emulator. Prints where the objects for them are."""
    if not Path(sys.executable).with_name("sushy-emulator").is_file():
        print("No BMCs: sushy-tools is not installed (make setup).")
        return
    made = STATE / "rack/objects.yaml"
    processes = Processes(STATE / "rack")
    processes.start("rack", [sys.executable, ROOT / "test/e2e/redfish.py", STATE / "rack", STATE / "cluster"], False)

    def started():
        processes.check()
        return made.exists()
    wait_for("the BMCs' start", started, 60)
    made.replace(HOSTS)
    print(f"Bare metal (simulated): two hosts, switched off, and a pool; kubectl apply -f {HOSTS}")


def up():
    cluster = Cluster(STATE / "cluster")
    if cluster.running():
        print("Running already.")
    else:
        down()
        cluster.start()
        if (ROOT / "crds/kustomization.yaml").exists():
            cluster.kubectl("apply", "--server-side", "-k", ROOT / "crds")
            cluster.kubectl("apply", "--server-side", "-f", ROOT / "config/rbac/bootstrap.yaml")
        start_proxmox(cluster)
        start_rack()
    print(f"Logs: {STATE}/*/logs. End it with `make dev-down`; run the operator with `make run`.")
    print(f"export KUBECONFIG={cluster.kubeconfig}")


def down():
    for folder in ("rack", "proxmox", "cluster"):
        Processes(STATE / folder).stop()


if __name__ == "__main__":
    if sys.argv[1:] not in (["up"], ["down"]):
        sys.exit("usage: dev.py up|down")
    {"up": up, "down": down}[sys.argv[1]]()
