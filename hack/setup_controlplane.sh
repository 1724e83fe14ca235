#!/usr/bin/env bash
# Builds the test control plane's programs into build/controlplane/bin from the Go module test/controlplane. One module, so that what they share is compiled once.
# It takes about a quarter of an hour of processor time, once: a program is built again only if its inputs changed. Programs that CONTROLPLANE_BIN holds are not built at all.
set -euo pipefail
cd "$(dirname "$0")/.."

module=$PWD/test/controlplane
bin=$PWD/build/controlplane/bin
stamps=$PWD/build/controlplane/stamps
inputs=$(cat "$module"/go.* "$module"/cmd/*/*.go | sha256sum)
go=

# build PROGRAM PACKAGE LDFLAGS: unless it is there ready-made, or its stamp says that nothing changed.
build() {
    local program=$1 package=$2 ldflags="-s -w $3"
    [[ -z ${CONTROLPLANE_BIN:-} || ! -x $CONTROLPLANE_BIN/$program ]] || return 0
    local stamp="$inputs $ldflags $package"
    if [[ -x $bin/$program && -f $stamps/$program && $(<"$stamps/$program") == "$stamp" ]]; then return 0; fi

    [[ -n $go ]] || go=$(hack/setup_go.sh)
    echo "setup: building $program"
    # To collect garbage less often takes memory and saves a sixth of the time; to say nothing to debuggers, which the
    # linker would throw away, a tenth.
    (cd "$module" && GOGC=400 CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-mod=readonly \
        "$go" build -buildvcs=false -trimpath -gcflags=all=-dwarf=false -ldflags "$ldflags" -o "$bin/$program" "$package")
    echo "$stamp" >"$stamps/$program"
}

# version_of MODULE
version_of() { awk -v name="$1" '$1 == name { print $2; exit }' "$module/go.mod"; }

mkdir -p "$bin" "$stamps"
kubernetes=$(version_of k8s.io/kubernetes)
IFS=. read -r major minor _ <<<"${kubernetes#v}"
# Without these, kubectl and kubelets say v0.0.0.
version="-X k8s.io/component-base/version.gitVersion=$kubernetes -X k8s.io/component-base/version.gitMajor=$major -X k8s.io/component-base/version.gitMinor=$minor"

for program in kube-apiserver kube-controller-manager kube-scheduler kubeadm kubectl; do
    build "$program" "k8s.io/kubernetes/cmd/$program" "$version"
done
for program in testnode hollownode; do
    build "$program" "./cmd/$program" "$version"
done
build etcd go.etcd.io/etcd/server/v3 ""
build kwok sigs.k8s.io/kwok/cmd/kwok ""
build helm helm.sh/helm/v3/cmd/helm "-X helm.sh/helm/v3/internal/version.version=$(version_of helm.sh/helm/v3)"
