# SPDX-License-Identifier: Apache-2.0
"""What dlc-quantize refuses: where the fault is stands in the message, and no container appears."""

import json
import tempfile

from quantizing import FLOAT, INT64, Bench, Model, np, read_container, whole
from checks import SOURCE, Checks, run


def model(weights):
    """x → × w → log → y, and z, another input, added."""
    m = Model(opset=13)
    m.tensor("w", FLOAT, [3], weights)
    m.input("x", FLOAT, [2, 3])
    m.input("z", FLOAT, [2, 3])
    m.node("Mul", ["x", "w"], ["p"])
    m.node("Log", ["p"], ["l"])
    m.node("Add", ["l", "z"], ["y"])
    m.output("y", FLOAT, [2, 3])
    return m


ONES = np.ones((2, 3), "f4")


def fails(b, name, status, words, *options, **more):
    b.path("q.dlc").unlink(missing_ok=True)
    done = b.run(*options, **more)
    b.checks.equal(f"{name} status", done.returncode, status)
    for word in words:
        b.checks.check(f"{name} says {word}", word in done.stderr, done.stderr)
    b.checks.check(f"{name} writes nothing", not b.path("q.dlc").exists() and not list(b.folder.glob("*.part")))


def lists(b):
    fails(b, "no list", 2, ["ranges of 5 tensors"], listed=False)
    b.path("list.txt").write_text("\n \n")
    fails(b, "empty list", 2, ["list.txt", "names no inputs"])
    b.path("list.txt").write_text("%y\n")
    fails(b, "a list of results alone", 2, ["list.txt"])
    b.inputs({"x": ONES}, {"x": ONES, "z": ONES})
    fails(b, "an input is missing", 2, ["list.txt:1", "input z"])
    b.inputs({"x": ONES, "zz": ONES})
    fails(b, "unknown input", 2, ["list.txt:1", "zz", "did you mean z?"])
    b.inputs(ONES)
    fails(b, "no name", 2, ["list.txt:1", "2 inputs", "name:=path"])
    b.inputs({"x": ONES, "z": ONES[:1]})
    fails(b, "a file of another size", 1, ["in0_1.raw", "takes 24 bytes", "has 12"])
    b.path("list.txt").write_text("x:=nowhere.raw z:=nowhere.raw\n")
    fails(b, "no file", 1, ["nowhere.raw"])


def many_lines(b):
    """Files are looked for before the first inputs are computed: all faults are named in one run, each with its line."""
    b.inputs(*({"x": ONES, "z": ONES[: 1 if i == 7 else 2]} for i in range(20)))
    lines = b.path("list.txt").read_text().splitlines()
    cache = b.path("cache")
    fails(b, "a bad line of 20", 1, ["in7_1.raw", "takes 24 bytes", "list.txt:8: note: these are the inputs"],
          "--calibration_cache", cache)
    b.checks.check("nothing was observed", not cache.exists())
    for i in (3, 11):
        lines[i] = f"x:={b.path(f'gone{i}.raw')} z:={b.path('gone.npy')}"
    b.path("list.txt").write_text("\n".join(lines))
    words = ["gone3.raw", "gone.npy", "list.txt:4: note", "list.txt:8: note", "gone11.raw", "list.txt:12: note"]
    for option in (["--threads", "1"], ["--optimizations", "bc"]):
        fails(b, f"missing files with {option}", 1, words, *option)
    report = ["--report", b.path("r.json"), "--report_list", b.path("reported.txt")]
    b.path("reported.txt").write_text("\n".join(lines))
    b.inputs({"x": ONES, "z": ONES})
    fails(b, "a list for a report", 1, [word.replace("list.txt", "reported.txt") for word in words], *report)
    b.checks.check("no report", not b.path("r.json").exists())
    b.path("list.txt").write_text("x:=gone.raw z:=gone.raw\n" * 13)
    done = b.run()
    b.checks.equal("lines named", done.stderr.count("these are the inputs"), 10)
    b.checks.check("lines counted", "3 more lines" in done.stderr, done.stderr)


def part_of_list(b):
    """A part needs its own files alone, and a cache none of those that it stands for."""
    b.inputs(*({"x": ONES, "z": ONES} for _ in range(4)))
    cache, listed = b.path("cache"), ["--input_dlc", b.path("m.dlc"), "--input_list", b.path("list.txt")]
    b.quantize("--calibration_cache", cache)
    b.path("in3_0.raw").unlink()
    done = run("dlc-quantize", *listed, "--shard", "0/2", "--statistics", b.path("part"))
    b.checks.equal("the first half", (done.returncode, done.stderr), (0, ""))
    done = run("dlc-quantize", *listed, "--shard", "1/2", "--statistics", b.path("other"))
    b.checks.check("the second half", done.returncode == 1 and "list.txt:4: note" in done.stderr, done.stderr)
    b.checks.check("no statistics", not b.path("other").exists())
    b.quantize("--calibration_cache", cache)
    cache.unlink()


def token_ids(b):
    m = Model(opset=13)
    m.tensor("e", FLOAT, [4, 2], [float(i) for i in range(8)])
    m.input("ids", INT64, [3])
    m.node("Gather", ["e", "ids"], ["y"], name="embed")
    m.output("y", FLOAT, [3, 2])
    b.convert(m, "ids.dlc")
    b.inputs(np.array([0, 1, 3]), np.array([0, 4, 3]))
    fails(b, "an id that no row has", 1, ["node 'embed'", "list.txt:2: note: these are the inputs"], container="ids.dlc")
    b.inputs(np.array([0, 1, 3]), np.array([0, 0.5, 3]))
    fails(b, "half an id", 1, ["list.txt:2", "ids is 0.5"], container="ids.dlc")


def outputs(b):
    b.inputs({"x": ONES, "z": ONES})
    for option in ("--dump_encodings", "--calibration_cache", "--report"):
        fails(b, f"{option} and the container", 2, ["--output_dlc and " + option, "q.dlc", "same file"], option,
              b.folder / "." / "q.dlc")
    fails(b, "report and encodings", 2, ["--dump_encodings and --report"], "--report", b.path("r.json"), "--dump_encodings",
          f"{b.folder}/../{b.folder.name}/r.json")
    b.checks.check("neither", not b.path("r.json").exists())
    done = run("dlc-quantize", "--input_dlc", b.path("m.dlc"), "--input_list", b.path("list.txt"), "--statistics", b.path("s"),
               "--calibration_cache", b.path("s"))
    b.checks.check("statistics and cache", done.returncode == 2 and "same file" in done.stderr and not b.path("s").exists(),
                   done.stderr)


def values(b):
    for bad, word in ((np.nan, "NaN"), (np.inf, "an infinity"), (-np.inf, "an infinity")):
        array = ONES.copy()
        array[1, 2] = bad
        b.inputs({"x": ONES, "z": ONES}, {"x": ONES, "z": array})
        fails(b, f"input {bad}", 1, ["list.txt:2", "input z", word, "element 5"])
    b.inputs({"x": ONES, "z": ONES}, {"x": ONES * [1, 0, 1], "z": ONES})
    fails(b, "a layer's infinity", 1, ["list.txt:2", "node 'l'", "an infinity", "element 1"])
    b.inputs({"x": -ONES, "z": ONES})
    fails(b, "a layer's NaN", 1, ["list.txt:1", "node 'l'", "NaN", "element 0"])
    b.convert(model([1.0, float("nan"), 1.0]), "nan.dlc")
    fails(b, "a constant's NaN", 1, ["constant w", "NaN", "element 1"], container="nan.dlc")


def zeros(b):
    """What is zero for all inputs has the least range, and is told."""
    one = whole(8, 0, 0)
    for inputs, note in (({"x": ONES / [1, 2, 3], "z": ONES * 0}, "3 tensors, the first l,"), ({"x": np.eye(2, 3) + ONES, "z": ONES * 0}, "tensor z was zero")):
        b.inputs(inputs)
        done = b.run()
        b.checks.check(f"note {note}", done.returncode == 0 and note in done.stderr, done.stderr)
        b.checks.equal("least range", read_container(b.path("q.dlc")).tensors["z"].encodings, [one])


def encodings(b):
    b.inputs({"x": ONES, "z": ONES})
    file = b.path("e.json")

    def given(name, status, words, **sections):
        file.write_text(json.dumps({"activation_encodings": {}, "param_encodings": {}, **sections}))
        fails(b, name, status, words, "--quantization_overrides", file)

    some = {"bitwidth": 8, "min": -1, "max": 1}
    given("unknown tensor", 1, ["e.json", "xx", "did you mean x?"], activation_encodings={"xx": [some]})
    given("contradiction", 1, ["e.json", "two encodings"], activation_encodings={"x": [some]},
          param_encodings={"x": [{**some, "max": 2}]})
    given("channels of what is computed", 1, ["tensor p", "one encoding"], activation_encodings={"p": [some] * 3})
    given("channels of another number", 1, ["tensor w", "no axis"], param_encodings={"w": [some] * 4})
    given("contradictory widths", 1, ["e.json:1", "two encodings"], activation_encodings={"x": [{"bitwidth": 8}]},
          param_encodings={"x": [{"bitwidth": 16}]})
    given("a range of zero", 1, ["e.json:1", "tensor x", "range of zero alone"], activation_encodings={"x": [{**some, "min": 0, "max": 0}]})
    given("a range the wrong way", 1, ["e.json:1", "min is above max"], activation_encodings={"x": [{**some, "min": 1, "max": -1}]})
    given("an infinite range", 1, ["e.json:1", "finite"], activation_encodings={"x": [{**some, "max": float("inf")}]})
    given("no encoding", 1, ["e.json:1", "tensor x has no encoding"], activation_encodings={"x": []})
    real = {"bitwidth": 32, "dtype": "float"}
    given("integers and floats", 1, ["e.json", "x has two encodings"], activation_encodings={"x": [some]}, param_encodings={"x": [real]})
    given("all at once", 1, ["tensor xx", "tensor yy", "did you mean"], activation_encodings={"xx": [some], "yy": [real]})
    file.write_text(json.dumps({"activation_encodings": {"xx": [some]}, "param_encodings": {}}))
    fails(b, "names and encodings", 2, ["no node has the name nn", "no output pp", "tensor xx"], "--quantization_overrides", file,
          "--keep_float", "nn", "--preserve_io_datatype", "pp")
    fails(b, "no file of encodings", 1, ["nowhere.json"], "--quantization_overrides", b.path("nowhere.json"))
    fails(b, "dump into no folder", 1, ["nowhere"], "--dump_encodings", b.path("nowhere/d.json"))


def layers(b):
    """Parameters of one layer that are to be of different kinds."""
    m = Model(opset=13)
    m.tensor("w", FLOAT, [3, 3], [1.0] * 9)
    m.tensor("c", FLOAT, [3], [1.0, 2.0, 3.0])
    m.input("x", FLOAT, [2, 3])
    m.node("Gemm", ["x", "w", "c"], ["y"], name="gemm")
    m.output("y", FLOAT, [2, 3])
    b.convert(m, "layer.dlc")
    weights = next(name for name, t in read_container(b.path("layer.dlc")).tensors.items() if t.kind == "STATIC" and name != "c")
    b.inputs(ONES)
    some, real = [{"bitwidth": 8, "min": -1, "max": 4}], [{"bitwidth": 32, "dtype": "float"}]
    for first, second in ((weights, "c"), ("c", weights)):
        b.path("e.json").write_text(json.dumps({"activation_encodings": {}, "param_encodings": {first: real, second: some}}))
        fails(b, f"{first} float, {second} integers", 1, ["e.json", f"tensor {second}", f"{first}, of the same layer"],
              "--quantization_overrides", b.path("e.json"), container="layer.dlc")


def containers(b):
    b.inputs({"x": ONES, "z": ONES})
    b.quantize()
    b.path("once.dlc").write_bytes(b.path("q.dlc").read_bytes())
    fails(b, "twice", 1, ["once.dlc", "quantized already"], container="once.dlc")
    b.path("v3.dlc").write_bytes((SOURCE / "testdata" / "v3.dlc").read_bytes())
    fails(b, "version 3", 1, ["v3.dlc", "version 3", "quantized", "published nowhere", "convert the model again"], container="v3.dlc")
    fails(b, "no container", 1, ["list.txt"], container="list.txt")
    done = run("dlc-quantize", "--input_dlc", b.path("m.dlc"), "--input_list", b.path("list.txt"))
    b.checks.equal("default name", (done.returncode, done.stderr), (0, ""))
    b.checks.equal("default output", len(read_container(b.path("m_quantized.dlc")).ops), 3)


def options(b):
    for option, value in (("--act_bitwidth", "4"), ("--weights_bitwidth", "32"), ("--bias_bitwidth", "16"),
                          ("--act_quantizer_calibration", "enhanced"), ("--param_quantizer", "sqnr"),
                          ("--percentile_calibration_value", "50"), ("--percentile_calibration_value", "100.1"),
                          ("--percentile_calibration_value", "many"), ("--use_enhanced_quantizer", "biases"),
                          ("--act_quantizer_schema", "other")):
        fails(b, option, 2, [f"'{value}'"], option, value)
    fails(b, "no word", 2, ["--optimizations"], "--optimizations")
    fails(b, "unknown word", 2, ["'adaroundd'", "cle, adaround, bc"], "--optimizations", "bc,adaroundd")
    fails(b, "two widths of biases", 2, ["product", "32 bits", "chooses 8"], "--bias_scale", "product", "--bias_bitwidth", "8")
    fails(b, "statistics and biases", 2, ["--optimizations", "--input_list"], "--merge", "s0", "--algorithms", "bc", listed=False)
    for word, what in (("adaround", "roundings"), ("bc", "biases"), ("cle", "biases")):
        fails(b, f"{word} without a list", 2, [what, "--input_list"], "--algorithms", word, listed=False)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(checks, folder)
        b.convert(model([1.0, 2.0, 3.0]))
        for case in (lists, many_lines, part_of_list, token_ids, outputs, values, zeros, encodings, layers, containers, options):
            case(b)
    checks.finish()


main()
