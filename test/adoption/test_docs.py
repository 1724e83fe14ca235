"""The documentation is current and leads nowhere wrong."""

import re
import sys

import pytest

from conftest import ROOT, run

sys.path.insert(0, str(ROOT / "test/e2e"))
import documented  # noqa: E402

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "CODE_OF_CONDUCT.md", *sorted((ROOT / "docs").glob("*.md"))]
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


@pytest.mark.parametrize("block", list(documented.blocks()), ids=str)
def test_every_command_says_how_it_is_tried(block):
    assert block.how, f"{block} needs a comment before it: run, run by, or not run with a reason"
    if block.how == "run by":
        assert [file for file in block.what.split(", ") if not (ROOT / file).is_file()] == []


def test_every_group_of_commands_is_run_by_a_test():
    groups = {block.group for block in documented.blocks() if block.how == "run"}
    tests = "".join(file.read_text() for file in (ROOT / "test/e2e").glob("test_*.py"))
    assert groups <= set(re.findall(r'(?:run|run_documented|followed)\((?:stack, )?"([a-z-]+)"', tests))


def test_troubleshooting_knows_every_reason_of_a_condition():
    names = (ROOT / "api/names.hpp").read_text().split("namespace reasons {")[1].split("}  // namespace reasons")[0]
    reasons = set(re.findall(r'=\s*"([A-Za-z]+)"', names)) - {"Unschedulable"}  # the scheduler's, of a pod
    documented = set(re.findall(r"`([A-Za-z]+)`", (ROOT / "docs/troubleshooting.md").read_text()))
    assert reasons - documented == set()


def test_troubleshooting_names_no_reason_that_nothing_says():
    folders = ("api", "bootstrap", "controllers", "kube", "operator", "providers")
    sources = "".join(file.read_text() for folder in folders for file in (ROOT / folder).rglob("*.[ch]pp"))
    tables = re.findall(r"^\| reason .*\n\|[-| ]*\n((?:\|.*\n)+)", (ROOT / "docs/troubleshooting.md").read_text(), re.MULTILINE)
    assert tables
    first_cells = [row.split("|")[1] for table in tables for row in table.splitlines()]
    reasons = {reason for cell in first_cells for reason in re.findall(r"`([A-Z][A-Za-z]+)`", cell)}
    assert {reason for reason in reasons if f'"{reason}"' not in sources} == set()
