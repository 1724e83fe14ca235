#!/usr/bin/env bash
# Removes all our objects and their CRDs: uninstall.sh KUBECTL [--force]
# Objects are deleted before the CRDs, in the order in which they need each other, while the operator can still see all kinds.
# Without --force it refuses while claims exist. With --force the claims are deleted too, and the operator removes their machines.
set -euo pipefail
kubectl=$1
cd "$(dirname "$0")/.."

group=kubenodesmith.parawell.cloud
claims=nodesmithclaims.$group

# exists CRD: succeeds if the CRD exists.
exists() { [[ -n $("$kubectl" get crd "$1" --ignore-not-found -o name) ]]; }
# objects_of CRD: prints their namespaces and names, one per line.
objects_of() {
    "$kubectl" get "$1" --all-namespaces --no-headers -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name
}

# free_by_hand: prints the command that removes the finalizers for each "KIND NAMESPACE NAME" of its input.
free_by_hand() {
    while read -r kind namespace name; do
        printf "  kubectl patch %s %s --namespace %s --type merge --patch '{\"metadata\":{\"finalizers\":null}}'\n" \
            "${kind,,}" "$name" "$namespace"
    done
}

if [[ ${2:-} != --force ]] && exists "$claims"; then
    left=$(objects_of "$claims")
    if [[ -n $left ]]; then
        printf 'uninstall: these claims, and their machines, still exist:\n%s\n' "$left" >&2
        echo 'Delete their pools first, or use FORCE=1 while the operator runs: both remove the machines.' >&2
        exit 1
    fi
fi

for kind in nodesmithpools nodesmithclaims nodesmithproviders nodesmithhosts nodesmithcontrolplanes; do
    crd=$kind.$group
    if ! exists "$crd" || [[ -z $(objects_of "$crd") ]]; then continue; fi
    echo "uninstall: deleting all $kind"
    if ! "$kubectl" delete "$crd" --all --all-namespaces --timeout="${UNINSTALL_TIMEOUT:-5m}"; then
        left=$(objects_of "$crd")
        [[ -n $left ]] || continue
        echo "uninstall: these $kind are still being deleted, so the CRDs stay:" >&2
        while read -r namespace name; do
            printf "  kubectl describe %s %s --namespace %s\n" "$kind" "$name" "$namespace" >&2
        done <<<"$left"
        echo 'The operator ends them when nothing of theirs is left; start it if it does not run, and repeat this command. Only if you' >&2
        echo 'know that no machine or template of theirs is left, take their finalizers off:' >&2
        free_by_hand <<<"$kind ${left//$'\n'/$'\n'$kind }" >&2
        exit 1
    fi
done
"$kubectl" delete --ignore-not-found --timeout=2m -k crds
"$kubectl" delete --ignore-not-found -f config/rbac/bootstrap.yaml

# A Secret with the finalizer cannot be deleted if no operator is left to remove it. This script only names users' objects and
# does not change them.
held=$("$kubectl" get secrets,rolebindings --all-namespaces --no-headers \
    -o custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name,FINALIZERS:.metadata.finalizers |
    awk '/kubenodesmith.io\/credentials-in-use/ {print $1, $2, $3}')
if [[ -n $held ]]; then
    echo 'These still carry the finalizer kubenodesmith.io/credentials-in-use:' >&2
    free_by_hand <<<"$held" >&2
fi
