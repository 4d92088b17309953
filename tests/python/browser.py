"""Drives a headless Chromium through its DevTools protocol, over a pair of pipes: opens a page, clicks, reads, takes pictures."""
import base64
import json
import os
import select
import shutil
import subprocess
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """A browser with one page. `messages`: what its console said; `requests`: the addresses it asked for."""

    def __init__(self, folder):
        self._to_read, self._to = os.pipe()
        self._from, self._from_write = os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                   "--remote-debugging-pipe", f"--user-data-dir={folder}/profile", "about:blank"]
        line = " ".join(f"'{o}'" for o in [CHROMIUM, *options])
        self._process = subprocess.Popen(["/bin/bash", "-c", f"exec {line} 3<&{self._to_read} 4>&{self._from_write}"],
                                         pass_fds=(self._to_read, self._from_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(self._to_read)
        os.close(self._from_write)
        self._number, self._rest, self._session = 0, b"", None
        self.messages, self.requests, self._loaded = [], [], False
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def _read(self, until):
        while b"\0" not in self._rest:
            if not select.select([self._from], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self._from, 1 << 20)
            if not more:
                raise EOFError("the browser ended")
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        name, values = event.get("method"), event.get("params", {})
        if name == "Runtime.consoleAPICalled":
            self.messages.append(str(values["args"]))
        elif name == "Runtime.exceptionThrown":
            self.messages.append(values["exceptionDetails"]["text"] + str(values["exceptionDetails"].get("exception", "")))
        elif name == "Log.entryAdded":
            self.messages.append(values["entry"]["text"])
        elif name == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif name == "Page.loadEventFired":
            self._loaded = True

    def send(self, method, **values):
        self._number += 1
        message = {"id": self._number, "method": method, "params": values}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + 60
        while True:
            answer = self._read(until)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def show(self, path, width=1280, height=900, dark=False):
        """Opens a file in a window of that size."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self._loaded = False
        self.send("Page.navigate", url=f"file://{path}")
        while not self._loaded:
            self._note(self._read(time.monotonic() + 60))

    def ask(self, expression):
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def place(self, selector):
        """The middle of an element in the window, after scrolling to it."""
        return self.ask(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}}); "
                        "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")

    def mouse(self, kind, x, y):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def click(self, selector):
        x, y = self.place(selector)
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)

    def picture(self, path, full=False):
        taken = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        with open(path, "wb") as file:
            file.write(base64.b64decode(taken["data"]))

    def close(self):
        try:
            self.send("Browser.close")
            self._process.wait(10)
        except (OSError, EOFError, TimeoutError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
