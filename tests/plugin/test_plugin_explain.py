# SPDX-License-Identifier: Apache-2.0
"""--explain of plugins: JSON by its schema, words, and that nothing of it changes results."""

import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "tools"))
from plugin_shop import GUIDE, Checks, config, convert, execute, explained, model_of, np, package, plugin_steps  # noqa: E402
from checks import SOURCE  # noqa: E402
import schema  # noqa: E402

DIMS = [1, 48, 16, 64]
RULES = json.loads((SOURCE / "docs/net-run-explain.schema.json").read_text())


def timeline(checks, step):
    """Kernels begin when what they read is there, and no unit does two things at a time."""
    kernels = [s for s in step["steps"] if s["kind"] == "kernel"]
    checks.check("timeline: no kernel ends before it begins", all(s["begin"] <= s["end"] for s in kernels))
    checks.equal("timeline: its end", step["end"], max(s["end"] for s in step["steps"]))
    moments = sorted({s["begin"] for s in kernels})
    matrix = [s for s in kernels if s["op"] == "Guide::Weigh"]
    busiest = max(sum(s["begin"] <= m < s["end"] for s in matrix) for m in moments)
    checks.equal("timeline: one matrix unit", busiest, 1)
    single = [s for s in kernels if s["op"] == "Guide::Square"]
    checks.check("timeline: four threads of vectors", max(sum(s["begin"] <= m < s["end"] for s in single) for m in moments) <= 4)
    checks.check("cost is the sum", abs(step["cost"] - sum(s.get("cost", 0) for s in kernels)) < 1e-6 * step["cost"])


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        library = package("guide")
        nodes = [("+Relu", ["x"], ["r"], {}), ("+Weigh", ["r"], ["w"], {}), ("+Square", ["w"], ["s"], {}), ("+Clip6", ["s"], ["c"], {}),
                 ("Neg", ["c"], ["y"], {})]
        done = convert(folder, model_of(nodes, [("x", DIMS)], [("y", DIMS)]), [config(folder, "Guide", GUIDE)])
        checks.equal("converts", done.returncode, 0)
        x = np.random.default_rng(2).uniform(-1, 1, DIMS).astype("f4")
        done, document, found = explained(folder, {library: "Guide"}, {"x": x}, "--tcm_size", "100K")
        checks.equal("by its schema", schema.faults(document, RULES), [])
        checks.check("a member that is not described is a fault", schema.faults({**document, "more": 1}, RULES))
        step = plugin_steps(document)[0]
        timeline(checks, step)
        native = [s["text"] for s in step["steps"] if s["kind"] == "native"]
        checks.check("a native operator of a rewrite", native and all("ReluMinMax" in text for text in native), native)
        checks.check("numbers", np.allclose(found["y"], -(np.exp(np.maximum(x, 0)) / np.exp(np.maximum(x, 0)).sum(-1, keepdims=True)).ravel() ** 2,
                                            rtol=1e-4))
        done, again = execute(folder, {library: "Guide"}, {"x": x}, "--tcm_size", "100K")
        checks.check("nothing changes", done.stdout.count("\n") == 1 and (again["y"] == found["y"]).all(), done.stdout)
        done, _ = execute(folder, {library: "Guide"}, {"x": x}, "--explain", "--tcm_size", "102400")
        for words in ("early_rewrite of Guide::Relu (node r)", "= Guide::ReluMinMax(", "tiles of Guide::Weigh (node w): ",
                      "taken   Guide::square, 1 slice, cost ", "schedule: begin, end, bytes of fast memory", "late_rewrite of Guide::Square (node s, "):
            checks.check(f"in words: {words}", words in done.stdout, done.stdout)
        for option, words in ((["--explain=xml"], "'xml' is no form"), (["--tcm_size", "much"], "'much' is no size"),
                              (["--tcm_size", "0"], "'0' is no size"), (["--slices", "0"], "--slices")):
            done, _ = execute(folder, {library: "Guide"}, {"x": x}, *option)
            checks.check(f"usage: {option}", done.returncode == 2 and words in done.stderr, (done.returncode, done.stderr))
        done, document, _ = explained(folder, {library: "Guide"}, {"x": x}, "--set_output_tensors", "r", "--isolate")
        checks.check("isolated", done.returncode == 0 and not schema.faults(document, RULES) and plugin_steps(document), done.stderr)
    checks.finish()


main()
