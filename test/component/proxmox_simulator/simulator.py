"""Runs proxmox-simulator for a test."""

import json
import os
import subprocess
import time
import urllib.request
from pathlib import Path


class Simulator:
    """A running simulator, which ends with the `with` block."""

    def __init__(self, folder: Path, world: dict | None = None, *arguments):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        argv = [Path(os.environ["KUBENODESMITH_BIN"]) / "proxmox-simulator", "--state", folder / "state", "--ready-file",
                folder / "ready.json", "--request-log", folder / "requests.jsonl", *arguments]
        if world is not None:
            (folder / "world.json").write_text(json.dumps(world))
            argv += ["--world", folder / "world.json"]
        with open(folder / "simulator.log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(argv, stdout=log, stderr=log)
        self.ready = self._wait_until_ready()
        self.port = int(self.ready["url"].rsplit(":", 1)[1])

    def _wait_until_ready(self):
        deadline = time.monotonic() + 120
        ready = self.folder / "ready.json"
        while time.monotonic() < deadline:
            # The file may be incomplete at first.
            if ready.exists() and (text := ready.read_text()).endswith("\n"):
                return json.loads(text)
            assert self.process.poll() is None, (self.folder / "simulator.log").read_text()
            time.sleep(0.02)
        raise TimeoutError("the simulator did not start")

    def control(self, verb, target, **body):
        """Makes one call of the control interface (control.hpp)."""
        request = urllib.request.Request(self.ready["control"] + target, method=verb,
                                         data=json.dumps(body).encode() if verb != "GET" else None)
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)

    def requests(self):
        """Returns the request log so far."""
        return [json.loads(line) for line in (self.folder / "requests.jsonl").read_text().splitlines()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)
