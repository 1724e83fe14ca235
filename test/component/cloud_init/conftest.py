"""Provides the real cloud-init in each available release, and the files that boot-documents hands out."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from machines import MACHINES

ROOT = Path(__file__).resolve().parents[3]
INSIDE = Path(__file__).parent / "inside.py"
# These releases cover each kind of data source and renderer; the newest represents all later ones.
VERSIONS = ["22.4.2", "25.1.4", "26.2"]


class CloudInit:
    """One unpacked release."""

    def __init__(self, version, python, root):
        self.version, self.python, self.root = version, python, Path(root)
        self.release = tuple(int(part) for part in version.split("."))

    def run(self, jobs):
        """Returns the result of each job (function of inside.py, its arguments)."""
        document = json.dumps([{"do": name, "with": arguments} for name, arguments in jobs])
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(self.root / "usr/lib/python3/dist-packages"),
                       "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([self.python, INSIDE], input=document, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def one(self, name, **arguments):
        return self.run([(name, arguments)])[0]


@pytest.fixture(scope="session")
def releases():
    done = subprocess.run([ROOT / "hack/setup_cloud_init.sh"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"Debian's cloud-init cannot be had: {done.stderr.strip().splitlines()[-1:]}")
    python, *packages = done.stdout.splitlines()
    return {line.split()[0]: CloudInit(line.split()[0], python, line.split()[1]) for line in packages}


@pytest.fixture(scope="session", params=VERSIONS)
def cloud_init(request, releases):
    if request.param not in releases:
        pytest.skip(f"cloud-init {request.param} cannot be had from this system's package mirror any more")
    return releases[request.param]


@pytest.fixture(scope="session")
def documents(tmp_path_factory):
    """Provides the folder of each machine's documents, which are also served over HTTP."""
    folder = tmp_path_factory.mktemp("documents")
    program = Path(os.environ.get("KUBENODESMITH_BIN") or ROOT / "build/release/bin") / "boot-documents"
    with subprocess.Popen([program, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write(json.dumps(MACHINES))
        process.stdin.close()
        assert process.stdout.readline() == "ready\n"
        yield folder
        process.terminate()
