"""Installs and removes the operator as docs/operations.md says: with kustomize, with Helm, from one file."""

import json
import os
import shutil
import subprocess
import time

import yaml

import documented
from cluster import Cluster, wait_until
from stack import BIN, ROOT

NAMESPACE = "kubenodesmith-system"
# Their CRDs belong to other projects, and no registry of packages has them.
OTHER_PROJECTS = {"ServiceMonitor", "PrometheusRule"}
EVERY_VALUE = ROOT / "test/adoption/every_value.yaml"
CHART = ROOT / "charts/kubenodesmith"
POOLS = "nodesmithpools.kubenodesmith.parawell.cloud"


def validate(cluster, documents):
    """Validates documents. The API server itself knows every field of its version and of our CRDs, so no schemas from the
    internet are needed."""
    known = [d for d in documents if d and d["kind"] not in OTHER_PROJECTS]
    assert known
    cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin="\n---\n".join(map(json.dumps, known)))


def passes_helms_test(cluster, folder):
    """Does what the containers of the release's test do, with the account that they have: no kubelet runs them here."""
    environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}
    hooks = subprocess.run([cluster.program("helm"), "get", "hooks", "kubenodesmith", "--namespace", NAMESPACE],
                           env=environment, check=True, capture_output=True, text=True).stdout
    (pod,) = (d for d in yaml.safe_load_all(hooks) if d and d["kind"] == "Pod")
    cluster.kubectl("apply", "--validate=strict", "-f", "-", stdin=json.dumps(pod))
    spec, name = pod["spec"], pod["metadata"]["name"]
    kubeconfig = cluster.service_account_kubeconfig(folder / "test.kubeconfig", NAMESPACE, spec["serviceAccountName"])
    for container in spec["initContainers"] + spec["containers"]:
        argv = [word.replace("$(POD_NAMESPACE)", NAMESPACE).replace("$(POD_NAME)", name) for word in container["args"]]
        done = subprocess.run([BIN / "kubenodesmith", *argv], env={**os.environ, "KUBECONFIG": str(kubeconfig)}, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "may not" not in done.stderr, f"{argv}: {done.stdout}{done.stderr}"
    assert name in done.stdout
    cluster.kubectl("delete", "pod", name, "-n", NAMESPACE)


def uninstall_release(folder, programs, cluster, name="kubenodesmith"):
    documented.execute(documented.Block("this test", 0, "run", "", f"helm uninstall {name} --namespace {NAMESPACE}"),
                       folder, programs, cluster.kubeconfig)


def uninstall_with_a_pool_left(cluster):
    """Returns the script's message if no operator ends the pool."""
    pool = {"apiVersion": "kubenodesmith.parawell.cloud/v1alpha1", "kind": "NodeSmithPool",
            "metadata": {"name": "held", "namespace": "default", "finalizers": ["kubenodesmith.io/nodepool"]},
            "spec": {"providerRef": "none", "limits": {"maxNodes": 1}}}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(pool))
    environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig), "UNINSTALL_TIMEOUT": "1s"}
    done = subprocess.run([ROOT / "hack/uninstall.sh", cluster.program("kubectl")], env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout
    return done.stderr


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
            return set(cluster.kubectl("api-resources", "--api-group=kubenodesmith.parawell.cloud", "-o", "name", check=False).stdout.split())

        # An API server starts or stops to serve a kind some moments after its CRD was made or deleted.
        def wait_kinds(count):
            wait_until(f"{count} kinds", kinds, lambda found: len(found) == count)

        run("install-kustomize")
        assert image() == "registry.example.com/kubenodesmith:0.1.0"
        wait_kinds(5)
        helm = [cluster.program("helm"), "template", "second", CHART, "-n", NAMESPACE, "--kube-version=v1.36.0", "--values", EVERY_VALUE]
        rendered = list(yaml.safe_load_all(subprocess.run(helm, check=True, capture_output=True, text=True).stdout))
        for namespace in {d["metadata"].get("namespace") for d in rendered if d} - {None, "kube-system", "kube-public", "default", NAMESPACE}:
            cluster.kubectl("create", "namespace", namespace)
        cluster.kubectl("create", "serviceaccount", "mine", "-n", NAMESPACE)  # a dry run leaves nothing that pods could name
        validate(cluster, rendered)
        validate(cluster, yaml.safe_load_all(cluster.kubectl("kustomize", ROOT / "config/network-policy")))
        validate(cluster, yaml.safe_load_all(cluster.kubectl("kustomize", ROOT / "config/grafana")))
        refused = uninstall_with_a_pool_left(cluster)
        assert "patch nodesmithpools held --namespace default" in refused, refused
        assert len(kinds()) == 5, "CRDs stay while objects that an operator has to end do"
        cluster.kubectl("patch", POOLS, "held", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        run("remove")
        wait_kinds(0)
        assert not cluster.kubectl("get", "deployments", "-n", NAMESPACE, "-o", "name")
        run("install-helm")
        assert image() == "registry.example.com/kubenodesmith:0.1.0"
        wait_kinds(5)
        passes_helms_test(cluster, tmp_path)
        uninstall_release(folder, programs, cluster)
        assert len(kinds()) == 5, "removing a release removes no object of a user"
        run("install-file")
        assert image() == "registry.example.com/kubenodesmith:0.1.0"


def release(folder, field):
    """Makes the next version in the reader's clone: its pools have one more field and another description."""
    for name in ("crds", "charts"):
        if (folder / name).is_symlink():
            (folder / name).unlink()
            shutil.copytree(ROOT / name, folder / name)
    file = folder / "crds/nodesmithpools.yaml"
    crd = yaml.safe_load(file.read_text())
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"][field] = {"type": "string", "description": "New."}
    spec["description"] = f"What you want, with {field}."
    for copy in (file, folder / "charts/kubenodesmith/crds" / file.name, folder / "charts/kubenodesmith-crds/files" / file.name):
        copy.write_text(yaml.safe_dump(crd, explicit_start=True))


def test_crds_are_upgraded_as_documented_however_they_were_installed(tmp_path):
    folder = documented.workspace(tmp_path / "clone")
    with Cluster(tmp_path / "cluster") as cluster:
        programs = (cluster.program("kubectl").parent, BIN)

        def run(group):
            documented.run(group, folder, programs, cluster.kubeconfig)

        def served(field):
            crd = json.loads(cluster.kubectl("get", "crd", POOLS, "-o", "json"))
            spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
            return field in spec["properties"] and field in spec["description"]

        run("install-helm")
        release(folder, "first")
        run("upgrade-helm")
        assert served("first")
        release(folder, "second")
        run("upgrade-kustomize")
        assert served("second")
        # Their own chart takes over what kubectl and the other chart wrote last, and upgrades it from then on.
        release(folder, "of-the-chart")
        run("upgrade-crd-chart")
        assert served("of-the-chart")
        release(folder, "of-the-chart-again")
        run("upgrade-crd-chart")
        assert served("of-the-chart-again")
        uninstall_release(folder, programs, cluster, "kubenodesmith-crds")
        assert served("of-the-chart-again"), "removing the release of the CRDs keeps them"
        uninstall_release(folder, programs, cluster)
        cluster.kubectl("delete", "-k", ROOT / "crds")
        run("install-file")
        release(folder, "third")
        run("upgrade-helm")
        assert served("third")
        release(folder, "fourth")
        run("upgrade-kustomize")
        assert served("fourth")


class Release:
    """Provides the chart in a cluster, and a Secret that a user keeps in the managed namespace."""

    def __init__(self, cluster):
        self.cluster = cluster

    def helm(self, verb, *argv, check=True):
        # No node runs the operator's pods. A release without replicas is ready immediately, any other never is.
        command = [self.cluster.program("helm"), verb, "kubenodesmith", *argv, "--namespace", NAMESPACE]
        done = subprocess.run(command, env={**os.environ, "KUBECONFIG": str(self.cluster.kubeconfig)}, capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, f"helm {verb} {argv}: {done.stderr}"
        return done

    def install(self):
        self.helm("install", CHART, "--create-namespace", "--set", "replicas=0")

    def upgrade(self, *values, check=True, flags=()):
        return self.helm("upgrade", CHART, "--set", ",".join(("replicas=0", *values)), *flags, check=check)

    def statuses(self):
        return [revision["status"] for revision in json.loads(self.helm("history", "-o", "json").stdout)]

    def keep_secret(self, namespace):
        self.cluster.kubectl("create", "secret", "generic", "proxmox", "-n", namespace, "--from-literal=PROXMOX_SECRET=s3cret")
        return lambda: json.loads(self.cluster.kubectl("get", "secret", "proxmox", "-n", namespace, "-o", "json"))["metadata"]["uid"]


def test_a_release_is_upgraded_rolled_back_and_removed_and_the_secrets_of_its_namespaces_survive(tmp_path):
    with Cluster(tmp_path / "cluster") as cluster:
        release = Release(cluster)
        release.install()
        secret = release.keep_secret("kubenodesmith")
        uid = secret()

        def survives(step, *statuses):
            assert secret() == uid, step
            assert release.statuses()[-len(statuses):] == list(statuses), step

        release.upgrade("log.level=debug")
        survives("an upgrade", "superseded", "deployed")
        release.helm("rollback", "1")
        survives("a rollback", "superseded", "superseded", "deployed")
        failed = release.upgrade("replicas=1", check=False, flags=("--atomic", "--timeout=2s"))
        assert failed.returncode != 0 and "has been rolled back due to atomic being set" in failed.stderr
        survives("an atomic upgrade that failed", "superseded", "failed", "deployed")

        # One namespace is no longer named by a later revision, and one was made by others.
        cluster.kubectl("create", "namespace", "theirs")
        release.upgrade("managedNamespaces={lab,theirs}")
        lab = release.keep_secret("lab")
        of_lab = lab()
        release.upgrade("managedNamespaces={kubenodesmith}")
        release.helm("rollback")
        survives("a rollback to a namespace that was given up", "superseded", "deployed")

        release.helm("uninstall")
        assert (secret(), lab()) == (uid, of_lab), "removing a release removes no Secret of a user"
        release.install()
        assert (secret(), lab()) == (uid, of_lab)
        assert "annotations" not in json.loads(cluster.kubectl("get", "namespace", "theirs", "-o", "json"))["metadata"]
