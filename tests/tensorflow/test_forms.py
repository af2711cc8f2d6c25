# SPDX-License-Identifier: Apache-2.0
"""One network in all the forms that TensorFlow keeps models in: a frozen graph, saved models of both versions, a meta graph with
a checkpoint. The containers give the same numbers and have the same weights."""

import pathlib
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "reference")]
from checks import Checks  # noqa: E402
from prestarted import run  # noqa: E402

try:
    import numpy as np
    from case import difference, same
    from dlc_reader import read_container
    from model_case import complaints, result, run_on
    from tf_bundle_writer import OBJECT_GRAPH, object_graph, save_bundle
    from tf_writer import RESOURCE, STRING, Func, Graph, Shape, meta_graph, save_meta_graph, save_saved_model, signature
except ImportError as error:
    if error.name != "numpy":
        raise
    np = None

SOURCE = np and np.random.RandomState(7)
X = np and SOURCE.standard_normal((3, 4)).astype(np.float32)
WEIGHTS = np and {"dense/kernel": SOURCE.standard_normal((4, 5)).astype(np.float32),
                  "dense/bias": SOURCE.standard_normal(5).astype(np.float32)}


def layer(g, x, kernel, bias):
    """Relu(x · kernel + bias) in a graph or a function."""
    return g.node("Relu", [g.node("BiasAdd", [g.node("MatMul", [x, kernel]), bias])], name="y")


def frozen():
    g = Graph()
    x = g.placeholder("x", np.float32, [None, 4])
    layer(g, x, *(g.const(name, values) for name, values in WEIGHTS.items()))
    return g, ["-d", "x", "3,4"], "x:0", "y:0"


def with_variables():
    """Variables of the first version, beside what saves and restores and initializes them."""
    g = Graph()
    x = g.placeholder("x", np.float32, [None, 4])
    prefix = g.const("save/Const", np.array("model"))
    names = g.const("save/SaveV2/tensor_names", np.array(list(WEIGHTS), object))
    slices = g.const("save/SaveV2/shape_and_slices", np.array([""] * len(WEIGHTS), object))
    reads, saved, restored = [], [], []
    for name, values in WEIGHTS.items():
        variable = g.node("VariableV2", [], name=name, dtype=np.float32, shape=Shape(values.shape))
        initial = g.const(name + "/Initializer", np.zeros(values.shape, np.float32))
        g.node("Assign", [variable, initial], name=name + "/Assign")
        reads.append(g.node("Identity", [variable], name=name + "/read"))
        saved.append(variable)
        one = g.const(f"save/RestoreV2/{name}", np.array([name], object))
        value = g.node("RestoreV2", [prefix, one, g.const(np.array([""], object))], name=f"save/{name}",
                       dtypes=[np.float32])
        restored.append(g.node("Assign", [variable, value], name=f"save/Assign/{name}"))
    g.node("SaveV2", [prefix, names, slices, *saved], name="save/SaveV2")
    g.node("NoOp", ["^" + node.name for node in restored], name="save/restore_all")
    y = layer(g, x, *reads)
    return g, x, y


def checkpoint(folder):
    g, _, _ = with_variables()
    save_meta_graph(folder / "model.meta", g)
    save_bundle(folder / "model", WEIGHTS, shards=2)
    return folder / "model.meta", ["-d", "x", "3,4", "--out_node", "y"], "x:0", "y:0"


def saved_model_1(folder):
    g, x, y = with_variables()
    sign = signature({"in": (x, [None, 4])}, {"out": (y, [None, 5])})
    save_saved_model(folder / "saved", meta_graph(g, {"serving_default": sign}, restore="save/restore_all"))
    save_bundle(folder / "saved" / "variables" / "variables", WEIGHTS)
    return folder / "saved", ["-d", "x", "3,4"], "x:0", "y:0"


def add_restoring(g, handles, keys):
    """A function that assigns to the variables what the checkpoint has under the keys, and its call."""
    f = g.function("__inference__traced_restore", {"prefix": STRING, **{f"v{i}": RESOURCE for i in range(len(handles))}})
    names = f.const("RestoreV2/tensor_names", np.array(keys, object))
    slices = f.const("RestoreV2/shape_and_slices", np.array([""] * len(keys), object))
    values = f.node("RestoreV2", [f.args["prefix"], names, slices], dtypes=[np.float32] * len(keys))
    for i in range(len(keys)):
        value = f.node("Identity", [values[i]])
        f.node("AssignVariableOp", [f.args[f"v{i}"], value], name=f"Assign_{i}")
    f.returns(prefix_out=f.node("Identity", [f.args["prefix"], *(f"^Assign_{i}" for i in range(len(keys)))]))
    prefix = g.placeholder("saver_filename", STRING, [])
    g.node("StatefulPartitionedCall", [prefix, *handles], name="restore", f=Func(f.name), Tout=[STRING])


def saved_model_2(folder, restores=True):
    """Variables are resources that a call's function captures; they are saved under keys of their own, which either a function
    that restores them says or the checkpoint itself."""
    g = Graph()
    inner = g.function("__inference_call", {"x": np.float32, "kernel": RESOURCE, "bias": RESOURCE})
    reads = [inner.node("ReadVariableOp", [inner.args[name]], name=f"{name}/Read", dtype=np.float32)
             for name in ("kernel", "bias")]
    inner.returns(identity=inner.node("Identity", [layer(inner, inner.args["x"], *reads)]))
    outer = g.function("__inference_signature_wrapper", {"x": np.float32, "kernel": RESOURCE, "bias": RESOURCE})
    call = {"Tout": [np.float32], "config_proto": b"", "executor_type": ""}
    outer.returns(identity=outer.node("StatefulPartitionedCall", list(outer.args.values()), f=Func(inner.name), **call))
    x = g.placeholder("serving_default_x", np.float32, [None, 4])
    handles = [g.node("VarHandleOp", [], name=f"Variable_{i}", dtype=np.float32, shape=Shape(values.shape),
                      shared_name=name) for i, (name, values) in enumerate(WEIGHTS.items())]
    y = g.node("StatefulPartitionedCall", [x, *handles], f=Func(outer.name), **call)
    keys = [f"layer/{i}/.ATTRIBUTES/VARIABLE_VALUE" for i in range(len(WEIGHTS))]
    if restores:
        add_restoring(g, handles, keys)
    sign = signature({"x": (x, [None, 4])}, {"output_0": (y, [None, 5])})
    tensors = dict(zip(keys, WEIGHTS.values()))
    if not restores:
        tensors[OBJECT_GRAPH] = object_graph(dict(zip(WEIGHTS, keys)))
    save_saved_model(folder / "saved", meta_graph(g, {"serving_default": sign}, restore="restore" if restores else None))
    save_bundle(folder / "saved" / "variables" / "variables", tensors)
    return folder / "saved", ["-d", "serving_default_x", "3,4"], "x:0", "StatefulPartitionedCall/y:0"


def saved_model_2_by_objects(folder):
    return saved_model_2(folder, restores=False)


def frozen_file(folder):
    g, *rest = frozen()
    g.save(folder / "frozen.pb")
    return folder / "frozen.pb", *rest


def try_form(checks, write):
    """(result, weights as sorted byte strings), or None."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        model, options, x, y = write(folder)
        done = run("tensorflow-to-dlc", "-i", model, "-o", folder / "model.dlc", *options)
        if not checks.check(f"convert {write.__name__}", done.returncode == 0, complaints(done)):
            return None
        container = read_container(folder / "model.dlc")
        checks.equal(f"inputs and outputs of {write.__name__}", (x in container.tensors, y in container.tensors),
                     (True, True))
        done = run_on({x: X}, folder / "model.dlc", folder)
        if not checks.check(f"execute {write.__name__}", done.returncode == 0, complaints(done)):
            return None
        weights = sorted(bytes(tensor.data) for tensor in container.tensors.values() if tensor.kind == "STATIC")
        return result(folder, container, y), weights


def main():
    checks = Checks()
    if np is None:
        checks.skip("forms of models", "python3-numpy is not there")
        checks.finish()
    kernel, bias = (values.astype(np.float64) for values in WEIGHTS.values())
    expected = np.maximum(X @ kernel + bias, 0).astype(np.float32)
    weights = None
    for write in (frozen_file, checkpoint, saved_model_1, saved_model_2, saved_model_2_by_objects):
        found = try_form(checks, write)
        if found:
            checks.check(f"numbers of {write.__name__}", same(found[0], expected, 1e-6), difference(found[0], expected))
            weights = weights or found[1]
            checks.check(f"weights of {write.__name__}", found[1] == weights)
    checks.finish()


main()
