#!/usr/bin/env bash
# Makes build/venv with the packages of test/requirements.txt, unless it already has them.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=build/venv
stamp=$venv/requirements.stamp
cmp -s test/requirements.txt "$stamp" && exit 0
echo "setup: Python packages into $venv"
[[ -x $venv/bin/python ]] || python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check --require-hashes -r test/requirements.txt
cp test/requirements.txt "$stamp"
