# SPDX-License-Identifier: Apache-2.0
"""dlc-diff: each kind of difference planted alone, numbers of weights, versions, options and statuses."""

import copy
import csv
import io
import json
import math
import os
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SHARED, Checks, run  # noqa: E402
from dlc_editor import Container  # noqa: E402
from dlc_tools import FLATC  # noqa: E402
from onnx_writer import FLOAT, FLOAT16, INT8, Model  # noqa: E402

CORPUS = SHARED / "corpus"
OPTIONS = {"metadata": "--metadata", "copyrights": "-c", "layers": "-l", "parameters": "-p", "outputs": "-o",
           "dimensions": "-d", "types": "--types", "encodings": "--encodings", "weights": "-w"}
KERNEL = [(i - 11) / 8 for i in range(24)]


def convert(checks, model, path, *options):
    source = path.with_suffix(".onnx")
    if isinstance(model, Model):
        model.save(source)
    else:
        source = model
    done = run("onnx-to-dlc", "-i", source, "-o", path, "--quiet", *options)
    checks.equal(f"conversion to {path.name}", (done.returncode, done.stderr), (0, ""))
    return path


def small_model():
    """x [1,2,6,5] → Conv (3 channels, 2 × 2) → Relu → Softmax → y."""
    m = Model(opset=13)
    m.input("x", FLOAT, [1, 2, 6, 5])
    m.tensor("w", FLOAT, [3, 2, 2, 2], KERNEL)
    m.tensor("b", FLOAT, [3], [0.5, -1, 2])
    m.node("Conv", ["x", "w", "b"], ["c"], name="conv")
    m.node("Relu", ["c"], ["r"], name="relu")
    m.node("Softmax", ["r"], ["y"], name="softmax", axis=1)
    m.output("y", FLOAT, [1, 3, 5, 4])
    return m


WARNED = {"block_32_quantized.v4.1.dlc": ("dlc-data-size",)}


def diff(checks, name, first, second, *options, warnings=()):
    """(status, report); the codes of the warnings must be these"""
    done = run("dlc-diff", "-i1", first, "-i2", second, "--json", *options)
    checks.equal(f"{name} warnings", [json.loads(line)["code"] for line in done.stderr.splitlines()], list(warnings))
    report = json.loads(done.stdout)
    checks.equal(f"{name} schema", (report["schema"], report["schema_version"]), ("opendlc.dlc-diff", 1))
    checks.equal(f"{name} status says whether they are the same", done.returncode, 0 if report["same"] else 1)
    return done.returncode, report


def found(report):
    return [(d["category"], d["layer"], d["subject"], d["first"], d["second"]) for d in report["differences"]]


# ---- planted differences ----


def set_value(owner, key, value):
    owner[key] = value


def drop_attribute(c):
    attributes = c.op("conv")["attributes"]
    attributes.remove(c.attribute("conv", "group"))


def add_layer(c):
    op = copy.deepcopy(c.op("relu"))
    op.update(name="relu2", outputs=["r2"])
    tensor = dict(c.tensor("r"), name="r2", id=100)
    c.graph["ops"].append(op)
    c.graph["tensors"].append(tensor)
    c.params["graphs"][0]["ops"].append(dict(name="relu2") if "name" in c.params["graphs"][0]["ops"][0] else {})


def rename_output(c):
    c.tensor("y")["name"] = "z"
    c.op("softmax")["outputs"] = ["z"]


def encode_relu(c):
    encoding = {"bitwidth": 8, "min": -1, "max": 0.9921875, "scale": 0.0078125, "offset": -128}
    c.tensor("r")["quantization"] = {"encoding": 0, "scale_offset": encoding}


def set_bytes(data, at, values):
    data[at:at + len(values)] = values


def set_metadata(c, key, value):
    lines = c.entries["dlc.metadata"].decode().splitlines()
    changed = [f"{key}={value}" if line.startswith(f"{key}=") else line for line in lines]
    c.entries["dlc.metadata"] = ("\n".join(changed) + "\n").encode()


def add_constant(c):
    c.graph["tensors"].append(dict(c.tensor("b"), name="more", id=100))
    c.params["graphs"][0]["tensors"].append({"name": "more", "bytes": list(c.data("b"))})


PLANTED = [
    ("type", lambda c: set_value(c.op("relu"), "type", "Other"), [("layers", "relu", "type", "Neuron", "Other")]),
    ("package", lambda c: set_value(c.attribute("relu", "packageName")["scalar"], "string_value", "Mine"),
     [("layers", "relu", "package", "qti.aisw", "Mine")]),
    ("inputs", lambda c: c.op("conv")["inputs"].pop(), [("layers", "conv", "inputs", "x, w, b", "x, w")]),
    ("layer", add_layer, [("layers", "relu2", "layer", None, "Neuron")]),
    ("scalar", lambda c: set_value(c.attribute("conv", "group")["scalar"], "int_value", 2),
     [("parameters", "conv", "group", "1", "2")]),
    ("tensor parameter", lambda c: set_bytes(c.data("conv_stride"), 4, [3]),
     [("parameters", "conv", "stride", "[1, 1]", "[1, 3]")]),
    ("absent parameter", drop_attribute, [("parameters", "conv", "group", "1 (uInt_32)", None)]),
    ("output", rename_output, [("outputs", None, "outputs of the graph", "y", "z"),
                               ("outputs", "softmax", "outputs", "y", "z")]),
    ("dimensions", lambda c: set_value(c.tensor("r"), "dims", [1, 5, 4, 7]),
     [("dimensions", "relu", "r", "[1,5,4,3]", "[1,5,4,7]")]),
    ("dtype", lambda c: set_value(c.tensor("r"), "dtype", 0x216),
     [("types", "relu", "r", "Float_32, NATIVE, axis format 3", "Float_16, NATIVE, axis format 3")]),
    ("axis format", lambda c: set_value(c.tensor("r"), "axis_format", 10),
     [("types", "relu", "r", "Float_32, NATIVE, axis format 3", "Float_32, NATIVE, axis format 10")]),
    ("encodings", encode_relu, [("encodings", "relu", "r", None,
                                 "8 bit, scale 0.0078125, offset -128, min -1, max 0.9921875")]),
    ("weights", lambda c: set_bytes(c.data("b"), 8, struct.pack("<f", 2.5)), [("weights", "conv", "b", "2", "2.5")]),
    ("constant", add_constant, [("weights", None, "more", None, "Float_32")]),
    ("metadata", lambda c: set_metadata(c, "model-version", "7"), [("metadata", None, "model-version", "N/A", "7")]),
    ("copyright", lambda c: set_metadata(c, "model-copyright", "me"),
     [("copyrights", None, "copyright of the model", "N/A", "me")]),
    ("entry", lambda c: set_value(c.entries, "cache", b"bytes"),
     [("metadata", None, "entry cache", None, "5 bytes")]),
    ("graph name", lambda c: set_value(c.graph, "name", "other") or set_value(c.params["graphs"][0], "name", "other"),
     [("metadata", None, "name of the graph", "first", "other")]),
]


def planted(checks, first, folder):
    for name, plant, expected in PLANTED:
        container = Container(first)
        plant(container)
        second = container.save(folder / "planted.dlc")
        status, report = diff(checks, name, first, second)
        checks.equal(f"planted {name}", found(report), expected)
        checks.equal(f"planted {name} is found", status, 1)
        category = expected[0][0]
        checks.equal(f"planted {name} counts", report["counts"][category]["different"], len(expected))
        checks.equal(f"planted {name}, selected", diff(checks, name, first, second, OPTIONS[category])[0], 1)
        unselected = [option for option in OPTIONS.values() if option != OPTIONS[category]]
        checks.equal(f"planted {name}, not selected", diff(checks, name, first, second, *unselected)[0], 0)
        mirrored = [(*record[:3], record[4], record[3]) for record in expected]
        checks.equal(f"planted {name}, exchanged", sorted(map(str, found(diff(checks, name, second, first)[1]))),
                     sorted(map(str, mirrored)))


def unplanted(checks, first, folder):
    """What makes no difference: the file's packing, ids, the order of tensors."""
    container = Container(first)
    same = container.save(folder / "again.dlc")
    checks.equal("written again", diff(checks, "again", first, same)[1]["differences"], [])
    container.graph["tensors"].reverse()
    for i, tensor in enumerate(container.graph["tensors"]):
        tensor["id"] = 200 + i
    second = container.save(folder / "reversed.dlc")
    checks.equal("other order", [d for d in found(diff(checks, "order", first, second)[1])], [])


def renamed_layers(checks, first, folder):
    container = Container(first)
    container.op("relu")["name"] = "activation"
    second = container.save(folder / "renamed.dlc")
    checks.equal("renamed, by name", found(diff(checks, "renamed", first, second)[1]),
                 [("layers", "relu", "layer", "Neuron", None), ("layers", "activation", "layer", None, "Neuron")])
    checks.equal("renamed, by id", found(diff(checks, "renamed", first, second, "-i")[1]),
                 [("layers", "relu", "name", "relu", "activation")])
    container.tensor("w")["name"] = container.op("conv")["inputs"][1] = "kernel"
    next(data for data in container.params["graphs"][0]["tensors"] if data["name"] == "w")["name"] = "kernel"
    second = container.save(folder / "renamed.dlc")
    checks.equal("a renamed constant is compared with the one in its place",
                 diff(checks, "renamed", first, second, "-w")[1]["counts"]["weights"], {"compared": 2, "different": 0})


def several_graphs(checks, first, folder):
    container = Container(first)
    for graphs in (container.network["graphs"], container.params["graphs"]):
        graphs.append(copy.deepcopy(graphs[0]))
        graphs[1]["name"] = "second"
    for op in container.network["graphs"][1]["ops"]:
        if op["name"] == "relu":
            op["type"] = "Other"
    both = container.save(folder / "both.dlc")
    checks.equal("a graph that one has", found(diff(checks, "graphs", first, both)[1]),
                 [("layers", None, "graph", None, "3 layers")])
    for graphs in (container.network["graphs"], container.params["graphs"]):
        graphs.reverse()
    exchanged = container.save(folder / "exchanged.dlc")
    checks.equal("graphs in another order", diff(checks, "graphs", both, exchanged)[0], 0)
    _, report = diff(checks, "graphs by id", both, exchanged, "-i", "-l")
    checks.equal("graphs by id", [(d["graph"], *found(report)[i]) for i, d in enumerate(report["differences"])],
                 [("first", "layers", "relu", "type", "Neuron", "Other"),
                  ("second", "layers", "relu", "type", "Other", "Neuron")])


# ---- numbers ----


def statistics_of(report, subject):
    record = next(d for d in report["differences"] if d["category"] == "weights" and d["subject"] == subject)
    return record["statistics"]


def add_model(values, dtype=FLOAT, raw=None):
    m = Model(opset=13)
    m.input("x", dtype, [2, len(values)])
    m.tensor("k", dtype, [len(values)], values, raw)
    m.node("Add", ["x", "k"], ["y"], name="add")
    m.output("y", dtype, [2, len(values)])
    return m


def close(checks, name, value, expected):
    checks.check(name, math.isclose(value, expected, rel_tol=1e-12, abs_tol=0), f"found {value}, expected {expected}")


def expected_statistics(first, second):
    pairs = [(a, b) for a, b in zip(first, second) if math.isfinite(a) and math.isfinite(b)]
    gaps = [abs(a - b) for a, b in pairs]
    dot, aa, bb = (sum(p[i] * p[k] for p in pairs) for i, k in ((0, 1), (0, 0), (1, 1)))
    return {"max_absolute": max(gaps), "cosine": dot / math.sqrt(aa * bb),
            "max_relative": max(abs(a - b) / max(abs(a), abs(b)) for a, b in pairs if a or b)}


def numbers(checks, folder):
    count = 5003  # several blocks and a rest
    first = [math.ldexp(round(math.sin(i) * 4096), -10) for i in range(count)]
    second = list(first)
    for i in (7, 2048, 4999):
        second[i] += 0.25 + i / 65536
    second[11] = -first[11]
    a = convert(checks, add_model(first), folder / "a.dlc")
    b = convert(checks, add_model(second), folder / "b.dlc")
    status, report = diff(checks, "numbers", a, b, "-w")
    found_numbers, expected = statistics_of(report, "k"), expected_statistics(first, second)
    checks.equal("differing", (found_numbers["elements"], found_numbers["differing"]), (count, 4))
    for key, value in expected.items():
        close(checks, key, found_numbers[key], value)
    worst = max(range(count), key=lambda i: abs(first[i] - second[i]))
    checks.equal("worst", [found_numbers[key] for key in ("largest_at", "largest_first", "largest_second")],
                 [worst, first[worst], second[worst]])
    second[3], second[4], first[4], second[5] = math.inf, -0.0, 0.0, math.nan
    first[6], second[6] = math.nan, math.nan
    a = convert(checks, add_model(first), folder / "a.dlc")
    b = convert(checks, add_model(second), folder / "b.dlc")
    found_numbers = statistics_of(diff(checks, "special", a, b, "-w")[1], "k")
    checks.equal("special", (found_numbers["differing"], found_numbers["not_finite"]), (7, 2))
    for key, value in expected_statistics(first, second).items():
        close(checks, f"{key} without special ones", found_numbers[key], value)


def element_types(checks, folder):
    """float32 against float16 and against fixed point."""
    values = [0.5, 1.25, -3, 0.1, 1000.3]
    halves = struct.unpack("<5e", struct.pack("<5e", *values))
    singles = struct.unpack("<5f", struct.pack("<5f", *values))
    single = convert(checks, add_model(values), folder / "single.dlc")
    half = convert(checks, add_model(values, FLOAT16, struct.pack("<5e", *values)), folder / "half.dlc")
    found_numbers = statistics_of(diff(checks, "half", single, half, "-w")[1], "k")
    checks.equal("half", (found_numbers["differing"], found_numbers["largest_at"]), (2, 4))
    close(checks, "half max", found_numbers["max_absolute"], abs(singles[4] - halves[4]))
    exact = [0.5, 1.25, -3]
    single = convert(checks, add_model(exact), folder / "single.dlc")
    half = convert(checks, add_model(exact, FLOAT16, struct.pack("<3e", *exact)), folder / "half.dlc")
    checks.equal("exact in both", diff(checks, "exact", single, half, "-w")[0], 0)
    checks.equal("the type differs", diff(checks, "exact", single, half, "--types")[0], 1)


def quantized_model(integers, scale):
    m = Model(opset=13)
    m.input("x", FLOAT, [1, 3, 4, 4])
    m.tensor("q", INT8, [2, 3, 1, 1], raw=struct.pack("<6b", *integers))
    m.tensor("s", FLOAT, [2], scale)
    m.tensor("z", INT8, [2], raw=b"\0\0")
    m.node("DequantizeLinear", ["q", "s", "z"], ["w"], axis=0)
    m.tensor("xs", FLOAT, [], [0.125])
    m.tensor("xz", INT8, [], raw=b"\0")
    for source in ("x", "c"):
        m.node("QuantizeLinear", [source, "xs", "xz"], [source + "q"])
        m.node("DequantizeLinear", [source + "q", "xs", "xz"], [source + "d"])
        if source == "x":
            m.node("Conv", ["xd", "w"], ["c"], name="conv")
    m.output("cd", FLOAT, [1, 2, 4, 4])
    return m


def quantized(checks, folder):
    a = convert(checks, quantized_model([1, -2, 3, 4, 5, 6], [0.5, 0.25]), folder / "a.dlc")
    b = convert(checks, quantized_model([1, -2, 3, 4, 5, 7], [0.5, 0.25]), folder / "b.dlc")
    c = convert(checks, quantized_model([1, -2, 3, 8, 10, 12], [0.5, 0.125]), folder / "c.dlc")
    _, report = diff(checks, "stored", a, b, "-w", "--encodings")
    records = [d for d in report["differences"]]
    checks.equal("one weight", [(d["category"], d["layer"]) for d in records], [("weights", "conv")])
    s = records[0]["statistics"]
    checks.equal("one stored integer", (s["differing"], s["differing_as_stored"], s["max_absolute"]), (1, 1, 0.25))
    checks.equal("reals", (records[0]["first"], records[0]["second"]), ("1.5", "1.75"))
    _, report = diff(checks, "scales", a, c, "-w", "--encodings")
    by_category = {d["category"]: d for d in report["differences"]}
    checks.check("encodings", by_category["encodings"]["second"].startswith("2 along axis 3; [1]: 8 bit, scale 0.125,"),
                 by_category["encodings"])
    s = by_category["weights"]["statistics"]
    checks.equal("the same reals, other integers", (s["differing"], s["differing_as_stored"], s["max_absolute"]),
                 (0, 3, 0))


def encoded_along_axis_1(first, path, scales):
    """The kernel, [2,2,2,3], as 8-bit integers −12 … 11 with two scales."""
    container = Container(first)
    encodings = [{"bitwidth": 8, "min": -128 * s, "max": 127 * s, "scale": s, "offset": 0} for s in scales]
    container.tensor("w").update(dtype=0x308, source_dtype=0x308,
                                 quantization={"encoding": 1, "per_axis": {"axis": 1, "encodings": encodings}})
    container.data("w")[:] = [i % 256 for i in range(-12, 12)]
    return container.save(path)


def middle_axis(checks, first, folder):
    a = encoded_along_axis_1(first, folder / "a.dlc", [0.5, 0.25])
    b = encoded_along_axis_1(first, folder / "b.dlc", [0.5, 0.75])
    s = statistics_of(diff(checks, "middle axis", a, b, "-w")[1], "w")
    # elements 6 … 11 and 18 … 23 have the second scale: −6 … −1 and 6 … 11
    checks.equal("middle axis", s, {"elements": 24, "differing": 12, "differing_as_stored": 0, "not_finite": 0,
                                    "max_absolute": 5.5, "max_relative": 5.5 / 8.25, "cosine": s["cosine"],
                                    "largest_at": 23, "largest_first": 2.75, "largest_second": 8.25})
    reals = [[q * scales[i // 6 % 2] for i, q in enumerate(range(-12, 12))] for scales in ([0.5, 0.25], [0.5, 0.75])]
    close(checks, "middle axis cosine", s["cosine"], expected_statistics(*reals)["cosine"])


def width(checks, first, folder):
    container = Container(first)
    set_metadata(container, "converter-command", " ".join(f"word{i}" for i in range(60)))
    second = container.save(folder / "wide.dlc")
    done = run("dlc-diff", "-i1", first, "-i2", second, env={**os.environ, "COLUMNS": "90"})
    rows = [line for line in done.stdout.splitlines() if line.startswith(("|", "-"))]
    checks.check("fits 90 columns", rows and max(map(len, rows)) <= 90, rows)
    checks.check("no word is lost", all(f"word{i}" in done.stdout for i in range(60)))


# ---- real models ----


def with_and_without_udo(checks, folder):
    model = CORPUS / "onnx" / "first" / "ppocr-cls" / "model.onnx"
    config = CORPUS / "udo-cases" / "ppocr-hardsigmoid" / "hardsigmoid.udo.json"
    dims = ("-d", "x", "1,3,48,192")
    native = convert(checks, model, folder / "native.dlc", *dims)
    udo = convert(checks, model, folder / "udo.dlc", "--udo_config_paths", config, *dims)
    _, report = diff(checks, "udo", native, udo, "-l")
    records = found(report)
    layers = {layer for _, layer, *_ in records}
    checks.equal("nine UDO layers", (len(layers), len(records)), (9, 18))
    for layer in layers:
        checks.check(f"{layer} type", ("layers", layer, "type", "Neuron", "HardSigmoid") in records)
        checks.check(f"{layer} package", ("layers", layer, "package", "qti.aisw", "HardSigmoidUdoPackage") in records)
    checks.equal("nothing else", diff(checks, "udo", native, udo, "-d", "-w", "-o", "--types", "--encodings")[0], 0)


def float_against_quantized(checks, folder):
    model = CORPUS / "onnx" / "second" / "qdq-mobilenet-part" / "model.onnx"
    quantized_one = convert(checks, model, folder / "quantized.dlc")
    kept = convert(checks, model, folder / "kept.dlc", "--keep_quant_nodes")
    _, report = diff(checks, "qdq", quantized_one, kept)
    categories = {d["category"] for d in report["differences"]}
    checks.check("layers of their own", any(d["subject"] == "layer" and d["second"] in ("Quantize", "Dequantize")
                                            for d in report["differences"]))
    checks.check("encodings differ", "encodings" in categories, categories)
    first, second = (CORPUS / "dlc" / f"add2_{kind}.v2.dlc" for kind in ("float", "uint8"))
    _, report = diff(checks, "add2", first, second)
    counts = {category: count["different"] for category, count in report["counts"].items() if count["different"]}
    checks.equal("add2 counts", counts, {"metadata": 1, "types": 3, "encodings": 3, "weights": 1})
    # 255 of 255 steps of 2/255, whose scale is stored as float32
    scale = struct.unpack("<f", struct.pack("<f", 2 / 255))[0]
    close(checks, "add2 weight", statistics_of(report, "add/y")["max_absolute"], abs(2 - 255 * scale))


def flip(source, target, name, at):
    """Copies a container with one bit of an entry changed; its CRC stays, which dlc-diff does not look at."""
    entries = json.loads(run("dlc-info", "-i", source, "--json").stdout)["entries"]
    entry = next(entry for entry in entries if entry["name"] == name)
    content = bytearray(source.read_bytes())
    content[entry["offset"] + at] ^= 0x40
    target.write_bytes(content)
    return target


def versions(checks, folder):
    for container in sorted((CORPUS / "dlc").glob("*.dlc")):
        warnings = WARNED.get(container.name, ()) * 2
        status, report = diff(checks, container.name, container, container, warnings=warnings)
        checks.equal(f"{container.name} with itself", (status, report["differences"]), (0, []))
        checks.check(f"{container.name} layers", report["counts"]["layers"]["compared"] > 0)
    source = CORPUS / "dlc" / "selu-udo.v3.dlc"
    changed = flip(source, folder / "v3.dlc", "model.params", 9001)
    _, report = diff(checks, "v3 weights", source, changed)
    checks.equal("v3 weights", [(d["category"], d["statistics"]["differing"]) for d in report["differences"]],
                 [("weights", 1)])
    source = CORPUS / "dlc" / "mobilenetv3-htp-cache.v3.dlc"
    changed = flip(source, folder / "cache.dlc", "backend.metadata0", 9)
    checks.equal("cache", [d[:3] for d in found(diff(checks, "cache", source, changed)[1])],
                 [("metadata", None, "entry backend.metadata0")])
    source = CORPUS / "dlc" / "block_32_quantized.v4.1.dlc"
    changed = flip(source, folder / "v41.dlc", "model.params.bin", 4001)
    _, report = diff(checks, "v4.1 weights", source, changed, warnings=WARNED[source.name] * 2)
    checks.equal("v4.1 weights", [(d["category"], d["statistics"]["differing"], d["statistics"]["largest_at"])
                                  for d in report["differences"]], [("weights", 1, 2000)])  # of halves


def across_versions(checks, folder):
    """A container of version 4 with the names of one of version 3."""
    v3 = CORPUS / "dlc" / "selu-udo.v3.dlc"
    names = json.loads(run("dlc-info", "-i", v3, "--json").stdout)["graphs"][0]
    relu = next(node for node in names["nodes"] if node["type"] == "Neuron")
    m = Model(opset=13)
    m.input("x", FLOAT, [1, 9])
    m.node("Relu", ["x"], relu["outputs"], name=relu["name"])
    m.output(relu["outputs"][0], FLOAT, [1, 9])
    v4 = convert(checks, m, folder / "v4.dlc")
    _, report = diff(checks, "across", v3, v4)
    checks.equal("across: a note", len(report["notes"]), 1)
    checks.equal("across: nothing that only one version has is compared",
                 {c: n["compared"] for c, n in report["counts"].items() if c in ("parameters", "types")},
                 {"parameters": 0, "types": 0})
    records = found(report)
    checks.check("across: the layer that both have", not any(r[:2] == ("layers", relu["name"]) for r in records))
    dims = next(t["dims"] for t in names["tensors"] if t["name"] == relu["outputs"][0])
    checks.check("across: its dimensions", ("dimensions", relu["name"], relu["outputs"][0],
                                            f"[{','.join(map(str, dims))}]", "[1,9]") in records)
    checks.check("across: layers of type Input are none", not any(r[3] == "Input" for r in records))


# ---- the command ----


def reports(checks, folder):
    a = convert(checks, add_model([1.0, 2.0, 4.0]), folder / "a.dlc", "--model_version", "one, two")
    b = convert(checks, add_model([1.0, 2.5, 4.0]), folder / "b.dlc", "--model_version", 'a "b"')
    done = run("dlc-diff", "-i1", a, "-i2", b, "-s", folder / "out.csv")
    checks.equal("text status", (done.returncode, done.stderr), (1, ""))
    lines = done.stdout.splitlines()
    checks.equal("title", lines[:2], [f"DLC diff of: 1: {a}", f"             2: {b}"])
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    checks.check("columns", ["Layer", "Compared", "What", "In 1", "In 2", "Difference"] in cells)
    checks.check("weights in the text", ["add", "weights", "k", "2", "2.5", "1 of 3 differ"] in cells, cells)
    checks.check("statistics in the text", ["", "", "", "", "", "max absolute 0.5"] in cells)
    checks.check("count in the text", "weights     1 compared, 1 different" in lines)
    checks.equal("conclusion", lines[-1], "The containers differ in what was compared.")
    table = list(csv.reader(io.StringIO((folder / "out.csv").read_bytes().decode(), newline="")))
    checks.equal("csv columns", table[0], ["Graph", "Layer", "Compared", "What", "In 1", "In 2", "Difference"])
    checks.check("csv quotes", ["", "", "metadata", "model-version", "one, two", 'a "b"', "differs"] in table, table)
    weights = next(row for row in table if row[2] == "weights")
    checks.equal("csv weights", weights[:6] + [weights[6].split("\n")[0]],
                 ["a", "add", "weights", "k", "2", "2.5", "1 of 3 differ"])


def options(checks, first, folder):
    damaged = folder / "damaged.dlc"
    damaged.write_bytes(first.read_bytes()[:-30])
    for name, arguments in (("no arguments", []), ("one file", ["-i1", first]),
                            ("no such file", ["-i1", first, "-i2", "none"]),
                            ("unknown option", ["-i1", first, "-i2", first, "--wrong"]),
                            ("not a container", ["-i1", __file__, "-i2", first]),
                            ("damaged", ["-i1", first, "-i2", damaged]),
                            ("output folder", ["-i1", first, "-i2", first, "-s", folder / "none" / "x.csv"])):
        done = run("dlc-diff", *arguments)
        checks.equal(f"{name}: status", done.returncode, 2)
        checks.check(f"{name}: message", "error: " in done.stderr, done.stderr)
        checks.equal(f"{name}: no report", done.stdout, "")
    done = run("dlc-diff", "-i1", "none1", "-i2", "none2", "--json")
    checks.equal("both files are named", [json.loads(line)["file"] for line in done.stderr.splitlines()],
                 ["none1", "none2"])
    done = run("dlc-diff", "--input_dlc_one", first, f"--input_dlc_two={first}", "--weights", "--diff_by_id")
    checks.equal("long names", done.returncode, 0)
    checks.equal("only what was selected", [line.split()[0] for line in done.stdout.splitlines()[3:]],
                 ["weights", "The"])
    _, report = diff(checks, "hits", first, first, "-x", "-w")
    checks.equal("hits", [(d["same"], d["subject"]) for d in report["differences"]], [(True, "w"), (True, "b")])
    checks.check("hits in the text", "| same" in run("dlc-diff", "-i1", first, "-i2", first, "--hits").stdout)
    for option in ("-h", "--version"):
        checks.equal(option, run("dlc-diff", option).returncode, 0)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        first = convert(checks, small_model(), folder / "first.dlc", "--params_format", "netp")
        if FLATC:
            for test in (planted, unplanted, renamed_layers, several_graphs, middle_axis, width):
                test(checks, first, folder)
        else:
            checks.skip("planted differences", "there is no flatc")
        for test in (numbers, element_types, quantized, reports):
            test(checks, folder)
        options(checks, first, folder)
        if CORPUS.is_dir():
            for test in (with_and_without_udo, float_against_quantized, versions, across_versions):
                test(checks, folder)
        else:
            checks.skip("real containers", f"there is no {CORPUS}")
    checks.finish()


main()
