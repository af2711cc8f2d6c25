# SPDX-License-Identifier: Apache-2.0
"""Models that fuzz_onnx starts from: some of each family of operators that is built in a way of its own. Numbers and dims
are small, so that a run takes little time. Where the published cases of the ONNX project are there, they come on top: as
they are, with the numbers that their inputs of integers have (which shapes and axes often are), and with those of all
inputs, so that everything is computed while it is converted."""

from checks import SHARED
from onnx_reader import wire_fields
from onnx_writer import (BOOL, FLOAT, FLOAT16, INT32, INT64, INT8, STRING, UINT8, Message, Model, Sparse, attribute,
                         value_info)

LARGEST = 1 << 14
INT4 = 22
BODY = [("i", INT64, []), ("go", BOOL, []), ("s", FLOAT, None)]


def model(inputs, outputs, nodes, constants=(), opset=21, domains=()):
    """inputs: (name, type, dims); outputs: names, or (name, type); nodes: (op, inputs, outputs, attributes), where the op may
    be domain::op."""
    m = Model(opset=opset, domains=domains)
    for name, data_type, dims in inputs:
        m.input(name, data_type, dims)
    for name, data_type, dims, values in constants:
        m.tensor(name, data_type, dims, values)
    for op, sources, targets, *attributes in nodes:
        domain, _, op = op.rpartition("::")
        m.node(op, sources, targets, domain=domain, **(attributes[0] if attributes else {}))
    for output in outputs:
        name, data_type = output if isinstance(output, tuple) else (output, FLOAT)
        m.output(name, data_type, None)
    return m


def image(*dims):
    return [("x", FLOAT, list(dims))]


def ramp(count):
    return [(i % 7 - 3) / 4 for i in range(count)]


def networks():
    yield "conv", model(image(1, 2, 5, 5), ["y", "p"], [
        ("Conv", ["x", "w", "b"], ["c"], {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]}),
        ("BatchNormalization", ["c", "one", "b", "b", "one"], ["n"], {"epsilon": 0.01}), ("Relu", ["n"], ["r"]),
        ("MaxPool", ["r"], ["y", "at"], {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ("MaxUnpool", ["y", "at"], ["u"], {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ("ConvTranspose", ["u", "w"], ["t"], {"strides": [2, 2]}), ("GlobalAveragePool", ["t"], ["p"])],
        [("w", FLOAT, [3, 2, 3, 3], ramp(54)), ("b", FLOAT, [3], [0, 1, 2]), ("one", FLOAT, [3], [1, 1, 1])])
    yield "dense", model(image(2, 3, 4), ["y", "s"], [
        ("MatMul", ["x", "w"], ["m"]), ("Add", ["m", "b"], ["a"]), ("Reshape", ["a", "to"], ["r"]),
        ("Gemm", ["r", "w", "b"], ["y"], {"alpha": 0.5, "transB": 0}), ("Softmax", ["y"], ["s"], {"axis": -1})],
        [("w", FLOAT, [4, 4], ramp(16)), ("b", FLOAT, [4], ramp(4)), ("to", INT64, [2], [-1, 4])])
    yield "shapes", model(image(1, 3, 4, 6), ["y", "z"], [
        ("Shape", ["x"], ["dims"]), ("Gather", ["dims", "two"], ["h"], {"axis": 0}),
        ("Unsqueeze", ["h", "zero"], ["h1"]), ("Concat", ["one", "h1", "rest"], ["to"], {"axis": 0}),
        ("Reshape", ["x", "to"], ["r"]), ("Transpose", ["r"], ["t"], {"perm": [0, 2, 1]}),
        ("Slice", ["t", "one", "end", "one", "one"], ["y"]), ("Pad", ["y", "pads"], ["p"], {"mode": "reflect"}),
        ("Resize", ["x", "", "", "sizes"], ["q"], {"mode": "linear"}), ("Split", ["q"], ["z", "k"], {"axis": 1, "num_outputs": 2})],
        [("two", INT64, [], [2]), ("zero", INT64, [1], [0]), ("one", INT64, [1], [1]), ("rest", INT64, [1], [-1]),
         ("end", INT64, [1], [9999]), ("pads", INT64, [6], [0, 1, 0, 0, 1, 0]), ("sizes", INT64, [4], [1, 3, 8, 3])])
    yield "index", model([*image(3, 4), ("k", INT64, [2])], ["g", "s", "t", "n", "o", "u"], [
        ("Gather", ["x", "k"], ["g"]), ("ScatterElements", ["x", "at", "by"], ["s"], {"axis": 1, "reduction": "add"}),
        ("TopK", ["x", "two"], ["t", "i"]), ("GatherND", ["x", "nd"], ["n"]), ("OneHot", ["k", "four", "onoff"], ["o"]),
        ("Einsum", ["x", "x"], ["u"], {"equation": "ij,kj->ik"})],
        [("at", INT64, [3, 1], [0, 3, -1]), ("by", FLOAT, [3, 1], [1, 2, 3]), ("two", INT64, [1], [2]),
         ("nd", INT64, [2, 2], [0, 1, 2, -1]), ("four", INT64, [], [4]), ("onoff", FLOAT, [2], [0, 1])])


def transformers():
    yield "attention", model([("q", FLOAT, [1, 4, 8]), ("k", FLOAT, [1, 4, 8])], ["y"], [
        ("Attention", ["q", "k", "k", "mask"], ["y"], {"q_num_heads": 2, "kv_num_heads": 2, "is_causal": 1})],
        [("mask", FLOAT, [4, 4], ramp(16))], opset=23)
    yield "norms", model(image(1, 4, 8), ["y", "z", "g"], [
        ("LayerNormalization", ["x", "w", "b"], ["y"], {"axis": -1}), ("RMSNormalization", ["y", "w"], ["z"]),
        ("Gelu", ["z"], ["a"], {"approximate": "tanh"}),
        ("GroupNormalization", ["a", "v", "v"], ["g"], {"num_groups": 2})],
        [("w", FLOAT, [8], ramp(8)), ("b", FLOAT, [8], ramp(8)), ("v", FLOAT, [4], ramp(4))], opset=23)
    yield "rotary", model([("x", FLOAT, [1, 2, 3, 4])], ["y"], [("RotaryEmbedding", ["x", "c", "s", "p"], ["y"])],
                          [("c", FLOAT, [3, 2], ramp(6)), ("s", FLOAT, [3, 2], ramp(6)), ("p", INT64, [1, 3], [0, 1, 2])], opset=23)


def of_runtime():
    """Operators of ONNX Runtime, of QONNX and Brevitas."""
    ms, qonnx = "com.microsoft", "qonnx.custom_op.general"
    yield "runtime-bert", model([("ids", INT32, [2, 3]), ("mask", INT32, [2, 3])], ["y", "h", ("at", INT32)], [
        (f"{ms}::EmbedLayerNormalization", ["ids", "", "words", "words", "", "g", "g", "mask"], ["x", "at"]),
        (f"{ms}::Attention", ["x", "w", "b", "mask"], ["a"], {"num_heads": 2, "unidirectional": 1}),
        (f"{ms}::SkipLayerNormalization", ["x", "a", "g", "g", "g"], ["n", "", "", "s"]),
        (f"{ms}::BiasGelu", ["n", "g"], ["f"]), (f"{ms}::FastGelu", ["f"], ["k"]),
        (f"{ms}::FusedMatMul", ["k", "s"], ["m"], {"transB": 1, "alpha": 0.5}),
        (f"{ms}::BiasSoftmax", ["m", "m"], ["y"], {"axis": 2, "is_inner_broadcast": 1}),
        (f"{ms}::MultiHeadAttention", ["x", "k", "s", "b", "mask"], ["h", "pk", "pv"], {"num_heads": 2})],
        [("words", FLOAT, [4, 8], ramp(32)), ("g", FLOAT, [8], ramp(8)), ("w", FLOAT, [8, 24], ramp(192)),
         ("b", FLOAT, [24], ramp(24))], domains=[ms])
    yield "runtime-decoder", model([("x", FLOAT, [2, 1, 16]), ("k", FLOAT, [2, 1, 8]), ("past", FLOAT, [2, 1, 3, 8]),
                                    ("ends", INT32, [2])], ["l", "pk", "z"], [
        (f"{ms}::GroupQueryAttention", ["x", "k", "k", "past", "past", "ends", "total", "cos", "cos"], ["y", "pk", "pv"],
         {"num_heads": 2, "kv_num_heads": 1, "do_rotary": 1, "local_window_size": 2, "softcap": 2.0}),
        (f"{ms}::RotaryEmbedding", ["y", "at", "cos", "cos"], ["r"], {"num_heads": 2}),
        (f"{ms}::SkipSimplifiedLayerNormalization", ["r", "x", "g"], ["n"]),
        ("SimplifiedLayerNormalization", ["n", "g"], ["l"]),
        (f"{ms}::GatherBlockQuantized", ["table", "ends", "scales"], ["e"], {"bits": 4, "block_size": 16}),
        (f"{ms}::QuickGelu", ["e"], ["z"])],
        [("total", INT32, [], [4]), ("cos", FLOAT, [6, 4], ramp(24)), ("at", INT64, [1], [2]), ("g", FLOAT, [16], ramp(16)),
         ("table", UINT8, [4, 8], [17 * i % 256 for i in range(32)]), ("scales", FLOAT, [4, 1], ramp(4))], domains=[ms])
    integers = {"signed": 1, "narrow": 0, "rounding_mode": "ROUND"}
    yield "runtime-conv", model(image(1, 2, 5, 5), ["y", "i", "n"], [
        (f"{qonnx}::Quant", ["x", "step", "zero", "bits"], ["q"], integers),
        (f"{qonnx}::Quant", ["w", "step", "zero", "bits"], ["v"], integers),
        (f"{ms}::FusedConv", ["q", "v", "", "x"], ["c"], {"pads": [1, 1, 1, 1], "activation": "Clip", "activation_params": [0.0, 6.0]}),
        (f"{qonnx}::Trunc", ["c", "step", "zero", "bits", "few"], ["t"], {"rounding_mode": "FLOOR"}),
        (f"{qonnx}::BipolarQuant", ["t", "step"], ["y"]), (f"{ms}::Inverse", ["c"], ["i"]),
        (f"{ms}::SkipGroupNorm", ["x", "g", "g", "c", "g"], ["n"], {"groups": 1, "activation": 1, "channels_last": 0})],
        [("step", FLOAT, [], [0.25]), ("zero", FLOAT, [], [0]), ("bits", FLOAT, [], [8]), ("few", FLOAT, [], [4]),
         ("w", FLOAT, [2, 2, 3, 3], ramp(36)), ("g", FLOAT, [2], ramp(2))], domains=[ms, qonnx])


def recurrents():
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        yield op.lower(), model([("x", FLOAT, [3, 1, 2])], ["y", "h"], [
            (op, ["x", "w", "r", "b", "", "h0"], ["y", "h"], {"hidden_size": 2, "direction": "bidirectional"})],
            [("w", FLOAT, [2, 2 * gates, 2], ramp(8 * gates)), ("r", FLOAT, [2, 2 * gates, 2], ramp(8 * gates)),
             ("b", FLOAT, [2, 4 * gates], ramp(8 * gates)), ("h0", FLOAT, [2, 1, 2], ramp(4))])


def quantized():
    yield "qdq", model(image(1, 2, 4, 4), ["y"], [
        ("QuantizeLinear", ["x", "s", "z"], ["q"]), ("DequantizeLinear", ["q", "s", "z"], ["d"]),
        ("DequantizeLinear", ["w", "ws", "wz"], ["wd"], {"axis": 0}), ("Conv", ["d", "wd"], ["c"]),
        ("QuantizeLinear", ["c", "s", "z"], ["e"]), ("DequantizeLinear", ["e", "s", "z"], ["y"])],
        [("s", FLOAT, [], [0.1]), ("z", UINT8, [], [128]), ("w", INT8, [2, 2, 1, 1], [1, -2, 3, -4]),
         ("ws", FLOAT, [2], [0.5, 0.25]), ("wz", INT8, [2], [0, 0])])
    yield "qlinear", model([("x", UINT8, [1, 1, 3, 3])], ["y"], [
        ("QLinearConv", ["x", "s", "z", "w", "s", "z", "s", "z"], ["c"]), ("DynamicQuantizeLinear", ["f"], ["q", "qs", "qz"]),
        ("QLinearMatMul", ["c", "s", "z", "c", "s", "z", "s", "z"], ["m"]), ("ConvInteger", ["x", "w", "z"], ["i"]),
        ("DequantizeLinear", ["m", "s", "z"], ["y"])],
        [("s", FLOAT, [], [0.5]), ("z", UINT8, [], [7]), ("w", UINT8, [1, 1, 1, 1], [3]), ("f", FLOAT, [2], [1, 2])])
    m = model(image(2, 4), ["y"], [("DequantizeLinear", ["w", "s"], ["d"], {"block_size": 2, "axis": 0}), ("MatMul", ["x", "d"], ["y"])],
              [("s", FLOAT, [2, 2], [1, 2, 3, 4])])
    m.tensor("w", INT4, [4, 2], raw=b"\x12\x34\xf8\x07")
    yield "int4", m


def controlled():
    one, other = model([], ["v"], [("Neg", ["x"], ["v"])]), model([], ["v"], [("Mul", ["x", "x"], ["v"])])
    branches = {"then_branch": one, "else_branch": other}
    for name, inputs, constants in (("if", [("k", BOOL, [])], []), ("if-known", [], [("k", BOOL, [], [1])])):
        yield name, model([*image(2), *inputs], ["y"], [("If", ["k"], ["y"], branches)], constants)
    body = model(BODY, ["on", "t", "t"], [("Cast", ["i"], ["f"], {"to": FLOAT}), ("Add", ["s", "f"], ["t"]),
                                          ("Less", ["i", "last"], ["on"])], [("last", INT64, [], [1])])
    yield "loop", model(image(2), ["y", "all"], [("Loop", ["n", "", "x"], ["y", "all"], {"body": body})], [("n", INT64, [], [3])])
    sums = model([("s", FLOAT, None), ("e", FLOAT, None)], ["t", "t"], [("Add", ["s", "e"], ["t"])])
    yield "scan", model(image(2, 3), ["y", "all"], [("Scan", ["z", "x"], ["y", "all"], {
        "body": sums, "num_scan_inputs": 1, "scan_input_directions": [1]})], [("z", FLOAT, [3], [0, 0, 0])])
    yield "sequence", model(image(4), ["y", ("n", INT64), "o"], [
        ("SequenceConstruct", ["x", "x"], ["q"]), ("SequenceInsert", ["q", "x", "at"], ["r"]), ("SequenceErase", ["r", "at"], ["e"]),
        ("SequenceAt", ["e", "at"], ["a"]), ("ConcatFromSequence", ["r"], ["y"], {"axis": 0}), ("SequenceLength", ["r"], ["n"]),
        ("SplitToSequence", ["a", "two"], ["p"], {"axis": 0}), ("SequenceMap", ["p"], ["m"], {
            "body": model([("e", FLOAT, None)], ["v"], [("Neg", ["e"], ["v"])])}),
        ("ConcatFromSequence", ["m"], ["b"], {"axis": 0, "new_axis": 1}), ("Optional", ["b"], ["c"]),
        ("OptionalHasElement", ["c"], ["h"]), ("OptionalGetElement", ["c"], ["o"])],
        [("at", INT64, [], [1]), ("two", INT64, [], [2])])


def functions():
    """One that calls another, with an attribute that is handed on, and its default."""
    def node(op, inputs, outputs, *attributes, domain="fuzz"):
        n = Message()
        for field, values in ((1, inputs), (2, outputs)):
            for value in values:
                n.data(field, value)
        n.data(4, op).data(7, domain)
        for a in attributes:
            n.message(5, a)
        return n

    def function(name, *nodes, attributes=(), defaults=()):
        f = Message().data(1, name).data(4, "a").data(5, "r").data(10, "fuzz")
        for a in attributes:
            f.data(6, a)
        for n in nodes:
            f.message(7, n)
        for domain, version in (("", 21), ("fuzz", 1)):
            f.message(9, Message().data(1, domain).integer(2, version))
        for a in defaults:
            f.message(11, a)
        return f.message(12, value_info("r", FLOAT, [2, 2]))

    handed = Message().data(1, "alpha").integer(20, 1).data(21, "slope")
    m = model(image(2, 2), ["y"], [("fuzz::Outer", ["x"], ["y"], {"slope": 0.5})], domains=["fuzz"])
    m.functions = [function("Inner", node("LeakyRelu", ["a"], ["r"], handed, domain=""), defaults=[attribute("slope", 0.25)]),
                   function("Outer", node("Inner", ["a"], ["t"], Message().data(1, "slope").integer(20, 1).data(21, "slope")),
                            node("Inner", ["t"], ["r"]), attributes=["slope"])]
    yield "functions", m


def others():
    yield "udo", model([("x", FLOAT, [1, 2, 4, 4])], ["y", "z", "t"], [
        ("fuzz::MyScale", ["x", "w"], ["s"], {"alpha": 0.5, "axis": 1}), ("Conv", ["s", "k"], ["c"]),
        ("fuzz::MySplit", ["c"], ["y", "z"], {"sizes": [1, 1]}), ("ThresholdedRelu", ["y"], ["t"], {"alpha": 2.0})],
        [("w", FLOAT, [2], [1, 2]), ("k", FLOAT, [2, 2, 1, 1], ramp(4))], domains=["fuzz"])
    m = model(image(2, 3), ["y"], [("Constant", [], ["c"], {"sparse_value": Sparse("c", FLOAT, [2, 3], {1: 2.5, 4: -1.0})}),
                                   ("Add", ["x", "c"], ["a"]), ("Add", ["a", "d"], ["y"])])
    m.graph.message(15, Sparse("d", FLOAT, [2, 3], {0: 1.0, 5: 3.0}))
    yield "sparse", m
    m = model(image(2), ["y"], [("Add", ["x", "w"], ["y"])])
    m.tensor("w", FLOAT, [2], external=("weights", 4, 8))
    yield "external", m
    m = model(image(2, 3), ["y"], [("Cast", ["x"], ["h"], {"to": FLOAT16}), ("Where", ["c", "h", "h"], ["w"]),
                                     ("Cast", ["w"], ["i"], {"to": INT32}), ("Cast", ["i"], ["y"], {"to": FLOAT})],
              [("c", BOOL, [3], [1, 0, 1])])
    m.tensor("s", STRING, [2], strings=["a", ""])
    m.value("h", FLOAT16, [2, 3])
    yield "types", m
    yield "signal", model([("x", FLOAT, [1, 8, 1])], ["d", "m"], [
        ("DFT", ["x", "", "axis"], ["d"]), ("STFT", ["x", "step", "window"], ["f"]), ("HannWindow", ["four"], ["h"]),
        ("MelWeightMatrix", ["four", "eight", "rate", "low", "high"], ["m"])],
        [("axis", INT64, [], [1]), ("step", INT64, [], [2]), ("window", FLOAT, [4], ramp(4)), ("four", INT64, [], [4]),
         ("eight", INT64, [], [8]), ("rate", INT64, [], [16]), ("low", FLOAT, [], [0.0]), ("high", FLOAT, [], [8.0])])
    yield "vision", model(image(1, 2, 6, 6), ["y", ("n", INT64), "g"], [
        ("RoiAlign", ["x", "rois", "of"], ["y"], {"output_height": 2, "output_width": 2, "spatial_scale": 0.5}),
        ("NonMaxSuppression", ["boxes", "scores", "two", "half", "half"], ["n"]),
        ("GridSample", ["x", "grid"], ["g"], {"mode": "linear"})],
        [("rois", FLOAT, [1, 4], [0, 0, 4, 4]), ("of", INT64, [1], [0]), ("boxes", FLOAT, [1, 2, 4], ramp(8)),
         ("scores", FLOAT, [1, 1, 2], [0.5, 0.75]), ("two", INT64, [], [2]), ("half", FLOAT, [], [0.625]),
         ("grid", FLOAT, [1, 2, 2, 2], ramp(8))])
    m = model([], ["y"], [("StringSplit", ["s"], ["p", "n"]), ("StringConcat", ["s", "s"], ["c"]),
                                    ("TfIdfVectorizer", ["i"], ["y"], {
                                        "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 1, "mode": "TF",
                                        "ngram_counts": [0, 2], "ngram_indexes": [0, 1, 2], "pool_int64s": [2, 3, 5, 4]})],
              [("i", INT64, [4], [2, 3, 5, 4])])
    m.tensor("s", STRING, [2], strings=["a b", ""])
    yield "text", m


def encoded(fields):
    message = Message()
    for number, value in fields:
        message.integer(number, value) if isinstance(value, int) else message.data(number, value)
    return b"".join(message.parts)


def tensor_named(name, data):
    return encoded([(number, value) for number, value in wire_fields(data) if number != 8] + [(8, name)])


def frozen(graph, given, freeze):
    """The graph's fields with some of its inputs as constants; None when there are no such inputs."""
    constants = []
    for number, value in graph:
        name = dict(wire_fields(value)).get(1) if number == 11 else None
        if name in given and freeze(given[name]):
            constants.append((number, value, tensor_named(name, given[name])))
    left = [field for field in graph if field not in [(number, value) for number, value, _ in constants]]
    return [*left, *[(5, data) for _, _, data in constants]] if constants else None


def is_counts(data):
    return dict(wire_fields(data)).get(2) in (INT32, INT64, BOOL) and len(data) < 200


def variants(path):
    """The model of a published case, and the same with inputs frozen."""
    model = list(wire_fields(path.read_bytes()))
    graph = list(wire_fields(dict(model)[7]))
    names = [dict(wire_fields(value))[1] for number, value in graph if number == 11]
    files = [path.parent / "test_data_set_0" / f"input_{i}.pb" for i in range(len(names))]
    given = {name: file.read_bytes() for name, file in zip(names, files) if file.exists()}
    yield "", path.read_bytes()
    for what, freeze in (("-counts", is_counts), ("-all", lambda data: True)):
        changed = frozen(graph, given, freeze)
        if changed:
            yield what, encoded([(number, encoded(changed) if number == 7 else value) for number, value in model])


def write_models(folder):
    for family in (networks, transformers, of_runtime, recurrents, quantized, controlled, functions, others):
        for name, seed in family():
            seed.save(folder / f"{name}.onnx")
    for path in sorted((SHARED / "corpus" / "onnx-backend").rglob("model.onnx")):
        for what, data in variants(path):
            if len(data) <= LARGEST:
                (folder / f"{path.parent.name}{what}.onnx").write_bytes(data)
