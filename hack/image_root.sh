#!/usr/bin/env bash
# Puts the content of the image into a folder: image_root.sh PROGRAM FOLDER
# The content is the stripped program, the shared libraries that it links, OpenSSL's configuration, CA certificates, and a user.
# Scanners recognise the packages by os-release and dpkg's status, and each package comes with its licence.
set -euo pipefail
program=$1 root=$2

mkdir -p "$root/usr/bin" "$root/etc/ssl/certs" "$root/usr/lib/ssl" "$root/tmp"
strip -o "$root/usr/bin/kubenodesmith" "$program"
ldd "$program" | awk '/=> \//{print $3} /ld-linux/{print $1}' | xargs -I{} cp --parents -L {} "$root/"
cp /etc/ssl/openssl.cnf "$root/etc/ssl/"
ln -sfn /etc/ssl/certs "$root/usr/lib/ssl/certs"
ln -sfn /etc/ssl/openssl.cnf "$root/usr/lib/ssl/openssl.cnf"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
ln -sfn certs/ca-certificates.crt "$root/etc/ssl/cert.pem"
ln -sfn /etc/ssl/cert.pem "$root/usr/lib/ssl/cert.pem"

cp -L /etc/os-release "$root/etc/"
mkdir -p "$root/var/lib/dpkg/status.d"
declare -A licences  # Boost's packages have one of 2 MB, which is copied once
while read -r kind package; do
    licence=/usr/share/doc/$package/copyright
    sum=$(sha256sum <"$licence")
    mkdir -p "$root${licence%/*}"
    if [[ -n ${licences[$sum]:-} ]]; then
        ln -s "../${licences[$sum]}/copyright" "$root$licence"
    else
        cp -L "$licence" "$root$licence"
        licences[$sum]=$package
    fi
    [[ $kind == static ]] || dpkg-query --status "$package" >"$root/var/lib/dpkg/status.d/$package"
done < <(python3 "$(dirname "$0")/sbom.py" --packages "$program")
install -D -m 644 "$(dirname "$0")/../LICENSE" "$root/usr/share/doc/kubenodesmith/copyright"
printf 'nonroot:x:65532:65532::/:/sbin/nologin\n' >"$root/etc/passwd"
