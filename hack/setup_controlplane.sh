#!/usr/bin/env bash
# Builds the test control plane's programs into build/controlplane/bin from the Go module test/controlplane. They are in one module,
# so that shared packages are compiled once. All of them take about a quarter of an hour of processor time. A program is built again
# only if its inputs changed. Programs in the folder CONTROLPLANE_BIN are not built. CONTROLPLANE_PROGRAMS, names with spaces between
# them, limits what is built.
set -euo pipefail
cd "$(dirname "$0")/.."

module=$PWD/test/controlplane
bin=$PWD/build/controlplane/bin
stamps=$PWD/build/controlplane/stamps
oldest=$module/oldest
previous=$module/previous
judges=$PWD/test/judges
go=

# inputs_of PACKAGE MODULE REQUIREMENTS: prints a hash of what we wrote of a program: the package, if it is ours, and its requirements.
inputs_of() { { cat "$3"/go.*; [[ $1 != ./* ]] || cat "$2/$1"/*.go; } | sha256sum; }

# build PROGRAM PACKAGE LDFLAGS [MODULE] [TAGS] [REQUIREMENTS]: builds the program unless it exists ready-made or its stamp is unchanged.
# REQUIREMENTS is a folder whose go.mod replaces that of the module.
build() {
    local program=$1 package=$2 ldflags="-s -w $3" module=${4:-$module} tags=${5:-}
    local requirements=${6:-$module}
    [[ -z ${CONTROLPLANE_PROGRAMS:-} || " $CONTROLPLANE_PROGRAMS " == *" $program "* ]] || return 0
    [[ -z ${CONTROLPLANE_BIN:-} || ! -x $CONTROLPLANE_BIN/$program ]] || return 0
    local stamp
    stamp="$(inputs_of "$package" "$module" "$requirements") $ldflags $package"
    if [[ -x $bin/$program && -f $stamps/$program && $(<"$stamps/$program") == "$stamp" ]]; then return 0; fi

    [[ -n $go ]] || go=$(hack/setup_go.sh) || return
    echo "setup: building $program"
    # Less frequent garbage collection uses memory and saves a sixth of the time. Leaving out debug information, which the
    # linker would drop, saves a tenth.
    (cd "$module" && GOGC=400 CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-mod=readonly \
        "$go" build -modfile="$requirements/go.mod" -buildvcs=false -trimpath -gcflags=all=-dwarf=false -tags "$tags" -ldflags "$ldflags" \
        -o "$bin/$program" "$package") || return
    echo "$stamp" >"$stamps/$program"
}

# version_of NAME [MODULE]: prints the version of a module's requirement.
version_of() { awk -v name="$1" '{ sub(/^require /, "") } $1 == name { print $2; exit }' "${2:-$module}/go.mod"; }

# flags_of KUBERNETES-VERSION: prints linker flags without which kubectl and kubelets report v0.0.0.
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
for program in testnode hollownode schedulerfilters; do
    build "$program" "./cmd/$program" "$version"
done
build etcd go.etcd.io/etcd/server/v3 ""
build kwok sigs.k8s.io/kwok/cmd/kwok ""
build helm helm.sh/helm/v3/cmd/helm "-X helm.sh/helm/v3/internal/version.version=$(version_of helm.sh/helm/v3)"
# These are of the oldest supported Kubernetes: a control plane, and the kubeadm that judges our files for such clusters.
version=$(flags_of "$(version_of k8s.io/kubernetes "$oldest")")
for program in kube-apiserver kube-controller-manager kube-scheduler kubeadm; do
    build "$program-oldest" "k8s.io/kubernetes/cmd/$program" "$version" "$oldest"
done
# Programs of the previous minor version are built only where they are named, as make previous and make agreement do.
is_named() { [[ " ${CONTROLPLANE_PROGRAMS:-} " == *" $1 "* ]]; }
version=$(flags_of "$(version_of k8s.io/kubernetes "$previous")")
for program in kube-apiserver kube-controller-manager kube-scheduler; do
    ! is_named "$program-previous" || build "$program-previous" "k8s.io/kubernetes/cmd/$program" "$version" "$previous"
done
! is_named schedulerfilters-previous || build schedulerfilters-previous ./cmd/schedulerfilters "$version" "$module" previous "$previous"
# These judge workflows, statuses and alerts. promtool is built without its ways to discover targets, a sixth of its packages, and only
# where it is named (CONTROLPLANE_PROGRAMS=promtool, as make judges does): it takes minutes. Where they are missing, the tests that ask
# them are skipped.
build actionlint github.com/rhysd/actionlint/cmd/actionlint "" "$judges/workflows" ||
    echo "setup: actionlint could not be built; tests skip it" >&2
build kstatus ./cmd/kstatus "" "$judges/kstatus" ||
    echo "setup: kstatus could not be built; tests skip it" >&2
! is_named promtool || build promtool github.com/prometheus/prometheus/cmd/promtool "" "$judges/alerts" remove_all_sd
