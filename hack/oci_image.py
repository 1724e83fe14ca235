#!/usr/bin/env python3
"""Packs a root folder as an image without a container engine: oci_image.py ROOT VERSION ARCHIVE

The archive is an OCI image layout for `docker load`, `podman load`, `ctr images import` and `skopeo copy oci-archive:…`.
The same folder gives the same bytes. https://github.com/opencontainers/image-spec
"""

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from datetime import datetime, timezone
from pathlib import Path

NAME = "kubenodesmith"
SOURCE = "https://kubenodesmith.parawell.cloud"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def git(*argv):
    """Returns what git says about the sources, or "" where they have no repository."""
    return subprocess.run(["git", "-C", Path(__file__).parent, *argv], capture_output=True, text=True, check=False).stdout.strip()


def epoch():
    """Returns the time of the sources in seconds, so that the same sources give the same artifacts: SOURCE_DATE_EPOCH, or the time of
    the last commit."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct") or 0)


def created():
    """Returns epoch() as text of RFC 3339."""
    return datetime.fromtimestamp(epoch(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def clean(entry):
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def layer_of(root):
    """Returns the folder as a tar, sorted by name."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(Path(root).rglob("*")):
            tar.add(path, arcname=path.relative_to(root).as_posix(), recursive=False, filter=clean)
    return buffer.getvalue()


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def config_of(layer, version):
    revision = git("rev-parse", "HEAD")
    labels = {"org.opencontainers.image.source": SOURCE, **({"org.opencontainers.image.revision": revision} if revision else {}),
              "org.opencontainers.image.title": NAME, "org.opencontainers.image.version": version,
              "org.opencontainers.image.licenses": "MIT",
              "org.opencontainers.image.description": "A node autoscaler for Kubernetes on your own hardware"}
    return {"created": created(), "architecture": ARCHITECTURES[os.uname().machine], "os": "linux",
            "config": {"User": "65532:65532", "Entrypoint": ["/usr/bin/kubenodesmith"], "Cmd": ["run"], "Labels": labels},
            "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
            "history": [{"created": created(), "created_by": "hack/oci_image.py"}]}


def archive(root, version, target):
    layer = layer_of(root)
    blobs = {}

    def blob(data, media_type, **more):
        blobs[digest(data)] = data
        return {"mediaType": media_type, "digest": digest(data), "size": len(data), **more}

    packed = gzip.compress(layer, 9, mtime=0)
    config = json.dumps(config_of(layer, version), sort_keys=True).encode()
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": blob(config, "application/vnd.oci.image.config.v1+json"),
        "layers": [blob(packed, "application/vnd.oci.image.layer.v1.tar+gzip")]}, sort_keys=True).encode()
    index = json.dumps({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [blob(manifest, "application/vnd.oci.image.manifest.v1+json",
                           annotations={"org.opencontainers.image.ref.name": f"{NAME}:{version}",
                                        "io.containerd.image.name": f"docker.io/library/{NAME}:{version}"})]}, sort_keys=True).encode()
    files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": index,
             **{"blobs/" + name.replace(":", "/"): data for name, data in blobs.items()}}
    with tarfile.open(target, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return len(layer), len(packed)


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    size, packed = archive(*sys.argv[1:])
    print(f"{sys.argv[3]}: {size / 1e6:.1f} MB, packed {packed / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
