#!/bin/sh
# with_cluster.sh STATE PROGRAM...: runs the program beside a separate control plane (KUBECONFIG, CLUSTER_STATE, CLUSTER_TOOL),
# whose servers it may kill and restart. Exit code 77 means that the control plane is not built.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
export CLUSTER_TOOL="$root/test/controlplane/cluster.py"
if ! [ -x "${CONTROLPLANE_BIN:-$root/build/controlplane/bin}/kube-apiserver" ]; then
    echo "skipped: there is no kube-apiserver, run 'make setup'" >&2
    exit 77
fi
export CLUSTER_STATE="$1"
shift
# There is no `exec` here: it would end a server that the program restarted, together with the command that restarted it.
trap 'python3 "$CLUSTER_TOOL" --state "$CLUSTER_STATE" down' EXIT
trap 'exit 143' INT TERM
KUBECONFIG=$(python3 "$CLUSTER_TOOL" --state "$CLUSTER_STATE" up)
export KUBECONFIG
"$@"
