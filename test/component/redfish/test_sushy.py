"""Our Redfish client against an independent server: sushy-tools with its FakeDriver, over TLS, with Basic."""

import os
import subprocess
from pathlib import Path

import pytest

from sushy import Sushy, system

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(os.environ.get("KUBENODESMITH_BIN") or ROOT / "build/release/bin")
SCENARIOS = ("is examined", "is woken", "is off although", "is not trusted", "is refused", "takes and gives back")


@pytest.fixture(scope="module")
def sushy(tmp_path_factory):
    server = Sushy(tmp_path_factory.mktemp("sushy"), [system(i) for i in range(1, 4)]).start(die_with_parent=True)
    yield server
    server.stop()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_host_behind_sushy(sushy, scenario):
    image = sushy.folder / "image.iso"
    image.write_bytes(b"\0" * 4096)
    environment = {**os.environ, "REDFISH_URL": sushy.url, "REDFISH_CA": sushy.ca_file.read_text(),
                   "REDFISH_USER": sushy.user, "REDFISH_PASSWORD": sushy.password}
    run = subprocess.run([BIN / "component-redfish", f"*{scenario}*"], env=environment, capture_output=True, text=True,
                         timeout=240, check=False)
    assert run.returncode == 0 and "No tests ran" not in run.stdout, run.stdout + run.stderr
