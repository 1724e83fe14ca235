#!/usr/bin/env bash
# setup_python.sh [VENV REQUIREMENTS]: makes a Python environment with these packages, unless it already has them. The default is
# that of the tests: build/venv with test/requirements.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=${1:-build/venv}
requirements=${2:-test/requirements.txt}
stamp=$venv/requirements.stamp
cmp -s "$requirements" "$stamp" && exit 0
echo "setup: Python packages into $venv"
[[ -x $venv/bin/python ]] || python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check --require-hashes -r "$requirements"
cp "$requirements" "$stamp"
