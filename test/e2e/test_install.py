"""Installed and removed as docs/operations.md says: with kustomize, with Helm, from one file."""

import json
import subprocess
import time

import yaml

import documented
from cluster import Cluster
from stack import BIN, ROOT

NAMESPACE = "kubenodesmith-system"
# Their CRDs belong to other projects, and no registry of packages has them.
OTHER_PROJECTS = {"ServiceMonitor", "PrometheusRule"}
EVERYTHING = ("networkPolicy.enabled=true,metrics.serviceMonitor.enabled=true,metrics.rules.enabled=true,metrics.dashboard.enabled=true,"
              "metrics.certificateSecret=certificate,metrics.statusPage=true")


def validate(cluster, documents):
    """The API server itself knows every field of its version and of our CRDs, and needs no schemas from the internet."""
    known = [d for d in documents if d and d["kind"] not in OTHER_PROJECTS]
    assert known
    cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin="\n---\n".join(map(json.dumps, known)))


def test_every_documented_way_of_installing_works(tmp_path):
    folder = documented.workspace(tmp_path / "clone")
    with Cluster(tmp_path / "cluster") as cluster:
        programs = (cluster.program("kubectl").parent, BIN)

        def run(group):
            found = [block for block in documented.blocks() if block.how == "run" and block.group == group]
            assert found, group
            for block in found:
                begin = time.monotonic()
                documented.execute(block, folder, programs, cluster.kubeconfig)
                print(f"{group} ({block}): {time.monotonic() - begin:.1f} s")

        def image():
            deployment = json.loads(cluster.kubectl("get", "deployment", "kubenodesmith", "-n", NAMESPACE, "-o", "json"))
            return deployment["spec"]["template"]["spec"]["containers"][0]["image"]

        def kinds():
            return set(cluster.kubectl("api-resources", "--api-group=kubenodesmith.parawell.cloud", "-o", "name").split())

        run("install-kustomize")
        assert image() == "registry.example.com/kubenodesmith:0.1.0" and len(kinds()) == 5
        helm = [cluster.program("helm"), "template", "second", ROOT / "charts/kubenodesmith", "-n", NAMESPACE, "--kube-version=v1.36.0", "--set", EVERYTHING]
        validate(cluster, yaml.safe_load_all(subprocess.run(helm, check=True, capture_output=True, text=True).stdout))
        validate(cluster, yaml.safe_load_all(cluster.kubectl("kustomize", ROOT / "config/network-policy")))
        validate(cluster, yaml.safe_load_all(cluster.kubectl("kustomize", ROOT / "config/grafana")))
        run("remove")
        assert not kinds() and not cluster.kubectl("get", "deployments", "-n", NAMESPACE, "-o", "name")
        run("install-helm")
        assert image() == "registry.example.com/kubenodesmith:0.1.0" and len(kinds()) == 5
        documented.execute(documented.Block("this test", 0, "run", "", "helm uninstall kubenodesmith --namespace " + NAMESPACE),
                           folder, programs, cluster.kubeconfig)
        assert len(kinds()) == 5, "removing a release removes no object of a user"
        run("install-file")
        assert image() == "registry.example.com/kubenodesmith:0.1.0"
