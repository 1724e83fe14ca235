#!/usr/bin/env bash
# Installs DMTF's validator of Redfish services and DMTF's schemas into build/redfish-validator, unless they are there. Prints
# the program and the folder of schemas. It needs cargo, because the schemas are a crate, pinned with its checksum. It fails
# without cargo or without a network. The test that needs it then reports that it was skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/build/redfish-validator
schemas=$folder/schemas/nv-redfish-schema/redfish-csdl/csdl
stamp=$folder/stamp
wanted=$(cat hack/redfish-validator.txt hack/redfish-schemas/Cargo.lock)
if [[ ! -f $stamp || $(<"$stamp") != "$wanted" ]]; then
    command -v cargo >/dev/null || { echo "DMTF's Redfish schemas come as a crate, and there is no cargo here" >&2; exit 1; }
    echo "setup: DMTF's Redfish validator into ${folder#"$PWD"/}" >&2
    rm -rf "$folder"
    python3 -m venv "$folder"
    "$folder/bin/pip" install -q --disable-pip-version-check --require-hashes -r hack/redfish-validator.txt >&2
    cargo vendor -q --locked --manifest-path hack/redfish-schemas/Cargo.toml "$folder/schemas" >/dev/null
    echo "$wanted" >"$stamp"
fi
echo "$folder/bin/rf_service_validator"
echo "$schemas"
