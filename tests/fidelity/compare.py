#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two results of converting one model: ours and the vendor's.

usage: compare.py OURS.dlc VENDOR.dlc|net.json [--accept FILE] [--all]

Ops are aligned by name, tensors by name. Every difference is a line: where, then ours, then the vendor's:

    op Conv_1 (Conv2d): param stride: UINT_32[2] [1, 1] | UINT_32[2] [2, 2]

FILE holds accepted differences: lines "PATTERN <tab> REASON"; a pattern is the line, "*" in it any text. "rename
OURS THEIRS" in its place takes two names of a tensor for one, and compares all else of the two. Differences that are
accepted are counted (with --all: printed with their reasons). The status is 1 when others remain, or when a
pattern of FILE matches none.

The vendor's JSON spells names with "_" for every character but letters, digits and "_"; ours are read in that spelling
then. Of what it leaves out nothing is compared: data of static tensors, whether a param is supplemental, some
supplemental params (NOT_IN_JSON), and, in files of some releases, axis formats.
"""

import argparse
import collections
import difflib
import json
import pathlib
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from dlc_reader import DTYPES, TYPE_NAMES, read_container  # noqa: E402

AXIS_FORMATS = {2: "NCHW", 3: "NHWC", 4: "NCF", 5: "NFC", 8: "NF", 10: "ANY", 11: "NONTRIVIAL", 16: "HWIO"}
PACKING = {"INT_8": "b", "INT_16": "h", "INT_32": "i", "INT_64": "q", "UINT_8": "B", "UINT_16": "H", "UINT_32": "I",
           "UINT_64": "Q", "FLOAT_16": "e", "FLOAT_32": "f", "FLOAT_64": "d", "BOOL_8": "?", "SFXP_8": "b",
           "SFXP_16": "h", "SFXP_32": "i", "UFXP_8": "B", "UFXP_16": "H", "UFXP_32": "I"}
NOT_IN_JSON = {"padding_size_strategy", "bias_op_name", "shape", "beta", "gamma"}
SUPPLEMENTAL = 2
LONGEST = 16  # of lists that are printed whole

Param = collections.namedtuple("Param", "dtype dims values usage")
Op = collections.namedtuple("Op", "name type inputs outputs params")
Encoding = collections.namedtuple("Encoding", "bitwidth least greatest scale offset symmetric")
# encodings: one, one for each index of the axis `encoding_axis`, or none. overridden: they were given, not computed.
# data: bytes of a static tensor. What a source does not say is None.
Tensor = collections.namedtuple("Tensor", "kind dtype dims axis_format encodings encoding_axis overridden data")
# inputs, outputs: names of the graph's, in order. clashes: (spelling, names that share it).
Result = collections.namedtuple("Result", "ops tensors inputs outputs clashes")


def spelling(name):
    """A name as the vendor's JSON has it; one that starts with a digit gets a "_" in front."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"_{name}" if name[:1].isdigit() else name


def single(value):
    """A number as float32 has it, which is what both files store."""
    return struct.unpack("f", struct.pack("f", value))[0] if isinstance(value, float) else value


def flat(values):
    return [x for value in values for x in flat(value)] if isinstance(values, list) else [values]


def elements(dtype, data):
    form = PACKING[dtype]
    return list(struct.unpack(f"<{len(data) // struct.calcsize(form)}{form}", data))


def sides(tensors, kind):
    return [name for name, tensor in tensors.items() if tensor.kind == kind]


# ---- a container


def param_of_container(param):
    if param.tensor is None:
        integer = param.dtype not in ("STRING", "FLOAT_32", "FLOAT_64")
        return Param(param.dtype, [], [int(param.value) if integer else single(param.value)], param.usage)
    values = [single(x) for x in elements(param.dtype, param.tensor.data)]
    return Param(param.dtype, list(param.tensor.dims), values, param.usage)


def tensor_of_container(t):
    encodings = [Encoding(bitwidth, least, greatest, scale, offset, symmetric) for (scale, offset), (bitwidth, symmetric),
                 (least, greatest) in zip(t.encodings, t.encoding_forms, t.encoding_ranges)]
    axis_format = AXIS_FORMATS.get(t.axis_format, t.axis_format)
    return Tensor(t.kind, t.dtype, list(t.dims), axis_format, encodings, t.axis, t.overridden, t.data)


def read_dlc(path, spell=str):
    """spell: how names are to be spelled."""
    container = read_container(path)
    ops = [Op(spell(op.name), op.type, [spell(name) for name in op.inputs], [spell(name) for name in op.outputs],
              {name: param_of_container(param) for name, param in op.params.items()}) for op in container.ops]
    tensors = {spell(t.name): tensor_of_container(t) for t in container.tensors.values()}
    names = collections.defaultdict(list)
    for name in [t.name for t in container.tensors.values()]:
        names[spell(name)].append(name)
    clashes = [(spelled, same) for spelled, same in names.items() if len(same) > 1]
    return Result(ops, tensors, sides(tensors, "APP_WRITE"), sides(tensors, "APP_READ"), clashes)


# ---- the JSON of the vendor's converter


def encodings_of_json(params):
    """(encodings, the axis that they belong to)"""
    def encoding(e):
        least, greatest, scale = (single(float(e[key])) for key in ("minimum", "maximum", "scale"))
        return Encoding(e["bitwidth"], least, greatest, scale, e["offset"], e["is_symmetric"])

    if params["encoding"] == 0:
        return [encoding(params["scale_offset"])], None
    if params["encoding"] == 1:
        along = params["axis_scale_offset"]
        return [encoding(e) for e in along["scale_offsets"]], along["axis"]
    return [], None


def tensor_of_json(t):
    encodings, axis = encodings_of_json(t["quant_params"])
    return Tensor(TYPE_NAMES[t["type"]], DTYPES[t["data_type"]], t["dims"], t.get("axis_format"), encodings, axis,
                  t["quant_params"].get("is_overridden"), None)


def params_of_json(node):
    params = {}
    for name, typed in node["scalar_params"].items():
        code, value = next(iter(typed.items()))
        params[name] = Param(DTYPES[int(code)], [], [single(value)], None)
    for name, named in node["tensor_params"].items():
        tensor = next(iter(named.values()))
        values = [single(x) for x in flat(tensor["data"])]
        params[name] = Param(DTYPES[tensor["data_type"]], tensor["dims"], values, None)
    return params


def read_json(path):
    graph = json.loads(pathlib.Path(path).read_text())["graph"]
    ops = [Op(spelling(name), node["type"], [spelling(x) for x in node["input_names"]],
              [spelling(x) for x in node["output_names"]], params_of_json(node))
           for name, node in graph["nodes"].items()]
    tensors = {spelling(name): tensor_of_json(t) for name, t in graph["tensors"].items()}
    return Result(ops, tensors, sides(tensors, "APP_WRITE"), sides(tensors, "APP_READ"), [])


# ---- comparing


def listed(values):
    if len(values) <= LONGEST:
        return str(values)
    return f"{values[:LONGEST]} and {len(values) - LONGEST} more"


def param_text(param):
    if param is None:
        return "none"
    usage = ", supplemental" if param.usage == SUPPLEMENTAL else ""
    if param.dims:
        return f"{param.dtype}{param.dims} {listed(param.values)}{usage}"
    return f"{param.dtype} {param.values[0]!r}{usage}"


def compare_params(a, b, in_json):
    for name in sorted(set(a.params) | set(b.params)):
        ours, theirs = a.params.get(name), b.params.get(name)
        if in_json:
            ours = ours and ours._replace(usage=None)
            if theirs is None and name in NOT_IN_JSON and a.params[name].usage == SUPPLEMENTAL:
                continue
        if ours != theirs:
            yield f"op {a.name} ({b.type}): param {name}: {param_text(ours)} | {param_text(theirs)}"


def compare_ops(a, b, in_json):
    for what in ("type", "inputs", "outputs"):
        if getattr(a, what) != getattr(b, what):
            yield f"op {a.name}: {what}: {getattr(a, what)} | {getattr(b, what)}"
    yield from compare_params(a, b, in_json)


def data_difference(dtype, ours, theirs):
    """What differs of the values of two static tensors of one type and size."""
    if dtype not in PACKING:
        return f"{len(ours)} bytes | others"
    pairs = [(i, x, y) for i, (x, y) in enumerate(zip(elements(dtype, ours), elements(dtype, theirs))) if x != y]
    largest = max((abs(x - y) for _, x, y in pairs), default=0)
    i, x, y = pairs[0] if pairs else (0, "bits", "other bits")  # of 0 and -0
    return f"[{i}] {x} | {y} ({len(pairs)} values differ, by up to {largest:.3g})"


def compare_encodings(name, a, b):
    if a.encoding_axis != b.encoding_axis or len(a.encodings) != len(b.encodings):
        yield (f"tensor {name}: encodings: {len(a.encodings)} of axis {a.encoding_axis} | "
               f"{len(b.encodings)} of axis {b.encoding_axis}")
        return
    differing = [(i, x, y) for i, (x, y) in enumerate(zip(a.encodings, b.encodings)) if x != y]
    if differing:
        i, x, y = differing[0]
        yield f"tensor {name}: encodings: [{i}] {tuple(x)} | {tuple(y)} ({len(differing)} differ)"


def compare_tensors(name, a, b):
    for what in ("kind", "dtype", "dims", "axis_format", "overridden"):
        ours, theirs = getattr(a, what), getattr(b, what)
        if ours != theirs and ours is not None and theirs is not None:
            yield f"tensor {name}: {what}: {ours} | {theirs}"
    yield from compare_encodings(name, a, b)
    if a.data is not None and b.data is not None and a.data != b.data and (a.dtype, a.dims) == (b.dtype, b.dims):
        yield f"tensor {name}: data: {data_difference(a.dtype, a.data, b.data)}"


def compare_order(what, ours, theirs):
    """Names that both have and that stand elsewhere: as few as explain how one order becomes the other."""
    ours, theirs = [x for x in ours if x in theirs], [x for x in theirs if x in ours]
    matches = difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    kept = {name for block in matches for name in ours[block.a:block.a + block.size]}
    for name in (x for x in ours if x not in kept):
        before = [order[order.index(name) - 1] if order.index(name) else "nothing" for order in (ours, theirs)]
        yield f"{what} {name}: order: after {before[0]} | after {before[1]}"


def compare(ours, theirs, in_json=False):
    """A line for each difference. in_json: theirs comes from the vendor's JSON."""
    for spelled, names in ours.clashes + theirs.clashes:
        yield f"names {names}: one spelling, {spelled}: not told apart"
    a, b = ({op.name: op for op in result.ops} for result in (ours, theirs))
    for op in (op for op in ours.ops if op.name not in b):
        yield f"op {op.name}: {op.type} {op.inputs} -> {op.outputs} | none"
    for op in (op for op in theirs.ops if op.name not in a):
        yield f"op {op.name}: none | {op.type} {op.inputs} -> {op.outputs}"
    yield from compare_order("op", list(a), list(b))
    yield from compare_order("graph input", ours.inputs, theirs.inputs)
    yield from compare_order("graph output", ours.outputs, theirs.outputs)
    for name in (name for name in a if name in b):
        yield from compare_ops(a[name], b[name], in_json)
    for name in sorted(set(ours.tensors) | set(theirs.tensors)):
        if name not in theirs.tensors:
            yield f"tensor {name}: {ours.tensors[name].kind} {ours.tensors[name].dims} | none"
        elif name not in ours.tensors:
            yield f"tensor {name}: none | {theirs.tensors[name].kind} {theirs.tensors[name].dims}"
        else:
            yield from compare_tensors(name, ours.tensors[name], theirs.tensors[name])


def renamed(result, names):
    """The result with tensors called as {from: to} says."""
    ops = [op._replace(inputs=[names.get(name, name) for name in op.inputs],
                       outputs=[names.get(name, name) for name in op.outputs]) for op in result.ops]
    return result._replace(ops=ops, tensors={names.get(name, name): t for name, t in result.tensors.items()})


def compare_files(ours, theirs, accepted=()):
    """All differences but those of accepted names."""
    in_json = str(theirs).endswith(".json")
    a, b = (read_dlc(ours, spelling), read_json(theirs)) if in_json else (read_dlc(ours), read_dlc(theirs))
    return list(compare(renamed(a, renames(accepted)), b, in_json))


# ---- accepted differences


def read_accepted(path):
    """[(pattern, reason)]"""
    accepted = []
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            pattern, tab, reason = line.partition("\t")
            if not tab or not reason.strip():
                raise ValueError(f"{path}:{number}: not PATTERN <tab> REASON")
            accepted.append((pattern, reason.strip()))
    return accepted


def renames(accepted):
    """{our name: the vendor's} of the patterns "rename OURS THEIRS", which are no differences then."""
    return dict(pattern.split()[1:] for pattern, _ in accepted if pattern.startswith("rename "))


def judge(differences, accepted):
    """(not accepted, [(difference, reason)], patterns that match nothing)"""
    accepted = [(pattern, reason) for pattern, reason in accepted if not pattern.startswith("rename ")]
    forms = [(re.compile(".*".join(map(re.escape, pattern.split("*")))), reason) for pattern, reason in accepted]
    left, known, used = [], [], set()
    for line in differences:
        matching = [i for i, (form, _) in enumerate(forms) if form.fullmatch(line)]
        used.update(matching)
        if matching:
            known.append((line, forms[matching[0]][1]))
        else:
            left.append(line)
    return left, known, [pattern for i, (pattern, _) in enumerate(accepted) if i not in used]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours", metavar="OURS.dlc")
    parser.add_argument("theirs", metavar="VENDOR.dlc|net.json")
    parser.add_argument("--accept", metavar="FILE", help="accepted differences")
    parser.add_argument("--all", action="store_true", help="print accepted differences, too")
    args = parser.parse_args()
    accepted = read_accepted(args.accept) if args.accept else []
    left, known, unused = judge(compare_files(args.ours, args.theirs, accepted), accepted)
    for line, reason in known if args.all else ():
        print(f"accepted: {line}  ({reason})")
    for line in left:
        print(line)
    for pattern in unused:
        print(f"accepted, but not seen: {pattern}")
    print(f"{len(left)} differences, {len(known)} accepted")
    sys.exit(1 if left or unused else 0)


if __name__ == "__main__":
    main()
