# SPDX-License-Identifier: Apache-2.0
"""udo-check on kernels for GPUs: a sound package has no finding, each planted fault is found by its code. One library has all faults,
and an environment variable chooses."""

import json
import os
import pathlib
import tempfile

from gpu_shop import fill_in_gpu
from workshop import HOST_LIBS, checked_report, generate, make, registration
from checks import Checks, run, share_of

CPU = """    const float *x = customOpInput(op, 0)->data;
    float *y = customOpOutput(op, 0)->data;
    for (uint64_t i = 0; i < customOpCount(customOpInput(op, 0)); i++)
        y[i] = x[i] > 0 ? x[i] : 0;
"""
# s is a static input, list a tensor param of two elements.
KERNEL = """
__kernel void reluKernel(__global INPUT0 *x, __global INPUT1 *s, __global OUTPUT0 *y, __global int *list, int n)
{
    const int i = get_global_id(0), k = get_local_id(0);
    (void)k;
    FAULT
    y[i] = x[i] > 0 ? x[i] : 0;
}
"""
INFO = """
    addKernel("reluKernel", chosenText());
    addInput(0);
    addInput(1);
    addOutput(0);
    addTensorParam("list");
    if (!is("an argument less"))
        addArgument((int32_t)numElements(getOutput(0)));
    setGlobalWorkSizes(numElements(getOutput(0)));
    if (!is("any"))
        setLocalWorkSizes(is("groups") ? 4 : 1);
"""
HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is(const char *name)
{
    const char *fault = getenv("FAULT");
    return fault && strcmp(fault, name) == 0;
}

/* The text of the environment; another one in each call, if it is to be so. */
static const char *chosenText()
{
    static char counted[2][4096];
    static int calls;
    const char *text = getenv("TEXT");
    if (!is("counts"))
        return text;
    char *to = counted[calls++ % 2];
    snprintf(to, sizeof counted[0], "/* %d */ %s", calls, text);
    return to;
}

"""
# Fault → (what stands in the kernel, the finding's code, words of its message).
FAULTS = {
    "writes behind": ("if (i == 0) y[n] = 1;", "kernel-out-of-bounds", "writes 4 bytes behind output 0"),
    "writes before": ("if (i == 0) y[-1] = 1;", "kernel-out-of-bounds", "writes 4 bytes before output 0"),
    "writes behind a param": ("if (i == 0) list[2] = 1;", "kernel-out-of-bounds", "writes 4 bytes behind tensor param 0"),
    "writes input": ("x[i] = 1;", "kernel-writes-input", "writes into input 0, from byte "),
    "writes static": ("s[0] = 7;", "kernel-writes-input", "writes into input 1, from byte "),
    "reads behind": ("y[i] = x[i + 1]; return;", "kernel-out-of-bounds", "reads before or behind an operand: element "),
    "reads behind static": ("y[i] = s[i - 1]; return;", "kernel-out-of-bounds", "reads before or behind an operand: element 0 of output 0"),
    "leaves out": ("if (i == n - 1) return;", "kernel-output-unwritten", "does not write element "),
    "adds up": ("y[i] += x[i]; return;", "kernel-output-read", "depends on what an output held before: element 0"),
    "differs": ("y[i] = x[i] * 1.0001f; return;", "kernel-differs", "differs from the package's kernel for the CPU in element "),
    "crashes": ("*(volatile __global int *)8 = 1;", "kernel-crash", "is ended by signal 11"),
    "does not build": ("y[i] = tables;", "gpu-build", "use of undeclared identifier 'tables'"),
    "groups": ("", "package-op-kernels", "which groups of 4 do not divide"),
    "an argument less": ("", "package-op-kernels", "kernel reluKernel has 5 parameters, and is given 4 arguments"),
    "any": ("y[i] = get_local_size(0) == 1 ? 0 : x[i]; return;", "kernel-not-repeatable", "in work-groups of one work-item"),
    "counts": ("", "kernel-not-repeatable", "describes other kernels for a second op of the same node"),
}


def write_config(folder):
    operator = {"type": "Relu", "core_types": ["CPU", "GPU"],
                "inputs": [{"name": "x", "data_type": "FLOAT_32"}, {"name": "s", "data_type": "FLOAT_32", "static": True}],
                "outputs": [{"name": "y", "data_type": "FLOAT_32", "shape": "same_as in0"}],
                "tensor_params": [{"name": "list", "data_type": "INT_32"}]}
    path = folder / "ops.json"
    path.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Tried", "Operators": [operator]}}))
    return path


def environment(fault=""):
    return {**os.environ, "FAULT": fault, "TEXT": KERNEL.replace("FAULT", FAULTS[fault][0] if fault else "")}


def check(config, *options, fault=""):
    done = run("udo-check", config, "--json", *options, env=environment(fault))
    report = checked_report(done.stdout) if done.stdout else {"kernels": []}
    return done, {op["core"]: op for op in report["kernels"]}


def sound(checks, config, package):
    done, ops = check(config, "--udo_package_path", registration(package))
    checks.equal("sound", (done.returncode, done.stderr), (0, ""))
    checks.equal("both cores", sorted(ops), ["CPU", "GPU"])
    gpu = ops.get("GPU", {})
    checks.equal("of six shapes", (gpu.get("inputs_tried"), gpu.get("inputs_refused")), (6, 0))
    checks.equal("one program is built", gpu.get("programs"), 1)
    checks.equal("against the kernel for the CPU", gpu.get("largest_difference"), 0)
    checks.check("is measured", gpu.get("microseconds", 0) > 0, gpu)
    checks.equal("odd numbers", [gpu.get(key) for key in ("nan", "infinity", "denormal")], ["not in the outputs", "kept", "kept"])
    library = package / HOST_LIBS / "libUdoTriedImplGpu.so"
    checks.equal("library", gpu.get("library"), str(library))
    done = run("udo-check", config, "--op_packages", f"{library}:TriedInterfaceProvider:GPU", env=environment())
    checks.check("without a registration library", done.returncode == 0 and "on the GPU: 0 findings on 6 made inputs" in done.stdout
                 and "1 program is built for them" in done.stdout and "on the CPU" not in done.stdout, done.stdout[-600:] + done.stderr)


def faults(checks, config, package):
    for fault, (_, code, words) in share_of(FAULTS.items(), 4, "faults of kernels for GPUs"):
        done, ops = check(config, "--udo_package_path", registration(package), fault=fault)
        found = ops.get("GPU", {}).get("findings", [])
        checks.equal(f"{fault}: one finding", (done.returncode, [f["code"] for f in found]), (1, [code]))
        checks.check(f"{fault}: its words", found and words in found[0]["message"], found)
        checks.equal(f"{fault}: none of the CPU's kernel", ops.get("CPU", {}).get("findings"), [])
        if fault == "does not build":
            checks.check(f"{fault}: the line", ":6:" in found[0]["message"] or ":5:" in found[0]["message"], found)


def against(checks, config, package):
    """Against the native operator, and where no device is."""
    library = f"{package / HOST_LIBS / 'libUdoTriedImplGpu.so'}:TriedInterfaceProvider:GPU"
    done, ops = check(config, "--op_packages", library, "--against", "Relu=ElementWiseNeg")
    checks.check("another native operator", done.returncode == 1, done.stderr)
    (config.parent / "vendors").mkdir(exist_ok=True)
    done = run("udo-check", config, "--udo_package_path", registration(package),
               env={**environment(), "OCL_ICD_VENDORS": str(config.parent / "vendors")})
    checks.check("no device: one warning", done.returncode == 0 and done.stderr.count("warning") == 1
                 and "kernels for GPUs are not tried: backend gpu needs an OpenCL device" in done.stderr, done.stderr)
    checks.check("no device: the CPU's kernel is tried", "on the CPU: 0 findings" in done.stdout and "on the GPU" not in done.stdout,
                 done.stdout)


def main():
    os.environ.setdefault("POCL_DEVICES", "basic")
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        config = write_config(folder)
        generate([config], folder, "--language", "c")
        package = folder / "Tried"
        source = package / "jni/src/CPU/src/ops/Relu.c"
        source.write_text(source.read_text().replace("    /* Add code here */\n", CPU, 1))
        fill_in_gpu(package, "Relu", KERNEL, INFO, head=HEAD)
        done = make(package, "cpu_x86 gpu_x86", flags="-O0 -Werror")
        if checks.check("compiles", done.returncode == 0, done.stderr[-2000:]):
            for case in (sound, faults, against):
                case(checks, config, package)
    checks.finish()


main()
