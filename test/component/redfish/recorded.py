"""Reads recorded service trees of real servers independently of the operator, and judges the operator's work with them.

The program (recorded.py REFERENCE --write | --check) writes or checks the table of docs/redfish.md."""

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(os.environ.get("KUBENODESMITH_BIN") or ROOT / "build/release/bin")
PAGE = ROOT / "docs/redfish.md"
BEGIN, END = "<!-- recorded servers: written by test/component/redfish/recorded.py -->", "<!-- end of recorded servers -->"
IMAGE = "http://images.example.org/live.iso"
ALLOWABLE = "@Redfish.AllowableValues"
BOOT_URI = "http://images.example.org/boot.efi"
WAKES = {"PXE": ("Pxe",), "UefiHttp": ("UefiHttp",), "UefiHttp-URI": ("UefiHttp",), "VirtualMedia": ("Cd", "UsbCd")}


def names(reference):
    return sorted(path.name.removesuffix(".json.gz") for path in (reference / "data/redfish-trees").glob("*.json.gz"))


class Recording:
    def __init__(self, reference, name):
        self.name = name
        with gzip.open(reference / f"data/redfish-trees/{name}.json.gz") as file:
            self.documents = json.load(file)

    def get(self, link):
        """Returns the document at a link or path; {} if the recording lacks it."""
        path = link.get("@odata.id", "") if isinstance(link, dict) else link or ""
        return self.documents.get(path.lower().rstrip("/"), {})

    def members(self, link):
        return [self.get(member) for member in self.get(link).get("Members", [])]

    @cached_property
    def systems(self):
        return self.members(self.get("/redfish/v1").get("Systems"))

    @cached_property
    def system(self):
        """Returns the system whose power can be switched; {} if there is none."""
        return next((each for each in self.systems if "#ComputerSystem.Reset" in each.get("Actions", {})), {})

    @property
    def settings(self):
        return self.get(self.system.get("@Redfish.Settings", {}).get("SettingsObject"))

    @property
    def managers(self):
        linked = [self.get(link) for link in self.system.get("Links", {}).get("ManagedBy") or []]
        return [each for each in linked if each] or self.members(self.get("/redfish/v1").get("Managers"))

    @property
    def title(self):
        maker, model = ((self.system.get(name) or "").strip() for name in ("Manufacturer", "Model"))
        told = model if maker and model.startswith(maker) else f"{maker} {model}".strip()
        return told.replace(" -- SIMULATED", "") or self.name.replace("-", " ")

    @property
    def cpus(self):
        """Returns the number of logical processors; 0 if the recording lacks it."""
        summary = self.system.get("ProcessorSummary") or {}
        if summary.get("LogicalProcessorCount"):
            return summary["LogicalProcessorCount"]
        processors = [each for each in self.members(self.system.get("Processors"))
                      if each.get("ProcessorType", "CPU") == "CPU"]
        threads = sum(each.get("TotalThreads") or each.get("TotalCores") or 0 for each in processors)
        return threads or (summary.get("CoreCount") or 0) * (2 if summary.get("ThreadingEnabled") else 1)

    @property
    def memory_mib(self):
        return int(((self.system.get("MemorySummary") or {}).get("TotalSystemMemoryGiB") or 0) * 1024)

    @property
    def macs(self):
        told = [each.get("MACAddress") or each.get("PermanentMACAddress") or ""
                for each in self.members(self.system.get("EthernetInterfaces"))]
        proper = (mac.lower() for mac in told if re.fullmatch("[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}", mac))
        return list(dict.fromkeys(proper))

    @property
    def uuid(self):
        told = (self.system.get("UUID") or "").lower()
        is_one = re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", told) and len(set(told.replace("-", ""))) > 1
        return told if is_one else ""

    @property
    def serial(self):
        is_dell = "dell" in (self.system.get("Manufacturer") or "").lower() or "Dell" in self.system.get("Oem", {})
        return (self.system.get("SerialNumber") or (is_dell and self.system.get("SKU")) or "").strip()

    @property
    def resets(self):
        action = self.system.get("Actions", {}).get("#ComputerSystem.Reset", {})
        info = self.get(action.get("@Redfish.ActionInfo")).get("Parameters", [])
        listed = next((each.get("AllowableValues") for each in info if each.get("Name") == "ResetType"), None)
        return action.get("ResetType" + ALLOWABLE) or listed or ["On", "ForceOff", "GracefulShutdown"]

    @property
    def boot_targets(self):
        """Returns the boot targets that may be requested; None if nothing can be overridden."""
        places = [place.get("Boot") or {} for place in (self.system, self.settings)]
        name = "BootSourceOverrideTarget"
        listed = next((place[name + ALLOWABLE] for place in places if name + ALLOWABLE in place), None)
        return listed if any(name in place for place in places) else None

    def has_in_boot(self, name):
        return any(name in (place.get("Boot") or {}) for place in (self.system, self.settings))

    @property
    def cd_slots(self):
        links = [self.system.get("VirtualMedia"), *(manager.get("VirtualMedia") for manager in self.managers)]
        slots = next((self.members(link) for link in links if link), [])
        return [slot for slot in slots if not slot.get("MediaTypes") or {"CD", "DVD"} & set(slot["MediaTypes"])]

    @property
    def tag_places(self):
        """Returns the documents with an AssetTag of this system alone, by kind."""
        linked = next((self.get(link) for link in self.system.get("Links", {}).get("Chassis") or []), {})
        systems = [self.get(link) for link in linked.get("Links", {}).get("ComputerSystems") or []]
        places = {"system": self.system, "chassis": linked if systems == [self.system] else {}}
        return {kind: place for kind, place in places.items() if "AssetTag" in place}

    @property
    def firmware(self):
        return next((each["FirmwareVersion"] for each in self.managers if each.get("FirmwareVersion")), "")


@cache
def played(reference, name):
    """Returns what play-recorded reports about the recording."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(Recording(reference, name).documents, file)
        file.flush()
        run = subprocess.run([BIN / "play-recorded", file.name], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


# These functions decide whether the operator's refusals are true. A refusal that is not listed here is not known to be true.
def offers(recording, target, told):
    listed = recording.boot_targets
    return target not in (listed or []) and (told or "") == ", ".join(listed or [])


def is_old_idrac(recording, told):
    first = recording.firmware.split(".")[0]
    return "Dell" in recording.title and (told or recording.firmware) == recording.firmware and int(first or 0) < 6


TRUTHS = (
    (r"does not take boot target (\w+)(?:; it offers (.+))?$", lambda r, match: offers(r, match[1], match[2])),
    (r"does not take boot target \w+: The property (\w+) is not known\.", lambda r, match: not r.has_in_boot(match[1])),
    (r"the BMC has no slot for a CD image$", lambda r, _: not r.cd_slots),
    (r"iDRAC (?:with firmware (\S+) )?would boot its physical drive", lambda r, match: is_old_idrac(r, match[1])),
    (r"set spec\.bmc\.systemID to one of (.+)$",
     lambda r, match: match[1].split(", ") == [each["@odata.id"] for each in r.systems]),
    (r"^the BMC tells no system UUID", lambda r, _: not r.uuid),
    (r"^its BMC does not tell cores and memory", lambda r, _: not r.cpus and not r.memory_mib),
    (r"^its BMC does not tell its cores", lambda r, _: not r.cpus and r.memory_mib),
    (r"^its BMC does not tell its memory", lambda r, _: r.cpus and not r.memory_mib),
    (r"its BMC shows no AssetTag of the system, nor of a chassis that is its alone", lambda r, _: not r.tag_places),
    (r'its AssetTag is "(.+)", which someone else wrote', lambda r, match: match[1] in [each["AssetTag"] for each in r.tag_places.values()]),
    (r"^its health is Critical", lambda r, _: "Critical" in r.system["Status"].values()),
)


def is_true(recording, sentence):
    for pattern, holds in TRUTHS:
        match = re.search(pattern, sentence)
        if match:
            return bool(holds(recording, match))
    return False


def forbidden(recording, exchange):
    """Returns the values of a request that the recording's lists do not allow, by an independent reading."""
    body = json.loads(exchange["body"] or "{}")
    wrong = []
    if exchange["method"] == "PATCH":
        boot = recording.get(exchange["target"]).get("Boot") or {}
        wrong = [f"{name}={value}" for name, value in body.get("Boot", {}).items()
                 if value not in boot.get(name + ALLOWABLE, [value])]
    if "ResetType" in body:
        absolute = {"On", "ForceOn", "ForceOff", "GracefulShutdown"} & set(recording.resets)
        wrong += [body["ResetType"]] if body["ResetType"] not in absolute else []
    return wrong


def resets(course):
    return [json.loads(each["body"])["ResetType"] for each in course["exchanges"] if "ResetType" in each["body"]]


def locked_at(recording, course):
    """Returns the kind of place that had the mark; "" if none had it."""
    patched = [each["target"] for each in course["exchanges"] if "AssetTag" in each["body"] and each["status"] < 300]
    return next((kind for kind, place in recording.tag_places.items() if place["@odata.id"].rstrip("/") in
                 [target.rstrip("/") for target in patched]), "")


def lock_of(recording, course):
    if course is None or course["woke"]:
        return locked_at(recording, course) if course else "no"
    tags = [each["AssetTag"] for each in recording.tag_places.values() if each["AssetTag"]]
    return f"`{tags[0]}`" if tags else "no"


# The code below writes the table.
STATED = {"bmc.systemID": "`bmc.systemID`", "systemUUID": "`systemUUID`", "capacity": "`capacity`", "repair": ""}


def plain(sentence):
    """Removes what is elsewhere in the row or in the host's object."""
    short = re.sub(r"^no host: recorded |^Unsupported: [^:]+: |; it offers .+$| of recorded|: The resource at .+ was not found\.", "", sentence)
    short = re.sub(r"\.? \(HTTP status \d+\)", "", short)
    return short.replace("|", "/")


def row(reference, name):
    recording, result = Recording(reference, name), played(reference, name)
    courses = result["courses"]
    stated = ", ".join(text for text in (STATED[each] for each in result["stated"]) if text)
    refused = {plain(look["message"]): [] for look in result["looks"] if look["ready"] != "Ready"}
    cells = []
    for wake in WAKES:
        course = courses.get(wake)
        cells.append("yes" if course and course["woke"] else "no")
        if course and not course["woke"]:
            refused.setdefault(plain(course["outcome"]), [])
    off = "no" if not courses else "yes" if "GracefulShutdown" in resets(courses["graceful"]) else "by force only"
    told = f"{recording.cpus or '?'} / {recording.memory_mib // 1024 or '?'}"
    server = recording.title + (f" ({recording.firmware})" if recording.firmware else "")
    lock = lock_of(recording, courses.get("locked"))
    return f"| {server} | {told} | {stated} | {' | '.join(cells)} | {off} | {lock} | {'; '.join(refused)} |"


def table(reference):
    head = ("| server | CPUs / GiB | to be stated | PXE | UefiHttp | with a URI | VirtualMedia | shuts down | lock | "
            "what the operator says of the rest |\n"
            "|---|---|---|---|---|---|---|---|---|---|")
    return "\n".join([head, *(row(reference, name) for name in names(reference))])


def page(reference):
    text = PAGE.read_text()
    before, rest = text.split(BEGIN + "\n")
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{table(reference)}\n{END}{after}"


def main():
    reference, action = Path(sys.argv[1]), sys.argv[2]
    if action == "--write":
        PAGE.write_text(page(reference))
    elif page(reference) != PAGE.read_text():
        sys.exit("docs/redfish.md: the table of recorded servers is not current; recorded.py REFERENCE --write")


if __name__ == "__main__":
    main()
