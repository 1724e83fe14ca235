"""Provides machines for tests: cloud-init data as a NodeSmith operator delivers it, and the boot of a guest with testnode."""

import json
import subprocess
import uuid
from pathlib import Path

JOIN_FILE = "/etc/kubernetes/kubenodesmith-join.yaml"


def join_configuration(cluster, token, name, labels="", taints=(), provider_id="", ca_hash=None):
    """Returns a kubeadm JoinConfiguration (JSON is YAML) that joins `cluster` as the Node `name`."""
    arguments = {"node-labels": labels, "provider-id": provider_id}
    return json.dumps({
        "apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "JoinConfiguration",
        "discovery": {"tlsBootstrapToken": token, "bootstrapToken": {
            "apiServerEndpoint": cluster.server.removeprefix("https://"), "token": token,
            "caCertHashes": [ca_hash or cluster.ca_hash]}},
        "nodeRegistration": {"name": name, "taints": list(taints),
                             "kubeletExtraArgs": [{"name": k, "value": v} for k, v in arguments.items() if v]}})


def user_data(join: str) -> str:
    config = {"write_files": [{"path": JOIN_FILE, "permissions": "0600", "content": join}],
              "runcmd": [["kubeadm", "join", "--config", JOIN_FILE]]}
    return "#cloud-config\n" + json.dumps(config)


class Guest:
    """A machine. Its disk is a folder, and its system UUID stays the same over reboots."""

    def __init__(self, cluster, folder, cpus=4, memory_mib=8192):
        self.cluster, self.folder = cluster, Path(folder)
        self.system_uuid = str(uuid.uuid4())
        self.hardware = ["--cpus", str(cpus), "--memory-mib", str(memory_mib)]
        self.folder.mkdir(parents=True)

    def run(self, *args, timeout="120s"):
        """Runs testnode to its end. Its returncode is 0 if the machine joined; otherwise stderr has the reason."""
        argv = [self.cluster.program("testnode"), "--state-dir", self.folder / "disk", "--system-uuid", self.system_uuid,
                "--timeout", timeout, *args]
        return subprocess.run(argv, capture_output=True, text=True, check=False)

    def boot(self, data=None, *args, **options):
        """Boots for the first time with user-data, or later without it."""
        if data is None:
            return self.run(*self.hardware, *args, **options)
        file = self.folder / "user-data"
        file.write_text(data)
        return self.run(*self.hardware, "--user-data", file, *args, **options)

    def power_off(self):
        return self.run("--power-off")
