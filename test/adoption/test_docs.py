"""Tests that the documentation is current and that its links lead somewhere."""

import re
import sys

import pytest
import yaml

from conftest import ROOT, run

sys.path.insert(0, str(ROOT / "test/e2e"))
import documented  # noqa: E402

sys.path.insert(0, str(ROOT / "hack"))
import api_reference  # noqa: E402
import check_prose  # noqa: E402

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", ROOT / "CODE_OF_CONDUCT.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
EVENT = re.compile(r'(?:EventType::(?:normal|warning),|\b(?:normal|warning|announce)\(\s*\*?[\w.>-]+,)\s*"([A-Z][a-z]\w+)"')


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def anchors(page):
    """The anchors of a page's headings, as GitHub and mkdocs make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading)).strip().lower().replace(" ", "-") for heading in headings}


def test_the_api_reference_is_current():
    run(sys.executable, ROOT / "hack/api_reference.py", "--check")


def fields(schema, path=""):
    for name, field in schema.get("properties", {}).items():
        yield f"{path}.{name}", field
        yield from fields(field["items"] if field.get("type") == "array" else field, f"{path}.{name}")


@pytest.mark.parametrize("kind", api_reference.KINDS)
def test_the_description_of_a_field_ends_with_its_default(kind):
    """kubectl explain shows descriptions and no defaults."""
    crd = yaml.safe_load((ROOT / f"crds/{kind}.yaml").read_text())
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    wrong = []
    for path, field in fields(spec):
        named = re.findall(r"Default: .*", " ".join(field.get("description", "").split()))
        if named != [sentence for sentence in [api_reference.described_default(field)] if sentence]:
            wrong.append(f"{path}: {named} is not {field.get('default')}")
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files_and_headings_that_exist(page):
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link[0] and not link[0].startswith("mailto:")]
    assert [file for file, _ in links if not (page.parent / file).exists()] == []
    targets = [((page.parent / file).resolve() if file else page, anchor) for file, anchor in links if anchor]
    assert [(name_of(target), anchor) for target, anchor in targets if target.suffix == ".md" and anchor not in anchors(target)] == []


@pytest.mark.parametrize("page", check_prose.pages(), ids=name_of)
def test_sentences_are_short_and_whole(page):
    assert list(check_prose.faults(name_of(page), page.read_text())) == []


@pytest.mark.parametrize("text, fault", [
    ("The operator " + "very " * 29 + "often waits.", "words: The operator"),
    ("What it needs is a right.", "begins with What"),
    ("What does it need?", None),
    ("| a | a bought node |", '"bought"'),
    ("| " + "a " * 40 + "|", None),
    ("A machine of its own.", '"of its own"'),
    ("A label of its own Node.", None),
    ("```\nWhat is bought\n```", None),
    ("`What is bought` is a quotation.", None),
])
def test_a_sentence_that_is_none_is_found(text, fault):
    found = list(check_prose.faults("page.md", text))
    assert (not found) if fault is None else (len(found) == 1 and fault in found[0]), found


def test_each_page_is_in_the_navigation():
    named = set(re.findall(r"(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)) - {"changelog.md", "contributing.md"}
    assert named == {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
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


def test_the_page_of_the_command_line_has_every_flag_of_the_operator():
    sources = "".join(file.read_text() for file in (ROOT / "operator/options").glob("*.cpp"))
    flags = {flag for names in re.findall(r'"(--[a-z,-]+)"', sources) for flag in names.split(",") if not flag.startswith("--zap")}
    page = (ROOT / "docs/command-line.md").read_text()
    assert flags - {"--version", "--help"} <= set(re.findall(r"`(--[a-z-]+)", page))
    _, _, operators = page.partition("## Flags of the operator")
    assert set(re.findall(r"`(--[a-z-]+)", operators)) <= flags


def test_values_of_the_chart_in_the_text_exist():
    values = yaml.safe_load((ROOT / "charts/kubenodesmith/values.yaml").read_text())
    values.pop("health")  # also the name of a field of NodeSmithControlPlanes
    named = {name for page in PAGES for name in re.findall(r"`((?:[a-z]\w*\.)+\w+)(?::[^`]*)?`", page.read_text()) if name.split(".")[0] in values}

    def exists(name):
        place = values
        for part in name.split("."):
            if not isinstance(place, dict) or part not in place:
                return False
            place = place[part]
        return True
    assert {name for name in named if not exists(name)} == set()


def test_troubleshooting_knows_every_reason_of_a_condition():
    names = (ROOT / "api/names.hpp").read_text().split("namespace reasons {")[1].split("}  // namespace reasons")[0]
    reasons = set(re.findall(r'=\s*"([A-Za-z]+)"', names)) - {"Unschedulable"}  # the scheduler's reason of a pod
    documented = set(re.findall(r"`([A-Za-z]+)`", (ROOT / "docs/troubleshooting.md").read_text()))
    assert reasons - documented == set()


def test_the_page_of_events_knows_every_event_and_no_other():
    folders = ("controllers", "kube", "operator", "providers")
    sources = "".join(file.read_text() for folder in folders for file in (ROOT / folder).rglob("*.[ch]pp"))
    names = (ROOT / "api/names.hpp").read_text()
    documented = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/events.md").read_text(), re.MULTILINE))
    assert set(EVENT.findall(sources)) - documented == set()
    assert {reason for reason in documented if f'"{reason}"' not in sources + names} == set()


def test_every_reason_of_backends_and_of_kept_nodes_is_documented():
    files = [*(ROOT / "providers").rglob("*.[ch]pp"), *(ROOT / "controllers/disruption").rglob("*.[ch]pp")]
    said = re.compile(r'\b(?:failed|blocked|blocker)\(\s*"([A-Z]\w+)"|\bBlocker\{"([A-Z]\w+)"|\.reason = [^;]*?"([A-Z]\w+)"')
    reasons = {name for file in files for groups in said.findall(file.read_text()) for name in groups if name}
    pages = "".join((ROOT / "docs" / page).read_text() for page in ("troubleshooting.md", "proxmox.md", "redfish.md", "disruption.md"))
    assert len(reasons) > 40
    assert reasons - set(re.findall(r"`([A-Za-z]+)`", pages)) == set()


def test_troubleshooting_names_no_reason_that_nothing_says():
    folders = ("api", "bootstrap", "controllers", "kube", "operator", "providers")
    sources = "".join(file.read_text() for folder in folders for file in (ROOT / folder).rglob("*.[ch]pp"))
    tables = re.findall(r"^\| reason .*\n\|[-| ]*\n((?:\|.*\n)+)", (ROOT / "docs/troubleshooting.md").read_text(), re.MULTILINE)
    assert tables
    first_cells = [row.split("|")[1] for table in tables for row in table.splitlines()]
    reasons = {reason for cell in first_cells for reason in re.findall(r"`([A-Z][A-Za-z]+)`", cell)}
    assert {reason for reason in reasons if f'"{reason}"' not in sources} == set()


SITE = yaml.load((ROOT / "mkdocs.yml").read_text().split("\nmarkdown_extensions:")[0], yaml.SafeLoader)["site_url"]
ADDRESS = re.compile(re.escape(SITE.removesuffix("docs/")) + r"([\w./-]*)(?:#([\w-]+))?")
OUTSIDE = {"", "releases", "spdx/"}  # the project's own page, the place of releases, and names of bills of materials


def addresses():
    """Returns each address of the site in a file of the repository that is not a test: file, path, anchor."""
    names = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ":!test", ":!build", cwd=ROOT)
    for name in filter(None, names.split("\0")):
        file = ROOT / name
        if file.is_file() and file.suffix != ".png":
            for path, anchor in ADDRESS.findall(file.read_text()):
                yield name, path.removesuffix("."), anchor


def test_every_address_of_the_site_is_a_page_and_heading_of_it():
    found = list(addresses())
    assert len({name for name, _, _ in found}) > 5
    wrong = []
    for name, path, anchor in found:
        page = ROOT / re.sub(r"\.html$", ".md", path)
        is_right = path in OUTSIDE or path == "docs/" or (path.startswith("docs/") and page.is_file())
        if not is_right or (anchor and anchor not in anchors(page)):
            wrong.append(f"{name}: {path}#{anchor}")
    assert wrong == []


def test_the_site_is_built_without_warnings_and_has_each_page(tmp_path):
    mkdocs = ROOT / "build/docs-venv/bin/mkdocs"
    if not mkdocs.exists():
        pytest.skip("make site-tools installs mkdocs")
    run(mkdocs, "build", "--strict", "--quiet", "--site-dir", tmp_path / "site", cwd=ROOT)
    made = {file.relative_to(tmp_path / "site").as_posix() for file in (tmp_path / "site").rglob("*.html")}
    assert {page.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for page in (ROOT / "docs").rglob("*.md")} <= made
    assert f'<link rel="canonical" href="{SITE}alerts.html">' in (tmp_path / "site/alerts.html").read_text()
