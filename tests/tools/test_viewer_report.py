# SPDX-License-Identifier: Apache-2.0
"""dlc-viewer --report: the page of a container with a report of its quantization, in a headless Chromium, and what is refused."""

import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "quantize"))
import browser  # noqa: E402
from checks import BUILD, Checks, run  # noqa: E402
from quantizing import FLOAT, Bench, Model, np  # noqa: E402

SHOTS = BUILD / "viewer-screenshots"
WICKED = "</script><script>window.harm = 1</script>"
# Of a band of decibels: the least one, what the legend calls it, the colours of boxes in the light theme.
BANDS = ((40, "40 dB and more", 0xEAF1FC), (30, "30 to 40 dB", 0xE2F4F6), (20, "20 to 30 dB", 0xFDF3CF), (10, "10 to 20 dB", 0xFDE3D0),
         (-np.inf, "Less than 10 dB", 0xFBD5D8))
NOT_COMPARED = ("Not compared", 0xFFFFFF)


def network(rng):
    """x → Conv → Relu → Sigmoid (in 16 bits) → y; one channel is much larger than the others, so that the Sigmoid gets few levels of these."""
    m = Model(opset=13)
    m.input("x", FLOAT, [1, 4, 6, 6])
    weights = rng.normal(0, 1, (4, 4, 1, 1)) * np.array([300, 1, 1, .1]).reshape(4, 1, 1, 1)
    m.tensor("w", FLOAT, [4, 4, 1, 1], weights.astype("f4").ravel().tolist())
    m.node("Conv", ["x", "w"], [WICKED], name="conv")
    m.node("Relu", [WICKED], ["r"], name="relu")
    m.node("Sigmoid", ["r"], ["s"], name="sigmoid")
    m.node("Log", ["s"], ["y"], name="log")
    m.output("y", FLOAT, [1, 4, 6, 6])
    return m


def made(b):
    rng = np.random.default_rng(21)
    b.convert(network(rng))
    b.inputs(*(rng.uniform(-1, 1, (1, 6, 6, 4)) for _ in range(2)))
    b.quantize("--widen", "sigmoid", "--report", b.path("r.json"))
    return json.loads(b.path("r.json").read_text())


def model_of(page):
    return json.loads(re.search(r'<script type="application/json" id="model">(.*?)</script>', page.read_text(), re.DOTALL).group(1))


def page_of(b, container="q.dlc", report="r.json"):
    done = run("dlc-viewer", "-i", b.path(container), "--report", b.path(report), "-s", b.path("page.html"))
    b.checks.equal(f"page of {container}", (done.returncode, done.stdout), (0, ""))
    return b.path("page.html")


def bands(report):
    """{node or end of the graph: band}"""
    found = {}
    for layer in report["layers"]:
        name = layer["node"] or (layer["tensor"] if layer["kind"] == "input" else None)
        if name:
            found[name] = next(band for band in BANDS if float(layer["error"]["sqnr"]) >= band[0])
    return found


def content(b, report):
    page = page_of(b)
    b.checks.equal("the report is in the page", model_of(page)["report"], report)
    b.checks.equal("three ends of scripts", page.read_text().count("</script"), 2)
    without = run("dlc-viewer", "-i", b.path("q.dlc")).stdout
    b.checks.check("no report, none in the page", '"report"' not in without.split("<script>")[0])
    return page


def refused(b, report):
    def fails(name, status, words, text, *options):
        b.path("page.html").unlink(missing_ok=True)
        if text is not None:
            b.path("bad.json").write_text(text if isinstance(text, str) else json.dumps(text))
        done = run("dlc-viewer", "-i", b.path("q.dlc"), "-s", b.path("page.html"), "--report", b.path("bad.json"), *options)
        b.checks.check(name, done.returncode == status and all(word in done.stderr for word in words), (done.returncode, done.stderr))
        b.checks.check(f"{name}: no page", not b.path("page.html").exists())

    layers = report["layers"]
    fails("no file", 1, ["bad.json"], None)
    fails("no JSON", 1, ["bad.json:1"], "<html>")
    fails("a slip", 1, ["bad.json:1"], json.dumps(report)[:-1] + ",}")
    fails("other JSON", 1, ["bad.json:1", "no report of a quantization", "dlc-quantize --report"], {"layers": []})
    fails("another version", 1, ["another version than 1"], {**report, "schema_version": 2})
    fails("no layers", 1, ["no list of layers"], {**report, "layers": {}})
    fails("no layer", 1, ["a member tensor"], {**report, "layers": [5]})
    fails("no values", 1, ["a member values"], {**report, "layers": [{"tensor": "x"}]})
    fails("no error", 1, ["a member sqnr"], {**report, "layers": [{**layers[0], "error": {}}]})
    fails("another container", 1, ["of another container"], {**report, "layers": [{**layer, "tensor": f"other {i}"} for i, layer in enumerate(layers)]})
    fails("of a drawing", 2, ["--report is for a page"], report, "--dot")


# ---- in the browser ----

LEGEND = "return [...document.querySelectorAll('#families li')].map(e => e.innerText.split('\\n'))"
PIXELS = """
const canvas = document.getElementById('canvas'), pen = canvas.getContext('2d');
const ratio = window.devicePixelRatio, box = canvas.getBoundingClientRect();
const place = dlcViewer.where(NAME);
const scale = place.height / 44; /* without weights; between the last line of the box and its lower edge */
const [r, g, b] = pen.getImageData((place.x - box.left + 30) * ratio, (place.y - box.top + place.height / 2 - 4 * scale) * ratio, 1, 1).data;
return (r << 16) + (g << 8) + b;
"""


def colour(b, name):
    return b.run(PIXELS.replace("NAME", json.dumps(name)))


def in_browser(checks, page, report):
    SHOTS.mkdir(parents=True, exist_ok=True)
    expected = bands(report)
    with browser.Browser() as b:
        b.open(page)
        b.wait_for("return document.documentElement.dataset.drawn")
        b.press("f")
        b.settle()
        b.screenshot(SHOTS / "report.png")
        for name, (_, label, surface) in expected.items():
            checks.equal(f"{name} is of {label}", hex(colour(b, name)), hex(surface))
        checks.check("there are several bands", len(set(expected.values())) > 1, expected)
        checks.equal("a Convert is not compared", hex(colour(b, "s.converted")), hex(NOT_COMPARED[1]))
        checks.equal("legend", {label for label, _ in b.run(LEGEND)}, {band[1] for band in expected.values()} | {NOT_COMPARED[0]})
        checks.equal("wicked name did nothing", b.run("return window.harm || null"), None)
        b.press("/")
        b.type("relu")
        b.press("Enter")
        b.settle()
        words = b.run("return document.getElementById('panel').innerText")
        layer = next(layer for layer in report["layers"] if layer["node"] == "relu")
        for word in ("Quantization error", "In the network", f"{layer['error']['sqnr']:.1f} dB", "The op alone", f"{layer['own']['sqnr']:.1f} dB",
                     "Largest error", "Saturated", "Levels used"):
            checks.check(f"panel says {word}", word in words, words)
        checks.check("spoken", "signal to error" in b.run("return document.getElementById('said').textContent"))
        b.screenshot(SHOTS / "report-panel.png")
        b.press("o")
        b.settle()
        rows = b.run("return [...document.querySelectorAll('table[aria-label=\"Largest errors\"] .number')].map(e => parseFloat(e.innerText))")
        checks.equal("the worst first", (rows, len(rows)), (sorted(rows), 4))
        b.press("Escape", "Escape", "e", "f")
        b.settle()
        checks.equal("by kind", (b.run("return document.getElementById('errors').getAttribute('aria-pressed')"), hex(colour(b, "relu"))),
                     ("false", "0xffffff"))
        checks.check("legend of kinds", "Activation" in [label for label, _ in b.run(LEGEND)])
        b.press("e")
        # The browser's advice on what the test itself does.
        checks.equal("console", [line for line in b.log() if "willReadFrequently" not in line], [])


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(checks, folder)
        report = made(b)
        refused(b, report)
        page_of(b, "m.dlc")
        page = content(b, report)
        if browser.missing():
            checks.skip("the page in a browser", browser.missing())
        else:
            in_browser(checks, page, report)
    checks.finish()


main()
