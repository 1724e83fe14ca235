"""Runs sushy-tools' Redfish emulator as a process: artificial systems behind one BMC, over TLS with Basic authentication."""

import json
import os
import ssl
import subprocess
import sys
import urllib.request
from base64 import b64encode
from pathlib import Path

import bcrypt

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "controlplane"))
from cluster import free_ports, wait_for  # noqa: E402
from processes import Processes  # noqa: E402


def system(index, power_state="Off", notifies=False):
    return {"uuid": f"4c4c4544-0000-4000-8000-{index:012d}", "name": f"host-{index}", "power_state": power_state,
            "external_notifier": notifies, "nics": [{"mac": f"52:54:00:00:00:{index:02x}", "ip": f"172.22.0.{index}"}]}


class Sushy:
    user = "admin"
    password = "a-password-nobody-else-has"

    def __init__(self, folder, systems, notify_url=None):
        self.folder = Path(folder)
        self.systems = systems
        self.notify_url = notify_url
        self.processes = Processes(self.folder)
        (self.port,) = free_ports(1)
        self.url = f"https://127.0.0.1:{self.port}"
        self.ca_file = self.folder / "ca.crt"
        self.temporary = self.folder / "tmp"  # holds the media that it has fetched

    def start(self, die_with_parent=False):
        for folder in (self.folder / "state", self.temporary):
            folder.mkdir(parents=True, exist_ok=True)
        self._make_certificates()
        password = bcrypt.hashpw(self.password.encode(), bcrypt.gensalt(4)).decode()
        (self.folder / "htpasswd").write_text(f"{self.user}:{password}\n")
        settings = {
            "SUSHY_EMULATOR_LISTEN_IP": "127.0.0.1", "SUSHY_EMULATOR_LISTEN_PORT": self.port,
            "SUSHY_EMULATOR_SSL_CERT": str(self.folder / "server.crt"), "SUSHY_EMULATOR_SSL_KEY": str(self.folder / "server.key"),
            "SUSHY_EMULATOR_AUTH_FILE": str(self.folder / "htpasswd"), "SUSHY_EMULATOR_STATE_DIR": str(self.folder / "state"),
            "SUSHY_EMULATOR_FAKE_DRIVER": True, "SUSHY_EMULATOR_FAKE_SYSTEMS": self.systems}
        if self.notify_url:
            settings["EXTERNAL_NOTIFICATION_URL"] = self.notify_url
        config = self.folder / "emulator.conf"
        config.write_text("".join(f"{name} = {value!r}\n" for name, value in settings.items()))
        program = Path(__file__).with_name("quick_emulator.py")
        self.processes.start("sushy", [sys.executable, program, "--config", config, "--fake"], die_with_parent,
                             {**os.environ, "TMPDIR": str(self.temporary)})
        wait_for("the Redfish emulator's start", self._answers)
        return self

    def stop(self):
        self.processes.stop()

    def power_state(self, uuid):
        return self.get(f"/redfish/v1/Systems/{uuid}")["PowerState"]

    def get(self, path):
        request = urllib.request.Request(self.url + path)
        request.add_header("Authorization", "Basic " + b64encode(f"{self.user}:{self.password}".encode()).decode())
        context = ssl.create_default_context(cafile=str(self.ca_file))
        with urllib.request.urlopen(request, timeout=60, context=context) as answer:
            return json.load(answer)

    def _answers(self):
        self.processes.check()
        return self.get("/redfish/v1/")

    def _make_certificates(self):
        def openssl(*args):
            subprocess.run(["openssl", *map(str, args)], cwd=self.folder, check=True, capture_output=True)
        (self.folder / "ext").write_text("subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n")
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 2, "-subj", "/CN=bmc-ca", "-keyout", "ca.key",
                "-out", "ca.crt", "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-keyout", "server.key", "-out", "server.csr")
        openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", 2,
                "-extfile", "ext", "-out", "server.crt")
