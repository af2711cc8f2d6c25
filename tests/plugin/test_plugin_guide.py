# SPDX-License-Identifier: Apache-2.0
"""The guide's examples as a package: the numbers of native operators, tiled and whole, at random shapes; and a chain of twelve
ops within a budget of fast memory."""

import pathlib
import random
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from plugin_shop import GUIDE, Checks, config, convert, execute, explained, model_of, np, package, plugin_steps  # noqa: E402
from checks import LONG, leave_out, share_of  # noqa: E402

OUTPUTS = ("asin", "relu", "clip", "highest", "scale", "square", "affine", "negate", "weigh", "sum", "difference")
SAME_BITS = {"relu", "clip", "highest", "scale", "square", "negate", "sum", "difference"}


def example_model(dims, rng):
    """Each op of the package, p_NAME, beside the native ones that give the same, n_NAME."""
    b, h, w, d = dims
    rows = [b, h - 2, w, d]
    slices = [("Slice", ["x", f"from{i}", f"to{i}", "one"], [f"rows{i}"], {}) for i in range(3)]
    nodes = [("+Asin", ["x"], ["p_asin"], {}), ("Asin", ["x"], ["n_asin"], {}),
             ("+Relu", ["x"], ["p_relu"], {}), ("Relu", ["x"], ["n_relu"], {}),
             ("+Clip6", ["x9"], ["p_clip"], {}), ("Clip", ["x9", "zero", "six"], ["n_clip"], {}),
             ("+Highest", ["x"], ["p_highest"], {}), *slices, ("Max", ["rows0", "rows1", "rows2"], ["n_highest"], {}),
             ("+Scale", ["x", "w"], ["p_scale"], {}), ("Mul", ["x", "w"], ["n_scale"], {}),
             ("+Square", ["x"], ["p_square"], {}), ("Mul", ["x", "x"], ["n_square"], {}),
             ("+Affine", ["x"], ["p_affine"], {"factor": 1.25, "summand": -0.5}),
             ("Mul", ["x", "factor"], ["product"], {}), ("Add", ["product", "summand"], ["n_affine"], {}),
             ("+Negate", ["x"], ["p_negate"], {}), ("Neg", ["x"], ["n_negate"], {}),
             ("+Weigh", ["x"], ["p_weigh"], {}), ("Softmax", ["x"], ["n_weigh"], {"axis": -1}),
             ("+SumDiff", ["x", "x9"], ["p_sum", "p_difference"], {}), ("Add", ["x", "x9"], ["n_sum"], {}),
             ("Sub", ["x", "x9"], ["n_difference"], {})]
    constants = [("w", [1, 1, 1, d], [rng.uniform(-2, 2) for _ in range(d)]), ("zero", [], [0.0]), ("six", [], [6.0]),
                 ("factor", [], [1.25]), ("summand", [], [-0.5])]
    shapes = {"highest": rows}
    outputs = [(f"{side}_{name}", shapes.get(name, dims)) for name in OUTPUTS for side in "pn"]
    m = model_of(nodes, [("x", dims), ("x9", dims)], outputs, constants)
    for i in range(3):
        m.tensor(f"from{i}", 7, [1], [i])
        m.tensor(f"to{i}", 7, [1], [h - 2 + i])
    m.tensor("one", 7, [1], [1])
    return m


def same(found, expected, name):
    if found.shape != expected.shape:
        return False
    if name in SAME_BITS:
        return found.tobytes() == expected.tobytes() or (found == expected).all()
    return np.allclose(found, expected, rtol=2e-6, atol=1e-6)


def examples(checks, folder, library):
    rng = random.Random(11)
    guide = config(folder, "Guide", GUIDE, {"Highest": ["in0[0]", "in0[1] - 2", "in0[2]", "in0[3]"]})
    cases = [[rng.choice((1, 1, 2, 3)), rng.randrange(3, 40), rng.randrange(1, 24), rng.choice((1, 3, 32, 40, 64, 96))]
             for _ in range(50)]
    for dims in share_of(cases, 7, "random shapes of the guide's examples"):
        done = convert(folder, example_model(dims, rng), [guide])
        if not checks.check(f"{dims}: converts", done.returncode == 0, done.stderr):
            continue
        data = np.random.default_rng(dims[1])
        inputs = {"x": data.uniform(-1, 1, dims).astype("f4"), "x9": data.uniform(-9, 9, dims).astype("f4")}
        inputs["x"].ravel()[:2] = (0.0, -1.0)
        bytes_of_tensor = 4 * np.prod(dims)
        tiles = {}
        for label, options in (("whole", ["--tcm_size", "1024M"]),
                               ("tiled", ["--tcm_size", str(max(512, int(bytes_of_tensor) // 5))]),
                               ("sliced", ["--tcm_size", "1024M", "--slices", "7", "--threads", "3"])):
            done, document, found = explained(folder, {library: "Guide"}, inputs, "--backend", "reference,plugin", *options)
            if not checks.check(f"{dims} {label}: runs", done.returncode == 0, done.stderr):
                continue
            tiles[label] = max(t["count"] for step in plugin_steps(document) for t in step["tilings"])
            for name in OUTPUTS:
                checks.check(f"{dims} {label}: {name}", same(found[f"p_{name}"], found[f"n_{name}"], name))
        checks.check(f"{dims}: is cut where there is little memory", tiles["tiled"] > tiles["whole"], tiles)


def chain(checks, folder, library):
    """Twelve ops on a tensor far larger than the budget: peak, and the numbers of the whole tensor."""
    dims, budget = ([1, 512, 512, 64], 2 << 20) if LONG else ([1, 128, 128, 64], 128 << 10)
    leave_out(0 if LONG else 1, 1, "chain on 1x512x512x64")
    cycle = [("+Negate", {}), ("+Affine", {"factor": 1.5, "summand": 0.25}), ("+Relu", {}), ("+Square", {})]
    nodes = [(*cycle[i % 4][:1], [f"t{i}"], [f"t{i + 1}"], cycle[i % 4][1]) for i in range(12)]
    done = convert(folder, model_of(nodes, [("t0", dims)], [("t12", dims)]), [config(folder, "Guide", GUIDE)])
    checks.equal("chain: converts", done.returncode, 0)
    x = np.random.default_rng(5).uniform(-1, 1, dims).astype("f4")
    done, document, tiled = explained(folder, {library: "Guide"}, {"t0": x}, "--tcm_size", str(budget))
    step = plugin_steps(document)[0]
    checks.check("chain: peak of fast memory", 0 < step["peak"] <= budget, step["peak"])
    checks.check("chain: all operands are in it", all(s["ddr_operands"] == 0 for s in step["steps"]))
    checks.equal("chain: nodes together", step["nodes"], 12)
    largest = max(t["count"] for t in step["tilings"])
    checks.check("chain: as few tiles as fit", largest <= 4 * x.nbytes // budget * 2, largest)
    done, whole = execute(folder, {library: "Guide"}, {"t0": x}, "--tcm_size", "1024M")
    y = x
    for _ in range(3):
        y = np.maximum(np.float32(1.5) * -y + np.float32(0.25), 0)
        y = y * y
    checks.check("chain: tiled is whole", (tiled["t12"] == whole["t12"]).all())
    checks.check("chain: numbers", np.allclose(tiled["t12"], y.ravel(), rtol=1e-5, atol=1e-6))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        library = package("guide")
        examples(checks, folder, library)
        chain(checks, folder, library)
    checks.finish()


main()
