# SPDX-License-Identifier: Apache-2.0
"""dlc-viewer --explain: the page of how plugins were prepared, in a headless Chromium, and what is refused."""

import json
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from plugin_shop import BUILD, GUIDE, Checks, config, convert, execute, model_of, np, package, plugin_steps, run  # noqa: E402
import browser  # noqa: E402

SHOTS = BUILD / "viewer-screenshots"
DIMS = [1, 48, 16, 64]
WICKED = "</script><script>window.harm = 1</script>"


def made(checks, folder):
    """Relu → Weigh → Square, a native node, and Asin; the second group has a wicked name."""
    nodes = [("+Relu", ["x"], ["r"], {}), ("+Weigh", ["r"], ["w"], {}), ("+Square", ["w"], ["s"], {}), ("Abs", ["s"], ["a"], {}),
             ("+Asin", ["a"], [WICKED], {})]
    done = convert(folder, model_of(nodes, [("x", DIMS)], [(WICKED, DIMS)]), [config(folder, "Guide", GUIDE)])
    checks.equal("converts", done.returncode, 0)
    x = np.random.default_rng(2).uniform(-1, 1, DIMS)
    done, _ = execute(folder, {package("guide"): "Guide"}, {"x": x}, "--explain=e.json", "--tcm_size", "100K")
    checks.equal("explains in a file", (done.returncode, done.stdout.count("\n"), done.stderr), (0, 1, ""))
    document = json.loads((folder / "e.json").read_text())
    again, _ = execute(folder, {package("guide"): "Guide"}, {"x": x}, "--explain=json", "--tcm_size", "100K")
    checks.equal("the file is what is printed", json.JSONDecoder().raw_decode(again.stdout)[0], document)
    done, _ = execute(folder, {package("guide"): "Guide"}, {"x": x}, "--explain=no/where.json")
    checks.check("a file that cannot be", done.returncode == 1 and "no/where.json" in done.stderr, done.stderr)
    return document


def page_of(checks, folder, document):
    done = run("dlc-viewer", "-i", "m.dlc", "--explain", "e.json", "-s", "page.html", "-q", cwd=folder)
    checks.equal("page", (done.returncode, done.stdout, done.stderr), (0, "", ""))
    text = (folder / "page.html").read_text()
    inside = re.search(r'<script type="application/json" id="model">(.*?)</script>', text, re.DOTALL).group(1)
    checks.equal("the explanation is in the page", json.loads(inside), document)
    checks.equal("two ends of scripts", text.count("</script"), 2)
    checks.check("no network", not re.search(r"https?://(?!www\.w3\.org)", text.split("<script type")[0]))
    return folder / "page.html"


def refused(checks, folder, document):
    def fails(name, status, words, text, *options):
        (folder / "bad.html").unlink(missing_ok=True)
        (folder / "bad.json").write_text(text if isinstance(text, str) else json.dumps(text))
        done = run("dlc-viewer", "-i", "m.dlc", "-s", "bad.html", "--explain", "bad.json", *options, cwd=folder)
        checks.check(f"{name}: words", done.returncode == status and all(word in done.stderr for word in words), (done.returncode, done.stderr))
        checks.check(f"{name}: no page", not (folder / "bad.html").exists())

    def without(name):
        """The explanation without that member of the first object that has it."""
        copy = json.loads(json.dumps(document))
        open_ = [copy]
        while open_:
            at = open_.pop(0)
            if isinstance(at, dict) and at.pop(name, None) is not None:
                return copy
            open_ += at.values() if isinstance(at, dict) else at if isinstance(at, list) else []
        raise KeyError(name)

    fails("no JSON", 1, ["bad.json:1"], "plugin: 1 node")
    fails("other JSON", 1, ["no explanation of an execution", "net-run --explain=FILE.json"], {"steps": []})
    fails("another version", 1, ["another version than 1"], {**document, "schema_version": 2})
    for name in ("container", "steps", "refusals", "backend", "fast_memory", "rewrites", "before", "tilings", "extent", "kernels", "tried",
                 "fast_bytes", "resources"):
        fails(f"without {name}", 1, [f"a member {name}" if name not in ("backend", "before", "extent") else "a member "], without(name))
    other = json.loads(json.dumps(document))
    other["steps"][0]["node"] = "stranger"
    fails("another container", 1, ["of another container"], other)
    fails("of a drawing", 2, ["--explain is for a page"], document, "--dot")
    fails("and a report", 2, ["--explain is for a page of its own"], document, "--report", "bad.json")


TEXT = "return document.getElementById(arguments[0]).innerText"


def in_browser(checks, page, document):
    SHOTS.mkdir(parents=True, exist_ok=True)
    first, second = plugin_steps(document)
    with browser.Browser(height=1600) as b:
        b.open(page)
        b.wait_for("return document.querySelector('#steps tbody tr')")
        b.screenshot(SHOTS / "explain.png")
        checks.equal("title", b.run("return document.getElementById('file').innerText"), "Preparation of m.dlc")
        summary = b.run(TEXT, "tiles")
        for words in (f"{first['peak'] / 1024:#.3g} KiB of 100 KiB", "3\nnodes, prepared together", f"in {len(first['steps'])} steps"):
            checks.check(f"summary: {words}", words in summary, summary)
        b.run("for (const d of document.querySelectorAll('#ops details')) d.open = true")
        ops = b.run(TEXT, "ops")
        relu, = (r for r in first["rewrites"] if r["op"] == "Guide::Relu")
        for words in (*relu["before"], *relu["after"], "early_rewrite of Guide::Relu: before", "late_rewrite of Guide::Square, ",
                      *(f"{t['op']}: {t['count']} tiles of" for t in first["tilings"]), "Guide::relu_min_max is taken: 4 slices, cost"):
            checks.check(f"ops: {words}", words in ops, ops)
        extents = [f"[{','.join(map(str, t['extent']))}] at [{','.join(map(str, t['start']))}]" for t in first["tilings"][0]["tiles"]]
        checks.check("ops: all tiles", all(line in ops for line in extents), ops)
        drawn = b.run("return document.querySelectorAll('#ops .grid-of-tiles')[0].querySelectorAll('rect').length")
        checks.equal("ops: tiles are drawn", drawn, first["tilings"][0]["count"])
        bars = b.run("return [...document.querySelectorAll('#schedule .work')].map(e => [e.getAttribute('class'), Number(e.getAttribute('x')),"
                     " Number(e.getAttribute('width'))])")
        costs = [s for s in first["steps"] if s["kind"] == "kernel" and s["end"] > s["begin"]]
        checks.equal("schedule: a bar a kernel", len(bars), len(costs))
        checks.equal("schedule: units", sum("hmx" in bar[0] for bar in bars), sum("HMX" in s["resources"] for s in costs))
        places = sorted((72 + s["begin"] / first["end"] * 1056, (s["end"] - s["begin"]) / first["end"] * 1056) for s in costs)
        checks.check("schedule: places", np.allclose(sorted(bar[1:] for bar in bars), [(x, max(1, w)) for x, w in places], atol=0.01), bars)
        highest = b.run("return Math.min(...document.querySelector('#memory .use').getAttribute('points').split(' ')"
                        ".map((p) => Number(p.split(',')[1])))")
        checks.check("memory: its peak", abs(highest - (12 + (1 - first["peak"] / 102400) * 154)) < 0.01, highest)
        checks.equal("steps: a row each", b.run("return document.querySelectorAll('#steps tbody tr').length"), len(first["steps"]))
        b.run("const f = document.getElementById('filter'); f.value = 'Weigh'; f.dispatchEvent(new Event('input'))")
        checks.equal("steps: filtered", b.run("return document.querySelectorAll('#steps tbody tr').length"),
                     sum("Weigh" in s["text"] for s in first["steps"]))
        for theme in ("light", "dark"):
            ratio, words = b.least_contrast()
            checks.check(f"{theme}: contrast", ratio >= 4.5, f"{ratio:.2f} of {words!r}")
            ratio, shape, shapes = b.least_shape_contrast()
            checks.check(f"{theme}: contrast of shapes", ratio >= 3 and shapes > first["tilings"][0]["count"], f"{ratio:.2f} of {shape}")
            checks.equal(f"{theme}: theme", b.run("return document.documentElement.dataset.theme"), theme)
            b.run("document.getElementById('theme').click()")
        b.run("const g = document.getElementById('group'); g.value = 1; g.dispatchEvent(new Event('change'))")
        ops = b.run(TEXT, "ops")
        for tried in second["kernels"][0]["tried"]:
            words = f"{tried['kernel']} is skipped: {tried['reason']}" if tried["reason"] else f"{tried['kernel']} is taken"
            checks.check(f"second group: {words}", words in ops, ops)
        checks.check("second group: its name", WICKED in ops, ops)
        checks.equal("wicked name did nothing", b.run("return window.harm || null"), None)
        backends = b.run(TEXT, "backends") + b.run(TEXT, "refusals")
        checks.check("backends", "Abs" in backends and all(r["reason"] in backends for r in document["refusals"]), backends)
        b.screenshot(SHOTS / "explain-second.png")
        checks.equal("console", b.log(), [])


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        document = made(checks, folder)
        page = page_of(checks, folder, document)
        refused(checks, folder, document)
        if browser.missing():
            checks.skip("the page in a browser", browser.missing())
        else:
            in_browser(checks, page, document)
    checks.finish()


main()
