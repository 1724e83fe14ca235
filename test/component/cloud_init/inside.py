"""Runs jobs inside one cloud-init (its packages are on PYTHONPATH): jobs on standard input, their results on standard output.

The script replaces everything that needs a machine (DMI data, block devices, a mount). The rest is cloud-init's own code.
"""

import contextlib
import copy
import io
import json
import logging
import sys
import tempfile
from pathlib import Path

import pycdlib
from cloudinit import distros, dmi, helpers, sources, util
from cloudinit.cmd import main as command
from cloudinit.cmd.devel import net_convert
from cloudinit.distros import debian, ug_util
from cloudinit.sources import DataSourceNoCloud

RENDERER_CONFIGS = copy.deepcopy(debian.Distro.renderer_configs)
DISTROS = {"netplan": "debian", "networkd": "debian", "eni": "debian", "sysconfig": "rhel", "network-manager": "fedora"}
# Debian's package has these values in /etc/cloud/cloud.cfg.
DEFAULT_USER = {"name": "debian", "lock_passwd": True, "gecos": "Debian", "groups": ["adm", "sudo"],
                "sudo": ["ALL=(ALL) NOPASSWD:ALL"], "shell": "/bin/bash"}


@contextlib.contextmanager
def logged():
    """Collects the log of cloud-init."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logger = logging.getLogger()
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield stream
    finally:
        logger.removeHandler(handler)


def convert(network_config, renderer):
    """Returns the files that this cloud-init writes for a renderer, by path."""
    # net-convert shortens the path of netplan's file in place. Without the copy it would soon lead out of the folder.
    debian.Distro.renderer_configs = copy.deepcopy(RENDERER_CONFIGS)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        arguments = net_convert.get_parser().parse_args(
            ["--network-data", network_config, "--kind", "yaml", "--directory", folder, "--distro", DISTROS[renderer],
             "--output-kind", renderer])
        net_convert.handle_args("net-convert", arguments)
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in files}


def iso_files(image):
    """Returns the files of a NoCloud image, as a mount shows them."""
    iso = pycdlib.PyCdlib()
    iso.open(image)
    files = {}
    for child in iso.list_children(rr_path="/"):
        if child.is_file():
            content = io.BytesIO()
            name = child.rock_ridge.name().decode()
            iso.get_file_from_iso_fp(content, rr_path=f"/{name}")
            files[name] = content.getvalue()
    label = iso.pvd.volume_identifier.decode().strip()
    iso.close()
    return label, files


def mounted(image):
    def mount_cb(device, callback, data=None, **_):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in iso_files(device)[1].items():
                (Path(folder) / name).write_bytes(content)
            return callback(folder, data) if data is not None else callback(folder)

    def find_devs_with(criteria=None, **_):
        return [image] if criteria in ("TYPE=iso9660", f"LABEL={iso_files(image)[0]}") else []

    return mount_cb, find_devs_with


def paths_in(folder):
    return helpers.Paths({"cloud_dir": f"{folder}/lib", "run_dir": f"{folder}/run", "templates_dir": f"{folder}/templates"})


def seed(image="", serial=""):
    """Returns what the data source NoCloud finds in the stage (local, net) in which cloud-init uses it; None if it finds
    nothing."""
    util.mount_cb, util.find_devs_with = mounted(image) if image else (None, lambda *_, **__: [])
    dmi.read_dmi_data = lambda key: serial if key == "system-serial-number" else None
    util.get_cmdline = lambda: "root=/dev/sda1"
    with tempfile.TemporaryDirectory() as folder:
        paths = paths_in(folder)
        config = {"datasource_list": ["NoCloud", "None"], "datasource": {}}
        distro = distros.fetch("debian")("debian", config, paths)
        for stage, kind in (("local", DataSourceNoCloud.DataSourceNoCloud), ("net", DataSourceNoCloud.DataSourceNoCloudNet)):
            source = kind(config, distro, paths)
            if not source.get_data():
                continue
            # cloud-init's main() treats a source that is found with the network but says "local" as one that was applied
            # before.
            if stage == "net" and source.dsmode != stage:
                continue
            user_data = source.userdata_raw
            return {"stage": stage, "user-data": user_data.decode() if isinstance(user_data, bytes) else user_data,
                    "meta-data": source.metadata, "network-config": source.network_config,
                    "instance-id": source.get_instance_id()}
    return None


def users(user_data):
    """Returns the users that this cloud-init would make, and its messages about them."""
    distro = distros.fetch("debian")("debian", {"default_user": DEFAULT_USER}, None)
    with logged() as log:
        found, _ = ug_util.normalize_users_groups(util.load_yaml(Path(user_data).read_text(encoding="utf-8")), distro)
    default, _ = ug_util.extract_default(json.loads(json.dumps(found)))
    return {"users": found, "default": default, "log": log.getvalue()}


def schema(file, kind):
    """Returns exit status and output of `cloud-init schema`."""
    arguments = ["cloud-init", "schema", "--config-file", file, "--annotate"]
    if kind == "network-config":
        arguments += ["--schema-type", kind]
    out, before, sys.argv = io.StringIO(), sys.argv, arguments
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = command.main(arguments)
    except SystemExit as end:
        status = end.code
    finally:
        sys.argv = before
    return {"status": status or 0, "output": out.getvalue()}


JOBS = {"convert": convert, "iso": iso_files, "seed": seed, "users": users, "schema": schema}


def main():
    results = []
    for job in json.load(sys.stdin):
        try:
            results.append(JOBS[job["do"]](**job["with"]))
        except Exception as error:  # the test judges the error
            results.append({"error": f"{type(error).__name__}: {error}"})
    json.dump(results, sys.stdout, default=lambda value: value.decode() if isinstance(value, bytes) else str(value))


assert sources
main()
