# SPDX-License-Identifier: Apache-2.0
"""Saved models and checkpoints: which graph, which signature, which tensor a variable has, and what is wrong with files."""

import pathlib
import shutil
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import Checks, run  # noqa: E402
from tf_bundle_writer import save_bundle  # noqa: E402
from tf_writer import (  # noqa: E402
    RESOURCE, STRING, Func, Graph, Tensor, meta_graph, save_meta_graph, save_saved_model, signature)

X = np.array([1, 2, 3], np.float32)


def first_version(names=None, slices=None):
    """(graph, signature): x + a/read + b/read, with a saver; names: what the saver calls the variables."""
    g = Graph()
    x = g.placeholder("x", np.float32, [None, 3])
    total = x
    for name in ("a", "b"):
        variable = g.node("VariableV2", [], name=name, dtype=np.float32, shape=[3])
        read = g.node("Identity", [variable], name=f"{name}/read")
        total = g.node("AddV2", [total, read], name=f"add_{name}")
        if names:
            tensors = g.const(f"save/names_{name}", np.array([names[name]], object))
            parts = g.const(f"save/slices_{name}", np.array([(slices or {}).get(name, "")], object))
            restored = g.node("RestoreV2", [g.const(f"save/file_{name}", np.array("model", object)), tensors, parts],
                              name=f"save/RestoreV2_{name}", dtypes=[np.float32])
            g.node("Assign", [variable, restored], name=f"save/Assign_{name}")
    y = g.node("Identity", [total], name="y")
    return g, signature({"x": (x, [None, 3])}, {"y": (y, [None, 3])})


def second_version():
    """As TensorFlow 2 saves: handles, a function that computes, a function that restores. Both variables are called v."""
    g = Graph()
    x = g.placeholder("serving_default_x", np.float32, [None, 3])
    filename = g.placeholder("saver_filename", STRING, [])
    handles = [g.node("VarHandleOp", [], name=name, dtype=np.float32, shape=[3], shared_name="v")
               for name in ("v", "v_1")]
    f = g.function("compute", {"x": np.float32, "first": RESOURCE, "second": RESOURCE})
    first = f.node("ReadVariableOp", [f.args["first"]], dtype=np.float32)
    second = f.node("ReadVariableOp", [f.args["second"]], dtype=np.float32)
    f.returns(result=f.node("Sub", [f.node("Mul", [f.args["x"], first]), second]))
    restore = g.function("restore", {"file": STRING, "first": RESOURCE, "second": RESOURCE})
    names = restore.const("names", np.array(["root/1/.ATTRIBUTES/VARIABLE_VALUE", "root/0/.ATTRIBUTES/VARIABLE_VALUE"],
                                            object))
    parts = restore.const("parts", np.array(["", ""], object))
    restore.node("RestoreV2", [restore.args["file"], names, parts], name="read", dtypes=[np.float32, np.float32])
    for place, handle in enumerate(("first", "second")):
        value = restore.node("Identity", [f"read:tensors:{place}"], name=f"Identity_{place}",
                             T=np.float32, outputs={"output": np.float32})
        restore.node("AssignVariableOp", [restore.args[handle], value], name=f"Assign_{place}", dtype=np.float32)
    restore.returns(file=restore.node("Identity", [restore.args["file"]], name="done"))
    y = g.node("StatefulPartitionedCall", [x, *handles], name="call", f=Func("compute"), Tout=[np.float32])
    g.node("StatefulPartitionedCall", [filename, *handles], name="restore_call", f=Func("restore"), Tout=[STRING])
    return g, signature({"x": (x, [None, 3])}, {"output_0": (y, [None, 3])})


class Place:
    """Models in a folder of their own."""

    def __init__(self, checks, folder):
        self.checks, self.folder, self.count = checks, pathlib.Path(folder), 0

    def saved(self, *metas, tensors=None, shards=1):
        self.count += 1
        model = self.folder / f"model{self.count}"
        save_saved_model(model, *metas)
        if tensors:
            save_bundle(model / "variables/variables", tensors, shards)
        return model

    def convert(self, model, *options):
        out = self.folder / "out.dlc"
        out.unlink(missing_ok=True)
        return run("tensorflow-to-dlc", "-i", model, "-o", out, *options), out

    def gives(self, label, model, expected, *options, source="x", stored="x:0", result=None):
        """source: the input in options; stored: what the container calls it; result: the node that gives the output."""
        done, out = self.convert(model, "-d", source, "1,3", *options)
        if not self.checks.equal(f"{label}: status {done.stderr}", done.returncode, 0):
            return
        (self.folder / "x.raw").write_bytes(X.tobytes())
        (self.folder / "list.txt").write_text(f"{stored}:={self.folder / 'x.raw'}\n")
        shutil.rmtree(self.folder / "results", ignore_errors=True)
        ran = run("net-run", "--container", out, "--input_list", self.folder / "list.txt", "--output_dir",
                  self.folder / "results")
        self.checks.equal(f"{label}: execution {ran.stderr}", ran.returncode, 0)
        found = sorted((self.folder / "results/Result_0").rglob("*.raw"))
        self.checks.equal(f"{label}: outputs", [path.name for path in found], [f"{result}:0.raw"])
        if found:
            self.checks.equal(f"{label}: numbers", np.fromfile(found[0], np.float32).tolist(), list(expected))

    def fails(self, label, model, status, words, *options):
        done, out = self.convert(model, *options)
        self.checks.equal(f"{label}: status", done.returncode, status)
        for word in words:
            self.checks.check(f"{label}: says {word!r}", word in done.stderr, done.stderr)
        self.checks.check(f"{label}: no container", not out.exists())


A, C = np.array([1, 1, 1], np.float32), np.array([5, 6, 7], np.float32)


def variables(place):
    graph, serve = first_version()
    model = place.saved(meta_graph(graph, {"serving_default": serve}), tensors={"a": A, "b": C})
    place.gives("variables by their names", model, [7, 9, 11], result="y")
    place.gives("the file itself", model / "saved_model.pb", [7, 9, 11], result="y")
    graph, serve = first_version(names={"a": "x/b", "b": "x/a"})
    model = place.saved(meta_graph(graph, {"serving_default": serve}), tensors={"x/b": C, "x/a": 2 * C, "a": A, "b": A})
    place.gives("variables by what the graph restores", model, [16, 20, 24], result="y")
    whole = np.arange(12, dtype=np.float32).reshape(4, 3)
    graph = Graph()
    x = graph.placeholder("x", np.float32, [None, 3])
    part = graph.node("VariableV2", [], name="w/part_1", dtype=np.float32, shape=[1, 3])
    names, parts, file = (graph.const(f"save/{key}", np.array(value, object))
                          for key, value in (("names", ["w"]), ("parts", ["4 3 2,1:0,3"]), ("file", "f")))
    restored = graph.node("RestoreV2", [file, names, parts], name="save/RestoreV2", dtypes=[np.float32])
    graph.node("Assign", [part, restored], name="save/Assign")
    y = graph.node("AddV2", [x, part], name="y")
    serve = signature({"x": (x, [None, 3])}, {"y": (y, [None, 3])})
    model = place.saved(meta_graph(graph, {"serving_default": serve}), tensors={"w": whole})
    place.gives("a part of a partitioned variable", model, [7, 9, 11], result="y")
    graph, serve = second_version()
    keys = {f"root/{i}/.ATTRIBUTES/VARIABLE_VALUE": values for i, values in enumerate((A, C))}
    model = place.saved(meta_graph(graph, {"serving_default": serve}, restore="restore_call"), tensors=keys, shards=2)
    place.gives("handles, in the second version", model, [4, 11, 20], source="serving_default_x", result="Sub")
    done, _ = place.convert(model, "-d", "serving_default_x", "1,3", "--depfile", place.folder / "d")
    listed = (place.folder / "d").read_text() if done.returncode == 0 else done.stderr
    for name in ("saved_model.pb", "variables.index", "variables.data-00000-of-00002", "variables.data-00001-of-00002"):
        place.checks.check(f"the depfile lists {name}", name in listed, listed)


def graphs_and_signatures(place):
    one, serve = first_version()
    tensors = {"a": A, "b": C}
    graph = Graph()
    x = graph.placeholder("x", np.float32, [None, 3])
    neg, double = graph.node("Neg", [x], name="neg"), graph.node("AddV2", [x, x], name="double")
    signatures = {key: signature({"x": (x, [None, 3])}, {"y": (y, [None, 3])}) for key, y in (("neg", neg), ("double", double))}
    model = place.saved(meta_graph(one, {"serving_default": serve}), meta_graph(graph, signatures, tags=("gpu", "serve")),
                        tensors=tensors)
    place.gives("serve by default", model, [7, 9, 11], result="y")
    for tags in ("serve,gpu", "gpu,serve"):
        place.gives(f"tags {tags}", model, [-1, -2, -3], "--saved_model_tag", tags, "--saved_model_signature_key", "neg",
                    result="neg")
    place.gives("the other signature", model, [2, 4, 6], "--saved_model_tag", "serve,gpu", "--saved_model_signature_key",
                "double", result="double")
    place.gives("outputs of options", model, [2, 4, 6], "--saved_model_tag", "serve,gpu", "--out_node", "double:0",
                result="double")
    place.fails("an unknown tag", model, 2, ["no graph tagged serv", "did you mean serve?", "gpu,serve"],
                "--saved_model_tag", "serv")
    place.fails("an unknown signature", model, 2, ["no signature nge", "did you mean neg?", "double"], "--saved_model_tag",
                "serve,gpu", "--saved_model_signature_key", "nge")
    place.fails("which signature?", model, 2, ["no signature serving_default", "neg, double"], "--saved_model_tag",
                "serve,gpu")
    only = place.saved(meta_graph(graph, {"neg": signatures["neg"]}, tags=("mine",)))
    place.gives("the only graph and signature", only, [-1, -2, -3], result="neg")
    meta = place.folder / "m.meta"
    save_meta_graph(meta, one)
    save_bundle(place.folder / "m", tensors)
    place.gives("a checkpoint", meta, [7, 9, 11], result="y")


def damage(place):
    graph, serve = first_version()
    metas = [meta_graph(graph, {"serving_default": serve})]
    fixed = ("-d", "x", "1,3")

    def fresh():
        return place.saved(*metas, tensors={"a": A, "b": C})

    model = fresh()
    (model / "variables/variables.data-00000-of-00001").unlink()
    place.fails("a missing shard", model, 1, ["variables.data-00000-of-00001", "No such file", "tensor 'a'"], *fixed)
    model = fresh()
    data = model / "variables/variables.data-00000-of-00001"
    data.write_bytes(b"\1" + data.read_bytes()[1:])
    place.fails("a wrong checksum", model, 1, ["the checkpoint is damaged", "checksum"], *fixed)
    model = fresh()
    data = model / "variables/variables.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:-4])
    place.fails("a shard that is cut", model, 1, ["lies beyond the end of the file"], *fixed)
    model = fresh()
    index = model / "variables/variables.index"
    index.write_bytes(index.read_bytes()[:-1])
    place.fails("an index that is cut", model, 1, ["variables.index", "truncated"], *fixed)
    model = place.saved(*metas)
    place.fails("no checkpoint", model, 1, ["variable a has no value", "freeze the graph"], *fixed)
    model = place.saved(*metas, tensors={"a": A, "bb": C})
    place.fails("a variable that is not saved", model, 1, ["no tensor for the variable b", "the saved tensors are: a, bb"], *fixed)
    model = fresh()
    (model / "saved_model.pb").write_bytes((model / "saved_model.pb").read_bytes()[:-3])
    place.fails("a saved model that is cut", model, 1, ["not a TensorFlow model", "past the end"], *fixed)
    (place.folder / "empty").mkdir()
    place.fails("an empty folder", place.folder / "empty", 1, ["no saved_model.pb"], *fixed)
    meta = place.folder / "alone.meta"
    save_meta_graph(meta, graph)
    place.fails("a .meta file alone", meta, 1, ["alone.index", "No such file"], "-d", "x", "1,3")


def frozen(place):
    graph = Graph()
    x = graph.placeholder("x", np.float32, [None, 3])
    graph.node("AddV2", [x, graph.const(Tensor(A))], name="y")
    (place.folder / "g.pb").write_bytes(graph.bytes())
    place.gives("a frozen graph", place.folder / "g.pb", [2, 3, 4], result="y")
    graph.node("VariableV2", [], name="v", dtype=np.float32, shape=[3])
    graph.node("AddV2", [x, "v"], name="z", T=np.float32)
    (place.folder / "g.pb").write_bytes(graph.bytes())
    place.gives("what is not needed may lack its value", place.folder / "g.pb", [2, 3, 4], "--out_node", "y", result="y")
    place.fails("a variable in a frozen graph", place.folder / "g.pb", 1, ["variable v has no value"], "-d", "x", "1,3")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(checks, folder)
        for part in (variables, graphs_and_signatures, damage, frozen):
            part(place)
    checks.finish()


main()
