"""The charts are complete, agree with the rest of the repository and refuse what they cannot mean. Helm is slow to start, so values
that do not meet each other are tried together."""

import json
import re
import sys
import tarfile
from functools import cache

import pytest
import yaml

from charts import CHART, CRD_CHART, helm, keys, only, pod_of, rendered
from conftest import ROOT, objects, run, tool

def test_copies_and_tables_of_the_charts_are_current():
    run(sys.executable, ROOT / "hack/charts.py", "--check")


def test_the_charts_render_from_an_archive_without_symbolic_links(tmp_path):
    """As Flux makes one of a repository: only files and folders."""
    with tarfile.open(tmp_path / "repository.tar", "w") as archive:
        archive.add(ROOT / "charts", "charts", filter=lambda entry: entry if entry.isfile() or entry.isdir() else None)
    with tarfile.open(tmp_path / "repository.tar") as archive:
        archive.extractall(tmp_path, filter="data")
    for chart, kind, count in ((CHART, "ClusterRole", 7), (CRD_CHART, "CustomResourceDefinition", 5)):
        done = helm(tmp_path / "charts" / chart.name, "--include-crds")
        assert done.returncode == 0 and done.stderr == "", done.stderr
        kinds = [d["kind"] for d in objects(done.stdout)]
        assert kinds.count(kind) >= count and kinds.count("CustomResourceDefinition") == 5


def test_the_charts_have_no_faults_and_say_what_a_catalogue_shows():
    run(tool("helm"), "lint", "--strict", CHART, CRD_CHART)
    crds = {yaml.safe_load(file.read_text())["metadata"]["name"] for file in (ROOT / "crds").glob("nodesmith*.yaml")}
    for folder in (CHART, CRD_CHART):
        chart = yaml.safe_load((folder / "Chart.yaml").read_text())
        assert {"home", "icon", "maintainers", "keywords"} <= set(chart), folder
        assert chart["annotations"]["artifacthub.io/license"] == "MIT"
        assert (ROOT / chart["icon"].removeprefix(chart["home"] + "/")).is_file()
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert {crd["name"] for crd in yaml.safe_load(chart["annotations"]["artifacthub.io/crds"])} == crds
    assert chart["version"] == yaml.safe_load((CRD_CHART / "Chart.yaml").read_text())["version"]


def test_the_schema_knows_each_value_and_each_value_has_a_meaning():
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())

    def closed(part, path):
        for name, below in part.get("properties", {}).items():
            here = f"{path}{name}"
            if "properties" in below and "description" not in below:
                assert below["additionalProperties"] is False, here
                yield from closed(below, here + ".")
            else:
                assert below.get("description"), here
                yield here
    known = set(closed(schema, ""))
    told = {re.match(r"\| `([\w.]+)`", line)[1] for line in (CHART / "README.md").read_text().splitlines() if line.startswith("| `")}
    assert known - told == {"enabled", "global"}
    assert schema["additionalProperties"] is False
    assert [key for key in keys(values) if not any(key == name or name.startswith(key + ".") or key.startswith(name + ".") for name in known)] == []


def test_the_chart_of_the_crds_has_those_of_this_repository_and_keeps_them():
    of_chart = lambda *flags: {d["metadata"]["name"]: d for d in objects(helm(CRD_CHART, *flags).stdout)}
    wanted = {d["metadata"]["name"]: d["spec"] for d in (yaml.safe_load(f.read_text()) for f in (ROOT / "crds").glob("nodesmith*.yaml"))}
    kept = of_chart("--set", "commonLabels.team=infrastructure")
    assert {name: d["spec"] for name, d in kept.items()} == wanted
    for crd in kept.values():
        assert crd["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep" and crd["metadata"]["labels"]["team"] == "infrastructure"
        assert crd["metadata"]["annotations"]["argocd.argoproj.io/sync-options"] == "Prune=false,Delete=false"
    assert all("helm.sh/resource-policy" not in d["metadata"]["annotations"] for d in of_chart("--set", "keep=false").values())
    assert "'kepe' not allowed" in helm(CRD_CHART, "--set", "kepe=false").stderr


# Each value, the place that the message names, and words of what is allowed there.
REFUSED = [
    ("replicaz=3", "/", "'replicaz' not allowed"),
    ("rbac.creat=false", "/rbac", "'creat' not allowed"),
    ("metrics.serviceMonitor.enabeld=true", "/metrics/serviceMonitor", "'enabeld' not allowed"),
    ("replicas=-1", "/replicas", "minimum"),
    ("replicas=two", "/replicas", "want integer"),
    ("log.level=loud", "/log/level", "'warning'"),
    ("log.format=xml", "/log/format", "'text'"),
    ("metrics.serviceMonitor.enabled=yes", "/metrics/serviceMonitor/enabled", "want boolean"),
    ("metrics.secure=no", "/metrics/secure", "want boolean"),
    ("metrics.serviceMonitor.interval=30", "/metrics/serviceMonitor/interval", "want string"),
    ("metrics.podMonitor.interval=soon", "/metrics/podMonitor/interval", "pattern"),
    ("managedNamespaces=kubenodesmith", "/managedNamespaces", "want array"),
    ("managedNamespaces={Not_A_Name}", "/managedNamespaces/0", "pattern"),
    ("image.tag=1", "/image/tag", "want string"),
    ("image=registry/kns:1", "/image", "want object"),
    ("image.pullPolicy=Allways", "/image/pullPolicy", "'Always'"),
    ("resources.requests.cpu=lots", "/resources/requests/cpu", "pattern"),
    ("priorityClass.value=3000000000", "/priorityClass/value", "maximum"),
    ("priorityClass.value=high", "/priorityClass/value", "want integer"),
    ("bootstrapServer.advertiseURL=10.0.0.9:8082", "/bootstrapServer/advertiseURL", "https?://"),
    ("bootstrapServer.service.type=Loadbalancer", "/bootstrapServer/service/type", "'LoadBalancer'"),
    ("bootstrapServer.service.nodePort=99999", "/bootstrapServer/service/nodePort", "maximum"),
    ("extraArgs=--log-level=debug", "/extraArgs", "want array"),
    ("imagePullSecrets={regcred}", "/imagePullSecrets/0", "want object"),
    ("tolerations.key=x", "/tolerations", "want array"),
    ("nodeSelector=linux", "/nodeSelector", "want object"),
    ("nameOverride=Not_Valid", "/nameOverride", "pattern"),
    ("podDisruptionBudget=false", "/podDisruptionBudget", "want object"),
    ("networkPolicy=true", "/networkPolicy", "want object"),
    # Ten and more beyond the list of adoption.md.
    ("image.digest=sha256:abc", "/image/digest", "pattern"),
    ("image.repository=kubenodesmith:v1", "/image/repository", "pattern"),
    ("terminationGracePeriodSeconds=10", "/terminationGracePeriodSeconds", "minimum"),
    ("strategy.type=Rolling", "/strategy/type", "'Recreate'"),
    ("leaderElection.leaseDuration=15", "/leaderElection/leaseDuration", "want string"),
    ("leaderElection.renewDeadline=ten", "/leaderElection/renewDeadline", "pattern"),
    ("podDisruptionBudget.maxUnavailable=150%", "/podDisruptionBudget/maxUnavailable", "pattern"),
    ("podLabels.team=1", "/podLabels/team", "want string"),
    ("hostAliases[0].ip=10.0.0.1", "/hostAliases/0", "hostnames"),
    ("topologySpreadConstraints[0].maxSkew=1", "/topologySpreadConstraints/0", "whenUnsatisfiable"),
    ("extraEnv[0].value=a", "/extraEnv/0", "name"),
    ("extraVolumeMounts[0].name=a", "/extraVolumeMounts/0", "mountPath"),
    ("livenessProbe.period=5", "/livenessProbe", "'period' not allowed"),
    ("affinity.nodeAffinty.a=b", "/affinity", "'nodeAffinty' not allowed"),
    ("networkPolicy.from[0].cidr=10.0.0.0/8", "/networkPolicy/from/0", "'cidr' not allowed"),
    ("dnsPolicy=Cluster", "/dnsPolicy", "'ClusterFirst'"),
    ("metrics.port=70000", "/metrics/port", "maximum"),
    ("metrics.rules.overrides.KubeNodeSmithPoolFull.severity=info", "/metrics/rules/overrides/KubeNodeSmithPoolFull", "'severity' not allowed"),
    ("metrics.service.ipFamilies={IPv5}", "/metrics/service/ipFamilies/0", "'IPv4'"),
    ("namespaceOverride=Kube", "/namespaceOverride", "pattern"),
    ("hostNetwork=1", "/hostNetwork", "want boolean"),
    ("serviceAccount.automount=false", "/serviceAccount", "'automount' not allowed"),
]


def rounds():
    """The values, in groups in which no place is that of another one or below it."""
    left = list(REFUSED)
    while left:
        group = []
        for row in left:
            place = re.split(r"[=\[]", row[0])[0]
            if not any(f"{place}.".startswith(f"{other}.") or f"{other}.".startswith(f"{place}.") for other in (re.split(r"[=\[]", r[0])[0] for r in group)):
                group.append(row)
        yield group
        left = [row for row in left if row not in group]


@cache
def complaints():
    """Returns the lines of Helm's answer that name the place of each value, by the value."""
    found = {}
    for group in rounds():
        done = helm(CHART, *(word for value, *_ in group for word in ("--set", value)))
        assert done.returncode != 0
        # Helm indents the messages of nested values.
        lines = [text for text in re.split(r"\n *- ", done.stderr) if text.startswith("at ")]
        for value, place, _ in group:
            found[value] = [text for text in lines if text.startswith(f"at '{'' if place == '/' else place}'")]
    return found


@pytest.mark.parametrize("value, place, allowed", REFUSED, ids=[row[0] for row in REFUSED])
def test_a_wrong_value_is_refused_with_its_key_and_what_is_allowed(value, place, allowed):
    assert any(allowed in text for text in complaints()[value]), complaints()[value]


EXCLUDE_EACH_OTHER = [
    ('{extraArgs: ["--leader-elect=false"]}', "replicas=2: nothing would keep several operators from acting at the same time"),
    ("{leaderElection: {enabled: false}}", "leaderElection.enabled=false with replicas=2"),
    ("{replicas: 1, leaderElection: {enabled: false}, strategy: {type: RollingUpdate}}", "Use Recreate"),
    ("{serviceAccount: {create: false}}", "serviceAccount.name must name"),
    ("{leaderElection: null, health: null, startupProbe: null}", "Use --reset-then-reuse-values"),  # as helm upgrade --reuse-values has them
    ("{bootstrapServer: {enabled: true}}", "bootstrapServer.advertiseURL must say"),
    ("{podDisruptionBudget: {minAvailable: 1, maxUnavailable: 0}}", "exclude each other"),
    ("{metrics: {serviceMonitor: {enabled: true}, podMonitor: {enabled: true}}}", "exclude each other"),
    ("{bootstrapServer: {service: {type: ClusterIP, nodePort: 30000}}}", "needs bootstrapServer.service.type NodePort"),
    ("{bootstrapServer: {service: {type: NodePort, loadBalancerClass: a}}}", "type LoadBalancer"),
    ("{metrics: {port: 8081}}", "must differ"),
    ("{metrics: {rules: {enabled: true, disabled: [NoSuchAlert]}}}", "names NoSuchAlert, but the alerts are: KubeNodeSmithNoLeader"),
]


@pytest.mark.parametrize("values, words", EXCLUDE_EACH_OTHER)
def test_values_that_exclude_each_other_are_refused(tmp_path, values, words):
    (tmp_path / "values.yaml").write_text(values)
    done = helm(CHART, "--values", tmp_path / "values.yaml")
    assert done.returncode != 0 and words in done.stderr, done.stderr


ACCEPTED = ["replicas=0", 'managedNamespaces=["*","kubenodesmith"]', 'image.tag="0.1"', 'extraArgs=["--no-such-flag"]',
            'priorityClass={"create":false,"name":""}', 'enabled=true', 'global={"a":1}', "resources.limits=null"]


def test_what_is_right_though_odd_is_accepted():
    done = helm(CHART, *(word for value in ACCEPTED for word in ("--set-json", value)))
    assert done.returncode == 0, done.stderr
    assert only(objects(done.stdout), "Deployment")["spec"]["replicas"] == 0
    assert len(rendered("{managedNamespaces: []}")) > 0


def test_one_operator_without_election_is_recreated_and_never_doubled():
    documents = rendered("{replicas: 1, leaderElection: {enabled: false}}")
    assert only(documents, "Deployment")["spec"]["strategy"] == {"type": "Recreate"}
    assert "--leader-elect=false" in pod_of(documents)["containers"][0]["args"]
