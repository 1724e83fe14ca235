"""Runs odd answers of BMCs over recorded trees. A missing answer proves nothing bad, and after a refusal the next step
follows."""

import os
from pathlib import Path

import pytest

import variations

REFERENCE = os.environ.get("KUBENODESMITH_REFERENCE")
# These have sessions, media slots and parts of all kinds, but few of each.
SAMPLE = ["dell-r750-idrac9", "hpe-dl380ag11", "dmtf-tower"]
TREES = SAMPLE if REFERENCE and (Path(REFERENCE) / "cases/redfish/variations.json").exists() else ["(no variations)"]


@pytest.mark.parametrize("tree", TREES)
def test_every_variation_of_a_tree_is_right(reference, tree):
    if tree not in SAMPLE:
        pytest.skip("the reference has no variations")
    found = variations.wrong(variations.played(reference, tree))
    assert sorted(found) == []
