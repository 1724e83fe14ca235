"""Tests that alerts, dashboard and documentation use metrics that exist, and that they use all of them."""

import json
import re
import shutil

import yaml

from conftest import ROOT, judge, kustomize, objects, run, tool

RULES = ROOT / "config/prometheus/rules.yaml"
DASHBOARD = ROOT / "config/grafana/kubenodesmith.json"
# A registry's counter(), gauge() or histogram() makes a metric, or a helper that takes the name.
LABELS = re.compile(r'\{("\w+"(?:,\s*"\w+")*)\}')
MADE = re.compile(r'(?:counter|gauge|histogram)\(\s*(?:client, )?"([a-z][a-z0-9_]+)"')
NAME = re.compile(r"\b((?:kubenodesmith|workqueue|rest_client|controller_runtime|leader_election|process)_[a-z0-9_]+)\b")


def made():
    files = (f for folder in ("base", "kube", "controllers", "providers", "operator") for f in (ROOT / folder).rglob("*.cpp"))
    return {name for file in files for name in MADE.findall(file.read_text())}


def labels_made():
    """Returns the labels of each metric whose call lists them."""
    labels = {}
    for folder in ("base", "kube", "controllers", "providers", "operator"):
        for file in (ROOT / folder).rglob("*.cpp"):
            text = file.read_text()
            for match in MADE.finditer(text):
                depth, end = 1, match.end()
                while depth:
                    depth += {"(": 1, ")": -1}.get(text[end], 0)
                    end += 1
                for found in LABELS.findall(text[match.end():end]):
                    labels[match[1]] = set(re.findall(r'"(\w+)"', found))
    return labels


def documented():
    """Returns the labels of each metric, by name."""
    labels, is_of_metrics = {}, False
    for line in (ROOT / "docs/metrics.md").read_text().splitlines():
        is_of_metrics = line.startswith("| name | type, labels |") or (is_of_metrics and line.startswith("|"))
        if is_of_metrics and line.startswith("| `"):
            kind = line.split("|")[2].partition(":")[2]
            labels[line.split("`")[1]] = set(kind.replace(" ", "").split(",")) - {""}
    return labels


def used(expression):
    without_suffix = re.sub(r"_(bucket|sum|count)\b", "", expression)
    return set(NAME.findall(without_suffix))


def expressions_of(panels):
    return [target["expr"] for panel in panels for target in panel.get("targets", [])]


def test_every_metric_is_documented_and_every_documented_one_exists():
    assert made() == set(documented())


def test_every_metric_is_documented_with_its_labels():
    made_with, known = labels_made(), documented()
    assert len(made_with) > 40
    assert {name: known[name] for name in made_with} == made_with


def test_alerts_and_dashboard_ask_for_labels_that_their_metrics_have():
    known = documented()
    of_prometheus = {"le", "instance", "job", "pod"}
    rules = [rule for group in yaml.safe_load(RULES.read_text())["spec"]["groups"] for rule in group["rules"]]
    for expression in [rule["expr"] for rule in rules] + expressions_of(json.loads(DASHBOARD.read_text())["panels"]):
        for name, selectors in re.findall(r"\b([a-z_]+?)(?:_bucket|_sum|_count)?\{([^}]*)\}", expression):
            assert set(re.findall(r"(\w+)\s*[!=]~?=?\s*\"", selectors)) <= known[name] | of_prometheus, expression
        labels = set().union(*(known[name] for name in used(expression))) | of_prometheus
        for by in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression):
            assert set(by.split(", ")) <= labels, expression


def test_alerts_and_dashboard_use_metrics_that_exist():
    rules = [rule for group in yaml.safe_load(RULES.read_text())["spec"]["groups"] for rule in group["rules"]]
    expressions = [rule["expr"] for rule in rules] + expressions_of(json.loads(DASHBOARD.read_text())["panels"])
    names = set().union(*(used(expression) for expression in expressions))
    assert names and names <= made()


def test_the_dashboard_has_rows_descriptions_and_variables_that_it_uses():
    dashboard = json.loads(DASHBOARD.read_text())
    panels = dashboard["panels"]
    assert panels[0]["type"] == "row" and sum(panel["type"] == "row" for panel in panels) > 3
    assert [panel["title"] for panel in panels if panel["type"] != "row" and not panel.get("description")] == []
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = [(panel["gridPos"]["y"] + y, panel["gridPos"]["x"] + x) for panel in panels for y in range(panel["gridPos"]["h"]) for x in range(panel["gridPos"]["w"])]
    assert len(taken) == len(set(taken)), "panels that overlap"
    variables = {variable["name"] for variable in dashboard["templating"]["list"]}
    assert variables == {"datasource", "namespace", "pool", "provider"}
    for name in variables - {"datasource"}:
        assert any(f'{name}=~"$' + name + '"' in expression for expression in expressions_of(panels)), name
    assert all(link["url"].startswith("https://kubenodesmith.parawell.cloud/docs/") for link in dashboard["links"]) and dashboard["links"]


def test_alerts_and_dashboard_look_at_no_other_operator():
    """For metrics that every operator serves, they select only the series of our job or of our Lease."""
    common = made() - {name for name in made() if name.startswith("kubenodesmith_")}
    rules = [rule for group in yaml.safe_load(RULES.read_text())["spec"]["groups"] for rule in group["rules"]]
    expressions = [rule["expr"] for rule in rules] + expressions_of(json.loads(DASHBOARD.read_text())["panels"])
    uses = [found for expression in expressions for found in re.findall(r"\b([a-z_]+)(_bucket|_sum|_count)?\b(\{[^}]*\})?", expression)
            if found[0] in common]
    assert uses
    lease = re.search(r'leader_election_id = "([^"]+)"', (ROOT / "operator/options/options.hpp").read_text())[1]
    assert [name for name, _, labels in uses if 'job="kubenodesmith"' not in labels and f'name="{lease}"' not in labels] == []


def test_the_series_are_scraped_under_the_job_that_alerts_and_dashboard_know():
    (monitor,) = [o for o in kustomize("config/prometheus") if o["kind"] == "ServiceMonitor"]
    (service,) = [o for o in kustomize("config/default") if o["kind"] == "Service"]
    chart = objects(run(tool("helm"), "template", "a-release", ROOT / "charts/kubenodesmith", "--kube-version=v1.36.0",
                        "--set", "metrics.serviceMonitor.enabled=true"))
    (from_chart,) = [o for o in chart if o["kind"] == "ServiceMonitor"]
    (of_chart,) = [o for o in chart if o["kind"] == "Service"]
    for scraped, by in ((service, monitor), (of_chart, from_chart)):
        assert scraped["metadata"]["labels"][by["spec"]["jobLabel"]] == "kubenodesmith"


def rendered(template, labels):
    """Returns a pattern for the text of an annotation about a series with these labels, for any value."""
    parts = re.split(r"{{ (.*?) }}", template)
    texts, holes = parts[::2], parts[1::2]
    values = ["[0-9.msh ]+" if hole.startswith("$value") else re.escape(labels[hole.removeprefix("$labels.")]) for hole in holes]
    return "".join(re.escape(text) + value for text, value in zip(texts, [*values, ""], strict=True))


def test_each_alert_is_tried_with_series_of_its_own():
    """Compares their words, also where an alert changed and its trial did not."""
    rules = {rule["alert"]: rule for group in yaml.safe_load(RULES.read_text())["spec"]["groups"] for rule in group["rules"]}
    (trial,) = yaml.safe_load((ROOT / "test/adoption/prometheus_rules_test.yaml").read_text())["tests"]
    series = set().union(*(used(each["series"]) for each in trial["input_series"]))
    fired = {row["alertname"]: row["exp_alerts"] for row in trial["alert_rule_test"] if row["exp_alerts"]}
    assert {row["alertname"] for row in trial["alert_rule_test"]} == set(rules) == set(fired)
    for name, alerts in fired.items():
        rule = rules[name]
        assert used(rule["expr"]) <= series, name
        kept = re.search(r"by \(([^)]*)\)", rule["expr"])
        for alert in alerts:
            labels = alert["exp_labels"]
            assert set(labels) == {*rule["labels"], *(kept[1].split(", ") if kept else ())} - {"le"}, name
            assert rule["labels"].items() <= labels.items(), name
            for key, template in rule["annotations"].items():
                assert re.fullmatch(rendered(template, labels), alert["exp_annotations"][key]), name


def test_each_alert_has_a_runbook_and_each_runbook_an_alert():
    rules = [rule for group in yaml.safe_load(RULES.read_text())["spec"]["groups"] for rule in group["rules"]]
    headings = re.findall(r"^## (KubeNodeSmith\w+)$", (ROOT / "docs/alerts.md").read_text(), re.MULTILINE)
    assert headings == sorted(rule["alert"] for rule in rules)
    for rule in rules:
        assert rule["annotations"]["runbook_url"] == "https://kubenodesmith.parawell.cloud/docs/alerts.html#" + rule["alert"].lower()


def test_the_alerts_fire_when_they_should(tmp_path):
    promtool = judge("promtool")
    spec = yaml.safe_load(RULES.read_text())["spec"]
    (tmp_path / "rules.generated.yaml").write_text(yaml.safe_dump(spec))
    shutil.copy(ROOT / "test/adoption/prometheus_rules_test.yaml", tmp_path)
    run(promtool, "check", "rules", tmp_path / "rules.generated.yaml")
    run(promtool, "test", "rules", tmp_path / "prometheus_rules_test.yaml")


def test_prometheus_reads_every_expression_of_the_dashboard(tmp_path):
    expressions = expressions_of(json.loads(DASHBOARD.read_text())["panels"])
    rules = [{"record": f"panel:{number}", "expr": re.sub(r'"\$\w+"', '".*"', expression)} for number, expression in enumerate(expressions)]
    (tmp_path / "panels.yaml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    run(judge("promtool"), "check", "rules", tmp_path / "panels.yaml")
