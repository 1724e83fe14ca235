#!/usr/bin/env bash
# Removes the CRDs and with them all our objects: uninstall.sh KUBECTL [--force]
# Without --force it refuses while claims exist. With it the claims are deleted too: a running operator then removes their
# machines and the CRDs go when that is done; without an operator the finalizers hold them, and this gives up.
set -euo pipefail
kubectl=$1
cd "$(dirname "$0")/.."

crd=nodesmithclaims.kubenodesmith.parawell.cloud
if [[ ${2:-} != --force && -n $("$kubectl" get crd "$crd" --ignore-not-found -o name) ]]; then
    claims=$("$kubectl" get "$crd" --all-namespaces --no-headers -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name)
    if [[ -n $claims ]]; then
        printf 'uninstall: these claims, and their machines, still exist:\n%s\n' "$claims" >&2
        echo 'Delete their pools first, or use FORCE=1 while the operator runs: both remove the machines.' >&2
        exit 1
    fi
fi
"$kubectl" delete --ignore-not-found --timeout=10m -k crds
"$kubectl" delete --ignore-not-found -f config/rbac/bootstrap.yaml

# Nobody is left to take the finalizer off, and a Secret that carries it could not be deleted. What belongs to users is not changed
# here, only named.
held=$("$kubectl" get secrets,rolebindings --all-namespaces --no-headers \
    -o custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name,FINALIZERS:.metadata.finalizers |
    awk '/kubenodesmith.io\/credentials-in-use/ {print $1, $2, $3}')
if [[ -n $held ]]; then
    echo 'These still carry the finalizer kubenodesmith.io/credentials-in-use:' >&2
    while read -r kind namespace name; do
        printf "  kubectl patch %s %s --namespace %s --type merge --patch '{\"metadata\":{\"finalizers\":null}}'\n" \
            "${kind,,}" "$name" "$namespace" >&2
    done <<<"$held"
fi
