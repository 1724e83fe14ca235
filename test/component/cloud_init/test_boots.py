"""Tests whether cloud-init is active at a boot. Its own ds-identify and systemd generator decide, in a folder that
represents the guest."""

import os
import stat
import subprocess

import pytest
import yaml

SERIAL = "ds=nocloud;dsmode=net;s=http://10.0.0.9:8082/100000-0123456789abcdef/"
MARKER = "etc/cloud/cloud-init.disabled"


class Guest:
    """A folder that is booted again and again."""

    def __init__(self, cloud_init, root):
        self.root = root
        for folder in ("run/cloud-init", "etc/cloud", "proc/1", "sys/class/dmi/id", "sys/class/block", "dev/disk", "generated"):
            (root / folder).mkdir(parents=True)
        (root / "proc/cmdline").write_text("root=/dev/sda1\n")
        (root / "proc/uptime").write_text("5.0 5.0\n")
        (root / "sys/class/dmi/id/product_serial").write_text(SERIAL + "\n")
        identify = (cloud_init.root / "usr/lib/cloud-init/ds-identify").read_text()
        # All its other files are below PATH_ROOT.
        self.identify = self.script("identify", identify.replace("-f /" + MARKER, f"-f {root}/{MARKER}"))
        places = [cloud_init.root / folder / "systemd/system-generators/cloud-init-generator" for folder in ("lib", "usr/lib")]
        text = next(place for place in places if place.exists()).read_text()
        for place in ("/run/cloud-init", "/etc/cloud"):
            text = text.replace(f'"{place}', f'"{root}{place}').replace(f"-{place}", f"-{root}{place}")
        self.generator = self.script("generator", text.replace("/usr/lib/cloud-init/ds-identify", str(self.identify)))

    def script(self, name, text):
        path = self.root / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def boot(self):
        """Returns whether cloud-init is active at this boot, and with which data sources."""
        for file in (self.root / "run/cloud-init").iterdir():
            file.unlink()
        folder = str(self.root / "generated")
        environment = {"PATH": os.environ["PATH"], "PATH_ROOT": str(self.root), "KERNEL_CMDLINE": "", "DI_LOG": "stderr"}
        subprocess.run(["sh", self.generator, folder, folder, folder], env=environment, capture_output=True, check=False)
        works = (self.root / "run/cloud-init/enabled").exists()
        config = self.root / "run/cloud-init/cloud.cfg"
        sources = yaml.safe_load(config.read_text()) if works and config.exists() else {}
        return works, (sources or {}).get("datasource_list")


@pytest.fixture
def guest(cloud_init, tmp_path):
    return Guest(cloud_init, tmp_path)


def test_the_serial_number_makes_cloud_init_look_for_our_seed(guest):
    works, sources = guest.boot()
    assert works
    assert sources and sources[0] == "NoCloud"


def test_after_the_join_cloud_init_sleeps_whatever_became_of_its_seed(guest, documents):
    last = yaml.safe_load((documents / "dual" / "user-data").read_text(encoding="utf-8"))["runcmd"][-1]
    assert last == ["touch", "/" + MARKER]
    # Images for one data source have this setting. They would go on without any source.
    (guest.root / "etc/cloud/cloud.cfg").write_text("datasource_list: [NoCloud, None]\n")
    assert guest.boot()[0]
    (guest.root / "sys/class/dmi/id/product_serial").write_text("\n")
    assert guest.boot()[0], "without the marker a guest whose seed is gone would become a new instance"
    subprocess.run([last[0], str(guest.root) + last[1]], check=True)
    assert not guest.boot()[0]
