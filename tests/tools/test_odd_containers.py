# SPDX-License-Identifier: Apache-2.0
"""Containers that no converter writes: each says one thing that makes no sense, and the commands name it. dlc-info for
what readers refuse, dlc-info --verify for what only looks wrong, net-run for what cannot be executed."""

import io
import json
import pathlib
import struct
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import dlc_writer as w  # noqa: E402
from checks import Checks, run  # noqa: E402

READWRITE, NULL = 2, 5
UNKNOWN = 0x7777
PACKAGE = w.text("packageName", "qti.aisw")


def relu(name, read, write, *more):
    return name, "Neuron", [read], [write], [w.text("neuron_type", "Relu"), PACKAGE, *more]


def graph(*ops, **tensors):
    """x [1,4] and y [1,4], or as they are given, beside the other tensors: (kind, dtype, dims, more) by name. Without ops
    there is a Relu from x to y."""
    g = w.Graph("g")
    tensors = {"x": (w.APP_WRITE, w.FLOAT_32, [1, 4]), "y": (w.APP_READ, w.FLOAT_32, [1, 4]), **tensors}
    for name, (kind, dtype, dims, *more) in tensors.items():
        g.tensor(name, kind, dtype, dims, **(more[0] if more else {}))
    for op in ops or [relu("relu", "x", "y")]:
        g.op(*op)
    return g


def with_data(name, dtype, dims, data=None, **more):
    """A constant that nothing reads."""
    return graph(**{name: (w.STATIC, dtype, dims, {"data": data, **more})})


def without_data(g, name):
    del g.data[name]
    return g


class Repeating(dict):
    """Every item twice."""

    def items(self):
        return [*super().items(), *super().items()]


def data_twice(g):
    g.data = Repeating(g.data)
    return g


def changed_attribute(slot, value):
    g = graph(relu("relu", "x", "y", w.whole("depth", 3)))
    attribute = next(a for a in g.ops[0][4] if a[0] == "depth")
    attribute[slot] = value
    return g


def encoded(*encoding):
    return with_data("c", w.UFXP_8, [2], encoding=encoding)


def unknown_encoding():
    g = encoded(8, 0.0, 255.0, 1.0, 0)
    g.tensors[-1][5][0] = ("I", 99)
    return g


def in_blocks():
    """x has an encoding of kind 2, which is a valid one that stays unread."""
    g = graph(x=(w.APP_WRITE, w.UFXP_8, [1, 4], {"encoding": (8, 0.0, 255.0, 1.0, 0)}))
    g.tensors[0][5][0] = ("I", 2)
    return g


def per_axis(count, axis):
    return with_data("c", w.UFXP_8, [2, 3], encoding=[(8, 0.0, 255.0, 1.0, 0)] * count, axis=axis)


def attribute_without_data():
    g = graph(relu("relu", "x", "y", w.Numbers("dims", [2], [1, 2])))
    g.op_data[0] = {0: []}
    return g


def attribute_twice(count):
    return graph(relu("relu", "x", "y", *(w.whole(f"a{i}", i) for i in range(count)), w.whole("a0", 0)))


def tensor_twice(count):
    """Two attributes whose tensors have one name: whose data are whose cannot be said."""
    g = graph(relu("relu", "x", "y", *(w.Numbers(f"a{i}", [1], [i]) for i in range(count)), w.Numbers("z", [1], [9])))
    next(a for a in g.ops[0][4] if a[0] == "z")[4][1] = "relu_a0"
    return g


REFUSED = {
    "a constant has data twice": (lambda: data_twice(with_data("c", w.FLOAT_32, [1])), "tensor c has data twice"),
    "an attribute without a name": (lambda: changed_attribute(0, ""), "an attribute has no name"),
    "an attribute twice": (lambda: attribute_twice(2), "two attributes are named a0"),
    "a tensor of two attributes": (lambda: tensor_twice(2), "the tensors of two attributes are named relu_a0"),
    "a tensor of two of many attributes": (lambda: tensor_twice(20), "the tensors of two attributes are named relu_a0"),
    "bytes of the type before a quantizer": (lambda: with_data("c", w.UFXP_8, [2], bytes(8),
                                                               encoding=(8, 0.0, 255.0, 1.0, 0)),
                                             "tensor c has 8 bytes of data, ufxp8[2] takes 2"),
    "halves of three bytes": (lambda: with_data("c", w.FLOAT_16, [2], bytes(6)),
                              "tensor c has 6 bytes of data, float16[2] takes 4"),
    "halves of five bytes": (lambda: with_data("c", w.FLOAT_16, [1], bytes(5)),
                             "tensor c has 5 bytes of data, float16[1] takes 2"),
    "an attribute twice among many": (lambda: attribute_twice(20), "two attributes are named a0"),
    "an op without a type": (lambda: graph(("odd", "", ["x"], ["y"], [])), "an op has no type"),
    "encodings of a wrong number": (lambda: per_axis(2, 1),
                                    "tensor c has per-axis encodings that do not match its dimensions"),
    "encodings of a wrong axis": (lambda: per_axis(2, 2),
                                  "tensor c has per-axis encodings that do not match its dimensions"),
}

FOUND = {
    "a minimum above its maximum": (lambda: encoded(8, 2.0, 1.0, 1.0, 0),
                                    "the encoding of tensor c has a minimum above its maximum"),
    "one bit": (lambda: encoded(1, 0.0, 1.0, 1.0, 0), "the encoding of tensor c has an impossible bit width"),
    "16 bits in 8": (lambda: encoded(16, 0.0, 65535.0, 1.0, 0),
                     "the encoding of tensor c has more bits than the data type"),
    "a kind of encoding": (unknown_encoding, "tensor c has an encoding of the unknown kind 99"),
    "an encoding in blocks": (in_blocks, None),
    "a bool of 2": (lambda: with_data("c", w.BOOL_8, [3], b"\0\1\2"),
                    "element 2 of tensor c is neither false nor true"),
    "bools": (lambda: with_data("c", w.BOOL_8, [2], b"\0\1"), None),
    "an absent tensor of no type": (lambda: graph(nothing=(NULL, UNKNOWN, [1])), None),
    "a scalar of no type": (lambda: changed_attribute(3, {0: ("I", UNKNOWN), 1: ("q", 1)}),
                            "the attribute is of the unknown type 0x7777"),
    "an op that writes an input": (lambda: graph(relu("a", "x", "y"), relu("b", "y", "x")),
                                   "the op writes tensor x, which is an input of the graph"),
    "an op that writes a constant": (lambda: graph(relu("a", "x", "y"), relu("b", "y", "c"),
                                                   c=(w.STATIC, w.FLOAT_32, [1, 4])),
                                     "the op writes tensor c, which is a constant"),
    "an op that writes nothing known": (lambda: graph(relu("a", "x", "y"), relu("b", "y", "z")),
                                        "the op writes the unknown tensor z"),
    "an output that is left out": (lambda: graph(("a", "Mystery", ["x"], ["y", ""], [PACKAGE])), None),
}

NOT_EXECUTED = {
    "a tensor that is input and output": (lambda: graph(both=(READWRITE, w.FLOAT_32, [1])),
                                          "tensor both is input and output at once"),
    "a constant without data": (lambda: without_data(with_data("c", w.FLOAT_32, [1]), "c"),
                                "there is no data for static tensor c"),
    "an operand that is no tensor": (lambda: graph(relu("a", "none", "y"), none=(NULL, w.FLOAT_32, [1, 4])),
                                     "operand 0 of the op is missing"),
    "two outputs of a Relu": (lambda: graph(("a", "Neuron", ["x"], ["y", "z"],
                                             [w.text("neuron_type", "Relu"), PACKAGE]),
                                            z=(w.APP_READ, w.FLOAT_32, [1, 4])), "Neuron does not give 2 outputs"),
    "an op that writes an input": (lambda: graph(relu("a", "x", "y"), relu("b", "y", "x")),
                                   "the op writes tensor x, which is an input of the graph"),
    "an op that writes a constant": (lambda: graph(relu("a", "x", "y"), relu("b", "y", "c"),
                                                   c=(w.STATIC, w.FLOAT_32, [1, 4])),
                                     "the op writes tensor c, which is a constant"),
    "an encoding in blocks": (in_blocks, "Relu needs the encoding of tensor x, which is of type uFxp_8"),
    "an attribute without data": (attribute_without_data, "there is no data for attribute dims"),
    "two ops that write a tensor": (lambda: graph(relu("a", "x", "y"), relu("b", "x", "y")), "two ops write tensor y"),
}


def gather(source, indices, write):
    return "pick", "Gather", [source, indices], [write], [w.whole("axis", 0), PACKAGE]


def strings_picked():
    """y = ("a", "bc", "d")[i]: strings that nothing but their places matter of."""
    return graph(gather("words", "i", "y"), words=(w.STATIC, w.TEXT, [3], {"data": b"a\0bc\0d\0"}),
                 x=(w.APP_WRITE, w.FLOAT_32, [1, 4]), i=(w.STATIC, w.INT_32, [2], {"data": struct.pack("<2i", 2, 0)}),
                 y=(w.APP_READ, w.TEXT, [2]))


def strings_given():
    return graph(gather("x", "i", "y"), x=(w.APP_WRITE, w.TEXT, [4]), i=(w.STATIC, w.INT_32, [1]),
                 y=(w.APP_READ, w.TEXT, [1]))


def run_floats(folder, path, result, *values):
    """(what net-run says, the elements of the result) for an input x of these values; no elements when it fails"""
    (folder / "x.raw").write_bytes(struct.pack(f"<{len(values)}f", *values))
    (folder / "list.txt").write_text(f"x:={folder / 'x.raw'}\n")
    out = folder / "floats"
    done = run("net-run", "--container", path, "--input_list", folder / "list.txt", "--output_dir", out)
    raw = (out / "Result_0" / f"{result}.raw").read_bytes() if done.returncode == 0 else b""
    return done, list(struct.unpack(f"<{len(raw) // 4}f", raw))


def half_floats(checks, folder):
    """Halves at the start of data that have the room of floats; what follows them would be NaN."""
    path, data = folder / "made.dlc", struct.pack("<4e", 1, -2, 0.5, 8) + b"\xff" * 8
    add = ("add", "Eltwise_Binary", ["x", "c"], ["y"], [w.text("eltwise_type", "ElementWiseAdd"), PACKAGE])
    w.write_container(path, graph(add, x=(w.APP_WRITE, w.FLOAT_16, [1, 4]), y=(w.APP_READ, w.FLOAT_16, [1, 4]),
                                  c=(w.STATIC, w.FLOAT_16, [1, 4], {"data": data})))
    done, found = run_floats(folder, path, "y", 10, 20, 30, 40)
    checks.equal("halves in the room of floats", (done.returncode, found), (0, [11, 18, 30.5, 48]))
    said = "warning: 'c': tensor c has 16 bytes of data where Float_16 [1,4] takes 8"
    checks.equal("halves in the room of floats are said", done.stderr.count(said), 1)
    checks.equal("halves in the room of floats are found once", len(findings(path)), 1)


# Graph, first line of the list, message.
NOT_RUN = {
    "an unknown node": (graph, "#nowhere", ["the graph has no node 'nowhere'", "known names: relu"]),
    "an almost known node": (graph, "#rellu", ["the graph has no node 'rellu'", "did you mean 'relu'?"]),
    "an unknown tensor": (graph, "%nowhere", ["the graph has no tensor 'nowhere'", "known names: y, x"]),
    "many tensors": (lambda: graph(**{f"t{i}": (w.STATIC, w.FLOAT_32, [1]) for i in range(99)}), "%nowhere",
                     ["known names: y, x, t0, t1", " more; dlc-info lists them all"]),
    "strings that come out": (strings_picked, "", ["strings cannot be given as floats"]),
    "strings that go in": (strings_given, "", ["an input of strings cannot be set from numbers"]),
}


def execution(checks, folder):
    path, listed = folder / "made.dlc", folder / "other.txt"

    def fails(name, first, words):
        listed.write_text(first + ("\n" if first else "") + f"x:={folder / 'x.raw'}\n")
        done = run("net-run", "--container", path, "--input_list", listed, "--output_dir", folder / "out")
        checks.check(f"{name}: status", done.returncode in (1, 2), done.returncode)
        for word in words:
            checks.check(f"{name}: says {word!r}", word in done.stderr, done.stderr)

    for name, (make, first, words) in NOT_RUN.items():
        w.write_container(path, make())
        fails(name, first, words)
    half_floats(checks, folder)
    w.write_container(path, graph(), graph())
    fails("two graphs", "", ["the container holds 2 graphs, and only one can be executed"])


def findings(path):
    done = run("dlc-info", "-i", path, "--verify", "--json")
    return [] if done.returncode not in (0, 1) else [f["message"] for f in json.loads(done.stdout)["findings"]]


def version4(checks, folder):
    path = folder / "made.dlc"
    for name, (make, message) in REFUSED.items():
        w.write_container(path, make())
        done = run("dlc-info", "-i", path)
        checks.equal(f"{name}: status", done.returncode, 1)
        checks.check(f"{name}: message", message in done.stderr, done.stderr)
    for name, (make, message) in FOUND.items():
        w.write_container(path, make())
        found = findings(path)
        checks.check(f"{name}: found", message in found if message else not found, found)
    for name, (make, message) in NOT_EXECUTED.items():
        w.write_container(path, make())
        done = run("net-run", "--container", path, "--input_list", folder / "list.txt", "--output_dir", folder / "out")
        checks.equal(f"{name}: status", done.returncode, 1)
        checks.check(f"{name}: message", message in done.stderr, done.stderr)


# ---- entries ----

def rewritten(path, change):
    """The container's entries with one changed, removed (None) or added."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries.update(change)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            if content is not None:
                archive.writestr(name, content)
    return path


def hide_entry(path):
    """Adds an entry whose header and bytes are bytes of another entry."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("inner", b"bytes")
        inner = archive.getinfo("inner")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("outer", file.getvalue())
        outer = archive.getinfo("outer")
        inner.header_offset = outer.header_offset + len(outer.FileHeader())
        archive.filelist.append(inner)


def entries(checks, folder):
    path = folder / "made.dlc"
    for name, change, message in (
            ("no metadata", {"dlc.metadata": None}, "there is no metadata"),
            ("no model", {"model": None}, "not a DLC container: the zip has no entry named model"),
            ("a model without a header", {"model": b"\0" * 64}, "entry model does not start with a stream header"),
    ):
        w.write_container(path, graph())
        found = findings(rewritten(path, change))
        checks.check(name, message in found, found)
    w.write_container(path, graph())
    hide_entry(path)
    found = findings(path)
    checks.equal("an entry within another", found, ["entries outer and inner overlap"])
    w.write_container(path, graph(relu("relu", "x", "y", w.Numbers("dims", [2], [1, 2]))))
    found = findings(rewritten(path, {"model.params": None}))
    checks.equal("no params", found, ["there is no data for attribute dims"])
    w.write_container(path, graph())
    found = findings(rewritten(path, {"dlc.metadata": b"a=" + bytes(4 << 20)}))
    checks.check("metadata of more than 4 MiB", "the metadata is larger than 4 MiB" in found, found)


# ---- version 3 ----

INT, UINT, FLOAT, TEXT, BYTES, INTS, UINTS, FLOATS, TEXTS, NESTED = range(2, 12)


def argument(name, kind, value):
    """Numbers and lists of them stand in the slot that their kind says."""
    forms = {INT: "i", UINT: "I", FLOAT: "f"}
    if kind in forms:
        value = (forms[kind], value)
    elif kind in (INTS, UINTS):
        value = w.Words(value)
    elif kind == FLOATS:
        value = w.Words(struct.unpack(f"<{len(value)}I", struct.pack(f"<{len(value)}f", *value)))
    return {0: name, 1: ("B", kind), kind + 1: value}


def group(name, *arguments):
    return argument(name, NESTED, list(arguments))


def layer(kind, read, write_to, *arguments, dims=(1, 4)):
    listed = [group("OutputDims", argument("0", UINTS, list(dims))), *arguments]
    return {0: ("I", 0), 1: f"layer_{write_to}", 2: kind, 3: [read] if read else [], 4: [write_to], 5: listed}


def data_of(layer_name, name, dims, data, *arguments):
    return {0: layer_name, 1: [{0: name, 1: w.Words(dims), 2: {0: ("B", BYTES), 1: data}, 3: list(arguments)}]}


def coded(precision):
    return group("FxpData", group("0", argument("delta", FLOAT, 0.5), argument("precision", UINT, precision)))


def write_version3(path, layers, params=()):
    header = struct.pack("<4H", 0x0AD5, 3, 0, 0)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("dlc.metadata", w.METADATA)
        archive.writestr("model", header + w.Buffer(b"NETD", {0: "net", 1: list(layers)}).data)
        if params is not None:
            archive.writestr("model.params", header + w.Buffer(b"NETP", {0: list(params)}).data)
    return path


def version3(checks, folder):
    path = folder / "made3.dlc"
    read, relu3 = layer("Input", None, "x"), layer("Neuron", "x", "y")
    for name, layers, params, message in (
            ("an argument of no type", [read, layer("Neuron", "x", "y", {0: "odd", 1: ("B", 77)})], (),
             "argument odd is of the unknown type 77"),
            ("params of a layer twice", [read, relu3], [data_of("layer_y", "w", [1], b"\0")] * 2,
             "model.params lists a layer twice"),
            ("nine dimensions", [read, layer("Neuron", "x", "y", dims=[1] * 9)], (),
             "output 0 has more than 8 dimensions"),
            ("more elements than data", [read, layer("Const", None, "c", dims=[2, 2]), relu3],
             [data_of("layer_c", "c", [3], b"\1\2\3")],
             "output c has other dimensions than the layer's parameters"),
    ):
        done = run("dlc-info", "-i", write_version3(path, layers, params))
        checks.equal(f"{name}: status", done.returncode, 1)
        checks.check(f"{name}: message", message in done.stderr, done.stderr)

    write_version3(path, [read, layer("Const", None, "c", dims=[2, 2]), relu3], [data_of("layer_c", "c", [4], b"\1\2\3\4")])
    done = run("dlc-info", "-i", path, "--tensor", "c", "--json")
    checks.equal("as many elements in other dimensions", json.loads(done.stdout)["tensor"]["values"], [1, 2, 3, 4])

    lists = [argument("bytes", BYTES, b"\1\2"), argument("ints", INTS, [3, 0xFFFFFFFF]),
             argument("floats", FLOATS, [0.5, -2.0])]
    outputs = [layer("Input", None, f"in{bits:x}", coded(bits)) for bits in (0x204, 0x208, 0x216, 0x232)]
    write_version3(path, [*outputs, layer("Neuron", "in208", "y", *lists)], None)
    done = run("dlc-info", "-i", path, "--json")
    checks.equal("arguments of all kinds", done.returncode, 0)
    model = json.loads(done.stdout)["graphs"][0]
    by_name = {t["name"]: t for t in model["tensors"]}
    checks.equal("types by precision", [by_name[f"in{bits:x}"]["dtype"] for bits in (0x204, 0x208, 0x216, 0x232)],
                 ["uFxp_4", "uFxp_8", "uFxp_16", "uFxp_32"])
    node = next(n for n in model["nodes"] if n["name"] == "layer_y")
    values = {a["name"]: a.get("values") for a in node["attributes"]}
    checks.equal("lists", [values[name] for name in ("bytes", "ints", "floats")], [[1, 2], [3, -1], [0.5, -2]])


def long_name(checks, folder):
    """One name does not make the lines of all nodes as long."""
    path, count, longest = folder / "long.dlc", 500, 50_000
    names = ["x", *(f"t{i}" for i in range(count - 1)), "y"]
    kinds = [w.APP_WRITE] + [w.NATIVE] * (count - 1) + [w.APP_READ]
    g = w.Graph("g")
    for name, kind in zip(names, kinds):
        g.tensor(name, kind, w.FLOAT_32, [1, 4])
    for i in range(count):
        g.op(*relu("n" * longest if i == 7 else f"op{i}", names[i], names[i + 1]))
    w.write_container(path, g)
    done = run("dlc-info", "-i", path)
    checks.equal("a long name: status", (done.returncode, done.stderr), (0, ""))
    lines = sorted(map(len, done.stdout.splitlines()))
    checks.check("a long name is shown whole", "n" * longest in done.stdout)
    checks.check("a long name: other lines", lines[-2] < 2000, lines[-2])


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "x.raw").write_bytes(bytes(16))
        (folder / "list.txt").write_text(f"x:={folder / 'x.raw'}\n")
        version4(checks, folder)
        entries(checks, folder)
        execution(checks, folder)
        version3(checks, folder)
        long_name(checks, folder)
    checks.finish()


main()
