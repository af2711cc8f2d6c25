# SPDX-License-Identifier: Apache-2.0
"""What the user says about a model's inputs and outputs."""

import sys
import tempfile

from conversion import Workshop, chain, onnx, op_types, scaled, scaling
from checks import Checks


def dims_of(container, name="x"):
    return container.tensors[name].dims if container else None


def fixed_dims(w):
    equal, open_model = w.checks.equal, chain("Relu", dims=["N", 2, "W"])
    for label, args, expected in (
            ("-d", ["-d", "x", "4,2,5"], [4, 5, 2]),  # stored channels-last
            ("--input_dim", ["--input_dim", "x", "4,2,5"], [4, 5, 2]),
            ("symbols", ["--define_symbol", "N", "3", "-s", "W", "7"], [3, 7, 2]),
            ("batch and symbol", ["--batch", "6", "-s", "W", "7"], [6, 7, 2]),
            ("-b", ["-b", "6", "-s", "W", "7"], [6, 7, 2])):
        container, _ = w.convert(label, open_model, *args)
        equal(f"{label}: dims", (dims_of(container), dims_of(container, "y")), (expected, expected))
    container, _ = w.convert("batch of a fixed model", chain("Relu", dims=[1, 3]), "-b", "4")
    equal("batch of a fixed model", dims_of(container), [4, 3])
    container, messages = w.convert("other dims", chain("Relu", dims=[1, 3]), "-d", "x", "1,5")
    equal("other dims", dims_of(container), [1, 5])
    w.checks.check("other dims are warned of", "dimension 1 is 3 in the model, 5 is used" in messages, messages)


def wrong_dims(w):
    two = onnx.Model()
    for name in ("image", "mask", "plain"):
        two.input(name, onnx.FLOAT, [1, 2] if name == "plain" else ["N", 2])
    two.node("Sum", ["image", "mask", "plain"], ["y"])
    two.output("y", onnx.FLOAT, None)
    messages = w.fails("open dims", 1, ["2 graph inputs have open dimensions: image [N,2], mask [N,2]",
                                        "--input_dim image", "--input_dim mask"], two)
    w.checks.check("open dims: only those", "--input_dim plain" not in messages, messages)
    w.fails("wrong name", 2, ["no input imag", "did you mean image?", "image, mask, plain"], two, "-d", "imag", "1,2")
    w.fails("wrong rank", 2, ["3 dimensions given", "has 2"], two, "-d", "image", "1,2,3")
    for text in ("1,x", "1,", "0,2", "-1,2", "1.5,2", "99999999999999999999,1", "1;2", ""):
        w.fails(f"dims {text!r}", 2, ["is not a list of dimensions"], two, "-d=image", text)
    w.fails("huge dims", 1, ["image"], two, "-d", "image", "9000000000000000000,9", "-d", "mask", "1,2")
    unknown_rank = chain("Relu", dims=None)
    w.fails("unknown rank", 1, ["x has open dimensions", "--input_dim x"], unknown_rank)
    container, _ = w.convert("given rank", unknown_rank, "-d", "x", "1,7")
    w.checks.equal("given rank", dims_of(container), [1, 7])


def wrong_symbols(w):
    m = chain("Relu", dims=["batch", 2])
    for value in ("x", "0", "-3", "1e3", "99999999999999999999"):
        w.fails(f"symbol {value}", 2, ["--define_symbol batch", "positive"], m, "-s", "batch", value)
    w.fails("unknown symbol", 2, ["no symbolic dimension bach", "did you mean batch?"], m, "-s", "bach", "1")
    w.fails("batch 0", 2, ["--batch"], m, "--batch", "0")
    w.fails("batch x", 2, ["--batch"], m, "--batch", "x")


def dtypes(w):
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [2, 2])
    m.input("i", onnx.INT64, [1])
    m.node("Gather", ["x", "i"], ["y"], name="pick")
    m.output("y", onnx.FLOAT, [1, 2])
    container = w.gives("int32 indices", m, {"x": [1, 2, 3, 4], "i": [1]}, {"y": [3, 4]}, "--input_dtype", "i", "int32")
    if container:
        w.checks.equal("int32 indices", container.tensors["i"].dtype, "INT_32")
    w.fails("unknown type", 2, ["there is no type floaty", "float32"], m, "--input_dtype", "i", "floaty")
    w.fails("type of an unknown input", 2, ["no input z"], m, "--input_dtype", "z", "int32")


def layouts(w):
    m, values = scaled(), {"x": [1, 2, 3, 4, 5, 6]}
    # Channels 1 2 3 and 4 5 6; channels-last they alternate.
    last = {"x": [1, 4, 2, 5, 3, 6]}
    last_result, result = {"y": [2, 8, 4, 10, 6, 12]}, {"y": [2, 4, 6, 8, 10, 12]}
    container = w.gives("default layout", m, last, last_result)
    w.checks.equal("default layout", (dims_of(container), dims_of(container, "y")), ([1, 1, 3, 2], [1, 1, 3, 2]))
    w.gives("NCHW", m, last, last_result, "-l", "x", "NCHW")
    for layout in ("NHWC", "NONTRIVIAL"):
        container = w.gives(layout, m, values, last_result, "--input_layout", "x", layout)
        w.checks.equal(f"{layout}: dims", dims_of(container), [1, 2, 1, 3])
    plain = chain("Relu", dims=[1, 2, 1, 3])
    container = w.gives("no image op", plain, last, {"y": last["x"]})
    w.checks.equal("no image op", dims_of(container), [1, 1, 3, 2])
    container = w.gives("told to be NCHW", plain, last, {"y": last["x"]}, "-l", "x", "NCHW")
    w.checks.equal("told to be NCHW", dims_of(container), [1, 1, 3, 2])
    w.fails("unknown layout", 2, ["no layout NCWH", "NCHW, NHWC, NCF", "NONTRIVIAL"], m, "-l", "x", "NCWH")
    w.fails("layout of an unknown input", 2, ["no input z"], m, "-l", "z", "NCHW")
    container = w.gives("preserved layout", m, values, result, "--preserve_io", "layout")
    w.checks.equal("preserved layout", (dims_of(container), dims_of(container, "y")), ([1, 2, 1, 3], [1, 2, 1, 3]))
    w.checks.equal("preserved layout: ops", op_types(container), ["Transpose", "Conv2d", "Transpose"])
    w.gives("preserved input", m, values, last_result, "--preserve_io", "layout", "x")
    w.gives("preserved output", m, last, result, "--preserve_io", "layout", "y")
    w.gives("preserved output, attached", m, last, result, "--preserve_io=layout", "y")
    w.fails("preserved unknown", 2, ["--preserve_io", "no input or output yy", "did you mean y?", "x, y"], m,
            "--preserve_io", "layout", "yy")


def spatial_integers():
    """Integers go along; a convolution beside them makes x spatial."""
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [1, 2, 1, 3])
    m.input("i", onnx.INT64, [3])
    scaling(m, "x", "y")
    m.tensor("one", onnx.INT64, [1], [1])
    m.node("Add", ["i", "one"], ["j"])
    m.output("y", onnx.FLOAT, [1, 2, 1, 3])
    m.output("j", onnx.INT64, [3])
    return m


def integers(w):
    m, first, last = spatial_integers(), [1, 2, 3, 4, 5, 6], [1, 4, 2, 5, 3, 6]
    twice_first, twice_last = ([2 * v for v in values] for values in (first, last))
    for label, args, dtype, x, y in (
            ("narrowed", [], "INT_32", last, twice_last),
            ("preserved alone", ["--preserve_io"], "INT_64", first, twice_first),
            ("preserved types", ["--preserve_io", "datatype"], "INT_64", last, twice_last),
            ("preserved types by name", ["--preserve_io", "datatype", "i", "j"], "INT_64", last, twice_last)):
        container = w.gives(label, m, {"x": x, "i": [5, -7, 0]}, {"y": y, "j": [6, -6, 1]}, *args)
        if container:
            types = [container.tensors[name].dtype for name in ("i", "j")]
            w.checks.equal(f"{label}: types", types, [dtype, dtype])
    container = w.gives("one type", m, {"x": last, "i": [5, -7, 0]}, {"y": twice_last, "j": [6, -6, 1]},
                        "--preserve_io", "datatype", "j")
    if container:
        types = [container.tensors[name].dtype for name in ("i", "j")]
        w.checks.equal("one type", types, ["INT_32", "INT_64"])


def cut(w):
    m = chain("Relu", "Neg", "Abs", "Neg")
    for label, args, expected in (
            ("by tensor", ["--out_node", "t1"], {"t1": [-3, 0]}),
            ("by node", ["--out_node", "t1_node"], {"t1": [-3, 0]}),
            ("--out_name", ["--out_name", "t0"], {"t0": [3, 0]}),
            ("two", ["--out_node", "t0", "t2_node"], {"t0": [3, 0], "t2": [3, 0]}),
            ("two options", ["--out_node", "t0", "--out_node=t2"], {"t0": [3, 0], "t2": [3, 0]}),
            ("twice the same", ["--out_node", "t1", "t1_node", "t1"], {"t1": [-3, 0]}),
            ("the output itself", ["--out_node", "y"], {"y": [-3, 0]})):
        container = w.gives(f"cut {label}", m, {"x": [3, -4]}, expected, *args)
        if container:
            found = [tensor.name for tensor in container.tensors.values() if tensor.kind == "APP_READ"]
            w.checks.equal(f"cut {label}: outputs", found, list(expected))
    container, _ = w.convert("cut", m, "--out_node", "t1")
    w.checks.equal("cut: ops", len(container.ops), 2)
    w.fails("cut at nothing", 2, ["no value or node t1_nod", "did you mean t1_node?"], m, "--out_node", "t1_nod")
    w.fails("cut at two wrong names", 2, ["no value or node far_off_name", "no value or node other_strange_word"], m,
            "--out_node", "far_off_name", "other_strange_word")
    messages = w.fails("cut far off", 2, ["no value or node far_off_name", "t0", "t1", "t2", "y"], m,
                       "--out_node", "far_off_name")
    w.checks.check("cut far off: no guess", "did you mean" not in messages, messages)
    # What the cut leaves out need not be convertible, nor need the inputs be known that only it reads.
    strange = chain("Relu", "Strange")
    w.gives("cut before an unsupported op", strange, {"x": [1, -1]}, {"t0": [1, 0]}, "--out_node", "t0")
    aside = onnx.Model()
    aside.input("x", onnx.FLOAT, [2])
    aside.input("open", onnx.FLOAT, ["N"])
    aside.node("Relu", ["x"], ["a"])
    aside.node("Add", ["a", "open"], ["y"])
    aside.output("y", onnx.FLOAT, None)
    w.gives("cut before an open input", aside, {"x": [1, -1]}, {"a": [1, 0]}, "--out_node", "a")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        w = Workshop(checks, folder)
        for part in (fixed_dims, wrong_dims, wrong_symbols, dtypes, layouts, integers, cut):
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                part(w)
    checks.finish()


main()
