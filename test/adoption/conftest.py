import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


def tool(name):
    """Returns a program of the test control plane."""
    for folder in (os.environ.get("CONTROLPLANE_BIN"), ROOT / "build/controlplane/bin"):
        if folder and (Path(folder) / name).exists():
            return Path(folder) / name
    pytest.fail(f"{name} is missing: run make setup")


def judge(name):
    """Returns a program of test/judges; skips the test if make setup could not build it."""
    for folder in (os.environ.get("CONTROLPLANE_BIN"), ROOT / "build/controlplane/bin"):
        if folder and (Path(folder) / name).exists():
            return Path(folder) / name
    return optional_tool(name)


def optional_tool(name):
    """Returns a program that make setup does not install. Skips the test where it is missing."""
    return shutil.which(name) or pytest.skip(f"{name} is not installed")


def run(*argv, **options):
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{' '.join(str(a) for a in argv)}\n{done.stdout}{done.stderr}"
    return done.stdout


def objects(text):
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast where it is there
    return [document for document in yaml.load_all(text, Loader=loader) if document]


def kustomize(folder):
    return objects(run(tool("kubectl"), "kustomize", ROOT / folder))
