"""What config/ and charts/ hold is complete, agrees with each other, and asks for no more than it needs."""

import subprocess

import yaml

from conftest import ROOT, kustomize, objects, run, tool

CHART = ROOT / "charts/kubenodesmith"
NAMESPACE = "kubenodesmith-system"


def by_kind(documents, *kinds):
    return {(d["kind"], d["metadata"].get("namespace"), d["metadata"]["name"]): d for d in documents if d["kind"] in kinds}


def template(*flags):
    return objects(run(tool("helm"), "template", "kubenodesmith", CHART, "--namespace", NAMESPACE, "--include-crds", "--kube-version=v1.36.0", *flags))


def test_the_chart_has_no_faults():
    run(tool("helm"), "lint", "--strict", CHART)


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
    assert chart == config and len(config) == 6
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
    """The pod's own settings, without image and labels, which the two ways of installing choose for themselves."""
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
    assert aggregations(template("--set", "rbac.aggregateUserRoles=true")) == aggregations(kustomize("config/aggregated-roles")) == wanted


def test_no_role_for_people_writes_what_is_the_operators():
    kinds = {d["spec"]["names"]["plural"] for d in kustomize("crds")}
    of_programs = {"kubenodesmith", "kubenodesmith-credentials", "kubenodesmith-joining-machine"}
    roles = {key[2]: role for key, role in by_kind(kustomize("config/default"), "ClusterRole").items() if key[2] not in of_programs}
    assert {"kubenodesmith-admin", "kubenodesmith-editor", "kubenodesmith-viewer"} <= set(roles)
    for name, role in roles.items():
        for rule in role["rules"]:
            assert set(rule.get("resources", [])) <= kinds and "*" not in rule["verbs"], f"{name}: {rule}"
    (admin,) = roles["kubenodesmith-admin"]["rules"]
    assert set(admin["resources"]) == kinds


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
    """Namespaces in which the operator may read any Secret; None: in all."""
    roles = {d["metadata"]["name"] for d in documents if d["kind"] == "ClusterRole"
             if any("secrets" in rule.get("resources", []) and "get" in rule["verbs"] for rule in d["rules"])}
    return {d["metadata"].get("namespace") for d in documents if d["kind"] in ("ClusterRoleBinding", "RoleBinding") if d["roleRef"]["name"] in roles}


def test_secrets_are_read_in_managed_namespaces_and_nowhere_else():
    assert reads_secrets_in(template()) == reads_secrets_in(kustomize("config/default")) == {"kubenodesmith", NAMESPACE}
    assert reads_secrets_in(template("--set", "managedNamespaces={lab}")) == {"lab", NAMESPACE}
    assert reads_secrets_in(template("--set", "managedNamespaces={lab,*}")) == {None}


def test_managed_namespaces_exist_and_outlive_the_release():
    def namespaces(*flags):
        return {d["metadata"]["name"]: d["metadata"].get("annotations") for d in template(*flags) if d["kind"] == "Namespace"}
    assert namespaces("--set", "managedNamespaces={lab,kubenodesmith-system}") == {"lab": {
        "helm.sh/resource-policy": "keep", "argocd.argoproj.io/sync-options": "Prune=false,Delete=false"}}
    assert namespaces("--set", "managedNamespaces={*}") == {}


def test_the_values_of_the_chart_do_what_they_say():
    on = template("--set", "metrics.serviceMonitor.enabled=true,metrics.rules.enabled=true,metrics.dashboard.enabled=true,"
                  "networkPolicy.enabled=true,image.tag=v9,replicas=3,nameOverride=smith,serviceAccount.create=false,"
                  "serviceAccount.name=mine,metrics.certificateSecret=mine,metrics.statusPage=true,metrics.legacyKproximate=true", "--set-json", 'extraArgs=["--max-concurrent-claims=4"]')
    kinds = {d["kind"] for d in on}
    assert {"ServiceMonitor", "PrometheusRule", "ConfigMap", "NetworkPolicy"} <= kinds
    assert "ServiceAccount" not in kinds
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
    """What a manifest says of the server of boot data: flags, the container's port, and the Service."""
    (deployment,) = (d for d in documents if d["kind"] == "Deployment")
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    services = [d for d in documents if d["kind"] == "Service" and d["metadata"]["name"].endswith("-bootstrap")]
    return ([a for a in container["args"] if a.startswith("--bootstrap-")],
            [p for p in container["ports"] if p["name"] == "bootstrap"], [s["spec"]["ports"] for s in services])


def test_machines_can_fetch_boot_data_if_the_administrator_says_where():
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
    assert bootstrap_server(kustomize("config/bootstrap-server")) == (args, ports, services)


def test_every_optional_folder_of_config_builds():
    for folder in ("config/prometheus", "config/grafana", "config/network-policy"):
        assert kustomize(folder)


def test_the_chart_has_the_version_of_the_program():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    project = next(line for line in (ROOT / "CMakeLists.txt").read_text().splitlines() if line.startswith("project("))
    version = project.split("VERSION ")[1].split()[0]
    assert chart["version"] == chart["appVersion"] == version
