"""Tests that kubectl scale sets how many nodes of a pool exist without demand."""

import json

from conftest import NAMESPACE, ROOT
from objects import build

SCALE = ["scale", "nodesmithpool/valid", "-n", NAMESPACE]


def min_nodes(cluster):
    return int(cluster.kubectl("get", "nodesmithpool/valid", "-n", NAMESPACE, "-o", "jsonpath={.spec.limits.minNodes}"))


def test_a_pool_is_scaled_within_its_limits(clean):
    clean.kubectl("create", "-f", "-", stdin=json.dumps(build("NodeSmithPool", changes={"spec.limits.maxNodes": 5})))
    clean.kubectl(*SCALE, "--replicas=3")
    assert min_nodes(clean) == 3
    refused = clean.kubectl(*SCALE, "--replicas=6", check=False)
    assert refused.returncode != 0 and "minNodes" in refused.stderr, refused.stderr
    assert clean.kubectl(*SCALE, "--current-replicas=4", "--replicas=5", check=False).returncode != 0
    assert min_nodes(clean) == 3


def test_the_scale_of_a_pool_shows_its_nodes(clean):
    clean.kubectl("create", "-f", "-", stdin=json.dumps(build("NodeSmithPool")))
    get = ["get", "--raw", f"/apis/kubenodesmith.parawell.cloud/v1alpha1/namespaces/{NAMESPACE}/nodesmithpools/valid/scale"]
    scale = json.loads(clean.kubectl(*get))
    assert scale["spec"].get("replicas", 0) == 0 and scale["status"]["replicas"] == 0
    clean.kubectl("patch", "nodesmithpool", "valid", "-n", NAMESPACE, "--type=merge", "--subresource=status", "-p", '{"status": {"nodes": 2}}')
    assert json.loads(clean.kubectl(*get))["status"]["replicas"] == 2


def test_editors_may_scale_and_viewers_may_not(clean):
    clean.kubectl("apply", "-f", ROOT / "config/user-roles/user_roles.yaml")
    clean.kubectl("create", "-f", "-", stdin=json.dumps(build("NodeSmithPool")))
    for role in ("editor", "viewer"):
        clean.kubectl("create", "rolebinding", f"scale-{role}", f"--clusterrole=kubenodesmith-{role}", f"--user={role}", "-n", NAMESPACE)
    try:
        clean.kubectl(*SCALE, "--replicas=1", "--as=editor")
        assert min_nodes(clean) == 1
        refused = clean.kubectl(*SCALE, "--replicas=2", "--as=viewer", check=False)
        assert refused.returncode != 0 and "forbidden" in refused.stderr.lower(), refused.stderr
    finally:
        clean.kubectl("delete", "rolebinding", "scale-editor", "scale-viewer", "-n", NAMESPACE)
