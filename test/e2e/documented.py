"""The commands that the documentation shows. The comment before a block says how they are tried:

<!-- run: GROUP [exit=0,1] -->  executed by the end-to-end test of that group
<!-- run by: FILE, ... -->      executed in CI by that file of this repository
<!-- not run: REASON -->
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SHELLS = ("", "sh", "console", "bash")
FENCE = re.compile(r"(?:<!-- (run|run by|not run): (.+?) -->\n+)?```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass
class Block:
    page: str
    line: int
    how: str  # run, run by, not run; empty: nobody said
    what: str
    text: str

    @property
    def group(self):
        return self.what.split()[0]

    @property
    def exits(self):
        found = re.search(r"exit=([\d,]+)", self.what)
        return {int(code) for code in found[1].split(",")} if found else {0}

    def __str__(self):
        return f"{self.page}:{self.line}"


def blocks():
    for page in PAGES:
        text = page.read_text()
        for found in FENCE.finditer(text):
            how, what, language, commands = found.groups()
            if language in SHELLS:
                line = text[:found.start(4)].count("\n") + 1
                yield Block(page.relative_to(ROOT).as_posix(), line, how or "", what or "", commands)


def workspace(folder):
    """A folder that looks like a clone of this repository, in which commands may leave files."""
    folder.mkdir(parents=True)
    for entry in ROOT.iterdir():
        (folder / entry.name).symlink_to(entry)
    return folder


def run(group, folder, programs, kubeconfig, **words):
    found = [block for block in blocks() if block.how == "run" and block.group == group]
    assert found, group
    for block in found:
        execute(block, folder, programs, kubeconfig, **words)


def execute(block, folder, programs, kubeconfig, **words):
    """Runs the commands as they stand, with words such as NAME replaced by what they stand for."""
    text = block.text
    for word, meaning in words.items():
        text = re.sub(rf"\b{word}\b", meaning, text)
    path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "KUBECONFIG": str(kubeconfig), "HELM_CACHE_HOME": str(folder / "helm-cache")}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in block.exits, f"{block}\n{text}\nended with {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout
