"""YAML and shell scripts are well written, and C++ keeps to what only our own lints see. What the YAML means, the API server
says (test/e2e/test_install.py)."""

import sys

from conftest import ROOT, optional_tool, run


def test_yaml_is_well_written():
    # Relative, as the paths that the configuration leaves out are.
    run(sys.executable, "-m", "yamllint", "--strict", "charts", "config", "crds", "samples", "test", ".github", cwd=ROOT)


def test_shell_scripts_have_no_findings():
    shellcheck = optional_tool("shellcheck")
    scripts = [file for folder in ("hack", "test", "bench", "charts", "samples") for file in (ROOT / folder).rglob("*.sh")]
    assert scripts
    run(shellcheck, "-x", *scripts, ROOT / ".ci/run", cwd=ROOT)


def test_includes_point_down():
    run(sys.executable, ROOT / "hack/check_layers.py")


def test_no_co_await_is_doubtful():
    folders = ("api", "base", "bench", "bootstrap", "controllers", "kube", "migrate", "operator", "providers", "report", "scheduling", "test")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.[ch]pp")]
    assert files
    run(sys.executable, ROOT / "hack/check_coroutines.py", *files)
