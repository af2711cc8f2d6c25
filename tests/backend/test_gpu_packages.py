# SPDX-License-Identifier: Apache-2.0
"""Packages with kernels for the GPU: generated, filled in, compiled (gpu_x86), and executed by backend gpu; types of
operands, several kernels, params, constants; defective packages. Expected values are computed here."""

import json
import os
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "package"))
from workshop import HOST_LIBS, fill_in, generate, make, registration  # noqa: E402
from checks import Checks, run  # noqa: E402
from onnx_writer import FLOAT, INT32, Model  # noqa: E402

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


def write_config(path, float_type="FLOAT_32", **changed):
    def real(name, **more):
        per_core = {"name": name, "per_core_data_types": {"CPU": "FLOAT_32", "GPU": float_type}}
        return {**(tensor(name, "FLOAT_32") if float_type == "FLOAT_32" else per_core), **more}

    scale = {"type": "Scale", "core_types": ["CPU", "GPU"],
             "inputs": [real("x"), real("add", static=True)],
             "outputs": [real("y", shape="same_as in0")],
             "scalar_params": [{"name": "by", "data_type": "FLOAT_32"}],
             "tensor_params": [{"name": "table", "data_type": "INT_32"}]}
    twice = {"type": "Twice", "core_types": ["CPU", "GPU"], "inputs": [tensor("x", "INT_32")],
             "outputs": [tensor("y", "INT_32", shape="same_as in0")]}
    ops = [{**op, **changed} for op in (scale, twice)]
    path.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Shop", "Operators": ops}}))
    return path


def between(text, first, last, new):
    before, rest = text.split(first, 1)
    return before + first + new + last + rest.split(last, 1)[1]


def fill_in_gpu(package, op, source, info=None):
    path = package / f"jni/src/GPU/src/ops/{op}.cpp"
    text = between(path.read_text(), 'kernelSource = R"(', ')";', source)
    if info is not None:
        text = between(text, f"void {op}Operation::setKernelInfo()\n{{", "\n}\n\nstd::unique_ptr", info)
    path.write_text(text)


def write_model(folder):
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [2, 3, 4])
    m.input("k", INT32, [2, 3, 4])
    m.tensor("add", FLOAT, [2], [0.5, -0.25])
    m.node("Relu", ["x"], ["r"], name="relu")
    m.node("Scale", ["r", "add"], ["s"], name="scale", domain="test", by=1.5, table=TABLE)
    m.node("Neg", ["s"], ["y"], name="neg")
    m.node("Twice", ["k"], ["z"], name="twice", domain="test")
    m.output("y", FLOAT, [2, 3, 4])
    m.output("z", INT32, [2, 3, 4])
    m.save(folder / "net.onnx")
    (folder / "x.raw").write_bytes(struct.pack(f"<{COUNT}f", *X))
    (folder / "k.raw").write_bytes(struct.pack(f"<{COUNT}f", *range(COUNT)))
    (folder / "list.txt").write_text("x:=x.raw k:=k.raw\n")


EXPECTED = [-(max(x, 0) * 1.5 * TABLE[i % 4] + (-0.25 if i % 2 else 0.5)) for i, x in enumerate(X)]


class Bench:
    def __init__(self, checks, folder):
        self.checks, self.folder = checks, folder

    def run(self, *args, **more):
        return run("net-run", "--container", "net.dlc", "--input_list", "list.txt", *args, cwd=self.folder, **more)

    def package(self, name, source=SCALE, info=SCALE_INFO, float_type="FLOAT_32", targets="gpu_x86", **changed):
        """A package in a folder of its own."""
        folder = self.folder / name
        folder.mkdir()
        config = write_config(folder / "ops.json", float_type, **changed)
        done = generate([config], folder)
        package = folder / "Shop"
        self.checks.equal(f"{name}: is generated", (done.returncode, done.stderr), (0, ""))
        fill_in_gpu(package, "Scale", source, info)
        fill_in_gpu(package, "Twice", TWICE)
        if "cpu" in targets:
            fill_in(package, "Scale", CPU_SCALE)
            fill_in(package, "Twice", CPU_TWICE)
        done = make(package, targets, flags="-O0 -Werror")
        self.checks.check(f"{name}: compiles", done.returncode == 0, done.stdout[-500:] + done.stderr[-3000:])
        return package

    def values(self, name, *args):
        done = self.run("--output_dir", name, *args)
        self.checks.equal(f"{name}: status", (done.returncode, done.stderr), (0, ""))
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
    package = b.package("good", targets="cpu_x86 gpu_x86")
    write_model(b.folder)
    done = run("onnx-to-dlc", "-i", "net.onnx", "--udo_config_paths", "good/ops.json", "-o", "net.dlc", cwd=b.folder)
    b.checks.equal("converts", (done.returncode, done.stderr.count("error")), (0, 0))
    lib = registration(package)
    on_cpu = b.agrees("cpu", 1e-6, "--udo_package_path", lib)
    on_gpu = b.agrees("gpu", 1e-6, "--use_gpu", "--udo_package_path", lib)
    b.checks.equal("the GPU's values are the CPU package's", on_gpu, on_cpu)
    done = b.run("--use_gpu", "--udo_package_path", lib, "--explain", "--profile", "--output_dir", "explained")
    b.checks.check("the GPU executes all", "package " not in done.stdout and "Shop.addKernel" in done.stdout, done.stdout)
    for mode in ("fp16", "hybrid"):
        config = b.folder / f"{mode}.json"
        graph = json.loads(run("dlc-info", "-i", b.folder / "net.dlc", "--json").stdout)["graphs"][0]["name"]
        config.write_text(json.dumps({"graph_names": [graph], "precision_mode": mode}))
        b.agrees(mode, 1e-2, "--use_gpu", "--udo_package_path", lib, "--config_file", config)
    b.agrees("debug", 1e-6, "--use_gpu", "--udo_package_path", lib, "--debug")
    b.agrees("isolated", 1e-6, "--use_gpu", "--udo_package_path", lib, "--isolate")
    kept = b.folder / "kernels"
    kept.mkdir()
    config = b.folder / "kept.json"
    config.write_text(json.dumps({"kernel_repo_path": str(kept)}))
    for name in ("first", "second"):
        b.agrees(name, 1e-6, "--use_gpu", "--udo_package_path", lib, "--config_file", config)
    b.checks.equal("a file for each package", sorted(p.name for p in kept.iterdir()),
                   ["gpukernelcache.Shop", "gpukernelcache.opendlc"])
    return package


def other_types(b):
    """float16 by the registration; fixed point is float on the way, as that says."""
    half = b.package("half", float_type="FLOAT_16")
    b.agrees("half", 2e-3, "--use_gpu", "--udo_package_path", registration(half))
    text = (half / "jni/src/GPU/src/ops/Scale.cpp").read_text()
    b.checks.check("the kernel reads halves", "HALF_INPUT0" in text)


def quantized(b, good_package):
    (b.folder / "samples.txt").write_text("x:=x.raw k:=k.raw\n")
    done = run("dlc-quantize", "--input_dlc", "net.dlc", "--input_list", "samples.txt", "--output_dlc", "q.dlc",
               "--udo_package_path", registration(good_package), cwd=b.folder)
    if not b.checks.equal("quantizes", done.returncode, 0):
        print(done.stderr)
        return
    values = {}
    for name, *more in (("cpu", ), ("gpu", "--use_gpu")):
        done = run("net-run", "--container", "q.dlc", "--input_list", "list.txt", "--output_dir", f"q-{name}",
                   "--udo_package_path", registration(good_package), *more, cwd=b.folder)
        b.checks.equal(f"quantized, {name}", (done.returncode, done.stderr), (0, ""))
        values[name] = (b.folder / f"q-{name}/Result_0/y.raw").read_bytes()
    b.checks.equal("quantized: the GPU's values are the CPU package's", values["gpu"], values["cpu"])


def alone(b):
    """A package that has nothing for the CPU, and one whose GPU library is not there."""
    package = b.package("alone", core_types=["GPU"])
    b.agrees("alone", 1e-6, "--use_gpu", "--udo_package_path", registration(package))
    done = b.run("--output_dir", "host", "--udo_package_path", registration(package))
    b.checks.check("no kernel for the CPU", done.returncode == 1 and "has no op Scale" in done.stderr, done.stderr)
    package = b.folder / "good" / "Shop"
    library = package / HOST_LIBS / "libUdoShopImplGpu.so"
    library.rename(library.with_suffix(".away"))
    y = b.agrees("missing", 1e-6, "--use_gpu", "--udo_package_path", registration(package))
    done = b.run("--use_gpu", "--udo_package_path", registration(package), "--explain", "--output_dir", "explained")
    b.checks.check("the CPU package executes", y and "has no GPU library here" in done.stdout, done.stdout)
    library.write_bytes(b"no library")
    b.fails("broken", ["libUdoShopImplGpu.so", "cannot be loaded"], package)
    library.unlink()
    library.with_suffix(".away").rename(library)
    provider = f"{library}:ShopInterfaceProvider:GPU"
    b.agrees("provider", 1e-6, "--use_gpu", "--op_packages", provider)
    done = b.run("--output_dir", "provided", "--op_packages", provider)
    b.checks.check("it is none for the CPU", done.returncode == 1 and "Scale" in done.stderr, done.stderr)


# What is wrong → where, what stands there instead, and what is said of it. A library has all of them, and an environment
# variable chooses.
DEFECTS = {
    "does not build": ("setGlobalWorkSizes(numElements(getOutput(0)));\n    addKernel", 'addBuildOptions("-Dby=tables");',
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
    interface = package / "jni/src/GPU/src/ShopInterface.cpp"
    text = interface.read_text()
    interface.write_text("#include <stdlib.h>\n" + text.replace(
        "    interface->v1_4.createOpImpl = ShopCreateOpImpl", '    interface->v1_4.createOpImpl = getenv("LACKING") ? nullptr '
        ": ShopCreateOpImpl"))
    done = make(package, "gpu_x86", flags="-O0")
    b.checks.check("defects: compiles", done.returncode == 0, done.stderr)
    for name, words in [(name, words) for name, (_, _, words) in DEFECTS.items()] + \
            [("is refused", ["validateOpConfig of op Scale, package Shop"])]:
        os.environ["DEFECT"] = name
        b.fails(name.replace(" ", "-"), words, package)
    del os.environ["DEFECT"]
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
        other_types(b)
        quantized(b, package)
        alone(b)
        defects(b, package)
    checks.finish()


main()
