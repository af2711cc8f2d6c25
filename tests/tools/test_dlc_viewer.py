# SPDX-License-Identifier: Apache-2.0
"""dlc-viewer: the page in a headless Chromium, the model inside it against the container's values, DOT and SVG."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import browser  # noqa: E402
from checks import BUILD, SHARED, Checks, command, patient, run  # noqa: E402
from model_case import case_of_arrays  # noqa: E402
from onnx_writer import FLOAT, INT8, UINT8, Model  # noqa: E402

CONTAINERS = SHARED / "corpus" / "dlc"
LARGEST = SHARED / "corpus" / "onnx" / "second" / "tfbert-qa"
SHOTS = BUILD / "viewer-screenshots"
# The time itself is printed.
FIRST_PAINT_MS = int(os.environ.get("ODLC_FIRST_PAINT_MS", patient(15000)))
WICKED = "</script><script>window.harm = 1</script><!--\"'&"
CONFIG = {
    "UdoPackage_0": {
        "UDO_PACKAGE_NAME": "WarpPackage",
        "Operators": [{
            "type": "Warp",
            "inputs": [{"name": "x", "data_type": "FLOAT_32"},
                       {"name": "grid", "data_type": "FLOAT_32", "static": True}],
            "outputs": [{"name": "y", "data_type": "FLOAT_32", "shape": "same_as in0"}],
            "scalar_params": [{"name": "mode", "data_type": "STRING"}, {"name": "alpha", "data_type": "FLOAT_32"}],
            "tensor_params": [{"name": "window", "data_type": "INT_32"}],
            "core_types": ["CPU"],
        }],
    },
}


def grid_values():
    values = numpy.random.default_rng(5).normal(0.5, 2, 600).astype(numpy.float32)
    values[:30] = 0
    values[40], values[41] = numpy.nan, numpy.inf
    return values


def small_model(checks, folder):
    """in → Relu → Warp (UDO, with weights) → Relu → out, and Warp → Sigmoid → second; a tensor has a wicked name."""
    model = Model(opset=13)
    model.input("in", FLOAT, [2, 300])
    model.tensor("grid", FLOAT, [20, 30], grid_values().tolist())
    model.node("Relu", ["in"], [WICKED], name="first")
    model.node("Warp", [WICKED, "grid"], ["warped"], name="warp", mode="bilinear", alpha=0.2, window=[2, -2])
    model.node("Relu", ["warped"], ["out"], name="last")
    model.node("Sigmoid", ["warped"], ["second"], name="side")
    model.output("out", FLOAT, [2, 300])
    model.output("second", FLOAT, [2, 300])
    model.save(folder / "small.onnx")
    (folder / "ops.json").write_text(json.dumps(CONFIG))
    done = run("onnx-to-dlc", "-i", folder / "small.onnx", "-udo", folder / "ops.json", "-o", folder / "small.dlc")
    checks.equal("conversion", done.returncode, 0)
    return folder / "small.dlc"


def large_model(checks, folder, nodes=5000):
    """Chains that branch and join, with a tensor that is read all the way down."""
    model = Model(opset=13)
    model.input("in", FLOAT, [1, 8])
    names = ["in"]
    for i in range(nodes):
        name = f"/block_{i // 10}/t_{i}"
        if i % 10 == 9:
            model.node("Add", [names[-1], names[-9]], [name])
        elif i % 500 == 250:
            model.node("Mul", [names[-1], names[1]], [name])
        elif i % 10 in (3, 5):
            model.node("Sigmoid", [names[-2]], [name])
        elif i % 10 in (4, 6):
            model.node("Mul", [names[-1], names[-2]], [name])
        else:
            model.node("Tanh", [names[-1]], [name])
        names.append(name)
    model.output(names[-1], FLOAT, [1, 8])
    model.save(folder / "large.onnx")
    done = run("onnx-to-dlc", "-i", folder / "large.onnx", "-o", folder / "large.dlc")
    checks.equal("conversion of the large model", done.returncode, 0)
    return folder / "large.dlc"


def make_page(checks, container):
    page = container.parent / (container.stem + ".html")
    done = run("dlc-viewer", "-i", container, "-s", page)
    checks.equal(f"{container.name} page", (done.returncode, done.stdout), (0, ""))
    graph = model_of(page)["graphs"][0]
    closing = f"{page}: {len(graph['ops'])} ops of graph '{graph['name']}', {page.stat().st_size / 1e6:.1f} MB\n"
    checks.equal(f"{container.name}: the closing line", done.stderr, closing)
    return page


MODEL = re.compile(r'(<script type="application/json" id="model">)(.*?)(</script>)', re.DOTALL)


def model_of(page):
    return json.loads(MODEL.search(page.read_text()).group(2))


# ---- without a browser ----


def page_content(checks, container, page):
    text = page.read_text()
    links = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+", text)) - {"http://www.w3.org"}
    checks.equal("nothing from a network", links, set())
    loads = re.search(r'<(?:script|img|iframe)[^>]+src=|<link[^>]+href="(?!data:)', text)
    checks.check("no element loads a file", not loads, loads)
    checks.equal("three ends of scripts", text.count("</script"), 2)
    model = model_of(page)
    graph = model["graphs"][0]
    info = json.loads(run("dlc-info", "-i", container, "--json").stdout)["graphs"][0]
    checks.equal("ops", [(op["name"], op["type"]) for op in graph["ops"]],
                 [(node["name"], node["type"]) for node in info["nodes"]])
    names = [[graph["tensors"][i]["name"] for i in op["inputs"]] for op in graph["ops"]]
    checks.equal("operands", names, [node["inputs"] for node in info["nodes"]])
    checks.equal("wicked name", graph["ops"][0]["outputs"], [next(
        i for i, tensor in enumerate(graph["tensors"]) if tensor["name"] == WICKED)])
    warp = next(op for op in graph["ops"] if op["udo"])
    params = {a["name"]: a.get("value", a.get("values")) for a in warp["attributes"] if not a.get("supplemental")}
    checks.equal("params", params, {"mode": "bilinear", "alpha": 0.2, "window": [2, -2]})
    statistics(checks, next(tensor for tensor in graph["tensors"] if tensor["name"] == "grid"))


def statistics(checks, tensor):
    values = grid_values().astype(numpy.float64)
    values = values[numpy.isfinite(values)]
    found = tensor["statistics"]
    checks.equal("first values", len(tensor["values"]), 16)
    checks.equal("counts", (tensor["elements"], found["finite"], found["zeros"]), (600, 598, 30))
    expected = (values.min(), values.max(), values.mean(), values.std())
    for name, value in zip(("min", "max", "mean", "std"), expected):
        checks.check(name, abs(found[name] - value) < 1e-9, f"{found[name]} for {value}")
    checks.equal("histogram", found["bins"], numpy.histogram(values, 32)[0].tolist())


def quantized(checks, folder):
    """Statistics of fixed-point tensors are of the real numbers, with each channel's own encoding."""
    random = numpy.random.default_rng(6)
    weights = random.integers(-127, 128, (4, 3, 3, 3)).astype(numpy.int8)
    scales = numpy.array([0.5, 0.001, 2, 0.25], numpy.float32)
    model = Model(opset=13)
    model.input("x", FLOAT, [1, 3, 8, 8])
    model.tensor("w", INT8, weights.shape, weights.ravel().tolist())
    model.tensor("w_scale", FLOAT, [4], scales.tolist())
    model.tensor("w_zero", INT8, [4], [0] * 4)
    model.tensor("scale", FLOAT, [], [0.125])
    model.tensor("zero", UINT8, [], [128])
    model.node("QuantizeLinear", ["x", "scale", "zero"], ["xq"])
    model.node("DequantizeLinear", ["xq", "scale", "zero"], ["xd"])
    model.node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["wd"], axis=0)
    model.node("Conv", ["xd", "wd"], ["c"], name="conv")
    model.node("QuantizeLinear", ["c", "scale", "zero"], ["cq"])
    model.node("DequantizeLinear", ["cq", "scale", "zero"], ["y"])
    model.output("y", FLOAT, [1, 4, 6, 6])
    model.save(folder / "quantized.onnx")
    done = run("onnx-to-dlc", "-i", folder / "quantized.onnx", "-o", folder / "quantized.dlc")
    checks.equal("conversion of a quantized model", done.returncode, 0)
    graph = model_of(make_page(checks, folder / "quantized.dlc"))["graphs"][0]
    found = [t for t in graph["tensors"] if t["kind"] == "STATIC" and t["elements"] == weights.size]
    if checks.equal("quantized weights", [t.get("quantization", {}).get("count") for t in found], [4]):
        real = weights * scales[:, None, None, None].astype(numpy.float64)
        checks.check("real mean", abs(found[0]["statistics"]["mean"] - real.mean()) < 1e-6, found[0]["statistics"])
        checks.check("real deviation", abs(found[0]["statistics"]["std"] - real.std()) < 1e-6, real.std())
        checks.equal("real zeros", found[0]["statistics"]["zeros"], int((real == 0).sum()))
    if not CONTAINERS.is_dir():
        checks.skip("containers of the vendor's tools", f"{CONTAINERS} not found")
        return
    shutil.copy(CONTAINERS / "add2_uint8.v2.dlc", folder / "add2.dlc")
    graph = model_of(make_page(checks, folder / "add2.dlc"))["graphs"][0]
    checks.equal("encodings", [t["quantization"]["count"] for t in graph["tensors"] if "quantization" in t], [1, 1, 1])


def drawings(checks, container, folder):
    done = run("dlc-viewer", "-i", container, "--dot")
    checks.equal("dot", (done.returncode, done.stderr), (0, ""))
    arrows = re.findall(r"^  (\w+) -> (\w+)", done.stdout, re.MULTILINE)
    checks.equal("edges", len(arrows), 6)
    checks.check("UDO's colour", re.search(r'label="Warp", tooltip="warp", fillcolor', done.stdout))
    if shutil.which("dot"):
        drawn = run("dlc-viewer", "-i", container, "--svg", "-s", folder / "small.svg")
        checks.equal("svg", (drawn.returncode, drawn.stdout), (0, ""))
        checks.check("svg content", "<svg" in (folder / "small.svg").read_text())
    else:
        checks.skip("svg", "Graphviz's dot not found")
    nowhere = run("dlc-viewer", "-i", container, "--svg", "-s", folder / "none.svg",
                  env={**os.environ, "PATH": "/nowhere"})
    checks.equal("without Graphviz", (nowhere.returncode, (folder / "none.svg").exists()), (1, False))
    checks.check("what to install", "install Graphviz" in nowhere.stderr, nowhere.stderr)


def usage(checks, container, folder):
    both = run("dlc-viewer", "-i", container, "--svg", "--dot")
    checks.equal("dot and svg", both.returncode, 2)
    name = model_of(container.with_suffix(".html"))["graphs"][0]["name"]
    wrong = run("dlc-viewer", "-i", container, "--dot", "--graph", "absent")
    checks.equal("absent graph", wrong.returncode, 2)
    checks.check("known graphs", f"'{name}'" in wrong.stderr, wrong.stderr)
    checks.equal("named graph", run("dlc-viewer", "-i", container, "--dot", "--graph", name).returncode, 0)
    page = subprocess.run([command("dlc-viewer"), "-i", str(container)], capture_output=True, check=False)
    checks.equal("page on standard output", page.stdout, container.with_suffix(".html").read_bytes())
    silent = run("dlc-viewer", "-i", container, "-q", "-s", folder / "silent.html")
    checks.equal("quiet", (silent.returncode, silent.stderr, (folder / "silent.html").read_bytes()), (0, "", page.stdout))
    opening(checks, container, folder)
    (folder / "broken.dlc").write_bytes(container.read_bytes()[:200])
    broken = run("dlc-viewer", "-i", folder / "broken.dlc", "-s", folder / "broken.html")
    checks.equal("broken container", (broken.returncode, (folder / "broken.html").exists()), (1, False))


def opening(checks, container, folder):
    """--open starts xdg-open, here one that writes down what it was asked for."""
    programs, page = folder / "programs", folder / "-odd name.html"
    programs.mkdir()
    (programs / "xdg-open").write_text(f'#!/bin/sh\n[ -s "$1" ] && printf %s "$1" > "{folder}/opened"\nexit ${{STATUS:-0}}\n')
    (programs / "xdg-open").chmod(0o755)
    here = {**os.environ, "PATH": f"{programs}:/usr/bin:/bin"}
    done = run("dlc-viewer", "-i", container, "-s", page, "--open", env=here)
    checks.equal("opened", (done.returncode, (folder / "opened").read_text()), (0, str(page)))
    done = run("dlc-viewer", "-i", container, "-s", page, "--open", env={**here, "STATUS": "3"})
    checks.equal("no browser", (done.returncode, "status 3" in done.stderr, page.exists()), (1, True, True))
    done = run("dlc-viewer", "-i", container, "-s", page, "--open", env={**os.environ, "PATH": "/nowhere"})
    checks.equal("no xdg-open", (done.returncode, "xdg-utils" in done.stderr, page.exists()), (1, True, True))
    for words in (("--open",), ("--open", "--dot", "-s", page), ("--compare", container, "--svg", "-s", page)):
        checks.equal(f"{words[0]} in vain", run("dlc-viewer", "-i", container, *words).returncode, 2)


# ---- in the browser ----

PANEL = "return document.getElementById('panel').hidden ? null : document.getElementById('panel').innerText"
FOCUS = "return document.activeElement.id || document.activeElement.className"
PIXELS = """
const canvas = document.getElementById('canvas');
const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
const colours = new Map();
for (let i = 0; i < data.length; i += 4) {
  const key = (data[i] << 16) + (data[i + 1] << 8) + data[i + 2];
  colours.set(key, (colours.get(key) || 0) + 1);
}
return [...colours].sort((a, b) => b[1] - a[1]).slice(0, 12).map(([key]) => key);
"""


def open_page(checks, b, page, label):
    b.open(page)
    drawn = b.wait_for("return document.documentElement.dataset.drawn")
    drawn = int(drawn) if drawn else -1
    print(f"{label}: on the screen {drawn} ms after the navigation began")
    checks.check(f"{label} drawn", 0 <= drawn < FIRST_PAINT_MS, f"{drawn} ms")


def quiet(checks, b, label):
    checks.equal(f"{label} console", b.log(), [])


def panel_of(b):
    b.settle()
    return b.run(PANEL) or ""


def small_page(checks, b, page):
    open_page(checks, b, page, "small")
    b.settle()
    b.screenshot(SHOTS / "small-light.png")
    checks.check("canvas shows the UDO's colour", 0xFFF1E0 in b.run(PIXELS))
    checks.equal("legend", "User-defined op" in b.run("return document.getElementById('legend').innerText"), True)
    checks.equal("wicked name did nothing", b.run("return window.harm || null"), None)
    b.press("/")
    b.type("WarpPack udo")
    results = b.run("return [...document.querySelectorAll('#results li')].map(e => e.innerText)")
    checks.equal("found", results, ["Warp\nwarp"])
    b.press("Enter")
    words = panel_of(b)
    for expected in ("Warp", "WarpPackage", "bilinear", "alpha", "0.2", "[2, -2]", "User-defined op", "Zeros", WICKED):
        checks.check(f"panel says {expected}", expected in words, words)
    checks.equal("histogram", b.run("return document.querySelectorAll('.histogram rect').length"), 32)
    b.screenshot(SHOTS / "small-panel.png")
    keyboard(checks, b)
    pointer(checks, b)
    contrast(checks, b)
    themes(checks, b)
    quiet(checks, b, "small")


def keyboard(checks, b):
    def title():
        b.settle()
        return b.run("return document.querySelector('#panel .title, #panel .name').innerText + '|' +"
                     "document.getElementById('panel-title').innerText")
    checks.equal("focus after the search", b.run(FOCUS), "canvas")
    b.press("ArrowUp")
    checks.equal("writer", title(), "first|Relu")
    b.press("ArrowUp")
    checks.equal("graph input", title(), "in|Graph input")
    b.press("ArrowDown", "ArrowDown")
    checks.equal("reader", title(), "warp|Warp")
    b.press("ArrowDown")
    below = {title()}
    b.press("ArrowLeft")
    below.add(title())
    b.press("ArrowRight")
    below.add(title())
    checks.equal("both readers", below, {"last|Relu", "side|Sigmoid"})
    checks.check("spoken", "in," in b.run("return document.getElementById('said').textContent"))
    b.press("Enter")
    checks.equal("focus in the panel", b.run(FOCUS), "panel")
    b.press("Tab")
    checks.equal("first control of the panel", b.run(FOCUS), "close")
    b.press("Escape")
    checks.equal("focus back", b.run(FOCUS), "canvas")
    b.press("Escape")
    checks.equal("deselected", b.run(PANEL), None)
    b.press("?")
    checks.check("help", b.run("return document.getElementById('help-box').open"))
    b.press("Escape")
    checks.check("help closed", not b.run("return document.getElementById('help-box').open"))
    b.press("o")
    words = panel_of(b)
    for expected in ("WarpPackage: Warp", "model.params", "converter-version"):
        checks.check(f"overview says {expected}", expected in words, words)
    b.screenshot(SHOTS / "small-overview.png")
    b.press("o")
    seen = []
    for _ in range(16):
        b.press("Tab")
        seen.append(b.run(FOCUS))
    missing = {"search", "overview", "theme", "help", "zoom-in", "zoom-out", "fit", "canvas"} - set(seen)
    checks.equal("reached by Tab", missing, set())


def pointer(checks, b):
    b.press("Escape")
    place = b.run("return dlcViewer.where('warp')")
    b.click(place["x"], place["y"])
    words = panel_of(b)
    checks.check("click shows the package", "WarpPackage" in words and "bilinear" in words, words)
    b.run("document.querySelector('#panel .link').click()")
    b.settle()
    checks.equal("link goes to the writer", b.run("return document.querySelector('#panel .name').innerText"), "first")
    b.click(300, 500)
    checks.equal("click on nothing", b.run(PANEL), None)


def contrast(checks, b):
    for step in ("o", "t"):
        b.press(step)
        ratio, words = b.least_contrast()
        checks.check("contrast", ratio >= 4.5, f"{ratio:.2f} of {words!r}")
    b.press("t", "o")


def themes(checks, b):
    light = b.run("return getComputedStyle(document.body).backgroundColor")
    b.press("t")
    dark = b.run("return getComputedStyle(document.body).backgroundColor")
    checks.check("two themes", light != dark, light)
    b.settle()
    b.screenshot(SHOTS / "small-dark.png")
    b.press("t")
    checks.equal("and back", b.run("return getComputedStyle(document.body).backgroundColor"), light)


def several_graphs(checks, b, page):
    """Our converter writes one graph; the page of several is that of one with its graph repeated."""
    model = model_of(page)
    other = json.loads(json.dumps(model["graphs"][0]))
    other["name"] = "other"
    other["ops"] = other["ops"][:1]
    other["outputs"] = []
    model["graphs"].append(other)
    joined = page.with_name("graphs.html")
    content = json.dumps(model).replace("<", "\\u003c")
    joined.write_text(MODEL.sub(lambda found: found.group(1) + content + found.group(3), page.read_text()))
    open_page(checks, b, joined, "two graphs")
    checks.equal("selector", b.run("return [...document.querySelectorAll('#graph option')].map(e => e.innerText)"),
                 [model["graphs"][0]["name"], "other"])
    b.run("const g = document.getElementById('graph'); g.value = 1; g.dispatchEvent(new Event('change'))")
    checks.equal("second graph", b.run("return document.getElementById('canvas').getAttribute('aria-label')"),
                 "Graph other: 1 ops")
    places = b.run("return [dlcViewer.where('first') !== null, dlcViewer.where('last')]")
    checks.equal("its nodes", places, [True, None])
    quiet(checks, b, "two graphs")


def large_page(checks, b, page, label, word):
    open_page(checks, b, page, label)
    b.settle()
    b.screenshot(SHOTS / f"{label}-top.png")
    frames = b.run("""
const canvas = document.getElementById('canvas'), times = [];
for (let i = 0; i < 30; i++) {
  const start = performance.now();
  canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: 120, ctrlKey: i < 10, bubbles: true, cancelable: true }));
  dlcViewer.drawNow();
  times.push(performance.now() - start);
}
return times.sort((a, b) => a - b);""")
    print(f"{label}: frames of {frames[15]:.1f} ms, the slowest {frames[-1]:.1f} ms")
    b.press("f")
    b.settle()
    b.screenshot(SHOTS / f"{label}-whole.png")
    unfold = ("const unfold = document.getElementById('unfold'); while (!unfold.disabled) unfold.click();"
              "return [dlcViewer.layoutTime(), dlcViewer.boxes().length]")
    layout, count = b.run(unfold)
    b.press("f")
    b.settle()
    frame = b.run("const start = performance.now(); dlcViewer.drawNow(); return performance.now() - start")
    print(f"{label}: {count} nodes without folding laid out in {layout:.0f} ms, drawn whole in {frame:.1f} ms")
    checks.check(f"{label}: all of it is drawn in time", frame < patient(100), frame)
    b.press("/")
    b.type(word)
    b.press("Enter")
    checks.check(f"{label} search", word in panel_of(b))
    b.screenshot(SHOTS / f"{label}-found.png")
    quiet(checks, b, label)


def version_3(checks, b, folder):
    shutil.copy(CONTAINERS / "selu-udo.v3.dlc", folder / "selu.dlc")
    dot = run("dlc-viewer", "-i", folder / "selu.dlc", "--dot").stdout
    checks.equal("edges of version 3", dot.count(" -> "), 7)
    checks.check("an end is drawn once", "  t0 " not in dot and 'label="UDO Selu"' in dot, dot)
    open_page(checks, b, make_page(checks, folder / "selu.dlc"), "version 3")
    b.press("/")
    b.type("udo")
    b.press("Enter")
    words = panel_of(b)
    checks.check("package of version 3", "SeluUdoPackage" in words, words)
    b.screenshot(SHOTS / "version-3.png")
    quiet(checks, b, "version 3")


def largest_model(checks, b, folder):
    dims = [word for name, dims in case_of_arrays(LARGEST).dims for word in ("-d", name, dims)]
    done = run("onnx-to-dlc", "-i", LARGEST / "model.onnx", "-o", folder / "bert.dlc", *dims)
    if checks.equal("conversion of the largest model", done.returncode, 0):
        large_page(checks, b, make_page(checks, folder / "bert.dlc"), "tfbert-qa", "MatMul")


def in_browser(checks, page, folder):
    SHOTS.mkdir(parents=True, exist_ok=True)
    large = make_page(checks, large_model(checks, folder))
    with browser.Browser() as b:
        small_page(checks, b, page)
        several_graphs(checks, b, page)
        large_page(checks, b, large, "nodes-5000", "/block_333/t_3337")
        if CONTAINERS.is_dir():
            version_3(checks, b, folder)
            largest_model(checks, b, folder)
    with browser.Browser(dark=True) as b:
        open_page(checks, b, page, "dark")
        checks.equal("dark by preference", b.run("return document.documentElement.dataset.theme"), "dark")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        container = small_model(checks, folder)
        page = make_page(checks, container)
        page_content(checks, container, page)
        quantized(checks, folder)
        drawings(checks, container, folder)
        usage(checks, container, folder)
        if browser.missing():
            checks.skip("the page in a browser", browser.missing())
        else:
            in_browser(checks, page, folder)
    checks.finish()


main()
