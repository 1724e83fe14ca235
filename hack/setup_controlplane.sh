#!/usr/bin/env bash
# Builds the test control plane's programs into build/controlplane/bin from the Go module test/controlplane. One module, so that what they share is compiled once.
# It takes about a quarter of an hour of processor time, once: a program is built again only if its inputs changed. Programs that CONTROLPLANE_BIN holds are not built at all.
set -euo pipefail
cd "$(dirname "$0")/.."

module=$PWD/test/controlplane
bin=$PWD/build/controlplane/bin
stamps=$PWD/build/controlplane/stamps
oldest=$module/oldest
judges=$PWD/test/judges
go=

# inputs_of MODULE: a hash of what its programs are made of.
inputs_of() { { cat "$1"/go.*; [[ ! -d $1/cmd ]] || cat "$1"/cmd/*/*.go; } | sha256sum; }

# build PROGRAM PACKAGE LDFLAGS [MODULE] [TAGS]: unless it is there ready-made, or its stamp says that nothing changed.
build() {
    local program=$1 package=$2 ldflags="-s -w $3" module=${4:-$module} tags=${5:-}
    [[ -z ${CONTROLPLANE_BIN:-} || ! -x $CONTROLPLANE_BIN/$program ]] || return 0
    local stamp
    stamp="$(inputs_of "$module") $ldflags $package"
    if [[ -x $bin/$program && -f $stamps/$program && $(<"$stamps/$program") == "$stamp" ]]; then return 0; fi

    [[ -n $go ]] || go=$(hack/setup_go.sh)
    echo "setup: building $program"
    # To collect garbage less often takes memory and saves a sixth of the time; to say nothing to debuggers, which the
    # linker would throw away, a tenth.
    (cd "$module" && GOGC=400 CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-mod=readonly \
        "$go" build -buildvcs=false -trimpath -gcflags=all=-dwarf=false -tags "$tags" -ldflags "$ldflags" -o "$bin/$program" "$package")
    echo "$stamp" >"$stamps/$program"
}

# version_of NAME [MODULE]: of what a module requires
version_of() { awk -v name="$1" '{ sub(/^require /, "") } $1 == name { print $2; exit }' "${2:-$module}/go.mod"; }

# flags_of KUBERNETES-VERSION: without these, kubectl and kubelets say v0.0.0.
flags_of() {
    local major minor package=k8s.io/component-base/version
    IFS=. read -r major minor _ <<<"${1#v}"
    echo "-X $package.gitVersion=$1 -X $package.gitMajor=$major -X $package.gitMinor=$minor"
}

mkdir -p "$bin" "$stamps"
version=$(flags_of "$(version_of k8s.io/kubernetes)")

for program in kube-apiserver kube-controller-manager kube-scheduler kubeadm kubectl; do
    build "$program" "k8s.io/kubernetes/cmd/$program" "$version"
done
for program in testnode hollownode; do
    build "$program" "./cmd/$program" "$version"
done
build etcd go.etcd.io/etcd/server/v3 ""
build kwok sigs.k8s.io/kwok/cmd/kwok ""
build helm helm.sh/helm/v3/cmd/helm "-X helm.sh/helm/v3/internal/version.version=$(version_of helm.sh/helm/v3)"
# Of the oldest Kubernetes that we promise: a control plane, and the kubeadm that judges what we write for such clusters.
version=$(flags_of "$(version_of k8s.io/kubernetes "$oldest")")
for program in kube-apiserver kube-controller-manager kube-scheduler kubeadm; do
    build "$program-oldest" "k8s.io/kubernetes/cmd/$program" "$version" "$oldest"
done
# Judges of what we ship: workflows and alerts. Of promtool the ways to discover targets are left out, which are most of its code.
build actionlint github.com/rhysd/actionlint/cmd/actionlint "" "$judges"
build promtool github.com/prometheus/prometheus/cmd/promtool "" "$judges" remove_all_sd
