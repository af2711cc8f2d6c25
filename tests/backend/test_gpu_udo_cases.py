# SPDX-License-Identifier: Apache-2.0
"""The published models with user-defined ops, whose packages have kernels for GPUs alone: what native operators, or NumPy, give. All
other nodes are executed as they are without a GPU, so that the tolerance is that of packages for the CPU."""

import json
import pathlib
import tempfile

from gpu_shop import fill_in_gpu
from workshop import HOST_LIBS, generate, make, registration
from checks import SHARED, Checks, run, share_of

try:
    import numpy as np
    from dlc_reader import read_container
    from model_case import Case, case_of_arrays, convert, execute, result
except ImportError:
    np = None

CORPUS = SHARED / "corpus"
CASES = CORPUS / "udo-cases"
BACKENDS = ["--backend", "cpu,reference,gpu"]  # the GPU gets what the others do not take

# Each of a package, op: the text of its kernels, and its setKernelInfo.
ELEMENTWISE = """
__kernel void each(__global const INPUT0 *x, __global OUTPUT0 *y, float alpha, float beta)
{
    const int i = get_global_id(0);
    y[i] = %s;
}
"""
HARD_SIGMOID = (ELEMENTWISE % "fmax(0.0f, fmin(1.0f, alpha * x[i] + beta))", """
    addKernel("each", kernelSource);
    addInput(0);
    addOutput(0);
    addArgument((float)getScalarParam("alpha"));
    addArgument((float)getScalarParam("beta"));
    setGlobalWorkSizes(numElements(getOutput(0)));
""")
RELU = (ELEMENTWISE % "x[i] > 0 ? x[i] : 0", """
    addKernel("each", kernelSource);
    addInput(0);
    addOutput(0);
    addArgument(0.0f);
    addArgument(0.0f);
    setGlobalWorkSizes(numElements(getOutput(0)));
""")
# Images are NCHW; a work-item an element of the output.
MAX_POOL = ("""
__kernel void largest(__global const INPUT0 *x, __global OUTPUT0 *y, __global const int *window, __global const int *strides,
                      __global const int *pads, int height, int width)
{
    const int column = get_global_id(0), row = get_global_id(1), image = get_global_id(2);
    const int top = row * strides[0] - pads[0], left = column * strides[1] - pads[1];
    float most = -INFINITY;
    for (int i = max(top, 0); i < min(height, top + window[0]); i++)
        for (int k = max(left, 0); k < min(width, left + window[1]); k++)
            most = fmax(most, x[(image * height + i) * width + k]);
    y[(image * get_global_size(1) + row) * get_global_size(0) + column] = most;
}
""", """
    const QnnGpu_MemoryObject_t &x = getInput(0), &y = getOutput(0);
    addKernel("largest", kernelSource);
    addInput(0);
    addOutput(0);
    addTensorParam("kernel_shape");
    addTensorParam("strides");
    addTensorParam("pads");
    addArgument(x.dimensions[2]);
    addArgument(x.dimensions[3]);
    setGlobalWorkSizes(y.dimensions[3], y.dimensions[2], y.dimensions[0] * y.dimensions[1]);
""")
# A work-item a line along the axis: its largest element, then the powers, then their parts of the sum.
SOFTMAX = ("""
__kernel void parts(__global const INPUT0 *x, __global OUTPUT0 *y, int count, int stride)
{
    const int line = get_global_id(0), first = line / stride * stride * count + line % stride;
    float most = x[first], sum = 0;
    for (int i = 1; i < count; i++)
        most = fmax(most, x[first + i * stride]);
    for (int i = 0; i < count; i++)
        sum += y[first + i * stride] = exp(x[first + i * stride] - most);
    for (int i = 0; i < count; i++)
        y[first + i * stride] /= sum;
}
""", """
    const QnnGpu_MemoryObject_t &x = getInput(0);
    int32_t axis = (int32_t)getScalarParam("axis");
    uint32_t stride = 1;
    axis += axis < 0 ? (int32_t)x.numDimensions : 0;
    for (uint32_t i = (uint32_t)axis + 1; i < x.numDimensions; i++)
        stride *= x.dimensions[i];
    addKernel("parts", kernelSource);
    addInput(0);
    addOutput(0);
    addArgument(x.dimensions[axis]);
    addArgument(stride);
    setGlobalWorkSizes(numElements(x) / x.dimensions[axis]);
""")
QUANT = ("""
__kernel void quantize(__global const INPUT0 *x, __global const INPUT1 *scale, __global const INPUT2 *zero,
                       __global const INPUT3 *bits, __global OUTPUT0 *y, int is_signed, int narrow)
{
    const int i = get_global_id(0);
    const float least = is_signed ? narrow - exp2(bits[0] - 1) : 0;
    const float most = is_signed ? exp2(bits[0] - 1) - 1 : exp2(bits[0]) - 1 - narrow;
    y[i] = (fmax(least, fmin(most, rint(x[i] / scale[0] + zero[0]))) - zero[0]) * scale[0];
}
""", """
    addKernel("quantize", kernelSource);
    for (uint32_t i = 0; i < numInputs(); i++)
        addInput(i);
    addOutput(0);
    addArgument((int32_t)getScalarParam("signed"));
    addArgument((int32_t)getScalarParam("narrow"));
    setGlobalWorkSizes(numElements(getOutput(0)));
""")
# Rows whose mask is set come first; the others are zero. A work-item a row.
INPUT_PACK = ("""
__kernel void pack(__global const INPUT0 *x, __global const INPUT1 *mask, __global OUTPUT0 *y, int depth)
{
    const int row = get_global_id(0), rows = get_global_size(0);
    int before = 0, all = 0;
    for (int i = 0; i < rows; i++) {
        before += i < row && mask[i] > 0.5f;
        all += mask[i] > 0.5f;
    }
    const int is_chosen = mask[row] > 0.5f, to = is_chosen ? before : all + row - before;
    for (int c = 0; c < depth; c++)
        y[to * depth + c] = is_chosen ? x[row * depth + c] : 0;
}
""", """
    const QnnGpu_MemoryObject_t &x = getInput(0);
    addKernel("pack", kernelSource);
    addInput(0);
    addInput(1);
    addOutput(0);
    addArgument(x.dimensions[x.numDimensions - 1]);
    setGlobalWorkSizes(numElements(x) / x.dimensions[x.numDimensions - 1]);
""")


def near(found, expected):
    """Largest difference, as a part of what is larger than one."""
    return float(np.max(np.abs(found - expected) / np.maximum(np.abs(expected), 1)))


# ---- packages ----

def for_gpu(config, folder):
    """The config with the GPU as its core."""
    tree = json.loads(config.read_text())
    for package in tree.values():
        for op in package["Operators"]:
            op["core_types"] = ["GPU"]
            op.pop("dsp_arch_types", None)
    path = folder / config.name
    path.write_text(json.dumps(tree))
    return path


def build(checks, config, kernels, folder):
    """Registration libraries; kernels: {(package, op): (text, setKernelInfo)}."""
    config = for_gpu(config, folder)
    done = generate([config], folder)
    checks.equal("generates", done.returncode, 0)
    names = sorted({package for package, _ in kernels})
    for (package, op), (text, info) in kernels.items():
        fill_in_gpu(folder / package, op, text, info)
    for name in names:
        done = make(folder / name, "gpu_x86", flags="-O0 -Werror")
        checks.check(f"{name} compiles", done.returncode == 0, done.stderr[-1500:])
    return config, ["--udo_package_path", ",".join(str(registration(folder / name)) for name in names)]


def converted(checks, case, folder, *more):
    folder.mkdir()
    done, dlc = convert(case, folder, *more)
    checks.check(f"{folder.name}: converts", done.returncode == 0, done.stderr[-600:])
    return dlc


def on_gpu(checks, folder, container, options):
    """Names of the container's nodes that the GPU executes; steps that copy tensors are none."""
    done = run("net-run", "--container", folder / "model.dlc", "--input_list", folder / "inputs.txt", "--output_dir", folder / "explained",
               "--use_native_input_files", "--explain=json", *BACKENDS, *options)
    if not checks.check("explains", done.returncode == 0, done.stderr[-600:]):
        return set()
    steps = json.JSONDecoder().raw_decode(done.stdout)[0]["steps"]
    on_it = {(step["node"], step["op"]) for step in steps if step["backend"] == "gpu"}
    return {op.name for op in container.ops if (op.name, op.type) in on_it}


# ---- cases ----

def against_native(checks, folder, model, config, kernels, count):
    """All outputs of the network are those that native operators give."""
    case = case_of_arrays(CORPUS / "onnx" / "first" / model)
    config, options = build(checks, CASES / config, kernels, folder)
    dlc = converted(checks, case, folder / "udo", config)
    plain_dlc = converted(checks, case, folder / "plain")
    done, container = execute(case, dlc, folder / "udo", options=[*BACKENDS, *options])
    checks.equal("net-run", (done.returncode, done.stderr), (0, ""))
    plain_done, plain = execute(case, plain_dlc, folder / "plain")
    checks.equal("plain", (plain_done.returncode, plain_done.stderr), (0, ""))
    udos = {op.name for op in container.ops if op.package != "qti.aisw"}
    checks.equal("nodes on the GPU", (len(udos), on_gpu(checks, folder / "udo", container, options)), (count, udos))
    for name in case.outputs if done.returncode == 0 else ():
        found, expected = result(folder / "udo", container, name), result(folder / "plain", plain, name)
        error = near(found, expected)
        checks.check(f"{name}: numbers", error <= 1e-6 and np.ptp(expected) > 0, f"off by {error:.2e}")


def classifier(checks, folder):
    against_native(checks, folder, "ppocr-cls", "ppocr-hardsigmoid/hardsigmoid.udo.json",
                   {("HardSigmoidUdoPackage", "HardSigmoid"): HARD_SIGMOID}, 9)


def detector(checks, folder):
    against_native(checks, folder, "yunet", "yunet-maxpool-nchw/maxpool.udo.json", {("PoolUdoPackage", "MaxPool"): MAX_POOL}, 4)


def transformer(checks, folder):
    against_native(checks, folder, "transformer-mlm", "transformer-softmax-two-packages/ops.udo.json",
                   {("SoftmaxUdoPackage", "Softmax"): SOFTMAX, ("ActivationUdoPackage", "Relu"): RELU}, 4)


def quantizers(checks, folder):
    """Each node is computed anew from what goes into it."""
    config, options = build(checks, CASES / "espcn-brevitas-quant" / "quant.udo.json", {("BrevitasUdoPackage", "Quant"): QUANT}, folder)
    x = np.random.default_rng(7).uniform(0, 1, (1, 3, 128, 128)).astype(np.float32)
    case = Case("quant", CASES / "espcn-brevitas-quant" / "model.onnx", {"x.7": x}, {"79": None})
    dlc = converted(checks, case, folder / "udo", config, ["--udo_promote_static"])
    whole = read_container(dlc)
    nodes = [op for op in whole.ops if op.type == "Quant"]
    seen = {name for op in nodes for name in (op.inputs[0], op.outputs[0]) if whole.tensors[name].data is None}
    done, container = execute(case, dlc, folder / "udo", sorted(seen), [*BACKENDS, *options])
    checks.equal("net-run", (done.returncode, done.stderr, len(nodes)), (0, "", 8))
    for op in nodes if done.returncode == 0 else ():
        tensors = [whole.tensors[name] for name in op.inputs]
        data = [np.frombuffer(t.data, "f4").reshape(t.dims) if t.data else result(folder / "udo", container, name)
                for name, t in zip(op.inputs, tensors)]
        scale, zero, bits = (values.ravel()[0] for values in data[1:])
        least = op.params["narrow"].value - 2 ** (bits - 1) if op.params["signed"].value else 0
        most = 2 ** (bits - 1) - 1 if op.params["signed"].value else 2 ** bits - 1 - op.params["narrow"].value
        expected = (np.clip(np.rint(data[0] / scale + zero), least, most) - zero) * scale
        error = near(result(folder / "udo", container, op.outputs[0]), expected)
        checks.check(op.name, error <= 1e-6 and len(np.unique(expected)) > 2, f"off by {error:.2e}")


def packer(checks, folder):
    """The config is XML, and for the HTP alone: here the package is one for the GPU, without a registration library."""
    text = (CASES / "input-pack" / "input_pack.xml").read_text()
    (folder / "gpu.xml").write_text(text.replace("<SupportedBackend>HTP", "<SupportedBackend>GPU"))
    done = run("qnn-op-package-generator", "-p", folder / "gpu.xml", "-o", folder)
    checks.equal("generates", done.returncode, 0)
    fill_in_gpu(folder / "qhciGpu", "InputPack", *INPUT_PACK, ops="src/ops")
    done = make(folder / "qhciGpu", "gpu_x86", flags="-O0 -Werror")
    checks.check("compiles", done.returncode == 0, done.stderr[-1500:])
    library = folder / "qhciGpu/libs/x86_64-linux-clang/libqhciGpu.so"
    source = CASES / "input-pack" / "model.onnx"
    folder = folder / "udo"
    folder.mkdir()
    done = run("onnx-to-dlc", "-i", source, "--udo_config_paths", CASES / "input-pack" / "input_pack.xml", "-o", folder / "model.dlc")
    checks.equal("converts", done.returncode, 0)
    container = read_container(folder / "model.dlc")
    (op, ), tensors = [op for op in container.ops if op.type == "InputPack"], container.tensors
    image, mask = (tensors[name] for name in op.inputs)
    rng = np.random.default_rng(8)
    given = {t.name: rng.integers(0, 2, t.dims).astype("f4") if t.name == "Mask" else rng.uniform(-1, 1, t.dims).astype("f4")
             for t in tensors.values() if t.kind == "APP_WRITE"}
    for name, values in given.items():
        values.tofile(folder / f"{name}.raw")
    (folder / "inputs.txt").write_text(f"%{image.name} {mask.name} {op.outputs[0]}\n" + " ".join(f"{n}:={folder / n}.raw" for n in given) + "\n")
    options = [*BACKENDS, "--op_packages", f"{library}:qhciGpuInterfaceProvider:GPU"]
    done = run("net-run", "--container", folder / "model.dlc", "--input_list", folder / "inputs.txt", "--output_dir", folder / "out", *options)
    if not checks.equal("net-run", (done.returncode, done.stderr), (0, "")):
        return
    found = {name: np.fromfile(folder / "out/Result_0" / f"{name.replace('/', '_')}.raw", "f4") for name in (image.name, mask.name, op.outputs[0])}
    rows = found[image.name].reshape(-1, image.dims[-1])
    chosen = rows[found[mask.name] > 0.5]
    expected = np.concatenate([chosen, np.zeros([len(rows) - len(chosen), rows.shape[1]], "f4")])
    checks.check("rows are packed", 0 < len(chosen) < len(rows) and (found[op.outputs[0]] == expected.ravel()).all())
    checks.equal("nodes on the GPU", on_gpu(checks, folder, container, options[2:]), {op.name})


def main():
    checks = Checks()
    if np is None or not CASES.is_dir():
        checks.skip("the published models", "python3-numpy is not installed" if np is None else f"{CASES} is not there")
        checks.finish()
    for case in share_of((packer, classifier, detector, transformer, quantizers), 5, "published models with kernels for GPUs"):
        with tempfile.TemporaryDirectory() as folder:
            case(checks, pathlib.Path(folder))
    checks.finish()


main()
