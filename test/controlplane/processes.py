"""Starts server processes, remembers them in a file and ends exactly those."""

import ctypes
import json
import os
import signal
import subprocess
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1
GRACE_SECONDS = 1.0  # all state is thrown away, so a longer wait has no use


def start_time(pid: int):
    """Returns when the process started, in clock ticks since boot; None if there is no such process.

    A zombie counts as no process once all its threads have ended. Until then they hold its ports and files."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, threads, started = fields[0], int(fields[17]), int(fields[19])
    return None if state in "ZX" and threads <= 1 else started


def _die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Processes:
    """Holds the processes recorded in one state folder. The pid and the start time together identify a process, because a
    pid alone may be reused."""

    def __init__(self, folder: Path):
        self.record = folder / "processes.json"
        self.logs = folder / "logs"
        self.children = {}

    def recorded(self):
        return json.loads(self.record.read_text()) if self.record.exists() else []

    def alive(self):
        return [p for p in self.recorded() if start_time(p["pid"]) == p["started"]]

    def start(self, name: str, argv, die_with_parent: bool, env=None):
        """Starts argv with its output in logs/NAME.log. With die_with_parent the kernel kills it when this process ends."""
        argv = [str(argument) for argument in argv]
        # Go programs that collect garbage less often use more memory and a tenth less time.
        env = {"GOGC": "400", **(os.environ if env is None else env)}
        self.logs.mkdir(parents=True, exist_ok=True)
        with open(self.logs / f"{name}.log", "ab") as log:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=env,
                                     start_new_session=True, preexec_fn=_die_with_parent if die_with_parent else None)
        self.children[child.pid] = child
        entry = {"name": name, "pid": child.pid, "started": start_time(child.pid), "argv": argv, "bound": die_with_parent}
        self._remember([e for e in self.recorded() if e["name"] != name] + [entry])

    def _remember(self, entries):
        draft = self.record.with_suffix(".tmp")
        draft.write_text(json.dumps(entries, indent=1))
        draft.replace(self.record)

    def check(self):
        """Raises RuntimeError with the end of its log if a recorded process has ended."""
        living = {p["pid"] for p in self.alive()}
        for entry in self.recorded():
            if entry["pid"] not in living:
                tail = (self.logs / f"{entry['name']}.log").read_text(errors="replace").splitlines()[-15:]
                raise RuntimeError("\n".join([f"{entry['name']} ended:", *tail]))

    def stop(self):
        """Ends the recorded processes, the last started first, and forgets them."""
        for entry in reversed(self.alive()):
            os.kill(entry["pid"], signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        while self._reap() and time.monotonic() < deadline:
            time.sleep(0.02)
        for entry in self._reap():
            os.kill(entry["pid"], signal.SIGKILL)
        while self._reap():
            time.sleep(0.02)
        self.record.unlink(missing_ok=True)

    def kill(self, name: str):
        """Sends SIGKILL to one process, which stays in the record."""
        for entry in self.alive():
            if entry["name"] == name:
                os.kill(entry["pid"], signal.SIGKILL)
        while any(entry["name"] == name for entry in self._reap()):
            time.sleep(0.02)

    def revive(self, name: str):
        """Restarts a recorded process with its former command line. Raises KeyError if there is no process of that name."""
        entries = {entry["name"]: entry for entry in self.recorded()}
        self.start(name, entries[name]["argv"], entries[name]["bound"])

    def _reap(self):
        for child in self.children.values():
            child.poll()
        return self.alive()
