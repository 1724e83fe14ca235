"""Tests tenants who fill objects with as much as the API server accepts. The operator keeps little of it.

test/component/controllers/large_objects_test.cpp tests each kind and field."""

import secrets

import pytest

from stack import Stack, wait_for

COUNT = 40
MOST_EACH_KIB = 50  # 200 objects then take less than 10 MiB
TEXT = 250_000  # the API server accepts 256 KiB of annotations


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        running.install_crds()
        running.operator.start().wait_ready()
        yield running


def text(size):
    return secrets.token_hex(size // 2)


def claim(number):
    body = {"metadata": {"name": f"large-{number}", "annotations": {"a": text(TEXT)}},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
                     "selector": {"matchExpressions": [{"key": "a", "operator": "In", "values": [text(60) for _ in range(9000)]}]}}}
    return "/api/v1/namespaces/default/persistentvolumeclaims", body


def pod(number):
    labels = {f"l{label}-{text(20)}": text(60) for label in range(4000)}
    tolerations = [{"key": text(60), "operator": "Exists"} for _ in range(4000)]
    body = {"metadata": {"name": f"large-{number}", "labels": labels, "annotations": {"a": text(TEXT)}},
            "spec": {"tolerations": tolerations, "nodeSelector": {"never": "there"}, "containers": [{"name": "a", "image": "a"}]}}
    return "/api/v1/namespaces/default/pods", body


@pytest.mark.parametrize("large", [claim, pod])
def test_the_largest_objects_take_little_memory(stack, large):
    operator = stack.operator
    path, _ = large(0)
    kind = f'kubenodesmith_informer_objects{{resource="{path.rsplit("/", 1)[1]}"}}'
    known = lambda: operator.metrics().get(kind, 0)
    present = known()
    stack.cluster.api("POST", path, large(0)[1])  # memory that is needed only once
    wait_for("the first object", lambda: known() == present + 1)
    before = operator.resident_kib()
    for number in range(1, COUNT + 1):
        stack.cluster.api("POST", path, large(number)[1])
    wait_for("all objects", lambda: known() == present + 1 + COUNT)
    more = operator.resident_kib() - before
    print(f"\n{path}: {more} KiB more for {COUNT} objects")
    for number in range(COUNT + 1):
        stack.cluster.api("DELETE", f"{path}/large-{number}")
    assert more < COUNT * MOST_EACH_KIB + 4096  # including what one object takes while it is read
