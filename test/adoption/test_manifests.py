"""Tests that config/ and charts/ are complete, agree with each other, and request no more rights than needed."""

import os
import subprocess
from functools import cache

import yaml

from conftest import ROOT, kustomize, objects, run, tool

CHART = ROOT / "charts/kubenodesmith"
NAMESPACE = "kubenodesmith-system"


def by_kind(documents, *kinds):
    return {(d["kind"], d["metadata"].get("namespace"), d["metadata"]["name"]): d for d in documents if d["kind"] in kinds}


@cache
def template_text(*flags):
    return run(tool("helm"), "template", "kubenodesmith", CHART, "--namespace", NAMESPACE, "--include-crds", "--kube-version=v1.36.0", *flags)


def template(*flags):
    return objects(template_text(*flags))


def test_the_chart_installs_the_crds_of_this_repository():
    wanted = {d["metadata"]["name"]: d for d in kustomize("crds")}
    got = {d["metadata"]["name"]: d for d in template() if d["kind"] == "CustomResourceDefinition"}
    assert got == wanted


def test_chart_and_kustomize_grant_the_same_rights():
    kinds = ("ClusterRole", "Role")
    chart, config = by_kind(template(), *kinds), by_kind(kustomize("config/default"), *kinds)
    assert {key: role["rules"] for key, role in chart.items()} == {key: role["rules"] for key, role in config.items()}
    bindings = ("ClusterRoleBinding", "RoleBinding")
    chart, config = by_kind(template(), *bindings), by_kind(kustomize("config/default"), *bindings)
    what = lambda all_bindings: {key: (b["roleRef"], b["subjects"]) for key, b in all_bindings.items()}
    assert what(chart) == what(config)


POLICIES = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")


def test_chart_and_kustomize_have_the_same_admission_policies():
    policies = lambda documents: {key: d["spec"] for key, d in by_kind(documents, *POLICIES).items()}
    chart, config = policies(template()), policies(kustomize("config/default"))
    assert chart == config and len(config) == 10
    for kind, _, name in config:
        if kind == "ValidatingAdmissionPolicyBinding":
            assert config[(kind, None, name)] == {"policyName": name, "validationActions": ["Deny"]}


def test_admission_policies_name_the_account_that_the_operator_runs_as():
    chart = by_kind(template("--namespace=elsewhere", "--set", "nameOverride=smith,serviceAccount.name=mine"), *POLICIES)
    text = yaml.safe_dump_all(chart.values())
    assert "system:serviceaccount:elsewhere:mine" in text
    assert "kubenodesmith-system" not in text and "kubenodesmith-status" not in text and "smith-status" in text


def test_clusters_without_admission_policies_get_none():
    assert not by_kind(template("--set", "admissionPolicies=false"), *POLICIES)
    assert not by_kind(template("--kube-version=v1.29.4"), *POLICIES)


def test_the_status_of_each_kind_is_protected():
    policy = next(d for d in kustomize("config/admission") if d["metadata"]["name"] == "kubenodesmith-status")
    kinds = {d["spec"]["names"]["plural"] for d in kustomize("crds")}
    assert {r for rule in policy["spec"]["matchConstraints"]["resourceRules"] for r in rule["resources"]} == {f"{kind}/status" for kind in kinds}


def without_identity(deployment):
    """Returns the pod's own settings. Image and labels are left out, because the two ways of installing choose them."""
    pod = deployment["spec"]["template"]["spec"]
    container = pod["containers"][0]
    container.pop("image")
    container.pop("imagePullPolicy", None)
    container["args"] = sorted(a for a in container["args"] if a != "--log-level=info")
    term = pod["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"][0]["podAffinityTerm"]
    term.pop("labelSelector")
    return {"replicas": deployment["spec"]["replicas"], "pod": pod}


def test_chart_and_kustomize_have_the_same_roles_for_people():
    roles = lambda documents: {key[2]: role["rules"] for key, role in by_kind(documents, "ClusterRole").items()}
    assert roles(template()) == roles(kustomize("config/default")) and "kubenodesmith-metrics-reader" in roles(template())


def aggregations(documents):
    return {key[2]: labels for key, role in by_kind(documents, "ClusterRole").items()
            if (labels := [label for label in role["metadata"].get("labels", {}) if "aggregate-to" in label])}


def test_the_clusters_own_roles_take_in_those_for_people_only_if_asked():
    assert aggregations(template()) == aggregations(kustomize("config/default")) == {}
    wanted = {f"kubenodesmith-{role}": [f"rbac.authorization.k8s.io/aggregate-to-{into}"] for role, into in (("admin", "admin"), ("editor", "edit"), ("viewer", "view"))}
    assert aggregations(template("--set", "rbac.aggregateUserRoles=true")) == wanted
    copies = kustomize("config/aggregated-roles")
    assert aggregations(copies) == {f"{role}-aggregated": labels for role, labels in wanted.items()}
    rules = lambda documents: {key[2]: role["rules"] for key, role in by_kind(documents, "ClusterRole").items()}
    originals = rules(kustomize("config/default"))
    assert all(rules(copies)[f"{role}-aggregated"] == originals[role] for role in wanted)


def test_no_role_for_people_writes_what_is_the_operators():
    kinds = {d["spec"]["names"]["plural"] for d in kustomize("crds")}
    of_programs = {"kubenodesmith", "kubenodesmith-credentials", "kubenodesmith-joining-machine"}
    roles = {key[2]: role for key, role in by_kind(kustomize("config/default"), "ClusterRole").items() if key[2] not in of_programs}
    assert {"kubenodesmith-admin", "kubenodesmith-editor", "kubenodesmith-viewer"} <= set(roles)
    for name, role in roles.items():
        for rule in role["rules"]:
            assert set(rule.get("resources", [])) <= {*kinds, "nodesmithpools/scale"} and "*" not in rule["verbs"], f"{name}: {rule}"
    assert {resource for rule in roles["kubenodesmith-admin"]["rules"] for resource in rule["resources"]} == {*kinds, "nodesmithpools/scale"}


def test_chart_and_kustomize_run_the_same_deployment():
    chart = by_kind(template(), "Deployment")
    config = by_kind(kustomize("config/default"), "Deployment")
    (ours,), (theirs,) = chart.values(), config.values()
    assert without_identity(ours) == without_identity(theirs)


def managed_namespaces(documents):
    (deployment,) = (d for d in documents if d["kind"] == "Deployment")
    (flag,) = (a for a in deployment["spec"]["template"]["spec"]["containers"][0]["args"] if a.startswith("--namespaces="))
    return set(flag.removeprefix("--namespaces=").split(","))


def test_objects_do_something_where_the_documentation_puts_them_and_nowhere_else():
    assert managed_namespaces(template()) == managed_namespaces(kustomize("config/default")) == {"kubenodesmith", NAMESPACE}
    assert managed_namespaces(template("--set", "managedNamespaces={lab,kubenodesmith-system}")) == {"lab", NAMESPACE}
    assert "*" in managed_namespaces(template("--set", "managedNamespaces={*}"))


def reads_secrets_in(documents):
    """Returns the namespaces in which the operator may read any Secret; None means all namespaces."""
    roles = {d["metadata"]["name"] for d in documents if d["kind"] == "ClusterRole"
             if any("secrets" in rule.get("resources", []) and "get" in rule["verbs"] for rule in d["rules"])}
    return {d["metadata"].get("namespace") for d in documents if d["kind"] in ("ClusterRoleBinding", "RoleBinding") if d["roleRef"]["name"] in roles}


def test_secrets_are_read_in_managed_namespaces_and_nowhere_else():
    assert reads_secrets_in(template()) == reads_secrets_in(kustomize("config/default")) == {"kubenodesmith", NAMESPACE}
    assert reads_secrets_in(template("--set", "managedNamespaces={lab}")) == {"lab", NAMESPACE}
    assert reads_secrets_in(template("--set", "managedNamespaces={lab,*}")) == {None}


def test_the_operator_keeps_its_rights_on_secrets_by_one_role_binding_and_gets_no_others():
    for documents in (template(), kustomize("config/default")):
        rules = [rule for d in documents if d["kind"] in ("ClusterRole", "Role") for rule in d.get("rules") or []]
        of_bindings = [rule for rule in rules if {"rolebindings", "clusterrolebindings", "*"} & set(rule.get("resources", []))]
        assert [(rule["resources"], rule["resourceNames"]) for rule in of_bindings] == [(["rolebindings"], ["kubenodesmith-credentials-in-use"])]
        assert not [rule for rule in rules if {"bind", "escalate", "impersonate", "*"} & set(rule["verbs"])]


def test_managed_namespaces_exist_and_outlive_the_release():
    def namespaces(*flags):
        return {d["metadata"]["name"]: d["metadata"].get("annotations") for d in template(*flags) if d["kind"] == "Namespace"}
    assert namespaces("--set", "managedNamespaces={lab,kubenodesmith-system}") == {"lab": {
        "helm.sh/resource-policy": "keep", "argocd.argoproj.io/sync-options": "Prune=false,Delete=false", "kustomize.toolkit.fluxcd.io/prune": "disabled"}}
    assert namespaces("--set", "managedNamespaces={*}") == {}


def test_the_values_of_the_chart_do_what_they_say():
    on = template("--set", "metrics.serviceMonitor.enabled=true,metrics.rules.enabled=true,metrics.dashboard.enabled=true,"
                  "networkPolicy.enabled=true,image.tag=v9,replicas=3,nameOverride=smith,serviceAccount.create=false,"
                  "serviceAccount.name=mine,metrics.certificateSecret=mine,metrics.statusPage=true,metrics.legacyKproximate=true", "--set-json", 'extraArgs=["--max-concurrent-claims=4"]')
    kinds = {d["kind"] for d in on}
    assert {"ServiceMonitor", "PrometheusRule", "ConfigMap", "NetworkPolicy"} <= kinds
    assert {d["metadata"]["name"] for d in on if d["kind"] == "ServiceAccount"} == {"smith-scraper"}
    (deployment,) = (d for d in on if d["kind"] == "Deployment")
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "kubenodesmith:v9"
    assert {"--max-concurrent-claims=4", "--status-page", "--legacy-kproximate-metrics", "--metrics-cert-path=/etc/kubenodesmith/metrics"} <= set(container["args"])
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/etc/kubenodesmith/metrics"]
    assert [v["secret"]["secretName"] for v in deployment["spec"]["template"]["spec"]["volumes"]] == ["mine"]
    (monitor,) = (d for d in on if d["kind"] == "ServiceMonitor")
    assert monitor["spec"]["endpoints"][0]["scheme"] == "https"
    assert deployment["metadata"]["name"] == "smith" and deployment["spec"]["replicas"] == 3
    assert deployment["spec"]["template"]["spec"]["serviceAccountName"] == "mine"
    rules = next(d for d in on if d["kind"] == "PrometheusRule")
    assert rules["spec"] == yaml.safe_load((ROOT / "config/prometheus/rules.yaml").read_text())["spec"]
    off = template("--set", "rbac.create=false,rbac.userRoles=false,priorityClass.create=false,podDisruptionBudget.enabled=false,"
                   "metrics.secure=false,metrics.serviceMonitor.enabled=true")
    assert not {"Role", "ClusterRole", "PriorityClass", "PodDisruptionBudget"} & {d["kind"] for d in off}
    pod = next(d for d in off if d["kind"] == "Deployment")["spec"]["template"]["spec"]
    assert "priorityClassName" not in pod
    assert "--metrics-secure=false" in pod["containers"][0]["args"]
    (monitor,) = (d for d in off if d["kind"] == "ServiceMonitor")
    assert "scheme" not in monitor["spec"]["endpoints"][0]


def bootstrap_server(documents):
    """Returns a manifest's settings for the server of boot data: flags, the container's port, and the Service."""
    (deployment,) = (d for d in documents if d["kind"] == "Deployment")
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    services = [d for d in documents if d["kind"] == "Service" and d["metadata"]["name"].endswith("-bootstrap")]
    return ([a for a in container["args"] if a.startswith("--bootstrap-")],
            [p for p in container["ports"] if p["name"] == "bootstrap"], [s["spec"]["ports"] for s in services])


def overlay_of(folder, resource, component):
    """Returns a kustomization as in docs/operations.md."""
    relative = lambda path: os.path.relpath(ROOT / path, folder)
    (folder / "kustomization.yaml").write_text(yaml.safe_dump({"resources": [relative(resource)], "components": [relative(component)]}))
    return folder


def test_machines_can_fetch_boot_data_if_the_administrator_says_where(tmp_path):
    assert bootstrap_server(template()) == ([], [], [])
    flags = ["--set", "bootstrapServer.enabled=true,networkPolicy.enabled=true"]
    refused = subprocess.run([tool("helm"), "template", "kubenodesmith", CHART, "--kube-version=v1.36.0", *flags], capture_output=True, text=True, check=False)
    assert refused.returncode != 0 and "bootstrapServer.advertiseURL" in refused.stderr
    url = "http://10.0.0.9:30082"
    chart = template(*flags, "--set", f"bootstrapServer.advertiseURL={url},bootstrapServer.service.type=NodePort,bootstrapServer.service.nodePort=30082")
    args, ports, services = bootstrap_server(chart)
    assert args == ["--bootstrap-bind-address=:8082", f"--bootstrap-advertise-url={url}"]
    assert [p["containerPort"] for p in ports] == [8082]
    assert services == [[{"name": "bootstrap", "port": 8082, "targetPort": "bootstrap", "nodePort": 30082}]]
    (policy,) = (d for d in chart if d["kind"] == "NetworkPolicy")
    assert {"port": "bootstrap"} in policy["spec"]["ingress"][0]["ports"]
    overlay = overlay_of(tmp_path, "config/default", "config/bootstrap-server")
    assert bootstrap_server(kustomize(overlay)) == (args, ports, services)


NOT_OPTIONAL = {"default", "manager", "rbac", "admission", "user-roles", "samples"}
COMPONENTS = {"bootstrap-server"}


def test_an_optional_folder_of_config_never_contains_the_rest():
    """A user who deletes what a folder added keeps the operator, the CRDs and all objects."""
    names = lambda documents: {(d["kind"], d["metadata"].get("namespace"), d["metadata"]["name"]) for d in documents}
    installation = names(kustomize("config/default"))
    folders = {path.parent.name for path in ROOT.glob("config/*/kustomization.yaml")} - NOT_OPTIONAL
    assert {"aggregated-roles", "cluster-approval", "prometheus"} <= folders and COMPONENTS <= folders
    for folder in folders - COMPONENTS:
        added = kustomize(f"config/{folder}")
        assert added and not names(added) & installation, folder
    for folder in COMPONENTS:
        assert yaml.safe_load((ROOT / f"config/{folder}/kustomization.yaml").read_text())["kind"] == "Component"


def places(documents):
    (deployment,) = (d for d in documents if d["kind"] == "Deployment")
    affinity = deployment["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    return affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]


def test_the_operator_runs_only_where_a_label_that_no_kubelet_sets_lets_it():
    protected = {"node-role.kubernetes.io/control-plane", "node-restriction.kubernetes.io/kubenodesmith-operator"}
    everything = template("--set", "nodeSelector.disk=fast")
    assert places(everything) == places(kustomize("config/default"))
    for term in places(everything):
        present = {each["key"] for each in term["matchExpressions"] if each["operator"] == "Exists"}
        absent = {each["key"] for each in term["matchExpressions"] if each["operator"] == "DoesNotExist"}
        assert len(present) == 1 and present <= protected
        assert absent == {"topology.kubenodesmith.io/pool", "kubenodesmith.io/nodeclaim"}
    assert len(places(everything)) == len(protected)


def test_tokens_in_the_groups_of_the_cluster_are_a_right_of_their_own():
    right = lambda documents: [rule for role in by_kind(documents, "ClusterRole").values() for rule in role.get("rules") or []
                               if "leave-approval" in rule.get("verbs", [])]
    assert not right(template()) and not right(kustomize("config/default"))
    chart = template("--set", "rbac.clusterApproval=true")
    assert right(chart) == right(kustomize("config/cluster-approval")) and len(right(chart)) == 1
    binding = by_kind(chart, "ClusterRoleBinding")[("ClusterRoleBinding", None, "kubenodesmith-cluster-approval")]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "kubenodesmith", "namespace": NAMESPACE}]


def test_the_chart_has_the_version_of_the_program():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    project = next(line for line in (ROOT / "CMakeLists.txt").read_text().splitlines() if line.startswith("project("))
    version = project.split("VERSION ")[1].split()[0]
    assert chart["version"] == chart["appVersion"] == version
