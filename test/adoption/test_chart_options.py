"""The chart takes the options that users know from other charts."""

import yaml

from charts import CHART, NAMESPACE, keys, only, pod_of, rendered
from conftest import ROOT

EVERY_VALUE = (ROOT / "test/adoption/every_value.yaml").read_text()


def every():
    return rendered(EVERY_VALUE)


def test_each_option_is_tried_with_another_value_than_its_default():
    tried, defaults = yaml.safe_load(EVERY_VALUE), yaml.safe_load((CHART / "values.yaml").read_text())
    leaves = {key for key in keys(defaults) if not any(other.startswith(key + ".") for other in keys(defaults))}
    of_objects = {key for key in keys(tried)}
    elsewhere = {"nameOverride", "namespaceOverride", "dnsPolicy", "serviceAccount.create", "rbac.create", "rbac.userRoles", "admissionPolicies",
                 "priorityClass.create", "priorityClass.name", "priorityClass.value", "podDisruptionBudget.enabled", "podDisruptionBudget.maxUnavailable",
                 "bootstrapServer.service.type", "metrics.secure", "leaderElection.enabled", "metrics.serviceMonitor.authorization",
                 "nodeSelector.kubernetes.io/os", "nodeSelector.kubernetes.io/arch", "metrics.serviceMonitor.tlsConfig.insecureSkipVerify"}
    assert {key for key in leaves - of_objects - elsewhere if not key.startswith("metrics.podMonitor")} == set()


def test_the_pod_has_what_was_asked_for():
    pod = pod_of(every())
    assert {key: pod[key] for key in ("schedulerName", "runtimeClassName", "priorityClassName", "terminationGracePeriodSeconds", "hostNetwork", "dnsPolicy",
                                      "serviceAccountName", "automountServiceAccountToken", "imagePullSecrets")} == {
        "schedulerName": "other-scheduler", "runtimeClassName": "gvisor", "priorityClassName": "system-cluster-critical", "terminationGracePeriodSeconds": 60,
        "hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet", "serviceAccountName": "mine", "automountServiceAccountToken": True,
        "imagePullSecrets": [{"name": "regcred"}]}
    assert pod["nodeSelector"] == {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "disk": "fast"}
    assert pod["hostAliases"] == [{"ip": "10.0.4.30", "hostnames": ["pve.example.com"]}]
    assert pod["dnsConfig"]["nameservers"] == ["10.0.0.53"]
    assert pod["tolerations"] == [{"key": "dedicated", "operator": "Equal", "value": "infrastructure", "effect": "NoSchedule"}]
    assert pod["securityContext"] == {"runAsNonRoot": True, "runAsUser": 1000, "fsGroup": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    (spread,) = pod["topologySpreadConstraints"]
    assert spread["topologyKey"] == "topology.kubernetes.io/zone" and spread["labelSelector"]["matchLabels"]["app.kubernetes.io/instance"] == "kns"
    assert [c["name"] for c in pod["initContainers"]] == ["first"] and [c["name"] for c in pod["containers"]] == ["manager", "beside"]
    assert [v["name"] for v in pod["volumes"]] == ["metrics-certificate", "authorities"]


def test_the_container_has_what_was_asked_for():
    container = pod_of(every())["containers"][0]
    assert container["image"] == "registry.example.com:5000/infrastructure/kubenodesmith@sha256:2c037a04925515fdd6ea85ea14a682d0e79931f5e9f5d07b6dbfc6ba12f9e858"
    assert container["args"] == [
        "run", "--leader-elect", "--leader-election-id=smith.example.com", "--leader-election-namespace=leases", "--leader-elect-lease-duration=30s",
        "--leader-elect-renew-deadline=20s", "--leader-elect-retry-period=4s", "--health-probe-bind-address=:9081", "--metrics-bind-address=:9443",
        "--metrics-cert-path=/etc/kubenodesmith/metrics", "--status-page", "--legacy-kproximate-metrics", f"--namespaces=lab,{NAMESPACE}",
        "--credentials-role=smith-credentials", "--log-format=text", "--log-level=debug", "--bootstrap-bind-address=:9082",
        "--bootstrap-advertise-url=http://10.0.0.9:9082", "--max-concurrent-claims=4"]
    assert [e["name"] for e in container["env"]] == ["POD_NAME", "HTTPS_PROXY"] and container["envFrom"]
    assert {p["name"]: p["containerPort"] for p in container["ports"]} == {"probes": 9081, "metrics": 9443, "bootstrap": 9082}
    assert container["livenessProbe"] == {"httpGet": {"path": "/healthz", "port": "probes"}, "initialDelaySeconds": 60, "periodSeconds": 20, "timeoutSeconds": 5}
    assert container["readinessProbe"]["periodSeconds"] == 7 and container["startupProbe"]["failureThreshold"] == 60
    assert container["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}, "runAsGroup": 1000}
    assert [m["mountPath"] for m in container["volumeMounts"]] == ["/etc/kubenodesmith/metrics", "/etc/ssl/more"]


def test_no_affinity_takes_the_operator_to_a_node_that_it_may_remove():
    affinity = pod_of(every())["affinity"]
    terms = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert len(terms) == 4
    for term in terms:
        has = {(e["key"], e["operator"]) for e in term["matchExpressions"]}
        assert {("topology.kubenodesmith.io/pool", "DoesNotExist"), ("kubenodesmith.io/nodeclaim", "DoesNotExist")} <= has
        assert len({("node-role.kubernetes.io/control-plane", "Exists"), ("node-restriction.kubernetes.io/kubenodesmith-operator", "Exists")} & has) == 1
        assert ("zone", "In") in has or term["matchFields"]
    assert len(affinity["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]) == 2
    assert affinity["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] and affinity["podAffinity"]
    assert affinity["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"][0]["weight"] == 5


def test_common_labels_are_on_everything_and_in_no_selector():
    for document in every():
        if document["metadata"]["name"] in ("extra-object", "kns-extra-text"):
            continue
        assert document["metadata"]["labels"]["team"] == "infrastructure", document["metadata"]["name"]
        if document["kind"] != "Pod":
            assert document["metadata"]["annotations"]["example.com/contact"] == "infrastructure", document["metadata"]["name"]
    deployment = only(every(), "Deployment")
    wanted = {"app.kubernetes.io/name": "kubenodesmith", "app.kubernetes.io/instance": "kns"}
    assert deployment["spec"]["selector"]["matchLabels"] == wanted
    assert deployment["spec"]["template"]["metadata"]["labels"] == {**wanted, "team": "infrastructure", "example.com/pod": "yes"}
    assert only(every(), "Service", "smith-metrics")["spec"]["selector"] == wanted


def test_objects_around_the_pod_have_what_was_asked_for():
    names = {(d["kind"], d["metadata"].get("namespace"), d["metadata"]["name"]) for d in every()}
    assert {("ConfigMap", None, "extra-object"), ("ConfigMap", None, "kns-extra-text"), ("ConfigMap", "monitoring", "smith-dashboard"),
            ("Role", "leases", "smith-leader-election"), ("ClusterRole", None, "smith-additional"), ("Namespace", None, "lab")} <= names
    assert not {d["kind"] for d in every()} & {"PriorityClass"}
    deployment = only(every(), "Deployment")["spec"]
    assert deployment["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "50%"}}
    assert deployment["revisionHistoryLimit"] == 3
    assert only(every(), "PodDisruptionBudget")["spec"]["minAvailable"] == "50%"
    account = only(every(), "ServiceAccount", "mine")
    assert account["automountServiceAccountToken"] is False and account["metadata"]["annotations"]["example.com/role"] == "operator"
    service = only(every(), "Service", "smith-bootstrap")
    assert service["metadata"]["annotations"]["example.com/service"] == "bootstrap"
    assert {key: service["spec"][key] for key in ("loadBalancerClass", "loadBalancerIP", "externalTrafficPolicy", "loadBalancerSourceRanges", "ipFamilies")} == {
        "loadBalancerClass": "example.com/internal", "loadBalancerIP": "10.0.0.9", "externalTrafficPolicy": "Local",
        "loadBalancerSourceRanges": ["10.0.0.0/8"], "ipFamilies": ["IPv4"]}
    policy = only(every(), "NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"] and policy["egress"]
    assert [[p["port"] for p in rule["ports"]] for rule in policy["ingress"]] == [["probes"], ["metrics"], ["bootstrap"]]
    assert "from" not in policy["ingress"][0] and policy["ingress"][1]["from"] and policy["ingress"][2]["from"]


def test_prometheus_scrapes_with_an_account_that_may_do_nothing_else():
    monitor = only(every(), "ServiceMonitor")
    (endpoint,) = monitor["spec"]["endpoints"]
    assert monitor["metadata"]["namespace"] == "monitoring" and monitor["spec"]["namespaceSelector"] == {"matchNames": [NAMESPACE]}
    assert endpoint["authorization"] == {"credentials": {"name": "smith-scraper", "key": "token"}} and "bearerTokenFile" not in endpoint
    assert endpoint["interval"] == "1m" and endpoint["scrapeTimeout"] == "20s" and endpoint["relabelings"] and endpoint["metricRelabelings"]
    secret = only(every(), "Secret")
    assert secret["type"] == "kubernetes.io/service-account-token" and secret["metadata"]["namespace"] == "monitoring"
    assert secret["metadata"]["annotations"]["kubernetes.io/service-account.name"] == only(every(), "ServiceAccount", "smith-scraper")["metadata"]["name"]
    assert only(every(), "ClusterRole", "smith-scraper")["rules"] == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
    own = rendered("{metrics: {podMonitor: {enabled: true, authorization: {credentials: {name: mine, key: token}}}}}")
    (endpoint,) = only(own, "PodMonitor")["spec"]["podMetricsEndpoints"]
    assert endpoint["authorization"]["credentials"] == {"name": "mine", "key": "token"} and "Secret" not in {d["kind"] for d in own}


def test_alerts_are_changed_one_by_one():
    ours = yaml.safe_load((ROOT / "config/prometheus/rules.yaml").read_text())["spec"]["groups"][0]["rules"]
    (group,) = only(every(), "PrometheusRule")["spec"]["groups"]
    rules = {rule["alert"]: rule for rule in group["rules"]}
    assert set(rules) == {rule["alert"] for rule in ours} - {"KubeNodeSmithPoolFull"}
    assert all(rule["labels"]["team"] == "infrastructure" for rule in rules.values())
    assert all(rule["annotations"]["runbook_url"] == f"https://wiki.example.com/runbooks/{name}" for name, rule in rules.items())
    leader = rules["KubeNodeSmithNoLeader"]
    assert leader["for"] == "10m" and leader["labels"]["severity"] == "warning" and 'name="smith.example.com"' in leader["expr"]
    assert "summary" in leader["annotations"]
    assert "12c57729" not in only(every(), "ConfigMap", "smith-dashboard")["data"]["kubenodesmith.json"]


def test_every_name_and_namespace_follows_the_overrides():
    text = yaml.safe_dump_all(rendered("{namespaceOverride: elsewhere, nameOverride: smith}"))
    assert NAMESPACE not in text and "kns-" not in text and "kubenodesmith-system" not in text
    assert pod_of(rendered("{namespaceOverride: elsewhere, nameOverride: smith}"))["containers"][0]["image"] == "kubenodesmith:0.1.0"


def test_helms_test_starts_the_program_and_reads_the_cluster():
    pod = only(every(), "Pod")
    assert pod["metadata"]["annotations"]["helm.sh/hook"] == "test" and pod["spec"]["serviceAccountName"] == "mine"
    (first,), (second,) = pod["spec"]["initContainers"], pod["spec"]["containers"]
    assert first["args"] == ["version"] and second["args"][:2] == ["explain", "pod"]
    assert first["image"] == second["image"] == pod_of(every())["containers"][0]["image"]
    assert "app.kubernetes.io/name: kubenodesmith\n" not in yaml.safe_dump(pod["metadata"]["labels"])
