# SPDX-License-Identifier: Apache-2.0
"""Seeds of the targets that read TensorFlow's models: graphs, texts, folders of saved models."""

import pathlib
import struct
import tempfile

from checks import SHARED

LARGEST_GRAPH = 1 << 13
LARGEST_MODEL = 1 << 14

TEXTS = (
    "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value {\n"
    "shape { dim { size: -1 } dim { size: 3 name: \"n\" } } } } } # comment\nversions { producer: 0x1F }",
    "node < name: \"a\\303\\251\\x41\\u00e9\\U0001F600\\ud83d\\ude00\" 'b'; input: [ 'x', '^y' ], device: '/cpu:0' >",
    "node [ { attr { value { tensor { dtype: 1 float_val: [ 1, .5, -1e3f, inf, -nan ] half_val: 017 bool_val: [ t, false, 1 ]\n"
    "tensor_content: '\\000\\377\\n' uint64_val: 18446744073709551615 } } } }, { } ]",
    "meta_graphs { meta_info_def { tags: 'serve' [a.b/c.D] { e: f } } graph_def { library { function { signature { name: 'f'\n"
    "output_arg { name: 'y' type: DT_HALF } } ret { key: 'y' value: 'n:z:0' } } } } unknown: [ { a: -1 }, < > ] }",
    "saved_model_schema_version: 1 meta_graphs { graph_def { node { name: 'v' op: 'VarHandleOp' } } signature_def { key: 'serve'\n"
    "value { inputs { key: 'x' value { name: 'x:0' dtype: DT_FLOAT tensor_shape { unknown_rank: true } } } method_name: 'p' } } }",
    "node { attr { key: 'l' value { list { s: 'a' s: 'b' i: [1, -2] f: 1.5e-3 b: [true] type: DT_INT32 shape { } func {\n"
    "name: 'f' attr { key: 'T' value { placeholder: 'T' } } } } } } } library { gradient { } }",
)


# ---- graphs ----


def calls():
    """A call in a call, whose inner nodes have several outputs, and ops that the target's config claims."""
    import numpy as np
    from tf_writer import Func, Graph
    g = Graph()
    x = g.placeholder("x", np.float32, [2, 4])
    inner = g.function("inner", {"x": np.float32})
    parts = inner.node("Split", [inner.const(np.int32(0)), inner.args["x"]], num_split=2)
    scaled = inner.node("MyScale", [parts, inner.const(np.float32(2))], outputs={"out": np.float32}, alpha=0.5, axis=1)
    inner.returns(y=scaled, z=parts[1])
    outer = g.function("outer", {"a": np.float32})
    called = outer.node("inner", [outer.args["a"]], outputs={"y": np.float32, "z": np.float32})
    outer.returns(r=outer.node("AddV2", [called, called[1]]))
    y = g.node("PartitionedCall", [x], f=Func("outer"), Tin=[np.float32], Tout=[np.float32], outputs={"out": np.float32})
    split = g.node("MySplit", [y], outputs={"a": np.float32, "b": np.float32}, sizes=[1, 1])
    g.node("Softmax", [split[1]])
    return g


def write_graphs(folder):
    from case import cases_of, families
    for family in families():
        for number, case in enumerate(cases_of(family)):
            data = case.bytes()
            if len(data) <= LARGEST_GRAPH:
                (folder / f"{family}-{number}").write_bytes(data)
    (folder / "calls").write_bytes(calls().bytes())
    for path in sorted((SHARED / "corpus" / "tf" / "frozen").glob("*.pb")):
        if path.stat().st_size <= LARGEST_MODEL:
            (folder / path.name).write_bytes(path.read_bytes())


def write_texts(folder):
    for number, text in enumerate(TEXTS):
        (folder / f"text-{number}").write_text(text)


# ---- saved models ----


def first_version(slices=("", "")):
    """x + v + w, whose values RestoreV2 would read; slices: what it says of parts."""
    import numpy as np
    from tf_writer import Graph, meta_graph, signature
    g = Graph()
    x = g.placeholder("x", np.float32, [None, 3])
    total = x
    for name, part in zip("vw", slices):
        variable = g.node("VariableV2", [], name=name, dtype=np.float32, shape=[3])
        total = g.node("AddV2", [total, g.node("Identity", [variable], name=f"{name}/read")], name=f"add_{name}")
        names = [np.array([text], object) for text in (f"saved/{name}" if part else name, part)]
        value = g.node("RestoreV2", [g.const(np.array("model", object)), g.const(names[0]), g.const(names[1])],
                       name=f"save/RestoreV2_{name}", dtypes=[np.float32])
        g.node("Assign", [variable, value], name=f"save/Assign_{name}")
    y = g.node("Identity", [total], name="y")
    serve = signature({"x": (x, [None, 3])}, {"y": (y, [None, 3])})
    return [meta_graph(g, {"serving_default": serve, "second": signature({}, {"y": (total, [3])})})]


def second_version(restores):
    """A function with captured handles; what the variables are called in the checkpoint is what a function that restores
    them says, or the checkpoint itself."""
    import numpy as np
    from tf_writer import RESOURCE, STRING, Func, Graph, meta_graph, signature
    g = Graph()
    x = g.placeholder("x", np.float32, [2, 3])
    handles = [g.node("VarHandleOp", [], name=name, dtype=np.float32, shape=[3], shared_name=name) for name in "vw"]
    f = g.function("compute", {"x": np.float32, "a": RESOURCE, "b": RESOURCE})
    reads = [f.node("ReadVariableOp", [f.args[name]], name=f"{name}/Read", dtype=np.float32) for name in "ab"]
    f.returns(result=f.node("Sub", [f.node("Mul", [f.args["x"], reads[0]]), reads[1]]))
    y = g.node("StatefulPartitionedCall", [x, *handles], name="y", f=Func("compute"), Tout=[np.float32])
    if restores:
        r = g.function("restore", {"file": STRING, "a": RESOURCE, "b": RESOURCE})
        names, parts = (r.const(np.array(texts, object)) for texts in (["root/v", "root/w"], ["", ""]))
        values = r.node("RestoreV2", [r.args["file"], names, parts], dtypes=[np.float32] * 2)
        for place, handle in enumerate("ab"):
            r.node("AssignVariableOp", [r.args[handle], r.node("Identity", [values[place]])], name=f"Assign_{place}")
        r.returns(file=r.node("Identity", [r.args["file"], "^Assign_0", "^Assign_1"]))
        g.node("StatefulPartitionedCall", [g.placeholder("file", STRING, []), *handles], name="restore_call",
               f=Func("restore"), Tout=[STRING])
    serve = signature({"x": (x, [2, 3])}, {"output_0": (y, [2, 3])})
    return [meta_graph(g, {"serving_default": serve}, restore="restore_call" if restores else None)]


def branches():
    """Variables that both branches of an If read, a loop that multiplies by one, and one that a call changes."""
    import numpy as np
    from tf_writer import RESOURCE, Func, Graph, meta_graph, signature
    metas = []
    for changes in (False, True):
        g = Graph()
        x = g.placeholder("x", np.float32, [2, 3])
        v = g.node("VarHandleOp", [], name="v", dtype=np.float32, shape=[3], shared_name="v")
        for name, op in (("then", "Add"), ("else", "Mul")):
            f = g.function(name, {"x": np.float32, "v": RESOURCE})
            read = f.node("ReadVariableOp", [f.args["v"]], dtype=np.float32)
            if changes and name == "else":
                f.node("AssignAddVariableOp", [f.args["v"], read], dtype=np.float32)
            f.returns(y=f.node(op, [f.args["x"], read]))
        flag = g.placeholder("flag", np.bool_, [])
        y = g.node("If", [flag, x, v], name="y", then_branch=Func("then"), else_branch=Func("else"), Tout=[np.float32],
                   Tin=[np.float32, RESOURCE])
        sign = signature({"x": (x, [2, 3]), "flag": (flag, [])}, {"y": (y, [2, 3])})
        metas.append(meta_graph(g, {"serving_default": sign}, tags=("serve", "gpu") if changes else ("serve",)))
    return metas


def sliced(prefix):
    """Makes of a checkpoint's tensor v, of 3 elements, one in two slices: of the first element, and of the others."""
    import tf_bundle_writer as bundle
    from onnx_writer import Message, varint
    from tf_writer import CODES, shape_message

    def entry(count, offset, payload, slices=()):
        message = Message().integer(1, CODES["float32"]).message(2, shape_message([count])).integer(4, offset)
        message.integer(5, len(payload)).encoded(varint(6 << 3 | 5) + struct.pack("<I", bundle.masked_crc32c(payload)))
        for start, length in slices:
            message.message(7, Message().message(1, Message().integer(1, start).integer(2, length)))
        return b"".join(message.parts)

    data = struct.pack("<6f", 1, 2, 3, 4, 5, 6)
    header = b"".join(Message().integer(1, 1).message(3, Message().integer(1, 1)).parts)
    entries = [(b"", header), (b"\0v\0\1\1\1\x80\x81", entry(1, 0, data[:4])),
               (b"\0v\0\1\1\1\x81\x82", entry(2, 4, data[4:12])), (b"v", entry(3, 0, b"", [(0, 1), (1, 2)])),
               (b"w", entry(3, 12, data[12:]))]
    prefix.with_name(prefix.name + ".index").write_bytes(bundle._table(entries, False))
    prefix.with_name(prefix.name + ".data-00000-of-00001").write_bytes(data)


def packed(how, model, prefix):
    """A folder as the target takes it."""
    parts = [bytes([how]), struct.pack("<I", len(model)), model]
    if prefix.with_name(prefix.name + ".index").exists():
        index = prefix.with_name(prefix.name + ".index").read_bytes()
        parts += [struct.pack("<I", len(index)), index, prefix.with_name(prefix.name + ".data-00000-of-00001").read_bytes()]
    return b"".join(parts)


def write_saved_models(folder):
    import numpy as np
    from tf_bundle_writer import OBJECT_GRAPH, object_graph, save_bundle
    from tf_program import saved_program
    from tf_writer import save_saved_model
    program, tensors_of_program = saved_program()
    v, w = np.array([1, 2, 3], np.float32), np.array([4, 5, 6], np.float32)
    both = {"v": v, "w": w}
    keys = {"v": "root/v", "w": "root/w"}
    restored = {"root/v": v, "root/w": w}
    whole = {"saved/v": np.arange(6, dtype=np.float32), "saved/w": np.arange(7, dtype=np.float32)}
    models = {"first": (first_version(), both), "part": (first_version(("6 3,3", "7 0,3")), whole),
              "second": (second_version(True), restored),
              "objects": (second_version(False), {**restored, OBJECT_GRAPH: object_graph(keys)}),
              "branches": (branches(), both), "sliced": (second_version(False), both),
              "no_checkpoint": (second_version(False), None), "program": ((program,), tensors_of_program)}
    with tempfile.TemporaryDirectory() as temporary:
        for name, (metas, tensors) in models.items():
            model = pathlib.Path(temporary) / name
            save_saved_model(model, *metas)
            prefix = model / "variables" / "variables"
            if tensors:
                save_bundle(prefix, tensors)
            if name == "sliced":
                sliced(prefix)
            for how in (0, 1, 2, 8, 12, 64 | 8):
                (folder / f"{name}-{how}").write_bytes(packed(how, (model / "saved_model.pb").read_bytes(), prefix))
            (folder / f"{name}-meta").write_bytes(packed(16 | 12, b"".join(metas[0].parts), prefix))
    for model in sorted((SHARED / "corpus" / "tf" / "saved_model").glob("*/saved_model.pb")):
        data = packed(0, model.read_bytes(), model.parent / "variables" / "variables")
        if len(data) <= LARGEST_MODEL:
            (folder / model.parent.name).write_bytes(data)
