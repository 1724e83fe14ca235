#!/usr/bin/env bash
# run.sh BIN [PODS] [NODES]: fills the test cluster of KUBECONFIG (see cluster.py exec) and measures how the operator's
# informers read it.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$1
# They would remove pods whose ReplicaSets and kubelets do not exist.
for program in kube-controller-manager kube-scheduler kwok; do
  python3 test/controlplane/cluster.py --state "$CLUSTER_STATE" kill "$program"
done
"${CONTROLPLANE_BIN:-build/controlplane/bin}/kubectl" apply --server-side -k crds > /dev/null
"$bin/bench-load" --kubeconfig "$KUBECONFIG" --pods "${2:-1000}" --nodes "${3:-50}" > /dev/null
"$bin/bench-informer" --kubeconfig "$KUBECONFIG"
