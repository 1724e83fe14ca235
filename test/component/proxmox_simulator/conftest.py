"""Fixtures, and the exit code that tells ctest "skipped" when nothing could run."""

import os
from pathlib import Path

import pytest

SKIPPED = 77


@pytest.fixture(scope="session")
def reference():
    """The folder with what real Proxmox VE answered and with its own API definition; not part of this repository."""
    folder = os.environ.get("KUBENODESMITH_REFERENCE", "")
    if not folder:
        pytest.skip("KUBENODESMITH_REFERENCE is not set: there is nothing to compare the simulator with")
    return Path(folder)


def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    ran = sum(len(reporter.stats.get(outcome, [])) for outcome in ("passed", "failed", "error"))
    if exitstatus == 0 and not ran and reporter.stats.get("skipped"):
        session.exitstatus = SKIPPED
