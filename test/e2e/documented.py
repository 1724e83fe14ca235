"""Runs the commands in the documentation. The comment before a block says how they are tested:

<!-- run: GROUP [exit=0,1] [background] -->  the end-to-end test of that group executes them and goes on meanwhile
<!-- save: GROUP NAME -->       the reader writes the block into a file of that name
<!-- run by: FILE, ... -->      executed in CI by that file of this repository
<!-- not run: REASON -->
"""

import os
import re
import signal
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHELLS = ("", "sh", "console", "bash")
FENCE = re.compile(r"(?:<!-- (run|run by|not run|save): (.+?) -->\n+)?```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass
class Block:
    page: str
    line: int
    how: str  # run, run by, not run, save; empty: no comment
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
            if language in SHELLS or how == "save":
                line = text[:found.start(4)].count("\n") + 1
                yield Block(page.relative_to(ROOT).as_posix(), line, how or "", what or "", commands)


def workspace(folder):
    """Makes a folder that looks like a clone of this repository, in which commands may leave files."""
    folder.mkdir(parents=True)
    for entry in ROOT.iterdir():
        (folder / entry.name).symlink_to(entry)
    return folder


def run(group, folder, programs, kubeconfig, **words):
    found = [block for block in blocks() if block.how == "run" and block.group == group]
    assert found, group
    for block in found:
        execute(block, folder, programs, kubeconfig, **words)


def environment_of(folder, programs, kubeconfig):
    path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "KUBECONFIG": str(kubeconfig), "HELM_CACHE_HOME": str(folder / "helm-cache")}


@contextmanager
def followed(group, folder, programs, kubeconfig, site):
    """Follows a page from its first step to its last, in order. `site` has the reader's values for those of the page.
    Commands in the background end with this function."""
    environment = environment_of(folder, programs, kubeconfig)
    beside = []
    try:
        for block in (b for b in blocks() if b.how in ("run", "save") and b.group == group):
            for shown, own in site.items():
                block.text = block.text.replace(shown, own)
            if block.how == "save":
                (folder / block.what.split()[1]).write_text(block.text)
            elif "background" in block.what.split():
                with open(folder / f"{group}.log", "ab") as log:
                    beside.append(subprocess.Popen(["bash", "-euo", "pipefail", "-c", block.text], cwd=folder, env=environment,
                                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))
            else:
                print(f"$ {block.text}{execute(block, folder, programs, kubeconfig)}")
        yield
    finally:
        for process in beside:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


def execute(block, folder, programs, kubeconfig, **words):
    """Runs the commands, with words such as NAME replaced by their values."""
    text = block.text
    for word, meaning in words.items():
        text = re.sub(rf"\b{word}\b", meaning, text)
    environment = environment_of(folder, programs, kubeconfig)
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in block.exits, f"{block}\n{text}\nended with {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout
