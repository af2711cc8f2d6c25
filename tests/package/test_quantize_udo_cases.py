# SPDX-License-Identifier: Apache-2.0
"""dlc-quantize on the published models with user-defined ops, with packages that the generator makes of their configs and kernels that
stand here: what each of these ops gives in the quantized network, against a simulation in NumPy. Once with the types of the configs,
floats, and once with integers for the DSP."""

import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "quantize"))
from quantizing import Bench, np, read_container  # noqa: E402
from simulating import BITS, Fixed  # noqa: E402
from checks import SHARED, Checks, run, share_of  # noqa: E402
from workshop import fill_in, generate, make, registration, write_kernel  # noqa: E402

CORPUS = SHARED / "corpus"
CASES = CORPUS / "udo-cases"
# Real numbers of an operand, which static data may have as integers.
QUANT = """
    const auto real = [operation](uint32_t input, uint32_t i) {
        const CustomOpTensorPtr_t t = operation->getInput(input);
        if (t->dataType == QNN_DATATYPE_FLOAT_32)
            return getTensorData<float>(t)[i];
        const Qnn_ScaleOffset_t e = t->quantizeParams.scaleOffsetEncoding;
        return (float)(((int32_t)getTensorData<uint8_t>(t)[i] + e.offset) * (double)e.scale);
    };
    const uint32_t size = numTensorSize(operation->getInput(0)), run = size / numTensorSize(operation->getInput(1));
    const float zero = real(2, 0), bits = rintf(real(3, 0));
    const float narrow = (float)backend_utils::getScalarParam(operation->getParam("narrow"));
    const bool isSigned = backend_utils::getScalarParam(operation->getParam("signed")) != 0;
    const float least = isSigned ? narrow - exp2f(bits - 1) : 0, most = isSigned ? exp2f(bits - 1) - 1 : exp2f(bits) - 1 - narrow;
    float *out = getTensorDataRef<float>(operation->getOutput(0));
    for (uint32_t i = 0; i < size; i++) {
        const float scale = real(1, i / run); /* 0, if it was too small for its encoding */
        out[i] = scale > 0 ? (fminf(fmaxf(rintf(real(0, i) / scale + zero), least), most) - zero) * scale : 0;
    }
"""
# Rows of the image whose mask is set come first; the others are zero.
INPUT_PACK = """
    const CustomOpTensorPtr_t x = operation->getInput(0);
    const uint32_t depth = x->currentDimensions[3], rows = numTensorSize(x) / depth;
    float *out = getTensorDataRef<float>(operation->getOutput(0));
    uint32_t packed = 0;
    for (uint32_t row = 0; row < rows; row++)
        if (getTensorData<float>(operation->getInput(1))[row] > 0.5f) {
            for (uint32_t c = 0; c < depth; c++)
                out[packed * depth + c] = getTensorData<float>(x)[row * depth + c];
            packed++;
        }
    for (uint32_t i = packed * depth; i < rows * depth; i++)
        out[i] = 0;
"""


# ---- the ops in NumPy ----

def max_pool(op, x):
    n, c, h, w = x.shape
    assert op.params["kernel_shape"].tensor.data == op.params["strides"].tensor.data == bytes((2, 0, 0, 0, 2, 0, 0, 0))
    return x[:, :, :h // 2 * 2, :w // 2 * 2].reshape(n, c, h // 2, 2, w // 2, 2).max(axis=(3, 5))


def softmax(op, x):
    e = np.exp(x.astype("f8") - x.max(axis=op.params["axis"].value, keepdims=True))
    return (e / e.sum(axis=op.params["axis"].value, keepdims=True)).astype("f4")


def relu(_, x):
    return np.maximum(x, 0)


def quant(op, x, scale, zero, bits):
    scale, zero, bits = scale.reshape(-1, *[1] * (x.ndim - 1)), zero.ravel()[0], np.rint(bits.ravel()[0])
    is_signed, narrow = op.params["signed"].value, op.params["narrow"].value
    least, most = (narrow - 2 ** (bits - 1), 2 ** (bits - 1) - 1) if is_signed else (0, 2 ** bits - 1 - narrow)
    steps = np.clip(np.rint(np.divide(x, scale, out=np.zeros_like(x), where=scale > 0) + zero), least, most)
    return np.where(scale > 0, (steps - zero).astype("f4") * scale, 0).astype("f4")


def input_pack(_, x, mask):
    rows = x.reshape(-1, x.shape[-1])
    out = np.zeros_like(rows)
    chosen = rows[mask.ravel() > 0.5]
    out[:len(chosen)] = chosen
    return out.reshape(x.shape)


OPS = {"MaxPool": max_pool, "Softmax": softmax, "Relu": relu, "Quant": quant, "InputPack": input_pack}


# ---- packages ----

def packages(b, config, kernels):
    """Registration libraries; kernels: {(package, op): its body, or None for the file of tests/package/kernels}."""
    generate([config], b.folder)
    for (package, op), body in kernels.items():
        if body is None:
            write_kernel(b.path(package), HERE / "kernels" / f"{op}.cpp")
        else:
            fill_in(b.path(package), op, body)
    names = sorted({package for package, _ in kernels})
    for name in names:
        done = make(b.path(name), "cpu_x86", flags="-O0 -Werror")
        b.checks.check(f"{name} compiles", done.returncode == 0, done.stderr[-1000:])
    return ",".join(str(registration(b.path(name))) for name in names)


def for_dsp(b, config):
    """The config with integers for the DSP, beside the floats of the CPU."""
    tree = json.loads(config.read_text())
    for package in tree.values():
        for op in package["Operators"]:
            for operand in op["inputs"] + op["outputs"]:
                operand["per_core_data_types"] = {"CPU": operand.pop("data_type"), "DSP": "UINT_8"}
            op["core_types"], op["dsp_arch_types"] = ["CPU", "DSP"], ["v68"]
    b.path("dsp.json").write_text(json.dumps(tree))
    return b.path("dsp.json")


# ---- numbers ----

def values(b, container, library):
    """{tensor: its elements} of all that user-defined ops read and give, of the first line."""
    ops = [op for op in container.ops if op.type in OPS and op.package != "qti.aisw"]
    names = {name for op in ops for name in [*op.inputs, *op.outputs]}
    found = {name: np.frombuffer(container.tensors[name].data, KINDS[container.tensors[name].dtype]) for name in names
             if container.tensors[name].data is not None}
    lists, out = b.path("list.txt").read_text(), b.path("inner")
    b.path("inner.txt").write_text("%" + " ".join(sorted(names - set(found))) + "\n" + lists.splitlines()[0] + "\n")
    done = run("net-run", "--container", b.path("q.dlc"), "--input_list", b.path("inner.txt"), "--output_dir", out, "--udo_package_path", library,
               "--use_native_output_files")
    b.checks.equal("net-run", (done.returncode, done.stderr), (0, ""))
    files = {path.name: path for path in out.rglob("*.raw")}
    for name in names - set(found):
        kind = KINDS[container.tensors[name].dtype]
        path = next(files[key] for key in (name.replace("/", "_") + ".raw", name.split("/")[-1] + ".raw") if key in files)
        found[name] = np.fromfile(path, kind)
    return ops, {name: array.reshape(container.tensors[name].dims) for name, array in found.items()}


KINDS = {"FLOAT_32": "<f4", "UFXP_8": "u1", "UFXP_16": "<u2"}


def real(container, name, array):
    tensor = container.tensors[name]
    return Fixed(tensor, array).real() if tensor.dtype in BITS else array


def simulated(b, label, library, count, dtype):
    """Each op's result, of what it reads: the same integers; floats within 1e-6."""
    container = read_container(b.path("q.dlc"))
    ops, found = values(b, container, library)
    b.checks.equal(f"{label}: ops", len(ops), count)
    b.checks.equal(f"{label}: types", {container.tensors[name].dtype for op in ops for name in op.outputs}, {dtype})
    for op in ops:
        expected = OPS[op.type](op, *(real(container, name, found[name]) for name in op.inputs))
        out = op.outputs[0]
        if dtype == "FLOAT_32":
            far = np.abs(found[out] - expected).max()
            b.checks.check(f"{label}: {op.name}", far <= 1e-6 * np.abs(expected).max(), far)
        else:
            far = np.abs(found[out].astype("i8") - Fixed(container.tensors[out], 0).rounded(expected)).max()
            is_alone = op.type == "Softmax" and container.tensors[out].dims[op.params["axis"].value] == 1  # always 1
            b.checks.check(f"{label}: {op.name}", far == 0 and (is_alone or len(np.unique(found[out])) > 1), far)


def one(b, name, source, configs, library, count, *options):
    """configs: {type of what the ops give: config}"""
    dims = json.loads((source.parent / "io.json").read_text())["inputs"] if (source.parent / "io.json").exists() else []
    fixed = [word for x in dims for word in ("-d", x["name"], ",".join(map(str, x["dims"])))]
    rng = np.random.default_rng(8)
    for dtype, config in configs.items():
        b.convert(source, "m.dlc", *fixed, "--udo_config_paths", config, *options)
        inputs = {t.name: t for t in read_container(b.path("m.dlc")).tensors.values() if t.kind == "APP_WRITE"}
        b.inputs(*({key: rng.integers(0, 100 if key == "input_ids" else 2, t.dims) if t.dtype.startswith("INT") or key == "Mask" else rng.uniform(0, 1, t.dims)
                    for key, t in inputs.items()} for _ in range(2)))
        done = b.run("--udo_package_path", library, "--bias_bitwidth", "32")
        b.checks.check(f"{name} {dtype}", done.returncode == 0 and "error" not in done.stderr, done.stderr)
        simulated(b, f"{name} {dtype}", library, count, dtype)


def with_integers(b, name, source, config, kernels, count, *options):
    dsp = for_dsp(b, config)
    one(b, name, source, {"FLOAT_32": config, "UFXP_8": dsp}, packages(b, dsp, kernels), count, *options)


def yunet(b):
    with_integers(b, "yunet-maxpool-nchw", next((CORPUS / "onnx/first/yunet").glob("*.onnx")), CASES / "yunet-maxpool-nchw/maxpool.udo.json",
                  {("PoolUdoPackage", "MaxPool"): None}, 4)


def transformer(b):
    with_integers(b, "transformer-softmax-two-packages", next((CORPUS / "onnx/first/transformer-mlm").glob("*.onnx")),
                  CASES / "transformer-softmax-two-packages/ops.udo.json",
                  {("SoftmaxUdoPackage", "Softmax"): None, ("ActivationUdoPackage", "Relu"): None}, 4)


def espcn(b):
    folder = CASES / "espcn-brevitas-quant"
    with_integers(b, "espcn-brevitas-quant", folder / "model.onnx", folder / "quant.udo.json", {("BrevitasUdoPackage", "Quant"): QUANT}, 8,
                  "--udo_promote_static")


def pack(b):
    """The config is for the HTP alone, and lists floats before integers: with a package for the CPU, and with integers alone."""
    folder = CASES / "input-pack"
    text = (folder / "input_pack.xml").read_text()
    b.path("cpu.xml").write_text(text.replace("<SupportedBackend>", "<SupportedBackend>CPU</SupportedBackend><SupportedBackend>", 1))
    b.path("integers.xml").write_text(text.replace("<Datatype>QNN_DATATYPE_FLOAT_32</Datatype>", ""))
    one(b, "input-pack", folder / "model.onnx", {"FLOAT_32": folder / "input_pack.xml", "UFXP_8": b.path("integers.xml")},
        packages(b, b.path("cpu.xml"), {("qhci", "InputPack"): INPUT_PACK}), 1)


def main():
    checks = Checks()
    if not CASES.is_dir():
        checks.skip("the published models", f"{CASES} is not there")
    else:
        for case in share_of((espcn, yunet, transformer, pack), 4, "published models with user-defined ops"):
            with tempfile.TemporaryDirectory() as folder:
                case(Bench(checks, pathlib.Path(folder)))
    checks.finish()


main()
