# SPDX-License-Identifier: Apache-2.0
"""TensorFlow functions, loops, attributes and texts at the limits of docs/limits.md, and one beyond: each row of LIMITS is a
limit, the largest number that converts, what makes a model of it, and what is said of one more."""

import pathlib
import tempfile

from limit_converter import LONG, Converter  # the first: it finds the others
from checks import Checks

try:
    import numpy as np
    from cases.control import Loop
    from onnx_writer import Message
    from tf_writer import Func, Graph, meta_graph, op_def, shape_message
except ImportError as error:
    if error.name != "numpy":
        raise
    np = None


def with_input(dims=(1,)):
    g = Graph()
    return g, g.placeholder("x", np.float32, list(dims))


def loops_within(depth):
    """Of one trip; what is constant does not enter them, which TensorFlow would ask for."""
    g, x = with_input()

    def loops(x, level):
        loop = Loop(g, [g.const(np.int32(0)), x], f"loop{level}")
        i, y = loop.cond(g.node("Less", [loop.merges[0], g.const(np.int32(1))]))
        inner = loops(y, level + 1) if level < depth else g.node("Neg", [y])
        return loop.body([g.node("AddV2", [i, g.const(np.int32(1))]), inner])[1]

    g.node("Exp", [loops(x, 1)], name="y")
    return g


def branches_within(depth):
    g, x = with_input()
    for i in range(depth):
        f = g.function(f"f{i}", {"x": np.float32})
        f.returns(y=f.node("If", [f.const(np.array(True)), f.args["x"]], Tout=[np.float32],
                           then_branch=Func(f"f{i - 1}"), else_branch=Func("f0"))
                  if i else f.node("Neg", [f.args["x"]]))
    call = g.node("PartitionedCall", [x], f=Func(f"f{depth - 1}"), Tin=[np.float32], Tout=[np.float32])
    g.node("Exp", [call], name="y")
    return g


# ---- attributes and shapes ----


def with_function():
    g, x = with_input()
    f = g.function("f", {"x": np.float32})
    f.returns(y=f.args["x"])
    return g, x


def functions_as_attributes(depth):
    g, x = with_function()
    inner = Func("f")
    for _ in range(depth - 1):
        inner = Func("f", g=inner)
    g.node("Relu", [x], name="y", h=inner)
    return g


def attributes_of_function(count):
    g, x = with_function()
    g.node("Relu", [x], name="y", f=Func("f", **{f"a{i}": i for i in range(count)}))
    return g


def of_rank(rank):
    g, x = with_input([1] * rank)
    g.node("Relu", [x], name="y")
    return g


def constant_of_rank(rank):
    g, x = with_input()
    g.node("AddV2", [x, g.const(np.ones([1] * rank, np.float32))], name="y")
    return g


def listed(elements):
    """A constant of two numbers, the second of which is repeated."""
    g, x = with_input()
    tensor = Message().integer(1, 1).message(2, shape_message([elements])).data(5, np.float32([1, 2]).tobytes())
    g.node("AddV2", [x, g.node("Const", [], dtype=np.float32, value=Message().message(8, tensor))], name="y")
    return g


# ---- chains of calls ----


WIDTH = 1 << 16


def calls(count):
    """Calls of a function that gives what it takes, each result of which is the next thing that it takes. An operator has at
    most 65,536 outputs. Bytes that say nothing allow for so many calls."""
    g, last = with_input()
    f = g.function("f", {f"a{i}": np.float32 for i in range(WIDTH)})
    f.returns(**{f"r{i}": f.args[f"a{i}"] for i in range(WIDTH)})
    for call in range(count):
        g.node("f", [last] + [f"c{call}:{i}" for i in range(WIDTH - 1)], name=f"c{call}", outputs={})
        last = f"c{call}:{WIDTH - 1}"
    return g.bytes() + b"".join(Message().data(99, bytes(48 << 20)).parts)


def reading(result):
    """A node that reads a result of the calls, by its number among all: two steps each, out of the call and into it."""
    g = Graph()
    g.node("Neg", [f"c{result // WIDTH}:{result % WIDTH}"], name="y", T=np.float32)
    return b"".join(Message().message(1, g.nodes[0].message()).parts)


def chains(c):
    """The last step is that to the placeholder."""
    most = 4_000_000 // 2 - 1
    model = calls(most // WIDTH + 1)
    c.passes(f"a value that calls hand around {most} times", model + reading(most - 1))
    c.refuses("a value that calls hand around once more", model + reading(most), "tensorflow-input",
              "which calls of functions hand around more than 4000000 times")


def definitions(c):
    """Operators that only their definitions describe are in saved models and meta graphs."""
    for what, form in (("inputs", lambda names: (names, ["y"], {})), ("outputs", lambda names: (["x"], names, {})),
                       ("attributes", lambda names: (["x"], ["y"], dict.fromkeys(names, 1)))):
        for count in (1024, 1025):
            g, x = with_input()
            g.node("Relu", [x], name="y")
            defined = op_def("Thing", *form([f"n{i}" for i in range(count)]))
            model = b"".join(meta_graph(g, ops=[defined]).parts)
            if count == 1024:
                c.passes(f"1024 {what} of an operator", model)
            else:
                c.refuses(f"1025 {what} of an operator", model, "tensorflow-op-def",
                          "has 1025 inputs, outputs or attributes, more than 1024")


def texts(c):
    """Of nothing but a hole, which is no text: smaller ones are read, and refused for that."""
    with open(c.model, "wb") as out:
        out.truncate(4 << 30)
    c.refuses("a text of 4 GiB", None, "pbtxt-too-large", "texts of models have less than 4 GiB")
    if LONG:
        with open(c.model, "r+b") as out:
            out.truncate((4 << 30) - 1)
        c.lets_through("a text of nearly 4 GiB", None, "pbtxt-too-large")


LIMITS = [
    ("loops within each other", 64, loops_within, "tensorflow-depth", "loops within loops nest deeper than 64 levels"),
    ("branches within each other", 64, branches_within, "tensorflow-depth",
     "calls of functions, and graphs within graphs, nest deeper than 64 levels"),
    ("functions as attributes of functions", 32, functions_as_attributes, "tensorflow-attribute",
     "attribute g nests functions deeper than 32 levels"),
    ("attributes of a function as an attribute", 1024, attributes_of_function, "tensorflow-attribute",
     "attribute f gives a function more than 1024 attributes"),
    ("dimensions of an input", 8, of_rank, "tensorflow-rank", "a shape has 9 dimensions, more than 8"),
    ("dimensions of a constant", 8, constant_of_rank, "tensorflow-rank", "a shape has 9 dimensions, more than 8"),
    ("elements of a list that is cut off", 1 << 26, listed, "tensorflow-tensor",
     "lists fewer elements than it has, and has more than 256 MiB"),
]


def main():
    checks = Checks()
    if np is None:
        checks.skip("models", "no numpy")
        checks.finish()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        c = Converter(checks, folder, "tensorflow-to-dlc", "model.pb")
        c.on_both_sides(LIMITS, "--out_node", "y")
        chains(c)
        definitions(Converter(checks, folder, "tensorflow-to-dlc", "model.meta"))
        texts(Converter(checks, folder, "tensorflow-to-dlc", "model.pbtxt"))
    checks.finish()


if __name__ == "__main__":
    main()
