# SPDX-License-Identifier: Apache-2.0
"""Plugins with a defect each: what is said of it, with library, op, kernel and callback, and the status."""

import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from plugin_shop import PACKAGES, Checks, compile_package, config, convert, execute, model_of, np, package, plant  # noqa: E402

OPS = {"Op": (1, 1, ()), "Other": (1, 1, ())}
DIMS = [1, 64, 4, 8]
FOREIGN = 70  # the status of a command whose process foreign code ends
KERNEL, OTHER = "kernel 'Faulty::copy' of op 'Faulty::Op' ", "op 'Faulty::Op' "
# defect: (status, code or None, words)
LOADING = {
    "init name": "the package is called 'Faulty' by getInfo, and 'Other' by qhpi_init",
    "init NULL": "the package is called 'Faulty' by getInfo, and NULL by qhpi_init",
    "register name": "the package is called 'Faulty' by getInfo, and 'Other' by qhpi_register_ops_v1",
    "op without package": "op 'Op' does not have its package's name in front",
    "op NULL": "op NULL does not have its package's name in front",
    "op unknown": "op 'Faulty::Unknown' is registered, and getInfo does not tell of it",
    "op missing": "op 'Other' is told of by getInfo, and not registered",
    "op twice": OTHER + "is registered twice",
    "no ops": "qhpi_register_ops_v1 is called without ops",
    "nothing": "op 'Op' is told of by getInfo, and not registered",
    "no kernels": OTHER + "has no kernel, and nothing that rewrites it",
    "kernels NULL": OTHER + "has num_kernels 1 and no kernels",
    "kernel without name": "kernel 0 of op 'Faulty::Op' has no function_name",
    "name twice": "kernel 'Faulty::copy' of op 'Faulty::Op' has the function_name of another kernel",
    "kernel without function": KERNEL + "has neither function nor function_with_precomputed_data",
    "size without functions": KERNEL + "has a precomputed_data_size and no do_precomputation_function",
    "functions without size": KERNEL + "has do_precomputation_function, and its precomputed_data_size is 0",
    "inputs without signature": KERNEL + "has min_inputs 1 and no input_signature",
    "signature": KERNEL + "has a value in output_signature[0].layout that qhpi.h does not have",
    "no outputs": KERNEL + "has no output: min_outputs is 0",
    "resources": KERNEL + "needs resources that qhpi.h does not have",
}
EARLY, LATE, TILE = "early_rewrite of op Faulty::Op ", "late_rewrite of op Faulty::Op ", "build_tile of op Faulty::Op "
PREPARING = {
    "rewrite circle": "early_rewrite of op Faulty::Other goes in circles: Faulty::Op <- Faulty::Other <- Faulty::Op",
    "rewrite endless": EARLY + "does not come to an end: it rewrote what it made 64 times",
    "rewrite NULL": EARLY + "returns NULL",
    **dict.fromkeys(("rewrite root", "rewrite constant root", "rewrite shape root"), EARLY + "returns NULL"),
    "rewrite stranger": EARLY + "returns no op of this graph",
    "rewrite shape": EARLY + "returns op Faulty::Other, whose output 0 is Float32 [1,65,4,8]",
    "rewrite self": EARLY + "returns op Faulty::Other, which depends on the op that it is to replace",
    "rewrite unknown op": "calls the host wrongly: qhpi_op_create is called for 'Nobody::Knows', which is neither an op of a "
                          "loaded package nor an operator",
    "rewrite input": "calls the host wrongly: qhpi_op_input is called for input 7 of op Faulty::Op, which has 1",
    "rewrite constant": "qhpi_op_create_constant is called for 1 bytes, which are not those of its output",
    "rewrite native shape": "op Relu is made with output 0 of [1,1,1,3], and it gives [1,64,4,8]",
    "required rank": "shape_required of op Faulty::Op gives a shape of rank 2 for an output of rank 4",
    "required large": "shape_required of op Faulty::Op asks for 5 in dimension 2 of an output of [1,64,4,8]",
    "legalized zero": "shape_legalized of op Faulty::Op gives [1,0,1,1] for an output of [1,64,4,8]",
    "tile gap": TILE + "makes an op whose output 0 is Float32",
    "tile overlap": TILE + "makes an op whose output 0 is Float32",
    "tile type": TILE + "makes an op whose output 0 is Int32",
    "tile whole later": TILE + "made other tiles, and returns the op itself for the tile of",
    "tile NULL": TILE + "returns no op of this graph for the tile of",
    "tile slice": TILE + "calls the host wrongly: qhpi_op_slice is called for a part that is not within output 0 of op Input",
    "late operator": LATE + "makes op Relu: behind tiling there are plugin ops, Slice_shape, Concat and Reshape alone",
    "never matches": "has no kernel for (Float32 [1,64,4,8]); kernel Faulty::copy: input 0: element_type: it asks for QUInt8, and "
                     "the tensor is Float32",
    "wrong counts": "kernel Faulty::copy: inputs: it takes 2, and the op has 1",
    "predicate never": "kernel Faulty::copy: predicate: it says no",
    "cost NaN": "cost_function of kernel Faulty::copy of op Faulty::Op gives nan, which is no cost",
    "precomputation error": "do_precomputation_function of kernel Faulty::copy of op Faulty::Op gives status 5",
}
RUNNING = {
    "kernel error": (1, "kernel Faulty::copy of op Faulty::Op gives status 17 for slice 0 of 1"),
    "kernel crash": (FOREIGN, "kernel Faulty::copy of op Faulty::Op, library "),
    "kernel exit": (FOREIGN, "ended the process: it called exit"),
    "rewrite crash": (FOREIGN, "early_rewrite of op Faulty::Op, library "),
    "init crash": (FOREIGN, "loading package "),
    "predicate data": (FOREIGN, "predicate of kernel Faulty::copy of op Faulty::Op, library "),
}


def run_with(folder, library, defect, *options):
    plant(folder, defect)
    return execute(folder, {library: "Faulty"}, {"x": np.arange(np.prod(DIMS)).reshape(DIMS)}, "--tcm_size", "9000", *options)


def without_defect(checks, folder, library):
    done, found = run_with(folder, library, "")
    checks.equal("no defect", (done.returncode, done.stderr), (0, ""))
    checks.check("no defect: result", (found["y"] == np.arange(np.prod(DIMS))).all())
    done, found = run_with(folder, library, "tile outputs")
    checks.check("tiles without a kernel: they are not taken, which is said", done.returncode == 0 and "tiles cannot be executed" in done.stderr
                 and "kernel Faulty::copy: outputs: it takes 1, and the op has 2" in done.stderr
                 and (found["y"] == np.arange(np.prod(DIMS))).all(), done.stderr)


def with_defects(checks, folder, library):
    cases = {**{name: (1, words) for name, words in {**LOADING, **PREPARING}.items()}, **RUNNING}
    for defect, (status, words) in cases.items():
        done, _ = run_with(folder, library, defect)
        checks.check(f"{defect}: status", done.returncode == status, (done.returncode, done.stderr))
        checks.check(f"{defect}: words", words in done.stderr, done.stderr)
        checks.check(f"{defect}: library", "libfaulty.so" in done.stderr or defect == "kernel exit"
                     or defect == "rewrite native shape", done.stderr)


def isolated(checks, folder, library):
    for defect, words in (("kernel crash", "kernel Faulty::copy of op Faulty::Op"), ("tile NULL", TILE + "returns no op")):
        done, _ = run_with(folder, library, defect, "--isolate")
        checks.check(f"isolated: {defect}", done.returncode == 1 and words in done.stderr, (done.returncode, done.stderr))
    done, _ = run_with(folder, library, "kernel hang", "--isolate", "--isolate_timeout", "1")
    checks.check("isolated: hang", done.returncode == 1 and "did not return within 1 seconds" in done.stderr, done.stderr)
    done, found = run_with(folder, library, "", "--isolate", "--explain")
    checks.check("isolated: runs, and explains", done.returncode == 0 and (found["y"] == np.arange(np.prod(DIMS))).all()
                 and "tiles of Faulty::Op" in done.stdout, done.stdout + done.stderr)


def not_plugins(checks, folder):
    """A library without qhpi_init, one of other headers, one with a function of the host's of its own."""
    plain = folder / "plain.c"
    plain.write_text('#define qhpi_init not_init\n#include "faulty.c"\n')
    other = folder / "other.c"
    other.write_text('extern int qhpi_op_name(void);\nint qhpi_init(void) { return qhpi_op_name(); }\n')
    for name, source, words in (
            ("plain", plain, "the interface of the package has no function createOpImpl, and the library no qhpi_init\n"
             "  hint: a plugin exports qhpi_init; HTP packages of C++ macros cannot be executed here"),
            ("other", other, "the library was compiled with other headers than OpenDLC's, and cannot be called")):
        (folder / "build/x86_64-linux-clang").mkdir(parents=True, exist_ok=True)
        library = compile_package(source, folder / f"build/x86_64-linux-clang/lib{name}.so")
        done, _ = execute(folder, {library: "Faulty"}, {"x": np.zeros(DIMS)})
        checks.check(f"{name}: refused", done.returncode == 1 and words in done.stderr, done.stderr)
        if name == "other":
            checks.check("other: the command that makes it anew", f"make -C {folder} htp_x86 compiles" in done.stderr, done.stderr)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        library = package("faulty")
        model = model_of([("+Op", ["x"], ["y"], {})], [("x", DIMS)], [("y", DIMS)])
        done = convert(folder, model, [config(folder, "Faulty", OPS)])
        checks.equal("converts", done.returncode, 0)
        without_defect(checks, folder, library)
        with_defects(checks, folder, library)
        isolated(checks, folder, library)
        not_plugins(checks, folder)
    checks.finish()


main()
