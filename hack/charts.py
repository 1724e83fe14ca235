#!/usr/bin/env python3
"""Copies into the charts what they share with config/ and crds/, and writes the tables of their READMEs: charts.py [--check]

The charts hold copies and no symbolic links, because archives that Flux makes of a repository leave links out. With --check it
only says what is not current. The tables list the values of values.schema.json with the defaults of values.yaml.
"""

import json
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
CHART = ROOT / "charts/kubenodesmith"
CRD_CHART = ROOT / "charts/kubenodesmith-crds"
SHARED = {
    "admission.yaml": "config/admission/policies.yaml",
    "bootstrap.yaml": "config/rbac/bootstrap.yaml",
    "cluster_approval.yaml": "config/cluster-approval/cluster_approval.yaml",
    "dashboard.json": "config/grafana/kubenodesmith.json",
    "role.yaml": "config/rbac/role.yaml",
    "rules.yaml": "config/prometheus/rules.yaml",
    "user_roles.yaml": "config/user-roles/user_roles.yaml",
}
BEGIN, END = "<!-- begin of the values, written by hack/charts.py -->", "<!-- end of the values -->"


def copies():
    """The text of each file of the charts that is the copy of another one."""
    for name, source in SHARED.items():
        yield CHART / "files" / name, (ROOT / source).read_text()
    for crd in sorted((ROOT / "crds").glob("nodesmith*.yaml")):
        yield CHART / "crds" / crd.name, crd.read_text()
        yield CRD_CHART / "files" / crd.name, crd.read_text()


def rows(schema, defaults, prefix=""):
    """(name, default, description) of each value that values.yaml has, depth first."""
    for name, value in schema.get("properties", {}).items():
        if name not in defaults:
            continue
        if "description" in value:
            yield prefix + name, defaults[name], value["description"]
        else:
            yield from rows(value, defaults[name], f"{prefix}{name}.")


def table(chart):
    schema = json.loads((chart / "values.schema.json").read_text())
    defaults = yaml.safe_load((chart / "values.yaml").read_text())
    lines = ["| value | default | meaning |", "|---|---|---|"]
    for name, default, meaning in rows(schema, defaults):
        text = json.dumps(default).replace("|", "\\|")
        lines.append(f"| `{name}` | `{text}` | {meaning.replace('|', chr(92) + '|')} |")
    return "\n".join(lines)


def readmes():
    for chart in (CHART, CRD_CHART):
        page = chart / "README.md"
        before, rest = page.read_text().split(BEGIN)
        after = rest.split(END)[1]
        yield page, f"{before}{BEGIN}\n\n{table(chart)}\n\n{END}{after}"


def stale():
    """Each file that is not as it should be, with its text; None: it should not exist."""
    wanted = {**dict(copies()), **dict(readmes())}
    for folder in (CHART / "files", CHART / "crds", CRD_CHART / "files"):
        for file in folder.glob("*"):
            wanted.setdefault(file, None)
    for file, text in wanted.items():
        if file.is_symlink() or (file.read_text() if file.exists() else None) != text:
            yield file, text


def main():
    found = list(stale())
    if sys.argv[1:] == ["--check"]:
        for file, _ in found:
            print(f"charts: {file.relative_to(ROOT)} is not current: run make charts", file=sys.stderr)
        return 1 if found else 0
    for file, text in found:
        file.unlink(missing_ok=True)
        if text is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
