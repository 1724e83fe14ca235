"""Compares plans with the kube-scheduler's filter plugins. `make agreement` does the same with 2,000 clusters."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import agreement  # noqa: E402

CLUSTERS = 60


@pytest.fixture(scope="module")
def figures():
    if not agreement.judge_program().exists():
        pytest.skip("schedulerfilters is not built: hack/setup_controlplane.sh builds it")
    figures = agreement.measure(range(CLUSTERS))
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


def test_a_seed_gives_the_same_cluster():
    assert agreement.Cluster(7).objects == agreement.Cluster(7).objects != agreement.Cluster(8).objects
