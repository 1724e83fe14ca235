"""Checks our own Redfish services with DMTF's validator and DMTF's schemas. These are the player of service trees, also
after use, and the BMC of unit tests and the simulation."""

import json
import os
import re
import ssl
import subprocess
import sys
import urllib.request
from base64 import b64encode
from pathlib import Path

import pytest

import synthetic

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(os.environ.get("KUBENODESMITH_BIN") or ROOT / "build/release/bin")
PASSWORD = "a-password-nobody-else-has"
sys.path.insert(0, str(ROOT / "test/controlplane"))
from cluster import wait_for  # noqa: E402
from processes import Processes  # noqa: E402


@pytest.fixture(scope="module")
def validator():
    """Provides the program, and the folder of schemas."""
    setup = subprocess.run([ROOT / "hack/setup_redfish_validator.sh"], capture_output=True, text=True, timeout=600,
                           check=False)
    if setup.returncode != 0:
        pytest.skip("DMTF's validator cannot be installed here: " + (setup.stderr.strip().splitlines() or ["no word why"])[-1])
    return setup.stdout.split()


class Front:
    """A service over HTTPS. `tree` holds its documents; without them it is the BMC of our tests."""

    def __init__(self, folder, tree=None, habits=()):
        self.folder = folder
        self.processes = Processes(folder)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key", "-out", folder / "crt"],
                       check=True, capture_output=True)
        (folder / "tree.json").write_text(json.dumps(tree))
        which = ["--tree", folder / "tree.json"] if tree else [f"--habit={habit}" for habit in habits]
        self.processes.start("player", [BIN / "redfish-player", "--certificate", folder / "crt", "--key", folder / "key",
                                        "--password", PASSWORD, "--ready-file", folder / "url", *which], die_with_parent=True)
        wait_for("the player's start", self._is_ready)
        self.url = (folder / "url").read_text().strip()

    def _is_ready(self):
        self.processes.check()
        return (self.folder / "url").exists()

    def ask(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, method=method, data=data)
        request.add_header("Authorization", "Basic " + b64encode(f"admin:{PASSWORD}".encode()).decode())
        context = ssl.create_default_context(cafile=self.folder / "crt")
        with urllib.request.urlopen(request, context=context, timeout=60) as answer:
            return json.loads(answer.read() or "null")


@pytest.fixture
def serve(tmp_path):
    fronts = []

    def start(tree=None, habits=()):
        fronts.append(Front(tmp_path, tree, habits))
        return fronts[-1]
    yield start
    for front in fronts:
        front.processes.stop()


def failures(validator, front):
    program, schemas = validator
    environment = {name: value for name, value in os.environ.items() if name not in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")}
    logs = front.folder / "logs"
    run = subprocess.run([program, "-r", front.url, "-u", "admin", "-p", PASSWORD, "--authtype", "Basic", "--skipschema",
                          "--schema_directory", schemas, "--logdir", logs], cwd=front.folder, env=environment,
                         capture_output=True, text=True, timeout=600, check=False)
    passed, _, failed = re.search(r"\| +(\d+) +\| +(\d+) +\| +(\d+) +\| +\d+ +\|", run.stdout).groups()
    told = [line for log in logs.glob("*/*.log") for line in log.read_text().splitlines()
            if re.search(" - (ERROR|CRITICAL) - ", line)]
    assert len(told) >= int(failed) and (int(failed) > 0) == (run.returncode != 0), run.stdout
    assert int(passed) + int(failed) > 0, "nothing was looked at"
    return told


def test_a_tree_of_our_own_is_as_the_schemas_have_it(validator, serve):
    assert failures(validator, serve(synthetic.tree())) == []


def test_a_tree_stays_so_while_it_is_used(validator, serve):
    front = serve(synthetic.tree())
    front.ask("POST", synthetic.SESSIONS, {"UserName": "admin", "Password": PASSWORD, "Context": "test"})
    front.ask("PATCH", synthetic.SYSTEM, {"Boot": {"BootSourceOverrideTarget": "UefiHttp", "BootSourceOverrideEnabled": "Once",
                                                   "HttpBootUri": "http://images.example.org/boot.efi"}})
    front.ask("POST", f"{synthetic.SYSTEM}/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia",
              {"Image": "http://images.example.org/a.iso"})
    front.ask("POST", f"{synthetic.SYSTEM}/Actions/ComputerSystem.Reset", {"ResetType": "On"})
    assert failures(validator, front) == []
    assert front.ask("GET", f"{synthetic.SYSTEM}/VirtualMedia/Cd")["Inserted"] is True
    assert front.ask("GET", synthetic.SYSTEM)["Boot"]["BootSourceOverrideTarget"] in ("UefiHttp", "None")


def test_a_wrong_document_is_noticed(validator, serve):
    tree = synthetic.tree()
    system = tree[synthetic.SYSTEM.lower()]
    system["PowerState"] = "Asleep"
    del tree[f"{synthetic.SYSTEM}/Processors/CPU2".lower()]
    told = "\n".join(failures(validator, serve(tree)))
    assert "PowerState" in told and "404" in told


@pytest.mark.parametrize("habits", [(), ("media_on_manager", "resets_in_action_info"), ("boot_on_settings", "has_power_only")])
def test_the_bmc_of_our_tests_is_as_the_schemas_have_it(validator, serve, habits):
    assert failures(validator, serve(habits=habits)) == []
