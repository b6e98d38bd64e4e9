"""A headless Chromium that opens pages and is clicked, typed at and asked; over a pipe, so that it
needs no package.
"""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 60


def executable():
    """The path of a browser; None if there is none."""
    if os.name == "nt":  # which hands no files on by their numbers
        return None
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page in a browser."""

    def __init__(self, width=1400, height=900):
        self._folder = tempfile.mkdtemp(prefix="browser")
        there, self._out = os.pipe()
        self._in, back = os.pipe()

        def connect():  # the browser reads file 3 and writes file 4
            for source, target in ((os.dup(there), 3), (os.dup(back), 4)):
                os.dup2(source, target)

        self._process = subprocess.Popen(
            [
                executable(),
                *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
                *("--no-first-run", "--disable-background-networking", "--hide-scrollbars"),
                *("--remote-debugging-pipe", f"--user-data-dir={self._folder}"),
                f"--window-size={width},{height}",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=connect,
            close_fds=False,
        )
        os.close(there)
        os.close(back)
        self._buffer, self._number, self._session = b"", 0, None
        #: what the page complained about: uncaught errors, messages, requests
        self.errors, self.requests = [], []
        targets = self._ask("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        attached = self._ask("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")
        self.resize(width, height)

    def close(self):
        """End the browser."""
        try:
            self._session = None
            self._ask("Browser.close")
        except (OSError, EOFError):
            pass
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self._folder, ignore_errors=True)

    # -- the protocol ------------------------------------------------------------------------------

    def _ask(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        number = self._number
        while True:
            answer = self._read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _read(self):
        while b"\0" not in self._buffer:
            data = os.read(self._in, 1 << 20)
            if not data:
                raise EOFError("the browser has gone")
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def _note(self, event):
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif event.get("method") == "Log.entryAdded":
            self.errors.append(parameters["entry"]["text"])
        elif event.get("method") == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    # -- what a person does ------------------------------------------------------------------------

    def open(self, path):
        """Open a file of ours and wait until it is drawn."""
        self.visit(Path(path).as_uri(), "document.body && document.body.dataset.ready")

    def visit(self, url, ready="document.readyState == 'complete'"):
        """Open an address and wait until it is there."""
        self.errors.clear()
        self.requests.clear()
        self._ask("Page.navigate", url=url)
        self.wait(f"location.href == {json.dumps(url)} && {ready}")

    def resize(self, width, height=900):
        """Make the window another size."""
        size = dict(width=width, height=height, deviceScaleFactor=1, mobile=False)
        self._ask("Emulation.setDeviceMetricsOverride", **size)

    def ask(self, expression):
        """The value of an expression in the page."""
        found = self._ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"])
        return found["result"].get("value")

    def wait(self, expression, seconds=SECONDS):
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.ask(expression)
            if value or value == {}:  # an element
                return value
            time.sleep(0.02)
        raise AssertionError(f"not true after {seconds} s: {expression}; {self.errors}")

    def place(self, selector, text=None):
        """The middle of the first element that a selector finds, and that holds a text."""
        found = self.ask(
            f"""(async () => {{
              for (let k = 0; k < 2; k += 1) await new Promise(requestAnimationFrame);
              const wanted = {json.dumps(text)};
              for (const each of document.querySelectorAll({json.dumps(selector)})) {{
                if (wanted !== null && !each.textContent.includes(wanted)) continue;
                const box = each.getBoundingClientRect();
                return [box.left + box.width / 2, box.top + box.height / 2];
              }}
              return null;
            }})()"""
        )
        assert found, f"nothing on the page is {selector} with {text!r}"
        return found

    def click(self, selector, text=None, count=1):
        """Click on an element with the mouse."""
        x, y = self.place(selector, text)
        self._mouse("mouseMoved", x, y)
        for k in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self._mouse(kind, x, y, button="left", clickCount=k)

    def drag(self, start, end, steps=10):
        """Drag the mouse."""
        self._mouse("mouseMoved", *start)
        self._mouse("mousePressed", *start, button="left", clickCount=1)
        for k in range(1, steps + 1):
            x, y = (a + (b - a) * k / steps for a, b in zip(start, end))
            self._mouse("mouseMoved", x, y, button="left", buttons=1)
        self._mouse("mouseReleased", *end, button="left", clickCount=1)

    def wheel(self, x, y, delta):
        """Turn the wheel."""
        self._mouse("mouseWheel", x, y, deltaX=0, deltaY=delta)

    def _mouse(self, kind, x, y, **more):
        self._ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def press(self, key):
        """Press a key, as in "g" or "Enter"."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37}
        code |= {"ArrowRight": 39}
        more = {"windowsVirtualKeyCode": code[key]} if key in code else {}
        down = "keyDown" if text else "rawKeyDown"
        self._ask("Input.dispatchKeyEvent", type=down, key=key, text=text, **more)
        self._ask("Input.dispatchKeyEvent", type="keyUp", key=key, **more)

    def type(self, text):
        """Type a text."""
        self._ask("Input.insertText", text=text)

    def text(self, selector):
        """What stands in an element."""
        return self.ask(f"document.querySelector({json.dumps(selector)}).textContent")

    def picture(self, path):
        """Write a screenshot."""
        found = self._ask("Page.captureScreenshot", format="png")
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def is_dark(self, on):
        """Let the page believe that the person likes it dark."""
        value = "dark" if on else "light"
        self._ask(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": value}],
        )
