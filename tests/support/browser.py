# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven through chromedriver's HTTP protocol (W3C WebDriver) with the standard library alone."""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from checks import patient

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         "--hide-scrollbars"]
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "Shift": "\ue008", "Control": "\ue009", "ArrowLeft": "\ue012",
        "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}

# Relative luminance and contrast as WCAG 2 defines them.
COLOURS = """
const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
const luminance = (c) => c.slice(0, 3).map((v) => v / 255)
  .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (e) => {
  for (; e; e = e.parentElement) {
    const c = numbers(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0.99)
      return c;
  }
  return [255, 255, 255];
};
const ratioOf = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
let worst = [99, ''];
"""
# Of all elements with text of their own.
CONTRAST = COLOURS + """
for (const e of document.querySelectorAll('body *')) {
  if (!e.getClientRects().length || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
    continue;
  const ratio = ratioOf(luminance(numbers(getComputedStyle(e).color)), luminance(ground(e)));
  if (ratio < worst[0])
    worst = [ratio, e.innerText.slice(0, 30)];
}
return worst;
"""


# Of all shapes of drawings that are seen: the larger of what area and outline have to the ground below the drawing, where a colour
# that lets the ground through is mixed with it; and of the samples of colours in front of their names. Lines of grids are left out.
SHAPES = COLOURS + """
const mixed = (colour, share, below) => {
  const c = numbers(colour), part = (c.length < 4 ? 1 : c[3]) * share;
  return c.slice(0, 3).map((v, i) => part * v + (1 - part) * below[i]);
};
let seen = 0;
for (const e of document.querySelectorAll('svg rect, svg line, svg path, svg polygon, svg polyline, svg circle, .key')) {
  const isKey = e.classList.contains('key'), style = getComputedStyle(e, isKey ? '::before' : null), below = ground(e);
  const paints = isKey ? [[style.backgroundColor, 1]] : [[style.stroke, style.strokeOpacity]];
  if (!isKey && e.tagName !== 'line')
    paints.push([style.fill, style.fillOpacity]);
  const drawn = paints.filter(([colour, share]) => colour !== 'none' && share * (numbers(colour)[3] ?? 1) > 0);
  if (!e.getClientRects().length || !drawn.length || e.classList.contains('grid'))
    continue;
  const ratio = Math.max(...drawn.map(([colour, share]) => ratioOf(luminance(mixed(colour, Number(share), below)), luminance(below))));
  seen++;
  if (ratio < worst[0])
    worst = [ratio, `${e.tagName} ${e.getAttribute('class') ?? ''} of ${e.parentElement.getAttribute('class') ?? e.parentElement.tagName}`];
}
return [...worst, seen];
"""


def missing():
    """What is not installed, or None."""
    names = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    return " and ".join(names) + " not found" if names else None


class Browser:
    """with Browser() as b: b.open(path); b.run("return document.title")"""

    def __init__(self, width=1280, height=800, dark=False, still=False):
        """still: views jump instead of gliding, as users can ask for."""
        self.motion = 60 if still else 450  # milliseconds until a view rests
        self.profile = tempfile.TemporaryDirectory(prefix="odlc-chromium-", ignore_cleanup_errors=True)
        self.driver = subprocess.Popen([shutil.which("chromedriver"), "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
        self.session = None
        try:
            self.base = f"http://127.0.0.1:{self._port()}"
            args = FLAGS + [f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}"]
            if still:
                args.append("--force-prefers-reduced-motion")
            if dark:
                args.append("--blink-settings=preferredColorScheme=0")
            options = {"binary": shutil.which("chromium"), "args": args}
            wanted = {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options,
                                      "goog:loggingPrefs": {"browser": "ALL"}}}
            self.session = self._send("POST", "/session", {"capabilities": wanted})["sessionId"]
        except BaseException:
            self.close()
            raise

    def _port(self):
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                return int(found.group(1))
        raise RuntimeError("chromedriver did not start")

    def _send(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=patient(100)) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def _do(self, method, path, body=None):
        return self._send(method, f"/session/{self.session}{path}", body)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            if self.session:
                self._do("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(patient(10))
            self.driver.stdout.close()
            self.profile.cleanup()

    def go(self, address):
        self._do("POST", "/url", {"url": address})

    def open(self, path, fragment=""):
        self.go(path.resolve().as_uri() + fragment)

    def find(self, selector):
        """The id of an element."""
        return next(iter(self._do("POST", "/element", {"using": "css selector", "value": selector}).values()))

    def give_files(self, element, paths):
        self._do("POST", f"/element/{element}/value", {"text": "\n".join(str(path) for path in paths)})

    def downloads_to(self, folder):
        self._do("POST", "/goog/cdp/execute",
                 {"cmd": "Browser.setDownloadBehavior", "params": {"behavior": "allow", "downloadPath": str(folder)}})

    def resize(self, width, height):
        self._do("POST", "/window/rect", {"width": width, "height": height})

    def run(self, script, *args):
        return self._do("POST", "/execute/sync", {"script": script, "args": list(args)})

    def run_async(self, script, *args):
        """What the script gives to its last argument, a function."""
        self._do("POST", "/timeouts", {"script": patient(60000)})
        return self._do("POST", "/execute/async", {"script": script, "args": list(args)})

    def wait_for(self, script, seconds=30):
        """The first value of a script that is not empty, or None."""
        end = time.monotonic() + patient(seconds)
        while time.monotonic() < end:
            value = self.run(script)
            if value:
                return value
            time.sleep(0.05)
        return None

    def settle(self):
        """Waits until motion of the view has ended."""
        self.run_async("setTimeout(arguments[1], arguments[0])", self.motion)

    def press(self, *keys):
        """Keys by name or character; "Shift+Tab" holds the first while the second is pressed."""
        actions = []
        for key in keys:
            parts = [KEYS.get(part, part) for part in (key.split("+") if len(key) > 1 else [key])]
            actions += [{"type": "keyDown", "value": part} for part in parts]
            actions += [{"type": "keyUp", "value": part} for part in reversed(parts)]
        self._do("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def type(self, words):
        self.press(*words)

    def click(self, x, y):
        actions = [{"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pointerDown", "button": 0},
                   {"type": "pointerUp", "button": 0}]
        self._do("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def least_contrast(self):
        """Of a text that is seen, and its first letters."""
        return self.run(CONTRAST)

    def least_shape_contrast(self):
        """Of a shape that is drawn, what it is, and how many shapes there are."""
        return self.run(SHAPES)

    def log(self):
        """Messages of the console since the last call."""
        return [f"{entry['level']}: {entry['message']}" for entry in self._do("POST", "/se/log", {"type": "browser"})]

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self._do("GET", "/screenshot")))
