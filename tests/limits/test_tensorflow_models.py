# SPDX-License-Identifier: Apache-2.0
"""TensorFlow models at the limits of docs/limits.md, and one beyond: the first converts, the second is refused with the limit's
own message."""

import pathlib
import tempfile

from limit_converter import LONG, Converter  # the first: it finds the others
from checks import Checks

try:
    import numpy as np
    from onnx_writer import Message
    from tf_writer import Func, Graph, attribute, shape_message
except ImportError as error:
    if error.name != "numpy":
        raise
    np = None


def with_input():
    g = Graph()
    return g, g.placeholder("x", np.float32, [1])


# ---- the file ----


def named(length):
    g, x = with_input()
    g.node("Neg", [g.node("Relu", [x], name="n" * length)], name="y")
    return g


def of_nodes(count):
    """Nodes that no output needs, and a few that one does."""
    g, x = with_input()
    g.node("Neg", [x], name="y")
    node = b"".join(Message().data(1, "0000000").data(2, "NoOp").parts)
    start = node.index(b"0000000")
    head, tail = b"\x0a" + bytes([len(node)]) + node[:start], node[start + 7:]
    return g.bytes() + b"".join(head + b"%07d" % i + tail for i in range(count - 2))


def files(c):
    c.passes("a name of 65536 bytes", named(65536))
    c.refuses("a name of 65537 bytes", named(65537), "model-text", "a name has 65537 bytes, more than 65536")
    most = 1 << 22
    if LONG:
        c.lets_through("so many nodes", of_nodes(most), "tensorflow-graph-size")
    c.refuses("too many nodes", of_nodes(most + 1), "tensorflow-graph-size", f"a graph has more than {most} nodes")


# ---- what lowering makes ----


def ranges(count, length):
    g, y = with_input()
    for _ in range(count):
        r = g.node("Range", [g.const(np.int64(0)), g.const(np.int64(length)), g.const(np.int64(1))], Tidx=np.int64)
        y = g.node("AddV2", [y, g.node("Cast", [g.node("Size", [r], T=np.int64)], SrcT=np.int32, DstT=np.float32)])
    return g


def filled(elements):
    g, x = with_input()
    fill = g.node("Fill", [g.const(np.array([elements], np.int32)), g.const(np.float32(1))], T=np.float32)
    g.node("AddV2", [x, fill], name="y")
    return g


def listed(count, elements):
    """Constants of two numbers, the second of which is repeated."""
    g, _ = with_input()
    nodes = Message()
    for i in range(count):
        tensor = Message().integer(1, 1).message(2, shape_message([elements])).data(5, np.float32([1, 2]).tobytes())
        value = Message().data(1, "value").message(2, Message().message(8, tensor))
        dtype = Message().data(1, "dtype").message(2, attribute(np.float32))
        nodes.message(1, Message().data(1, f"c{i}").data(2, "Const").message(5, value).message(5, dtype))
        nodes.message(1, Message().data(1, f"y{i}").data(2, "AddV2").data(3, "x").data(3, f"c{i}")
                      .message(5, Message().data(1, "T").message(2, attribute(np.float32))))
    return g.bytes() + b"".join(nodes.parts)


def constants(c):
    most = (256 << 20) // 8
    c.passes("a range of 256 MiB", ranges(1, most))
    c.refuses("a longer range", ranges(1, most + 1), "node-limit",
              f"a constant of {most + 1} elements would have to be computed, of 8 bytes each: more than 256 MiB")
    c.refuses("ranges of more than 1 GiB", ranges(6, 30_000_000), "model-memory", "the 1024 MiB of memory")
    c.refuses("lists of more than 1 GiB", listed(6, 60_000_000), "model-memory", "the 1024 MiB of memory")
    c.refuses("a list of more than 256 MiB", listed(1, (1 << 26) + 1), "tensorflow-tensor",
              "lists fewer elements than it has, and has more than 256 MiB")
    c.model.write_bytes(filled(1 << 29).bytes())
    allowed = (2 << 30) + 16 * c.model.stat().st_size
    c.refuses("constants of one element too many", filled(allowed // 4 + 1), "constants-size",
              f"would take {allowed // 4 * 4 + 4} bytes, more than the {allowed} that")


# ---- what is unrolled ----


def loop(trips):
    """One node in the condition, two in the body, and what stands for each graph."""
    g, x = with_input()
    cond = g.function("cond", {"i": np.int32, "x": np.float32})
    cond.returns(more=cond.node("Less", [cond.args["i"], cond.const(np.int32(trips))]))
    body = g.function("body", {"i": np.int32, "x": np.float32})
    body.returns(j=body.node("AddV2", [body.args["i"], body.const(np.int32(1))]), y=body.args["x"])
    out = g.node("While", [g.const(np.int32(0)), x], cond=Func("cond"), body=Func("body"), T=[np.int32, np.float32])
    g.node("Neg", [out[1]], name="y")
    return g


def list_of(items):
    g, x = with_input()
    handle = g.node("TensorListReserve", [g.const(np.array([1], np.int32)), g.const(np.int32(items))],
                    element_dtype=np.float32, shape_type=np.int32)
    item = g.node("TensorListGetItem", [handle, g.const(np.int32(0)), g.const(np.array([1], np.int32))],
                  element_dtype=np.float32)
    g.node("AddV2", [x, item], name="y")
    return g


def calls(depth):
    """Functions that call each other, of one node each in the innermost."""
    g, x = with_input()
    for i in range(depth):
        f = g.function(f"f{i}", {"x": np.float32})
        inner = f.node("PartitionedCall", [f.args["x"]], f=Func(f"f{i - 1}"), Tin=[np.float32],
                       Tout=[np.float32]) if i else f.node("Neg", [f.args["x"]])
        f.returns(y=inner)
    call = g.node("PartitionedCall", [x], f=Func(f"f{depth - 1}"), Tin=[np.float32], Tout=[np.float32])
    g.node("Exp", [call], name="y")
    return g


def expanding(calls, nodes):
    """Calls of a function with nodes that nothing needs; it counts as them, its argument, its result, and one."""
    g, x = with_input()
    f = g.function("f", {"x": np.float32})
    for _ in range(nodes):
        f.node("Neg", [f.args["x"]])
    f.returns(y=f.args["x"])
    for _ in range(calls):
        x = g.node("PartitionedCall", [x], f=Func("f"), Tin=[np.float32], Tout=[np.float32])
    g.node("Exp", [x], name="y")
    return g.bytes()


def padded(model, size):
    """By bytes that say nothing."""
    paddings = (b"".join(Message().data(99, bytes(size - len(model) - head)).parts) for head in (3, 4, 5, 6))
    return next(model + padding for padding in paddings if len(model + padding) == size)


def expanded(c):
    expansion = 110 * (1000 + 3)
    needed = (expansion - 100_000) * 16
    model = expanding(110, 1000)
    c.passes(f"{expansion} nodes of a model of {needed} bytes", padded(model, needed))
    c.refuses("a model of one byte less", padded(model, needed - 1), "tensorflow-expansion",
              f"the functions and loops of the graph expand to more than {expansion - 1} nodes")


def unrolled(c):
    too_many = "the graphs inside of nodes expand to more than 100000 nodes"
    c.passes("a loop of 10000 trips", loop(10_000))
    c.refuses("a loop of a million trips", loop(1_000_000), "expansion", too_many)
    c.passes("a list of 100000 items", list_of(100_000))
    c.refuses("a longer list", list_of(100_001), "node-limit", "100001 items of a list are more than 100000")
    c.passes("calls 64 deep", calls(64))
    c.refuses("calls 65 deep", calls(65), "tensorflow-depth", "nest deeper than 64 levels")


def main():
    checks = Checks()
    if np is None:
        checks.skip("models", "no numpy")
        checks.finish()
    with tempfile.TemporaryDirectory() as temporary:
        c = Converter(checks, pathlib.Path(temporary), "tensorflow-to-dlc", "model.pb")
        for part in (files, constants, expanded, unrolled):
            part(c)
    checks.finish()


if __name__ == "__main__":
    main()
