#!/usr/bin/env bash
# Unpacks Debian's packages of cloud-init (hack/versions.sh) into build/cloud-init, from apt's configured mirror. Makes a Python
# environment with the packages that they import. Installs nothing into the system. Prints the Python, then the version and folder
# of each available package. Without apt, a network or a package it prints fewer of them, or fails. The tests that need them
# then report that they were skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=hack/versions.sh
source hack/versions.sh

folder=$PWD/build/cloud-init
venv=$folder/venv
mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9
hack/setup_python.sh "$venv" hack/cloud-init.txt >&2
echo "$venv/bin/python"

mirror() {
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
        sed -n 's:^\(.*/debian\)/* main$:\1:p' | head -n 1
}

unpack() {
    local version=$1 checksum=$2 into=$folder/$1 package
    package=$into.deb
    [[ -f $into/stamp ]] && return
    echo "setup: cloud-init $version into ${into#"$PWD"/}" >&2
    /usr/lib/apt/apt-helper -q download-file "$(mirror)/pool/main/c/cloud-init/cloud-init_${version}_all.deb" "$package" \
        "SHA256:$checksum" >&2 || return 1
    rm -rf "$into"
    dpkg-deb -x "$package" "$into"
    rm "$package"
    touch "$into/stamp"
}

for package in "${CLOUD_INIT_PACKAGES[@]}"; do
    read -r version checksum <<<"$package"
    if unpack "$version" "$checksum"; then
        echo "${version%%-*} $folder/$version"
    else
        echo "setup: cloud-init $version cannot be had" >&2
    fi
done
