#!/bin/sh
# with_proxmox_simulator.sh STATE SIMULATOR PROGRAM...: runs the program beside a separate Proxmox simulator. PROXMOX_SIMULATOR
# names the simulator's ready file.
set -eu
state=$1
simulator=$2
shift 2
rm -rf "$state"
mkdir -p "$state"
export PROXMOX_SIMULATOR="$state/ready.json"
"$simulator" --state "$state" --ready-file "$PROXMOX_SIMULATOR" --speed 10 >"$state/log" 2>&1 &
pid=$!
trap 'kill "$pid" 2>/dev/null || true' EXIT
trap 'exit 143' INT TERM
tries=0
while ! [ -e "$PROXMOX_SIMULATOR" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 600 ] || ! kill -0 "$pid" 2>/dev/null; then
        cat "$state/log" >&2
        exit 1
    fi
    sleep 0.05
done
"$@"
