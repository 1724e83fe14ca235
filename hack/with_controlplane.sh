#!/usr/bin/env bash
# hack/with_controlplane.sh COMMAND...: builds the control plane's programs while the command runs, because downloads and the end
# of each build leave processors idle. Fails as soon as either of them does.
set -euo pipefail
cd "$(dirname "$0")/.."

log=build/controlplane.log
mkdir -p build
set -m
hack/setup_controlplane.sh >"$log" 2>&1 &
controlplane=$!
"$@" &
command=$!
trap 'kill -- -$controlplane -$command 2>/dev/null || true' EXIT

for _ in controlplane command; do
    status=0
    wait -n -p ended || status=$?
    if [[ $ended == "$controlplane" && $status != 0 ]]; then
        tail -n 40 "$log" >&2
        echo "setup: the control plane's programs could not be built; all of the output is in $log" >&2
    elif [[ $ended == "$command" && $status == 0 ]] && kill -0 "$controlplane" 2>/dev/null; then
        echo "setup: the control plane's programs are still being built ($log)"
    fi
    ((status == 0)) || exit "$status"
done
