"""Tests that shells complete commands and flags with the scripts that the program prints."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT

BIN = Path(os.environ.get("KUBENODESMITH_BIN") or ROOT / "build/release/bin")
# Each script loads the completion and prints what the shell would offer for the words in "$@", each with its description.
SHELLS = {
    "bash": """source <(kubenodesmith completion bash)
        COMP_WORDS=(kubenodesmith "$@"); COMP_CWORD=$#; _kubenodesmith; printf '%s\\n' "${COMPREPLY[@]}" """,
    # These functions of zsh need its line editor, so the test has its own.
    "zsh": """compdef() { :; }; _files() { print files; }; _describe() { print -l -- "${(@P)2}"; }
        source <(kubenodesmith completion zsh)
        words=(kubenodesmith "$@"); CURRENT=$#words; _kubenodesmith""",
    "fish": """kubenodesmith completion fish | source
        complete -C "kubenodesmith $argv" """,
}


def offered(shell, *words):
    options = {"bash": ["--norc", "-c", SHELLS[shell], "bash"], "zsh": ["-f", "-c", SHELLS[shell], "zsh"], "fish": ["--no-config", "-c", SHELLS[shell]]}
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run([shell, *options[shell], *words], env=environment, capture_output=True, text=True, check=True)
    return [re.split("[:\t]", line)[0] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_commands_and_flags(shell):
    assert offered(shell, "stat") == ["status"]
    assert offered(shell, "plan", "--req") == ["--request-timeout"]
    assert {"status", "plan", "explain", "setup"} <= set(offered(shell, ""))
    assert offered(shell, "completion", "f") == ["fish"]
