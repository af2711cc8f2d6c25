# SPDX-License-Identifier: Apache-2.0
"""ONNX models at the limits of docs/limits.md, and one beyond: the first converts, the second is refused with the limit's own
message, in memory and time that are those of a small model."""

import pathlib
import tempfile

from limit_converter import LONG, Converter  # the first: it finds the others
from checks import Checks
from onnx_writer import BOOL, FLOAT, INT64, Message, Model, Sparse


def with_input(opset=13, dims=(1,)):
    m = Model(opset=opset)
    m.input("x", FLOAT, dims)
    return m


def ended(m, *outputs):
    for output in outputs or ("y",):
        m.output(output, FLOAT, None)
    return m


def integers(m, name, *values, scalar=False):
    return m.tensor(name, INT64, [] if scalar else [len(values)], values)


# ---- the file ----


def nested(levels, shape=None):
    """An If in a branch of an If, and so on: three levels of messages each. The innermost graph's are 4 deep: its own, and
    three that say the type of its output; a shape of it would be the fifth."""
    m, other = Model(), Model()
    m.node("Relu", ["x"], ["y"])
    other.node("Neg", ["x"], ["y"])
    m.output("y", FLOAT, shape)
    ended(other)
    for i in range(levels):
        outer = Model()
        outer.node("If", ["c"], ["y"], then_branch=m, else_branch=other)
        if i == levels - 1:
            outer.input("x", FLOAT, [1])
            outer.tensor("c", BOOL, [], [True])
        m = ended(outer)
    return m


def named(length):
    m = with_input()
    m.node("Relu", ["x"], ["a"], name="n" * length)
    m.node("Neg", ["a"], ["y"])
    return ended(m)


def with_attributes(count):
    m = with_input()
    m.node("Relu", ["x"], ["y"], **{f"a{i}": 1 for i in range(count)})
    return ended(m)


def of_empty_messages(field, count):
    graph = Message().data(2, "graph").encoded(bytes([field << 3 | 2, 0]) * count)
    return b"".join(Message().integer(1, 8).message(7, graph).message(8, Message().integer(2, 13)).parts)


def without_elements(rows):
    m = with_input(dims=[rows, 0])
    m.node("EyeLike", ["x"], ["y"])
    return ended(m)


def files(c):
    c.passes("messages of 100 levels", nested(32))
    c.refuses("messages of 101 levels", nested(32, []), "model-depth", "nest deeper than 100 levels")
    c.passes("a name of 65536 bytes", named(65536))
    c.refuses("a name of 65537 bytes", named(65537), "model-text", "a name has 65537 bytes, more than 65536")
    c.passes("2^28 rows without columns", without_elements(1 << 28))
    c.refuses("one row more", without_elements((1 << 28) + 1), "tensor-too-large", "graph input x is too large")
    c.lets_through("1024 attributes", with_attributes(1024), "onnx-attribute")
    c.refuses("1025 attributes", with_attributes(1025), "onnx-attribute", "has 1025 attributes, more than 1024")
    for field, what in ((1, "nodes"), (5, "initializers"), (11, "inputs")):
        c.refuses(f"too many {what}", of_empty_messages(field, (1 << 22) + 1), "onnx-graph-size",
                  "4194305 nodes, tensors or values, more than 4194304")
    if LONG:
        c.lets_through("so many nodes", of_empty_messages(1, 1 << 22), "onnx-graph-size")


# ---- what lowering makes ----


def ranges(count, lengths):
    m = with_input()
    integers(m, "start", 0, scalar=True)
    integers(m, "step", 1, scalar=True)
    for i in range(count):
        integers(m, f"n{i}", lengths, scalar=True)
        m.node("Range", ["start", f"n{i}", "step"], [f"r{i}"])
        m.node("Shape", [f"r{i}"], [f"s{i}"])
        m.node("Cast", [f"s{i}"], [f"f{i}"], to=FLOAT)
        m.node("Add", ["x", f"f{i}"], [f"y{i}"])
    return ended(m, *(f"y{i}" for i in range(count)))


def doubled(model, levels):
    """With y negated 16 · 2^levels times, by functions that call another twice."""
    def function(name, op, domain, count):
        f, values = Message().data(1, name).data(4, "v0").data(5, f"v{count}"), [f"v{i}" for i in range(count + 1)]
        for source, target in zip(values, values[1:]):
            f.message(7, Message().data(1, source).data(2, target).data(4, op).data(7, domain))
        for opset in (Message().data(1, "").integer(2, 13), Message().data(1, "local").integer(2, 1)):
            f.message(9, opset)
        return f.data(10, "local")

    model.opsets.append(("local", 1))
    model.functions += [function(f"f{i}", f"f{i + 1}", "local", 2) for i in range(levels)]
    model.functions.append(function(f"f{levels}", "Neg", "", 16))
    model.node("f0", ["x"], ["y"], domain="local")
    return ended(model)


def reading(elements):
    """A Reshape to a shape of so many elements, which a few bytes stand for."""
    m = with_input()
    integers(m, "n", elements)
    m.node("ConstantOfShape", ["n"], ["shape"], value=zero())
    m.node("Reshape", ["x", "shape"], ["y"])
    return ended(m)


def zero():
    return Message().integer(1, 1).integer(2, INT64).data(9, bytes(8))


def repeated(elements):
    m = with_input()
    integers(m, "n", elements)
    m.node("ConstantOfShape", ["n"], ["c"])
    m.node("Add", ["x", "c"], ["y"])
    return ended(m)


def constants(c):
    most = (256 << 20) // 8
    c.passes("a range of 256 MiB", ranges(1, most))
    c.refuses("a longer range", ranges(1, most + 1), "node-limit",
              f"a constant of {most + 1} elements would have to be computed, of 8 bytes each: more than 256 MiB")
    c.refuses("a list of too many elements", reading(most + 1), "node-limit",
              f"has {most + 1} elements, more than {most}")
    c.lets_through("a list of so many elements", reading(most), "node-limit")
    c.passes("two ranges", ranges(2, 30_000_000))
    c.refuses("ranges of more than 1 GiB", ranges(6, 30_000_000), "model-memory", "the 1024 MiB of memory")
    c.refuses("two ranges and a large graph", doubled(ranges(2, 30_000_000), 14), "model-memory", "the 1024 MiB of memory")
    sparse = with_input()
    for i in range(5):
        sparse.graph.message(15, Sparse(f"s{i}", FLOAT, [60_000_000], {1: 1.0}))
    sparse.node("Add", ["x", "s0"], ["y"])
    c.refuses("sparse tensors of more than 1 GiB", ended(sparse), "model-memory", "the 1024 MiB of memory")
    small = repeated(1 << 29)
    small.save(c.model)
    allowed = (2 << 30) + 16 * c.model.stat().st_size
    c.refuses("constants of 4 GiB", repeated(1 << 30), "constants-size",
              f"would take {4 << 30} bytes, more than the {allowed} that")
    c.refuses("constants of one element too many", repeated(allowed // 4 + 1), "constants-size",
              f"more than the {allowed} that a model of this size may have", "the largest is c, of")
    if LONG:
        c.passes("constants of 2 GiB", repeated(allowed // 4))


def comparisons(boxes):
    m = with_input(11)
    m.tensor("zero", FLOAT, [1], [0.0])
    integers(m, "of_boxes", 1, boxes, 4)
    integers(m, "of_scores", 1, 1, boxes)
    integers(m, "most", 1 << 14, scalar=True)
    m.tensor("half", FLOAT, [], [0.5])
    m.tensor("one", FLOAT, [], [1.0])
    m.node("Expand", ["zero", "of_boxes"], ["boxes"])
    m.node("Expand", ["zero", "of_scores"], ["scores"])
    m.node("NonMaxSuppression", ["boxes", "scores", "most", "half", "one"], ["found"])
    m.node("Shape", ["found"], ["shape"])
    m.node("Cast", ["shape"], ["f"], to=FLOAT)
    m.node("Add", ["x", "f"], ["y"])
    return ended(m)


def work(c):
    c.passes("nearly 2^28 comparisons of boxes", comparisons((1 << 14) - 16))
    c.refuses("more comparisons, which are left to the container", comparisons(1 << 14), "unknown-size", "Add: computes with f")


# ---- what is unrolled ----


def body(name="n"):
    b = Model()
    b.input("i", INT64, [])
    b.input("c", BOOL, [])
    b.input("v", FLOAT, [1])
    b.node("Identity", ["v"], ["w"], name=name)
    b.output("c", BOOL, None)
    b.output("w", FLOAT, None)
    return b


def loop(trips, name="n"):
    m = with_input()
    integers(m, "n", trips, scalar=True)
    m.tensor("true", BOOL, [], [True])
    m.node("Loop", ["n", "true", "x"], ["a"], name="l", body=body(name))
    m.node("Neg", ["a"], ["y"])
    return ended(m)


def trips_with_text(trips, size):
    """Of so many bytes of names in each of the first ten trips, and up to six more in later ones: that of the node, that of
    its output w, and in front of both that of the loop with the trip's number."""
    return loop(trips, "n" * (size - len("w") - 2 * len("l/0")))


def scan(steps):
    b = Model()
    b.input("v", FLOAT, [])
    b.output("v", FLOAT, None)
    m = with_input(dims=[steps])
    m.node("Scan", ["x"], ["a"], body=b, num_scan_inputs=1)
    m.node("Neg", ["a"], ["y"])
    return ended(m)


def parts(count):
    m = with_input(dims=[count])
    m.node("SplitToSequence", ["x"], ["s"])
    m.node("SequenceLength", ["s"], ["n"])
    m.node("Cast", ["n"], ["f"], to=FLOAT)
    m.node("Add", ["x", "f"], ["y"])
    return ended(m)


def unrolled(c):
    too_many = "the graphs inside of nodes expand to more than 100000 nodes"
    c.passes("50000 trips of two nodes", loop(50_000))
    c.refuses("50001 trips", loop(50_001), "expansion", too_many)
    for more in (0, 1024 - 1 - 6):
        c.passes("2000 trips of two nodes and text for 48", trips_with_text(2000, 48 * 1024 + more))
    c.refuses("one trip more", trips_with_text(2001, 48 * 1024), "expansion", too_many)
    c.refuses("text for 49", trips_with_text(2000, 49 * 1024), "expansion", too_many)
    c.refuses("a loop without end", loop((1 << 63) - 1), "expansion", too_many)
    c.refuses("trips with long names", loop(5_000, "n" * 65_000), "expansion", too_many)
    c.refuses("a scan over a long axis", scan(100_001), "node-limit", "100001 steps of a scan are more than 100000")
    c.refuses("a scan over the longest axis", scan((1 << 59) - 1), "node-limit", "steps of a scan are more than 100000")
    c.passes("a scan of 2000 steps", scan(2_000))
    c.passes("a sequence of 100000 items", parts(100_000))
    c.refuses("a longer sequence", parts(100_001), "node-limit", "100001 parts of a tensor are more than 100000")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as temporary:
        c = Converter(checks, pathlib.Path(temporary), "onnx-to-dlc", "model.onnx")
        for part in (files, constants, work, unrolled):
            part(c)
    checks.finish()


if __name__ == "__main__":
    main()
