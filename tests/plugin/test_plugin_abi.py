# SPDX-License-Identifier: Apache-2.0
"""Versions of the interface beside each other: a package that was compiled with the first header runs unchanged with a host of
a later one, which adds structs and a function of a version 2."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from plugin_shop import (COMPILER, GUIDE, PACKAGES, SDK, Checks, compile_package, config, convert, execute, model_of,  # noqa: E402
                         np)
from checks import BUILD, SOURCE, command  # noqa: E402

HOST = "libopendlc-plugin.so.1"
LATER = """
/* Version 2: a kernel has a priority in front. */
typedef struct {
    uint32_t priority;
    QHPI_Kernel_v1 kernel;
} QHPI_Kernel_v2;

typedef struct {
    const char *name;
    uint32_t num_kernels;
    const QHPI_Kernel_v2 *kernels;
    QHPI_BuildTileOfOp build_tile;
} QHPI_OpInfo_v2;

uint32_t qhpi_register_ops_v2(uint32_t num_ops, const QHPI_OpInfo_v2 *operators, const char *package);
"""
HOST_OF_2 = """
#include "HTP/core/qhpi.h"

uint32_t qhpi_register_ops_v2(uint32_t num_ops, const QHPI_OpInfo_v2 *operators, const char *package)
{
    for (uint32_t i = 0; i < num_ops; i++) {
        static QHPI_Kernel_v1 kernels[8]; /* of the one package that the test has */
        for (uint32_t k = 0; k < operators[i].num_kernels; k++)
            kernels[operators[i].kernels[k].priority] = operators[i].kernels[k].kernel;
        const QHPI_OpInfo_v1 op = {.name = operators[i].name, .num_kernels = operators[i].num_kernels, .kernels = kernels,
                                   .build_tile = operators[i].build_tile};
        const uint32_t status = qhpi_register_ops_v1(1, &op, package);
        if (status != QHPI_SUCCESS)
            return status;
    }
    return QHPI_SUCCESS;
}
"""
MAP_OF_2 = """
OPENDLC_PLUGIN_2 {
global:
    qhpi_register_ops_v2;
} OPENDLC_PLUGIN_1;
"""
NEW = """
#define PACKAGE New
#define OPS(OP) OP(Add, 0, 1, 1)
#include "package.h"

#define ADDS(name, what)                                             \\
    EXECUTE(name)                                                    \\
    {                                                                \\
        const float *x = qhpi_tensor_raw_data(inputs[0]);            \\
        float *y = qhpi_tensor_raw_data(outputs[0]);                 \\
        UNUSED;                                                      \\
        for (uint64_t i = 0; i < count_of(outputs[0]); i++)          \\
            y[i] = x[i] + what;                                      \\
        return QHPI_SUCCESS;                                         \\
    }
ADDS(one, 1)
ADDS(two, 2)

static const QHPI_Tensor_Signature_v1 floats[] = {SIGNATURE(FLOAT32)};
#define KERNEL(execute)                                                                                              \\
    {.function_name = "New::" #execute, .function = execute, .min_inputs = 1, .input_signature = floats, .min_outputs = 1, \\
     .output_signature = floats}
static const QHPI_Kernel_v2 kernels[] = {{1, KERNEL(one)}, {0, KERNEL(two)}};
static const QHPI_OpInfo_v2 ops[] = {{.name = "New::Add", .num_kernels = 2, .kernels = kernels}};

QNN_API const char *qhpi_init(void)
{
    return qhpi_register_ops_v2(1, ops, "New") == QHPI_SUCCESS ? "New" : NULL;
}
"""


def later_sdk(folder):
    sdk = folder / "sdk"
    shutil.copytree(SOURCE / "include" / "sdk", sdk)
    header = sdk / "QNN/HTP/core/qhpi.h"
    mark = "/* ---- the package's function ---- */"
    text = header.read_text()
    assert text.count(mark) == 1
    header.write_text(text.replace(mark, LATER + "\n" + mark))
    return sdk


def later_host(folder, sdk):
    """The host's library as a later release has it: the same source, and the new function, each with its version."""
    (folder / "v2.c").write_text(HOST_OF_2)
    (folder / "v2.map").write_text((SOURCE / "src/plugin/plugin.map").read_text() + MAP_OF_2)
    done = subprocess.run([COMPILER, "-std=c11", "-DODLC_SDK_HOST", "-fPIC", "-shared", f"-I{sdk}/QNN", f"-I{sdk}/..", f"-I{SOURCE}/src",
                           f"-I{SOURCE}/include", str(SOURCE / "src/plugin/exports.c"), str(folder / "v2.c"),
                           f"-Wl,--version-script={folder / 'v2.map'}", f"-Wl,-soname,{HOST}", "-o", str(folder / HOST)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def run_beside(folder, host, library, package):
    """A command with the host's library beside it, as an installation has them."""
    beside = folder / f"beside-{host.parent.name}"
    beside.mkdir(exist_ok=True)
    shutil.copy(command("net-run"), beside / "net-run")
    shutil.copy(host, beside / HOST)
    return subprocess.run([beside / "net-run", "--container", "m.dlc", "--input_list", "list.txt", "--output_dir", "out",
                           "--op_packages", f"{library}:{package}InterfaceProvider"], capture_output=True, text=True, cwd=folder,
                          check=False)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        first = BUILD / "src/plugin" / HOST
        old = compile_package(PACKAGES / "guide.c", folder / "libguide.so")
        sdk = later_sdk(folder)
        later_host(folder, sdk)
        (folder / "new.c").write_text(NEW)
        new = compile_package(folder / "new.c", folder / "libnew.so", sdk=sdk / "QNN")
        x = np.arange(96).reshape([1, 4, 3, 8])
        dims = [1, 4, 3, 8]
        convert(folder, model_of([("+Negate", ["x"], ["y"], {})], [("x", dims)], [("y", dims)]), [config(folder, "Guide", GUIDE)])
        done, found = execute(folder, {old: "Guide"}, {"x": x})
        checks.check("first package, first host", done.returncode == 0 and (found["y"] == -x.ravel()).all(), done.stderr)
        for label, host in (("first", first), ("later", folder / HOST)):
            (folder / "out/Result_0/y.raw").unlink(missing_ok=True)
            done = run_beside(folder, host, old, "Guide")
            y = np.frombuffer((folder / "out/Result_0/y.raw").read_bytes(), "<f4") if done.returncode == 0 else None
            checks.check(f"first package, {label} host", y is not None and (y == -x.ravel()).all(), done.stderr)
        convert(folder, model_of([("+Add", ["x"], ["y"], {})], [("x", dims)], [("y", dims)]),
                [config(folder, "New", {"Add": (1, 1, ())})])
        done = run_beside(folder, folder / HOST, new, "New")
        y = np.frombuffer((folder / "out/Result_0/y.raw").read_bytes(), "<f4") if done.returncode == 0 else None
        checks.check("later package, later host: its kernels in the order of version 2", y is not None and (y == x.ravel() + 2).all(),
                     done.stderr)
        done = run_beside(folder, first, new, "New")
        checks.check("later package, first host", done.returncode == 1 and "undefined symbol: qhpi_register_ops_v2" in done.stderr,
                     done.stderr)
        alone = folder / "alone"
        alone.mkdir()
        shutil.copy(command("net-run"), alone / "net-run")
        done = subprocess.run([alone / "net-run", "--container", "m.dlc", "--input_list", "list.txt", "--op_packages",
                               f"{old}:GuideInterfaceProvider"], capture_output=True, text=True, cwd=folder, check=False,
                              env={name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"})
        checks.check("no host", done.returncode == 1 and "libopendlc-plugin.so.1, which has the functions that it calls, cannot be "
                     "loaded" in done.stderr, done.stderr)
    checks.finish()


main()
