# SPDX-License-Identifier: Apache-2.0
"""dlc-quantize --report: its numbers against those that NumPy makes of what net-run gives for both containers; and
net-run --compare of the two."""

import json
import tempfile

from quantizing import FLOAT, Bench, Model, np
from checks import Checks, run

BINS, BESIDE = 64, 8


def network(rng):
    """x → Conv → Relu → MaxPool → Conv → y, and Relu → Sigmoid → z."""
    m = Model(opset=13)
    m.tensor("w", FLOAT, [4, 3, 3, 3], rng.uniform(-1, 1, 108).astype("f4").tolist())
    m.tensor("b", FLOAT, [4], [0.5, -0.25, 1.0, 0.0])
    m.tensor("v", FLOAT, [2, 4, 1, 1], rng.uniform(-1, 1, 8).astype("f4").tolist())
    m.input("x", FLOAT, [1, 3, 8, 8])
    m.node("Conv", ["x", "w", "b"], ["c"], pads=[1] * 4)
    m.node("Relu", ["c"], ["r"])
    m.node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2])
    m.node("Conv", ["p", "v"], ["y"])
    m.node("Sigmoid", ["r"], ["z"])
    m.output("y", FLOAT, [1, 2, 4, 4])
    m.output("z", FLOAT, [1, 4, 8, 8])
    return m


def measured(x, y):
    x, y = x.astype("f8"), y.astype("f8")
    return {"sqnr": 10 * np.log10(np.square(x).sum() / np.square(x - y).sum()),
            "cosine": (x * y).sum() / np.sqrt(np.square(x).sum() * np.square(y).sum()), "max_error": np.abs(x - y).max()}


def after(x, encoding):
    """The reals of the integers that an encoding of unsigned ones has for x."""
    scale, offset, bits = encoding["least_scale"], encoding["least_offset"], encoding["bitwidth"]
    return (np.clip(np.rint(x.astype("f8") / scale) - offset, 0, 2 ** bits - 1) + offset) * scale


def histogram(x, encoding):
    low, high = (encoding["least_offset"] * encoding["least_scale"],
                 (encoding["least_offset"] + 2 ** encoding["bitwidth"] - 1) * encoding["least_scale"])
    width = (high - low) / (BINS - 2 * BESIDE)
    place = np.floor((x.astype("f8") - low + BESIDE * width) / (high - low + 2 * BESIDE * width) * BINS)
    return np.bincount(np.clip(place, 0, BINS - 1).astype(int).ravel(), minlength=BINS).tolist()


def close(checks, label, found, wanted):
    for key, value in wanted.items():
        checks.check(f"{label}: {key}", abs(found[key] - value) <= 1e-6 * max(1, abs(value)), (found[key], value))


def collect(b, container):
    """{tensor: values of all lines}, those of nodes, computed by the reference."""
    lines = b.results(container, "--debug", "--backend", "reference")
    return {name.removesuffix(".raw"): np.concatenate([line[name] for line in lines]) for name in lines[0]}


def check_layer(checks, layer, floats, fixed):
    name = layer["tensor"]
    target = floats[layer.get("cut_off_as", name)]
    encoding = layer["encodings"]
    reals = after(target, encoding)
    close(checks, name, layer["error"], measured(target, fixed[name]))
    close(checks, f"{name}, rounded", layer["rounding"], measured(target, reals))
    steps = np.rint(target.astype("f8") / encoding["least_scale"]) - encoding["least_offset"]
    checks.equal(f"{name}: saturated", layer["saturated"], int(((steps < 0) | (steps > 255)).sum()))
    checks.equal(f"{name}: levels", layer["levels"], len(np.unique(fixed[name])))
    close(checks, f"{name}: range", layer, {"min": target.min(), "max": target.max()})
    checks.equal(f"{name}: histogram", layer["histogram"]["bins"], histogram(target, encoding))
    checks.equal(f"{name}: values", layer["values"], target.size)


def numbers(b, rng):
    b.convert(network(rng))
    calibrated = b.path("calibrated.txt")
    rng.uniform(-1, 1, (1, 8, 8, 3)).astype("<f4").tofile(b.path("calibrated.raw"))
    calibrated.write_text(str(b.path("calibrated.raw")))
    options = ["--input_list", calibrated, "--bias_bitwidth", "32", "--use_per_channel_quantization"]
    first = b.run(*options, "--report", b.path("first.json"), listed=False)
    b.checks.equal("status", (first.returncode, first.stderr), (0, ""))
    # Other inputs, which go beyond the range of those before.
    b.inputs(*(1.5 * rng.uniform(-1, 1, (1, 8, 8, 3)) for _ in range(3)))
    done = b.run(*options, "--report", b.path("r.json"), "--report_list", b.path("list.txt"), listed=False)
    b.checks.equal("status with a list", (done.returncode, done.stderr), (0, ""))
    report = json.loads(b.path("r.json").read_text())
    layers = {layer["tensor"]: layer for layer in report["layers"]}
    b.checks.equal("head", (report["schema"], report["schema_version"], report["inferences"]), ("opendlc.quantize-report", 1, 3))
    b.checks.equal("bytes", report["constant_bytes"], {"floats": 4 * (108 + 4 + 8), "quantized": 108 + 4 * 4 + 8})
    floats, fixed = collect(b, b.path("m.dlc")), collect(b, b.path("q.dlc"))
    b.checks.equal("layers", {name for name, layer in layers.items() if layer["node"]}, set(floats))
    for name in floats:
        check_layer(b.checks, layers[name], floats, fixed)
    b.checks.equal("before the Relu", [layers[name].get("cut_off_as") for name in "crp"], ["r", None, None])
    b.checks.check("beyond the range", layers["x"]["saturated"] > 0, layers["x"]["saturated"])
    worst = [report["layers"][i]["error"]["sqnr"] for i in report["worst"]]
    b.checks.equal("the worst first", worst, sorted(layers[name]["error"]["sqnr"] for name in floats))
    weights = layers["w"]
    b.checks.equal("channels", (weights["encodings"]["count"], weights["encodings"]["axis"]), (4, 3))
    alone(b, layers, floats)
    pairs(b)
    again = b.run(*options, "--report", b.path("again.json"), "--report_list", b.path("list.txt"), listed=False)
    b.checks.equal("again", (again.returncode, b.path("again.json").read_bytes()), (0, b.path("r.json").read_bytes()))
    b.checks.check("the worst are printed", "The layers that lost most, of 5" in done.stdout, done.stdout)


def pairs(b):
    """net-run --compare FILE.dlc: the table of both containers, as text and as JSON."""
    floats, fixed = collect(b, b.path("m.dlc")), collect(b, b.path("q.dlc"))
    done = run("net-run", "--container", b.path("q.dlc"), "--input_list", b.path("list.txt"), "--output_dir", b.path("out"),
               "--backend", "reference", "--compare", b.path("m.dlc"), "--compare_json", b.path("c.json"))
    b.checks.equal("pair status", (done.returncode, done.stderr), (0, ""))
    said = json.loads(b.path("c.json").read_text())
    b.checks.equal("pair head", (said["schema"], said["schema_version"], said["inferences"]), ("opendlc.net-run-compare", 1, 3))
    b.checks.equal("pairs", {t["tensor"]: t["values"] for t in said["tensors"]}, {name: v.size for name, v in floats.items()})
    for t in said["tensors"]:
        close(b.checks, f"pair {t['tensor']}", t["error"], measured(floats[t["tensor"]], fixed[t["tensor"]]))
        row = next((line for line in done.stdout.splitlines() if line.rstrip(" |").endswith(" " + t["tensor"])), "")
        b.checks.check(f"row of {t['tensor']}", f"{t['error']['sqnr']:.1f}" in row and t["op"] in row, done.stdout)
    for more, words in ((("--compare", "reference", "--compare_json", b.path("d.json")), "comparison with a container or with files"),
                        (("--compare", b.path("none.dlc")), "none.dlc")):
        done = run("net-run", "--container", b.path("q.dlc"), "--input_list", b.path("list.txt"), "--output_dir", b.path("out"),
                   *more)
        b.checks.check(f"{more[1]} fails", done.returncode > 0 and words in done.stderr, done.stderr)


def alone(b, layers, floats):
    """A MaxPool gives its operand's integers: its own error is that of rounding. A Sigmoid of what its operand's integers stand for."""
    b.checks.equal("own error of a MaxPool", layers["p"]["own"], layers["p"]["rounding"])
    operand = after(floats["r"], layers["r"]["encodings"])
    reals = after(1 / (1 + np.exp(-operand)), layers["z"]["encodings"])
    close(b.checks, "own error of a Sigmoid", layers["z"]["own"], measured(floats["z"], reals))


def errors(b, rng):
    b.convert(network(rng))
    b.inputs(rng.uniform(-1, 1, (1, 8, 8, 3)))
    for options, words in ((("--report", b.path("r.txt")), "what kind of report"),
                           (("--report_list", b.path("list.txt")), "is for a report")):
        done = b.run(*options)
        b.checks.equal(f"status of {options[0]}", done.returncode, 2)
        b.checks.check(f"message of {options[0]}", words in done.stderr, done.stderr)
    done = b.run("--report", b.path("r.json"), listed=False)
    b.checks.check("no inputs", done.returncode == 2 and "no inputs to compare" in done.stderr, done.stderr)
    b.path("short.txt").write_text(str(b.path("list.txt")))
    b.path("q.dlc").unlink(missing_ok=True)
    done = b.run("--report", b.path("none.json"), "--report_list", b.path("short.txt"))
    b.checks.equal("a wrong file", (done.returncode, "takes 768 bytes" in done.stderr), (1, True))
    b.checks.equal("nothing appears", [b.path(name).exists() for name in ("none.json", "q.dlc")], [False, False])


def main():
    checks = Checks()
    for case in (numbers, errors):
        with tempfile.TemporaryDirectory() as folder:
            case(Bench(checks, folder), np.random.default_rng(5))
    checks.finish()


main()
