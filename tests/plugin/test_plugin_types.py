# SPDX-License-Identifier: Apache-2.0
"""What kernels of plugins are handed: all types of elements, quantized ones with their encodings, blocked layouts, params in the
order of the description, operands that are left out; among native nodes."""

import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from plugin_shop import Checks, Model, execute, explained, np, package, plugin_steps, run  # noqa: E402
from onnx_writer import FLOAT, FLOAT16, INT8, INT16, INT32, UINT8, UINT16  # noqa: E402

LAYOUT = ["--io_layout", "model"]


def write_config(folder, ops, static=()):
    """{type: (type of inputs and outputs, inputs)}"""
    operators = [{"type": op, "domain": "test", "core_types": ["CPU", "DSP"], "dsp_arch_types": ["v68"],
                  "inputs": [{"name": f"in{i}", "data_type": word, "static": i in static} for i in range(n)],
                  "outputs": [{"name": "out", "data_type": word, "shape": "same_as in0"}]} for op, (word, n) in ops.items()]
    path = folder / "types.json"
    path.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Types", "Operators": operators}}))
    return path


def convert(folder, m, config):
    m.save(folder / "m.onnx")
    return run("onnx-to-dlc", "-i", "m.onnx", "--udo_config_paths", str(config), "-o", "m.dlc", *LAYOUT, cwd=folder)


def quantized(m, name, type_, scale, zero):
    """NAME as a quantized tensor and back: what stands between has the encoding."""
    m.tensor(f"{name}.scale", FLOAT, [], [scale])
    m.tensor(f"{name}.zero", type_, [], [zero])
    m.node("QuantizeLinear", [name, f"{name}.scale", f"{name}.zero"], [f"{name}.q"])
    m.node("DequantizeLinear", [f"{name}.q", f"{name}.scale", f"{name}.zero"], [f"{name}.d"])
    return f"{name}.d"


def stored(x, scale, zero, low, high):
    """Quantized, as integers: QuantizeLinear's rounding to even."""
    return np.clip(np.rint(x.astype("f8") / np.float64(np.float32(scale))) + zero, low, high)


def fixed(checks, folder, library):
    """Relu → quantize → Twice → quantize, in 8 and 16 bits, signed and unsigned."""
    dims = [1, 5, 7, 6]
    x = np.random.default_rng(3).uniform(-1, 4, dims).astype("f4")
    for label, type_, word, low, high, zero, opset in (("uint8", UINT8, "FIXED_8", 0, 255, 7, 13), ("int8", INT8, "FIXED_8", -128, 127, -5, 13),
                                                ("uint16", UINT16, "FIXED_16", 0, 65535, 300, 21), ("int16", INT16, "FIXED_16", -32768, 32767, 0, 21),
                                                ("int16 aside", INT16, "FIXED_16", -32768, 32767, -1200, 21)):
        scale, after = 4.0 / (high - low), 8.0 / (high - low)
        m = Model(opset=opset, ir_version=10, domains=["test"])
        m.input("x", FLOAT, dims)
        m.node("Relu", ["x"], ["r"])
        m.node("Twice", [quantized(m, "r", type_, scale, zero)], ["t"], domain="test")
        m.node("Neg", [quantized(m, "t", type_, after, zero)], ["y"])
        m.output("y", FLOAT, dims)
        done = convert(folder, m, write_config(folder, {"Twice": (word, 1)}))
        if not checks.check(f"{label}: converts", done.returncode == 0, done.stderr):
            continue
        done, document, found = explained(folder, {library: "Types"}, {"x": x}, "--backend", "reference,plugin")
        if not checks.check(f"{label}: runs", done.returncode == 0, done.stderr):
            continue
        kernel = plugin_steps(document)[0]["kernels"][0]["kernel"]
        checks.check(f"{label}: kernel", kernel == "Types::twice_" + {"uint8": "u8", "int8": "s8", "uint16": "u16"}.get(label, "s16"), kernel)
        q = stored(np.maximum(x, 0), scale, zero, low, high)
        real = (q - zero) * np.float64(np.float32(scale))
        twice = stored(2 * real, after, zero, low, high)
        y = -((twice - zero) * np.float64(np.float32(after)))
        checks.check(f"{label}: numbers", np.allclose(found["y"], y.ravel(), atol=1e-6), np.abs(found["y"] - y.ravel()).max())


def plain(checks, folder, library):
    """float16 and int32, with native nodes around them."""
    dims = [2, 3, 4, 5]
    places = np.arange(120).reshape(dims)
    for label, type_, form, word, values in (("float16", FLOAT16, "f2", "FLOAT_16", (places / 7 - 5).astype("f2")),
                                             ("int32", INT32, "i4", "INT_32", (places * 1000003 - 60000000).astype("i4"))):
        m = Model(opset=13, domains=["test"])
        m.input("x", type_, dims)
        m.node("Neg", ["x"], ["n"])
        m.node("Twice", ["n"], ["t"], domain="test")
        m.node("Neg", ["t"], ["y"])
        m.output("y", type_, dims)
        done = convert(folder, m, write_config(folder, {"Twice": (word, 1)}))
        checks.check(f"{label}: converts", done.returncode == 0, done.stderr)
        done, found = execute(folder, {library: "Types"}, {"x": values}, native=True)
        if checks.check(f"{label}: runs", done.returncode == 0, done.stderr):
            checks.check(f"{label}: numbers", (np.frombuffer(found["y"], form) == 2 * values.ravel()).all())


def blocks(checks, folder, library):
    """Conversions to blocked layouts and back; blocks in a table and in a row; what flat memory cannot do is said."""
    for dims, type_, word, top in (([1, 9, 17, 33], UINT8, "FIXED_8", 255), ([2, 8, 8, 32], UINT8, "FIXED_8", 255),
                                   ([1, 17, 5, 65], UINT16, "FIXED_16", 65535), ([2, 3, 1, 4], UINT8, "FIXED_8", 255),
                                    ([1, 17, 5, 65], INT16, "FIXED_16", 32767), ([2, 8, 4, 32], INT16, "FIXED_16", 32767)):
        m = Model(opset=21, ir_version=10, domains=["test"])
        m.input("x", FLOAT, dims)
        m.node("Places", [quantized(m, "x", type_, 1.0, 0)], ["p"], domain="test")
        last = quantized(m, "p", type_, 1.0, 0)
        ops = {"Places": (word, 1)}
        if top == 255:
            m.node("Flatten", [last], ["f"], domain="test")
            last = quantized(m, "f", type_, 1.0, 0)
            ops["Flatten"] = (word, 1)
        m.node("Neg", [last], ["y"])
        m.output("y", FLOAT, dims)
        done = convert(folder, m, write_config(folder, ops))
        if not checks.check(f"{dims}: converts", done.returncode == 0, done.stderr):
            continue
        x = np.random.default_rng(4).integers(-200 if type_ == INT16 else 0, 200, dims)
        done, document, found = explained(folder, {library: "Types"}, {"x": x.astype("f4")}, "--backend", "reference,plugin")
        if not checks.check(f"{dims}: runs", done.returncode == 0, done.stderr):
            continue
        step = plugin_steps(document)[0]
        _, h, w, d = np.indices(dims)
        placed = x + h + 3 * w + 5 * d
        checks.check(f"{dims}: numbers", (found["y"] == -(placed if type_ == INT16 else placed % (top + 1)).ravel()).all())
        checks.check(f"{dims}: kernel", step["kernels"][0]["kernel"].endswith({UINT8: "_8", UINT16: "_16", INT16: "_s16"}[type_]))
        tried = {t["kernel"]: t["reason"] for t in step["kernels"][0]["tried"]}
        if top == 255:
            checks.equal(f"{dims}: flat and indirect", tried["Types::places_flat_indirect"],
                         "input 0: storage: this host has flat tensors in one block alone")
        kinds = [s["kind"] for s in step["steps"]]
        checks.equal(f"{dims}: conversions", kinds, ["convert", "kernel", "kernel"] if top == 255 else ["convert", "kernel", "convert"])


XML = """<?xml version="1.0" encoding="UTF-8"?>
<OpDefCollection PackageName="Types" Domain="aisw" Version="1.0"{qhpi}><OpDefList><OpDef><Name>Told</Name>
{input}<Output><Name>out</Name><Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_FLOAT_32</Datatype><Shape><Rank>4D</Rank></Shape></Output>
{params}<SupportedBackend>HTP</SupportedBackend></OpDef></OpDefList></OpDefCollection>
"""
PARAM = "<Parameter><Name>{}</Name><Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_{}</Datatype><Shape><Rank>{}</Rank></Shape></Parameter>\n"
INPUT = "<Input><Name>{}</Name><Mandatory>{}</Mandatory><Datatype>QNN_DATATYPE_FLOAT_32</Datatype><Shape><Rank>ND</Rank></Shape></Input>\n"


def told(checks, folder, library):
    """Operands have rank 4; params stand behind the inputs in the order of the description; what is left out keeps its place."""
    params = [PARAM.format("list", "INT_32", "1D"), PARAM.format("real", "FLOAT_32", "SCALAR"), PARAM.format("few", "UINT_8", "1D")]
    config = folder / "told.xml"
    config.write_text(XML.format(qhpi=' UseQHPI="true"', input=INPUT.format("x", "true") + INPUT.format("maybe", "false"),
                                 params="".join(params)))
    m = Model(opset=13)
    m.input("x", FLOAT, [3, 16])
    m.node("Told", ["x"], ["y"], name="n", list=[7, 8, 9], real=2.5, few=[4, 5])
    m.output("y", FLOAT, [1, 1, 5, 8])
    done = convert(folder, m, config)
    if not checks.check("told: converts", done.returncode == 0, done.stderr):
        return
    done, found = execute(folder, {library: "Types"}, {"x": np.full([3, 16], 0.5)})
    if not checks.check("told: runs", done.returncode == 0, done.stderr):
        return
    rows = found["y"].reshape(5, 8).tolist()
    checks.equal("told: input", rows[0], [4, 1, 1, 3, 16, 6, 0.5, 5])
    checks.equal("told: input that is left out", (rows[1][0], rows[1][6]), (0, -1))
    checks.equal("told: list", rows[2], [4, 1, 1, 1, 3, 5, 7, 5])
    checks.equal("told: scalar", rows[3], [4, 1, 1, 1, 1, 6, 2.5, 5])
    checks.equal("told: bytes", rows[4], [4, 1, 1, 1, 2, 1, 4, 5])


def fast_alone(checks, folder, library):
    """A kernel that wants its operands in fast memory is executed where they do not fit, which is said."""
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [1, 8, 8, 8])
    m.node("Fast", ["x"], ["y"], domain="test")
    m.output("y", FLOAT, [1, 8, 8, 8])
    done = convert(folder, m, write_config(folder, {"Fast": ("FLOAT_32", 1)}))
    x = np.arange(512).reshape([1, 8, 8, 8])
    for size, warned in (("1M", False), ("1000", True)):
        done, document, found = explained(folder, {library: "Types"}, {"x": x}, "--tcm_size", size)
        checks.check(f"fast {size}: runs", done.returncode == 0 and (found["y"] == 2 * x.ravel()).all(), done.stderr)
        checks.equal(f"fast {size}: peak", plugin_steps(document)[0]["peak"], 4096)
        checks.check(f"fast {size}: warned", ("more fast memory than there is" in done.stderr) == warned, done.stderr)


def budget(checks, folder, library):
    """Tiles are such that their blocks, with the padding, fit in fast memory; where no tiling does, that is said."""
    for dims, size, holds, fits in (([1, 60, 20, 40], 20000, True, True), ([1, 33, 40, 70], 12288, True, True),
                                    ([2, 9, 9, 33], 6144, True, True), ([1, 16, 16, 32], 6143, True, False),
                                    ([1, 16, 16, 32], 4095, False, False)):
        m = Model(opset=21, ir_version=10, domains=["test"])
        for name in ("x", "z"):
            m.input(name, FLOAT, dims)
        m.node("Blocked", [quantized(m, "x", UINT8, 1.0, 0), quantized(m, "z", UINT8, 1.0, 0)], ["s"], domain="test")
        m.node("Blocked", [quantized(m, "s", UINT8, 1.0, 0), "z.d"], ["t"], domain="test")
        m.node("Neg", [quantized(m, "t", UINT8, 1.0, 0)], ["y"])
        m.output("y", FLOAT, dims)
        done = convert(folder, m, write_config(folder, {"Blocked": ("FIXED_8", 2)}))
        if not checks.check(f"budget {dims} {size}: converts", done.returncode == 0, done.stderr):
            continue
        rng = np.random.default_rng(6)
        inputs = {name: rng.integers(0, 80, dims).astype("f4") for name in ("x", "z")}
        done, document, found = explained(folder, {library: "Types"}, inputs, "--backend", "reference,plugin", "--tcm_size", str(size))
        if not checks.check(f"budget {dims} {size}: runs", done.returncode == 0, done.stderr):
            continue
        step = plugin_steps(document)[0]
        checks.check(f"budget {dims} {size}: numbers", (found["y"] == -(inputs["x"] + 2 * inputs["z"]).ravel()).all())
        checks.equal(f"budget {dims} {size}: peak", step["peak"] <= size, holds)
        checks.equal(f"budget {dims} {size}: said", "no tiling of ops Types::Blocked, Types::Blocked makes all operands fit in " in done.stderr,
                     not fits)
        reason = "no cut makes all operands fit in fast memory" if not fits else "tiles of all ops that are cut together fit in fast memory"
        checks.equal(f"budget {dims} {size}: reason", {t["reason"] for t in step["tilings"]}, {reason})


def constants(checks, folder, library):
    """Parts of constants, and their blocks, are made once: no step of an execution does it."""
    dims = [1, 24, 8, 64]
    m = Model(opset=21, ir_version=10, domains=["test"])
    m.input("x", FLOAT, dims)
    w = np.arange(64) % 50
    m.tensor("w", UINT8, [1, 1, 1, 64], w.tolist())
    m.tensor("w.scale", FLOAT, [], [1.0])
    m.tensor("w.zero", UINT8, [], [0])
    m.node("DequantizeLinear", ["w", "w.scale", "w.zero"], ["w.d"])
    m.node("Blocked", [quantized(m, "x", UINT8, 1.0, 0), "w.d"], ["s"], domain="test")
    m.node("Neg", [quantized(m, "s", UINT8, 1.0, 0)], ["y"])
    m.output("y", FLOAT, dims)
    done = convert(folder, m, write_config(folder, {"Blocked": ("FIXED_8", 2)}, static=(1,)))
    if not checks.check("constants: converts", done.returncode == 0, done.stderr):
        return
    x = np.random.default_rng(8).integers(0, 150, dims).astype("f4")
    for size, tiles in (("1M", 1), ("7K", 8)):
        done, document, found = explained(folder, {library: "Types"}, {"x": x}, "--backend", "reference,plugin", "--tcm_size", size,
                                          "--iterations", "2")
        if not checks.check(f"constants {size}: runs", done.returncode == 0, done.stderr):
            continue
        step = plugin_steps(document)[0]
        checks.check(f"constants {size}: numbers", (found["y"] == -(x + w).ravel()).all())
        checks.equal(f"constants {size}: tiles", step["tilings"][0]["count"], tiles)
        kinds = [s["kind"] for s in step["steps"]]
        checks.equal(f"constants {size}: conversions of the input and the output alone", kinds.count("convert"), 2 * tiles)
        checks.equal(f"constants {size}: slices of the input alone", kinds.count("slice"), tiles if tiles > 1 else 0)
        checks.check(f"constants {size}: peak", step["peak"] <= 7168 if tiles > 1 else step["peak"] > 7168, step["peak"])


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        library = package("types")
        for case in (fixed, plain, blocks, told, fast_alone, budget, constants):
            case(checks, folder, library)
    checks.finish()


main()
