"""Tests our Redfish client against an independent server: sushy-tools with its FakeDriver, over TLS, with Basic."""

import os
import subprocess
from pathlib import Path

import pytest

import iso
from sushy import Sushy, system

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(os.environ.get("KUBENODESMITH_BIN") or ROOT / "build/release/bin")
SCENARIOS = ("is examined", "is woken", "is off although", "is not trusted", "is refused", "takes and gives back", "block by block")


@pytest.fixture(scope="module")
def sushy(tmp_path_factory):
    server = Sushy(tmp_path_factory.mktemp("sushy"), [system(i) for i in range(1, 5)]).start(die_with_parent=True)
    yield server
    server.stop()


def run_scenario(sushy, scenario):
    environment = {**os.environ, "REDFISH_URL": sushy.url, "REDFISH_CA": sushy.ca_file.read_text(),
                   "REDFISH_USER": sushy.user, "REDFISH_PASSWORD": sushy.password}
    run = subprocess.run([BIN / "component-redfish", f"*{scenario}*"], env=environment, capture_output=True, text=True,
                         timeout=240, check=False)
    assert run.returncode == 0 and "No tests ran" not in run.stdout, run.stdout + run.stderr


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_host_behind_sushy(sushy, scenario):
    run_scenario(sushy, scenario)


def test_a_bmc_fetches_the_boot_data_of_the_host_that_it_turns_on(sushy):
    run_scenario(sushy, "has its boot data")
    (fetched,) = sushy.temporary.glob("**/*seed.iso*")
    image = fetched.read_bytes()
    assert iso.volume_label(image) == "cidata"
    assert iso.files(image) == {"META_DATA": b"instance-id: a\n", "USER_DATA": b"#cloud-config\n{}\n"}
