# SPDX-License-Identifier: Apache-2.0
"""How a package is loaded, its ops are prepared and executed: a test for each stage of the interface's description."""

import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from plugin_shop import GUIDE, Checks, config, convert, execute, explained, model_of, np, package, plugin_steps  # noqa: E402

STAGES = {"First": (1, 1, ()), "Second": (1, 1, ()), "Third": (1, 1, ()), "Sum": (3, 1, ()), "Blank": (1, 1, ()),
          "Uses": (1, 1, ())}
DIMS = [1, 24, 16, 96]
X = np.random.default_rng(9).uniform(-1, 1, DIMS).astype("f4")


class Bench:
    """A container of nodes, executed with both packages."""

    def __init__(self, checks, folder):
        self.checks, self.folder = checks, folder
        self.guide, self.stages = package("guide"), package("stages")
        self.libraries = {self.guide: "Guide", self.stages: "Stages"}
        self.configs = [config(folder, "Guide", GUIDE, {"Highest": ["in0[0]", "in0[1] - 2", "in0[2]", "in0[3]"]}),
                        config(folder, "Stages", STAGES)]

    def make(self, label, nodes, outputs, inputs=(("x", DIMS),), constants=()):
        done = convert(self.folder, model_of(nodes, inputs, outputs, constants), self.configs)
        self.checks.check(f"{label}: converts", done.returncode == 0, done.stderr)

    def explain(self, label, *options, inputs=None, **more):
        done, document, found = explained(self.folder, self.libraries, inputs or {"x": X}, *options, **more)
        if not self.checks.check(f"{label}: runs", done.returncode == 0, done.stderr):
            return None, {}
        return plugin_steps(document), found


def loading(b):
    """provider, init, getInfo, logInitialize, qhpi_init, in this order; ops registered one by one."""
    b.make("loading", [("+Third", ["x"], ["y"], {})], [("y", DIMS)])
    done, _ = execute(b.folder, {b.stages: "Noted"}, {"x": X}, env={"TELL": "1"})
    b.checks.check("loading: order", "'provider init getInfo logInitialize qhpi_init' by qhpi_init" in done.stderr, done.stderr)
    for target, status in (("", 0), (":CPU", 0), (":htp", 0), (":NPU", 1)):
        done, found = execute(b.folder, {b.stages: "Stages"}, {"x": X}, target=target)
        b.checks.check(f"loading: target {target}", done.returncode == status and (status or (found["y"] == (X + 3).ravel()).all()),
                       done.stderr)


def rewriting(b):
    """New ops are candidates again; what callbacks are told of the graph."""
    b.make("rewriting", [("+First", ["x"], ["y"], {})], [("y", DIMS)])
    steps, found = b.explain("rewriting")
    b.checks.check("rewriting: numbers", (found["y"] == (X + 3).ravel()).all())
    rewrites = [(r["op"], r["after"][-1].split("(")[0].split(" = ")[1]) for r in steps[0]["rewrites"]]
    b.checks.equal("rewriting: to the end", rewrites, [("Stages::First", "Stages::Second"), ("Stages::Second", "Stages::Third")])
    b.make("uses", [("+Third", ["v"], ["t"], {}), ("+Third", ["t"], ["a"], {}), ("+Uses", ["t"], ["y"], {})],
           [("y", [2, 4]), ("a", [2, 4])], [("v", [2, 4])])
    steps, found = b.explain("uses", inputs={"v": np.zeros([2, 4])})
    b.checks.equal("uses", found["y"].tolist(), [2, 0, 0, 1, 0, 0, 1, 7])


def covers(tiling):
    """Whether the tiles are the output, each element once."""
    seen = np.zeros(tiling["output"], "i4")
    for tile in tiling["tiles"]:
        seen[tuple(slice(s, s + e) for s, e in zip(tile["start"], tile["extent"]))] += 1
    return (seen == 1).all()


def tiling(b):
    """Tiles cover the output; what an op requires, and makes legal, holds; ops that follow each other are cut alike."""
    nodes = [("+Negate", ["x"], ["n"], {}), ("+Scale", ["n", "w"], ["s"], {}), ("+Weigh", ["x"], ["v"], {}),
             ("+Asin", ["v"], ["a"], {}), ("+Highest", ["x"], ["h"], {})]
    b.make("tiling", nodes, [("s", DIMS), ("a", DIMS), ("h", [1, 22, 16, 96])],
           constants=[("w", [1, 1, 1, 96], np.linspace(1, 2, 96).tolist())])
    steps, found = b.explain("tiling", "--tcm_size", "60000")
    tilings = {t["node"]: t for step in steps for t in step["tilings"]}
    for node, t in tilings.items():
        b.checks.check(f"tiling: {node} is cut", t["count"] > 1 and t["count"] == len(t["tiles"]), t)
        b.checks.check(f"tiling: {node} is covered", covers(t))
    b.checks.equal("tiling: whole rows and columns are required, and 32 channels legal", tilings["s"]["tile"], [1, 24, 16, 32])
    b.checks.equal("tiling: whole depth is required", tilings["v"]["tile"][3], 96)
    b.checks.equal("tiling: neighbours are cut alike", tilings["v"]["tiles"], tilings["a"]["tiles"])
    b.checks.check("tiling: fewer tiles would not fit", tilings["v"]["count"] <= 2 * 3 * X.nbytes // 60000, tilings["v"]["count"])
    w = np.linspace(1, 2, 96).astype("f4")
    b.checks.check("tiling: numbers", (found["s"] == (-X * w).ravel()).all())
    b.checks.check("tiling: tiles that overlap in what they read",
                   (found["h"].reshape([1, 22, 16, 96]) == np.maximum(np.maximum(X[:, :-2], X[:, 1:-1]), X[:, 2:])).all())
    text, _ = execute(b.folder, b.libraries, {"x": X}, "--tcm_size", "60000", "--explain")
    b.checks.check("tiling: in words", "tiles of Guide::Scale (node s): 3 = [1,1,1,3] of [1,24,16,32], cut from [1,24,16,96]"
                   in text.stdout, text.stdout)


def without_elements(b):
    """There is nothing to cut, and kernels are executed all the same."""
    none = [1, 0, 4, 8]
    b.make("no elements", [("+Negate", ["v"], ["n"], {}), ("+Asin", ["n"], ["y"], {})], [("y", none)], [("v", none)])
    steps, found = b.explain("no elements", "--tcm_size", "512", inputs={"v": np.zeros(none)})
    b.checks.equal("no elements: whole", [(t["count"], t["reason"]) for t in steps[0]["tilings"]], [(1, "the output has no elements")] * 2)
    b.checks.equal("no elements: result", found["y"].size, 0)


def late(b):
    """Scratch behind tiling: an output without a reader, once an op."""
    b.make("late", [("+Square", ["x"], ["y"], {})], [("y", DIMS)])
    steps, found = b.explain("late", "--tcm_size", "60000")
    b.checks.check("late: numbers", (found["y"] == (X * X).ravel()).all())
    kernels = [s for s in steps[0]["steps"] if s["kind"] == "kernel"]
    b.checks.equal("late: once for each tile", len(steps[0]["rewrites"]), len(kernels))
    b.checks.check("late: two outputs", all(s["text"].count("Float32") == 2 for s in kernels), kernels[0]["text"])


def kernels(b):
    """The first that fits; reasons; counts; costs are told and choose nothing."""
    b.make("kernels", [("+Asin", ["x"], ["y"], {}), ("+Asin", ["v"], ["z"], {})], [("y", DIMS), ("z", [1, 2, 2, 3])],
           [("x", DIMS), ("v", [1, 2, 2, 3])])
    steps, _ = b.explain("kernels", inputs={"x": X, "v": X[:, :2, :2, :3]})
    used = {k["node"]: k for step in steps for k in step["kernels"]}
    b.checks.equal("kernels: by predicate", {n: k["kernel"] for n, k in used.items()}, {"y": "Guide::asin_deep", "z": "Guide::asin_any"})
    b.checks.equal("kernels: reasons", [t["reason"] for t in used["z"]["tried"]],
                   ["input 0: element_type: it asks for QUInt8, and the tensor is Float32", "predicate: it says no", None])
    b.checks.equal("kernels: cost", used["y"]["cost"], 100.0 * used["y"]["count"] + X.size)
    b.checks.equal("kernels: without cost", [s["kernels_without_cost"] for s in steps], [0, 1])
    b.make("counts", [("+Sum", ["x", "x", "x"], ["y"], {})], [("y", DIMS)])
    _, found = b.explain("counts")
    b.checks.check("counts: more inputs than the least", np.allclose(found["y"], 3 * X.ravel(), rtol=1e-6))


def executing(b):
    """Blocks are zeros, and filled once; slices of any number are the same; memory is shared where nobody else reads it."""
    b.make("blocks", [("+Blank", ["v"], ["y"], {})], [("y", [2])], [("v", [2])])
    done, found = execute(b.folder, b.libraries, {"v": np.zeros(2)}, "--iterations", "3")
    b.checks.check("blocks", done.returncode == 0 and found["y"].tolist() == [1, 3], done.stderr)
    b.make("slices", [("+Asin", ["x"], ["a"], {}), ("+Negate", ["a"], ["n"], {}), ("+Affine", ["n"], ["y"],
                                                                                   {"factor": 2.0, "summand": 1.0})], [("y", DIMS)])
    results = {}
    for slices in (1, 2, 3, 7):
        for threads in (1, 3):
            steps, found = b.explain(f"{slices} slices", "--slices", str(slices), "--threads", str(threads))
            results[slices, threads] = found["y"].tobytes()
            b.checks.equal(f"{slices} slices are taken", {k["slices"] for k in steps[0]["kernels"]}, {1, slices})
    b.checks.equal("slices: one result", len(set(results.values())), 1)
    b.checks.equal("in place", [s["in_place"] for s in steps[0]["steps"] if s["op"] == "Guide::Negate"],
                   [True] * len([s for s in steps[0]["steps"] if s["op"] == "Guide::Negate"]))
    b.make("readers", [("+Asin", ["x"], ["a"], {}), ("+Negate", ["a"], ["n"], {}), ("+SumDiff", ["a", "n"], ["y", "z"], {})],
           [("y", DIMS), ("z", DIMS)])
    steps, found = b.explain("readers")
    b.checks.check("not in place: another op reads the input", not any(s["in_place"] for s in steps[0]["steps"]))
    b.checks.check("readers: numbers", (found["y"] == 0).all() and np.allclose(found["z"], 2 * np.arcsin(X).ravel(), atol=1e-6))


def among_natives(b):
    """Groups end where a native node has to be executed between them; a tensor inside of a group can be had."""
    nodes = [("+Negate", ["x"], ["n"], {}), ("Abs", ["n"], ["b"], {}), ("+Affine", ["b"], ["f"], {"factor": 2.0, "summand": 0.0}),
             ("+SumDiff", ["f", "n"], ["y", "z"], {})]
    b.make("natives", nodes, [("y", DIMS), ("z", DIMS)])
    steps, found = b.explain("natives", "--tcm_size", "60000")
    b.checks.equal("natives: groups", [s["nodes"] for s in steps], [1, 2])
    b.checks.check("natives: numbers", (found["y"] == (2 * np.abs(X) - X).ravel()).all())
    steps, inner = b.explain("inner", "--tcm_size", "60000", "--set_output_tensors", "n,f,y")
    b.checks.check("inner: numbers", (inner["n"] == -X.ravel()).all() and (inner["f"] == 2 * np.abs(X).ravel()).all()
                   and (inner["y"] == found["y"]).all())
    b.checks.check("inner: tiles go on to the next op", steps[1]["peak"] <= 60000
                   and not any(s["ddr_operands"] for s in steps[1]["steps"]), steps[1]["peak"])
    done, _ = execute(b.folder, b.libraries, {"x": X}, "--compare", "plugin,reference", "--tcm_size", "60000")
    b.checks.equal("node by node", done.returncode, 0)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(checks, pathlib.Path(folder))
        for case in (loading, rewriting, tiling, without_elements, late, kernels, executing, among_natives):
            case(bench)
    checks.finish()


main()
