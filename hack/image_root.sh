#!/usr/bin/env bash
# Puts the content of the image into a folder: image_root.sh PROGRAM FOLDER
# The content is the stripped program, the shared libraries that it links, OpenSSL's configuration, CA certificates, and a user.
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
printf 'nonroot:x:65532:65532::/:/sbin/nologin\n' >"$root/etc/passwd"
