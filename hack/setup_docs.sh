#!/usr/bin/env bash
# Makes build/docs-venv with the packages of hack/mkdocs.txt, unless it has them.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=build/docs-venv
stamp=$venv/requirements.stamp
cmp -s hack/mkdocs.txt "$stamp" && exit 0
echo "setup: mkdocs into $venv"
[[ -x $venv/bin/python ]] || python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check --require-hashes -r hack/mkdocs.txt
cp hack/mkdocs.txt "$stamp"
