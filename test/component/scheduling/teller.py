"""Nominates pods for new nodes, as the operator does."""

import threading
from concurrent.futures import ThreadPoolExecutor

MOST_TELLINGS = 8  # for one pod while its node is closed, and again once it is open
THREADS = 4


class Teller:
    """Nominates pods again. The scheduler removes a nomination at each failed attempt, so a pod is nominated a few times."""

    def __init__(self, api, pods):
        self.api = api
        self.pods = pods
        self.lock = threading.Lock()
        self.threads = ThreadPoolExecutor(THREADS)
        self.wishes = {}
        self.errors = []
        pods.listeners.append(self._seen)

    def begin(self, wishes):
        """Begins with `wishes`: each pod's name with its path and the node that was launched for it."""
        with self.lock:
            self.wishes = {name: {"path": path, "node": node, "times": 0} for name, (path, node) in wishes.items()}
        self._tell_all(wishes)

    def opened(self, node):
        with self.lock:
            names = [name for name, wish in self.wishes.items() if wish["node"] == node]
            for name in names:
                self.wishes[name]["times"] = 0
        self._tell_all(names)

    def end(self):
        with self.lock:
            self.wishes = {}
        assert not self.errors, self.errors

    def _tell_all(self, names):
        list(self.threads.map(self._tell, names))

    def _seen(self, name):
        if name in self.wishes:
            self.threads.submit(self._tell, name)

    def _tell(self, name):
        pod = self.pods.known.get(name, {})
        if pod.get("spec", {}).get("nodeName") or pod.get("status", {}).get("nominatedNodeName") or not self.pods.refusal(name):
            return
        with self.lock:
            wish = self.wishes.get(name)
            if not wish or wish["times"] == MOST_TELLINGS:
                return
            wish["times"] += 1
        version = pod["metadata"]["resourceVersion"]  # a newer version causes another event
        try:
            self.api.merge(wish["path"] + "/status", {"metadata": {"resourceVersion": version}, "status": {"nominatedNodeName": wish["node"]}})
        except RuntimeError as error:
            with self.lock:
                wish["times"] -= 1
            if not any(reason in str(error) for reason in ("already bound", "not found", "has been modified", "Precondition")):
                self.errors.append(str(error))
