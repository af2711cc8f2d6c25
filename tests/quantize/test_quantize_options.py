# SPDX-License-Identifier: Apache-2.0
"""dlc-quantize: encodings that are given and that are dumped, schemas, widths, and what a container keeps."""

import json
import tempfile

from quantizing import FLOAT, Bench, Model, f32, integers, np, read_container, stored, whole
from checks import Checks, run


def chain(rng, quantized=False):
    """x → Conv → Relu → y; with a QuantizeLinear and a DequantizeLinear in between, `quantized`."""
    m = Model(opset=13)
    m.tensor("w", FLOAT, [4, 3, 3, 3], rng.uniform(-1, 1, 108).astype("f4").tolist())
    m.tensor("b", FLOAT, [4], [0.5, -0.25, 1.0, 0.0])
    m.input("x", FLOAT, [1, 3, 6, 6])
    m.node("Conv", ["x", "w", "b"], ["c"], pads=[1] * 4)
    if quantized:
        m.tensor("scale", FLOAT, [], [0.03125])
        m.tensor("zero", 2, [], [100])
        m.node("QuantizeLinear", ["c", "scale", "zero"], ["cq"])
        m.node("DequantizeLinear", ["cq", "scale", "zero"], ["cd"])
    m.node("Sigmoid" if quantized else "Relu", ["cd" if quantized else "c"], ["y"])
    m.output("y", FLOAT, [1, 4, 6, 6])
    return m


def prepare(b, *options, quantized=False):
    rng = np.random.default_rng(11)
    b.convert(chain(rng, quantized), "m.dlc", *options)
    b.inputs(*(rng.uniform(-1, 1, (1, 6, 6, 3)) for _ in range(2)))


def given(b):
    """A file of encodings: ranges, widths alone, channels; what it does not name is observed."""
    prepare(b)
    file = b.path("e.json")
    channels = [{"bitwidth": 8, "is_symmetric": "True", "min": -m, "max": m} for m in (1.0, 1.5, 2.0, 2.5)]
    file.write_text(json.dumps({"activation_encodings": {"x": [{"bitwidth": 8, "min": -2, "max": 3.1}],
                                                         "y": [{"bitwidth": 16}]},
                                "param_encodings": {"w": channels}}))
    q = b.quantize("--quantization_overrides", file)
    x, w, y = (q.tensors[name] for name in "xwy")
    b.checks.equal("x", (x.dtype, x.encodings, x.overridden), ("UFXP_8", [whole(8, -2, 3.1)], True))
    b.checks.equal("w", (w.dtype, w.axis, w.overridden), ("SFXP_8", 3, True))
    b.checks.equal("scales of w", [scale for scale, _ in w.encodings], [f32(m / 127) for m in (1.0, 1.5, 2.0, 2.5)])
    info = run("dlc-info", "-i", b.path("q.dlc")).stdout
    for name, text, is_given in (("x", "encoding : bitwidth 8", True), ("w", "encodings : 4 along axis 3, bitwidth 8", True),
                                 ("y", "encoding : bitwidth 16", False)):
        lines = [line for line in info.splitlines() if f"| {name} {text}" in line or f" {name} {text}" in line]
        b.checks.equal(f"{name} is said to be overridden", {"overridden" in line for line in lines}, {is_given})
    data = json.loads(run("dlc-info", "-i", b.path("q.dlc"), "--json").stdout)["graphs"][0]["tensors"]
    b.checks.equal("in JSON", {t["name"]: t["quantization"]["is_overridden"] for t in data if t["name"] in "xwy"},
                   {"x": True, "w": True, "y": False})
    array = np.frombuffer(read_container(b.path("m.dlc")).tensors["w"].data, "<f4").reshape(3, 3, 3, 4)
    scales = np.array([scale for scale, _ in w.encodings])
    b.checks.check("integers of w", np.array_equal(stored(w), integers(array, 8, scales, 0, True)))
    b.checks.equal("y, of 16 bits", (y.dtype, y.overridden), ("UFXP_16", False))
    b.checks.equal("c has y's", q.tensors["c"].encodings, y.encodings)
    # A width alone is the tensor's own: the layer before a Relu does not get the Relu's.
    file.write_text(json.dumps({"activation_encodings": {"c": [{"bitwidth": 16}]}, "param_encodings": {}}))
    q = b.quantize("--quantization_overrides", file)
    b.checks.equal("c, of 16 bits", (q.tensors["c"].dtype, q.tensors["y"].dtype), ("UFXP_16", "UFXP_8"))
    b.checks.check("c has a range of its own", q.tensors["c"].encodings[0][1] < 0, q.tensors["c"].encodings)
    # All that is computed: nothing needs to be observed.
    file.write_text(json.dumps({"activation_encodings": {name: [{"bitwidth": 8, "min": -2, "max": 3}] for name in "xcy"},
                                "param_encodings": {}}))
    q = b.quantize("--quantization_overrides", file, listed=False)
    b.checks.equal("without inputs", q.tensors["c"].encodings, [whole(8, -2, 3)])


def dumped(b):
    """Encodings that are dumped, given again, make the same container."""
    prepare(b)
    options = ["--bias_bitwidth", "32", "--use_per_channel_quantization"]
    first = b.quantize(*options, "--dump_encodings", b.path("d.json"))
    said = json.loads(b.path("d.json").read_text())
    b.checks.equal("named", [set(said[key]) for key in ("activation_encodings", "param_encodings")], [set("xcy"), set("wb")])
    entry = said["activation_encodings"]["x"][0]
    b.checks.equal("x as it is stored", [(f32(entry["scale"]), entry["offset"])], first.tensors["x"].encodings)
    b.path("first.dlc").write_bytes(b.path("q.dlc").read_bytes())
    second = b.quantize("--quantization_overrides", b.path("d.json"), listed=False)
    done = run("dlc-diff", "-i1", b.path("first.dlc"), "-i2", b.path("q.dlc"), "--encodings", "--json")
    records = {r["subject"]: (r["first"], r["second"]) for r in json.loads(done.stdout)["differences"]}
    b.checks.equal("a difference", {name: ("overridden" in was, "overridden" in becomes) for name, (was, becomes) in records.items()},
                   {name: (False, True) for name in "xcywb"})
    for name, tensor in first.tensors.items():
        again = second.tensors[name]
        b.checks.equal(f"{name} again", (again.dtype, [o for _, o in again.encodings]), (tensor.dtype, [o for _, o in tensor.encodings]))
        far = max((abs(x / y - 1) for (x, _), (y, _) in zip(again.encodings, tensor.encodings)), default=0)
        b.checks.check(f"{name}: scales again", far < 3e-7, far)


def carried(b):
    """Encodings that the container carries are kept, unless they are to be ignored."""
    prepare(b, "--qdq", "encodings", quantized=True)
    before = [t for t in read_container(b.path("m.dlc")).tensors.values() if t.overridden]
    b.checks.equal("carried", [t.encodings for t in before], [[(0.03125, -100)]])
    name = before[0].name
    for option in ((), ("--override_params",)):
        kept = b.quantize(*option).tensors[name]
        b.checks.equal(f"kept {option}", (kept.dtype, kept.encodings, kept.overridden), ("UFXP_8", [(0.03125, -100)], True))
    lost = b.quantize("--ignore_encodings").tensors[name]
    b.checks.check("ignored", lost.encodings != [(0.03125, -100)] and not lost.overridden, lost.encodings)


def schemas(b):
    prepare(b)
    w = np.frombuffer(read_container(b.path("m.dlc")).tensors["w"].data, "<f4")
    middle = (f32(np.abs(w).max() / 127), -128)
    for options in (["--param_quantizer_schema", "symmetric"], ["--use_symmetric_quantize_weights"],
                    ["--param_quantizer", "symmetric"], ["--param_quantizer_schema", "unsignedsymmetric"]):
        found = b.quantize(*options).tensors["w"]
        b.checks.equal(f"{options}", (found.dtype, found.encodings), ("UFXP_8", [middle]))
    y = {schema: b.quantize("--act_quantizer_schema", schema).tensors["y"].encodings[0][1]
         for schema in ("asymmetric", "symmetric", "unsignedsymmetric")}
    b.checks.equal("offsets of what is never negative", y, {"asymmetric": 0, "symmetric": -128, "unsignedsymmetric": 0})
    b.checks.equal("--bitwidth", {t.dtype for t in b.quantize("--bitwidth", "16").tensors.values()}, {"UFXP_16", "UFXP_8"})


def kept(b):
    """Metadata, and the type that tensors were of."""
    prepare(b)
    before = read_container(b.path("m.dlc")).metadata
    q = b.quantize("--bias_bitwidth", "32")
    command = q.metadata.pop("quantizer-command")
    before.pop("quantizer-command")
    b.checks.equal("metadata", q.metadata, before)
    b.checks.check("command", command.startswith("dlc-quantize input_dlc=") and command.endswith("bias_bitwidth=32"), command)
    done = b.run("--enable_htp", "--htp_socs", "sm8650")
    b.checks.equal("for targets", (done.returncode, done.stderr.count("caches")), (0, 1))


# Words of other tools: what they are called here, and those that change nothing here.
ALIASES = ((["--axis_quant"], ["--use_per_channel_quantization"]), (["--use_native_dtype"], []),
           (["--ignore_quantization_overrides"], ["--ignore_encodings"]),
           (["--algorithms", "bc"], ["--optimizations", "bc"]), (["--apply_algorithms", "bc"], ["--optimizations", "bc"]),
           (["--use_adjusted_weights_quantizer"], ["--param_quantizer_calibration", "adjusted"]),
           (["--use_enhanced_quantizer"], ["--act_quantizer_calibration", "sqnr", "--param_quantizer_calibration", "sqnr"]),
           (["--use_enhanced_quantizer", "weights"], ["--param_quantizer", "enhanced"]),
           (["--use_enhanced_quantizer", "activations"], ["--act_quantizer", "enhanced"]),
           (["--act_quantizer", "adjusted"], ["--act_quantizer_calibration", "adjusted"]),
           (["--param_quantizer", "tf"], []))
WITHOUT_EFFECT = ("enable_htp", "htp_socs=sm8650,sm8550", "overwrite_cache_records", "target_backend=HTP", "target_soc_model=SM8650",
                  "use_dynamic_16_bit_weights", "include_data_invariant_ops", "calc_static_encodings", "disable_relu_squashing",
                  "adjust_bias_encoding", "use_encoding_optimizations", "op_package_lib=libOps.so:provider", "use_aimet_quantizer",
                  "config=aimet.yaml", "export_stripped_dlc", "use_native_output_files")


def spellings(b):
    prepare(b, "--qdq", "encodings", quantized=True)

    def tensors(*options):
        return {name: (t.dtype, t.encodings, t.axis, t.data) for name, t in b.quantize(*options).tensors.items()}
    for theirs, ours in ALIASES:
        b.checks.equal(f"{theirs} is {ours}", tensors(*theirs), tensors(*ours))
    for option in ("--dump_encoding_json", "--dump_encodings"):
        b.quantize(option, b.path(option))
    b.checks.equal("encodings dumped by both words", b.path("--dump_encoding_json").read_text(), b.path("--dump_encodings").read_text())
    plain = tensors()
    done = b.run(*(word for option in WITHOUT_EFFECT for word in f"--{option}".split("=")))
    reasons = [line.partition("has no effect: ")[2] for line in done.stderr.splitlines()]
    b.checks.equal("words without effect", (done.returncode, len(reasons), len(set(reasons)), "" in reasons), (0, 7, 7, False))
    same = {name: (t.dtype, t.encodings, t.axis, t.data) for name, t in read_container(b.path("q.dlc")).tensors.items()}
    b.checks.equal("the container without them", same, plain)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for case in (given, dumped, carried, schemas, kept, spellings):
            case(Bench(checks, folder))
    checks.finish()


main()
