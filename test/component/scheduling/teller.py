"""Tells the scheduler which pods new nodes are for, as the operator does."""

import threading
from concurrent.futures import ThreadPoolExecutor

MOST_TELLINGS = 8  # of one pod, of a node that is not open, and again of one that is
THREADS = 4


class Teller:
    """The scheduler takes a nomination off at each attempt that fails: then the pod is told again, a few times."""

    def __init__(self, api, pods):
        self.api = api
        self.pods = pods
        self.lock = threading.Lock()
        self.threads = ThreadPoolExecutor(THREADS)
        self.wishes = {}
        self.errors = []
        pods.listeners.append(self._seen)

    def begin(self, wishes):
        """wishes: by name of the pod its path and the node that was bought for it."""
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
        version = pod["metadata"]["resourceVersion"]  # of a newer one an event comes
        try:
            self.api.merge(wish["path"] + "/status", {"metadata": {"resourceVersion": version}, "status": {"nominatedNodeName": wish["node"]}})
        except RuntimeError as error:
            with self.lock:
                wish["times"] -= 1
            if not any(reason in str(error) for reason in ("already bound", "not found", "has been modified", "Precondition")):
                self.errors.append(str(error))
