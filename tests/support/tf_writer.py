# SPDX-License-Identifier: Apache-2.0
"""Writes TensorFlow graphs, saved models and meta graphs without TensorFlow: as much of the protobuf wire format as they need.

    g = Graph()
    x = g.placeholder("x", np.float32, [1, 8, 8, 3])
    w = g.const("w", weights)
    y = g.node("Conv2D", [x, w], name="y", strides=[1, 1, 1, 1], padding="SAME")
    g.save(path)

Type attributes (T, Tidx ...) and counts (N) follow from the inputs, by tests/reference/operators.txt; one that has its
default value is left out, as saved models do, unless it is given. y stands for the first output; y[1] for the second. An
input may also be a string: "^node" is a control input, "name:1" any tensor, such as one of a node that comes later.

    f = g.function("body", {"a": np.float32})
    f.returns(out=f.node("Neg", [f.args["a"]]))
    g.node("PartitionedCall", [x], f=Func("body"), Tout=[np.float32])

Attributes are of the kind that the Python value suggests: bool, int, float, str or bytes, a NumPy type or DType, Shape,
an array or Tensor, Func, and lists of these; a Message is an AttrValue that is encoded already. Field numbers are those
of the public definitions.
"""

import functools
import struct

import numpy as np
from checks import SOURCE
from onnx_writer import Message

CODES = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8,
         "int64": 9, "bool": 10, "qint8": 11, "quint8": 12, "qint32": 13, "bfloat16": 14, "qint16": 15, "quint16": 16,
         "uint16": 17, "complex128": 18, "float16": 19, "resource": 20, "variant": 21, "uint32": 22, "uint64": 23}
# Field of TensorProto that holds values of a type, and how they are encoded.
VALUES = {"float32": (5, "f"), "float64": (6, "d"), "int64": (10, "v"), "bool": (11, "v"), "float16": (13, "half"),
          "uint32": (16, "v"), "uint64": (17, "v"), "complex64": (9, "parts"), "complex128": (12, "parts")}


class DType(str):
    """An element type by TensorFlow's name, for those that NumPy does not have: DType("resource")."""


BFLOAT16, RESOURCE, STRING, VARIANT = map(DType, ("bfloat16", "resource", "string", "variant"))


def tensor_name(name):
    """"node" is the tensor "node:0"."""
    return name if ":" in name else f"{name}:0"


@functools.cache  # large models ask for each of their values
def dtype_name(dtype):
    return str(dtype) if isinstance(dtype, DType) else np.dtype(dtype).name


class Shape(tuple):
    """A shape as an attribute: Shape([None, 3]) has an unknown dim, Shape.UNKNOWN an unknown rank."""

    UNKNOWN = None


Shape.UNKNOWN = type("UnknownShape", (), {})()


class Func:
    """A function as an attribute."""

    def __init__(self, name, **attributes):
        self.name, self.attributes = name, attributes


class Tensor:
    """A tensor in a form of one's choice: form is "content" (raw bytes), "values" (a field of the type), or "splat" (the
    values without those that repeat the one before them at the end). bfloat16 tensors are made of uint16 bits."""

    def __init__(self, array, form=None, dtype=None):
        self.array = np.asarray(array)
        self.dtype = dtype_name(dtype if dtype is not None else
                                STRING if self.array.dtype.kind in "OSU" else self.array.dtype)
        self.form = form or ("content" if self.array.size > 1 and self.dtype != "string" else "values")


# ---- messages ----


def shape_message(shape):
    message = Message()
    if shape is Shape.UNKNOWN:
        return message.integer(3, 1)
    for dim in shape:
        message.message(2, Message().integer(1, -1 if dim is None else dim))
    return message


def tensor_message(tensor):
    tensor = tensor if isinstance(tensor, Tensor) else Tensor(tensor)
    message = Message().integer(1, CODES[tensor.dtype]).message(2, shape_message(tensor.array.shape))
    if tensor.form == "content":
        return message.data(4, np.ascontiguousarray(tensor.array).tobytes())
    flat = list(tensor.array.reshape(-1))
    while tensor.form == "splat" and len(flat) > 1 and flat[-1] == flat[-2]:
        flat.pop()
    if tensor.dtype == "string":
        for value in flat:
            message.data(8, value)
        return message
    field, form = VALUES.get(tensor.dtype, (13 if tensor.dtype == "bfloat16" else 7, "v"))
    if form == "v":
        values = b"".join(_varint(int(value)) for value in flat)
    elif form == "half":
        values = b"".join(_varint(int(bits)) for bits in np.array(flat, np.float16).view(np.uint16))
    elif form == "parts":
        values = np.array(flat, tensor.dtype).tobytes()
    else:
        values = struct.pack(f"<{len(flat)}{form}", *flat)
    return message.data(field, values) if flat else message


def _varint(value):
    message = Message().integer(0, value)  # field number 0 takes one byte
    return message.parts[0][1:]


def _is_type(value):
    return isinstance(value, (DType, np.dtype)) or (isinstance(value, type) and issubclass(value, (np.generic, bool)))


def attribute(value):
    """AttrValue."""
    if isinstance(value, Message):
        return value
    message = Message()
    if isinstance(value, list):
        return message.message(1, _list(value))
    return _single(message, value, {"s": 2, "i": 3, "f": 4, "b": 5, "type": 6, "shape": 7, "tensor": 8, "func": 10})


def _single(message, value, fields):
    if value is Shape.UNKNOWN or isinstance(value, Shape):
        return message.message(fields["shape"], shape_message(value))
    if isinstance(value, (Tensor, np.ndarray)):
        return message.message(fields["tensor"], tensor_message(value))
    if isinstance(value, Func):
        return message.message(fields["func"], _function_name(value))
    if _is_type(value):
        return message.integer(fields["type"], CODES[dtype_name(value)])
    if isinstance(value, (bool, np.bool_)):
        return message.integer(fields["b"], int(value))
    if isinstance(value, (int, np.integer)):
        return message.integer(fields["i"], int(value))
    if isinstance(value, (float, np.floating)):
        return message.float32(fields["f"], float(value))
    if isinstance(value, (str, bytes)):
        return message.data(fields["s"], value)
    raise TypeError(f"no attribute is like {value!r}")


def _list(values):
    message = Message()
    for value in values:
        _single(message, value, {"s": 2, "i": 3, "f": 4, "b": 5, "type": 6, "shape": 7, "tensor": 8, "func": 9})
    return message


def _function_name(func):
    message = Message().data(1, func.name)
    for key, value in func.attributes.items():
        message.message(2, _entry(key, attribute(value)))
    return message


def _entry(key, message):
    return Message().data(1, key).message(2, message)


# ---- what operators take ----


class Operator:
    """A line of operators.txt: inputs and outputs as (name, kind), defaults of type attributes."""

    def __init__(self, line):
        form, _, defaults = line.partition("; ")
        head, _, outputs = form.partition(" ->")
        self.name, _, inputs = head.rstrip(")").partition("(")
        self.inputs = [tuple(text.split(":")) for text in inputs.split()]
        self.outputs = [tuple(text.split(":")) for text in outputs.split()]
        self.defaults = dict(text.split("=") for text in defaults.split())

    def inferred(self, dtypes, given):
        """Type attributes and counts that follow from the inputs' dtypes (None: not known); given ones count, too."""
        found = {}
        lists = [kind for _, kind in self.inputs if "*" in kind or kind[0] == "["]
        rest = len(dtypes) - (len(self.inputs) - len(lists))
        at = 0
        for _, kind in self.inputs:
            known = {**found, **given}
            if kind[0] == "[":
                count = len(known[kind[1:-1]]) if kind[1:-1] in known else rest // len(lists)
                found.setdefault(kind[1:-1], [DType(dtype) for dtype in dtypes[at:at + count]])
            elif "*" in kind:
                number, element = kind.split("*")
                count = known[number] if number in known else rest // len(lists)
                found.setdefault(number, count)
                self._note(found, element, dtypes[at:at + count])
            else:
                count = 1
                self._note(found, kind, dtypes[at:at + 1])
            at += count
        return {key: value for key, value in found.items() if key not in given and value != self.defaults.get(key)}

    @staticmethod
    def _note(found, kind, dtypes):
        known = [dtype for dtype in dtypes if dtype is not None]
        if known and kind not in CODES and kind not in found:
            found[kind] = DType(known[0])

    def results(self, attributes):
        """[(name of the output, [dtypes])]."""
        def dtype(kind):
            value = attributes.get(kind, self.defaults.get(kind))
            return kind if kind in CODES else None if value is None else value if value in CODES else dtype_name(value)

        found = []
        for name, kind in self.outputs:
            if kind[0] == "[":
                found.append((name, [dtype_name(value) for value in attributes.get(kind[1:-1], [])]))
            elif "*" in kind:
                number, element = kind.split("*")
                found.append((name, [dtype(element)] * attributes.get(number, 0)))
            else:
                found.append((name, [dtype(kind)]))
        return found


def _read_operators():
    lines = (SOURCE / "tests" / "reference" / "operators.txt").read_text().splitlines()
    return {operator.name: operator for operator in map(Operator, lines)}


OPERATORS = _read_operators()


# ---- graphs ----


class Value:
    """An output of a node: ref is what inputs call it; name is what users call it."""

    def __init__(self, node, ref, name, dtype):
        self.node, self.ref, self.name, self.dtype = node, ref, name, dtype

    def __getitem__(self, index):
        return self.node.outputs[index]


class Node:
    """A node: op, name, inputs as written, attributes, outputs."""

    def __init__(self, op, name, inputs, attributes):
        self.op, self.name, self.inputs, self.attributes, self.outputs = op, name, inputs, attributes, []

    def message(self):
        message = Message().data(1, self.name).data(2, self.op)
        for text in self.inputs:
            message.data(3, text)
        for key, value in self.attributes.items():
            message.message(5, _entry(key, attribute(value)))
        return message


class Nodes:
    """What graphs and functions share: a list of nodes."""

    def __init__(self):
        self.nodes, self.names = [], set()

    def _unique(self, stem):
        name, count = stem, 0
        while name in self.names:
            count += 1
            name = f"{stem}_{count}"
        return name

    def node(self, op, inputs=(), name=None, outputs=None, **attributes):
        """Adds a node and returns its first output. outputs: {name: dtype} of an operator that is not in operators.txt; an
        attribute None is not written."""
        name = name or self._unique(op)
        self.names.add(name)
        operator = OPERATORS.get(op)
        # Control inputs come behind the others.
        data = [value for value in inputs if not (isinstance(value, str) and value[0] == "^")]
        if operator:
            inferred = operator.inferred([getattr(value, "dtype", None) for value in data], attributes)
            attributes = {**inferred, **attributes}
        attributes = {key: value for key, value in attributes.items() if value is not None}
        node = Node(op, name, [value if isinstance(value, str) else value.ref for value in inputs], attributes)
        self.nodes.append(node)
        if operator:
            results = operator.results(attributes)
        else:
            named = {"out": np.float32} if outputs is None else outputs
            results = [(key, [dtype_name(dtype)]) for key, dtype in named.items()]
        self._add_outputs(node, results)
        return node.outputs[0] if node.outputs else Value(node, "^" + name, name, None)

    def _add_outputs(self, node, results):
        for key, dtypes in results:
            for place, dtype in enumerate(dtypes):
                index = len(node.outputs)
                user = f"{node.name}:{index}" if index else node.name
                node.outputs.append(Value(node, self.reference(node, key, place, user), user, dtype))

    def const(self, *arguments, **more):
        """const([name,] array or Tensor [, dtype]): a constant; form is that of Tensor."""
        name = arguments[0] if isinstance(arguments[0], str) and len(arguments) > 1 else None
        values, *dtype = arguments[1:] if name else arguments
        if not isinstance(values, Tensor):
            values = Tensor(np.array(values, *dtype), **more)
        return self.node("Const", [], name=name, dtype=DType(values.dtype), value=values)


class Function(Nodes):
    """FunctionDef: args has its arguments by name."""

    def __init__(self, name, arguments):
        super().__init__()
        self.name = name
        self.signature = Message().data(1, name)
        self.args, self.results, self.ret = {}, [], Message()
        for key, dtype in arguments.items():
            dtype = dtype_name(dtype)
            self.names.add(key)
            self.signature.message(2, Message().data(1, key).integer(3, CODES[dtype]))
            self.args[key] = Value(None, key, key, dtype)

    @staticmethod
    def reference(node, key, place, _):
        return f"{node.name}:{key}:{place}"

    def returns(self, **values):
        """The function's results, in this order."""
        for key, value in values.items():
            self.signature.message(3, Message().data(1, key).integer(3, CODES[value.dtype]))
            self.ret.message(4, Message().data(1, key).data(2, value.ref))
            self.results.append(value.dtype)

    def message(self):
        message = Message().message(1, self.signature)
        for node in self.nodes:
            message.message(3, node.message())
        return message.encoded(b"".join(self.ret.parts))


class Graph(Nodes):
    """GraphDef with its functions; producer is the version of what made it, None for one that does not say."""

    producer = 1087

    def __init__(self):
        super().__init__()
        self.functions = []

    @staticmethod
    def reference(_node, _key, _place, user):
        return user

    def placeholder(self, name, dtype, shape=Shape.UNKNOWN):
        """shape: dims, None for unknown ones."""
        shape = shape if shape is Shape.UNKNOWN else Shape(shape)
        return self.node("Placeholder", [], name=name, dtype=DType(dtype_name(dtype)), shape=shape)

    def function(self, name, arguments):
        """Adds a function; arguments: {name: dtype}."""
        self.functions.append(Function(name, arguments))
        return self.functions[-1]

    def message(self):
        message = Message()
        for node in self.nodes:
            message.message(1, node.message())
        if self.functions:
            library = Message()
            for function in self.functions:
                library.message(1, function.message())
            message.message(2, library)
        return message if self.producer is None else message.message(4, Message().integer(1, self.producer))

    def bytes(self):
        return b"".join(self.message().parts)

    def save(self, path):
        with open(path, "wb") as out:
            out.writelines(self.message().parts)


# ---- saved models ----


def signature(inputs, outputs, method="tensorflow/serving/predict"):
    """SignatureDef; inputs and outputs: {key: (Value, dims)}."""
    message = Message()
    for field, infos in ((1, inputs), (2, outputs)):
        for key, (value, dims) in infos.items():
            name = value.name if ":" in value.name else value.name + ":0"
            info = Message().data(1, name).integer(2, CODES[value.dtype]).message(3, shape_message(dims))
            message.message(field, _entry(key, info))
    return message.data(3, method)


def op_def(name, inputs, outputs, defaults):
    """OpDef, as saved models bring them: names of arguments, which are floats, or (name, type or the attribute that says it),
    and attributes with their defaults."""
    message = Message().data(1, name)
    for field, arguments in ((2, inputs), (3, outputs)):
        for argument in arguments:
            arg, kind = argument if isinstance(argument, tuple) else (argument, np.float32)
            described = Message().data(1, arg)
            message.message(field, described.data(4, kind) if isinstance(kind, str) else
                            described.integer(3, CODES[np.dtype(kind).name]))
    for key, value in defaults.items():
        message.message(4, Message().data(1, key).message(3, attribute(value)))
    return message


def meta_graph(graph, signatures=None, tags=("serve",), restore=None, ops=()):
    """MetaGraphDef: what a .meta file holds; signatures by key; restore: the node that would read the variables; ops:
    definitions of operators."""
    info, listed = Message(), Message()
    for op in ops:
        listed.message(1, op)
    if ops:
        info.message(2, listed)
    for tag in tags:
        info.data(4, tag)
    message = Message().message(1, info.data(5, "2.21.0")).message(2, graph.message())
    if restore:
        message.message(3, Message().data(3, restore))
    for key, value in (signatures or {}).items():
        message.message(5, _entry(key, value))
    return message


def save_meta_graph(path, graph):
    with open(path, "wb") as out:
        out.writelines(meta_graph(graph).parts)


def save_saved_model(folder, *meta_graphs):
    """Writes saved_model.pb into a folder; variables are tf_bundle_writer's."""
    message = Message().integer(1, 1)
    for meta in meta_graphs:
        message.message(2, meta)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "saved_model.pb", "wb") as out:
        out.writelines(message.parts)
