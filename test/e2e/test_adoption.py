"""Tests the operator as an administrator tries it: installed by kustomize, run as its own ServiceAccount, asked for its
plans and reasons."""

import json
import os
import shutil
import ssl
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

import browser
import documented
import manifests
from cluster import free_ports
from stack import BIN, ROOT, SYSTEM, Operator, Stack, condition, make_certificate, running_pods, wait_for, wait_until


def run_from_image(operator, folder):
    """Runs the operator in a root with the image's content and its kubeconfig."""
    if subprocess.run(["unshare", "--user", "--map-root-user", "true"], capture_output=True, check=False).returncode != 0:
        return  # there are no user namespaces here: it runs from the build tree
    root = folder / "image"
    subprocess.run([ROOT / "hack/image_root.sh", BIN / "kubenodesmith", root], check=True)
    shutil.copy(operator.kubeconfig, root / "kubeconfig")
    shutil.copytree(folder / "certificates", root / "certificates")
    (root / "proc").mkdir()
    operator.kubeconfig = Path("/kubeconfig")
    operator.certificates = (root / "certificates", Path("/certificates"))
    enter = 'mount --rbind /proc "$0/proc" && exec chroot "$0" /usr/bin/kubenodesmith "$@"'
    operator.command = ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c", enter, root]


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with Stack(tmp_path_factory.mktemp("stack")) as running:
        kubectl = running.cluster.program("kubectl")
        made = subprocess.run([ROOT / "hack/manifests.sh", kubectl, "registry.example/kubenodesmith:1"],
                              capture_output=True, text=True, check=True).stdout
        running.install_crds()
        running.cluster.kubectl("apply", "--server-side", "-f", "-", stdin=made)
        running.wait_for_rights()
        # No kubelet can run the image. Its root runs beside the cluster, as the same ServiceAccount.
        running.cluster.kubectl("scale", "deployment/kubenodesmith", "-n", SYSTEM, "--replicas=0")
        operator = running.operator = Operator(running.folder, running.account_kubeconfig())
        operator.token = token_of(running.cluster, "prometheus", "kubenodesmith-metrics-reader", "kubenodesmith-status-reader")
        (running.folder / "certificates").mkdir()
        make_certificate(running.folder / "certificates", "first")
        operator.certificates = (running.folder / "certificates",) * 2  # the folder as the test sees it, and as the operator does
        run_from_image(operator, running.folder)
        operator.start("--legacy-kproximate-metrics", "--status-page", f"--metrics-cert-path={operator.certificates[1]}",
                       "--leader-elect", f"--leader-election-namespace={SYSTEM}").wait_ready()
        yield running


def token_of(cluster, name, *roles):
    """Returns the token of a new ServiceAccount with these ClusterRoles."""
    cluster.kubectl("create", "serviceaccount", name, "-n", SYSTEM)
    for role in roles:
        cluster.kubectl("create", "clusterrolebinding", f"{name}-{role}", f"--clusterrole={role}", f"--serviceaccount={SYSTEM}:{name}")
    return cluster.kubectl("create", "token", name, "-n", SYSTEM).strip()


def program(stack, *argv):
    return subprocess.run([BIN / "kubenodesmith", "--kubeconfig", stack.cluster.kubeconfig, *argv],
                          capture_output=True, text=True, check=False)


def test_before_any_launch_the_plan_says_what_would_be_created(stack):
    stack.apply(*manifests.everything(stack.proxmox), manifests.control_plane(mode="Observe"))
    stack.cluster.kubectl("wait", "--for=condition=Ready", "nsprovider/proxmox", "-n", manifests.NAMESPACE, "--timeout=120s")
    stack.cluster.kubectl("wait", "--for=condition=ProviderReady", "nspool/workers", "-n", manifests.NAMESPACE, "--timeout=120s")
    assert program(stack, "plan").returncode == 0
    stack.apply(manifests.deployment("shop", 2))
    wait_for("the scheduler's verdict on both", lambda: [condition(p, "PodScheduled").get("reason") for p in stack.pods()] == ["Unschedulable"] * 2)

    def planned():
        done = program(stack, "plan", "-o", "json")
        return done if done.returncode == 1 else None
    plan = json.loads(wait_for("a plan", planned).stdout)
    assert {launch["pool"] for launch in plan["launches"]} == {"kubenodesmith/workers"}
    assert not stack.claims() and not stack.proxmox.machines()


def test_a_pod_that_waits_is_explained(stack):
    name = stack.pods()[0]["metadata"]["name"]
    done = program(stack, "explain", "pod", name)
    assert done.returncode == 0, done.stderr
    assert "The scheduler says" in done.stdout and "a machine of pool workers would be created" in done.stdout
    missing = program(stack, "explain", "claim", "nobody")
    assert missing.returncode == 2 and "there is no claim nobody" in missing.stderr


def test_who_may_read_in_the_managed_namespaces_only_gets_plans_and_reasons(stack):
    kubectl, reader = stack.cluster.kubectl, f"{SYSTEM}:planner"
    kubectl("create", "serviceaccount", "planner", "-n", SYSTEM)
    for namespace in (SYSTEM, manifests.NAMESPACE):
        kubectl("create", "rolebinding", "planner", "-n", namespace, "--clusterrole=kubenodesmith-viewer", f"--serviceaccount={reader}")
    whole = ["pods", "nodes", "namespaces", "limitranges", "runtimeclasses.node.k8s.io", "persistentvolumes", "persistentvolumeclaims", "daemonsets.apps",
             "storageclasses.storage.k8s.io", "csidrivers.storage.k8s.io", "csistoragecapacities.storage.k8s.io",
             "csinodes.storage.k8s.io", "volumeattachments.storage.k8s.io", "poddisruptionbudgets.policy"]
    kubectl("create", "clusterrole", "planner", "--verb=list,watch", f"--resource={','.join(whole)}")
    kubectl("create", "clusterrolebinding", "planner", "--clusterrole=planner", f"--serviceaccount={reader}")
    kubeconfig = stack.cluster.service_account_kubeconfig(stack.folder / "planner.kubeconfig", SYSTEM, "planner")
    managed = f"--namespaces={SYSTEM},{manifests.NAMESPACE}"

    def asked(*argv):
        return subprocess.run([BIN / "kubenodesmith", "--kubeconfig", kubeconfig, *argv], capture_output=True, text=True, check=False)
    everywhere = asked("plan")
    assert everywhere.returncode == 2 and "--namespaces" in everywhere.stderr
    planned = asked("plan", managed)
    assert planned.returncode == 1, planned.stderr
    assert f"create a machine in pool {manifests.NAMESPACE}/workers" in planned.stdout
    pod = asked("explain", "pod", stack.pods()[0]["metadata"]["name"], managed)
    assert pod.returncode == 0 and "a machine of pool workers would be created" in pod.stdout and "You may not read the operator's Events" in pod.stdout
    elsewhere = asked("explain", "pool", "team-a/workers", managed)
    assert elsewhere.returncode == 0 and "the operator ignores objects of namespace team-a" in elsewhere.stdout


def test_it_launches_and_explains_what_it_launched(stack):
    stack.apply(manifests.control_plane())
    wait_for("running pods", lambda: len(running_pods(stack.pods())) == 2)
    claim = running_pods(stack.pods())[0]["spec"]["nodeName"]
    stack.cluster.kubectl("wait", "--for=condition=Ready", f"nsclaim/{claim}", "-n", manifests.NAMESPACE, "--timeout=120s")
    about_claim = program(stack, "explain", "claim", claim).stdout
    assert "is Ready" in about_claim and "Created for" in about_claim
    about_node = program(stack, "explain", "node", claim).stdout
    assert f"claim kubenodesmith/{claim}" in about_node and "By what is known now" in about_node


def test_gitops_sees_no_drift_and_a_current_status(stack):
    applied = manifests.everything(stack.proxmox)
    stack.cluster.kubectl("diff", "-f", "-", stdin="\n---\n".join(json.dumps(m) for m in applied))
    for plural in ("nodesmithproviders", "nodesmithpools", "nodesmithcontrolplanes", "nodesmithclaims"):
        generations = lambda plural=plural: {t["metadata"]["name"]: (t["status"]["observedGeneration"], t["metadata"]["generation"]) for t in stack.objects(plural)}
        wait_until(f"current statuses of {plural}", generations, lambda found: found and all(seen == wanted for seen, wanted in found.values()))


def test_metrics_tell_what_happened(stack):
    ready = 'kubenodesmith_pool_nodes{namespace="kubenodesmith",pool="workers",state="ready"}'
    wait_for("the count of ready nodes", lambda: stack.operator.metrics().get(ready) == len(stack.nodes()) > 0)
    wait_for("all pods to be counted", lambda: stack.operator.metrics()["kubenodesmith_pod_unschedulable_to_running_seconds_count"] == 2)
    counted = lambda samples: (samples["kpnodes_running"] == len(stack.nodes())
                               and 0 < samples["cpu_allocated_total"] <= samples["cpu_allocatable_total"] <= samples["cpu_provisioned_total"])
    samples = wait_until("the sums of all nodes", stack.operator.metrics, counted)
    assert samples['leader_election_master_status{name="12c57729.kubenodesmith.parawell.cloud"}'] == 1
    of_provider, of_pool = 'namespace="kubenodesmith",provider="proxmox",', 'namespace="kubenodesmith",pool="workers",'
    for begin in ("provider_host_free{" + of_provider, "proxmox_requests_total{" + of_provider, 'condition{kind="NodeSmithPool",',
                  "claim_stage_duration_seconds_count{" + of_pool + 'provider="proxmox",'):
        assert any(series.startswith("kubenodesmith_" + begin) for series in samples), begin
    mode = 'kubenodesmith_control_plane_mode{namespace="kubenodesmith",control_plane="kubenodesmith",mode="Active"}'
    assert samples[mode] == 1
    assert 0 < samples['kubenodesmith_pool_requested{namespace="kubenodesmith",pool="workers",resource="memory"}']
    assert samples["process_resident_memory_bytes"] > 1e6


def status_without(stack, token):
    with pytest.raises(urllib.error.HTTPError) as refused:
        stack.operator.get_securely("/metrics", token)
    return refused.value.code


def test_metrics_are_for_those_whom_the_cluster_allows_them(stack):
    assert status_without(stack, None) == 401
    assert status_without(stack, "made-up") == 401
    assert status_without(stack, token_of(stack.cluster, "stranger")) == 403
    assert "kubenodesmith_build_info" in stack.operator.get("/metrics")
    assert "made-up" not in stack.operator.log_tail(1000)


def test_a_renewed_certificate_is_served_without_a_restart(stack):
    address = ("127.0.0.1", stack.operator.metrics_port)
    before = ssl.get_server_certificate(address)
    assert before.strip() == (stack.operator.certificates[0] / "tls.crt").read_text().strip()
    (stack.operator.certificates[0] / "tls.key").write_text("half written")
    assert ssl.get_server_certificate(address) == before
    make_certificate(stack.operator.certificates[0], "second")
    assert ssl.get_server_certificate(address).strip() == (stack.operator.certificates[0] / "tls.crt").read_text().strip() != before.strip()


def test_the_other_replica_answers_too_with_a_certificate_of_its_own_making(stack):
    standby = Operator(stack.folder, stack.folder / "operator.kubeconfig")
    standby.token, standby.log = stack.operator.token, stack.folder / "standby.log"
    standby.start("--status-page", "--leader-elect", f"--leader-election-namespace={SYSTEM}").wait_ready()
    try:
        document = json.loads(standby.get("/status?format=json"))
        assert document["leading"] is False and any("does not lead" in note for note in document["notes"])
        assert 'leader_election_master_status{name="12c57729.kubenodesmith.parawell.cloud"} 0' in standby.get("/metrics")
    finally:
        assert standby.stop() == 0


def test_the_status_page_is_for_people(stack, tmp_path):
    chromium = browser.find() or pytest.skip("no Chromium is installed")
    url = f"https://127.0.0.1:{stack.operator.metrics_port}/status"
    page = browser.Browser(chromium, tmp_path)
    try:
        page.open(url, Authorization=f"Bearer {stack.operator.token}")
        page.wait("document.getElementById('freshness-text').textContent.startsWith('Updated')")
        claims = [claim["metadata"]["name"] for claim in stack.claims()]
        text = page.evaluate("document.body.innerText")
        assert all(name in text for name in claims) and "Everything is well" in text
        # Each claim has its stages, and its machine is drawn on a host.
        assert page.evaluate("document.querySelectorAll('#claims .stages').length") == len(claims)
        assert page.evaluate("document.querySelectorAll('#hosts .box:not(.thin) .part-of:not(.other)').length") == len(claims)
        assert page.evaluate("document.querySelectorAll('#timeline svg').length") == 3
        page.evaluate("document.querySelector('#decisions button').click()")
        assert "Created" in page.evaluate("document.getElementById('decisions').innerText")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert not page.complaints()
    finally:
        page.close()


def test_prometheus_scrapes_them_and_knows_the_alerts(stack, tmp_path):
    prometheus = shutil.which("prometheus") or pytest.skip("prometheus is not installed")
    rules = yaml.safe_load((ROOT / "config/prometheus/rules.yaml").read_text())["spec"]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rules))
    target = f"127.0.0.1:{stack.operator.metrics_port}"
    (tmp_path / "token").write_text(stack.operator.token)
    job = {"job_name": "kubenodesmith", "honor_labels": True, "scrape_interval": "2s", "scrape_timeout": "2s", "scheme": "https",
           "tls_config": {"insecure_skip_verify": True}, "authorization": {"credentials_file": str(tmp_path / "token")},
           "static_configs": [{"targets": [target]}]}
    (tmp_path / "prometheus.yaml").write_text(yaml.safe_dump(
        {"global": {"evaluation_interval": "1s"}, "scrape_configs": [job], "rule_files": ["rules.yaml"]}))
    (port,) = free_ports(1)

    def ask(path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=30) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen([prometheus, f"--config.file={tmp_path}/prometheus.yaml", f"--storage.tsdb.path={tmp_path}/data",
                                    f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    try:
        claims = wait_for("a scrape", lambda: (ask("query?query=kubenodesmith_claims") or {}).get("result"))
        assert {series["metric"]["namespace"] for series in claims} == {manifests.NAMESPACE}
        wait_for("a target that is up", lambda: ask("query?query=up")["result"][0]["value"][1] == "1")
        # All is well, so each rule is evaluated and no rule has an alert.
        wait_for("rules without a fault or an alert", lambda: all(
            (rule["health"], rule["state"]) == ("ok", "inactive") for group in ask("rules")["groups"] for rule in group["rules"]))
    finally:
        process.terminate()
        process.wait(20)


def test_helm_installs_the_same_into_a_namespace_of_its_own(stack):
    helm = stack.cluster.program("helm")
    environment = {**os.environ, "KUBECONFIG": str(stack.cluster.kubeconfig), "HELM_CACHE_HOME": str(stack.folder / "helm")}

    def run(*argv):
        done = subprocess.run([helm, *argv], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout
    run("install", "second", ROOT / "charts/kubenodesmith", "--namespace", "by-helm", "--create-namespace", "--set", "replicas=0")
    deployment = json.loads(stack.cluster.kubectl("get", "deployment", "second", "-n", "by-helm", "-o", "json"))
    assert deployment["spec"]["template"]["spec"]["serviceAccountName"] == "second"
    can = lambda verb, what: stack.may(verb, what, "--as=system:serviceaccount:by-helm:second", "--all-namespaces")
    wait_for("its rights", lambda: can("create", "nodesmithclaims.kubenodesmith.parawell.cloud"))
    assert not can("list", "secrets")
    run("uninstall", "second", "--namespace", "by-helm")
    assert stack.claims(), "removing a release removes no object of ours"


KPROXIMATE = "kproximate: {config: {kpNodeTemplateName: debian-worker}, secrets: {pmUrl: \"https://pve.example.org:8006/api2/json\"}}"
PROTOTYPE = """
schemaVersion: v1alpha1
providers: {pve: {type: proxmox, credentialsRef: {name: token, namespace: machines}, options: {endpoint: "https://pve.example.org:8006/api2/json"}}}
nodePools: [{name: workers, providerRef: pve, limits: {maxNodes: 3}}]
"""


@pytest.fixture(scope="module")
def clone(stack):
    """Provides a folder in which the documented commands run, with the files that they read."""
    folder = documented.workspace(stack.folder / "clone")
    (folder / "values.yaml").write_text(KPROXIMATE)
    (folder / "settings.py").write_text('pxe_host = "https://pve.example.org:8006/api2/json"\npxe_autoscaled_node_template_vm = "worker"\npxe_autoscaled_node_network_mode = "dhcp"\n')
    (folder / "scaler-config.yaml").write_text(PROTOTYPE)
    (folder / "new-pod.yaml").write_text("{apiVersion: v1, kind: Pod, metadata: {name: new, namespace: default}, spec: {containers: [{name: app, resources: {requests: {cpu: 6}}}]}}")
    return folder


def run_documented(stack, group, clone):
    (pod, *_) = running_pods(stack.pods())
    claim = next(c for c in stack.claims() if c["status"].get("nodeName") == pod["spec"]["nodeName"])
    pod = pod["metadata"]
    documented.run(group, clone, (stack.cluster.program("kubectl").parent, BIN), stack.cluster.kubeconfig, POD=pod["name"], POD_NAMESPACE=pod["namespace"], POOL="workers",
                   CLAIM=claim["metadata"]["name"], NODE=claim["status"]["nodeName"], NAMESPACE=manifests.NAMESPACE)


def test_the_commands_of_the_documentation_work(stack, clone):
    run_documented(stack, "cluster", clone)


def test_a_node_that_somebody_deleted_is_replaced_and_the_pool_says_so(stack):
    lost = next(c for c in stack.claims() if c["status"].get("nodeName"))
    stack.cluster.kubectl("delete", "node", lost["status"]["nodeName"])

    def is_replaced():
        """Pods of a Node that is gone still count as running for a moment."""
        claims, pods = stack.claims(), running_pods(stack.pods())
        nodes = {claim["status"].get("nodeName") for claim in claims}
        is_gone = lost["metadata"]["name"] not in [claim["metadata"]["name"] for claim in claims]
        return is_gone and len(pods) == 2 and all(pod["spec"]["nodeName"] in nodes for pod in pods)

    wait_for("the replacement", is_replaced)
    (pool,) = stack.objects("nodesmithpools")
    (taken,) = [c for c in pool["status"]["conditions"] if c["type"] == "TakenAway"]
    assert taken["reason"] == "NodeDeleted" and "audit log" in taken["message"]
    assert pool["status"]["losses"]["count"] == 1


def test_removal_needs_no_further_rights(stack):
    stack.cluster.kubectl("delete", "nsclaim", stack.claims()[0]["metadata"]["name"], "-n", manifests.NAMESPACE, "--wait=false")
    wait_for("a drained node's successor", lambda: len(running_pods(stack.pods())) == 2 and all(
        "deletionTimestamp" not in c["metadata"] for c in stack.claims()))
    stack.cluster.kubectl("delete", "deployment", "shop", "-n", "default")
    stack.cluster.kubectl("delete", "nspool", "workers", "-n", manifests.NAMESPACE, "--wait=false")
    wait_for("the end of the pool and its machines", lambda: not (stack.claims() or stack.proxmox.machines()))
    wait_for("the pool's end", lambda: not stack.objects("nodesmithpools"))


def test_nothing_was_forbidden(stack):
    assert stack.operator.stop() == 0
    assert not stack.refused()
    # The operator requests one thing that its admission policies forbid, to see whether they are active (dryRun).
    denied = [(e["verb"], e["requestURI"]) for e in stack.audit() if e["responseStatus"]["code"] == 403 and not e["requestURI"].endswith("?dryRun=All")]
    assert not denied
