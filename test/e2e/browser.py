"""Controls headless Chromium over its debugging pipe: messages of JSON that end in a zero byte, on file descriptors 3 and 4.
https://chromedevtools.github.io/devtools-protocol/"""

import base64
import itertools
import json
import os
import shutil
import subprocess
import time

PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")


def find():
    """Returns the path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """One page. It does not verify certificates, because the operator's own is self-signed."""

    def __init__(self, program, folder):
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()

        def pipes():  # runs in the child: it reads from 3 and writes to 4, whatever the pipes' numbers are
            read, write = os.dup(to_read), os.dup(to_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        with open(folder / "browser.log", "wb") as log:
            self._process = subprocess.Popen(
                [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={folder}/profile",
                 "--hide-scrollbars", "about:blank"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, close_fds=False, preexec_fn=pipes)  # noqa: PLW1509
        os.close(to_read)
        os.close(to_write)
        self._ids = itertools.count(1)
        self._buffer = b""
        self._session = None
        self.messages = []  # messages that the browser sent by itself
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        self.call("Security.setIgnoreCertificateErrors", ignore=True)

    def _receive(self):
        while b"\0" not in self._buffer:
            more = os.read(self._read, 1 << 16)
            if not more:
                raise RuntimeError("the browser has ended")
            self._buffer += more
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        number = next(self._ids)
        request = {"id": number, "method": method, "params": parameters, **({"sessionId": self._session} if self._session else {})}
        os.write(self._write, json.dumps(request).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") != number:
                self.messages.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]

    def open(self, url, width=1180, height=900, scheme="light", **headers):
        """Returns when the page is loaded. `scheme` is the user's preference: light or dark."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Network.setExtraHTTPHeaders", headers=headers)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.messages.clear()
        failure = self.call("Page.navigate", url=url).get("errorText")
        if failure:
            raise RuntimeError(f"{url}: {failure}")
        while not any(m.get("method") == "Page.loadEventFired" for m in self.messages):
            self.messages.append(self._receive())

    def evaluate(self, expression):
        """Returns the value of the expression, or what its promise gives."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, expression):
        """Returns when the expression is true."""
        end = time.monotonic() + 60
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise RuntimeError(f"never true: {expression}")
            time.sleep(.05)

    def complaints(self):
        """Returns the console's complaints: failed loads, violations of the page's own policy, errors of its script."""
        return [m["params"]["entry"]["text"] for m in self.messages if m.get("method") == "Log.entryAdded"] + [
            str(m["params"]["exceptionDetails"]) for m in self.messages if m.get("method") == "Runtime.exceptionThrown"]

    def screenshot(self, scale=0.75, height=None):
        """Returns a PNG of the whole page, or of its upper part."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        size["height"] = min(size["height"], height or size["height"])
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip={**size, "scale": scale})
        return base64.b64decode(shot["data"])

    def close(self):
        self._process.terminate()
        self._process.wait(20)
        os.close(self._write)
        os.close(self._read)
