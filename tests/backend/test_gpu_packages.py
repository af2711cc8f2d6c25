# SPDX-License-Identifier: Apache-2.0
"""Packages with kernels for the GPU: generated, filled in, compiled (gpu_x86), and executed by backend gpu; types of
operands, several kernels, params, constants; defective packages. Expected values are computed here."""

import json
import os
import pathlib
import struct
import tempfile

from gpu_shop import fill_in_gpu
from workshop import HOST_LIBS, fill_in, generate, make, registration
from checks import LONG, Checks, run, share_of
from onnx_writer import FLOAT, INT32, UINT8, Model

COUNT = 24
X = [(i * 7 % 24 - 11) / 8 for i in range(COUNT)]
TABLE = [1, -2, 3, 5]

# Op -> its CPU kernel, its OpenCL source, and its setKernelInfo behind the generated line that adds the kernel.
CPU_SCALE = """
    const CustomOpTensor *x = operation->getInput(0);
    const float *in = (const float *)x->data, *add = (const float *)operation->getInput(1)->data;
    float *out = (float *)operation->getOutput(0)->data;
    const double by = operation->getParam("by")->scalarParam;
    const int32_t *table = (const int32_t *)operation->getParam("table")->tensorParam->data;
    for (uint32_t i = 0; i < 24; i++)
        out[i] = in[i] * (float)by * (float)table[i % 4] + add[i % 2];"""
SCALE = """
#ifdef HALF_INPUT0
#define LOAD(p, i) vload_half(i, p)
#define STORE(v, p, i) vstore_half(v, i, p)
#else
#define LOAD(p, i) (p)[i]
#define STORE(v, p, i) (p)[i] = v
#endif

__kernel void scaleKernel(__global const INPUT0 *in, __global OUTPUT0 *out, float by, __global const int *table, int n)
{
    const int i = get_global_id(0);
    STORE(LOAD(in, i) * by * (float)table[i % n], out, i);
}

/* By way of local memory, so that groups matter. */
__kernel void addKernel(__global OUTPUT0 *out, __global const INPUT1 *add, __local float *sums)
{
    const int i = get_global_id(0), k = get_local_id(0);
    sums[k] = LOAD(out, i);
    barrier(CLK_LOCAL_MEM_FENCE);
    STORE(sums[k] + LOAD(add, i % 2), out, i);
}
"""
SCALE_INFO = """
    addKernel("scaleKernel", kernelSource);
    addInput(0);
    addOutput(0);
    addArgument((float)getScalarParam("by"));
    addTensorParam("table");
    addArgument((int32_t)4);
    setGlobalWorkSizes(numElements(getOutput(0)));
    addKernel("addKernel", kernelSource);
    addOutput(0);
    addInput(1);
    addLocalMemory(4 * sizeof(float));
    setGlobalWorkSizes(numElements(getOutput(0)));
    setLocalWorkSizes(4);
"""
CPU_TWICE = """
    const int32_t *in = (const int32_t *)operation->getInput(0)->data;
    int32_t *out = (int32_t *)operation->getOutput(0)->data;
    for (uint32_t i = 0; i < 24; i++)
        out[i] = 2 * in[i];"""
TWICE = """
__kernel void twiceKernel(__global const INPUT0 *in0, __global OUTPUT0 *out0)
{
    out0[get_global_id(0)] = 2 * in0[get_global_id(0)];
}
"""


def tensor(name, dtype, **more):
    return {"name": name, "data_type": dtype, **more}


def scale_op(name, gpu_type):
    """The op Scale; per core where the GPU's type is another one."""
    def real(operand, **more):
        per_core = {"name": operand, "per_core_data_types": {"CPU": "FLOAT_32", "GPU": gpu_type}}
        return {**(tensor(operand, "FLOAT_32") if gpu_type == "FLOAT_32" else per_core), **more}

    return {"type": name, "core_types": ["CPU", "GPU"], "inputs": [real("x"), real("add", static=True)],
            "outputs": [real("y", shape="same_as in0")], "scalar_params": [{"name": "by", "data_type": "FLOAT_32"}],
            "tensor_params": [{"name": "table", "data_type": "INT_32"}]}


def write_config(path):
    twice = {"type": "Twice", "core_types": ["CPU", "GPU"], "inputs": [tensor("x", "INT_32")],
             "outputs": [tensor("y", "INT_32", shape="same_as in0")]}
    ops = [scale_op("Scale", "FLOAT_32"), scale_op("HalfScale", "FLOAT_16"), twice]
    path.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Shop", "Operators": ops}}))
    return path


def write_model(folder, name, op):
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [2, 3, 4])
    m.input("k", INT32, [2, 3, 4])
    m.tensor("add", FLOAT, [2], [0.5, -0.25])
    m.node("Relu", ["x"], ["r"], name="relu")
    m.node(op, ["r", "add"], ["s"], name="scale", domain="test", by=1.5, table=TABLE)
    m.node("Neg", ["s"], ["y"], name="neg")
    m.node("Twice", ["k"], ["z"], name="twice", domain="test")
    m.output("y", FLOAT, [2, 3, 4])
    m.output("z", INT32, [2, 3, 4])
    m.save(folder / f"{name}.onnx")
    (folder / "x.raw").write_bytes(struct.pack(f"<{COUNT}f", *X))
    (folder / "k.raw").write_bytes(struct.pack(f"<{COUNT}f", *range(COUNT)))
    (folder / "list.txt").write_text("x:=x.raw k:=k.raw\n")


EXPECTED = [-(max(x, 0) * 1.5 * TABLE[i % 4] + (-0.25 if i % 2 else 0.5)) for i, x in enumerate(X)]


class Bench:
    def __init__(self, checks, folder):
        self.checks, self.folder, self.container = checks, folder, "net.dlc"

    def run(self, *args, **more):
        return run("net-run", "--container", self.container, "--input_list", "list.txt", *args, cwd=self.folder, **more)

    def converts(self, name, op):
        write_model(self.folder, name, op)
        done = run("onnx-to-dlc", "-i", f"{name}.onnx", "--udo_config_paths", "ops.json", "-o", f"{name}.dlc", cwd=self.folder)
        self.checks.equal(f"{name}: converts", (done.returncode, done.stderr.count("error")), (0, 0))

    def package(self):
        language = [] if LONG else ["--language", "c"]  # which is faster to compile; kernels for the CPU are C++
        done = generate([write_config(self.folder / "ops.json")], self.folder, *language)
        package = self.folder / "Shop"
        self.checks.equal("is generated", (done.returncode, done.stderr), (0, ""))
        for op in ("Scale", "HalfScale"):
            fill_in_gpu(package, op, SCALE, SCALE_INFO)
        fill_in_gpu(package, "Twice", TWICE)
        if LONG:
            for op, kernel in (("Scale", CPU_SCALE), ("HalfScale", CPU_SCALE), ("Twice", CPU_TWICE)):
                fill_in(package, op, kernel)
        done = make(package, "cpu_x86 gpu_x86" if LONG else "gpu_x86", flags="-O0 -Werror")
        self.checks.check("compiles", done.returncode == 0, done.stdout[-500:] + done.stderr[-3000:])
        return package

    def values(self, name, *args):
        done = self.run("--output_dir", name, *args)
        told = [line for line in done.stderr.splitlines() if "no arithmetic in float16" not in line]
        self.checks.equal(f"{name}: status", (done.returncode, told), (0, []))
        results = self.folder / name / "Result_0"
        if done.returncode:
            return [], []
        return (struct.unpack(f"<{COUNT}f", (results / "y.raw").read_bytes()),
                struct.unpack(f"<{COUNT}f", (results / "z.raw").read_bytes()))

    def agrees(self, name, tolerance, *args):
        y, z = self.values(name, *args)
        apart = max((abs(a - b) for a, b in zip(y, EXPECTED)), default=9)
        self.checks.check(f"{name}: y", len(y) == COUNT and apart <= tolerance * max(map(abs, EXPECTED)), (apart, y))
        self.checks.equal(f"{name}: z", list(z), [2 * i for i in range(COUNT)])
        return y

    def fails(self, name, words, package, status=1):
        done = self.run("--output_dir", name, "--use_gpu", "--udo_package_path", registration(package))
        self.checks.equal(f"{name}: status", done.returncode, status)
        for word in words:
            self.checks.check(f"{name} says '{word}'", word in done.stderr, done.stderr)
        self.checks.check(f"{name}: no results", not (self.folder / name).exists())


def good(b):
    package = b.package()
    lib = registration(package)
    b.converts("net", "Scale")
    b.converts("half", "HalfScale")
    on_gpu = b.agrees("gpu", 1e-6, "--use_gpu", "--udo_package_path", lib)
    if LONG:
        b.checks.equal("the GPU's values are the CPU package's", on_gpu, b.agrees("cpu", 1e-6, "--udo_package_path", lib))
    done = b.run("--use_gpu", "--udo_package_path", lib, "--explain", "--profile", "--output_dir", "explained")
    b.checks.check("the GPU executes all", "package " not in done.stdout and "Shop.addKernel" in done.stdout, done.stdout)
    graph = json.loads(run("dlc-info", "-i", b.folder / "net.dlc", "--json").stdout)["graphs"][0]["name"]
    for mode in ("fp16", "hybrid") if LONG else ("hybrid",):
        config = b.folder / f"{mode}.json"
        config.write_text(json.dumps({"graph_names": [graph], "precision_mode": mode}))
        b.agrees(mode, 1e-2, "--use_gpu", "--udo_package_path", lib, "--config_file", config)
    b.agrees("isolated", 1e-6, "--use_gpu", "--udo_package_path", lib, "--isolate")
    b.container = "half.dlc" # float16 by the registration
    b.agrees("half", 2e-3, "--use_gpu", "--udo_package_path", lib)
    b.container = "net.dlc"
    kept = b.folder / "kernels"
    kept.mkdir()
    config = b.folder / "kept.json"
    config.write_text(json.dumps({"kernel_repo_path": str(kept)}))
    for name in ("first", "second"):
        b.agrees(name, 1e-6, "--use_gpu", "--udo_package_path", lib, "--config_file", config)
    b.checks.equal("a file for each package", sorted(p.name for p in kept.iterdir()),
                   ["gpukernelcache.Shop", "gpukernelcache.opendlc"])
    return package


def quantized(b, package):
    """Fixed point becomes reals for kernels, as the registration says, and is quantized again."""
    done = run("dlc-quantize", "--input_dlc", "net.dlc", "--input_list", "list.txt", "--output_dlc", "q.dlc",
               "--udo_package_path", registration(package), cwd=b.folder)
    b.checks.equal("quantizes", done.returncode, 0)
    b.container = "q.dlc"
    values = [b.values(f"quantized-{name}", "--udo_package_path", registration(package), *more)[0]
              for name, *more in (("cpu", ), ("gpu", "--use_gpu"))]
    b.container = "net.dlc"
    b.checks.equal("quantized: the GPU's values are the CPU package's", values[1], values[0])


def lacking(b, package):
    """A library for one of the cores is not there, or is none; a package without a registration library."""
    lib, folder = registration(package), package / HOST_LIBS
    gpu, cpu = folder / "libUdoShopImplGpu.so", folder / "libUdoShopImplCpu.so"
    if cpu.exists():
        gpu.rename(folder / "away")
        b.agrees("without-gpu", 1e-6, "--use_gpu", "--udo_package_path", lib)
        done = b.run("--use_gpu", "--udo_package_path", lib, "--explain", "--output_dir", "explained")
        b.checks.check("the CPU package executes", "has no GPU library here" in done.stdout, done.stdout)
        (folder / "away").rename(gpu)
        cpu.unlink()
        b.agrees("without-cpu", 1e-6, "--use_gpu", "--udo_package_path", lib)
    done = b.run("--output_dir", "host", "--udo_package_path", lib)
    b.checks.check("no kernel for the CPU", done.returncode == 1 and "has no op Scale" in done.stderr, done.stderr)
    b.agrees("provider", 1e-6, "--use_gpu", "--op_packages", f"{gpu}:ShopInterfaceProvider:GPU")
    done = b.run("--output_dir", "provided", "--op_packages", f"{gpu}:ShopInterfaceProvider")
    b.checks.check("it is none for the CPU", done.returncode == 1 and "Scale" in done.stderr, done.stderr)
    content = gpu.read_bytes()
    gpu.write_bytes(b"no library")
    b.fails("broken", ["libUdoShopImplGpu.so", "cannot be loaded"], package)
    gpu.write_bytes(content)


# What is wrong → where, what stands there instead, and what is said of it. A library has all of them, and an environment
# variable chooses.
DEFECTS = {
    "does not build": ("setGlobalWorkSizes(numElements(getOutput(0)));\n    addKernel", 'addBuildOptions("-DOUTPUT0=tables");',
                       ["libUdoShopImplGpu.so", "are not built", "tables"]),
    "no such kernel": ('addKernel("addKernel"', 'addKernel("subKernel", kernelSource); return;',
                       ["has no kernel subKernel"]),
    "an argument less": ("addArgument((int32_t)4)", "return;",
                         ["scale", "kernel scaleKernel has 5 parameters, and is given 4"]),
    "an argument too wide": ("addArgument((int32_t)4)", "addInput(0); return;",
                             ["scale", "argument 4 of kernel scaleKernel does not fit"]),
    "no such input": ("addInput(1)", "addInput(7);", ["scale", "is input 7, and there are 2"]),
    "no such output": ("addInput(1)", "addOutput(3);", ["scale", "is output 3, and there are 1"]),
    "no such param": ("addArgument((int32_t)4)", 'addTensorParam("tabel");', ["scale", "createOpImpl of op Scale, package Shop"]),
    "groups do not divide": ("addLocalMemory", "setLocalWorkSizes(1); setLocalWorkSizes(5); return;",
                             ["scale", "kernel addKernel", "groups of 5 do not divide"]),
    "no kernels": ('addKernel("scaleKernel"', "return;", ["scale", "there are no kernels"]),
}


def another_hash(b, package):
    """Programs that are kept are those of a kernelRepoHash: with another one they are built anew, and replace them. Nothing is written
    where nothing was built."""
    kept = b.folder / "hashed"
    kept.mkdir()
    config = b.folder / "hashed.json"
    config.write_text(json.dumps({"kernel_repo_path": str(kept)}))
    written = []
    for name, value in (("built", "1"), ("kept", "1"), ("rebuilt", "2"), ("kept-again", "2")):
        os.environ["HASH"] = value
        b.agrees(f"hash-{name}", 1e-6, "--use_gpu", "--udo_package_path", registration(package), "--config_file", config)
        written.append({file.name: (file.stat().st_ino, file.stat().st_mtime_ns) for file in kept.iterdir()})
    del os.environ["HASH"]
    mine, own = "gpukernelcache.Shop", "gpukernelcache.opendlc"
    b.checks.equal("the same hash: nothing is built", written[1], written[0])
    b.checks.check("another hash: the package's are built", mine in written[0] and written[2][mine] != written[1][mine], written)
    b.checks.equal("… and taken the next time", written[3], written[2])


FIXED = """
/* Elements are as they are stored: real = (stored + offset) * scale. */
__kernel void halve(__global const INPUT0 *x, __global OUTPUT0 *y, float from, int zero, float to, int target)
{
    const int i = get_global_id(0);
    y[i] = convert_uchar_sat_rte((x[i] + zero) * from * 0.5f / to - target);
}
"""
FIXED_INFO = """
    const Qnn_ScaleOffset_t x = getInputEncoding(0).scaleOffsetEncoding, y = getOutputEncoding(0).scaleOffsetEncoding;
    addKernel("halve", kernelSource);
    addInput(0);
    addOutput(0);
    addArgument(x.scale);
    addArgument(x.offset);
    addArgument(y.scale);
    addArgument(y.offset);
    setGlobalWorkSizes(numElements(getOutput(0)));
"""
FIXED_XML = """<OpDefCollection PackageName="Stored" Domain="test" Version="1.0"><OpDefList><OpDef><Name>Halve</Name>
<Input><Name>x</Name><Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_UFIXED_POINT_8</Datatype><Shape><Rank>ND</Rank></Shape></Input>
<Output><Name>y</Name><Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_UFIXED_POINT_8</Datatype><Shape><Rank>ND</Rank></Shape></Output>
<SupportedBackend>GPU</SupportedBackend></OpDef></OpDefList></OpDefCollection>"""


def as_stored(b):
    """Without a registration library kernels get fixed point as it is stored, and its encoding."""
    (b.folder / "stored.xml").write_text(FIXED_XML)
    b.checks.equal("stored: generates", run("qnn-op-package-generator", "-p", "stored.xml", "-o", ".", cwd=b.folder).returncode, 0)
    package = b.folder / "StoredGpu"
    fill_in_gpu(package, "Halve", FIXED, FIXED_INFO, ops="src/ops")
    done = make(package, "gpu_x86", flags="-O0 -Werror")
    b.checks.check("stored: compiles", done.returncode == 0, done.stderr[-2000:])
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [2, 3, 4])
    last = "x"
    for name, scale, zero in (("q", 1 / 64, 96), ("h", 1 / 100, 80)):
        m.tensor(f"{name}.scale", FLOAT, [], [scale])
        m.tensor(f"{name}.zero", UINT8, [], [zero])
        m.node("QuantizeLinear", [last, f"{name}.scale", f"{name}.zero"], [f"{name}.stored"])
        m.node("DequantizeLinear", [f"{name}.stored", f"{name}.scale", f"{name}.zero"], [name])
        if name == "q":
            m.node("Halve", ["q"], ["halved"], name="halve", domain="test")
            last = "halved"
    m.node("Neg", ["h"], ["y"])
    m.output("y", FLOAT, [2, 3, 4])
    m.save(b.folder / "stored.onnx")
    done = run("onnx-to-dlc", "-i", "stored.onnx", "--udo_config_paths", "stored.xml", "-o", "stored.dlc", cwd=b.folder)
    b.checks.equal("stored: converts", (done.returncode, done.stderr.count("error")), (0, 0))
    (b.folder / "stored.txt").write_text("x:=x.raw\n")
    library = package / "libs/x86_64-linux-clang/libStoredGpu.so"
    done = run("net-run", "--container", "stored.dlc", "--input_list", "stored.txt", "--output_dir", "stored", "--use_gpu", "--op_packages",
               f"{library}:StoredGpuInterfaceProvider:GPU", cwd=b.folder)
    if b.checks.equal("stored: status", (done.returncode, done.stderr), (0, "")):
        y = struct.unpack(f"<{COUNT}f", (b.folder / "stored/Result_0/y.raw").read_bytes())
        stored = [min(255, max(0, round(x * 64) + 96)) for x in X]
        halved = [min(255, max(0, round((q - 96) / 64 / 2 * 100) + 80)) for q in stored]
        b.checks.check("stored: numbers", max(abs(a + (h - 80) / 100) for a, h in zip(y, halved)) < 1e-6 and len(set(y)) > 10, (y, halved))
    halve = {"type": "Halve", "core_types": ["GPU"], "inputs": [tensor("x", "FIXED_8")],
             "outputs": [tensor("y", "FIXED_8", shape="same_as in0")]}
    (b.folder / "stored.json").write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Stored", "Operators": [halve]}}))
    done = run("udo-check", "stored.json", "--op_packages", f"{library}:StoredGpuInterfaceProvider:GPU", cwd=b.folder)
    b.checks.check("stored: udo-check", done.returncode == 0 and "on the GPU: 0 findings on 6 made inputs, 0 of them refused" in done.stdout,
                   done.stdout[-600:] + done.stderr)


def defects(b, package):
    """What is wrong with a package's description or its kernels, with op, package, library and node."""
    info = SCALE_INFO
    for name, (place, instead, _) in DEFECTS.items():
        assert place in info, name
        info = info.replace(place, f'if (hasDefect("{name}")) {{ {instead} }}\n    {place}', 1)
    fill_in_gpu(package, "Scale", SCALE, info)
    source = package / "jni/src/GPU/src/ops/Scale.cpp"
    source.write_text('#include <stdlib.h>\n#include <string.h>\nstatic bool hasDefect(const char *name)\n{\n'
                      '    const char *chosen = getenv("DEFECT");\n    return chosen && strcmp(chosen, name) == 0;\n}\n' +
                      source.read_text().replace("    return QNN_SUCCESS;\n}", '    return hasDefect("is refused") ? '
                                                 "QNN_OP_PACKAGE_ERROR_GENERAL : QNN_SUCCESS;\n}"))
    common = package / "jni/src/GPU/src/GpuCustomOpPackage.cpp"
    text, usual = common.read_text(), "m_kernelHash = hashOf(m_registrations);"
    assert text.count(usual) == 1
    common.write_text("#include <stdlib.h>\n" + text.replace(usual, 'm_kernelHash = getenv("HASH") ? getenv("HASH") : hashOf(m_registrations);'))
    interface = package / "jni/src/GPU/src/ShopInterface.cpp"
    text = interface.read_text()
    interface.write_text("#include <stdlib.h>\n" + text.replace(
        "    interface->v1_4.createOpImpl = ShopCreateOpImpl", '    interface->v1_4.createOpImpl = getenv("LACKING") ? nullptr '
        ": ShopCreateOpImpl"))
    done = make(package, "gpu_x86", flags="-O0")
    b.checks.check("defects: compiles", done.returncode == 0, done.stderr)
    said = {name: words for name, (_, _, words) in DEFECTS.items()}
    said["is refused"] = ["validateOpConfig of op Scale, package Shop"]
    for name, words in share_of(said.items(), 3, "defects of a package"):
        os.environ["DEFECT"] = name
        b.fails(name.replace(" ", "-"), words, package)
    del os.environ["DEFECT"]
    another_hash(b, package)
    os.environ["LACKING"] = "1"
    b.fails("no-createOpImpl", ["libUdoShopImplGpu.so", "has no function createOpImpl"], package)
    del os.environ["LACKING"]
    interface.write_text(text.replace("ShopInterfaceProvider(QnnOp", "OtherProvider(QnnOp"))
    done = make(package, "gpu_x86", flags="-O0")
    b.checks.check("no provider: compiles", done.returncode == 0, done.stderr)
    b.fails("no-provider", ["libUdoShopImplGpu.so", "does not export ShopInterfaceProvider"], package)


def main():
    os.environ.setdefault("POCL_DEVICES", "basic")
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        b = Bench(checks, pathlib.Path(name))
        package = good(b)
        if LONG:
            quantized(b, package)
        as_stored(b)
        lacking(b, package)
        defects(b, package)
    checks.finish()


main()
