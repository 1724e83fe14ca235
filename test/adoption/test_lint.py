"""Tests that YAML and shell scripts are well written, and that C++ obeys the rules of our own lints. The API server decides
whether the YAML is right (test/e2e/test_install.py)."""

import json
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT, optional_tool, run


def test_yaml_is_well_written():
    # The paths are relative, like the excluded paths in the configuration.
    run(sys.executable, "-m", "yamllint", "--strict", "charts", "config", "crds", "samples", "test", ".github", cwd=ROOT)


def test_shell_scripts_have_no_findings():
    shellcheck = optional_tool("shellcheck")
    scripts = [file for folder in ("hack", "test", "bench", "charts", "samples") for file in (ROOT / folder).rglob("*.sh")]
    assert scripts
    run(shellcheck, "-x", *scripts, ROOT / ".ci/run", cwd=ROOT)


def test_includes_point_down():
    run(sys.executable, ROOT / "hack/check_layers.py")


def test_each_statement_about_security_names_a_test_that_there_is():
    run(sys.executable, ROOT / "hack/check_claims.py")


@pytest.mark.parametrize("text, fault", [
    ("Nothing is read.", "names no test"),
    ("- one (`test_lint.py`)\n- two", "names no test: - two"),
    ("| who | why |\n|---|---|\n| a | `test_lint.py` |\n| b | c |", "names no test: | b"),
    ("Sure (`test_that_was_renamed.py`).", "there is no test_that_was_renamed.py"),
    ("Sure (`test_lint.py::test_gone`).", "test_lint.py has no test_gone"),
    ('Sure (`size_test.cpp: "nobody says\nthis"`).', 'size_test.cpp has no case "nobody says this"'),
    ("Sure (`unit-nothing`).", "ctest has no unit-nothing"),
    ("# Title\n\n<!-- no statement: it is advice -->\nBeware,\nall of you.", None),
    ("Sure (`component-ports`, `e2e-start`, `test_lint.py`).", None),
])
def test_a_statement_without_a_test_is_found(tmp_path, text, fault):
    sys.path.insert(0, str(ROOT / "hack"))
    import check_claims
    found = list(check_claims.faults("page.md", text))
    assert (not found) if fault is None else (len(found) == 1 and fault in found[0]), found


def test_no_co_await_is_doubtful():
    folders = ("api", "base", "bench", "bootstrap", "controllers", "kube", "migrate", "operator", "providers", "report", "scheduling", "test")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.[ch]pp")]
    assert files
    run(sys.executable, ROOT / "hack/check_coroutines.py", *files)


CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(two LANGUAGES CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
add_library(two STATIC first.cpp second.cpp)
add_library(alone STATIC alone.cpp)
set_target_properties(two PROPERTIES UNITY_BUILD ${TOGETHER})
"""


def test_an_include_that_only_files_compiled_together_have_is_missed(tmp_path):
    (tmp_path / "hack").mkdir()
    shutil.copy(ROOT / "hack/compile_each.py", tmp_path / "hack")
    preset = lambda name, together: {"name": name, "generator": "Ninja", "binaryDir": "build/" + name,
                                     "cacheVariables": {"CMAKE_CXX_COMPILER": "clang++-19", "TOGETHER": together}}
    (tmp_path / "CMakePresets.json").write_text(json.dumps({"version": 6, "configurePresets": [preset("debug", "OFF"), preset("release", "ON")]}))
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    (tmp_path / "first.cpp").write_text("#include <string>\nstd::string first() { return {}; }\n")
    (tmp_path / "second.cpp").write_text("std::string second() { return {}; }\n")
    (tmp_path / "alone.cpp").write_text("int alone() { return 1; }\n")
    run("cmake", "--preset", "release", cwd=tmp_path)
    run("cmake", "--build", "build/release", cwd=tmp_path)

    command = [sys.executable, "hack/compile_each.py", "--but", "release", "debug"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 1 and "second.cpp:1:1: error:" in found.stdout and "first.cpp" not in found.stdout
    assert "compiled 2 files each by itself as preset debug does: 1 with errors" in found.stdout, "release compiles alone.cpp by itself"
    (tmp_path / "second.cpp").write_text("#include <string>\nstd::string second() { return {}; }\n")
    assert "0 with errors" in run(*command, cwd=tmp_path)
