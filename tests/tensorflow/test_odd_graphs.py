# SPDX-License-Identifier: Apache-2.0
"""Graphs that hold something odd: attributes that a function's call gives, what the decoder refuses, control flow and
lists that do not fit together. What is refused says where and why."""

import json

from tf_workshop import Func, Graph, Shape, Tensor, meta_graph, run, run_parts, save_saved_model, signature

import numpy as np
from onnx_writer import Message
from tf_writer import RESOURCE, VARIANT, DType

F, I = np.float32, np.int32
PLACEHOLDER, LIST = 9, 1  # fields of AttrValue


def start(shape=(2, 3)):
    g = Graph()
    return g, g.placeholder("x", F, shape)


def refuse(shop, what, graph, part, *options):
    model = shop.folder / "model.pb"
    graph.save(model)
    done = run("tensorflow-to-dlc", "-i", model, "-o", shop.folder / "out.dlc", *options)
    shop.checks.equal(f"{what}: status", done.returncode, 1)
    shop.checks.check(f"{what}: reason", part in done.stderr, f"{part!r} not in {done.stderr[:500]!r}")


def converted(shop, what, model, *options):
    """What dlc-info says of the graph."""
    out = shop.folder / "out.dlc"
    done = run("tensorflow-to-dlc", "-i", model, "-o", out, *options)
    if not shop.checks.check(f"{what}: converts", done.returncode == 0, done.stderr):
        return {"tensors": [], "nodes": []}
    return json.loads(run("dlc-info", "-i", out, "--json").stdout)["graphs"][0]


def outputs(graph):
    return {t["name"]: (t["dtype"], t["dims"]) for t in graph["tensors"] if t["kind"] == "APP_READ"}


# ---- attributes ----


def given_attributes(shop):
    """A function's node takes its type from the call."""
    def casting(name):
        f = g.function(name, {"x": F})
        f.returns(y=f.node("Cast", [f.args["x"]], SrcT=np.dtype(F), DstT=np.dtype(I)))
        f.nodes[-1].attributes["DstT"] = Message().data(PLACEHOLDER, "to")

    g, x = start()
    casting("f")
    g.node("f", [x], name="y", outputs={"y": I}, to=DType("int32"))
    g.save(shop.folder / "model.pb")
    shop.checks.equal("by a call under the function's name", outputs(converted(shop, "call", shop.folder / "model.pb")),
                      {"y:0": ("Int_32", [2, 3])})
    g, x = start()
    casting("f")
    g.node("PartitionedCall", [x], name="y", f=Func("f", to=DType("int32")), Tout=[I])
    g.save(shop.folder / "model.pb")
    shop.checks.equal("by the attribute of a call", outputs(converted(shop, "call", shop.folder / "model.pb")),
                      {"y:0": ("Int_32", [2, 3])})


def wrong_attributes(shop):
    def relu(**attributes):
        g, x = start()
        g.node("Relu", [x], name="y", **attributes)
        return g

    nested = Func("f")
    for _ in range(40):
        nested = Func("f", g=nested)
    for what, attributes, part in (
            ("a NUL in a string", {"words": ["a\0b"]}, "attribute words has a string with a NUL byte"),
            ("a list that ends early", {"numbers": Message().message(LIST, Message().data(3, b"\x01\xff"))},
             "a packed list is broken in node.attr.value.list.i"),
            ("functions in functions", {"f": nested}, "messages nest deeper than 100 levels"),
    ):
        refuse(shop, what, relu(**attributes), part)
    g = Graph()
    g.node("Relu", [g.placeholder("x", F, [1] * 9)], name="y")
    refuse(shop, "nine dimensions", g, "a shape has 9 dimensions, more than 8")
    for what, attributes, part in (
            ("no type", {"type": None}, "attribute type is missing"),
            ("a type without elements", {"type": RESOURCE}, "the type resource is not supported"),
    ):
        g, x = start()
        g.node("Bitcast", [x], name="y", **attributes)
        refuse(shop, what, g, part)


def wrong_nodes(shop):
    for what, node, part in (("no operator", Message().data(1, "n"), "a node has no operator"),
                             ("no name", Message().data(2, "Relu"), "a node has no name")):
        g, x = start()
        g.node("Relu", [x], name="y")
        (shop.folder / "model.pb").write_bytes(g.bytes() + b"".join(Message().message(1, node).parts))
        done = run("tensorflow-to-dlc", "-i", shop.folder / "model.pb", "-o", shop.folder / "out.dlc")
        shop.checks.equal(f"{what}: status", done.returncode, 1)
        shop.checks.check(f"{what}: reason", part in done.stderr, done.stderr)
    for what, names, part in (("two functions", ("f", "f"), "two functions have the name f"),
                              ("no result", ("f",), "function f does not say what gives its output y")):
        g, x = start()
        for name in names:
            f = g.function(name, {"x": F})
            f.returns(y=f.node("Relu", [f.args["x"]]))
        if part.startswith("function"):
            f.ret = Message()
        g.node("PartitionedCall", [x], name="y", f=Func("f"), Tout=[F])
        refuse(shop, what, g, part)
    g = Graph()
    g.node("Relu", [g.placeholder("x", RESOURCE, [2])], name="y", T=np.dtype(F))
    refuse(shop, "an input that is no tensor", g, "graph input x is no tensor")
    g = Graph()
    g.placeholder("x", F, [2])
    g.node("AssignVariableOp", ["x"], name="a")
    refuse(shop, "nothing but inputs", g, "the graph has no node that could be an output")
    g, x = start()
    g.node("Relu", ["^x"], name="y", T=np.dtype(F))
    refuse(shop, "control inputs alone", g, "node 'y'")


# ---- constants ----


def constants(shop):
    def constant(tensor, dtype=F, op="Neg"):
        g, _ = start()
        c = g.node("Const", [], name="c", dtype=np.dtype(dtype) if dtype is not DType else dtype, value=tensor)
        g.node(op, [c], name="y", T=np.dtype(dtype))
        return g

    def raw(dims, *fields, code=1, unknown=False):
        """A TensorProto with the fields given."""
        shape = Message()
        for dim in dims:
            shape.message(2, Message().integer(1, dim))
        tensor = Message().integer(1, code).message(2, shape.integer(3, 1) if unknown else shape)
        for number, content in fields:
            tensor.data(number, content)
        return Message().message(8, tensor)

    for what, value, part in (
            ("resources", raw([2], (4, bytes(16)), code=20), "is of the type resource, which is not supported"),
            ("half a complex number", raw([2], (9, bytes(12)), code=8), "the tensor has a broken list of values"),
            ("bytes of one complex number for two", raw([2], (4, bytes(8)), code=8), "the tensor needs 16 bytes by its shape and type float32, but holds 8"),
            ("complex numbers of rank 8", raw([1] * 8, (4, bytes(8)), code=8), "of complex numbers has no room for an axis of their parts"),
            ("more values than elements", raw([2], (5, bytes(12))),
             "the tensor needs 2 values by its shape and type float32, but holds 3"),
            ("one value short in a large tensor", raw([1 << 30], (5, bytes(8))),
             "lists fewer elements than it has, and has more than 256 MiB"),
            ("a value that ends early", raw([2], (7, b"\x01\xff"), code=3), "the tensor has a broken list of values"),
            ("no shape", raw([], (5, bytes(4)), unknown=True), "does not say its shape"),
            ("a string with a NUL", raw([1], (8, b"a\0b"), code=7), "has a string with a NUL byte"),
            ("more strings than elements", raw([1], (8, b"a"), (8, b"b"), code=7),
             "the tensor needs 1 strings by its shape and type string, but holds 2"),
    ):
        refuse(shop, what, constant(value), part)
    g, _ = start()
    c = g.const("c", Tensor(np.array([7, 9, 4000000000], np.uint32), form="values"))
    g.node("Cast", [c], name="y", SrcT=np.dtype(np.uint32), DstT=np.dtype(F))
    g.node("Neg", ["y"], name="z", T=np.dtype(F))
    g.save(shop.folder / "model.pb")
    found = converted(shop, "uint32 values", shop.folder / "model.pb")
    shop.checks.equal("uint32 values", outputs(found), {"z:0": ("Float_32", [3])})


# ---- signatures ----


def signatures(shop):
    g, x = start()
    a, b = g.node("Neg", [x], name="a"), g.node("Relu", [x], name="b")
    z = g.placeholder("z", F, [2, 3])
    c = g.node("AddV2", [z, x], name="c")
    dims = [2, 3]
    serve = signature({"second": (x, dims), "first": (z, dims)}, {"v": (b, dims), "u": (a, dims), "w": (c, dims)})
    save_saved_model(shop.folder / "saved", meta_graph(g, {"serving_default": serve}))
    found = converted(shop, "several ends", shop.folder / "saved")
    shop.checks.equal("outputs by their keys", list(outputs(found)), ["a:0", "b:0", "c:0"])
    sparse = Message()
    info = Message().message(4, Message().data(1, "a:0").data(2, "b:0").data(3, "c:0"))
    sparse.message(2, Message().data(1, "u").message(2, info))
    save_saved_model(shop.folder / "sparse", meta_graph(g, {"serving_default": sparse}))
    done = run("tensorflow-to-dlc", "-i", shop.folder / "sparse", "-o", shop.folder / "out.dlc")
    shop.checks.equal("a sparse output: status", done.returncode, 1)
    shop.checks.check("a sparse output: reason", "the output u of the signature is no tensor" in done.stderr,
                      done.stderr)


# ---- control flow ----


def branches(shop):
    def case(index, n=2, dtype=F):
        g, x = start()
        for i in range(n):
            f = g.function(f"f{i}", {"x": F})
            f.returns(y=f.node(("Neg", "Relu")[i], [f.args["x"]]))
        at = index if isinstance(index, str) else g.const("at", index)
        if isinstance(index, str):
            at = g.placeholder("at", I, [2])
        g.node("Case", [at, x], name="y", Tin=[F], Tout=[dtype], branches=[Func(f"f{i}") for i in range(n)])
        return g

    refuse(shop, "no branches", case(np.int32(0), 0), "there are no branches")
    refuse(shop, "two numbers", case("at"), "input 0 (branch_index) has 1 dimensions instead of none")


def loops(shop):
    def loop(cond_results=1, body_results=1, alive=np.array(False)):
        g, x = start()
        cond, body = g.function("cond", {"x": F}), g.function("body", {"x": F})
        known = cond.const(alive)
        cond.returns(**{f"c{i}": known for i in range(cond_results)})
        body.returns(**{f"b{i}": body.node("Neg", [body.args["x"]]) for i in range(body_results)})
        g.node("While", [x], name="y", T=[F], cond=Func("cond"), body=Func("body"))
        return g

    refuse(shop, "two conditions", loop(cond_results=2), "the condition gives 2 values instead of one")
    refuse(shop, "a condition of text", loop(alive=np.array("word", object)), "the condition of the loop is a string")
    refuse(shop, "a body of two results", loop(body_results=2), "'y'")
    g, x = start()
    body = g.function("body", {"i": I, "x": F})
    body.returns(a=body.args["x"], b=body.args["x"])
    bounds = [g.const(name, np.int32(value)) for name, value in (("from", 0), ("to", 2), ("by", 1))]
    g.node("For", [*bounds, x], name="y", T=[F], body=Func("body"))
    refuse(shop, "a For with two results", g, "the body gives 2 values for 1 variables")
    g, x = start()
    g.node("While", [x], name="y", T=[F], cond=Func("nobody"), body=Func("nobody"))
    refuse(shop, "a condition that is not there", g, "the model has no function nobody")


def cycles(shop):
    """TensorFlow 1's loops, with something missing."""
    def loop(enter=True, read=None):
        g, x = start()
        first = g.node("Enter", [x], name="enter", T=np.dtype(F), frame_name="loop", outputs={"o": F}) if enter else x
        g.node("Merge", [first, "next"], name="merge", T=np.dtype(F), N=2, outputs={"o": F, "i": I})
        limit = g.node("Const", [], name="yes", dtype=np.dtype(bool), value=np.array(True))
        g.node("LoopCond", [limit], name="cond", outputs={"o": bool})
        g.node("Switch", ["merge", "cond"], name="switch", T=np.dtype(F), outputs={"f": F, "t": F})
        g.node("Neg", ["switch:1"], name="body", T=np.dtype(F))
        g.node("NextIteration", ["body"], name="next", T=np.dtype(F), outputs={"o": F})
        g.node("Exit", ["switch"], name="exit", T=np.dtype(F), outputs={"o": F})
        g.node("Relu", [read or "exit"], name="y", T=np.dtype(F))
        return g

    refuse(shop, "nothing enters", loop(enter=False), "nothing enters the loop that it leaves", "--out_node", "y")
    refuse(shop, "a value of the next trip", loop(read="next"),
           "it reads from inside of a loop what only the loop's next trip may", "--out_node", "y")


# ---- lists ----


def lists(shop):
    def empty(op, shape, result=F, **attributes):
        g, x = start()
        items = g.node("EmptyTensorList", [g.const("s", np.array(shape, I)), g.const("n", np.int32(3))], name="list",
                       element_dtype=np.dtype(F), shape_type=np.dtype(I), outputs={"handle": VARIANT})
        inputs = {"TensorListStack": [items, g.const("t1", np.array(shape, I))],
                  "TensorListElementShape": [items],
                  "TensorListConcatV2": [items, g.const("t2", np.array(shape, I)), g.const("l", np.zeros(0, np.int64))]}
        g.node(op, inputs[op], name="y", outputs={"o": result}, **attributes)
        g.node("AddV2", [x, g.const("one", np.ones(3, F))], name="other")
        return g

    typed = {"element_dtype": np.dtype(F)}
    refuse(shop, "nothing to stack", empty("TensorListStack", -1, **typed),
           "the list is empty, and the shape of its items is not known", "--out_node", "y")
    refuse(shop, "nothing to join", empty("TensorListConcatV2", [3], **typed), "the list is empty", "--out_node", "y")
    refuse(shop, "no item to ask", empty("TensorListElementShape", -1, I, shape_type=np.dtype(I)),
           "the shape of the items of an empty list is not known", "--out_node", "y")
    g = empty("TensorListStack", [3], **typed)
    g.node("ConcatV2", ["y", g.const("more", np.ones((2, 3), F)), g.const("axis", np.int32(0))], name="both",
           T=np.dtype(F), N=2)
    g.node("AddV2", ["both", g.placeholder("z", F, [2, 3])], name="sum", T=np.dtype(F))
    g.save(shop.folder / "model.pb")
    found = converted(shop, "nothing stacked", shop.folder / "model.pb", "--out_node", "sum")
    shop.checks.equal("nothing stacked", outputs(found), {"sum:0": ("Float_32", [2, 3])})
    shop.checks.equal("nothing stacked is a constant", [node["type"] for node in found["nodes"]], ["Eltwise_Binary"])



# ---- rare, and right ----


def resizes(shop):
    """Sizes between which float32 rounds TensorFlow's factor otherwise than the container's op rounds its own."""
    for outcome, sizes, how in (([0, 3, 7, 10], (14, 4), {}), ([0, 7], (14, 2), {}),
                                (np.repeat(range(8), [4, 6, 7, 7, 6, 7, 6, 4]).tolist(), (8, 47),
                                 {"align_corners": True})):
        g = Graph()
        x = g.placeholder("x", F, [1, sizes[0], 1, 1])
        g.node("ResizeNearestNeighbor", [x, g.const("size", np.array([sizes[1], 1], I))], name="y", **how)
        shop.gives(f"nearest of {sizes}", g, {"x": list(range(sizes[0]))}, {"y": outcome})


def transposed_convolutions(shop):
    """Dilated, for which the container's op has no param: a volume of depth 1 stands for the image."""
    for name, order, dilations in (("NHWC", [0, 1, 2, 3], [1, 1, 2, 1]), ("NCHW", [0, 3, 1, 2], [1, 1, 1, 2])):
        g = Graph()
        x = g.placeholder("x", F, np.array([1, 1, 2, 1])[order].tolist())
        sizes = g.const("sizes", np.array([1, 1, 4, 1], I)[order])
        weights = g.const("w", np.array([10, 100], F).reshape(1, 2, 1, 1))
        g.node("Conv2DBackpropInput", [sizes, weights, x], name="y", strides=[1, 1, 1, 1], padding="VALID",
               dilations=dilations, data_format=name)
        shop.gives(f"dilated, {name}", g, {"x": [1, 2]}, {"y": [10, 20, 100, 200]})


def random_numbers(shop):
    """What is done with numbers that nobody knows."""
    def combined(op, other):
        g, x = start()
        r = g.node("RandomUniform", [g.const("s", np.array([2, 3], I))], name="r", dtype=np.dtype(F))
        c = g.node(op, [r, g.const("c", other)], name="c1", T=np.dtype(F))
        g.node("AddV2", [x, c], name="y")
        return g

    refuse(shop, "random numbers of another shape", combined("AddV2", np.ones(4, F)), "the shapes do not broadcast")
    refuse(shop, "random numbers compared with another shape", combined("GreaterEqual", np.ones(4, F)),
           "the shapes do not broadcast")


run_parts(given_attributes, wrong_attributes, wrong_nodes, constants, signatures, branches, loops, cycles, lists,
          resizes, transposed_convolutions, random_numbers)
