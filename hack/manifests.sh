#!/usr/bin/env bash
# Prints the manifests of config/default with the image replaced: manifests.sh KUBECTL IMAGE [--operator-only]
# --operator-only leaves out the CRDs and the namespace, which hold users' objects.
set -euo pipefail
kubectl=$(command -v "$1") || {
    echo "$1 was not found: install kubectl, build it with CONTROLPLANE_PROGRAMS=kubectl hack/setup_controlplane.sh, or name it with KUBECTL=path" >&2
    exit 1
}
kubectl=$(realpath "$kubectl")
image=$2
cd "$(dirname "$0")/.."

tag='' digest=''
if [[ $image == *@* ]]; then
    digest=${image#*@} image=${image%%@*}
fi
if [[ ${image##*/} == *:* ]]; then
    tag=${image##*:} image=${image%:*}
fi
# The tag is quoted because it may look like a number.
tag_field=${tag:+", newTag: \"$tag\""}
overlay=build/deploy
mkdir -p "$overlay"
cat >"$overlay/kustomization.yaml" <<EOF
resources: [../../config/default]
images:
  - {name: kubenodesmith, newName: "$image"${tag_field}${digest:+, digest: $digest}}
EOF

filter=(cat)
if [[ ${3:-} == --operator-only ]]; then
    filter=(awk 'BEGIN { RS = "---\n"; ORS = "---\n" } !/(^|\n)kind: (Namespace|CustomResourceDefinition)\n/')
fi
"$kubectl" kustomize "$overlay" | "${filter[@]}"
