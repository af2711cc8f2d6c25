# SPDX-License-Identifier: Apache-2.0
"""What the page of dlc-viewer draws, measured from its pixels and its own geometry, and what its controls do, in a headless Chromium."""

import json
import pathlib
import re
import struct
import sys
import tempfile
import time
import xml.etree.ElementTree as ET

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import browser  # noqa: E402
from checks import BUILD, LONG, SHARED, Checks, patient, run  # noqa: E402
from model_case import case_of_arrays  # noqa: E402
from onnx_writer import FLOAT, INT8, UINT8, Model  # noqa: E402

ONNX = SHARED / "corpus" / "onnx"
SHOTS = BUILD / "viewer-screenshots"
# name: model, UDO config
NETWORKS = {
    "yunet": (ONNX / "first" / "yunet", None),
    "retinaface": (ONNX / "second" / "retinaface-mnet025", None),
    "tfbert-qa": (ONNX / "second" / "tfbert-qa", None),
    "yunet-udo": (ONNX / "first" / "yunet", SHARED / "corpus" / "udo-cases" / "yunet-maxpool-nchw" / "maxpool.udo.json"),
}


# ---- models ----


def blocks(checks, folder, name, changed=False):
    """in → three blocks of Conv, Relu, MaxPool → ReduceMean → out. Changed: a block's Relu is a Tanh of another name, another has
    other weights, and one has another kernel of its pool."""
    m = Model(opset=13)
    m.input("in", FLOAT, [1, 4, 16, 16])
    last = "in"
    for i in range(3):
        weights = numpy.random.default_rng(i).normal(0, 1, (4, 4, 3, 3)).astype("f4")
        if changed and i == 1:
            weights[0, 0, 0, 0] += 2
        m.tensor(f"net/block{i}/conv/weight", FLOAT, weights.shape, weights.ravel().tolist())
        m.tensor(f"net/block{i}/conv/bias", FLOAT, [4], [0.5] * 4)
        m.node("Conv", [last, f"net/block{i}/conv/weight", f"net/block{i}/conv/bias"], [f"c{i}"], name=f"net/block{i}/conv/run", pads=[1] * 4)
        act = ("Tanh", f"net/block{i}/tanh") if changed and i == 2 else ("Relu", f"net/block{i}/relu")
        m.node(act[0], [f"c{i}"], [f"a{i}"], name=act[1])
        kernel = [3, 3] if changed and i == 0 else [2, 2]
        m.node("MaxPool", [f"a{i}"], [f"p{i}"], name=f"net/block{i}/pool", kernel_shape=kernel, strides=[1, 1], pads=[k // 2 for k in kernel * 2])
        last = f"p{i}"
    m.node("ReduceMean", [last], ["out"], name="net/mean", axes=[2, 3], keepdims=0)
    m.output("out", FLOAT, [1, 4])
    return converted(checks, m, folder / name)


def converted(checks, model, path):
    model.save(path.with_suffix(".onnx"))
    done = run("onnx-to-dlc", "-i", path.with_suffix(".onnx"), "-o", path.with_suffix(".dlc"))
    checks.equal(f"conversion of {path.name}", done.returncode, 0)
    return path.with_suffix(".dlc")


def quantized(checks, folder):
    """x → quantized → Conv with weights of one encoding, scale 0.5: -64 to 63.5, of which -10 to 10 is used → y"""
    m = Model(opset=13)
    weights = (numpy.arange(4 * 3 * 9).reshape(4, 3, 3, 3) % 41 - 20).astype("i1")
    m.input("x", FLOAT, [1, 3, 8, 8])
    m.tensor("w", INT8, weights.shape, weights.ravel().tolist())
    m.tensor("w_scale", FLOAT, [], [0.5])
    m.tensor("w_zero", INT8, [], [0])
    m.tensor("scale", FLOAT, [], [0.125])
    m.tensor("zero", UINT8, [], [128])
    m.node("QuantizeLinear", ["x", "scale", "zero"], ["xq"])
    m.node("DequantizeLinear", ["xq", "scale", "zero"], ["xd"])
    m.node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["wd"])
    m.node("Conv", ["xd", "wd"], ["c"], name="conv")
    m.node("QuantizeLinear", ["c", "scale", "zero"], ["cq"])
    m.node("DequantizeLinear", ["cq", "scale", "zero"], ["y"])
    m.output("y", FLOAT, [1, 4, 6, 6])
    return converted(checks, m, folder / "quantized")


def page_of(checks, container, *options):
    page = container.with_suffix(".html")
    done = run("dlc-viewer", "-i", container, "-q", "-s", page, *options)
    checks.equal(f"page of {container.name}", (done.returncode, done.stderr), (0, ""))
    return page


def network(checks, folder, name):
    source, config = NETWORKS[name]
    dims = [word for key, value in case_of_arrays(source).dims for word in ("-d", key, value)]
    done = run("onnx-to-dlc", "-i", source / "model.onnx", "-o", folder / f"{name}.dlc", *dims, *(("-udo", config) if config else ()))
    checks.equal(f"conversion of {name}", done.returncode, 0)
    return page_of(checks, folder / f"{name}.dlc")


def model_of(page):
    return json.loads(re.search(r'<script type="application/json" id="model">(.*?)</script>', page.read_text(), re.DOTALL).group(1))


# ---- what is drawn ----

# Of each box in view, the largest contrast to the ground that its left outline or its middle has, by the canvas's pixels; and how
# much of the canvas's rim has the colour of the ground.
MEASURE = """
const canvas = document.getElementById('canvas'), box = canvas.getBoundingClientRect(), ratio = canvas.width / box.width;
const { data, width, height } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
const light = (r, g, b) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const at = (x, y) => { const i = 4 * (Math.min(height - 1, y) * width + Math.min(width - 1, x)); return light(data[i], data[i + 1], data[i + 2]); };
const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
const g = dlcViewer.background(), ground = light(...[1, 3, 5].map((i) => parseInt(g.slice(i, i + 2), 16)));
let least = [99, ''], seen = 0;
for (const b of dlcViewer.boxes()) {
  const x = (b.x - box.left) * ratio, y = Math.round((b.y - box.top) * ratio), left = x - b.width * ratio / 2;
  if (left < 3 || left > width - 4 || y < 3 || y > height - 4)
    continue;
  seen++;
  let most = b.width < 12 ? contrast(at(Math.round(x), y), ground) : 0;
  for (let k = -3; k <= 4; k++)
    most = Math.max(most, contrast(at(Math.round(left) + k, y), ground));
  if (most < least[0])
    least = [most, b.name];
}
return [seen, ...least];
"""
OVERLAPS = """
const { placed, hidden } = dlcViewer.labels(), boxes = dlcViewer.boxes();
const meet = (a, b) => Math.abs(a.x - b.x) < (a.width + b.width) / 2 - 0.01 && Math.abs(a.y - b.y) < (a.height + b.height) / 2 - 0.01;
let labels = 0, covered = 0, nodes = 0;
placed.forEach((a, i) => {
  labels += placed.slice(i + 1).filter((b) => meet(a, b)).length;
  covered += boxes.filter((b) => meet(a, b)).length;
});
boxes.forEach((a, i) => { nodes += boxes.slice(i + 1).filter((b) => meet(a, b)).length; });
return { labels, covered, nodes, placed: placed.length, hidden };
"""

# Whether the legend is open, and how many boxes it covers then.
LEGEND = """
const legend = document.getElementById("legend"), { open } = legend;
legend.open = true;
const at = legend.getBoundingClientRect();
legend.open = open;
return [open, dlcViewer.boxes().filter((box) => Math.abs(box.x - (at.left + at.right) / 2) < (box.width + at.width) / 2 &&
  Math.abs(box.y - (at.top + at.bottom) / 2) < (box.height + at.height) / 2).length]
"""


def opened(checks, b, page, fragment=""):
    b.open(page, fragment)
    checks.check(f"{page.stem} drawn", b.wait_for("return document.documentElement.dataset.drawn"))


def measured(checks, b, label):
    b.screenshot(SHOTS / f"{label}.png")
    seen, least, name = b.run("dlcViewer.drawNow();" + MEASURE)
    checks.check(f"{label}: boxes stand out", seen > 0 and least >= 3, f"{least:.2f} of {name}, {seen} boxes")
    return least


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts))


def titles(checks, b, label):
    """White or black on the bars: the better one is what the page takes."""
    for colour in b.run("return [...new Set(dlcViewer.boxes().map((box) => box.colour))]"):
        ratio = max((luminance(colour) + 0.05) / (luminance("#0f141c") + 0.05), 1.05 / (luminance(colour) + 0.05))
        checks.check(f"{label}: titles on {colour}", ratio >= 4.5, f"{ratio:.2f}")


def drawing(checks, b, page):
    """Fit and 100 %, light and dark, downwards and to the right, and on a telephone."""
    name, least = page.stem, []
    opened(checks, b, page)
    for theme in ("light", "dark"):
        b.press("f")
        b.settle()
        least.append(measured(checks, b, f"{name}-fit-{theme}"))
        b.run("document.getElementById('actual').click()")
        is_open, covered = b.run(LEGEND)
        checks.equal(f"{name} {theme}: the open legend covers no box at 100 %, or is folded", is_open, covered == 0)
        least.append(measured(checks, b, f"{name}-100-{theme}"))
        titles(checks, b, f"{name} {theme}")
        b.press("t")
    down = b.run(OVERLAPS)
    b.press("h")
    right = b.run(OVERLAPS)
    least.append(measured(checks, b, f"{name}-right"))
    for way, found in (("down", down), ("right", right)):
        checks.equal(f"{name} {way}: what overlaps", (found["labels"], found["covered"], found["nodes"]), (0, 0, 0))
        checks.check(f"{name} {way}: labels", found["placed"] > 0.95 * (found["placed"] + found["hidden"]), found)
    b.press("h")
    b.resize(500, 844)
    b.settle()
    b.press("f")
    b.settle()
    least.append(measured(checks, b, f"{name}-mobile"))
    wide = b.run("return document.documentElement.scrollWidth - innerWidth")
    checks.check(f"{name}: nothing sticks out of a narrow page", wide <= 0, wide)
    b.resize(1280, 800)
    print(f"{name}: contrast of boxes at least {min(least):.2f}, {down['placed']} labels and {down['hidden']} left out, laid out in "
          f"{b.run('return dlcViewer.layoutTime()'):.0f} ms")
    checks.equal(f"{name} console", [line for line in b.log() if "willReadFrequently" not in line], [])


# ---- what controls do ----

PANEL = "return document.getElementById('panel').hidden ? '' : document.getElementById('panel').innerText"
NAMES = "return dlcViewer.boxes().map((box) => box.name)"
HASH = "return decodeURIComponent(location.hash)"


def press_button(b, name):
    b.run(f"document.getElementById('{name}').click()")
    b.settle()


def edges(checks, b, page):
    opened(checks, b, page)
    words = b.run("return dlcViewer.boxes().length") and b.run("return JSON.parse(document.getElementById('model').textContent).graphs[0].ops.length")
    checks.equal("all ops and ends", (b.run("return dlcViewer.boxes().length"), words), (12, 10))
    b.press("f")
    b.settle()
    b.run("document.getElementById('actual').click()")
    pool = b.run("return dlcViewer.where('net/block0/pool')")
    b.click(pool["x"], pool["y"])
    b.settle()
    checks.check("the title says MaxPool", b.run(PANEL).startswith("MaxPool"), b.run(PANEL)[:40])
    checks.equal("deep link of an op", b.run(HASH), "#node=net/block0/pool")
    relu = b.run("return dlcViewer.where('net/block0/relu')")
    b.click(relu["x"], relu["y"] - relu["height"] / 2 - 12)
    b.settle()
    words = b.run(PANEL)
    checks.check("an edge shows its tensor", words.startswith("Tensor") and "Float_32 [1, 16, 16, 4]" in words and "from" in words and
                 "net/block0/relu" in words, words)
    checks.equal("deep link of a tensor", b.run(HASH), "#tensor=c0")
    label = b.run("return dlcViewer.labels().placed.find((label) => label.y > dlcViewer.where('net/block0/relu').y)")
    b.click(label["x"], label["y"])
    b.settle()
    checks.equal("a label, too", b.run(HASH), "#tensor=a0")
    b.screenshot(SHOTS / "edge.png")
    opened(checks, b, page, "#node=net/block2/relu")
    checks.check("a link to an op", "net/block2/relu" in b.wait_for(PANEL), b.run(PANEL))
    opened(checks, b, page, "#tensor=p1")
    b.settle()
    checks.check("a link to a tensor", b.run(PANEL).startswith("Tensor") and "\np1" in b.run(PANEL), b.run(PANEL))
    opened(checks, b, page, "#node=%E0%A4%A")
    b.settle()
    checks.check("a broken link says so", "There is no op" in b.run("return document.getElementById('notice').innerText"))
    weights = b.run("return JSON.stringify(dlcViewer.picture())")
    checks.check("weights and titles are drawn", all(word in weights for word in ("\u27e83\u00d73\u00d74\u00d74\u27e9", "MaxPool", "ReduceMean", "bias")), weights[:200])


def folding(checks, b, page):
    opened(checks, b, page)
    press_button(b, "fold")
    blocks_now = sorted(b.run(NAMES))  # conv alone is no group
    checks.equal("blocks", blocks_now, ["in", "net/block0", "net/block1", "net/block2", "net/mean", "out"])
    while not b.run("return document.getElementById('fold').disabled"):
        press_button(b, "fold")
    checks.equal("all in one", sorted(b.run(NAMES)), ["in", "net", "out"])
    press_button(b, "unfold")
    checks.equal("blocks again", sorted(b.run(NAMES)), blocks_now)
    b.screenshot(SHOTS / "folded.png")
    place = b.run("return dlcViewer.where('net/block1')")
    b.click(place["x"], place["y"])
    b.settle()
    words = b.run(PANEL)
    checks.check("the group's panel", "3 ops" in b.run("return dlcViewer.picture()") and "MaxPool" in words and "net/block1/pool" in words, words)
    b.press("g")
    b.settle()
    checks.check("G unfolds", "net/block1/relu" in b.run(NAMES) and "net/block0" in b.run(NAMES), b.run(NAMES))
    b.press("g")
    b.settle()
    checks.equal("and folds", sorted(b.run(NAMES)), blocks_now)
    b.press("/")
    b.type("block2/relu")
    b.press("Enter")
    b.settle()
    checks.check("a search opens the group", "net/block2/relu" in b.run(NAMES) and b.run(HASH) == "#node=net/block2/relu", b.run(HASH))
    press_button(b, "turn")
    chain = b.run("return ['in', 'net/block0', 'net/block1', 'net/block2/conv/run', 'net/block2/relu', 'out'].map((name) => dlcViewer.where(name).x)")
    checks.equal("to the right", chain, sorted(chain))
    b.run("document.getElementById('canvas').focus()")
    b.press("ArrowRight")
    checks.equal("arrows follow", b.run(HASH), "#node=net/block2/pool")
    b.press("ArrowLeft", "ArrowLeft")
    checks.equal("and back", b.run(HASH), "#node=net/block2/conv/run")
    press_button(b, "turn")


def saved(b, folder, name):
    end = time.monotonic() + patient(20)
    while not (folder / name).exists() and time.monotonic() < end:
        time.sleep(0.05)
    return (folder / name).read_bytes()


def pictures(checks, b, page, folder):
    opened(checks, b, page)
    b.downloads_to(folder)
    press_button(b, "save-svg")
    drawn = ET.fromstring(saved(b, folder, f"{page.stem}.svg"))
    words = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    for expected in ("MaxPool", "net/mean", "1\u00d716\u00d716\u00d74", "Input"):
        checks.check(f"the SVG says {expected}", expected in words, words)
    checks.equal("a title for each op", sum(word in ("Conv2d", "Relu", "MaxPool", "ReduceMean") for word in words), 10)
    press_button(b, "save-png")
    data = saved(b, folder, f"{page.stem}.png")
    size, wanted = struct.unpack(">II", data[16:24]), tuple(2 * int(drawn.get(side)) for side in ("width", "height"))
    checks.check("a PNG twice as large", data[:8] == b"\x89PNG\r\n\x1a\n" and all(abs(a - b) <= 2 for a, b in zip(size, wanted)), (size, wanted))
    b.run("document.querySelector('#panel .copy')?.click()")
    b.press("/")
    b.type("net/mean")
    b.press("Enter")
    b.settle()
    b.run("document.querySelector('#panel .name .copy').click()")
    b.wait_for("return !document.getElementById('notice').hidden")
    b.run("document.getElementById('search').value = ''")
    b.press("/")
    b.press("Control+v")
    checks.equal("copied", b.run("return document.getElementById('search').value"), "net/mean")
    checks.equal("console", b.log(), [])


def comparison(checks, b, before, after):
    page = page_of(checks, after, "--compare", before)
    differences = json.loads(run("dlc-diff", "-i1", before, "-i2", after, "--json").stdout)
    checks.equal("what dlc-diff finds", model_of(page)["compared"]["differences"]["differences"], differences["differences"])
    opened(checks, b, page)
    legend = dict(b.run("return [...document.querySelectorAll('#families li')].map(e => e.innerText.split('\\n'))"))
    found = {name: int(count) for name, count in legend.items()}
    layers = {record["layer"] for record in differences["differences"] if record["layer"]}
    whole = {record["layer"]: "New" if record["first"] is None else "Gone" for record in differences["differences"] if record["subject"] == "layer"}
    checks.equal("new and gone", whole, {"net/block2/tanh": "New", "net/block2/relu": "Gone"})
    checks.equal("counts", {key: found.get(key) for key in ("New", "Gone", "Changed")}, {"New": 1, "Gone": 1, "Changed": len(layers) - 2})
    b.screenshot(SHOTS / "compared.png")
    measured(checks, b, "compared-first")
    opened(checks, b, page, "#node=net/block2/relu")
    b.settle()
    checks.check("what is gone is there", "This op is gone." in b.run(PANEL), b.run(PANEL))
    opened(checks, b, page, "#node=net/block1/conv/run")
    b.settle()
    words = b.run(PANEL)
    checks.check("changed weights", "largest difference 2" in words and "1 of 144 elements" in words, words)
    press_button(b, "overview")
    words = b.run(PANEL)
    checks.check("counts", "6 ops" in words and re.search(r"\b1 op\b(?!s)", words), words)
    checks.check("the list of changes", f"CHANGES SINCE {before.name.upper()}" in words.upper() and "net/block0/pool" in words, words)
    b.screenshot(SHOTS / "compared-overview.png")
    press_button(b, "changes")
    checks.check("by kind", "Activation" in b.run("return document.getElementById('legend').innerText"))
    same = page_of(checks, before, "--compare", before)
    checks.equal("the same", {op["name"] for op in model_of(same)["compared"]["differences"]["differences"]}, set())
    opened(checks, b, same)
    press_button(b, "overview")
    checks.check("said", "The containers are the same." in b.run(PANEL))
    checks.equal("console", [line for line in b.log() if "willReadFrequently" not in line], [])


def encodings(checks, b, page):
    opened(checks, b, page)
    tensors = [t for t in model_of(page)["graphs"][0]["tensors"] if "quantization" in t]
    press_button(b, "encodings")
    rows = b.run("return [...document.querySelectorAll('table.encodings tbody tr')].map(e => e.innerText)")
    checks.check("a row for each", len(rows) == len(tensors) > 2 and any("-64 to 63.5" in row and "0.5" in row for row in rows), rows)
    b.screenshot(SHOTS / "quantization.png")
    weights = next(t for t in tensors if t["kind"] == "STATIC")
    b.run(f"[...document.querySelectorAll('table.encodings .link')].find((e) => e.innerText === {json.dumps(weights['name'])}).click()")
    b.settle()
    reach = b.run("return document.querySelector('.histogram .reach').getAttribute('d')")
    checks.equal("the range of the encoding", reach, "M0 0H320V64H0Z")
    bar = float(b.run("return document.querySelector('.histogram rect').getAttribute('x')"))
    step = 320 * 20 / 127.5 / 32
    checks.check("the first bar", abs(bar - (320 * 54 / 127.5 + 0.075 * step)) < 1e-6, bar)
    b.screenshot(SHOTS / "quantized-weights.png")
    checks.equal("console", b.log(), [])


def main():
    checks = Checks()
    if browser.missing():
        checks.skip("the page in a browser", browser.missing())
        checks.finish()
    SHOTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, browser.Browser(still=True) as b:
        folder = pathlib.Path(name)
        (folder / "saved").mkdir()
        before, after = blocks(checks, folder, "before"), blocks(checks, folder, "after", changed=True)
        page = page_of(checks, before)
        edges(checks, b, page)
        folding(checks, b, page)
        pictures(checks, b, page, folder / "saved")
        comparison(checks, b, before, after)
        encodings(checks, b, page_of(checks, quantized(checks, folder)))
        if ONNX.is_dir():
            for network_name in NETWORKS if LONG else ("tfbert-qa", "yunet-udo"):
                drawing(checks, b, network(checks, folder, network_name))
        else:
            checks.skip("pages of networks", f"{ONNX} not found")
            drawing(checks, b, page)
    checks.finish()


main()
