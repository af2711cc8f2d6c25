# SPDX-License-Identifier: Apache-2.0
"""A program as TensorFlow 2.21 saves a tf.Module with signatures={}: functions without a signature. Variables are arguments that
functions take from around them; two of them have one name, and only the attributes that lead to them tell them apart."""

import numpy as np
from onnx_writer import Message
from tf_bundle_writer import OBJECT_GRAPH
from tf_writer import RESOURCE, Func, Graph, Shape, attribute, meta_graph

SCALE, SHIFT, MORE = np.float32([2, -1]), np.float32([10, 20]), np.float32([0.5, 0.25])
FUNCTION, VARIABLE, CONSTANT = 6, 7, 9
ROOT, SCALING, SHIFTING, SCALE_W, SHIFT_W, CONST, ASSET = range(7)


def entry(key, value):
    return Message().data(1, key).message(2, value)


def child(name, node):
    return Message().integer(1, node).data(2, name)


def saved_object(children=(), kind=None, content=None):
    message = Message()
    for name, node in children:
        message.message(1, child(name, node))
    return message.message(kind, content) if kind else message


def concrete(*names):
    message = Message()
    for name in names:
        message.data(1, name)
    return message


def with_shapes(function, shapes):
    """The FunctionDef, with what it says of the shapes of its arguments."""
    message = function.message()
    for i, shape in enumerate(shapes):
        if shape is not None:
            attrs = Message().message(1, entry("_output_shapes", attribute([Shape(shape)])))
            message.message(7, Message().integer(1, i).message(2, attrs))
    return message


class Program(Graph):
    """The graph of a saved program: its nodes are those that save, functions are what it does."""

    def __init__(self):
        super().__init__()
        self.const("Const", MORE)
        for name in ("Variable", "Variable_1"):
            self.node("VarHandleOp", [], name=name, dtype=np.float32, shape=Shape([2]), shared_name="Variable")
        for name in ("scaling", "shifting"):
            f = self.function(f"__inference_{name}_1", {"x": np.float32, "w": RESOURCE})
            w = f.node("ReadVariableOp", [f.args["w"]], name="Read", dtype=np.float32)
            f.returns(identity=f.node("Mul" if name == "scaling" else "AddV2", [f.args["x"], w], name="Identity"))
        self.both()
        self.counting()
        for i, op in enumerate(("Neg", "Relu")):
            f = self.function(f"__inference_many_{i}", {"x": np.float32})
            f.returns(identity=f.node(op, [f.args["x"]], name="Identity"))
        f = self.function("__inference_files_1", {"x": np.float32, "file": RESOURCE})
        f.returns(identity=f.node("Strange", [f.args["x"], f.args["file"]], name="Identity", outputs={"y": np.float32}))

    def both(self):
        """(x * scale + shift) * s + more, and -x * scale; "Const" is a name outside, too, of something else."""
        f = self.function("__inference_both_1", {"x": np.float32, "s": np.float32, "unused": np.float32, "unknown": RESOURCE,
                                                 "unknown_0": RESOURCE, "more": np.float32})
        call = {"Tout": [np.float32]}
        scaled = f.node("StatefulPartitionedCall", [f.args["x"], f.args["unknown"]], name="call", f=Func("__inference_scaling_1"),
                        **call)
        moved = f.node("StatefulPartitionedCall", [scaled, f.args["unknown_0"]], name="call_1",
                       f=Func("__inference_shifting_1"), **call)
        whole = f.node("AddV2", [f.node("Mul", [moved, f.args["s"]], name="mul"), f.args["more"]], name="sum")
        f.const("Const", np.float32([100, 100]))
        f.returns(identity=f.node("Identity", [whole], name="Identity"),
                  identity_1=f.node("Neg", [scaled], name="Identity_1"))

    def counting(self):
        """Functions that change a variable which their result needs, and one which it does not."""
        for name, read in (("counted", True), ("counting", False)):
            f = self.function(f"__inference_{name}_1", {"x": np.float32, "n": RESOURCE})
            f.node("AssignAddVariableOp", [f.args["n"], f.const(np.float32([1, 1]))], name="add", dtype=np.float32)
            n = f.node("ReadVariableOp", [f.args["n"], "^add"], name="Read", dtype=np.float32)
            f.returns(identity=f.node("Mul", [f.args["x"], n if read else f.args["x"]], name="Identity"))

    def message(self):
        functions, self.functions = self.functions, []
        message = super().message()
        self.functions = functions
        library = Message()
        for f in functions:
            shapes = [[None, 2], [], [7]] if "both" in f.name else [[1, 2]]
            library.message(1, with_shapes(f, shapes))
        return message.message(2, library)


def objects():
    """SavedObjectGraph: functions stand behind the other objects."""
    bound = {"scaling": [SCALE_W], "shifting": [SHIFT_W], "both": [SCALE_W, SHIFT_W, CONST], "counted": [SCALE_W],
             "counting": [SCALE_W], "files": [ASSET]}
    functions = {"scaling": ["__inference_scaling_1"], "shifting": ["__inference_shifting_1"], "both": ["__inference_both_1"],
                 "counted": ["__inference_counted_1"], "counting": ["__inference_counting_1"],
                 "many": ["__inference_many_0", "__inference_many_1"], "files": ["__inference_files_1"]}
    at = {name: ASSET + 1 + i for i, name in enumerate(functions)}
    variable = Message().integer(1, 1).data(6, "Variable")
    ours = [(name, at[name]) for name in functions if name not in ("scaling", "shifting")]
    nodes = [saved_object([("scale", SCALING), ("shift", SHIFTING), *ours]),
             saved_object([("w", SCALE_W), ("apply", at["scaling"])]), saved_object([("w", SHIFT_W), ("apply", at["shifting"])]),
             saved_object((), VARIABLE, variable), saved_object((), VARIABLE, variable),
             saved_object((), CONSTANT, Message().data(1, "Const")), saved_object()]
    nodes += [saved_object((), FUNCTION, concrete(*names)) for names in functions.values()]
    message = Message()
    for node in nodes:
        message.message(1, node)
    for name, concretes in functions.items():
        for one in concretes:
            inputs = Message()
            for node in bound.get(name, ()):
                inputs.integer(2, node)
            message.message(2, entry(one, inputs))
    return message


def checkpoint_objects():
    """The checkpoint has the same attributes, its objects in another order."""
    message = Message()
    for children, key in (([("shift", 1), ("scale", 2)], None), ([("w", 3)], None), ([("w", 4)], None),
                          ([], "shift/w"), ([], "scale/w")):
        node = Message()
        for name, at in children:
            node.message(1, child(name, at))
        if key:
            node.message(2, Message().data(1, "VARIABLE_VALUE").data(2, "Variable").data(3, key))
        message.message(1, node)
    return np.array(b"".join(message.parts), object)


def saved_program(graph=None, signatures=None):
    """(MetaGraphDef, tensors of its checkpoint)."""
    meta = meta_graph(graph or Program(), signatures).message(7, objects())
    return meta, {"scale/w": SCALE, "shift/w": SHIFT, OBJECT_GRAPH: checkpoint_objects()}
