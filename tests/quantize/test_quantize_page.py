# SPDX-License-Identifier: Apache-2.0
"""dlc-quantize --report FILE.html: what a headless Chromium shows of the page, light and dark, against the JSON report."""

import json
import re
import tempfile

from quantizing import FLOAT, Bench, Model, np
import browser
from checks import Checks

WICKED = "</script><script>window.harm = 1</script><!--\"'&"


def network(rng):
    m = Model(opset=13)
    m.tensor("w", FLOAT, [4, 3, 3, 3], rng.uniform(-1, 1, 108).astype("f4").tolist())
    m.input("x", FLOAT, [1, 3, 8, 8])
    m.node("Conv", ["x", "w"], ["c"], pads=[1] * 4)
    m.node("Relu", ["c"], [WICKED])
    m.node("Sigmoid", [WICKED], ["z"])
    m.output("z", FLOAT, [1, 4, 8, 8])
    return m


def reports(b):
    rng = np.random.default_rng(7)
    b.convert(network(rng))
    b.inputs(rng.uniform(-1, 1, (1, 8, 8, 3)))
    for name in ("r.html", "r.json"):
        done = b.run("--report", b.path(name))
        b.checks.equal(f"status of {name}", (done.returncode, done.stderr), (0, ""))
    page = b.path("r.html").read_text()
    b.checks.equal("no address", re.findall(r"https?://(?!www\.w3\.org/2000/svg)\S+", page), [])
    return json.loads(b.path("r.json").read_text())


def look(b, report, dark):
    layers = [layer for layer in report["layers"] if layer["node"]]
    with browser.Browser(1280, 1200, dark=dark) as page:
        page.open(b.path("r.html"))
        cells = page.run("return [...document.querySelectorAll('#layers tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")
        b.checks.equal("rows", [(row[1], row[6], row[7]) for row in cells],
                       [(f"{layer['error']['sqnr']:.1f}", layer["op"], layer["tensor"]) for layer in layers])
        b.checks.equal("chart", page.run("return document.querySelectorAll('.column').length"), len(layers))
        b.checks.equal("harm", page.run("return window.harm === undefined"), True)
        page.run("document.querySelector('#layers tbody button').click()")
        bars = page.run("return [...document.querySelectorAll('#detail .histogram rect:not(.reach)')].map((r) => +r.getAttribute('height') > 0)")
        b.checks.equal("histogram", bars, [count > 0 for count in layers[0]["histogram"]["bins"]])
        page.run("document.querySelectorAll('#layers th button')[1].click()")
        first = page.run("return document.querySelector('#layers tbody tr').cells[1].textContent")
        b.checks.equal("sorted", first, f"{min(layer['error']['sqnr'] for layer in layers):.1f}")
        b.checks.equal("theme", page.run("return document.documentElement.dataset.theme"), "dark" if dark else "light")
        b.checks.equal("messages", page.log(), [])


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(checks, folder)
        report = reports(b)
        if browser.missing():
            checks.skip("the page", browser.missing())
        else:
            for dark in (False, True):
                look(b, report, dark)
    checks.finish()


main()
