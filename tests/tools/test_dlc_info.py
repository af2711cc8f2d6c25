# SPDX-License-Identifier: Apache-2.0
"""dlc-info on containers that the vendor's tools wrote, and on files that are none."""

import csv
import io
import json
import pathlib
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SHARED, Checks, run  # noqa: E402

CONTAINERS = SHARED / "corpus" / "dlc"
COLUMNS = ["Id", "Name", "Type", "Inputs", "Outputs", "Out Dims", "Runtimes", "Parameters"]


def types_of(graph):
    counts = {}
    for node in graph["nodes"]:
        counts[node["type"]] = counts.get(node["type"], 0) + 1
    return counts


def kinds_of(graph):
    counts = {}
    for tensor in graph["tensors"]:
        counts[tensor["kind"]] = counts.get(tensor["kind"], 0) + 1
    return counts


def tensor_of(graph, name):
    return next(tensor for tensor in graph["tensors"] if tensor["name"] == name)


def node_of(graph, name):
    return next(node for node in graph["nodes"] if node["name"] == name)


def attributes_of(node):
    return {a["name"]: a.get("value", a.get("values", a.get("nested"))) for a in node["attributes"]}


def metadata_of(report):
    return {entry["key"]: entry["value"] for entry in report["metadata"]}


def load(checks, name):
    """The JSON report of a container, whose general members are checked."""
    done = run("dlc-info", "-i", CONTAINERS / name, "--json")
    warned = [json.loads(line)["code"] for line in done.stderr.splitlines()]
    checks.equal(f"{name} status", (done.returncode, warned), (0, ["dlc-data-size"] if ".v4.1." in name else []))
    report = json.loads(done.stdout)
    checks.equal(f"{name} schema", (report["schema"], report["schema_version"]), ("opendlc.dlc-info", 1))
    checks.equal(f"{name} graphs", len(report["graphs"]), 1)
    with zipfile.ZipFile(CONTAINERS / name) as archive:
        entries = {entry.filename: entry.file_size for entry in archive.infolist()}
    checks.equal(f"{name} entries", {e["name"]: e["size"] for e in report["entries"]}, entries)
    return report, report["graphs"][0]


def add2_float(checks):
    report, graph = load(checks, "add2_float.v2.dlc")
    checks.equal("add2 format", report["format"], {"major": 4, "minor": 0, "params": "NR64"})
    checks.equal("add2 version", metadata_of(report)["converter-version"], "2.18.0.231229151826_79175")
    checks.equal("add2 graph", graph["name"], "model")
    checks.equal("add2 types", types_of(graph), {"Eltwise_Binary": 1})
    checks.equal("add2 eltwise_type", attributes_of(graph["nodes"][0])["eltwise_type"], "ElementWiseAdd")
    checks.equal("add2 io", (graph["inputs"], graph["outputs"]), (["input"], ["Identity"]))
    found = {t["name"]: (t["kind"], t["dtype"], t["dims"], t.get("values")) for t in graph["tensors"]}
    checks.equal("add2 tensors", found, {"input": ("APP_WRITE", "Float_32", [1], None),
                                         "add/y": ("STATIC", "Float_32", [1], [2]),
                                         "Identity": ("APP_READ", "Float_32", [1], None)})
    checks.equal("add2 costs", (graph["counted"], graph["parameters"], graph["macs"]), (True, 0, 0))
    checks.equal("add2 executable", graph["nodes"][0]["executable"], True)


def add2_uint8(checks):
    report, graph = load(checks, "add2_uint8.v2.dlc")
    checks.check("quantizer command", metadata_of(report)["quantizer-command"].startswith("snpe-dlc-quant"))
    for tensor in graph["tensors"]:
        checks.equal(f"{tensor['name']} dtype", (tensor["dtype"], tensor["dtype_code"]), ("uFxp_8", 0x408))
        encodings = tensor["quantization"]["encodings"]
        checks.equal(f"{tensor['name']} encodings", len(encodings), 1)
        e = encodings[0]
        checks.check(f"{tensor['name']} encoding", abs((255 + e["offset"]) * e["scale"] - e["max"]) <= 1e-4 * abs(e["max"]))
    constant = tensor_of(graph, "add/y")
    encoding = constant["quantization"]["encodings"][0]
    real = (constant["values"][0] + encoding["offset"]) * encoding["scale"]
    checks.check("quantized constant", abs(real - 2) <= encoding["scale"], real)


def zipformer(checks):
    _, graph = load(checks, "zipformer-decoder.v4.0.dlc")
    checks.equal("zipformer name", graph["name"], "decoder-epoch-4-avg-1.fix")
    checks.equal("zipformer types", types_of(graph),
                 {"Transpose": 4, "Reshape": 3, "Neuron": 2, "Eltwise_Binary": 2, "Gather": 1, "Cast": 1, "Conv2d": 1,
                  "FullyConnected": 1})
    checks.equal("zipformer kinds", kinds_of(graph), {"APP_WRITE": 1, "NATIVE": 14, "STATIC": 5, "APP_READ": 1})
    checks.equal("zipformer constants", sum(t["elements"] for t in graph["tensors"] if t["kind"] == "STATIC"), 522753)
    checks.equal("zipformer dtypes", {t["dtype"] for t in graph["tensors"]}, {"Int_32", "Float_32", "Bool_8"})
    checks.equal("zipformer input", tensor_of(graph, "y")["dims"], [1, 2])
    checks.equal("zipformer output", tensor_of(graph, "decoder_out")["dims"], [1, 512])
    conv, dense = node_of(graph, "/decoder/conv/Conv_2d"), node_of(graph, "/decoder_proj/Gemm")
    # weights [1,2,4,512] without bias, one output position; weights [512,512] and bias [512]
    checks.equal("conv costs", (conv["parameters"], conv["macs"]), (4096, 4096))
    checks.equal("dense costs", (dense["parameters"], dense["macs"]), (512 * 512 + 512, 512 * 512))
    # the embedding that Gather reads is a constant operand, not a weight
    checks.equal("zipformer totals", (graph["parameters"], graph["macs"]), (266752, 266240))
    checks.equal("conv attributes", attributes_of(conv),
                 {"bias_op_name": "", "dilation": [1, 1], "group": 128, "packageName": "qti.aisw", "pad_amount": [0, 0, 0, 0],
                  "padding_size_strategy": 5, "stride": [1, 1]})


def zipformer_text(checks):
    done = run("dlc-info", "-i", CONTAINERS / "zipformer-decoder.v4.0.dlc", "-m")
    lines = done.stdout.splitlines()
    checks.equal("text title", lines[0], f"DLC info of: {CONTAINERS / 'zipformer-decoder.v4.0.dlc'}")
    for line in ("Model Version: N/A", "Model Copyright:N/A", "Quantizer command: N/A",
                 "DLC created with converter version: 2.20.0.240223161333_83920",
                 "Info of graph: decoder-epoch-4-avg-1.fix",
                 "Total MACs per inference: 266k (100%)",
                 "Ops used by Graph: Cast, Conv2d, Eltwise_Binary, FullyConnected, Gather, Neuron, Reshape, Transpose"):
        checks.check(f"text has '{line}'", line in lines)
    checks.check("total parameters", any(line.startswith("Total parameters: 266752 (1 MB assuming single precision float")
                                         for line in lines))
    header = next(line for line in lines if line.startswith("| Id"))
    checks.equal("text columns", [cell.strip() for cell in header.strip("|").split("|")], COLUMNS)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if len(line) == len(header)]
    cells = {cell for row in rows for cell in row}
    for cell in ("y (data type: Int_32; tensor dimension: [1,2]; tensor type: APP_WRITE) [NW Input]",
                 "decoder.conv.weight (data type: Float_32; tensor dimension: [1,2,4,512]; tensor type: STATIC)",
                 "1x1x1x512", "pad_amount: [[0, 0], [0, 0]]", "max_value: 3.4028235e+38", "packageName: qti.aisw",
                 "param count: 262k (98.5%)", "param count: 4k (1.54%)", "MACs per inference: 262k (98.5%)"):
        checks.check(f"text has cell '{cell}'", cell in cells)
    checks.check("memory", any(line.startswith("Est. Steady-State Memory Needed to Run: 2.0 MiB") for line in lines))
    conv = next(i for i, row in enumerate(rows) if "/decoder/conv/Conv_2d" in row)
    names = [row[7].split(":")[0] for row in rows[conv:conv + 9]]
    checks.equal("order of parameters", names,
                 ["bias_op_name", "dilation", "group", "packageName", "pad_amount", "padding_size_strategy", "stride",
                  "param count", "MACs per inference"])


def csv_and_patterns(checks, folder):
    path = folder / "nodes.csv"
    container = CONTAINERS / "zipformer-decoder.v4.0.dlc"
    checks.equal("csv status", run("dlc-info", "-i", container, "-s", path).returncode, 0)
    raw = path.read_bytes().decode()
    rows = list(csv.reader(io.StringIO(raw, newline="")))
    checks.equal("csv header", rows[0], COLUMNS)
    checks.equal("csv rows", (len(rows), {len(row) for row in rows}), (16, {8}))
    checks.check("csv line ends", raw.endswith("\r\n"))
    conv = next(row for row in rows if row[1] == "/decoder/conv/Conv_2d")
    checks.equal("csv cell of several lines", conv[7].split("\n")[1], "dilation: [1, 1]")
    done = run("dlc-info", "-i", container, "--json", "--nodes", "*Conv*nhwc")
    graph = json.loads(done.stdout)["graphs"][0]
    checks.equal("pattern", [n["name"] for n in graph["nodes"]], ["/decoder/conv/Conv_reshape_to_2d.nhwc"])
    checks.equal("totals under a pattern", graph["parameters"], 266752)
    checks.equal("csv in a missing folder", run("dlc-info", "-i", container, "-s", folder / "no" / "x.csv").returncode, 1)


def block_32(checks):
    report, graph = load(checks, "block_32_quantized.v4.1.dlc")
    checks.equal("block_32 format", report["format"], {"major": 4, "minor": 1, "params": "bin"})
    checks.equal("block_32 entries", sorted(e["name"] for e in report["entries"]),
                 ["dlc.metadata2.2.0", "model", "model.params", "model.params.bin"])
    checks.equal("block_32 types", types_of(graph), {"MatMul": 1})
    checks.equal("block_32 io", (graph["inputs"], graph["outputs"]), (["lhs"], ["output"]))
    for name in ("lhs", "output"):
        tensor = tensor_of(graph, name)
        checks.equal(f"block_32 {name}", (tensor["dims"], tensor["dtype"]), ([1, 1, 128, 256], "Float_16"))
    checks.equal("block_32 constants", sum(t["elements"] for t in graph["tensors"] if t["kind"] == "STATIC"), 65536)
    # [128,256] times [256,256]
    checks.equal("block_32 macs", graph["macs"], 128 * 256 * 256)


def selu_udo(checks):
    report, graph = load(checks, "selu-udo.v3.dlc")
    checks.equal("selu format", (report["format"]["major"], report["format"]["minor"]), (3, 0))
    checks.equal("selu types", types_of(graph),
                 {"Input": 1, "Convolutional": 1, "Pooling": 1, "FullyConnected": 2, "Neuron": 1, "UDO": 1})
    udo = node_of(graph, "StatefulPartitionedCall/sequential/output/Selu")
    checks.equal("selu package", udo["package"], "SeluUdoPackage")
    checks.equal("selu udo_type", attributes_of(udo)["udo_type"], "Selu")
    # 3x3x1x28 weights at 26x26 positions; 128x4732; 10x128; with their biases
    conv = node_of(graph, "StatefulPartitionedCall/sequential/input/Conv2D")
    checks.equal("selu conv", (conv["parameters"], conv["macs"]), (252 + 28, 26 * 26 * 252))
    checks.equal("selu totals", (graph["parameters"], graph["macs"]),
                 (280 + 128 * 4732 + 128 + 1280 + 10, 26 * 26 * 252 + 128 * 4732 + 1280))
    text = run("dlc-info", "-i", CONTAINERS / "selu-udo.v3.dlc").stdout
    checks.check("selu text", "udo_type: Selu" in text and "package_name: SeluUdoPackage" in text)


def other_v3(checks):
    _, graph = load(checks, "test_abs_q.v3.dlc")
    checks.equal("abs types", types_of(graph), {"Input": 1, "ElementwiseUnaryOp": 1})
    checks.equal("abs output", tensor_of(graph, "y")["dims"], [3, 4, 5])
    report, graph = load(checks, "mobilenetv3-htp-cache.v3.dlc")
    checks.equal("mobilenet types", types_of(graph),
                 {"Neuron": 41, "Convolutional": 34, "ElementwiseBinaryOp": 24, "Permute": 18, "FullyConnected": 18,
                  "Pooling": 9, "Const": 9, "Reshape": 9, "Input": 1})
    checks.equal("mobilenet layers", len(graph["nodes"]), 163)
    checks.check("mobilenet cache", any(e["name"] == "backend.metadata0" for e in report["entries"]))
    first = node_of(graph, "Conv_0")
    checks.equal("mobilenet conv", (first["parameters"], first["macs"]), (160, 56 * 56 * 144))


def expect_refusal(checks, name, path, words):
    for more in ([], ["--json"]):
        done = run("dlc-info", "-i", path, *more)
        checks.equal(f"{name} status", (done.returncode, done.stdout), (1, ""))
        checks.check(f"{name} message", words in done.stderr, done.stderr)
    line = json.loads(done.stderr.splitlines()[0])
    checks.equal(f"{name} severity", line["severity"], "error")


def not_containers(checks, folder):
    garbage = folder / "garbage.dlc"
    garbage.write_bytes(bytes(range(256)) * 8)
    expect_refusal(checks, "garbage", garbage, "not a DLC container")
    empty = folder / "empty.dlc"
    empty.write_bytes(b"")
    expect_refusal(checks, "empty", empty, "not a DLC container")
    expect_refusal(checks, "missing", folder / "missing.dlc", "cannot open")
    expect_refusal(checks, "folder", folder, "not a regular file")


def usage(checks):
    done = run("dlc-info")
    checks.equal("no arguments", (done.returncode, "--input_dlc is required" in done.stderr), (2, True))
    done = run("dlc-info", "-i", "x", "--sav")
    checks.equal("missing value", (done.returncode, "--save needs a value" in done.stderr), (2, True))
    done = run("dlc-info", "--help")
    checks.equal("help", (done.returncode, done.stdout.startswith("Usage: dlc-info"), done.stderr), (0, True, ""))
    done = run("dlc-info", "--version")
    checks.equal("version", (done.returncode, done.stdout.startswith("dlc-info (OpenDLC) ")), (0, True))


def main():
    checks = Checks()
    usage(checks)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        not_containers(checks, folder)
        if CONTAINERS.is_dir():
            for part in (add2_float, add2_uint8, zipformer, zipformer_text, block_32, selu_udo, other_v3):
                part(checks)
            csv_and_patterns(checks, folder)
        else:
            checks.skip("real containers", f"{CONTAINERS} is not there")
    checks.finish()


main()
