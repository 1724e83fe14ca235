"""Runs the recorded scenarios against the simulator and compares the answers with the real ones."""

import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.parse

import worlds

# The simulator's time and the scenarios' sleeps run this much faster than real time. With a larger factor, a second's delay on
# a busy machine would exceed the recorded differences between time limits.
SPEED = 2
# The recorder reads its port from a name that its own file leaves undefined.
LAUNCHER = f"""
import builtins, os, runpy, sys, time
builtins.PORT = int(os.environ["PORT"])
sleep, clock, start = time.sleep, time.time, time.time()
time.sleep = lambda seconds: sleep(seconds / {SPEED})
time.time = lambda: start + (clock() - start) * {SPEED}
runpy.run_path(sys.argv[1], run_name="__main__")
"""


class Stage:
    """The outside world of a scenario: token files, switches for guests and for hosts, all in one folder."""

    def __init__(self, folder, simulator, hosts=(), token="autoscaler@pve!kube"):
        self.folder, self.simulator = folder, simulator
        (folder / "qga").mkdir(parents=True)
        (folder / "token").write_text(f"PVEAPIToken={token}={worlds.TOKEN_SECRET}")
        (folder / "token.admin").write_text("PVEAPIToken=root2@pve!admin=" + worlds.ADMIN_SECRET)
        (folder / "token.secret").write_text(worlds.TOKEN_SECRET)
        self.hosts = {}
        for number in hosts:
            process = subprocess.Popen(["sleep", "3600"])
            self.hosts[number] = process
            (folder / f"n{number}").mkdir()
            (folder / f"n{number}" / "unshare.pid").write_text(str(process.pid))
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._watch)

    def _watch(self):
        """Watches the folder. A file qga/ID.json silences that guest's agent, and the end of a host's process switches the
        host off."""
        silent, hosts = set(), dict(self.hosts)
        while not self.ended.wait(0.02):
            now = {path.stem for path in (self.folder / "qga").glob("*.json")}
            for vmid in now ^ silent:
                self.simulator.control("POST", f"/machines/{vmid}/guest", agentSilent=vmid in now)
            silent = now
            for number, process in list(hosts.items()):
                if process.poll() is not None:
                    del hosts[number]
                    self.simulator.control("POST", f"/hosts/pve{number}/power-off")

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        for process in self.hosts.values():
            process.kill()
            process.wait()

    def play(self, reference, number):
        """Runs scenario `number` and returns its recording."""
        out = self.folder / f"out{number}.jsonl"
        script = reference / "tools" / "proxmox-scenarios" / f"scen{number}.py"
        environment = os.environ | {"PVER": str(self.folder), "PORT": str(self.simulator.port), "OUT": str(out),
                                    "CLUSTER": str(self.folder)}
        run = subprocess.run([sys.executable, "-c", LAUNCHER, script], env=environment, capture_output=True, text=True,
                             cwd=script.parent, check=False)
        assert run.returncode == 0, run.stderr
        return load(out)


def load(path):
    """Returns the exchanges by (label, number of earlier exchanges with this label)."""
    exchanges, seen = {}, {}
    for line in path.read_text(encoding="utf-8").splitlines():
        exchange = json.loads(line)
        label = exchange["label"]
        exchanges[label, seen.get(label, 0)] = exchange
        seen[label] = seen.get(label, 0) + 1
    return exchanges


def mask(text):
    """Masks numbers, UUIDs, UPIDs and hashes, which differ by nature."""
    text = re.sub(r"UPID:[^\"\s]+", "UPID", str(text))
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "UUID", text)
    return re.sub(r"\d+", "#", re.sub(r"[0-9a-f]{40}", "SHA", text))


def differences(label, real, ours):
    """Returns the differences in status, reason phrase, envelope, error keys, key sets, JSON kinds and task exit status."""
    found = []
    if real["status"] != ours["status"]:
        found.append(f"status {real['status']} != {ours['status']}")
    if mask(real["reason"]) != mask(ours["reason"]):
        found.append(f"reason {real['reason']!r} != {ours['reason']!r}")
    expected, got = real["body"], ours["body"]
    if isinstance(expected, dict) != isinstance(got, dict):
        return found + [f"body {str(expected)[:80]!r} != {str(got)[:80]!r}"]
    if not isinstance(expected, dict):
        return found
    if set(expected) != set(got):
        found.append(f"envelope {sorted(expected)} != {sorted(got)}")
    if set(expected.get("errors") or {}) != set(got.get("errors") or {}):
        found.append(f"errors {expected.get('errors')} != {got.get('errors')}")
    return found + data_differences(label, expected.get("data"), got.get("data"))


def data_differences(label, expected, got):
    if label.endswith("/task") and isinstance(expected, dict) and isinstance(got, dict):
        if mask(expected.get("exitstatus")) != mask(got.get("exitstatus")):
            return [f"exit status {expected.get('exitstatus')!r} != {got.get('exitstatus')!r}"]
        return []
    if isinstance(expected, dict) and isinstance(got, dict):
        return object_differences(expected, got)
    if type(expected) is not type(got):
        return [f"data is a {type(expected).__name__} != {type(got).__name__}"]
    return []


# A load is between 0 and 1. The recordings have 0 (an integer) where nothing was measured yet.
MEASURED = {"cpu"}


def object_differences(expected, got):
    found = []
    missing = sorted(set(expected) - set(got))
    if missing:
        found.append(f"missing keys {missing}")
    wrong = [key for key, value in expected.items()
             if value is not None and got.get(key) is not None and key not in MEASURED
             and type(value) is not type(got[key])]
    return found + ([f"types of {wrong}"] if wrong else [])


def wait_for_task(simulator, admin, upid):
    """Polls a task to its end and returns its exit status."""
    path = f"/nodes/{upid.split(':')[1]}/tasks/{urllib.parse.quote(upid, safe='')}/status"
    while True:
        task = admin(simulator, "GET", path)
        if task["status"] == "stopped":
            return task["exitstatus"]
        time.sleep(0.1)
