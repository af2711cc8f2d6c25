# SPDX-License-Identifier: Apache-2.0
"""Source models of vendor results whose own ones are not there: rebuilt from what the results say."""

import json
import pathlib
import struct

from dlc_reader import read_container
from onnx_writer import FLOAT, INT64, Model, tensor

OPSET = 13


def graph_of_json(path):
    return json.loads(pathlib.Path(path).read_text())["graph"]


def channels_first(dims):
    n, h, w, c = dims
    return [n, c, h, w]


def one_op(path, model, op_type, constants=(), **attributes):
    """A model of the one op of a vendor's JSON. constants: (name, dims, values) of what it reads beside the input."""
    graph = graph_of_json(path)
    (name, node), = graph["nodes"].items()
    (source, result), = [[node["input_names"][0], node["output_names"][0]]]
    m = Model(OPSET)
    m.input(source, FLOAT, channels_first(graph["tensors"][source]["dims"]))
    for constant, dims, values in constants:
        m.tensor(constant, FLOAT, dims, values)
    m.node(op_type, [source, *(constant for constant, _, _ in constants)], [result], name, **attributes)
    m.output(result, FLOAT, channels_first(graph["tensors"][result]["dims"]))
    m.save(model)


def blur(path, model):
    """A filter of each channel by itself, with the output as large as the input."""
    h, w, _, channels = graph_of_json(path)["tensors"]["_Constant_output_0"]["dims"]
    weights = [1 / (h * w)] * (h * w * channels)
    one_op(path, model, "Conv", [("_Constant_output_0", [channels, 1, h, w], weights)], group=channels,
           kernel_shape=[h, w], pads=[h // 2, w // 2, h // 2, w // 2])


def passthrough(path, model):
    one_op(path, model, "Add", [("_Constant_output_0", [1], [0.0])])


def channel_average(path, model):
    one_op(path, model, "ReduceMean", axes=[1], keepdims=1)


def add2(path, model):
    """x + 2. The vendor's tool read it from a TFLite file, which names no ops: theirs are by type and number."""
    container = read_container(path)
    addend = container.tensors["add/y"]
    m = Model(OPSET)
    m.input("input", FLOAT, [1])
    m.tensor("add/y", FLOAT, addend.dims, raw=addend.data)
    m.node("Add", ["input", "add/y"], ["Identity"], container.ops[0].name)
    m.output("Identity", FLOAT, [1])
    m.save(model)


def weights_of_line(stored):
    """[O, I, W] of a Conv over one axis, from the container's [1, W, I, O]."""
    _, width, inner, outer = stored.dims
    values = struct.unpack(f"<{len(stored.data) // 4}f", stored.data)
    places = [(o, i, x) for o in range(outer) for i in range(inner) for x in range(width)]
    return [outer, inner, width], [values[(x * inner + i) * outer + o] for o, i, x in places]


def zipformer_decoder(path, model):
    """A speech recognizer's decoder: embedded tokens, those below 0 masked, a grouped Conv over the two, a Gemm."""
    tensors = read_container(path).tensors
    m = Model(OPSET)
    m.input("y", INT64, tensors["y"].dims)
    for name in ("decoder.embedding.weight", "decoder_proj.bias", "decoder_proj.weight_permute"):
        m.tensor(name.removesuffix("_permute"), FLOAT, tensors[name].dims, raw=tensors[name].data)
    m.tensor("decoder.conv.weight", FLOAT, *weights_of_line(tensors["decoder.conv.weight"]))
    for name, dims, values in (("least", [], [0]), ("last", [1], [-1]), ("first", [1], [1])):
        m.tensor(name, INT64, dims, values)

    def node(op_type, inputs, op, output=None, **attributes):
        m.node(op_type, inputs, [output or f"{op}_output_0"], op, **attributes)
        return output or f"{op}_output_0"

    tokens = node("Clip", ["y", "least"], "/decoder/Clip")
    embedded = node("Gather", ["decoder.embedding.weight", tokens], "/decoder/embedding/Gather")
    zero = node("Constant", [], "/decoder/Constant", value=tensor("", INT64, [], [0]))
    known = node("GreaterOrEqual", ["y", zero], "/decoder/GreaterOrEqual")
    mask = node("Cast", [node("Unsqueeze", [known, "last"], "/decoder/Unsqueeze")], "/decoder/Cast_1", to=FLOAT)
    line = node("Transpose", [node("Mul", [embedded, mask], "/decoder/Mul")], "/decoder/Transpose", perm=[0, 2, 1])
    groups = tensors["decoder.embedding.weight"].dims[1] // tensors["decoder.conv.weight"].dims[2]
    both = node("Conv", [line, "decoder.conv.weight"], "/decoder/conv/Conv", group=groups)
    relu = node("Relu", [node("Transpose", [both], "/decoder/Transpose_1", perm=[0, 2, 1])], "/decoder/Relu")
    node("Gemm", [node("Squeeze", [relu, "first"], "/Squeeze"), "decoder_proj.weight", "decoder_proj.bias"],
         "/decoder_proj/Gemm", "decoder_out", transB=1)
    m.output("decoder_out", FLOAT, tensors["decoder_out"].dims)
    m.save(model)
