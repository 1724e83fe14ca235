"""Follows README.md and docs/user-guide.md as a new user, step by step, and has running pods at the end. The Proxmox host is
as docs/proxmox.md leaves it: a token with exactly the rights shown there, and a certificate that only Proxmox' own authority
signed."""

import json
import os
import re
import subprocess
import sys

import pytest

import documented
from cluster import Cluster, free_ports
from stack import ROOT, running_pods


class Place:
    """Holds what `make dev-up` leaves, and the reader's clone of this repository."""

    def __init__(self, folder):
        self.state = folder / "dev"
        self.environment = {**os.environ, "KUBENODESMITH_DEV": str(self.state)}
        said = self.dev("up")
        self.kubeconfig = re.search(r"^export KUBECONFIG=(\S+)$", said, re.MULTILINE)[1]
        self.cluster = Cluster(self.state / "cluster")
        self.folder = documented.workspace(folder / "clone")
        (self.folder / "token.txt").write_bytes((self.state / "token.txt").read_bytes())
        self.site = {"pve1.example.com:8006": re.search(r"use (\S+) instead of", said)[1],
                     ":".join(f"{byte:02X}" for byte in [*range(0, 256, 17)] * 2): re.search(r"certificate (\S+)", said)[1],
                     "build/dev": str(self.state)}

    def dev(self, what):
        done = subprocess.run([sys.executable, ROOT / "hack/dev.py", what], env=self.environment, capture_output=True, text=True, check=True)
        return done.stdout

    @property
    def programs(self):
        return (self.cluster.program("kubectl").parent,)

    def pods(self):
        return running_pods(json.loads(self.cluster.kubectl("get", "pods", "-o", "json"))["items"])


@pytest.fixture
def place(tmp_path, monkeypatch):
    # make run gets another port, because other tests use the default port of probes.
    monkeypatch.setenv("ARGS", f"--health-probe-bind-address=127.0.0.1:{free_ports(1)[0]}")
    place = Place(tmp_path)
    yield place
    place.dev("down")


def test_who_follows_the_readme_has_running_pods(place):
    with documented.followed("readme", place.folder, place.programs, place.kubeconfig, place.site):
        assert len(place.pods()) == 10


def test_who_follows_the_user_guide_has_running_pods_on_virtual_machines_and_on_bare_metal(place):
    with documented.followed("first-hour", place.folder, place.programs, place.kubeconfig, place.site):
        on_metal = [p for p in place.pods() if p["metadata"]["labels"]["app"] == "metal"]
        assert [p["spec"]["nodeName"] for p in on_metal] in (["host-1"], ["host-2"])
