# SPDX-License-Identifier: Apache-2.0
"""What a kernel is handed: static and dynamic inputs of all element types, layouts and ranks, absent inputs, and params
of all kinds, come out again by one kernel that copies them. What must come is computed from config and model alone,
layouts by hand."""

import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from workshop import generate, make, registration, write_kernel  # noqa: E402
from checks import Checks  # noqa: E402
from onnx_writer import BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32  # noqa: E402
from onnx_writer import Model, tensor  # noqa: E402
from opdef_writer import opdef_xml  # noqa: E402

try:
    import numpy as np
    from model_case import Case, convert, execute, result
except ImportError:
    np = None

DIMS = {1: (7,), 2: (2, 3), 3: (2, 3, 4), 4: (2, 3, 4, 5), 5: (2, 3, 2, 4, 5)}
CODES = {"i1": 0x0008, "i2": 0x0016, "i4": 0x0032, "u1": 0x0108, "u2": 0x0116, "u4": 0x0132, "f2": 0x0216, "f4": 0x0232,
         "?": 0x0508}
ABSENT = [0, 0, 0x7FFFFFFF]
# The model's type, how it stores it, the config's word, what the kernel gets of a computed and of a static input.
TYPES = [(FLOAT, "f4", "FLOAT_32", "f4", "f4"), (FLOAT16, "f2", "FLOAT_16", "f4", "f2"),
         (DOUBLE, "f8", "FLOAT_64", "f4", "f4"),
         (INT8, "i1", "INT_8", "i1", "i1"), (INT16, "i2", "INT_16", "i2", "i2"), (INT32, "i4", "INT_32", "i4", "i4"),
         (INT64, "i8", "INT_64", "i4", "i4"), (UINT8, "u1", "UINT_8", "u1", "u1"),
         (UINT16, "u2", "UINT_16", "u2", "u2"), (UINT32, "u4", "UINT_32", "u4", "u4"), (BOOL, "?", "BOOL_8", "?", "?")]
# Data that the config stores in another type than the model has.
NARROWED = [(FLOAT, "f4", "FLOAT_16", None, "f2"), (INT64, "i8", "INT_8", None, "i1"),
            (INT64, "i8", "UINT_16", None, "u2"), (INT64, "i8", "BOOL_8", None, "?"),
            (INT32, "i4", "FLOAT_32", None, "f4")]
# Fixed point, by encodings of the model: computed inputs come as real numbers.
FIXED = (UINT8, "u1", "FIXED_8", "f4", "fixed")
SCALE, ZERO = 0.25, 3
LAYOUTS = (None, "NHWC", "NCHW")
# Scalars: the config's word, the model's value, what must come. The last two have no attribute: defaults.
SCALARS = {"f32": ("FLOAT_32", 0.1), "f16": ("FLOAT_16", 0.3), "i8": ("INT_8", -128), "i16": ("INT_16", -32768),
           "i32": ("INT_32", -(1 << 31)), "u8": ("UINT_8", 255), "u16": ("UINT_16", 65535),
           "u32": ("UINT_32", (1 << 32) - 256),
           "b8": ("BOOL_8", 1), "i64": ("INT_64", 1 << 30), "left": ("FLOAT_32", None), "kind": ("UINT_32", 1)}
LISTS = {"t_f32": ("FLOAT_32", "f4", [1, 2, 3, 2], [i / 7 for i in range(12)]),
         "t_f16": ("FLOAT_16", "f2", [2], [0.1, -2.5]),
         "t_i8": ("INT_8", "i1", [3], [-128, 0, 127]), "t_i16": ("INT_16", "i2", [2], [-32768, 5]),
         "t_i32": ("INT_32", "i4", [2, 1, 3], [1 << 30, -1, 2, 3, 4, 5]), "t_u8": ("UINT_8", "u1", [1], [255]),
         "t_u16": ("UINT_16", "u2", [2], [65535, 1]), "t_u32": ("UINT_32", "u4", [2], [(1 << 32) - 1, 7]),
         "t_b8": ("BOOL_8", "u1", [3], [1, 0, 1])}
TABLE = [[1, 2, 3], [4, 5, 6.5]]
WORD, BLANK = "zwölf", "left out"


def package_of(word="FLOAT_32", is_static=False, layout=None):
    """The package's config; what differs is x's type, layout and place."""
    more = {"tensor_layout": layout} if layout else {}
    op = {"type": "Copy", "core_types": ["CPU"],
          "inputs": [{"name": "x", "data_type": word, **more, **({"static": True} if is_static else {})},
                     {"name": "extra", "data_type": "FLOAT_32", "optional": True},
                     {"name": "last", "data_type": "FLOAT_32"}],
          "outputs": [{"name": "y", "data_type": "FLOAT_32", **more}, {"name": "bytes", "data_type": "UINT_8"},
                      {"name": "told", "data_type": "FLOAT_32"}],
          "scalar_params": [{"name": name, "data_type": kind}
                            for name, (kind, _) in SCALARS.items() if name != "left"] +
                           [{"name": "left", "data_type": "FLOAT_32", "default_value": 0.75},
                            {"name": "word", "data_type": "STRING"},
                            {"name": "blank", "data_type": "STRING", "default_value": BLANK}],
          "tensor_params": [{"name": name, "data_type": kind, **(more if name == "t_f32" else {})}
                            for name, (kind, *_) in LISTS.items()] +
                           [{"name": "table", "data_type": "FLOAT_32", "default_value": TABLE}]}
    return {"UDO_PACKAGE_NAME": "CopyOps", "Operators": [op]}


# ---- the model ----


def values_of(dims, form):
    """Different values, which every type of that kind holds."""
    places = np.arange(int(np.prod(dims))).reshape(dims)
    if form == "?":
        return places % 3 == 0
    return (places / 8 - 1.5).astype(form) if form[0] == "f" else (places % 120).astype(form)


def attributes(kind):
    given = {name: value for name, (_, value) in SCALARS.items() if value is not None}
    lists = {name: values for name, (_, _, dims, values) in LISTS.items() if len(dims) == 1}
    lists["t_u8"] = LISTS["t_u8"][3][0]  # a number for a tensor
    shaped = {name: tensor(name, FLOAT if form == "f4" else INT32, dims, values)
              for name, (_, form, dims, values) in LISTS.items() if len(dims) > 1}
    return {**given, **lists, **shaped, "kind": kind, "word": WORD}


def add_quantized(m, rank, is_static, x):
    """x as a tensor of 8 bits with an encoding: data, or a float input (so far called x) that is quantized."""
    m.tensor(f"scale{rank}", FLOAT, [], [SCALE])
    m.tensor(f"zero{rank}", UINT8, [], [ZERO])
    if is_static:
        m.tensor(f"q{rank}", UINT8, list(x.shape), raw=x.tobytes())
    else:
        m.input(f"in{rank}", FLOAT, list(x.shape))
        m.node("QuantizeLinear", [f"in{rank}", f"scale{rank}", f"zero{rank}"], [f"q{rank}"])
    m.node("DequantizeLinear", [f"q{rank}", f"scale{rank}", f"zero{rank}"], [f"x{rank}"])


def write_model(path, type_, stored_as, is_static, arrays, bytes_sizes, told_sizes, kind):
    m = Model(opset=13, domains=["test"])
    m.input("last", FLOAT, [2])
    for rank, x in arrays.items():
        if stored_as == "FIXED_8":
            add_quantized(m, rank, is_static, x)
        elif is_static:
            m.tensor(f"x{rank}", type_, list(x.shape), raw=x.tobytes())
        else:
            m.input(f"x{rank}", type_, list(x.shape))
        outputs = [f"y{rank}", f"bytes{rank}", f"told{rank}"]
        m.node("Copy", [f"x{rank}", "", "last"], outputs, domain="test", **attributes(kind))
        m.output(f"y{rank}", FLOAT, list(x.shape))
        m.output(f"bytes{rank}", UINT8, [bytes_sizes[rank]])
        m.output(f"told{rank}", FLOAT, [told_sizes[rank]])
    m.save(path)


# ---- what must come ----


def channels_last(array):
    """By hand: element (n, h, w, c) is element (n, c, h, w); of rank 3 (n, w, c) is (n, c, w)."""
    n, c, *space = array.shape
    out = np.empty((n, *space, c), array.dtype)
    for channel in range(c):
        out[..., channel] = array[:, channel]
    return out


def as_handed(array, is_static, layout):
    """In the order in which the kernel gets it: NHWC concerns rank 4; without a layout data stays in the model's order,
    and what is computed comes as the container has it, which has graph inputs of rank 3 and 4 with channels last."""
    if layout == "NCHW" or array.ndim not in (3, 4):
        return array
    last = not is_static if layout is None or array.ndim == 3 else True
    return channels_last(array) if last else array


def tensor_told(dims, form):
    if form == "fixed":
        return [1, len(dims), *dims, 0x0408, SCALE, -ZERO]
    return [1, len(dims), *dims, CODES[form]]


def expected_told(x, form, bytes_size, size, layout):
    told = tensor_told(x.shape, form) + ABSENT + tensor_told((2,), "f4")
    told += tensor_told(x.shape, "f4") + tensor_told((bytes_size,), "u1") + tensor_told((size,), "f4")
    scalars = {name: 0.75 if value is None else value for name, (_, value) in SCALARS.items()}
    told += [float(np.float16(np.float32(value))) if name == "f16" else value for name, value in scalars.items()]
    for text in (WORD, BLANK):
        told += [*text.encode(), 0]
    lists = {name: (form, np.array(values).astype(form).reshape(dims))
             for name, (_, form, dims, values) in LISTS.items()}
    for name, (form, array) in {**lists, "table": ("f4", np.array(TABLE, "f4"))}.items():
        if name == "t_f32" and layout == "NHWC":
            array = channels_last(array)
        told += tensor_told(array.shape, "?" if name == "t_b8" else form) + list(array.tobytes())
    return np.array(told, "f4")


def check_rank(checks, label, folder, container, x, wanted, told):
    rank = x.ndim
    found = result(folder, container, f"bytes{rank}")
    expected = wanted.tobytes()
    checks.check(f"{label}, rank {rank}: bytes", found.tobytes() == expected, f"{found[:24]} not {expected[:24]}")
    found = result(folder, container, f"told{rank}")
    differ = np.flatnonzero(found != told)
    checks.check(f"{label}, rank {rank}: operands and params", not differ.size,
                 [(int(i), float(found[i]), float(told[i])) for i in differ[:8]])
    return result(folder, container, f"y{rank}")


def variant(checks, folder, options, row, is_static, layout, as_xml=False):
    type_, stored, word, dynamic, static = row
    form = static if is_static else dynamic
    place, form_of_config = "static" if is_static else "dynamic", "XML" if as_xml else "JSON"
    label = f"{place} {stored} as {word}, {layout or 'no layout'}, {form_of_config}"
    folder.mkdir()
    arrays = {rank: values_of(dims, stored) for rank, dims in DIMS.items()}
    if word == "BOOL_8":
        arrays = {rank: (x % 2).astype(stored) for rank, x in arrays.items()}
    reals = {rank: SCALE * (x.astype("f4") - ZERO) if word == "FIXED_8" else x for rank, x in arrays.items()}
    handed = {rank: as_handed(arrays[rank] if form == "fixed" else x, is_static, layout) for rank, x in reals.items()}
    handed = {rank: x if form == "fixed" else x.astype(form) for rank, x in handed.items()}
    sizes = {rank: x.nbytes for rank, x in handed.items()}
    told = {rank: expected_told(handed[rank], form, sizes[rank], 0, layout) for rank in DIMS}
    lengths = {rank: len(told[rank]) for rank in DIMS}
    told = {rank: expected_told(handed[rank], form, sizes[rank], lengths[rank], layout) for rank in DIMS}
    write_model(folder / "model.onnx", type_, word, is_static, arrays, sizes, lengths, "second" if as_xml else 1)
    config = folder / "copy.config"
    config.write_text(xml_of(word, is_static, layout) if as_xml else
                      json.dumps({"UdoPackage_0": package_of(word, is_static, layout)}))
    given = "in" if word == "FIXED_8" else "x"
    computed = {} if is_static else {f"{given}{rank}": x for rank, x in reals.items()}
    inputs = {"last": np.array([1, 2], "f4"), **computed}
    case = Case("copy", folder / "model.onnx", inputs, {})
    done, dlc = convert(case, folder, config)
    if not checks.check(f"{label}: converts", done.returncode == 0, done.stderr[-900:]):
        return
    done, container = execute(case, dlc, folder, options=options)
    if not checks.equal(f"{label}: net-run", (done.returncode, done.stderr), (0, "")):
        return
    for rank in DIMS:
        y = check_rank(checks, label, folder, container, arrays[rank], handed[rank], told[rank])
        floats = np.zeros_like(y) if form == "f2" else as_handed(reals[rank], is_static, layout).astype("f4")
        in_container = floats if y.shape == floats.shape else channels_last(floats)
        checks.check(f"{label}, rank {rank}: y", np.array_equal(y, in_container), y.ravel()[:8])


def xml_of(word, is_static, layout):
    """The same op in XML, whose param `kind` is an enumeration."""
    text, plain = opdef_xml(package_of(word, is_static, layout)), "<Name>kind</Name>"
    enumeration = "<Enumeration><Enum>first</Enum><Enum>second</Enum></Enumeration>"
    assert text.count(plain) == 1
    at = text.index("</Parameter>", text.index(plain))
    return text[:at] + enumeration + text[at:]


def main():
    checks = Checks()
    if np is None:
        checks.skip("matrix", "python3-numpy is not installed")
        checks.finish()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "copy.json").write_text(json.dumps({"UdoPackage_0": package_of()}))
        generate([folder / "copy.json"], folder)
        write_kernel(folder / "CopyOps", HERE / "kernels" / "Copy.cpp")
        done = make(folder / "CopyOps", "cpu_x86", flags="-O0 -Werror")
        checks.check("compiles", done.returncode == 0, done.stderr[-1500:])
        options = ["--udo_package_path", str(registration(folder / "CopyOps"))]
        variants = [(row, is_static, layout) for is_static in (False, True) for layout in LAYOUTS
                    for row in TYPES + [FIXED] + (NARROWED if is_static else [])]
        variants += [(TYPES[0], is_static, "NCHW", True) for is_static in (False, True)]
        for number, arguments in enumerate(variants):
            variant(checks, folder / str(number), options, *arguments)
    checks.finish()


main()
