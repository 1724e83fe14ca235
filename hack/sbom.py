#!/usr/bin/env python3
"""Lists the parts of the image as SPDX 2.3 JSON on standard output: sbom.py PROGRAM VERSION

It lists the shared libraries that the program links, each with its Debian package. Statically linked libraries
(cmake/dependencies.cmake) are listed by their development package. With --packages in front of PROGRAM it prints only their names,
each after the word shared or static.
"""

import hashlib
import json
import platform
import re
import subprocess
import sys
from urllib.parse import quote

import oci_image

STATIC = ["libboost1.81-dev", "libboost-json1.81-dev", "libboost-url1.81-dev", "libboost-container1.81-dev", "libyaml-cpp-dev",
          "libspdlog-dev", "libfmt-dev", "libcli11-dev"]


MAKER = "Organization: The KubeNodeSmith authors"
# The licences that the source packages' copyright files declare for what gets into the image, without tests and build files. The
# keys are names of source packages without their version.
LICENSES = {
    "boost": "BSL-1.0", "ca-certificates": "MPL-2.0 AND GPL-2.0-or-later", "cli11": "BSD-3-Clause", "fmtlib": "MIT",
    "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1", "glibc": "LGPL-2.1-or-later", "openssl": "Apache-2.0", "spdlog": "MIT",
    "yaml-cpp": "MIT"}


def output(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def package_of(file):
    """Returns the package of a file. Debian merges /lib into /usr/lib, and its database knows only one of the names."""
    for name in (file, file.removeprefix("/usr"), "/usr" + file):
        done = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.split(":")[0].split(",")[0]
    raise SystemExit(f"sbom: no Debian package has {file}")


def license_key(source):
    """Returns the name of a source package without the version in it: gcc-12, boost1.81."""
    return re.sub(r"(-[0-9]+|[0-9]+\.[0-9]+)$", "", source)


def license_of(source):
    key = license_key(source)
    if key not in LICENSES:
        raise SystemExit(f"sbom: state the licence of the Debian source package {key} in hack/sbom.py")
    return LICENSES[key]


def purl(kind, name, version, qualifiers=""):
    """Returns a reference by a package URL (https://github.com/package-url/purl-spec)."""
    locator = f"pkg:{kind}/{quote(name, safe='/')}@{quote(version, safe=':')}{qualifiers}"
    return {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}


def entry(name):
    """Describes a package. A statically linked one is named by its source package, too, because scanners look for the sources' faults."""
    fields = "${Version} ${Architecture} ${source:Package} ${source:Version}"
    version, architecture, source, source_version = output("dpkg-query", "-W", "-f", fields, name).split()
    distribution = platform.freedesktop_os_release()["VERSION_CODENAME"]
    references = [purl("deb", f"debian/{name}", version, f"?arch={architecture}&distro={distribution}")]
    if name in STATIC:
        references.append(purl("deb", f"debian/{source}", source_version, f"?arch=source&distro={distribution}"))
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
            "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseDeclared": license_of(source), "sourceInfo": f"Debian source package {source} {source_version}",
            "externalRefs": references}


def shared_packages(program):
    """Returns the packages of the libraries that the program links, and of the files beside it."""
    libraries = re.findall(r"(?:=> |^\s*)(/\S+)", output("ldd", program), re.MULTILINE)
    return sorted({package_of(library) for library in libraries} | {"ca-certificates"})


def main():
    if sys.argv[1] == "--packages":
        print("".join(f"shared {name}\n" for name in shared_packages(sys.argv[2])) + "".join(f"static {name}\n" for name in STATIC), end="")
        return
    program, version = sys.argv[1:]
    shared = shared_packages(program)
    with open(program, "rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    ours = {"SPDXID": "SPDXRef-kubenodesmith", "name": "kubenodesmith", "versionInfo": version, "licenseDeclared": "MIT",
            "supplier": MAKER, "copyrightText": "Copyright (c) 2026 The KubeNodeSmith authors",
            "externalRefs": [purl("generic", "kubenodesmith", version)],
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "checksums": [{"algorithm": "SHA256", "checksumValue": checksum}]}
    packages = {name: entry(name) for name in [*shared, *STATIC]}
    links = [("DYNAMIC_LINK", name) for name in shared] + [("STATIC_LINK", name) for name in STATIC]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"kubenodesmith-{version}",
        "documentNamespace": f"https://kubenodesmith.parawell.cloud/spdx/{version}/{checksum}",
        "creationInfo": {"created": oci_image.created(), "creators": [MAKER, "Tool: hack/sbom.py"]},
        "packages": [ours, *packages.values()],
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": ours["SPDXID"]}]
        + [{"spdxElementId": ours["SPDXID"], "relationshipType": how, "relatedSpdxElement": packages[name]["SPDXID"]} for how, name in links]}
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
