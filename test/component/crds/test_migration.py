"""Tests that a real API server accepts the output of `kubenodesmith migrate`."""

import os
import subprocess
from pathlib import Path

import pytest

from conftest import NAMESPACE, ROOT

PROGRAM = Path(os.environ.get("KUBENODESMITH_BIN") or ROOT / "build/release/bin") / "kubenodesmith"

CONFIG = """
schemaVersion: v1alpha1
pollingInterval: 20s
providers:
  shed:
    type: proxmox
    credentialsRef: {name: shed-token, namespace: kubenodesmith}
    options:
      endpoint: https://shed.example.org:8006/api2/json
      vmIDRange: {lower: 300, upper: 320}
      networkInterfaces: [{name: net0, model: virtio, bridge: vmbr0, macPrefix: "02:00:01"}]
      vmOptions: [{name: cores, value: 2}, {name: cpu, value: host}]
nodePools:
  - name: tools
    providerRef: shed
    limits: {minNodes: 0, maxNodes: 2, cpuCores: 0, memoryMiB: 8192}
    machineTemplate: {labels: {topology.kubenodesmith.io/pool: tools}}
    scaleDown: {drainTimeout: 5m}
"""
VALUES = """
kproximate:
  config: {kpNodeTemplateName: worker, kpQemuExecJoin: true, kpNodeCores: 2, kpNodeMemory: 4096, maxKpNodes: 4,
           pmUrl: "https://pve.example.org:8006/api2/json", pmUserID: scaler@pve!x, loadHeadroom: 0.3,
           kpNodeLabels: "example.org/host={{ .TargetHost }}", nodeSelectionStrategy: max-cpu, waitSecondsForJoin: 100}
  secrets: {pmToken: some-token, kpJoinCommand: join, sshKey: ssh-ed25519 AAAA a}
"""
SETTINGS = """
pxe_host = "10.1.1.1"
pxe_user = "scaler@pam"
pxe_password = "word"
pxe_autoscaled_node_template_vm = "worker"
pxe_autoscaled_node_name = "scaled"
pxe_autoscaled_node_network_mode = "manual"
pxe_autoscaled_node_ip_pool = "10.1.1.30-10.1.1.39"
pxe_autoscaled_node_ip_mask = "24"
pxe_autoscaled_node_ip_gateway = "10.1.1.1"
pxe_autoscaled_node_dns_server = "10.1.1.1"
node_group_label = "example.org/scaled"
scale_down_unneeded_time = 300
"""


def migrate(source, text, *flags):
    return subprocess.run([PROGRAM, "migrate", source, "-", *flags], input=text, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("source,text", [("kubenodesmith", CONFIG), ("kproximate", VALUES), ("proxmox-autoscaler", SETTINGS)])
def test_what_is_migrated_applies(clean, source, text):
    done = migrate(source, text, "--with-secrets")
    assert done.returncode == 0, done.stderr
    clean.kubectl("apply", "--server-side", "--validate=strict", "-f", "-", stdin=done.stdout)
    assert clean.kubectl("get", "nspool", "-n", NAMESPACE, "-o", "name").strip()
    # The stored objects are those that were written. No value was dropped or changed by a default.
    clean.kubectl("diff", "--server-side", "-f", "-", stdin=done.stdout)
    clean.kubectl("delete", "secrets", "--all", "-n", NAMESPACE)


def test_the_report_goes_where_it_is_wanted(tmp_path):
    report = tmp_path / "report.txt"
    done = migrate("kproximate", VALUES, "--report", report)
    assert done.returncode == 0 and done.stderr == ""
    assert "loadHeadroom" in report.read_text() and "some-token" not in report.read_text() + done.stdout


def test_a_wrong_configuration_is_refused_with_the_key():
    done = migrate("kproximate", VALUES.replace("maxKpNodes: 4", "maxKpNodes: lots"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "maxKpNodes: expected a number" in done.stderr


def documented(name):
    """Returns the text of a project's documents in the reference data. Skips the test if they are missing."""
    folder = os.environ.get("KUBENODESMITH_REFERENCE")
    if not folder or not (Path(folder) / "peers" / name).exists():
        pytest.skip("KUBENODESMITH_REFERENCE names no folder with peers/")
    return (Path(folder) / "peers" / name).read_text()


def test_the_documented_example_of_the_yaml_configuration_migrates(clean):
    example = documented("kubenodesmith-yaml-prototype.txt").split("```yaml")[1].split("```")[0]
    done = migrate("kubenodesmith", example)
    assert done.returncode == 0, done.stderr
    assert "not a known key" not in done.stderr
    clean.kubectl("apply", "--server-side", "--validate=strict", "--dry-run=server", "-f", "-",
                  stdin=done.stdout.replace("<cluster>", "cluster"))


def test_every_documented_setting_of_proxmox_autoscaler_is_known():
    rows = [line.split("|")[1:3] for line in documented("proxmox-autoscaler.txt").splitlines() if line.startswith("| ")]
    settings = {row[0].strip(): row[1].strip() for row in rows if "_" in row[0]}
    assert len(settings) >= 23
    text = "".join(f"{name} = {value if value.isdigit() else repr(value.lower())}\n" for name, value in settings.items())
    done = migrate("proxmox-autoscaler", text)
    assert done.returncode == 0, done.stderr
    assert "not a known key" not in done.stderr
    assert all(name in done.stderr for name in settings)


def test_every_documented_option_of_the_fork_of_kproximate_is_known():
    text = documented("kproximate-fork.txt")
    options = ["scaleDownStabilizationMinutes", "minNodeAgeMinutes", "loadHeadroom", "nodeSelectionStrategy",
               "minAvailableCpuCores", "minAvailableMemoryMB", "excludedNodes"]
    assert all(option in text for option in options)
    values = "".join(f"{option}: {'a,b' if option == 'excludedNodes' else 'spread' if 'Strategy' in option else 1}\n" for option in options)
    done = migrate("kproximate", values + "pmUrl: https://p:8006/api2/json\nkpNodeTemplateName: t\n")
    assert done.returncode == 0, done.stderr
    assert "not a known key" not in done.stderr
