"""Compares plans with the kube-scheduler's filter plugins. `make agreement` does the same with 2,000 clusters. The plugins are of
the newest Kubernetes, or of the minor version before it (`make previous`, which sets KUBERNETES_RELEASE)."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import agreement  # noqa: E402
from clusters import Cluster, container, milli, requested  # noqa: E402

CLUSTERS = 60
RELEASE = os.environ.get("KUBERNETES_RELEASE") or "newest"


@pytest.fixture(scope="module")
def figures():
    program = agreement.judge_program(RELEASE)
    if not program.exists():
        pytest.skip(f"{program.name} is not built: hack/setup_controlplane.sh builds it")
    figures = agreement.measure(range(CLUSTERS), RELEASE)
    print("\n" + agreement.table_of(*figures))
    return figures


@pytest.mark.parametrize("rate", agreement.RATES)
def test_no_pod_is_judged_differently(figures, rate):
    _, found, _ = figures
    assert not found[rate], f"pods that {agreement.RATES[rate]}:\n" + "\n".join(found[rate])


def test_every_plugin_has_its_say(figures):
    total, _, refusals = figures
    assert total["left_out"] == 0
    assert agreement.PLUGINS <= {name for name, count in refusals.items() if count}
    assert refusals.keys() <= agreement.PLUGINS, "a plugin refuses pods that the program does not know"


@pytest.mark.parametrize("spec, cpu", [
    ({}, 2000),
    ({"overhead": {"cpu": "250m"}}, 2250),
    ({"initContainers": [container("1", "1Gi"), container("3", "1Gi")]}, 3000),
    ({"initContainers": [container("1", "1Gi") | {"restartPolicy": "Always"}]}, 3000),
    ({"resources": {"requests": {"cpu": "8"}}, "overhead": {"cpu": "250m"}, "initContainers": [container("3", "1Gi")]}, 8250),
], ids=["containers", "overhead", "one init container after the other", "sidecar", "the whole pod"])
def test_a_machine_is_crowded_by_what_the_scheduler_counts_for_a_pod(spec, cpu):
    assert requested({"containers": [container("2", "1Gi")], **spec}, "cpu", milli) == cpu


def test_a_seed_gives_the_same_cluster():
    assert Cluster(7).objects == Cluster(7).objects != Cluster(8).objects
