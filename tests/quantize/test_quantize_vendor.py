# SPDX-License-Identifier: Apache-2.0
"""The encodings of dlc-quantize against those that the vendor's quantizers chose for the same models, and the integers that they
stored for weights."""

import json
import re
import tempfile

from quantizing import Bench, np, stored
from checks import SHARED, Checks
from onnx_reader import graph_of, tensor_of, wire_fields

FIDELITY = SHARED / "corpus" / "fidelity"
CODES = {0x308: "SFXP_8", 0x332: "SFXP_32", 0x408: "UFXP_8"}


def vendor_tensors(path):
    """{name: (type, [(scale, offset)])}"""
    found = {}
    for name, tensor in json.loads(path.read_text())["graph"]["tensors"].items():
        quant = tensor["quant_params"]
        entries = [quant["scale_offset"]] if "scale_offset" in quant else quant["axis_scale_offset"]["scale_offsets"]
        found[name] = CODES[tensor["data_type"]], [(entry["scale"], entry["offset"]) for entry in entries]
    return found


def same_encodings(checks, where, tensor, expected):
    dtype, encodings = expected
    checks.equal(f"{where} type", tensor.dtype, dtype)
    checks.equal(f"{where} offsets", [offset for _, offset in tensor.encodings], [offset for _, offset in encodings])
    far = [abs(mine - theirs) / theirs for (mine, _), (theirs, _) in zip(tensor.encodings, encodings)]
    checks.check(f"{where} scales", max(far) <= 1e-6, max(far))


def matmul(b, name, values):
    folder = FIDELITY / "matmul-int8"
    b.convert(folder / "model.onnx")
    b.inputs(np.fromfile(folder / values, "<f4"))
    found = b.quantize("--quantization_overrides", folder / "quantization_overrides.json")
    expected = vendor_tensors(folder / f"vendor_{name}_net.json")
    ours = {"lhs": "lhs", "lhs_nchw": "lhs.nchw", "rhs_nchw": "rhs", "output": "output"}
    b.checks.equal(f"{name} tensors", set(expected), set(ours))
    for theirs, own in ours.items():
        same_encodings(b.checks, f"{name} {own}", found.tensors[own], expected[theirs])
    rhs = found.tensors["rhs"]
    b.checks.equal(f"{name} axis and origin", (rhs.axis, rhs.overridden), (3, True))
    initializers = [value for field, value in graph_of(folder / "model_qdq.onnx") if field == 5]
    weights = next(tensor_of(value).array for value in initializers if dict(wire_fields(value))[8] == b"rhs_quantized")
    b.checks.equal(f"{name} integers that differ", int((stored(rhs).reshape(256, 256) != weights).sum()), 0)


def carried(b):
    """Encodings that a model's own QuantizeLinear gives: per axis from -128 on, and its integers."""
    folder = FIDELITY / "matmul-int8"
    b.convert(folder / "model_qdq.onnx", "m.dlc", "--qdq", "encodings")
    found = b.quantize("--float_fallback", listed=False).tensors
    entries = json.loads((folder / "vendor_qdq_net.json").read_text())["graph"]["tensors"]
    theirs = entries["rhs_dequantized_nchw"]["quant_params"]["axis_scale_offset"]
    name, rhs = next((name, tensor) for name, tensor in found.items() if tensor.kind == "STATIC")
    same_encodings(b.checks, f"carried {name}", rhs, ("SFXP_8", [(e["scale"], e["offset"]) for e in theirs["scale_offsets"]]))
    b.checks.equal("carried axis", rhs.axis, theirs["axis"])
    far = max(abs(least / e["minimum"] - 1) for (least, _), e in zip(rhs.encoding_ranges, theirs["scale_offsets"]))
    b.checks.check("carried ranges begin at -128 scales", far < 1e-6, far)
    initializers = [value for field, value in graph_of(folder / "model_qdq.onnx") if field == 5]
    weights = next(tensor_of(value).array for value in initializers if dict(wire_fields(value))[8] == b"rhs_quantized")
    b.checks.equal("carried integers that differ", int((stored(rhs).reshape(256, 256) != weights).sum()), 0)
    for end in ("lhs", "output"):
        single = entries[end]["quant_params"]["scale_offset"]
        same_encodings(b.checks, f"carried {end}", found[end], ("UFXP_8", [(single["scale"], single["offset"])]))


def naf_block(b):
    folder = FIDELITY / "naf-block"
    b.convert(folder / "model.onnx", "m.dlc", "--target_release", "2.22")  # in which layers have zeros for a bias
    b.inputs(np.random.default_rng(7).uniform(-1, 1, (1, 512, 512, 4)))
    found = b.quantize("--bias_bitwidth", "32")
    constants = {re.sub(r"\W", "_", name): tensor for name, tensor in found.tensors.items() if tensor.kind == "STATIC"}
    expected = {name: tensor for name, tensor in vendor_tensors(folder / "vendor_net.json").items()
                if re.search("_(weight|bias)$", name)}
    compared = expected.keys() & constants.keys()
    b.checks.equal("constants that only the vendor has", expected.keys() - compared, set())
    for name in sorted(compared):
        same_encodings(b.checks, name, constants[name], expected[name])
    b.checks.equal("compared", len(compared), 17)


def main():
    checks = Checks()
    if not FIDELITY.is_dir():
        checks.skip("vendor's encodings", f"{FIDELITY} is not there")
        checks.finish()
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(checks, folder)
        matmul(b, "calibrated", "lhs_float.raw")
        matmul(b, "narrow", "narrow_lhs.raw")
        carried(b)
        naf_block(b)
    checks.finish()


main()
