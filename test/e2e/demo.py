#!/usr/bin/env python3
"""Shows the main job on a real Kubernetes control plane and a simulated Proxmox cluster: pending pods get machines that
join the cluster. When the pods are deleted, the machines are removed. The exit code is 0 only if all of it happened.

--keep   leaves everything running afterwards and prints how to look at it
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import manifests  # noqa: E402
from narrator import Narrator  # noqa: E402
from stack import Stack, running_pods  # noqa: E402

PODS = 6
STEP_SECONDS = 180


class Failure(Exception):
    pass


def expect(narrator, what, done):
    if not narrator.watch(done, STEP_SECONDS):
        raise Failure(f"{what} did not happen within {STEP_SECONDS} s")


def title(text):
    print(f"\n== {text}", flush=True)


def show(stack, *args):
    print(f"$ kubectl {' '.join(args)}\n{stack.cluster.kubectl(*args)}", flush=True)


def run(stack):
    narrator = Narrator(stack, lambda text: print(text, flush=True))
    title("The operator starts; a provider (Proxmox) and a pool are applied")
    stack.install_crds()
    stack.operator.start().wait_ready()
    stack.apply(*manifests.everything(stack.proxmox))
    expect(narrator, "the provider's readiness", lambda: provider_ready(stack))
    show(stack, "-n", manifests.NAMESPACE, "get", "nodesmithproviders,nodesmithpools,nodesmithcontrolplanes")

    title(f"{PODS} pods are created; the cluster has no node")
    stack.apply(manifests.deployment("shop", PODS))
    expect(narrator, "all pods running", lambda: len(running_pods(stack.pods())) == PODS and all_ready(stack))
    show(stack, "-n", manifests.NAMESPACE, "get", "nodesmithclaims", "-o", "wide")
    show(stack, "get", "nodes", "-L", "topology.kubenodesmith.io/pool,kubenodesmith.io/host")

    title("The pods are deleted; the machines are no longer needed")
    stack.cluster.kubectl("delete", "deployment", "shop")
    expect(narrator, "the removal of all machines", lambda: nothing_left(stack))
    # The counts follow a second later, because a burst of changes is one write.
    expect(narrator, "an empty pool", lambda: not any(nodes_of(pool) for pool in stack.objects("nodesmithpools")))
    show(stack, "-n", manifests.NAMESPACE, "get", "nodesmithclaims,nodesmithpools")


def provider_ready(stack):
    conditions = [c for p in stack.objects("nodesmithproviders") for c in p.get("status", {}).get("conditions", [])]
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def all_ready(stack):
    claims = stack.claims()
    return bool(claims) and all(c.get("status", {}).get("phase") == "Ready" for c in claims)


def nothing_left(stack):
    return not (stack.claims() or stack.nodes() or stack.proxmox.machines() or stack.bootstrap_tokens())


def nodes_of(pool):
    return pool.get("status", {}).get("nodes", 0)


def keep(stack):
    print(f"\nIt all keeps running. Look around in another terminal:\n\n"
          f"  export KUBECONFIG={stack.cluster.kubeconfig}\n  kubectl get nodesmithclaims -A\n"
          f"  tail -f {stack.operator.log}\n\nEnter or Ctrl-C ends it.", flush=True)
    try:
        sys.stdin.readline()
    except KeyboardInterrupt:
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="leave everything running until Enter is pressed")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kubenodesmith-demo-") as folder, Stack(folder) as stack:
        try:
            run(stack)
        except (Failure, RuntimeError) as error:
            print(f"\nThe demo failed: {error}\n\nThe end of the operator's log:\n{stack.operator.log_tail()}", flush=True)
            return 1
        print("\nAll of it happened: pods ran, and no machine, node, claim or token is left.", flush=True)
        if args.keep:
            keep(stack)
    return 0


if __name__ == "__main__":
    sys.exit(main())
