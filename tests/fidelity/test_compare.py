#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py finds every kind of difference: one field of a result is changed at a time, and one line must say so."""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import compare  # noqa: E402
from checks import Checks  # noqa: E402
from compare import Encoding, judge, read_accepted, read_dlc, read_json, spelling  # noqa: E402
from dlc_reader import DTYPES, TYPE_NAMES  # noqa: E402
from onnx_writer import FLOAT, Model  # noqa: E402
from prestarted import run  # noqa: E402

CODES = {name: code for code, name in DTYPES.items()} | {"STRING": 0x0608}
KINDS = {name: code for code, name in TYPE_NAMES.items()}


def convert(folder, name="model", model=None):
    """The container of a small network: two inputs, two outputs, and params and constants of several types."""
    m = model or Model()
    if model is None:
        m.input("a.1", FLOAT, [1, 3, 6, 8])
        m.input("b.1", FLOAT, [1, 4, 6, 8])
        m.tensor("w", FLOAT, [4, 3, 1, 1], [x / 8 for x in range(12)])
        m.tensor("c", FLOAT, [1], [0.5])
        m.node("Conv", ["a.1", "w"], ["conv"], "/conv")
        m.node("Add", ["conv", "b.1"], ["sum"], "/add")
        m.node("Relu", ["sum"], ["7"], "/relu")
        m.node("Mul", ["7", "c"], ["y"], "/mul")
        m.node("MaxPool", ["sum"], ["z"], "/pool", kernel_shape=[2, 2], strides=[2, 2])
        m.output("y", FLOAT, [1, 4, 6, 8])
        m.output("z", FLOAT, [1, 4, 3, 4])
    m.save(folder / f"{name}.onnx")
    done = run("onnx-to-dlc", "-i", folder / f"{name}.onnx", "-o", folder / f"{name}.dlc")
    assert done.returncode == 0, done.stderr
    return folder / f"{name}.dlc"


def with_encodings(result):
    """The result with made-up encodings: one for y, one a channel for w."""
    tensors = dict(result.tensors)
    tensors["y"] = tensors["y"]._replace(encodings=[Encoding(8, -1.5, 126.0, 0.5, -3, False)])
    channels = [Encoding(8, -32.0 * (i + 1), 31.0 * (i + 1), 0.25 * (i + 1), 0, True) for i in range(4)]
    tensors["w"] = tensors["w"]._replace(encodings=channels, encoding_axis=3)
    return result._replace(tensors=tensors)


# ---- a result as the vendor's JSON has it


def encoding_json(encoding):
    return {"bitwidth": encoding.bitwidth, "minimum": encoding.least, "maximum": encoding.greatest,
            "scale": encoding.scale, "offset": encoding.offset, "is_symmetric": encoding.symmetric}


def tensor_json(tensor):
    params = {"encoding": 0x7FFFFFFF}
    if tensor.encoding_axis is not None:
        params = {"encoding": 1, "axis_scale_offset": {"axis": tensor.encoding_axis,
                                                       "scale_offsets": [encoding_json(e) for e in tensor.encodings]}}
    elif tensor.encodings:
        params = {"encoding": 0, "scale_offset": encoding_json(tensor.encodings[0])}
    params["is_overridden"] = tensor.overridden
    return {"type": KINDS[tensor.kind], "data_type": CODES[tensor.dtype], "dims": tensor.dims,
            "axis_format": tensor.axis_format, "quant_params": params}


def nested(values, dims):
    if len(dims) < 2:
        return values
    size = len(values) // dims[0]
    return [nested(values[i:i + size], dims[1:]) for i in range(0, len(values), size)]


def node_json(op):
    shown = {name: param for name, param in op.params.items() if name not in compare.NOT_IN_JSON}
    scalars = {name: {str(CODES[p.dtype]): p.values[0]} for name, p in shown.items() if not p.dims}
    tensors = {name: {"": {"data_type": CODES[p.dtype], "dims": p.dims, "data": nested(p.values, p.dims)}}
               for name, p in shown.items() if p.dims}
    return {"type": op.type, "input_names": op.inputs, "output_names": op.outputs, "scalar_params": scalars,
            "tensor_params": tensors}


def graph_json(result):
    return {"tensors": {name: tensor_json(tensor) for name, tensor in result.tensors.items()},
            "nodes": {op.name: node_json(op) for op in result.ops}}


# ---- changes


def moved_last(mapping, name):
    mapping[name] = mapping.pop(name)


def renamed(mapping, old, new):
    entries = [(new if name == old else name, value) for name, value in mapping.items()]
    mapping.clear()
    mapping.update(entries)


# What is done to the JSON of the small network, and the line that must come of it.
JSON_CHANGES = (
    (lambda g: g["nodes"]["_pool"].update(type="Other"), "op _pool: type: Pool | Other"),
    (lambda g: g["nodes"]["_mul"]["input_names"].reverse(), "op _mul: inputs: ['_7', 'c'] | ['c', '_7']"),
    (lambda g: g["nodes"]["_mul"]["output_names"].append("z"), "op _mul: outputs: ['y'] | ['y', 'z']"),
    (lambda g: g["nodes"].pop("_pool"), "op _pool: Pool ['sum'] -> ['z'] | none"),
    (lambda g: g["nodes"].update(more=g["nodes"]["_pool"]), "op more: none | Pool ['sum'] -> ['z']"),
    (lambda g: moved_last(g["nodes"], "_conv"), "op _conv: order: after nothing | after _pool"),
    (lambda g: g["nodes"]["_pool"]["scalar_params"].update(pool_type={"1544": "PoolAvg2d"}),
     "op _pool (Pool): param pool_type: STRING 'PoolMax2d' | STRING 'PoolAvg2d'"),
    (lambda g: g["nodes"]["_conv"]["scalar_params"].update(group={"306": 2}),
     "op _conv (Conv2d): param group: UINT_32 1 | UINT_32 2"),
    (lambda g: g["nodes"]["_conv"]["scalar_params"].update(group={"50": 1}),
     "op _conv (Conv2d): param group: UINT_32 1 | INT_32 1"),
    (lambda g: g["nodes"]["_conv"]["scalar_params"].pop("group"), "op _conv (Conv2d): param group: UINT_32 1 | none"),
    (lambda g: g["nodes"]["_conv"]["scalar_params"].update(more={"562": 0.5}),
     "op _conv (Conv2d): param more: none | FLOAT_32 0.5"),
    (lambda g: g["nodes"]["_pool"]["tensor_params"]["stride"][""].update(data=[2, 1]),
     "op _pool (Pool): param stride: UINT_32[2] [2, 2] | UINT_32[2] [2, 1]"),
    (lambda g: g["nodes"]["_pool"]["tensor_params"]["stride"][""].update(dims=[1, 2]),
     "op _pool (Pool): param stride: UINT_32[2] [2, 2] | UINT_32[1, 2] [2, 2]"),
    (lambda g: g["tensors"].pop("sum"), "tensor sum: NATIVE [1, 6, 8, 4] | none"),
    (lambda g: g["tensors"].update(more=g["tensors"]["sum"]), "tensor more: none | NATIVE [1, 6, 8, 4]"),
    (lambda g: renamed(g["tensors"], "c", "sum-c"), "tensor c: STATIC [1] | none", "tensor sum_c: none | STATIC [1]"),
    (lambda g: g["tensors"]["sum"].update(type=5), "tensor sum: kind: NATIVE | NULL"),
    (lambda g: g["tensors"]["sum"].update(data_type=0x216), "tensor sum: dtype: FLOAT_32 | FLOAT_16"),
    (lambda g: g["tensors"]["sum"].update(dims=[1, 4, 6, 8]), "tensor sum: dims: [1, 6, 8, 4] | [1, 4, 6, 8]"),
    (lambda g: g["tensors"]["sum"].update(axis_format="NCHW"), "tensor sum: axis_format: NHWC | NCHW"),
    (lambda g: g["tensors"]["sum"].pop("axis_format"),),
    (lambda g: moved_last(g["tensors"], "a_1"), "graph input b_1: order: after a_1 | after nothing"),
    (lambda g: moved_last(g["tensors"], "y"), "graph output z: order: after y | after nothing"),
    (lambda g: g["tensors"]["y"]["quant_params"].update(encoding=0x7FFFFFFF),
     "tensor y: encodings: 1 of axis None | 0 of axis None"),
    (lambda g: g["tensors"]["w"]["quant_params"]["axis_scale_offset"].update(axis=2),
     "tensor w: encodings: 4 of axis 3 | 4 of axis 2"),
    (lambda g: g["tensors"]["w"]["quant_params"]["axis_scale_offset"]["scale_offsets"].pop(),
     "tensor w: encodings: 4 of axis 3 | 3 of axis 3"),
    (lambda g: g["tensors"]["w"]["quant_params"]["axis_scale_offset"]["scale_offsets"][2].update(scale=0.5),
     "tensor w: encodings: [2] (8, -96.0, 93.0, 0.75, 0, True) | (8, -96.0, 93.0, 0.5, 0, True) (1 differ)"),
    (lambda g: g["tensors"]["w"]["quant_params"].update(is_overridden=True), "tensor w: overridden: False | True"),
    *((lambda g, change={key: value}: g["tensors"]["y"]["quant_params"]["scale_offset"].update(change),
       f"tensor y: encodings: [0] (8, -1.5, 126.0, 0.5, -3, False) | {theirs} (1 differ)")
      for key, value, theirs in (("bitwidth", 16, (16, -1.5, 126.0, 0.5, -3, False)),
                                 ("minimum", -2, (8, -2.0, 126.0, 0.5, -3, False)),
                                 ("maximum", 127, (8, -1.5, 127.0, 0.5, -3, False)),
                                 ("scale", 0.25, (8, -1.5, 126.0, 0.25, -3, False)),
                                 ("offset", -2, (8, -1.5, 126.0, 0.5, -2, False)),
                                 ("is_symmetric", True, (8, -1.5, 126.0, 0.5, -3, True)))),
)


def test_json(checks):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ours = with_encodings(read_dlc(convert(folder), spelling))
        graph, path = graph_json(ours), folder / "net.json"

        def lines(changed):
            path.write_text(json.dumps({"graph": changed}))
            return list(compare.compare(ours, read_json(path), in_json=True))

        checks.equal("the same result", lines(graph), [])
        for change, *expected in JSON_CHANGES:
            changed = copy.deepcopy(graph)
            change(changed)
            checks.equal(f"a change that gives {expected}", lines(changed), expected)


def with_tensor(result, name, **fields):
    return result._replace(tensors={**result.tensors, name: result.tensors[name]._replace(**fields)})


def with_param(result, op, name, **fields):
    """With a param of an op changed."""
    def changed(found):
        return found._replace(params={**found.params, name: found.params[name]._replace(**fields)})

    return result._replace(ops=[changed(found) if found.name == op else found for found in result.ops])


def test_containers(checks):
    """What only containers say."""
    with tempfile.TemporaryDirectory() as name:
        ours = with_encodings(read_dlc(convert(pathlib.Path(name))))
    strategy = next(op for op in ours.ops if op.name == "/pool").params["padding_size_strategy"].values[0]
    words = (
        (ours, []),
        (with_tensor(ours, "c", data=b"\0\0\x80\x3f"),
         ["tensor c: data: [0] 0.5 | 1.0 (1 values differ, by up to 0.5)"]),
        (with_tensor(ours, "c", data=b"\0\0\x80\x3f", dtype="UINT_32"), ["tensor c: dtype: FLOAT_32 | UINT_32"]),
        (with_param(ours, "/pool", "padding_size_strategy", values=[77]),
         [f"op /pool (Pool): param padding_size_strategy: UINT_8 {strategy}, supplemental | UINT_8 77, supplemental"]),
        (with_param(ours, "/conv", "group", usage=2),
         ["op /conv (Conv2d): param group: UINT_32 1 | UINT_32 1, supplemental"]),
    )
    for theirs, expected in words:
        checks.equal(f"a container that gives {expected}", list(compare.compare(ours, theirs)), expected)
    zero, minus = (with_tensor(ours, "c", data=data) for data in (b"\0\0\0\0", b"\0\0\0\x80"))
    checks.equal("zeros of both signs", list(compare.compare(zero, minus)),
                 ["tensor c: data: [0] bits | other bits (0 values differ, by up to 0)"])


def test_spellings(checks):
    """Names that the JSON does not tell apart are said, not mixed up in silence."""
    model = Model()
    model.input("a/b", FLOAT, [2])
    model.node("Relu", ["a/b"], ["a.b"], "relu")
    model.node("Tanh", ["a.b"], ["y"], "tanh")
    model.output("y", FLOAT, [2])
    with tempfile.TemporaryDirectory() as name:
        dlc = convert(pathlib.Path(name), "clash", model)
        checks.equal("clash", read_dlc(dlc, spelling).clashes, [("a_b", ["a/b", "a.b"])])
        checks.equal("no clash", read_dlc(dlc).clashes, [])
        ours = read_dlc(dlc, spelling)
        checks.equal("is a difference", [line for line in compare.compare(ours, ours._replace(clashes=[]))],
                     ["names ['a/b', 'a.b']: one spelling, a_b: not told apart"])


def test_accepted(checks):
    lines = ["op a: inputs: ['x'] | ['y']", "op b: inputs: ['x'] | ['y']", "tensor t: dims: [1] | [2]"]
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "accepted.txt"

        def judged(text):
            path.write_text(text)
            return judge(lines, read_accepted(path))

        checks.equal("nothing", judged("# a comment\n\n"), (lines, [], []))
        checks.equal("a line as it is", judged(f"{lines[2]}\twhy\n"), (lines[:2], [(lines[2], "why")], []))
        checks.equal("any text", judged("op *: inputs: ['x'] | ['y']\twhy\n"),
                     (lines[2:], [(lines[0], "why"), (lines[1], "why")], []))
        checks.equal("the whole line", judged("op a: inputs\twhy\n"), (lines, [], ["op a: inputs"]))
        like = "tensor t: dims: [12] | [2]"
        checks.equal("brackets are brackets", judged(f"{like}\twhy\n"), (lines, [], [like]))
        for bad in ("op a*", "op a*\t ", "op a*  why"):
            path.write_text(bad + "\n")
            try:
                checks.check(f"{bad!r} is refused", not read_accepted(path))
            except ValueError as error:
                checks.equal(f"{bad!r} is refused with its place", str(error), f"{path}:1: not PATTERN <tab> REASON")


def test_command(checks):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        dlc, graph = convert(folder), graph_json(read_dlc(folder / "model.dlc", spelling))
        graph["tensors"]["sum"]["dims"] = [7]
        (folder / "net.json").write_text(json.dumps({"graph": graph}))
        (folder / "accepted.txt").write_text("tensor sum: dims: *\ta test\nop gone: *\ta test\n")

        def said(*arguments):
            done = subprocess.run([sys.executable, compare.__file__, dlc, *arguments], capture_output=True, text=True,
                                  check=False)
            return done.returncode, done.stdout

        line, accepted = "tensor sum: dims: [1, 6, 8, 4] | [7]", ["--accept", folder / "accepted.txt", "--all"]
        checks.equal("a container and itself", said(dlc), (0, "0 differences, 0 accepted\n"))
        checks.equal("a difference", said(folder / "net.json"), (1, f"{line}\n1 differences, 0 accepted\n"))
        expected = f"accepted: {line}  (a test)\naccepted, but not seen: op gone: *\n0 differences, 1 accepted\n"
        checks.equal("accepted, with one pattern too many", said(folder / "net.json", *accepted), (1, expected))


def main():
    checks = Checks()
    test_json(checks)
    test_containers(checks)
    test_spellings(checks)
    test_accepted(checks)
    test_command(checks)
    checks.finish()


if __name__ == "__main__":
    main()
