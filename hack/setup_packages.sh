#!/usr/bin/env bash
# Installs the Debian packages that are missing. If none is missing, it does nothing and needs no rights.
set -euo pipefail
cd "$(dirname "$0")/.."

packages() { sed 's/#.*//' hack/debian-packages.txt | xargs -n 1; }

if ! command -v dpkg-query >/dev/null; then
    echo "setup: this is no Debian; install what hack/debian-packages.txt lists in your system's way" >&2
    exit 1
fi
missing=()
while read -r package; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true) == installed ]] || missing+=("$package")
done < <(packages)
((${#missing[@]})) || exit 0

echo "setup: installing ${missing[*]}"
as_root=()
if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || { echo "setup: run as root or install sudo to get: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
fi
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
