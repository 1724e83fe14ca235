"""Provides real kube-apiservers with our CRDs for the tests of this folder: the newest and the oldest that the user guide
supports."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test/controlplane"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from cluster import Cluster, wait_for  # noqa: E402

NAMESPACE = "kubenodesmith"


@pytest.fixture(scope="session", params=["newest", "oldest"])
def cluster(tmp_path_factory, request):
    with Cluster(tmp_path_factory.mktemp("cluster"), oldest=request.param == "oldest") as running:
        running.kubectl("apply", "--server-side", "-k", ROOT / "crds")
        running.kubectl("wait", "--for=condition=Established", "--timeout=120s", "crd", "--all")
        # An API server serves a kind some moments after its CRD is Established.
        wait_for("our kinds to be served", lambda: running.kubectl("get", "kubenodesmith", "-A", check=False).returncode == 0)
        running.kubectl("create", "namespace", NAMESPACE)
        yield running


@pytest.fixture
def clean(cluster):
    """Removes all our objects after the test."""
    yield cluster
    cluster.kubectl("delete", "kubenodesmith", "--all", "-n", NAMESPACE)
