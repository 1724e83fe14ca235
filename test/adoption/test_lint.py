"""Tests that YAML and shell scripts are well written, and that C++ obeys the rules of our own lints. The API server decides
whether the YAML is right (test/e2e/test_install.py)."""

import json
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT, optional_tool, run


@pytest.fixture
def checks(monkeypatch):
    """Lets a test import the checks in hack/."""
    monkeypatch.syspath_prepend(str(ROOT / "hack"))


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


def test_files_hold_what_their_names_say():
    run(sys.executable, ROOT / "hack/check_structure.py")


BODY = "int f() {\n    return 1;\n}\n"
LONG = "// A line.\n" * 130


@pytest.mark.parametrize("files, found", [
    ({"kube/a.cpp": BODY}, ["header kube/a.cpp"]),
    ({"kube/a.cpp": BODY, "kube/a.hpp": "int f();\n", "operator/main.cpp": BODY}, []),
    ({"kube/a.hpp": "namespace api {\nint f();\n}\n"}, ["namespace kube/a.hpp api"]),
    ({"kube/a.hpp": "namespace api {\nclass Pod;\n}\nnamespace kube::detail {\nint f();\n}\n"}, []),
    ({"operator/plan/a.hpp": "namespace kubenodesmith {\nnamespace plan {\nint f();\n}\n}\n"}, []),
    ({"operator/plan/a.hpp": "namespace kubenodesmith {\nnamespace top {\nint f();\n}\n}\n"}, ["namespace operator/plan/a.hpp kubenodesmith::top"]),
    ({"kube/a.hpp": "namespace kube {\nstruct A : B<C> {};\n}\n", "api/b.hpp": "namespace api {\nnamespace {\nenum class A { b };\n}\n}\n"},
     ["type A api/b.hpp kube/a.hpp"]),
    ({"kube/a.hpp": "namespace kube {\nstruct A {};\nclass A;\n}\n", "api/b.hpp": "namespace api {\nstruct B {\n    struct A {};\n};\n}\n"}, []),
    ({"api/a.hpp": "int f();\n", "kube/b.hpp": '#include "api/a.hpp"\n'}, ["module api/a kube/b"]),
    ({"api/a.hpp": LONG, "kube/b.hpp": '#include "api/a.hpp"\n'}, []),
    ({"api/a.hpp": "int f();\n", "api/b.hpp": '#include "api/a.hpp"\n', "api/c.hpp": '#include "api/a.hpp"\n'}, []),
    ({"api/a.hpp": "int f(int a, B<C, D> b, int c, int d, int e, const F& g, int h);\n"}, ["parameters api/a.hpp f"]),
    ({"api/a.hpp": "int f(int a, B<C, D> b, int c, int d, int e, const F& g);\nint x = f(a, b, c, d, e, g, h);\n"}, []),
])
def test_what_is_not_where_its_name_says_is_found(checks, files, found):
    import check_structure
    assert check_structure.faults(files) == found


def test_the_exceptions_of_the_structure_may_only_shrink(checks, capsys):
    import check_structure
    assert check_structure.report(["header a.cpp"], ["header a.cpp"])
    assert not check_structure.report(["header a.cpp", "header b.cpp"], ["header a.cpp"])
    assert "header b.cpp: see the rules" in capsys.readouterr().out
    assert not check_structure.report([], ["header a.cpp"])
    assert "header a.cpp: is mended, so remove it" in capsys.readouterr().out


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
def test_a_statement_without_a_test_is_found(checks, text, fault):
    import check_claims
    found = list(check_claims.faults("page.md", text))
    assert (not found) if fault is None else (len(found) == 1 and fault in found[0]), found


def test_comments_are_sentences():
    run(sys.executable, ROOT / "hack/check_comments.py")


@pytest.mark.parametrize("first, good, is_found", [
    ("// What is tested here.", 19, True),
    ("    // Of two words, with\n    // a second line.", 19, True),
    ("// What is tested here.", 20, False),
    ("// Returns what is tested.", 19, False),
    ("int a;  // of the table", 19, False),
    ("//\n// Whose first line is empty.", 19, False),
])
def test_too_many_comments_that_begin_as_a_fragment_are_found(checks, tmp_path, capsys, first, good, is_found):
    import check_comments
    (tmp_path / "kube").mkdir()
    (tmp_path / "test").mkdir()
    (tmp_path / "test/other.cpp").write_text("// Of another area.\n" * 2)
    (tmp_path / "kube/good.hpp").write_text("// Returns the number.\nint f();\n" * good)
    (tmp_path / "kube/bad.cpp").write_text(f"#include <a>\n\n{first}\nint b;\n")
    assert check_comments.report(tmp_path) == (not is_found)
    output = capsys.readouterr().out
    assert ("kube/bad.cpp:3: begins as a fragment" in output) == is_found
    assert "other.cpp" not in output


@pytest.mark.parametrize("subject, fault", [
    ("kube: Keep the Lease", None),
    ("kube: Need a Lease", None),
    ("proxmox, e2e tests: Bring machines back; need no second look", None),
    ("kube: Keep " + "a" * 61, None),
    ("kube: Keep " + "a" * 62, "has 73 characters"),
    ("kube: Keep the Lease.", "ends with a period"),
    ("Keep the Lease", 'is not "area: Imperative"'),
    ("Kube: Keep the Lease", 'is not "area: Imperative"'),
    ("kube: keep the Lease", 'begins "keep" in lower case'),
    ("kube: Added a Lease", 'begins "Added", which is no verb in the imperative'),
    ("kube: Adds a Lease", 'begins "Adds", which is no verb in the imperative'),
    ("kube: Adding a Lease", 'begins "Adding", which is no verb in the imperative'),
    ("kube: What a Lease holds", 'begins "What", which is no verb in the imperative'),
])
def test_a_wrong_subject_of_a_commit_is_found(checks, subject, fault):
    import check_subjects
    found = list(check_subjects.faults(subject))
    assert (not found) if fault is None else (len(found) == 1 and fault in found[0]), found


AFTER_THE_RULE, BEFORE_THE_RULE = "2026-12-01T00:00:00Z", "2026-11-01T00:00:00Z"


def test_the_subjects_of_new_commits_are_checked_and_those_of_merges_and_old_ones_are_not(checks, tmp_path, monkeypatch):
    import check_subjects
    monkeypatch.chdir(tmp_path)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")
    monkeypatch.setattr(check_subjects, "LAST", 2)

    def git(*arguments, time=AFTER_THE_RULE):
        monkeypatch.setenv("GIT_AUTHOR_DATE", time)
        run("git", "-c", "commit.gpgsign=false", *arguments)

    def commit(subject, time=AFTER_THE_RULE):
        git("commit", "-q", "--allow-empty", "-m", subject, time=time)

    def checked(*selection):
        return [subject for _, subject in check_subjects.commits(selection or check_subjects.default_range())]

    git("init", "-q", "-b", "main")
    commit("kube: Add the first commit")
    commit("An old subject.", time=BEFORE_THE_RULE)
    git("checkout", "-q", "-b", "side")
    commit("kube: Watch")
    git("checkout", "-q", "main")
    git("merge", "-q", "--no-ff", "-m", "Merge branch 'side'", "side")
    assert checked() == ["kube: Watch"], "of the last two one is old; merges do not count"
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert checked() == [], "a whole clone is checked from origin/main on"
    commit("Wrong")
    assert checked() == ["Wrong"]
    assert checked("HEAD^..HEAD") == ["Wrong"] and checked("HEAD~2..HEAD~1") == ["kube: Watch"]

    argv = [sys.executable, ROOT / "hack/check_subjects.py"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and '"Wrong" is not' in done.stdout
    assert subprocess.run([*argv, "HEAD~2..HEAD~1"], capture_output=True, check=False).returncode == 0
    assert subprocess.run([*argv, "nothing..HEAD"], capture_output=True, check=False).returncode == 2


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
