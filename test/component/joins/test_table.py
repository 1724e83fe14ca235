"""Tests that the table in docs/joining.md agrees with facts.yaml. KUBENODESMITH_WRITE_DOCS=1 writes it anew."""

import os
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/joining.md"
BEGIN = "<!-- joins: written by component-joins -->\n"
FACTS = yaml.safe_load((Path(__file__).parent / "facts.yaml").read_text())
# The kinds of proof from strong to weak, with their words in the table.
PROOFS = {"run": "run", "validated": "validated", "documents": "by its documents"}


def proof_of(form, delivery, guest):
    found = {fact["proof"] for fact in FACTS["facts"]
             if form in fact["formats"] and delivery in fact["deliveries"] and guest in fact["guests"]}
    return next((text for proof, text in PROOFS.items() if proof in found), "–")


def table():
    lines = ["| format | delivery | " + " | ".join(FACTS["guests"]) + " |", "|---|---|" + "---|" * len(FACTS["guests"])]
    for form in FACTS["formats"]:
        for delivery in FACTS["deliveries"]:
            cells = [proof_of(form, delivery, guest) for guest in FACTS["guests"]]
            if set(cells) != {"–"}:
                lines.append(f"| `{form}` | {delivery} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def test_each_fact_names_what_there_is():
    programs = "".join(path.read_text() for path in ROOT.glob("test/**/CMakeLists.txt"))
    tests = set(re.findall(r"project_(?:py)?test\(([a-z0-9-]+)", programs))
    tests |= {"e2e-" + path.stem.removeprefix("test_") for path in ROOT.glob("test/e2e/test_*.py")}
    for fact in FACTS["facts"]:
        assert set(fact["formats"]) <= set(FACTS["formats"])
        assert set(fact["deliveries"]) <= set(FACTS["deliveries"])
        assert set(fact["guests"]) <= set(FACTS["guests"])
        assert fact["by"].startswith("https://") if fact["proof"] == "documents" else fact["by"] in tests, fact


def test_each_format_of_the_api_is_there():
    crd = yaml.safe_load((ROOT / "crds/nodesmithpools.yaml").read_text())
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert FACTS["formats"] == spec["bootstrap"]["properties"]["format"]["enum"]


def test_each_release_of_cloud_init_is_one_that_is_tried():
    tried = re.findall(r'^    "(\d+\.\d+)', (ROOT / "hack/versions.sh").read_text(), re.MULTILINE)
    assert [guest.split()[1] for guest in FACTS["guests"] if guest.startswith("cloud-init")] == tried


def test_the_page_has_the_table():
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    after = re.sub(r"^(\|[^\n]*\n)*", "", rest)
    wanted = before + BEGIN + table() + after
    if os.environ.get("KUBENODESMITH_WRITE_DOCS") == "1":
        PAGE.write_text(wanted)
    else:
        assert text == wanted, "docs/joining.md is not what facts.yaml says: run this test with KUBENODESMITH_WRITE_DOCS=1"
