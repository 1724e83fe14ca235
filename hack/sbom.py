#!/usr/bin/env python3
"""Lists the parts of the image as SPDX 2.3 JSON on standard output: sbom.py PROGRAM VERSION

It lists the shared libraries that the program links, each with its Debian package. Statically linked libraries
(cmake/dependencies.cmake) are listed by their development package. With --packages in front of PROGRAM it prints only their names,
each after the word shared or static.
"""

import hashlib
import json
import re
import subprocess
import sys

import oci_image

STATIC = ["libboost1.81-dev", "libboost-json1.81-dev", "libboost-url1.81-dev", "libboost-container1.81-dev", "libyaml-cpp-dev",
          "libspdlog-dev", "libfmt-dev", "libcli11-dev"]


MAKER = "Organization: The KubeNodeSmith authors"


def output(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def package_of(file):
    """Returns the package of a file. Debian merges /lib into /usr/lib, and its database knows only one of the names."""
    for name in (file, file.removeprefix("/usr"), "/usr" + file):
        done = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.split(":")[0].split(",")[0]
    raise SystemExit(f"sbom: no Debian package has {file}")


def entry(name):
    version, source = output("dpkg-query", "-W", "-f", "${Version} ${source:Package}", name).split()
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
            "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "sourceInfo": f"Debian source package {source}",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{name}@{version}?distro=bookworm"}]}


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
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:generic/kubenodesmith@{version}"}],
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
