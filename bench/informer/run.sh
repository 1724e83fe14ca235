#!/usr/bin/env bash
# run.sh BIN [PODS] [NODES]: fills the test cluster of KUBECONFIG and measures how the operator's informers read it.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$1
"${CONTROLPLANE_BIN:-build/controlplane/bin}/kubectl" apply --server-side -k crds > /dev/null
"$bin/bench-load" --kubeconfig "$KUBECONFIG" --pods "${2:-1000}" --nodes "${3:-50}" > /dev/null
"$bin/bench-informer" --kubeconfig "$KUBECONFIG"
