"""Judges a host whose BMC answers oddly: each variation of a service tree is judged by its name.

The program (variations.py REFERENCE [TREE...]) prints the faults of each tree."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from recorded import BIN, Recording, names

FORCED = "ForceOff"
IMAGE = "http://images.example.org/live.iso"
# Unit tests cover variations that need several hosts, or a moment that no player can know.
PLAYED_ELSEWHERE = {"four-systems-two-sessions-no-basic", "two-bad-one-good", "directory-account",
                    "claim-deleted-after-override", "turned-on-after-override", "three-slots-one-taken"}


def played(reference, name):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(Recording(reference, name).documents, file)
        file.flush()
        run = subprocess.run([BIN / "play-variations", file.name, reference / "cases/redfish/variations.json"],
                             capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr
    return {each["name"]: each for each in json.loads(run.stdout)}


def asked(result, what):
    return sum(what in each for each in result["resets"])


def is_cut_in_words(result):
    return result["asleep"] and result["power"] == "Off" and asked(result, FORCED) > 0 and \
        any(each.startswith("CuttingPower ") for each in result["announced"])


def is_usable(result):
    return result["ready"] == "Ready" and result["sessions"] <= 1


def lacks_a_part(result):
    conditions = {each["type"]: each for each in result["status"]["status"]["conditions"]}
    return is_usable(result) and conditions["InventoryComplete"]["status"] == "False"


def is_woken(result):
    return result["woke"] and asked(result, FORCED) == 0


def is_woken_and_ejected(result):
    return result["woke"] and result["asleep"] and IMAGE not in result["images"]


def says(words):
    return lambda result: not result["woke"] and words in result["outcome"]


def is_not_given(state):
    return lambda result: result["ready"] == state


def is_arm(result):
    status = result["status"]["status"]
    return status.get("architecture") == "arm64" and [each["kind"] for each in status["accelerators"]] == ["GPU"]


RIGHT = {
    **dict.fromkeys(("graceful-400", "graceful-state", "graceful-405", "graceful-500", "graceful-503-forever"), is_cut_in_words),
    "graceful-connection-lost": lambda r: r["asleep"] and asked(r, FORCED) == 0,
    **dict.fromkeys(("login-401-once", "no-basic-no-session", "no-basic-login-500-once", "sessions-switched-off",
                     "resource-401-in-the-middle", "compressed-parts", "other-system-silent", "serial-of-blanks",
                     "bytes-after-json"), is_usable),
    **dict.fromkeys(("storage-503", "adapters-not-ready", "adapters-hang", "interfaces-403", "interfaces-401"), lacks_a_part),
    **dict.fromkeys(("empty-system-once", "uuid-null-for-nine-seconds", "power-off-remembered-150s", "power-null-150s"), is_woken),
    **dict.fromkeys(("image-shown-as-name", "image-shown-as-null", "slot-without-inserted"), is_woken_and_ejected),
    "override-refused-after-insert": lambda r: not r["woke"] and r["asleep"] and IMAGE not in r["images"],
    "reset-task-fails": says("do not give enough power"),
    "reset-200-with-error": says("not done"),
    "state-absent": is_not_given("Absent"),
    "state-updating": is_not_given("Updating"),
    "arm-with-gpus": is_arm,
}


def wrong(results):
    """Returns the names of the variations with a wrong result, and their results."""
    judged = {name: result for name, result in results.items() if name not in PLAYED_ELSEWHERE}
    return {name: result for name, result in judged.items()
            if "failed" in result or name not in RIGHT or not RIGHT[name](result)}


def main():
    reference = Path(sys.argv[1])
    for name in sys.argv[2:] or names(reference):
        for variation, result in wrong(played(reference, name)).items():
            result.pop("status", None)
            print(name, variation, json.dumps(result)[:600])


if __name__ == "__main__":
    main()
