# SPDX-License-Identifier: Apache-2.0
"""Every allocation of tensorflow-to-dlc fails."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
from allocations import LONG, main  # noqa: E402
from checks import SHARED  # noqa: E402
from tf_bundle_writer import OBJECT_GRAPH, object_graph, save_bundle  # noqa: E402
from tf_writer import RESOURCE, STRING, Func, Graph, meta_graph, save_meta_graph, save_saved_model, signature  # noqa: E402
from cases.control import counted_loop  # noqa: E402
import models  # noqa: E402

F = np.float32
OUT = ("-o", "out.dlc")
DIMS = ("-d", "x", "1,4,4,3")
TEXT = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "k" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: [1, 2.5, 3e1] } } } }
node { name: "s" op: "AddV2" input: "x" input: "k" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "y" op: "Relu" input: "s" attr { key: "T" value { type: DT_FLOAT } } }
"""


def function(g, name, arguments, make):
    f = g.function(name, arguments)
    f.returns(**make(f, f.args))
    return Func(name)


def network():
    """Convolution and batch normalization, a user-defined op, a call, a branch, loops of both kinds, an image's layout."""
    g = Graph()
    x = g.placeholder("x", F, [None, 4, 4, 3])
    weights = g.const("w", np.array(models.floats(12), F).reshape(1, 1, 3, 4))
    a = g.node("Conv2D", [x, weights], name="conv", strides=[1, 1, 1, 1], padding="SAME")
    norm = [g.const(name, np.array(models.floats(4, name), F) + F(2)) for name in ("scale", "shift", "mean", "variance")]
    b = g.node("FusedBatchNormV3", [a, *norm], name="bn", is_training=False)[0]
    c = g.node("Thing", [b, g.const("offsets", np.zeros(4, F))], name="thing", mode="fast", axes=[1, 2], outputs={"y": F})
    negated = function(g, "negated", {"v": F}, lambda f, args: {"y": f.node("Neg", [args["v"]])})
    d = g.node("PartitionedCall", [c], name="call", f=negated, Tout=[F])
    other = function(g, "other", {"v": F}, lambda f, args: {"y": f.node("Exp", [args["v"]])})
    e = g.node("If", [g.const(np.array(True)), d], name="if", Tout=[F], then_branch=other, else_branch=negated)
    arguments = {"i": np.int32, "v": F}
    go_on = function(g, "cond", arguments, lambda f, args: {"c": f.node("Less", [args["i"], f.const(np.int32(2))])})
    body = function(g, "body", arguments, lambda f, args: {"i": f.node("AddV2", [args["i"], f.const(np.int32(1))]),
                                                           "v": f.node("Tanh", [args["v"]])})
    h = g.node("While", [g.const(np.int32(0)), e], name="while", cond=go_on, body=body)[1]
    k = counted_loop(g, 2, [h], lambda loop, i, v: [g.node("Mul", [v, loop.constant(g.const(F(0.5)))])], "cycle")[1]
    dims = g.node("Pack", [g.node("StridedSlice", [g.node("Shape", [k]), *(g.const(np.array([i], np.int32)) for i in (0, 1, 1))],
                                  shrink_axis_mask=1), g.const(np.int32(-1))])
    g.node("Softmax", [g.node("Reshape", [k, dims])], name="y")
    return g


def frozen(bench):
    models.write_config(bench.folder / "ops.json", models.THING)
    network().save(bench.folder / "net.pb")
    given = ("-i", "net.pb", *DIMS, "--out_node", "y")
    bench.every("tensorflow-to-dlc", *given, "-udo", "ops.json", *OUT, "--depfile", "out.d", "--show_unconsumed_nodes")
    bench.every("tensorflow-to-dlc", *given, "--dry_run", status=1)


def text(bench):
    (bench.folder / "net.pbtxt").write_text(TEXT)
    bench.every("tensorflow-to-dlc", "-i", "net.pbtxt", "-d", "x", "2,3", *OUT)


def saved(bench):
    """A saved model of the second version, whose checkpoint's table is packed and has two shards."""
    g = Graph()
    x = g.placeholder("serving_x", F, [None, 3])
    file = g.placeholder("saver_filename", STRING, [])
    handles = [g.node("VarHandleOp", [], name=name, dtype=F, shape=[3], shared_name=name) for name in ("v", "w")]

    def compute(f, args):
        values = [f.node("ReadVariableOp", [args[name]], dtype=F) for name in ("first", "second")]
        return {"y": f.node("Sub", [f.node("Mul", [args["x"], values[0]]), values[1]])}

    held = {"first": RESOURCE, "second": RESOURCE}
    y = g.node("StatefulPartitionedCall", [x, *handles], name="call", Tout=[F],
               f=function(g, "compute", {"x": F, **held}, compute))
    keys = [f"root/{i}/.ATTRIBUTES/VARIABLE_VALUE" for i in range(2)]

    def restore(f, args):
        names, parts = (f.const(name, np.array(values, object)) for name, values in (("names", keys), ("parts", ["", ""])))
        f.node("RestoreV2", [args["file"], names, parts], name="read", dtypes=[F, F])
        for place, handle in enumerate(held):
            value = f.node("Identity", [f"read:tensors:{place}"], name=f"value_{place}", T=F, outputs={"output": F})
            f.node("AssignVariableOp", [args[handle], value], name=f"assign_{place}", dtype=F)
        return {"file": f.node("Identity", [args["file"]], name="done")}

    g.node("StatefulPartitionedCall", [file, *handles], name="restore_call", Tout=[STRING],
           f=function(g, "restore", {"file": STRING, **held}, restore))
    serve = signature({"x": (x, [None, 3])}, {"y": (y, [None, 3])})
    save_saved_model(bench.folder / "model", meta_graph(g, {"serving_default": serve}, restore="restore_call"))
    tensors = {key: np.array(models.floats(3, key), F) for key in keys}
    tensors[OBJECT_GRAPH] = object_graph(dict(zip(("v", "w"), keys)))
    save_bundle(bench.folder / "model/variables/variables", tensors, shards=2, packed=True)
    bench.every("tensorflow-to-dlc", "-i", "model", "-d", "serving_x", "1,3", *OUT, "--depfile", "out.d")


def checkpoint(bench):
    """Variables of the first version beside a .meta file."""
    g = Graph()
    x = g.placeholder("x", F, [1, 3])
    v = g.node("VariableV2", [], name="v", dtype=F, shape=[3])
    g.node("AddV2", [x, g.node("Identity", [v], name="v/read")], name="y")
    save_meta_graph(bench.folder / "m.meta", g)
    save_bundle(bench.folder / "m", {"v": np.array([1, 2, 3], F)})
    bench.every("tensorflow-to-dlc", "-i", "m.meta", *OUT, "--out_node", "y")


def real(bench):
    """Models of the field; only where there is time."""
    for path in sorted((SHARED / "corpus" / "tf" / "frozen").glob("*.pb")):
        if path.stat().st_size < 1 << 17:
            bench.every("tensorflow-to-dlc", "-i", path, *OUT, status=None)


main(frozen, text, saved, checkpoint, *[real] * LONG)
