#!/usr/bin/env bash
# hack/with_controlplane.sh COMMAND...: builds the control plane's programs, which from nothing is half downloading,
# while the command runs. Fails if either does.
set -euo pipefail
cd "$(dirname "$0")/.."

log=build/controlplane.log
mkdir -p build
set -m
hack/setup_controlplane.sh >"$log" 2>&1 &
builder=$!
trap 'kill -- -$builder 2>/dev/null || true' EXIT

"$@"
kill -0 $builder 2>/dev/null && echo "setup: the control plane's programs are still being built ($log)"
if ! wait $builder; then
    tail -n 40 "$log" >&2
    echo "setup: the control plane's programs could not be built; all of its output is in $log" >&2
    exit 1
fi
cat "$log"
