#!/usr/bin/env python3
"""Makes the artifacts of a release, and pushes nothing:

    release.py --image REGISTRY/NAME --out FOLDER PROGRAM    those of this machine's architecture, such as build/release/bin/kubenodesmith
    release.py --out FOLDER --join FOLDER...                 one folder of those of several architectures

FOLDER then holds, for the version in CMakeLists.txt: the image as an OCI archive, its bill of materials, the plugin for kubectl, both
charts, install.yaml, the manifest for krew, and SHA256SUMS over all of them. The same sources and program give the same bytes: times
are SOURCE_DATE_EPOCH, or that of the last commit. So --join fails if two folders have different charts or manifests.
"""

import argparse
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "hack"))
import oci_image  # noqa: E402

CHARTS = ("kubenodesmith", "kubenodesmith-crds")
IGNORED = {".helmignore"}
KREW = """\
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: nodesmith
spec:
  version: v{version}
  homepage: https://kubenodesmith.parawell.cloud
  shortDescription: Explain and plan node autoscaling
  description: |
    Says why a pod waits, why a node stays and what a claim or a pool of KubeNodeSmith waits for, and shows which machines would be
    created and removed now. Only pause, resume, replace and setup proxmox --apply change anything in the cluster, and setup proxmox
    also creates a user with its rights in Proxmox.
  platforms:
"""
PLATFORM = """\
    - selector:
        matchLabels: {{os: linux, arch: {architecture}}}
      uri: {uri}
      sha256: {checksum}
      bin: kubectl-nodesmith
      files:
        - {{from: kubectl-nodesmith, to: .}}
        - {{from: LICENSE, to: .}}
"""


def output(*argv):
    return subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=True, cwd=ROOT).stdout


def version():
    (line,) = (line for line in (ROOT / "CMakeLists.txt").read_text().splitlines() if line.startswith("project("))
    return line.split("VERSION ")[1].split()[0]


def archive(target, files):
    """A gzipped tar of (name, bytes, mode) in the order of the names, without a trace of who made it and when."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data, mode in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(data), mode, oci_image.epoch()
            tar.addfile(entry, io.BytesIO(data))
    target.write_bytes(gzip.compress(buffer.getvalue(), 9, mtime=0))


def stripped(program, folder):
    copy = folder / "stripped"
    subprocess.run(["strip", "-o", str(copy), str(program)], check=True)
    data = copy.read_bytes()
    copy.unlink()
    return data


def plugin(out, architecture, program):
    archive(out / f"kubectl-nodesmith_{version()}_linux_{architecture}.tar.gz",
            [("kubectl-nodesmith", stripped(program, out), 0o755), ("LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644)])


def image(out, architecture, program):
    """The image, and what it is made of."""
    target = out / f"kubenodesmith_{version()}_linux_{architecture}"
    root = out / "root"
    subprocess.run([ROOT / "hack/image_root.sh", program, root], check=True)
    oci_image.archive(root, version(), f"{target}.oci.tar")
    shutil.rmtree(root)
    (out / f"{target.name}.spdx.json").write_text(output(sys.executable, "hack/sbom.py", program, version()))


def chart(out, name, repository):
    """The chart, whose image is the one of this release."""
    folder = ROOT / "charts" / name
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name not in IGNORED}
    files["values.yaml"] = files["values.yaml"].replace(b"  repository: kubenodesmith\n", f"  repository: {repository}\n".encode())
    archive(out / f"{name}-{version()}.tgz", [(f"{name}/{path}", data, 0o644) for path, data in files.items()])


def without_tag(image):
    registry, _, name = image.rpartition("/")
    return f"{registry}/{name.split(':')[0]}".lstrip("/")


def checksum(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def conclude(out, downloads):
    """Writes what depends on the other artifacts."""
    (out / "nodesmith.yaml").write_text(KREW.format(version=version()) + "".join(
        PLATFORM.format(architecture=file.name.removesuffix(".tar.gz").split("_")[-1], uri=f"{downloads}/v{version()}/{file.name}", checksum=checksum(file))
        for file in sorted(out.glob("kubectl-nodesmith_*.tar.gz"))))
    sums = "".join(f"{checksum(file)}  {file.name}\n" for file in sorted(out.iterdir()))
    (out / "SHA256SUMS").write_text(sums)
    print(sums, end="")


def make(out, arguments):
    architecture, program = oci_image.ARCHITECTURES[os.uname().machine], Path(arguments.sources[0]).resolve()
    plugin(out, architecture, program)
    image(out, architecture, program)
    repository = without_tag(arguments.image)
    for name in CHARTS:
        chart(out, name, repository)
    (out / "install.yaml").write_text(output("hack/manifests.sh", arguments.kubectl, f"{repository}:{version()}"))


def join(out, folders):
    for folder in folders:
        for file in Path(folder).iterdir():
            if file.name in ("nodesmith.yaml", "SHA256SUMS"):
                continue
            target = out / file.name
            if target.exists() and target.read_bytes() != file.read_bytes():
                raise SystemExit(f"release: {file} differs from the one of another architecture, though both are of the same sources")
            target.write_bytes(file.read_bytes())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--image", default="kubenodesmith")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--kubectl", default="kubectl")
    parser.add_argument("--downloads", default="https://kubenodesmith.parawell.cloud/releases", help="where the artifacts will be found")
    parser.add_argument("--join", action="store_true")
    parser.add_argument("sources", nargs="+")
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    out.mkdir(parents=True)
    if arguments.join:
        join(out, arguments.sources)
    else:
        make(out, arguments)
    conclude(out, arguments.downloads)
    return 0


if __name__ == "__main__":
    sys.exit(main())
