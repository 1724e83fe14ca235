"""The charts, rendered."""

import subprocess
from functools import cache

from conftest import ROOT, objects, tool

CHART, CRD_CHART = ROOT / "charts/kubenodesmith", ROOT / "charts/kubenodesmith-crds"
NAMESPACE = "kubenodesmith-system"


def helm(chart, *flags, release="kns"):
    command = [tool("helm"), "template", release, chart, "--namespace", NAMESPACE, "--kube-version=v1.36.0", *flags]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


@cache
def rendered(values="{}", *flags):
    """The objects of a release with these values, as YAML."""
    command = [str(tool("helm")), "template", "kns", str(CHART), "--namespace", NAMESPACE, "--kube-version=v1.36.0", "--values=-", *flags]
    done = subprocess.run(command, input=values, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return objects(done.stdout)


def only(documents, kind, name=None):
    (found,) = (d for d in documents if d["kind"] == kind and name in (None, d["metadata"]["name"]))
    return found


def pod_of(documents):
    return only(documents, "Deployment")["spec"]["template"]["spec"]


def keys(value, prefix=""):
    for name, below in value.items():
        yield prefix + name
        if isinstance(below, dict):
            yield from keys(below, f"{prefix}{name}.")
