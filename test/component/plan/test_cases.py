"""Plays cases that users of node autoscalers reported: `plan` must give the answer that each case states."""

import importlib.util
import json
import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("KUBENODESMITH_REFERENCE", "")) / "cases"
CASES = sorted(path.parent.name for path in ROOT.glob("plan/*/expect.json")) if os.environ.get("KUBENODESMITH_REFERENCE") else []


@pytest.fixture(scope="module")
def runner(reference):
    """Returns the program that comes with the cases, as a module."""
    if not CASES:
        pytest.skip("the reference has no cases of plan")
    spec = importlib.util.spec_from_file_location("run_plan", reference / "cases/run_plan.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("case", CASES or ["(no cases)"])
def test_plan_is_right(runner, case):
    folder = ROOT / "plan" / case
    expect = json.loads((folder / "expect.json").read_text())
    program = Path(os.environ["KUBENODESMITH_BIN"]) / "kubenodesmith"
    answer = runner.ask(program.resolve(), folder, expect.get("files", ["in.yaml"]))
    assert runner.complaints(answer, expect) == []
