"""Tests that durations are limited to ten years. Objects that were stored before this limit stay writable, on the oldest API
server too."""

import json

import pytest
import yaml

from conftest import NAMESPACE, ROOT, wait_for
from objects import ABSENT, build

TEN_YEARS = "must be at most 87600h (ten years)"
# The API server's own check of durations accepts these. The last one exceeds 64-bit nanoseconds.
TOO_LONG = ["87600h1ns", "2562047h", "9999999h"]
POOL = ["spec.scaleUp.stabilizationWindow", "spec.scaleDown.stabilizationWindow", "spec.scaleDown.unneededDuration",
        "spec.scaleDown.emptyGracePeriod", "spec.scaleDown.minNodeAge", "spec.scaleDown.volumeDetachTimeout",
        "spec.scaleDown.delayAfterDelete", "spec.scaleDown.delayAfterFailure", "spec.disruption.expireAfter"]
ABOVE_ZERO = [("NodeSmithPool", f"spec.{field}") for field in (
    "bootstrap.execTimeout", "scaleUp.provisionTimeout", "scaleUp.registrationTimeout", "scaleUp.initializationTimeout",
    "scaleUp.retry.initialBackoff", "scaleUp.retry.maxBackoff", "scaleDown.drainTimeout", "disruption.repair.notReadyFor")]
ABOVE_ZERO += [("NodeSmithControlPlane", "spec.bootstrap.execTimeout")]
ABOVE_ZERO += [("NodeSmithProvider", f"spec.{field}") for field in (
    "proxmox.guestAgent.readyTimeout", "proxmox.guestAgent.pollInterval", "redfish.powerOff.gracefulTimeout", "redfish.timeouts.connect",
    "redfish.timeouts.request", "redfish.timeouts.power", "redfish.polling.idle", "redfish.polling.active")]
FIELDS = [("NodeSmithPool", field) for field in POOL] + ABOVE_ZERO
FIELDS += [("NodeSmithProvider", "spec.orphanGracePeriod"), ("NodeSmithClaim", "spec.expireAfter"),
           ("NodeSmithClaim", "spec.terminationGracePeriod")]
CHANGEABLE = [each for each in FIELDS if each[0] != "NodeSmithClaim"]


def patch_of(place, value):
    for part in reversed(place.split(".")):
        value = {part: value}
    return json.dumps(value)


def patch(cluster, kind, text, *more):
    return cluster.kubectl("patch", kind.lower(), "valid", "-n", NAMESPACE, "--type=merge", "-p", text, *more, check=False)


def create(cluster, kind, changes, *more):
    if any(field.startswith("spec.redfish.") for field in changes):
        changes = {"spec.type": "redfish", "spec.proxmox": ABSENT, **changes}
    return cluster.kubectl("create", "-f", "-", *more, stdin=json.dumps(build(kind, changes=changes)), check=False)


@pytest.mark.parametrize("kind,field", FIELDS)
def test_a_new_object_has_no_duration_beyond_ten_years(cluster, kind, field):
    for value in ["1ns", "87600h"] if (kind, field) in ABOVE_ZERO else ["0", "1ns", "87600h"]:
        done = create(cluster, kind, {field: value}, "--dry-run=server")
        assert done.returncode == 0, done.stderr
    for value in TOO_LONG:
        done = create(cluster, kind, {field: value}, "--dry-run=server")
        assert done.returncode != 0, f"{field}: {value} is accepted"
        assert f"{field} {TEN_YEARS}" in done.stderr


@pytest.mark.parametrize("kind,field", CHANGEABLE)
@pytest.mark.parametrize("has_status", [False, True])
def test_a_duration_cannot_be_changed_to_one_beyond_ten_years(clean, kind, field, has_status):
    done = create(clean, kind, {field: "1h"})
    assert done.returncode == 0, done.stderr
    if has_status:
        assert patch(clean, kind, '{"status": {"observedGeneration": 1}}', "--subresource=status").returncode == 0
    assert patch(clean, kind, patch_of(field, "87600h")).returncode == 0
    for value in TOO_LONG:
        done = patch(clean, kind, patch_of(field, value))
        assert done.returncode != 0, f"{field}: {value} is accepted"
        assert field in done.stderr
        assert TEN_YEARS in done.stderr


def without_ends(schema):
    """Returns the schema without the limit of durations."""
    if isinstance(schema, list):
        return [without_ends(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: without_ends(value) for key, value in schema.items()}
    rules = result.get("x-kubernetes-validations")
    if rules:
        result["x-kubernetes-validations"] = [rule for rule in rules if TEN_YEARS not in rule["message"]]
    return result


@pytest.fixture
def crds_without_ends(clean):
    paths = [ROOT / f"crds/{kind.lower()}s.yaml" for kind in sorted({kind for kind, _ in FIELDS})]
    apply = ["apply", "--server-side", "--force-conflicts", "-f"]

    def install(change):
        for path in paths:
            clean.kubectl(*apply, "-", stdin=json.dumps(change(yaml.safe_load(path.read_text()))))

    def is_accepted(kind, field):
        return create(clean, kind, {field: "2562047h"}, "--dry-run=server").returncode == 0

    def upgrade():
        install(lambda crd: crd)
        for kind, field in FIELDS:
            wait_for(f"{kind} {field} to have an end", lambda kind=kind, field=field: not is_accepted(kind, field))

    install(without_ends)
    for kind, field in FIELDS:
        wait_for(f"{kind} {field} to have no end", lambda kind=kind, field=field: is_accepted(kind, field))
    yield upgrade
    upgrade()


def test_objects_that_were_stored_before_stay_writable(clean, crds_without_ends):
    kinds = sorted({kind for kind, _ in FIELDS})
    status = '{"status": {"conditions": [{"type": "Ready", "status": "%s", "reason": "Test", "lastTransitionTime": "2026-01-31T12:00:00Z"}]}}'
    for kind in kinds:
        # A duration with a lower limit was compared, so it never exceeded 64-bit nanoseconds.
        done = create(clean, kind, {field: "2562047h" if (kind, field) in ABOVE_ZERO else "9999999h"
                                    for of, field in FIELDS if of == kind and not field.startswith("spec.redfish.")})
        assert done.returncode == 0, done.stderr
        assert patch(clean, kind, status % "True", "--subresource=status").returncode == 0
    crds_without_ends()
    for kind in kinds:
        for done in [patch(clean, kind, '{"metadata": {"finalizers": ["example.org/a"], "labels": {"a": "b"}}}'),
                     patch(clean, kind, status % "False", "--subresource=status"),
                     patch(clean, kind, '{"metadata": {"finalizers": null}}')]:
            assert done.returncode == 0, done.stderr
    assert patch(clean, "NodeSmithPool", patch_of("spec.weight", 3)).returncode == 0
    refused = patch(clean, "NodeSmithPool", patch_of(POOL[0], "9999998h"))
    assert refused.returncode != 0
    assert patch(clean, "NodeSmithPool", patch_of(POOL[0], "87600h")).returncode == 0
