#!/usr/bin/env bash
# Builds the test control plane's programs into build/controlplane/bin from the Go modules of test/controlplane.
# The Kubernetes programs take about 5 minutes on 2 cores, once: a group is built again only if its inputs changed. Programs that CONTROLPLANE_BIN holds are not built at all.
set -euo pipefail
shopt -s nullglob
cd "$(dirname "$0")/.."

module=$PWD/test/controlplane
bin=$PWD/build/controlplane/bin
stamps=$PWD/build/controlplane/stamps
ready_made=${CONTROLPLANE_BIN:-}
go=

# needed PROGRAM: whether it has to come from us.
needed() { [[ -z $ready_made || ! -x $ready_made/$1 ]]; }

# build GROUP FOLDER LDFLAGS PROGRAM=PACKAGE...: go build in FOLDER, unless the stamp says that nothing changed.
build() {
    local group=$1 folder=$2 ldflags=$3 item inputs stamp current=yes wanted=()
    shift 3
    for item in "$@"; do
        needed "${item%%=*}" || continue
        wanted+=("$item")
        [[ -x $bin/${item%%=*} ]] || current=no
    done
    ((${#wanted[@]})) || return 0
    inputs=$(cat "$folder"/go.* "$folder"/cmd/*/*.go | sha256sum)
    stamp="$inputs $ldflags ${wanted[*]}"
    if [[ $current == yes && -f $stamps/$group && $(<"$stamps/$group") == "$stamp" ]]; then return 0; fi

    [[ -n $go ]] || go=$(hack/setup_go.sh)
    echo "setup: building ${wanted[*]%%=*}"
    for item in "${wanted[@]}"; do
        (cd "$folder" && CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-mod=readonly \
            "$go" build -buildvcs=false -trimpath -ldflags "-s -w $ldflags" -o "$bin/${item%%=*}" "${item#*=}")
    done
    echo "$stamp" >"$stamps/$group"
}

mkdir -p "$bin" "$stamps"
kubernetes=$(awk '$1 == "k8s.io/kubernetes" { print $2; exit }' "$module/go.mod")
IFS=. read -r major minor _ <<<"${kubernetes#v}"
# Without these, kubectl and kubelets say v0.0.0.
version="-X k8s.io/component-base/version.gitVersion=$kubernetes -X k8s.io/component-base/version.gitMajor=$major -X k8s.io/component-base/version.gitMinor=$minor"

commands=()
for name in kube-apiserver kube-controller-manager kube-scheduler kubeadm kubectl; do
    commands+=("$name=k8s.io/kubernetes/cmd/$name")
done
build kubernetes "$module" "$version" "${commands[@]}"
build testnode "$module" "$version" testnode=./cmd/testnode
build etcd "$module/etcd" "" etcd=go.etcd.io/etcd/server/v3
build kwok "$module/kwok" "" kwok=sigs.k8s.io/kwok/cmd/kwok
helm=$(awk '$1 == "helm.sh/helm/v3" { print $2; exit }' "$module/helm/go.mod")
build helm "$module/helm" "-X helm.sh/helm/v3/internal/version.version=$helm" helm=helm.sh/helm/v3/cmd/helm
