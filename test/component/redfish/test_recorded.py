"""Runs the operator against recorded service trees of real servers. Each server works, or is refused with a true sentence."""

import json
import os
from pathlib import Path

import pytest

import recorded
from crd_schema import faults, schema_of
from recorded import Recording, is_true, played

REFERENCE = os.environ.get("KUBENODESMITH_REFERENCE")
NAMES = recorded.names(Path(REFERENCE)) if REFERENCE else ["(no recordings)"]


@pytest.fixture(params=NAMES)
def tree(request, reference):
    return Recording(reference, request.param), played(reference, request.param)


def course_of(tree, name):
    courses = tree[1]["courses"]
    if not courses:
        pytest.skip("the host cannot be used: test_it_is_ready_or_refused_with_a_true_sentence")
    if not courses[name]["possible"]:
        pytest.skip("this BMC does not take that override")
    return courses[name]


def test_it_is_ready_or_refused_with_a_true_sentence(tree):
    recording, result = tree
    refusals = [look["message"] for look in result["looks"] if look["ready"] != "Ready"]
    untrue = [message for message in refusals if not is_true(recording, message)]
    assert not untrue
    assert result["looks"][-1]["ready"] == "Ready", "what the operator asked for was stated, and it does not help"


def test_several_systems_are_told_by_their_reason(tree):
    recording, result = tree
    reasons = [look["ready"] for look in result["looks"]]
    assert ("SystemNotChosen" in reasons) == (len(recording.systems) > 1)


def test_its_inventory_is_what_the_documents_say(tree):
    recording, result = tree
    told = result["recorded"]["told"]
    stated = result["recorded"]["object"]["spec"].get("systemUUID", "")
    assert told == {"cpuCores": recording.cpus, "memoryMiB": recording.memory_mib, "macs": recording.macs,
                    "systemUUID": recording.uuid or stated, "serialNumber": recording.serial,
                    "powerState": recording.system["PowerState"]}


def test_an_api_server_stores_its_status(tree):
    schema = schema_of("nodesmithhosts")["properties"]["status"]
    for look in [tree[1]["recorded"], *tree[1]["looks"]]:
        assert faults(look["object"].get("status", {}), schema, "status") == []


@pytest.mark.parametrize("status, fault", [
    ({"macs": ["52:54:00:aa:bb:01", "52:54:00:aa:bb:01"]}, "status.macs: an entry twice"),
    ({"macs": ["52:54:00:aa:bb:01:02"]}, "status.macs[0]: 20 characters"),
    ({"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "", "reason": "not a word"}]}, "does not match"),
    ({"phase": "Gone"}, "is not among"), ({"failures": "1"}, "is no integer"), ({"failures": -1}, "out of bounds"),
    ({"claimRef": {"name": "a"}}, "status.claimRef.uid: is missing"), ({"disks": 1}, "status.disks: ")])
def test_the_judge_of_statuses_sees_what_an_api_server_refuses(status, fault):
    (found,) = faults(status, schema_of("nodesmithhosts")["properties"]["status"], "status")
    assert fault in found


def test_nothing_is_asked_that_the_recording_forbids(tree):
    recording, result = tree
    exchanges = [each for course in result["courses"].values() if course["possible"] for each in course["exchanges"]]
    assert [each for each in exchanges if each["forbidden"] or recorded.forbidden(recording, each)] == []


@pytest.mark.parametrize("wake", recorded.WAKES)
def test_it_wakes_as_asked_or_says_truly_why_not(tree, wake):
    recording, _ = tree
    course = course_of(tree, wake)
    assert course["asleep"] and course["power"] == "Off"
    if not course["woke"]:
        assert is_true(recording, course["outcome"]), course["outcome"]
        assert course["boots"] == []
        return
    (boot,) = course["boots"]
    assert boot["target"] in recorded.WAKES[wake]
    assert boot["mode"] in ("UEFI", "")
    assert not course["override"]
    assert boot["uri"] == (recorded.BOOT_URI if wake == "UefiHttp-URI" else "")
    if wake == "VirtualMedia":
        assert recorded.IMAGE in boot["images"] and recorded.IMAGE not in course["images"]


def test_a_boot_from_disk_is_one(tree):
    (boot,) = course_of(tree, "graceful")["boots"]
    assert boot["target"] == "Hdd"


def test_it_is_shut_down_before_its_power_is_cut(tree):
    recording, _ = tree
    course = course_of(tree, "graceful")
    assert course["asleep"] and course["power"] == "Off"
    can_shut_down = "GracefulShutdown" in recording.resets
    assert recorded.resets(course) == ["On", "GracefulShutdown" if can_shut_down else "ForceOff"]


def test_a_system_that_hears_nothing_is_cut_after_its_time(tree):
    recording, _ = tree
    course = course_of(tree, "deaf")
    assert course["asleep"] and course["power"] == "Off"
    graceful = ["GracefulShutdown"] if "GracefulShutdown" in recording.resets else []
    assert recorded.resets(course) == ["On", *graceful, "ForceOff"]


def test_it_is_cut_at_once_where_that_is_wanted(tree):
    course = course_of(tree, "forced")
    assert course["asleep"] and course["power"] == "Off"
    assert recorded.resets(course) == ["On", "ForceOff"]


def test_an_override_of_somebody_else_does_not_pass_for_ours(tree):
    (boot,) = course_of(tree, "overridden")["boots"]
    assert (boot["target"], boot["mode"]) == ("Pxe", "UEFI")


def test_a_host_that_somebody_else_turned_on_is_left_alone(tree):
    course = course_of(tree, "foreign")
    assert not course["woke"]
    assert recorded.resets(course) == []
    assert course["power"] == "On"


def test_it_bears_the_mark_of_its_claim_while_it_is_in_use_or_says_truly_why_not(tree):
    recording, _ = tree
    course = course_of(tree, "locked")
    written = [json.loads(each["body"])["AssetTag"] for each in course["exchanges"] if "AssetTag" in each["body"]]
    assert course["asleep"] and course["power"] == "Off"
    if not course["woke"]:
        assert is_true(recording, course["outcome"]), course["outcome"]
        assert written == [] and recorded.resets(course) == []
        return
    mark, *rest = written
    assert mark.startswith("kns-") and rest == [""]
    assert recording.tag_places[recorded.locked_at(recording, course)]["AssetTag"] in ("", None)
    asked = [each for each in course["exchanges"] if "AssetTag" in each["body"] or "ResetType" in each["body"]]
    assert "AssetTag" in asked[0]["body"] and "AssetTag" in asked[-1]["body"]


def test_the_table_in_the_documentation_is_current(reference):
    assert recorded.page(reference) == recorded.PAGE.read_text(), "recorded.py REFERENCE --write makes it anew"
