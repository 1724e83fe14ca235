"""The documentation is current and leads nowhere wrong."""

import re
import sys

import pytest

from conftest import ROOT, run

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def test_the_api_reference_is_current():
    run(sys.executable, ROOT / "hack/api_reference.py", "--check")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_exist(page):
    links = [link for link, _ in LINK.findall(page.read_text()) if "://" not in link and not link.startswith("mailto:")]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_targets_of_make_in_the_text_exist(page):
    makefile = (ROOT / "Makefile").read_text()
    known = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"(?:^|`)(?:[A-Z_]+=\S+ )?make ((?:[a-z-]+ ?)+)", page.read_text(), re.MULTILINE))
    assert {target for targets in named for target in targets.split()} <= known


def test_troubleshooting_knows_every_reason_of_a_condition():
    names = (ROOT / "api/names.hpp").read_text().split("namespace reasons {")[1].split("}  // namespace reasons")[0]
    reasons = set(re.findall(r'=\s*"([A-Za-z]+)"', names)) - {"Unschedulable"}  # the scheduler's, of a pod
    documented = set(re.findall(r"`([A-Za-z]+)`", (ROOT / "docs/troubleshooting.md").read_text()))
    assert reasons - documented == set()
