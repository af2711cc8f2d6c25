# SPDX-License-Identifier: Apache-2.0
"""dlc-quantize on user-defined ops: operands have the types that the config declares for a core, the package computes them for
ranges, and net-run takes what comes out, with static data in integers."""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "quantize"))
from quantizing import FLOAT, Bench, Model, np, read_container, stored, whole  # noqa: E402
from checks import SHARED, Checks  # noqa: E402
from workshop import HOST_LIBS, fill_in, generate, make, registration  # noqa: E402

CORPUS = SHARED / "corpus"
# The static operand comes in floats, or in integers with their encoding.
SCALE = """
    const CustomOpTensorPtr_t w = operation->getInput(1);
    float *out = getTensorDataRef<float>(operation->getOutput(0));
    for (uint32_t i = 0; i < numTensorSize(operation->getInput(0)); i++) {
        const uint32_t k = i % 3;
        float factor;
        if (w->dataType == QNN_DATATYPE_FLOAT_32) {
            factor = getTensorData<float>(w)[k];
        } else {
            const Qnn_ScaleOffset_t e = w->quantizeParams.scaleOffsetEncoding;
            factor = (float)(((int32_t)getTensorData<uint8_t>(w)[k] + e.offset) * (double)e.scale);
        }
        out[i] = getTensorData<float>(operation->getInput(0))[i] * factor;
    }
"""
CORES = {"CPU": "FLOAT_32", "DSP": "UINT_8"}
CONFIG = {"UdoPackage_0": {"UDO_PACKAGE_NAME": "Factors", "Operators": [
    {"type": "Scale", "domain": "test", "core_types": ["CPU", "DSP"], "dsp_arch_types": ["v68"],
     "inputs": [{"name": "x", "per_core_data_types": CORES}, {"name": "w", "per_core_data_types": CORES, "static": True}],
     "outputs": [{"name": "y", "per_core_data_types": CORES, "shape": "same_as in0"}]}]}}
LINE = np.array([[-2.0, 0.5, 3.0], [1.0, -0.25, 2.5]], "f4")
FACTORS = np.array([2.0, -1.5, 0.75], "f4")


def model():
    """x → Relu → Scale → Sigmoid → y"""
    m = Model(opset=13, domains=["test"])
    m.tensor("w", FLOAT, [3], FACTORS.tolist())
    m.input("x", FLOAT, [2, 3])
    m.node("Relu", ["x"], ["r"], name="relu")
    m.node("Scale", ["r", "w"], ["s"], name="scale", domain="test")
    m.node("Sigmoid", ["s"], ["y"], name="sigmoid")
    m.output("y", FLOAT, [2, 3])
    return m


def package_of(b, config, name, op, body):
    generate([config], b.folder)
    fill_in(b.path(name), op, body)
    done = make(b.path(name), "cpu_x86")
    b.checks.equal(f"{name} compiles", done.returncode, 0)
    return registration(b.path(name))


def real(q, tensor):
    scale, offset = tensor.encodings[0]
    return (q.astype("f8") + offset) * scale


def rounded(values, tensor):
    scale, offset = tensor.encodings[0]
    return np.clip(np.rint((values.astype("f4") / np.float64(scale)).astype("f4")) - offset, 0, 255)


def own(b):
    b.path("ops.json").write_text(json.dumps(CONFIG))
    library = package_of(b, b.path("ops.json"), "Factors", "Scale", SCALE)
    b.convert(model(), "m.dlc", "--udo_config_paths", b.path("ops.json"))
    b.inputs(LINE)
    done = b.run()
    b.checks.check("without the package", done.returncode == 1 and "Factors" in done.stderr and "--udo_package_path" in done.stderr,
                   done.stderr)
    b.checks.check("nothing is written", not b.path("q.dlc").exists())
    q = b.quantize("--udo_package_path", library).tensors
    b.checks.equal("types", {name: q[name].dtype for name in "xrwsy"}, dict.fromkeys("xrwsy", "UFXP_8"))
    b.checks.equal("encodings", (q["w"].encodings, q["r"].encodings), ([whole(8, -1.5, 2)], [whole(8, 0, 3)]))
    relu = rounded(np.maximum(real(rounded(LINE, q["x"]), q["x"]).astype("f4"), 0), q["r"])
    factors = real(stored(q["w"]), q["w"]).astype("f4")
    scaled = rounded(real(relu, q["r"]).astype("f4") * factors, q["s"])
    expected = rounded((1 / (1 + np.exp(-real(scaled, q["s"])))).astype("f4"), q["y"])
    found = b.results(b.path("q.dlc"), "--use_native_output_files", "--udo_package_path", library)[0]["y.raw"]
    b.checks.equal("results", found.tolist(), expected.ravel().tolist())
    by_registration = b.path("q.dlc").read_bytes()
    implementation = b.path("Factors") / HOST_LIBS / "libUdoFactorsImplCpu.so"
    b.quantize("--op_packages", f"{implementation}:FactorsInterfaceProvider:CPU")
    b.checks.equal("by the provider", b.path("q.dlc").read_bytes() == by_registration, True)
    for value, word in ((implementation, "names no function"), (f"{implementation}:Nobody", "Nobody")):
        done = b.run("--op_packages", value)
        b.checks.check(f"--op_packages {value}", done.returncode != 0 and word in done.stderr, done.stderr)
    q = b.quantize("--udo_package_path", library, "--udo_core", "CPU")
    b.checks.equal("floats for the CPU", (q.tensors["w"].dtype, q.tensors["s"].dtype), ("FLOAT_32", "FLOAT_32"))
    b.checks.equal("what stands around them", [op.type for op in q.ops if "antize" in op.type], ["Dequantize", "Quantize"])
    b.results(b.path("q.dlc"), "--udo_package_path", library)


HARD_SIGMOID = """
    const float alpha = (float)backend_utils::getScalarParam(operation->getParam("alpha"));
    const float beta = (float)backend_utils::getScalarParam(operation->getParam("beta"));
    float *out = getTensorDataRef<float>(operation->getOutput(0));
    for (uint32_t i = 0; i < numTensorSize(operation->getInput(0)); i++) {
        const float y = alpha * getTensorData<float>(operation->getInput(0))[i] + beta;
        out[i] = y < 0 ? 0 : y > 1 ? 1 : y;
    }
"""


def published(b):
    """A classifier whose HardSigmoids are the package's: near to what floats give."""
    source = next(iter((CORPUS / "onnx" / "first" / "ppocr-cls").glob("*.onnx")), None)
    if not source:
        b.checks.skip("ppocr-hardsigmoid", "../shared is not there")
        return
    config = CORPUS / "udo-cases" / "ppocr-hardsigmoid" / "hardsigmoid.udo.json"
    library = package_of(b, config, "HardSigmoidUdoPackage", "HardSigmoid", HARD_SIGMOID)
    sizes = json.loads((source.parent / "io.json").read_text())["inputs"][0]
    b.convert(source, "m.dlc", "-d", sizes["name"], ",".join(map(str, sizes["dims"])), "--udo_config_paths", config)
    shape = next(t.dims for t in read_container(b.path("m.dlc")).tensors.values() if t.kind == "APP_WRITE")
    b.inputs(np.random.default_rng(6).uniform(-1, 1, shape))
    floats = b.results(b.path("m.dlc"), "--udo_package_path", library)[0]
    q = b.quantize("--udo_package_path", library, "--bias_bitwidth", "32", "--use_per_channel_quantization")
    ops = [op for op in q.ops if op.type == "HardSigmoid"]
    b.checks.equal("nodes of the package", (len(ops), {q.tensors[op.outputs[0]].dtype for op in ops}), (9, {"UFXP_8"}))
    found = b.results(b.path("q.dlc"), "--udo_package_path", library)[0]
    for name, values in floats.items():
        b.checks.check(f"{name} is near", np.abs(found[name] - values).max() < 0.1, np.abs(found[name] - values).max())


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        own(Bench(checks, folder))
    with tempfile.TemporaryDirectory() as folder:
        published(Bench(checks, folder))
    checks.finish()


main()
